//! Decisions about time: what is left of a worker whose time was over.

use chronicle_core::ids::AttemptId;
use chronicle_core::input::{AttemptReport, EndSeen, Report, Said, TimerKind};
use expect_test::expect;

use crate::world::{World, about, report};

const WORKFLOW: &str =
    "{name: T, phases: {Dig: {timeout_minutes: 1.5, next: [fill], on: {timeout: fill}}, fill: {}}}";

fn timed_out(said: &str) -> World {
    let mut world = World::started(WORKFLOW, "fill: go done");
    let attempt = AttemptId(1);
    world.step(&report(Report::TimerFired { attempt, timer: TimerKind::Timeout }));
    let final_text = Some(Box::new(Said(said.to_owned())));
    let seen = EndSeen { stopped: true, final_text, ..EndSeen::default() };
    world.step(&about(attempt, AttemptReport::Ended(seen)));
    world
}

#[test]
fn what_was_said_before_a_time_out_is_kept_as_a_finding_and_told() {
    let world = timed_out("The hole is two metres deep.\nRock below.");
    expect![[r#"
        [
            "[Partial – Dig timed out] The hole is two metres deep.\nRock below.",
        ]
    "#]]
    .assert_eq(&format!("{:#?}\n", world.state.snapshot.findings));
    let told = chronicle_core::work::work(&world.state, AttemptId(2)).unwrap().handover;
    assert!(told.contains("[Partial – Dig timed out] The hole is two metres deep."), "{told}");
}

#[test]
fn of_a_long_text_the_beginning_is_kept_and_of_nothing_nothing() {
    let world = timed_out(&"x".repeat(5_000));
    let finding = world.state.snapshot.findings[0].clone();
    assert!(finding.ends_with("x… [3800 bytes cut]"), "{finding}");
    assert!(timed_out("  \n").state.snapshot.is_empty());
}
