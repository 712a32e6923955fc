//! A dry run: the main way, the branches, and handovers exactly as they would be sent.

use std::fmt::Write as _;

use chronicle_core::base::ids::RunId;
use chronicle_core::definition::workflow::expand_pools;
use chronicle_core::engine::rehearsal::{Rehearsal, SCENES_MAX, rehearse};
use chronicle_core::event::input::Command;
use chronicle_core::handover::handover;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::workflow::load_with;
use crate::world::{World, person, start};

const WORKFLOW: &str = "
name: Ship
agent: scripted
phases:
  plan: {name: Planning, approval: both, next: [build, sketch]}
  sketch: {next: [build]}
  build: {tools: {deny: [bash]}, next: [test], on: {gaps: plan}}
  test: {commands: [make, make test], next: [review], on: {fail: mend}}
  mend: {next: [test]}
  review: {workflow: inner, approval: after, next: [done]}
";
const INNER: &str =
    "{name: Inner, phases: {look: {persona: eye, next: [done], on: {gaps: human_intervention}}}}";

fn rehearsal(text: &str) -> Rehearsal {
    rehearse(start(load_with(text, &[("inner", INNER)]).workflows))
}

fn told(rehearsal: &Rehearsal) -> String {
    let mut text = String::new();
    for scene in &rehearsal.scenes {
        let through = scene.through.as_ref().map_or_else(String::new, |it| {
            let outcome = it.outcome.as_ref().map_or("", |it| it.as_str());
            format!(" through {} {outcome}", it.from)
        });
        let _ = writeln!(text, "{} ({}){through} {:?}", scene.place, scene.agent, scene.asks);
    }
    let _ = write!(text, "{:?}", rehearsal.ends);
    text
}

fn check(workflow: &str, expected: &Expect) {
    expected.assert_eq(&told(&rehearsal(workflow)));
}

#[test]
fn the_main_way_comes_first_then_the_branches() {
    check(
        WORKFLOW,
        &expect![[r#"
        plan (scripted) ["may `Planning` begin?", "is `Planning` done? \"‹what the worker of `plan` says›\""]
        build (scripted) []
        test (shell) []
        review/look (scripted:script.yaml) ["is `review` done? \"‹what the worker of `review/look` says›\""]
        sketch (scripted) through plan  []
        mend (scripted) through test fail []
        Ok(())"#]],
    );
}

#[test]
fn a_way_that_never_ends_is_told() {
    check(
        "{agent: x, phases: {a: {next: [b]}, b: {next: [a]}}}",
        &expect![[r#"
        a (x) []
        b (x) []
        Err("from `b` every way goes back, or to a person")"#]],
    );
    check(
        "{agent: x, phases: {a: {next: [human_intervention]}}}",
        &expect![[r#"
        a (x) []
        Err("from `a` every way goes back, or to a person")"#]],
    );
    check(
        "{agent: x, phases: {a: {next: [a, done]}}}",
        &expect![[r#"
        a (x) []
        Ok(())"#]],
    );
    check(
        "{agent: x, phases: {a: {commands: make, next: [a]}}}",
        &expect![[r#"
        a (shell) []
        Err("it goes back to `a`")"#]],
    );
}

#[test]
fn the_first_handover_is_the_one_that_a_run_sends() {
    let workflow = "{name: Ship, agent: x, phases: {a: {instructions: 'Do {description}.'}}}";
    let workflows = || load_with(workflow, &[]).workflows;
    let mut world = World::new("");
    let real =
        chronicle_core::event::RunStarted { run: RunId::from("‹run›"), ..start(workflows()) };
    world.step(&person(Command::Start(Box::new(real))));
    let sent = handover(&world.state, world.state.live_attempts().next().unwrap());
    let shown = rehearse(start(workflows())).scenes[0].handover.clone();
    assert_eq!(shown, Some(sent));
}

#[test]
fn what_only_a_run_knows_is_marked() {
    let rehearsal = rehearsal(WORKFLOW);
    let build = rehearsal.scenes.iter().find(|scene| scene.place.as_str() == "build").unwrap();
    let handover = build.handover.as_ref().unwrap();
    assert!(handover.contains("‹what the worker of `plan` says›"), "{handover}");
    let mend = rehearsal.scenes.iter().find(|scene| scene.place.as_str() == "mend").unwrap();
    let handover = mend.handover.as_ref().unwrap();
    assert!(handover.contains("`make` failed: ‹what the command prints›"), "{handover}");
}

#[test]
fn a_long_workflow_is_cut_and_said_so() {
    let phases: Vec<String> = (0..SCENES_MAX + 5).map(|it| format!("{{id: p{it}}}")).collect();
    let long = rehearsal(&format!("{{agent: x, phases: [{}]}}", phases.join(", ")));
    assert_eq!((long.scenes.len(), long.is_cut), (SCENES_MAX, true));
}

proptest! {
    #[test]
    fn any_workflow_is_walked_to_its_end(
        edges in prop::collection::vec((0usize..6, 0usize..8), 0..16), count in 1usize..6,
    ) {
        let mut text = "agent: x\nphases:\n".to_owned();
        for phase in 0..count {
            let targets = edges.iter().filter(|(from, _)| from % count == phase);
            let next: Vec<String> = targets
                .map(|(_, to)| match to {
                    6 => "done".to_owned(),
                    7 => "human_intervention".to_owned(),
                    to => format!("p{}", to % count),
                })
                .collect();
            let _ = writeln!(text, "  p{phase}: {{next: [{}]}}", next.join(", "));
        }
        let rehearsal = rehearse(start(load_with(&text, &[]).workflows));
        let mut places: Vec<&str> = rehearsal.scenes.iter().map(|it| it.place.as_str()).collect();
        let shown = places.len();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), shown, "a phase is shown twice");
        prop_assert!(shown <= count && shown > 0);
    }
}

#[test]
fn races_and_pools_are_walked_with_whoever_judges() {
    let race = "
name: Race
phases:
  build: {run: race, judge: pick, workers: [{id: a, agent: x}, {id: b, agent: y}], next: [steps]}
  steps: {run: pool, merge: {verify: true}, verify: [t], steps: [{id: one}], next: [last]}
  last: {run: race, judge: {commands: [t]}, workers: [{id: a, agent: x}, {id: b, agent: y}], next: [ask]}
  ask: {run: race, workers: [{id: a, agent: x}, {id: b, agent: y}], next: [done]}
  pick: {next: [done]}
";
    let mut workflows = load_with(race, &[]).workflows;
    expand_pools(&mut workflows);
    let rehearsal = rehearse(start(workflows));
    assert_eq!(rehearsal.ends, Ok(()), "{}", told(&rehearsal));
    let places: Vec<&str> = rehearsal.scenes.iter().map(|scene| scene.place.as_str()).collect();
    let all = [
        "build/a/work",
        "build/b/work",
        "build/pick",
        "steps/one/work",
        "last/a/work",
        "last/b/work",
        "ask/a/work",
        "ask/b/work",
    ];
    assert!(all.iter().all(|place| places.contains(place)), "{places:?}");
    let judge = rehearsal.scenes.iter().find(|scene| scene.place.as_str() == "build/pick").unwrap();
    let handover = judge.handover.clone().unwrap();
    assert!(handover.contains("`a`: x") && handover.contains("outcome: \"a\""), "{handover}");
    let scene =
        |place: &str| rehearsal.scenes.iter().find(|scene| scene.place.as_str() == place).unwrap();
    // The question is the race's own, and comes behind its last worker.
    assert_eq!(scene("ask/b/work").asks.len(), 1, "{}", told(&rehearsal));
    assert!(scene("ask/b/work").asks[0].starts_with("whose work does `ask` take?"));
    assert_eq!(scene("last/a/judge").commands, ["t"]);
    // Where a step leads is for the pool to say.
    let ways = |place: &str| {
        let ways = scene(place).ways.iter();
        ways.map(|(_, target)| target.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ways("build/a/work"), ["steps"]);
    assert_eq!(ways("build/pick"), ["steps"]);
    assert_eq!(ways("steps/one/work"), ["last"]);
}
