//! Decisions on the way out: what is put away, whatever the way.

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::engine::work::work;
use chronicle_core::event::input::{AttemptReport, Command, EndSeen};
use chronicle_core::state::Status;
use expect_test::expect;

use crate::decide::check;
use crate::world::{World, about, person};

#[test]
fn a_cleanup_that_fails_is_recorded_and_holds_up_nothing() {
    check(
        "phases:\n  build: {cleanup: [one, two], next: [done]}",
        "build: go done\nbuild!cleanup: run 0 1; run 1 0",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              a2 cleans up `build`: `one`, `two`
            a2's command 1 failed with exit code 1
            a2's command 2 succeeded
            a2 failed at command 1
              `build` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn cleanup_after_a_crash_that_takes_its_own_edge() {
    check(
        "phases:\n  build: {cleanup: [one], limits: {retries: 0, nudges: 0}, next: [done], on: {crash: mend}}\n  mend: {next: [done]}",
        "build: crash boom\nmend: go done",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 reported an error: "boom"
              a2 cleans up `build`: `one`
            a2's command 1 succeeded
            a2 ran every command
              `build` left for `mend` (crash)
              phase `mend` entered
              a3 started at `mend` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `mend` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn cleanup_when_a_person_sends_the_run_elsewhere_from_inside_a_workflow() {
    check(
        "cleanup: [outer]
phases:
  in: {workflow: inner, next: [ship]}
  ship: {cleanup: [ship], next: [done]}
=== inner
phases:
  a: {cleanup: [a], limits: {retries: 0, nudges: 0}}
",
        "in/a: crash boom\nship: go done\ng1: go ship",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `in` entered
              workflow `inner` entered
              phase `in/a` entered
              a1 started at `in/a` (scripted)
            a1 reported an error: "boom"
              g1 waits at `in/a` for intervention: `a` cannot continue: the last attempt reported an error: "boom"
            g1 answered with `go ship` by ann
              `in` left for `ship` (skipped) by a person
              a2 cleans up `in/a`: `a`
            a2's command 1 succeeded
            a2 ran every command
              a3 cleans up `in`: `outer`
            a3's command 1 succeeded
            a3 ran every command
              phase `ship` entered
              a4 started at `ship` (scripted)
            a4 leaves for `done`: "did it"
            a4 ended
              a5 cleans up `ship`: `ship`
            a5's command 1 succeeded
            a5 ran every command
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_cleanup_that_failed_or_could_not_start_stays_visible() {
    let workflow = "phases:\n  build: {cleanup: [stop server, rm tmp], next: [done]}";
    let uncleaned = |script: &str| {
        let world = World::started(workflow, script).play();
        assert_eq!(world.state.status(), Status::Done);
        chronicle_core::view::run(&world.state, false).unwrap().phases[0].uncleaned.clone()
    };
    assert_eq!(uncleaned("build: go done"), None);
    let failed = uncleaned("build: go done\nbuild!cleanup: run 0 1").unwrap();
    assert!(failed.contains("`stop server` failed"), "{failed}");
}

#[test]
fn cleanup_of_a_workflow_left_from_outside_has_its_own_environment_place_and_limits() {
    let text = "cleanup: [outer]
env: {WHERE: outside}
phases:
  in: {workflow: inner, next: [ship]}
  ship: {next: [done]}
=== inner
cleanup: [inner]
env: {WHERE: inside}
phases:
  a: {limits: {retries: 0, nudges: 0, losses: 1}}
";
    let mut world = World::started(text, "in/a: crash boom");
    while world.one_move() {}
    world.step(&person(Command::Go { place: Place::new("ship"), note: String::new() }));
    let inner = work(&world.state, AttemptId(2)).unwrap();
    assert_eq!(inner.env["WHERE"], "inside");
    assert_eq!(inner.intent.shown_place(), &Place::new("in/a"));
    let view = chronicle_core::view::run(&world.state, true).unwrap();
    assert_eq!(view.working[0].place, Place::new("in/a"));
    // One of its own commands kills the supervisor again and again: by the limit of its own phase it is given up.
    let lost = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&about(AttemptId(2), AttemptReport::Ended(lost.clone())));
    assert_eq!(work(&world.state, AttemptId(3)).unwrap().env["WHERE"], "inside");
    world.step(&about(AttemptId(3), AttemptReport::Ended(lost)));
    assert_eq!(work(&world.state, AttemptId(4)).unwrap().intent.place, Place::new("ship"));
}

const OUTER: &str = "cleanup: [outer]
phases:
  in: {workflow: inner, on: {fail: mend}, next: [done]}
  mend: {cleanup: [mend], next: [done]}
=== inner
phases: {a: {next: [done]}}
";

#[test]
fn cleanup_of_the_workflow_when_a_workflow_inside_has_ended() {
    check(
        OUTER,
        "in/a: go done",
        expect![[r#"
        run started: `main` on "the task"
          workflow `main` entered
          phase `in` entered
          workflow `inner` entered
          phase `in/a` entered
          a1 started at `in/a` (scripted)
        a1 leaves for `done`: "did it"
        a1 ended
          `in/a` done, workflow complete
          the workflow in `in` ended
          a2 cleans up `in`: `outer`
        a2's command 1 succeeded
        a2 ran every command
          `in` done, workflow complete
          the workflow ended
          run done
    "#]],
    );
}

#[test]
fn cleanup_of_the_workflow_when_a_workflow_inside_has_failed() {
    check(
        OUTER,
        "in/a: go done fail\nmend: go done",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `in` entered
              workflow `inner` entered
              phase `in/a` entered
              a1 started at `in/a` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              `in/a` left, workflow ended (fail)
              the workflow in `in` ended (fail): "did it"
              a2 cleans up `in`: `outer`
            a2's command 1 succeeded
            a2 ran every command
              `in` left for `mend` (fail)
              phase `mend` entered
              a3 started at `mend` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              a4 cleans up `mend`: `mend`
            a4's command 1 succeeded
            a4 ran every command
              `mend` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn cleanup_when_the_run_is_cancelled() {
    let world = check(
        "cleanup: [outer]
phases:
  in: {workflow: inner, next: [ship]}
  ship: {next: [done]}
=== inner
phases:
  a: {cleanup: [a], limits: {retries: 0, nudges: 0}}
",
        "in/a: crash boom\ng1: cancel enough",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `in` entered
              workflow `inner` entered
              phase `in/a` entered
              a1 started at `in/a` (scripted)
            a1 reported an error: "boom"
              g1 waits at `in/a` for intervention: `a` cannot continue: the last attempt reported an error: "boom"
            cancelled: enough
              a2 cleans up `in/a`: `a`
            a2's command 1 succeeded
            a2 ran every command
              a3 cleans up `in`: `outer`
            a3's command 1 succeeded
            a3 ran every command
        "#]],
    );
    assert_eq!(world.state.status(), Status::Cancelled);
}
