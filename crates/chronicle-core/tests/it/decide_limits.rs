//! Decisions about time and about turning in circles.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{Answer, AttemptReport, EndSeen, Report, Said, TimerKind};
use chronicle_core::event::trees::Moment;
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use expect_test::expect;

use crate::world::{World, about, report, tree};

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
    let told = chronicle_core::engine::work::work(&world.state, AttemptId(2)).unwrap().handover;
    assert!(told.contains("[Partial – Dig timed out] The hole is two metres deep."), "{told}");
}

#[test]
fn of_a_long_text_the_beginning_is_kept_and_of_nothing_nothing() {
    let world = timed_out(&"x".repeat(5_000));
    let finding = world.state.snapshot.findings[0].clone();
    assert!(finding.ends_with("x… [3800 bytes cut]"), "{finding}");
    assert!(timed_out("  \n").state.snapshot.is_empty());
}

/// A phase that allows the same call three times.
const CIRCLE: &str = "{name: C, phases: {dig: {limits: {repeats: 3}, next: [fill]}, fill: {}}}";

#[test]
fn whoever_makes_the_same_call_again_and_again_is_ended_and_a_person_sees_the_call() {
    let script = "dig: same read a; same read b; same read a; same read a; same read a; go fill";
    let world = World::started(CIRCLE, script).play();
    expect![[r#"
        run started: `C` on "the task"
          workflow `main` entered
          phase `dig` entered
          a1 started at `dig` (scripted)
        a1 called `read` a
        a1 called `read` b
        a1 called `read` a
        a1 called `read` a
        a1 was denied `read`: you have made this very call too often, and nothing came of it: a person is asked. End your turn now.
          a1 is being ended: it made the same call again and again
        a1 was ended: it made the same call again and again
          g1 waits at `dig` for intervention: `dig` turns in a circle: `read` a was called 4 times, and no file, signal or note came of it
    "#]]
    .assert_eq(&world.told());
    assert!(world.answers.iter().any(|answer| matches!(
        answer,
        Answer::Verdict(chronicle_core::event::Verdict::Denied(_))
    )));
}

#[test]
fn a_workflow_may_have_its_own_answer_to_a_circle() {
    let workflow = "{name: C, phases: {dig: {limits: {repeats: 1}, on: {stuck: fill}, next: [fill]}, fill: {}}}";
    let world = World::started(workflow, "dig: same x y; same x y\nfill: go done").play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert!(world.told().contains("`dig` left for `fill` (stuck)"), "{}", world.told());
}

#[test]
fn what_comes_of_the_work_begins_the_count_anew() {
    for between in ["file a.rs", "snap found it"] {
        let calls = "same test all; same test all; same test all";
        let script = format!("dig: {calls}; {between}; {calls}; go fill\nfill: go done");
        let world = World::started(CIRCLE, &script).play();
        assert_eq!(world.state.status(), Status::Done, "{between}: {}", world.told());
    }
    let off = "{name: C, phases: {dig: {limits: {repeats: 0}}}}";
    let calls = vec!["same test all"; 50].join("; ");
    let world = World::started(off, &format!("dig: {calls}; go done")).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

#[test]
fn a_person_who_wants_it_tried_again_begins_the_count_anew() {
    let script = "dig 1: same x y; same x y; same x y; same x y\ndig 2: same x y; go fill\n\
                  fill: go done\ng1: retry look elsewhere";
    let world = World::started(CIRCLE, script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

#[test]
fn nothing_is_timed_while_a_person_is_asked() {
    let workflow = "{name: A, budget: {time: 1h}, phases: {dig: {limits: {timeout: 5m}}}}";
    let mut world = World::started(workflow, "dig: ask which?; go done");
    let timed = |world: &World| {
        let due = world.state.due().into_iter();
        due.filter(|effect| matches!(effect.action, Action::RunTimer { .. })).count()
    };
    // First its files are recorded.
    assert!(world.one_move());
    assert_eq!(timed(&world), 3, "its time-out, the budget and a standstill");
    while !world.state.live_attempts().any(|attempt| world.state.is_asking(attempt)) {
        assert!(world.one_move());
    }
    assert_eq!(timed(&world), 0);
}

#[test]
fn a_phase_says_how_long_a_worker_may_go_on_after_its_signal() {
    let workflow = "{name: G, phases: {dig: {limits: {grace: 5s}}}}";
    let mut world = World::started(workflow, "dig: go done");
    while !world.state.live_attempts().any(chronicle_core::state::Attempt::is_leaving) {
        assert!(world.one_move());
    }
    let grace =
        Action::RunTimer { attempt: AttemptId(1), timer: TimerKind::Grace, active_ms: 5_000 };
    assert!(world.state.due().iter().any(|effect| effect.action == grace));
}

#[test]
fn who_had_changed_files_was_in_no_circle() {
    let script = "dig 1: same x y; same x y; same x y; same x y; go fill\nfill: go done";
    let mut world = World::started(CIRCLE, script);
    while !world.told().contains("again and again\na1 was ended") {
        assert!(world.one_move(), "{}", world.told());
    }
    world.step(&tree(Moment::After(AttemptId(1)), &["a.rs"]));
    let told = world.told();
    assert!(told.ends_with("a2 resumed at `dig` (scripted): it had changed files\n"), "{told}");
    let played = world.play();
    assert_eq!(played.state.status(), Status::Done, "{}", played.told());
}
