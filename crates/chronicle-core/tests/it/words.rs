//! Sentences and figures as people read them.

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::base::time::Millis;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::{view, words};
use expect_test::expect;

use crate::world::{World, person};

#[test]
fn dollars_have_one_format() {
    for (micros, text) in [
        (0, "$0.00"),
        (1, "$0.000001"),
        (10, "$0.00001"),
        (5_000, "$0.005"),
        (5_123, "$0.0051"),
        (9_999, "$0.01"),
        (10_000, "$0.01"),
        (12_345, "$0.01"),
        (2_500_000, "$2.50"),
        (1_234_567_890, "$1234.57"),
    ] {
        assert_eq!(words::usd(micros), text);
    }
}

#[test]
fn ages_are_in_the_unit_that_people_would_use() {
    const HOUR: u64 = 3_600_000;
    for (ms, text) in [
        (900, "0 s"),
        (59_000, "59 s"),
        (61_000, "1 min"),
        (3 * HOUR, "3 h"),
        (47 * HOUR, "47 h"),
        (49 * HOUR, "2 days"),
        (20 * 24 * HOUR, "2 weeks"),
        (100 * 24 * HOUR, "3 months"),
        (87_600 * HOUR, "10 years"),
    ] {
        assert_eq!(words::age(ms), text);
    }
}

/// What the first gate is about.
fn about(world: &World) -> String {
    world.state.gate(GateId(1)).unwrap().opened.about.clone()
}

#[test]
fn limits_of_none_and_one_are_not_counted_in_times() {
    let none = "{name: A, limits: {continuations: 0}, phases: {plan: {}}}";
    let world = World::started(none, "plan: continue half").play();
    assert_eq!(about(&world), "`plan` may not be continued; it stopped at \"half\"");
}

#[test]
fn a_circle_of_three_is_not_told_as_back_and_forth() {
    let circle = "{name: C, limits: {loop: 2}, phases: {a: {next: [b]}, b: {next: [c]}, c: {next: [a, done]}}}";
    let world = World::started(circle, "a: go b\nb: go c\nc: go a").play();
    assert_eq!(about(&world), "`a` was left for `b` 2 times, which is the limit");
    let pair = "{name: P, limits: {loop: 2}, phases: {a: {next: [b]}, b: {next: [a, done]}}}";
    let world = World::started(pair, "a: go b\nb: go a").play();
    assert_eq!(about(&world), "the run went between `a` and `b` 2 times, which is the limit");
}

#[test]
fn a_budget_that_is_used_up_says_how_much_more_would_do() {
    let next = |workflow: &str, script: &str| {
        let world = World::started(workflow, script).play();
        view::run(&world.state, false).unwrap().needs_you[0].next.clone()
    };
    let run = "{name: B, budget: {tokens: 1000}, phases: {plan: {}}}";
    let more = next(run, "plan: usage 1300; go done");
    assert!(more.starts_with("chronicle budget c0ffee01 +800 tokens  (or:"), "{more}");
    let phase = "{name: B, phases: {plan: {budget: {tokens: 1000}, next: [build]}, build: {}}}";
    let more = next(phase, "plan: usage 1000; tool read");
    assert!(more.starts_with("chronicle budget c0ffee01 +500 tokens --place plan  "), "{more}");
}

#[test]
fn the_time_that_passes_counts_for_each_budget_that_it_is_for() {
    let workflow = "
name: W
budget: {time: 1h, tokens: 100}
phases:
  out: {run: workflow, workflow: inner, budget: {time: 30m}, next: [later]}
  later: {budget: {time: 10m}}
=== inner
name: I
budget: {time: 20m}
phases: {work: {budget: {time: 5m}}}
";
    let world = World::started(workflow, "");
    let mut view = view::run(&world.state, true).unwrap();
    view.pass_until(Millis(view.updated_at.0 + 90_000));
    let told: Vec<String> = view
        .budgets
        .iter()
        .map(|row| {
            format!("{}: {}", row.place.as_ref().map_or("", |place| place.as_str()), row.text)
        })
        .collect();
    expect![[r#"
        : 0 tokens of 100 tokens
        : 1 min 30 s of 1 h 00 min
        out: 1 min 30 s of 30 min 00 s
        out/: 1 min 30 s of 20 min 00 s
        later: 0 ms of 10 min 00 s
        out/work: 1 min 30 s of 5 min 00 s
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
    let spent: Vec<u64> = view.budgets.iter().map(|row| row.spent).collect();
    assert_eq!(spent, [0, 90_000, 90_000, 90_000, 0, 90_000]);
}

#[test]
fn a_worker_that_says_nothing_works_all_the_same() {
    let world = World::started("{name: W, phases: {plan: {}}}", "");
    let mut view = view::run(&world.state, true).unwrap();
    assert_eq!((view.active_ms, view.phases[0].active_ms), (0, 0));
    view.pass_until(Millis(view.updated_at.0 + 90_000));
    assert_eq!((view.active_ms, view.phases[0].active_ms), (90_000, 90_000));
    assert_eq!(view.working[0].active_ms, 90_000);
    // A line of somebody else says nothing about its time.
    view.updated_at = Millis(view.updated_at.0 + 90_000);
    view.pass_until(Millis(view.updated_at.0 + 1_000));
    assert_eq!((view.active_ms, view.working[0].active_ms), (91_000, 91_000));
}

#[test]
fn a_note_does_not_claim_that_somebody_hears_it() {
    let mut world = World::started("{name: W, phases: {plan: {}}}", "");
    let note = Command::Note { place: Some(Place::new("plan")), text: "mind".to_owned() };
    let Answer::Accepted(said) = world.step(&person(note)) else { panic!("refused") };
    assert_eq!(said, "n1 is for a1, or for the next worker, at `plan`");
}
