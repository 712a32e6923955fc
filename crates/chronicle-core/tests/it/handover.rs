//! The text that opens an attempt: what it says for each reason to start one, that it is bounded, always the same, and that
//! nothing is lost on the way. The whole texts are in `data/handovers/`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::limits::{HANDOVER_MAX, TASK_MAX, TEXT_MAX};
use chronicle_core::base::quote::cited;
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::Tools;
use chronicle_core::engine;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, FinalText};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Break, CrashClass, Event, FollowUp, Issues, Question, SnapshotUpdate};
use chronicle_core::handover::{self, Told, handover, told_to};
use expect_test::{expect, expect_file};
use proptest::prelude::*;

use crate::world::{World, about, calls, person, signal, start, workflows};

const WORKFLOW: &str = "
name: Ship
limits: {nudges: 1, retries: 1}
phases:
  plan:
    name: Planning
    description: Says what is to be built
    instructions: |
      Read the code first.
      Then write a plan.
    tools: {deny: [bash]}
    approval: after
    next: [build, done]
  build: {tools: {allow: [edit, read]}, next: [plan, done]}
";

/// What the live worker is told.
fn opening(world: &World) -> String {
    handover(&world.state, world.state.live_attempts().next().unwrap())
}

fn end(world: &mut World, attempt: u32, seen: EndSeen) {
    world.step(&about(AttemptId(attempt), AttemptReport::Ended(seen)));
}

fn finished() -> EndSeen {
    EndSeen { finished: true, ..EndSeen::default() }
}

fn lost() -> EndSeen {
    EndSeen { lost: true, ..EndSeen::default() }
}

fn died() -> EndSeen {
    let final_text = Some(Box::new(FinalText("Half of the parser is written.".to_owned())));
    EndSeen { signal: Some(9), final_text, ..EndSeen::default() }
}

fn call(world: &mut World, attempt: u32, what: Signal) {
    let request = format!("r{}", world.lines.len());
    let answer = world.step(&signal(AttemptId(attempt), &request, what));
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
}

fn leave_for(world: &mut World, attempt: u32, target: &str, summary: &str) {
    let (target, summary) = (Some(target.into()), summary.to_owned());
    call(
        world,
        attempt,
        Signal::Leave { target, outcome: None, summary, task: None, issues: Issues::default() },
    );
    end(world, attempt, finished());
}

fn session(world: &mut World, attempt: u32) {
    let session = world.state.attempt(AttemptId(attempt)).unwrap().intent.session.clone();
    world.step(&about(AttemptId(attempt), AttemptReport::Session(session)));
}

fn run(world: &mut World, attempt: u32, command: &str, ok: bool) {
    let id = AttemptId(attempt);
    let call = format!("c{}", world.lines.len());
    let input = serde_json::json!({ "command": command }).to_string();
    world.step(&about(id, calls(&call, "bash", &input)));
    world.step(&about(id, AttemptReport::ToolEnded { call, ok }));
}

fn approve(world: &mut World, note: &str) {
    world.step(&person(Command::Approve { gate: None, note: note.to_owned(), scope: None }));
}

/// A world whose first attempt has named its session, and then this happened.
fn with(happens: impl FnOnce(&mut World)) -> World {
    let mut world = World::started(WORKFLOW, "");
    session(&mut world, 1);
    happens(&mut world);
    world
}

/// A world for each reason, ready with its attempt.
fn reasons() -> Vec<(&'static str, World)> {
    let mut reasons = vec![
        ("first", World::started(WORKFLOW, "")),
        ("came-back", with(come_back)),
        ("everything", everything()),
    ];
    reasons.extend(after_breaks());
    reasons.extend(after_words());
    reasons
}

fn come_back(world: &mut World) {
    leave_for(world, 1, "build", "wrote the plan");
    approve(world, "");
    leave_for(world, 2, "plan", "the plan has a hole");
}

/// Attempts that follow one which did not end well.
fn after_breaks() -> Vec<(&'static str, World)> {
    let retry = with(|world| {
        end(world, 1, finished());
        end(world, 2, died());
    });
    let asked = with(|world| {
        for attempt in 1..=3 {
            end(world, attempt, finished());
        }
        let note = "Mind the tests.".to_owned();
        world.step(&person(Command::Retry { place: None, note, agent: None, from: None }));
    });
    let forgotten = with(|world| {
        end(world, 1, lost());
        let error = Some((CrashClass::SessionGone, "no such session".to_owned()));
        end(world, 2, EndSeen { error, ..EndSeen::default() });
    });
    let paused = with(|world| {
        world.step(&person(Command::Pause { reason: "lunch".to_owned() }));
        end(world, 1, EndSeen { stopped: true, ..EndSeen::default() });
        world.step(&person(Command::Resume));
    });
    vec![
        ("nudge", with(|world| end(world, 1, finished()))),
        ("nudge-after-a-death", with(|world| end(world, 1, died()))),
        ("retry-after-a-crash", retry),
        ("asked-for", asked),
        ("lost", with(|world| end(world, 1, lost()))),
        ("session-gone", forgotten),
        ("paused", paused),
    ]
}

fn parts(parting: Break) -> World {
    with(|world| {
        call(world, 1, Signal::Break(parting));
        end(world, 1, finished());
    })
}

/// Attempts that follow what a worker or a person said.
fn after_words() -> Vec<(&'static str, World)> {
    let rejected = with(|world| {
        leave_for(world, 1, "build", "wrote the plan");
        world.step(&person(Command::Reject { gate: None, note: "too long".to_owned() }));
    });
    let (progress, point) = ("half of it".to_owned(), "the second list".to_owned());
    let wanted = FollowUp {
        persona: "mender".to_owned(),
        reason: "The build is broken.".to_owned(),
        context: "See build.log.".to_owned(),
        resume: true,
    };
    let helps = parts(Break::FollowUp(wanted));
    let mut helped = helps.clone();
    let summary = "mended it".to_owned();
    call(
        &mut helped,
        2,
        Signal::Leave {
            target: None,
            outcome: None,
            summary,
            task: None,
            issues: Issues::default(),
        },
    );
    end(&mut helped, 2, finished());
    let (question, context) = ("Which port?".to_owned(), "Both are free.".to_owned());
    let mut answered =
        parts(Break::Ask(Question { question, options: Vec::new(), context, closed: false }));
    answered.step(&person(Command::Answer {
        gate: None,
        text: "8080".to_owned(),
        note: String::new(),
    }));
    vec![
        ("rejected", rejected),
        ("continued", parts(Break::Continue { progress, point })),
        ("answered", answered),
        ("helps", helps),
        ("helped", helped),
    ]
}

/// A handover that has every part.
fn everything() -> World {
    let workflow = "
name: Ship
initialMessage: 'Let us {description}.'
roleInstruction: 'You work on {phaseName}.'
advanceReminder: 'Then go on to {nextPhaseName}.'
phases:
  plan: {persona: planner, approval: after, next: [check]}
  check:
    name: Checking
    session: continue
    persona: checker
    instructions: 'Check {description}.'
    tools: {allow: [read, bash]}
    availableProfiles: [scout]
    followups: [mender]
    outcomes: [unsure]
    next: [done]
    on: {pass: done, fail: plan, crash: plan}
";
    let persona = |name: &str, about: &str| {
        let prompt = format!("You are the {name}. Be brief.");
        let (name, description) = (name.to_owned(), about.to_owned());
        Persona { name, description, prompt, tools: Tools::default(), ..Persona::default() }
    };
    let mut started = start(workflows(workflow));
    started.personas =
        vec![persona("planner", "plans"), persona("checker", "checks what others did")];
    let mut world = World::new("");
    world.step(&person(Command::Start(Box::new(started))));
    session(&mut world, 1);
    run(&mut world, 1, "cargo build", true);
    run(&mut world, 1, "cargo test", false);
    run(&mut world, 1, "cargo test", true);
    let texts = |text: &str| vec![text.to_owned()];
    let custom = serde_json::json!({"port": 8080}).as_object().cloned().unwrap();
    call(
        &mut world,
        1,
        Signal::Snapshot(SnapshotUpdate {
            findings: texts("the parser drops the last line"),
            pending: texts("mend the parser"),
            done: texts("read the code"),
            files: texts("src/parse.rs"),
            custom,
            ..SnapshotUpdate::default()
        }),
    );
    let task = Some("Look at the parser first.".to_owned());
    let summary = "found the hole".to_owned();
    call(
        &mut world,
        1,
        Signal::Leave { target: None, outcome: None, summary, task, issues: Issues::default() },
    );
    end(&mut world, 1, finished());
    world.step(&person(Command::Note { place: None, text: "be quick".to_owned() }));
    approve(&mut world, "good work");
    world
}

#[test]
fn each_reason_has_its_handover() {
    for (reason, world) in reasons() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/handovers");
        let text = format!("{}\n", opening(&world));
        expect_file![folder.join(format!("{reason}.md"))].assert_eq(&text);
    }
}

#[test]
fn a_handover_is_the_same_however_often_it_is_asked_for() {
    for (reason, world) in reasons() {
        let again = world.killed_after(world.lines.len());
        assert_eq!(opening(&world), opening(&again), "{reason}");
    }
}

/// Every attempt's texts as they were decided, with the sums that the ledger names.
fn kept(world: &World) -> Vec<(AttemptId, String, Told)> {
    let mut kept = Vec::new();
    for (line, bodies) in world.lines.iter().zip(&world.bodies) {
        let sum = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        let mut bodies: BTreeMap<String, String> =
            bodies.iter().map(|body| (sum(body), body.clone())).collect();
        for event in &line.events {
            let Event::AttemptStarted(intent) = event else { continue };
            let Some(handed) = &intent.handover else { continue };
            let mut named = |sum: &String| bodies.remove(sum).unwrap();
            let (text, rest) = (named(&handed.text), handed.rest.as_ref().map(named));
            kept.push((intent.attempt, handed.text.clone(), Told { text, rest }));
        }
        assert!(bodies.is_empty(), "nothing is kept that no event names: {bodies:?}");
    }
    kept
}

#[test]
fn the_recorded_handover_is_the_one_that_was_sent() {
    for (reason, world) in reasons() {
        let attempt = world.state.live_attempts().next().unwrap();
        let kept = kept(&world);
        let (id, _, told) = kept.last().unwrap();
        assert_eq!(
            (*id, told),
            (attempt.intent.attempt, &told_to(&world.state, attempt)),
            "{reason}"
        );
        assert_eq!(kept.len(), world.state.attempts.len(), "{reason}");
    }
}

#[test]
fn commands_are_told_nothing() {
    let world =
        World::started("{name: C, phases: {a: {commands: [x], next: [b]}, b: {}}}", "a: run 0 0");
    assert_eq!(kept(&world).len(), 0);
    assert_eq!(kept(&world.play())[0].0, AttemptId(2));
}

#[test]
fn a_long_past_is_cut_from_its_oldest_end() {
    let workflow =
        "{name: Loop, limits: {loop: 99}, phases: {plan: {next: [build]}, build: {next: [plan]}}}";
    let mut world = World::started(workflow, "");
    for number in 1..=40 {
        let summary = format!("summary {number} {}", "x".repeat(TEXT_MAX / 2));
        let what = Signal::Leave {
            target: None,
            outcome: None,
            summary,
            task: None,
            issues: Issues::default(),
        };
        world.step(&signal(AttemptId(number), "r1", what));
        end(&mut world, number, finished());
    }
    let told = told_to(&world.state, world.state.live_attempts().next().unwrap());
    let (text, rest) = (told.text, told.rest.unwrap());
    assert!(text.len() <= HANDOVER_MAX, "{}", text.len());
    assert!(text.contains("summary 40 ") && text.contains("summary 29 "), "the newest are told");
    assert!(!text.contains("summary 28 "), "only so many are told");
    assert!(text.contains("## When you are done") && text.contains("the task"));
    assert!(rest.contains("summary 28 ") && rest.contains("summary 39 "), "the rest is whole");
    assert!(
        rest.trim_end().ends_with("earlier visits are only in the run's ledger"),
        "what is forgotten is counted"
    );
}

#[test]
fn the_longest_task_and_instructions_leave_room_for_the_way_out() {
    const LONG: usize = 100_000;
    for (task, instructions) in [(TASK_MAX, 10), (10, LONG), (TASK_MAX, LONG)] {
        let mut world = World::new("");
        let letters = "i".repeat(instructions);
        let workflow = format!("{{name: Long, phases: {{plan: {{instructions: '{letters}'}}}}}}");
        let mut started = start(workflows(&workflow));
        started.task = "t".repeat(task);
        world.step(&person(Command::Start(Box::new(started))));
        let told = told_to(&world.state, world.state.live_attempts().next().unwrap());
        assert!(told.text.len() <= HANDOVER_MAX, "{}", told.text.len());
        for part in ["## Task\n\nttt", "## Instructions\n\niii", "`workflow_transition`", "`done`"]
        {
            assert!(
                told.text.contains(part),
                "`{part}` is lost with {task} and {instructions} bytes"
            );
        }
        let rest = told.rest.unwrap();
        assert!(rest.len() > task.max(instructions), "all of it is in the file");
    }
}

#[test]
fn what_did_not_fit_is_named_in_the_handover_and_by_the_status() {
    let mut world = World::started(WORKFLOW, "");
    let findings: Vec<String> =
        (1..=60).map(|it| format!("finding {it}: {}", "f".repeat(1_050))).collect();
    call(
        &mut world,
        1,
        Signal::Snapshot(SnapshotUpdate {
            findings: findings.clone(),
            ..SnapshotUpdate::default()
        }),
    );
    leave_for(&mut world, 1, "build", "wrote the plan");
    approve(&mut world, "");
    let told = told_to(&world.state, world.state.live_attempts().next().unwrap());
    let path =
        handover::artifact(&world.state.run.as_ref().unwrap().run, told.rest.as_ref().unwrap());
    let line = told.text.lines().find(|line| line.contains("This handover is cut")).unwrap();
    expect!["This handover is cut. Read the file `PATH`: it has in full: Found out."]
        .assert_eq(&line.replace(&path, "PATH"));
    let (_, found) = told.text.split_once("## Found out\n\n").unwrap();
    expect![[r#"
        - 3 earlier ones are left out here
        - finding 4: f"#]]
    .assert_eq(&found[..49]);
    let rest = told.rest.unwrap();
    assert!(findings.iter().all(|finding| rest.contains(finding)));
    let Answer::Accepted(status) = world.step(&signal(AttemptId(2), "s", Signal::Status)) else {
        panic!()
    };
    let (status, whole) = status.split_once("\n\n").unwrap();
    assert!(findings.iter().all(|finding| whole.contains(finding)));
    expect![[r#"
        Ship > build [2/2]
        You are a2 at `build`, try 1. Started: 2026-11-15T02:30:50.000Z.
        Planning [✓] -> build [●]
        You may go to: `plan`, `done`.
        Personas: `mender`, `seeker`, `judge`, `a`, `b`, `c`.
        Carried on: 60 findings, 0 pending, 0 done, 0 files, 0 named values.
        Spent so far: 0 tokens.
        Transitions: `plan` → `build` 1×."#]]
    .assert_eq(&status.replace(&path, "PATH"));
}

#[test]
fn the_next_worker_is_found_by_going_on() {
    let told = |world: &World| match engine::next(&world.state) {
        Ok(next) => format!(
            "{} {} {}",
            next.intent.attempt,
            next.intent.place,
            next.assumed.join(", then ")
        ),
        Err(why) => why,
    };
    let mut world = World::started(WORKFLOW, "");
    expect!["a2 plan a1 is interrupted"].assert_eq(&told(&world));
    leave_for(&mut world, 1, "build", "wrote the plan");
    expect!["a2 build g1 is approved"].assert_eq(&told(&world));
    let next = engine::next(&world.state).unwrap().told;
    approve(&mut world, "");
    assert_eq!(next.text, opening(&world), "it is what is told then");
    world.step(&person(Command::Pause { reason: String::new() }));
    expect!["a3 build the run is resumed, then a2 is interrupted"].assert_eq(&told(&world));
    expect!["the run has not started"].assert_eq(&told(&World::new("")));
    let shell = World::started(
        "{name: C, phases: {a: {commands: [x, y], next: [b]}, b: {approval: before}}}",
        "",
    );
    expect!["a2 b command 1 of a1 ends well, then command 2 of a1 ends well, then a1 ends, then g1 is approved"].assert_eq(&told(&shell));
    let last = World::started("{name: C, phases: {a: {commands: [x]}}}", "");
    expect!["no worker will start: the run is over then"].assert_eq(&told(&last));
}

/// Letters of more than one byte and lines, up to so many.
fn words(most: usize) -> impl Strategy<Value = String> {
    (0..=most, prop::sample::select(vec!["x", "ü", "a b\n", "🧭", "## "]))
        .prop_map(|(bytes, piece)| piece.repeat(bytes / piece.len()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is long: the handover is bounded and always the same, and every finding can be read there or in its file.
    #[test]
    fn every_finding_is_told_or_in_the_file(
        task in words(TASK_MAX),
        instructions in words(20_000),
        summary in words(2 * TEXT_MAX),
        findings in prop::collection::vec(words(9_000), 0..30),
        pending in prop::collection::vec(words(3_000), 0..30),
        commands in prop::collection::vec("[a-z]{1,600}", 0..80),
    ) {
        let workflow = format!(
            "{{name: P, roleInstruction: {0}, phases: {{plan: {{instructions: {0}, next: [build]}}, build: {{instructions: {0}}}}}}}",
            serde_json::to_string(&instructions).unwrap()
        );
        let mut started = start(workflows(&workflow));
        started.task.clone_from(&task);
        let mut world = World::new("");
        world.step(&person(Command::Start(Box::new(started))));
        for command in &commands {
            run(&mut world, 1, command, true);
        }
        let mut carried = Vec::new();
        for (index, (finding, pending)) in findings.iter().zip(pending.iter().chain(std::iter::repeat(&task))).enumerate() {
            let (findings, pending) = (vec![format!("F{index} {finding}")], vec![format!("P{index} {pending}")]);
            let update = SnapshotUpdate { findings: findings.clone(), pending: pending.clone(), ..SnapshotUpdate::default() };
            if let Answer::Accepted(_) = world.step(&signal(AttemptId(1), &format!("s{index}"), Signal::Snapshot(update))) {
                carried.extend(findings.into_iter().chain(pending));
            }
        }
        leave_for(&mut world, 1, "build", &summary);
        let told = told_to(&world.state, world.state.live_attempts().next().unwrap());
        prop_assert!(told.text.len() <= HANDOVER_MAX, "{}", told.text.len());
        let kept = kept(&world);
        prop_assert_eq!(&told, &kept.last().unwrap().2);
        let rest = told.rest.clone().unwrap_or_default();
        let is_told = |text: &str| told.text.contains(text) || rest.contains(text);
        for text in &carried {
            prop_assert!(is_told(&cited(text, "  ")), "{} is lost", &text[..3]);
        }
        prop_assert!(is_told(task.trim()) && is_told(instructions.trim()));
        prop_assert!(told.text.contains("`workflow_transition`"));
        if told.rest.is_some() {
            let run = &world.state.run.as_ref().unwrap().run;
            prop_assert!(told.text.contains(&handover::artifact(run, &rest)));
        }
    }
}
