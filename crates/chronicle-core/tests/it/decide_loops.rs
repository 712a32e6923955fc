//! Decisions about going round: what is counted, what is free, and what a person allows.

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::engine;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::{Event, Mover};
use chronicle_core::state::Status;

use crate::world::{World, person};

/// How often the run took each edge by itself, in order of the first time.
fn taken(world: &World) -> Vec<(String, u32)> {
    let mut counts: Vec<(String, u32)> = Vec::new();
    for event in world.lines.iter().flat_map(|line| &line.events) {
        let Event::EdgeTaken(edge) = event else { continue };
        assert_eq!(edge.by, Mover::Run);
        let name = format!("{} {}", edge.from, edge.to);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts
}

fn gate(world: &World) -> String {
    let open = world.state.open_gates().next();
    open.map_or_else(String::new, |gate| gate.opened.about.clone())
}

/// The example of the README.
const FIX: &str = "
name: Fix
phases:
  build: {next: [test]}
  test: {run: command, commands: [cargo test], next: [done], on: {fail: build}}
";
const FAILS: &str = "build: go test\ntest: run 0 1";

#[test]
fn an_edge_of_an_outcome_goes_back_as_often_as_it_may_and_every_repair_is_checked() {
    let world = World::started(FIX, FAILS).play();
    let counts = [("build test".to_owned(), 4), ("test build".to_owned(), 3)];
    assert_eq!(taken(&world), counts, "{}", world.told());
    assert_eq!(gate(&world), "`test` was left for `build` 3 times, which is the limit");
    // The same where each way is counted by itself.
    let by_edge = format!("{FIX}limits: {{loop: {{count: edge, max: 3}}}}\n");
    assert_eq!(taken(&World::started(&by_edge, FAILS).play()), counts);
}

#[test]
fn a_way_round_over_several_phases_is_counted_by_its_outcome_alone() {
    let workflow = "
name: Long
phases:
  plan: {next: [build]}
  build: {next: [test]}
  test: {run: command, commands: [a], next: [done], on: {fail: plan}}
";
    let script = "plan: go build\nbuild: go test\ntest: run 0 1";
    let world = World::started(workflow, script).play();
    let counts: Vec<u32> = taken(&world).into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [4, 4, 3], "{}", world.told());
}

#[test]
fn where_both_ways_are_outcomes_each_is_counted_by_itself() {
    let workflow = "
name: Both
phases:
  a: {on: {pass: b}, next: [done]}
  b: {on: {fail: a}, next: [done]}
";
    let world = World::started(workflow, "a: go b pass\nb: go a fail").play();
    assert_eq!(taken(&world), [("a b".to_owned(), 3), ("b a".to_owned(), 3)], "{}", world.told());
    assert_eq!(gate(&world), "`a` was left for `b` 3 times, which is the limit");
}

#[test]
fn plain_edges_are_counted_by_pairs_and_never_free_on_a_circle_of_their_own() {
    let pair = "{name: P, phases: {a: {next: [b]}, b: {next: [a, done]}}}";
    let world = World::started(pair, "a: go b\nb: go a").play();
    assert_eq!(taken(&world), [("a b".to_owned(), 2), ("b a".to_owned(), 1)]);
    assert_eq!(gate(&world), "the run went between `b` and `a` 3 times, which is the limit");
    let three = "{name: T, phases: {a: {next: [b]}, b: {next: [c]}, c: {next: [a, done]}}}";
    let world = World::started(three, "a: go b\nb: go c\nc: go a").play();
    assert_eq!(taken(&world).into_iter().map(|it| it.1).collect::<Vec<_>>(), [3, 3, 3]);
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
    // A circle that has a plain way and one for an outcome is bounded by both.
    let mixed = "{name: M, phases: {a: {next: [b]}, b: {next: [a, done], on: {fail: a}}}}";
    let world = World::started(mixed, "a: go b\nb: go a").play();
    assert_eq!(taken(&world), [("a b".to_owned(), 4), ("b a".to_owned(), 3)]);
}

#[test]
fn starting_over_is_counted_by_itself_from_wherever_it_comes() {
    let workflow = "{name: L, loopable: true, phases: [{id: one}, {id: two}, {id: three}]}";
    let script = "one: complete\ntwo 1: complete\ntwo: loop\nthree: loop";
    let world = World::started(workflow, script).play();
    let over: u32 = taken(&world).iter().filter(|it| it.0.ends_with(" one")).map(|it| it.1).sum();
    assert_eq!(over, 3, "{}", world.told());
    assert_eq!(gate(&world), "workflow `L` was started over 3 times, which is the limit");
}

#[test]
fn a_worker_that_may_start_over_is_told_so() {
    for (loopable, is_told) in [(true, true), (false, false)] {
        let workflow = format!("{{name: L, loopable: {loopable}, phases: {{one: {{}}}}}}");
        let world = World::started(&workflow, "");
        let told = engine::work::work(&world.state, AttemptId(1)).unwrap().handover;
        let line = "`workflow_step` with `action: loop` starts the workflow over, at `one`.";
        assert_eq!(told.contains(line), is_told, "{told}");
    }
}

#[test]
fn a_person_allows_more_rounds_and_the_run_goes_on_as_it_would_have() {
    let mut world = World::started(FIX, &format!("{FAILS}\ng1: loops 2")).play();
    assert_eq!(gate(&world), "`test` was left for `build` 5 times, which is the limit");
    let told = world.told();
    assert!(told.contains("ann allowed 2 more rounds at `test`\n"), "{told}");
    // The command's own words go along, as if nobody had been asked.
    let handover = |id| engine::work::work(&world.killed_after(world.lines.len()).state, id);
    let edges: Vec<_> = world.state.visits.iter().filter_map(|visit| visit.left.clone()).collect();
    assert!(
        edges
            .iter()
            .filter(|left| left.to.as_str() == "build")
            .all(|left| { left.outcome.as_str() == "fail" && left.summary.contains("cargo test") })
    );
    assert!(handover(AttemptId(1)).is_none(), "nobody works");
    // Ahead of time, and by name; what cannot be meant is refused.
    let loops =
        |place: Option<&str>, more| person(Command::Loops { place: place.map(Place::new), more });
    let refused = |answer: Answer| matches!(answer, Answer::Refused(_));
    assert!(refused(world.step(&loops(None, 0))));
    assert!(refused(world.step(&loops(Some("nowhere"), 1))));
    let answer = world.step(&loops(Some("build"), 1));
    assert_eq!(answer, Answer::Accepted("1 more round allowed at `build`".to_owned()));
    assert_eq!(gate(&world), "", "{}", world.told());
    assert!(refused(world.step(&loops(None, 1))), "nothing waits for it");
}

#[test]
fn what_waits_for_something_else_is_not_answered_by_more_rounds() {
    let mut world =
        World::started("{name: C, phases: {a: {limits: {nudges: 0, retries: 0}}}}", "a: finish")
            .play();
    let before = gate(&world);
    assert!(!before.is_empty());
    world.step(&person(Command::Loops { place: Some(Place::new("a")), more: 3 }));
    assert_eq!(gate(&world), before);
}

/// Loops that may go on as long as issues are resolved.
const BY_ISSUES: &str = "
name: I
limits: {loop: {policy: progress, bounce: 6, stagnation: 3, cap: 12}}
phases:
  build: {next: [test]}
  test: {next: [build, done]}
";

#[test]
fn a_loop_that_resolves_issues_goes_on_up_to_its_cap() {
    let round = |it: u32| format!("test {it}: go build +i{it} -i{}\n", it - 1);
    let script: String = (1..=20).map(round).collect();
    let script = format!("build: go test\n{script}");
    let world = World::started(BY_ISSUES, &script).play();
    let counts = [("build test".to_owned(), 12), ("test build".to_owned(), 12)];
    assert_eq!(taken(&world), counts, "{}", world.told());
    assert_eq!(gate(&world), "`build` was left for `test` 12 times, which is the limit");
}

#[test]
fn a_loop_that_resolves_nothing_while_an_issue_is_open_ends_at_a_person() {
    let script = "build: go test\ntest 1: go build +Login-fails\ntest: go build +LOGIN-FAILS";
    let world = World::started(BY_ISSUES, script).play();
    // Two ways there and back, of which the second opened an issue; then three more without a change make it six.
    assert_eq!(taken(&world), [("build test".to_owned(), 3), ("test build".to_owned(), 2)]);
    assert_eq!(
        gate(&world),
        "the run goes between `test` and `build` without progress: 4 transitions in a row opened \
         and resolved no issue, and \"login-fails\" is still open"
    );
    // A person allows more, and the worker is told what is open.
    let mut world = world;
    world.step(&person(Command::Loops { place: None, more: 2 }));
    assert_eq!(gate(&world), "", "{}", world.told());
    let told = engine::work::work(&world.state, AttemptId(7)).unwrap().handover;
    assert!(told.contains("Open are: \"login-fails\"."), "{told}");
}

#[test]
fn without_an_open_issue_only_the_cap_holds() {
    let world = World::started(BY_ISSUES, "build: go test\ntest: go build").play();
    assert_eq!(taken(&world), [("build test".to_owned(), 12), ("test build".to_owned(), 12)]);
}

#[test]
fn skip_does_not_pretend_to_help_where_an_edge_is_used_up() {
    let workflow = "{name: L, limits: {loop: 1}, phases: {build: {next: [test]}, test: {next: [done], on: {fail: build, pass: done}}}}";
    let script = "build: go test\ntest: go build fail";
    let mut world = World::started(workflow, script).play();
    let asked = gate(&world);
    let skip = Command::Skip { place: None, note: String::new() };
    let Answer::Refused(why) = world.step(&person(skip)) else { panic!("not refused") };
    assert_eq!(
        why,
        "`test` would be left for `build` again, which has reached its limit: `go` with `--loops` \
         allows more, `go` with another phase goes elsewhere"
    );
    assert_eq!((gate(&world), world.state.gates.len()), (asked, 1));
}
