//! The text that opens an attempt: what it says for each reason to start one, that it is bounded, and always the same.

use std::fmt::Write as _;

use chronicle_core::event::CrashClass;
use chronicle_core::handover::handover;
use chronicle_core::ids::AttemptId;
use chronicle_core::input::{AttemptReport, Command, EndSeen};
use chronicle_core::limits::{HANDOVER_MAX, TASK_MAX, TEXT_MAX};
use chronicle_core::signal::Signal;
use expect_test::expect;

use crate::world::{World, about, person, signal, start, workflows};

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
  build: {tools: {allow: [edit, read]}}
";

/// What the live worker is told.
fn opening(world: &World) -> String {
    let attempt = world.state.live_attempts().next().unwrap();
    handover(&world.state, attempt)
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

fn leave(world: &mut World, attempt: u32, summary: &str) {
    let target = Some("build".into());
    let leave = Signal::Leave { target, outcome: None, summary: summary.to_owned() };
    world.step(&signal(AttemptId(attempt), "r1", leave));
    end(world, attempt, finished());
}

#[test]
fn the_first_attempt_is_told_everything() {
    expect![[r###"
        ## Task

        the task

        ## Your phase

        `plan`: Planning. Says what is to be built
        Phase 1 of 2 in `Ship`. Phases left so far: 0.

        ## Instructions

        Read the code first.
        Then write a plan.

        ## Tools

        You may not use: bash.

        ## When you are done

        Call the tool `workflow_transition` with `target_state` and a `summary` of what you did and found; then end your turn. Ending your turn without it does not end the phase.
        You may go to: `build`, `done`. For example: `workflow_transition(target_state: "build", summary: …)`."###]].assert_eq(&opening(&World::started(WORKFLOW, "")));
}

/// A world for each reason, ready with its attempt.
fn reasons() -> Vec<(&'static str, World)> {
    let world = || World::started(WORKFLOW, "");
    let mut reminded = world();
    end(&mut reminded, 1, finished());
    let mut fresh = reminded.clone();
    end(&mut fresh, 2, finished());
    let mut asked = fresh.clone();
    end(&mut asked, 3, finished());
    asked.step(&person(Command::Retry { place: None, note: "Mind the tests.".to_owned() }));
    let mut interrupted = world();
    end(&mut interrupted, 1, lost());
    let mut forgotten = interrupted.clone();
    let error = Some((CrashClass::SessionGone, "no such session".to_owned()));
    end(&mut forgotten, 2, EndSeen { error, ..EndSeen::default() });
    let mut paused = world();
    paused.step(&person(Command::Pause { reason: "lunch".to_owned() }));
    end(&mut paused, 1, EndSeen { stopped: true, ..EndSeen::default() });
    paused.step(&person(Command::Resume));
    let mut rejected = world();
    leave(&mut rejected, 1, "wrote the plan");
    rejected.step(&person(Command::Reject { gate: None, note: "too long".to_owned() }));
    vec![
        ("nudge", reminded),
        ("retry", fresh),
        ("lost", interrupted),
        ("session gone", forgotten),
        ("paused", paused),
        ("rejected", rejected),
        ("asked", asked),
    ]
}

#[test]
fn every_other_attempt_is_told_why_it_is_there_and_then_the_same() {
    let first = opening(&World::started(WORKFLOW, ""));
    let mut told = String::new();
    for (reason, world) in reasons() {
        let text = opening(&world);
        assert!(text.contains(&first), "{reason}:\n{text}");
        let (why, _) = text.split_once("\n\n## Task").unwrap();
        let why = why.strip_prefix("## Why you are here\n\n").unwrap();
        writeln!(told, "{reason}: {}", why.trim_end()).unwrap();
    }
    expect![[r#"
        nudge: Your turn ended without a leaving signal, so this phase is not done. Go on where you were; when the work is done, send the signal.
        retry: An earlier attempt at this phase crashed. You start afresh: look at the files as they are now before you go on.
        lost: The work was interrupted. Go on exactly where you were; do not do again what is done.
        session gone: An earlier attempt at this phase was interrupted and its conversation is gone. Look at the files as they are now, and do not do again what is done.
        paused: The work was interrupted. Go on exactly where you were; do not do again what is done.
        rejected: A person looked at your work and said no: too long
        asked: A person asked for another try at this phase. Mind the tests.
    "#]].assert_eq(&told);
}

#[test]
fn the_next_phase_is_told_what_happened_before() {
    let mut world = World::started(WORKFLOW, "");
    leave(&mut world, 1, "wrote the plan");
    world.step(&person(Command::Approve { gate: None, note: String::new() }));
    expect![[r###"
        ## Task

        the task

        ## Your phase

        `build`: build
        Phase 2 of 2 in `Ship`. Phases left so far: 1.

        ## Tools

        You may use only: edit, read.

        ## When you are done

        Call the tool `workflow_transition` with `target_state` and a `summary` of what you did and found; then end your turn. Ending your turn without it does not end the phase.
        You may go to: `done`. For example: `workflow_transition(target_state: "done", summary: …)`.

        ## What happened before, newest first

        - `plan` → `build` (complete): wrote the plan"###]].assert_eq(&opening(&world));
}

#[test]
fn a_handover_is_the_same_however_often_it_is_asked_for() {
    for (reason, world) in reasons() {
        let again = world.killed_after(world.lines.len());
        assert_eq!(opening(&world), opening(&again), "{reason}");
    }
}

#[test]
fn a_long_past_is_cut_from_its_oldest_end() {
    let workflow =
        "{name: Loop, limits: {loop: 99}, phases: {plan: {next: [build]}, build: {next: [plan]}}}";
    let mut world = World::started(workflow, "");
    for number in 1..=30 {
        let summary = format!("summary {number} {}", "x".repeat(TEXT_MAX));
        let what = Signal::Leave { target: None, outcome: None, summary };
        world.step(&signal(AttemptId(number), "r1", what));
        end(&mut world, number, finished());
    }
    let text = opening(&world);
    assert!(text.len() <= HANDOVER_MAX + 40, "{}", text.len());
    assert!(text.contains("summary 30 ") && text.contains("summary 28 "), "the newest are told");
    assert!(!text.contains("summary 18 "), "only so many are told");
    assert!(text.contains("## When you are done") && text.contains("the task"));
}

#[test]
fn the_longest_task_and_instructions_leave_room_for_the_way_out() {
    for (task, instructions) in [(TASK_MAX, 10), (10, TASK_MAX), (TASK_MAX, TASK_MAX)] {
        let mut world = World::new("");
        let letters = "i".repeat(instructions);
        let workflow = format!("{{name: Long, phases: {{plan: {{instructions: '{letters}'}}}}}}");
        let mut started = start(workflows(&workflow));
        started.task = "t".repeat(task);
        world.step(&person(Command::Start(Box::new(started))));
        let text = opening(&world);
        assert!(text.len() <= HANDOVER_MAX + 40, "{}", text.len());
        for part in ["## Task\n\nttt", "## Instructions\n\niii", "`workflow_transition`", "`done`"]
        {
            assert!(text.contains(part), "`{part}` is lost with {task} and {instructions} bytes");
        }
    }
}
