//! Words in braces: one pass, unknown ones left alone, and the six texts where they belong.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::definition::template::expand;
use chronicle_core::event::Issues;
use chronicle_core::event::input::{Answer, AttemptReport, EndSeen};
use chronicle_core::event::signal::Signal;
use chronicle_core::handover::handover;
use chronicle_core::view;
use expect_test::expect;
use proptest::prelude::*;

use crate::world::{World, about, calls, person, signal, start, workflows};

const TEXTS: &str = "
name: Ship
agent: a
limits: {nudges: 1}
initialMessage: 'Let us {description}: {workflowName} ({workflowKey}) begins with {firstPhaseEmoji}{firstPhaseName} [{firstPhaseId}; {firstPhaseProfiles}] {phaseName}'
roleInstruction: 'You are at {phaseName} ({phaseId}) of {breadcrumbPath}, after {previousPhaseName}, before {nextPhaseName}; step {globalStepCount}; task {taskId}; never {blockedToolsList}; {toolName}; {unknown}'
advanceReminder: 'From {phaseName} go on to {nextPhaseName}.'
notDoneReminder: '{phaseEmoji}{phaseName} of {workflowName} ({taskDescription}) is not done: {phaseInstructions}'
blockReasonTemplate: '{toolName} is not for {phaseName} of {workflowName}: {allowedTools}'
completionMessage: '{workflowName} did {taskDescription} in {phaseCount} phases. {phaseName}'
phases:
  - {id: plan, name: Plan, emoji: 🧭, instructions: 'Plan {description}, {nope} {phaseId}.', tools: {deny: [bash, edit]}, availableProfiles: [scout, sage]}
  - {id: check, workflow: inner}
  - {id: ship, name: Ship it}
";
const INNER: &str = "
name: Look
phases:
  - {id: read, name: Reading, tools: {allow: [read]}}
  - {id: judge, name: Judging}
";

fn started(text: &str) -> World {
    let mut world = World::new("");
    let loaded = super::workflow::load_with(text, &[("inner", INNER)]);
    assert!(loaded.is_usable(), "{:?}", loaded.problems);
    let start = start(loaded.workflows);
    world.step(&person(chronicle_core::event::input::Command::Start(Box::new(start))));
    world
}

fn opening(world: &World) -> String {
    handover(&world.state, world.state.live_attempts().next().unwrap())
}

/// The line of the live worker's handover that begins so.
fn line(world: &World, begin: &str) -> String {
    let text = opening(world);
    let found = text.lines().find(|line| line.starts_with(begin));
    found.unwrap_or_else(|| panic!("no line begins with {begin}:\n{text}")).to_owned()
}

fn end(world: &mut World, attempt: u32) {
    let seen = EndSeen { finished: true, ..EndSeen::default() };
    world.step(&about(AttemptId(attempt), AttemptReport::Ended(seen)));
}

fn leave(world: &mut World, attempt: u32) {
    let signal_leave = Signal::Leave {
        target: None,
        outcome: None,
        summary: "ok".to_owned(),
        task: None,
        issues: Issues::default(),
    };
    world.step(&signal(AttemptId(attempt), "r", signal_leave));
    end(world, attempt);
}

#[test]
fn the_first_handover_opens_with_the_initial_message() {
    let world = started(TEXTS);
    expect!["Let us the task: Ship (w) begins with 🧭Plan [plan; scout, sage] {phaseName}"]
        .assert_eq(opening(&world).lines().next().unwrap());
    expect!["You are at Plan (plan) of Ship, after (start), before Look; step 0; task c0ffee01; never bash, edit; workflow_step; {unknown}"]
        .assert_eq(&line(&world, "You are at"));
    expect!["From Plan go on to Look."].assert_eq(&line(&world, "From"));
    expect!["Plan the task, {nope} plan."].assert_eq(&line(&world, "Plan "));
}

#[test]
fn inside_a_workflow_the_words_are_those_of_its_own_phases() {
    let mut world = started(TEXTS);
    leave(&mut world, 1);
    expect!["You are at Reading (read) of Ship > Look, after (start), before Judging; step 1; task c0ffee01; never (none); workflow_step; {unknown}"]
        .assert_eq(&line(&world, "You are at"));
    assert!(
        !opening(&world).contains("Let us"),
        "the initial message opens the first handover only"
    );
    leave(&mut world, 2);
    expect!["You are at Judging (judge) of Ship > Look, after Reading, before DONE; step 2; task c0ffee01; never (none); workflow_step; {unknown}"]
        .assert_eq(&line(&world, "You are at"));
    expect!["Phase 2 of 2 in `Look`. Phases completed so far: 2. You are a3, try 1."]
        .assert_eq(&line(&world, "Phase 2"));
    leave(&mut world, 3);
    expect!["You are at Ship it (ship) of Ship, after Look, before DONE; step 3; task c0ffee01; never (none); workflow_step; {unknown}"]
        .assert_eq(&line(&world, "You are at"));
    assert_eq!(view::run(&world.state, true).unwrap().completion, None);
    leave(&mut world, 4);
    assert_eq!(
        view::run(&world.state, true).unwrap().completion.as_deref(),
        Some("Ship did the task in 3 phases. {phaseName}")
    );
}

#[test]
fn the_workflows_own_words_remind_and_refuse() {
    let mut world = started(TEXTS);
    let call = |id: &str| calls(id, "bash", "");
    let Answer::Verdict(verdict) = world.step(&about(AttemptId(1), call("c1"))) else { panic!() };
    expect![[r#"Denied("bash is not for Plan of Ship: all except: bash, edit")"#]]
        .assert_eq(&format!("{verdict:?}"));
    end(&mut world, 1);
    expect!["🧭Plan of Ship (the task) is not done: Plan {description}, {nope} {phaseId}."]
        .assert_eq(&line(&world, "🧭Plan"));
    leave(&mut world, 2);
    let Answer::Verdict(verdict) = world.step(&about(AttemptId(3), call("c2"))) else { panic!() };
    expect![[r#"Denied("bash is not for Reading of Ship: read")"#]]
        .assert_eq(&format!("{verdict:?}"));
}

#[test]
fn after_the_leaving_signal_every_tool_hears_why() {
    let mut world = started(TEXTS);
    let leave = Signal::Leave {
        target: None,
        outcome: None,
        summary: String::new(),
        task: None,
        issues: Issues::default(),
    };
    world.step(&signal(AttemptId(1), "r", leave));
    let called = calls("c", "bash", "");
    let Answer::Verdict(verdict) = world.step(&about(AttemptId(1), called)) else { panic!() };
    assert!(format!("{verdict:?}").contains("being left"), "{verdict:?}");
}

#[test]
fn a_blank_text_counts_as_none() {
    let mut world = World::new("");
    let text = "{initialMessage: ' ', notDoneReminder: '', phases: {a: }}";
    world.step(&person(chronicle_core::event::input::Command::Start(Box::new(start(workflows(
        text,
    ))))));
    assert!(opening(&world).starts_with("## Why you are here"), "{}", opening(&world));
    end(&mut world, 1);
    assert!(opening(&world).contains("ended without a leaving signal"), "{}", opening(&world));
}

/// What the first pass of another reading would find: `{` word `}`, left to right.
fn expected(text: &str, known: &str, value: &str) -> String {
    text.split(&format!("{{{known}}}")).collect::<Vec<_>>().join(value)
}

proptest! {
    #[test]
    fn replaced_text_is_never_searched_again(
        before in "[a-z {}]{0,20}", after in "[a-z {}]{0,20}", value in "[a-z{}]{0,12}",
    ) {
        let text = format!("{before}{{name}}{after}{{other}}");
        let out = expand(&text, 10_000, |word| match word {
            "name" => Some(value.clone()),
            // Whatever stood there by chance is what stood there.
            "other" => Some("{name}".to_owned()),
            _ => None,
        });
        let outer = expected(&text.replace("{other}", "\u{1}"), "name", &value);
        prop_assert_eq!(out, outer.replace('\u{1}', "{name}"));
    }

    #[test]
    fn a_text_without_known_words_is_left_as_it_is(text in "\\PC{0,200}") {
        prop_assert_eq!(expand(&text, 10_000, |_| None), text);
    }

    #[test]
    fn however_long_the_values_the_text_is_bounded(
        text in "(\\{a\\}|x){0,300}", size in 0usize..5_000,
    ) {
        let out = expand(&text, 1_000, |_| Some("y".repeat(size)));
        prop_assert!(out.len() <= 1_040, "{}", out.len());
    }
}

#[test]
fn only_words_are_words() {
    let known = |_: &str| Some("X".to_owned());
    let cases = [
        ("{a}", "X"),
        ("{a_1}", "X"),
        ("{}", "{}"),
        ("{a b}", "{a b}"),
        ("{{a}}", "{X}"),
        ("{é}", "{é}"),
        ("{a", "{a"),
        ("a}", "a}"),
        ("{a{b}", "{aX"),
        ("{\"json\": {a}}", "{\"json\": X}"),
    ];
    for (text, out) in cases {
        assert_eq!(expand(text, 100, known), out, "{text}");
    }
}
