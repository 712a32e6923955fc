//! Decisions, text in and text out: a workflow, what the world does, what happened.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::Why;
use chronicle_core::state::Status;
use expect_test::{Expect, expect};

use crate::world::World;

pub(crate) const THREE: &str = "
name: Three phases
phases:
  plan: {name: Planning, next: [build]}
  build: {name: Implementation, next: [verify]}
  verify: {name: Verification, next: [build, done]}
";

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an expectation reads best in its place")]
pub(crate) fn check(workflow: &str, script: &str, expected: Expect) -> World {
    let world = World::started(workflow, script).play();
    expected.assert_eq(&world.told());
    world
}

#[test]
fn three_phases_one_after_the_other() {
    let world = check(
        THREE,
        "plan: tool read; usage 100; go build
         build: file src/lib.rs; usage 250; go verify
         verify: usage 50; go done",
        expect![[r#"
            run started: `Three phases` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 called `read`
            a1 reported 100 tokens
            a1 leaves for `build`: "did it"
            a1 ended
              `plan` left for `build`
              phase `build` entered
              a2 started at `build` (scripted)
            a2 changed `src/lib.rs`
            a2 reported 250 tokens
            a2 leaves for `verify`: "did it"
            a2 ended
              `build` left for `verify`
              phase `verify` entered
              a3 started at `verify` (scripted)
            a3 reported 50 tokens
            a3 leaves for `done`: "did it"
            a3 ended
              `verify` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    assert_eq!(world.state.usage.tokens(), 400);
}

#[test]
fn a_wrong_target_is_a_correctable_error() {
    check(
        THREE,
        "plan: go verify; go build\nbuild: go verify\nverify: go done",
        expect![[r#"
        run started: `Three phases` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        a1 was refused: `plan` cannot be left for `verify`; allowed: `build`
        a1 leaves for `build`: "did it"
        a1 ended
          `plan` left for `build`
          phase `build` entered
          a2 started at `build` (scripted)
        a2 leaves for `verify`: "did it"
        a2 ended
          `build` left for `verify`
          phase `verify` entered
          a3 started at `verify` (scripted)
        a3 leaves for `done`: "did it"
        a3 ended
          `verify` done, workflow complete
          the workflow ended
          run done
    "#]],
    );
}

#[test]
fn an_end_without_a_signal_is_a_crash_and_is_reminded() {
    check(
        THREE,
        "plan 1: finish
         plan 2: go build
         build: go verify
         verify: go done",
        expect![[r#"
            run started: `Three phases` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 finished without a leaving signal
              a2 resumed at `plan` (scripted): reminder 1, no signal came
            a2 leaves for `build`: "did it"
            a2 ended
              `plan` left for `build`
              phase `build` entered
              a3 started at `build` (scripted)
            a3 leaves for `verify`: "did it"
            a3 ended
              `build` left for `verify`
              phase `verify` entered
              a4 started at `verify` (scripted)
            a4 leaves for `done`: "did it"
            a4 ended
              `verify` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn reminders_then_fresh_starts_then_a_person() {
    let world = check(
        "{name: One, phases: {work: {limits: {nudges: 1, retries: 1}}}}",
        "work: crash boom",
        expect![[r#"
            run started: `One` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 reported an error: "boom"
              a2 resumed at `work` (scripted): try 1 after it broke off
            a2 reported an error: "boom"
              a3 started at `work` (scripted): fresh start 1
            a3 reported an error: "boom"
              g1 waits at `work` for intervention: `work` cannot continue: the last attempt reported an error: "boom"
        "#]],
    );
    assert_eq!(world.state.status(), Status::Waiting);
}

#[test]
fn a_workflow_may_have_its_own_answer_to_a_crash() {
    check(
        "
name: With a way out
phases:
  work: {limits: {nudges: 0, retries: 0}, next: [done], on: {crash: mend}}
  mend: {next: [done]}
",
        "work: crash boom\nmend: go done",
        expect![[r#"
            run started: `With a way out` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 reported an error: "boom"
              `work` left for `mend` (crash)
              phase `mend` entered
              a2 started at `mend` (scripted)
            a2 leaves for `done`: "did it"
            a2 ended
              `mend` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn nothing_is_tried_again_when_nobody_is_signed_in() {
    check(
        "{name: One, phases: {work: {}}}",
        "work: auth sign in first",
        expect![[r#"
        run started: `One` on "the task"
          workflow `main` entered
          phase `work` entered
          a1 started at `work` (scripted)
        a1 is not signed in: "sign in first"
          g1 waits at `work` for intervention: `work` cannot continue: the last attempt is not signed in: "sign in first"
    "#]],
    );
}

#[test]
fn a_lost_attempt_is_resumed_in_its_session_and_counts_as_the_same_try() {
    let world = check(
        "{name: One, phases: {work: {}}}",
        "work: session s9; usage 10; lost; usage 20; go done",
        expect![[r#"
            run started: `One` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 reported 10 tokens
            a1 was lost with its supervisor or keeper
              a2 resumed at `work` (scripted): the last attempt was lost
            a2 reported 20 tokens
            a2 leaves for `done`: "did it"
            a2 ended
              `work` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    let second = world.state.attempt(AttemptId(2)).unwrap();
    assert_eq!((second.intent.try_number, second.intent.why.clone()), (1, Why::Lost));
    assert_eq!(world.state.usage.tokens(), 30);
}

#[test]
fn losses_without_progress_have_a_limit() {
    check(
        "{name: One, phases: {work: {limits: {losses: 2}}}}",
        "work: lost; lost; lost; lost",
        expect![[r#"
        run started: `One` on "the task"
          workflow `main` entered
          phase `work` entered
          a1 started at `work` (scripted)
        a1 was lost with its supervisor or keeper
          a2 resumed at `work` (scripted): the last attempt was lost
        a2 was lost with its supervisor or keeper
          a3 resumed at `work` (scripted): the last attempt was lost
        a3 was lost with its supervisor or keeper
          g1 waits at `work` for intervention: `work` was lost more than 2 times without progress
    "#]],
    );
}

#[test]
fn going_back_and_forth_is_a_loop() {
    check(
        THREE,
        "plan: go build
         build: go verify
         verify: go build
         g1: go verify",
        expect![[r#"
            run started: `Three phases` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 leaves for `build`: "did it"
            a1 ended
              `plan` left for `build`
              phase `build` entered
              a2 started at `build` (scripted)
            a2 leaves for `verify`: "did it"
            a2 ended
              `build` left for `verify`
              phase `verify` entered
              a3 started at `verify` (scripted)
            a3 leaves for `build`: "did it"
            a3 ended
              `verify` left for `build`
              phase `build` entered
              a4 started at `build` (scripted)
            a4 leaves for `verify`: "did it"
            a4 ended
              `build` left for `verify`
              phase `verify` entered
              a5 started at `verify` (scripted)
            a5 leaves for `build`: "did it"
            a5 ended
              g1 waits at `verify` for intervention: the run went between `verify` and `build` 3 times, which is the limit
            g1 answered with `go verify` by ann
              `verify` left for `verify` (skipped) by a person
              phase `verify` entered
              a6 started at `verify` (scripted)
            a6 leaves for `build`: "did it"
            a6 ended
              `verify` left for `build`
              phase `build` entered
              a7 started at `build` (scripted)
            a7 leaves for `verify`: "did it"
            a7 ended
              `build` left for `verify`
              phase `verify` entered
              a8 started at `verify` (scripted)
            a8 leaves for `build`: "did it"
            a8 ended
              `verify` left for `build`
              phase `build` entered
              a9 started at `build` (scripted)
            a9 leaves for `verify`: "did it"
            a9 ended
              g2 waits at `build` for intervention: the run went between `build` and `verify` 3 times, which is the limit
        "#]],
    );
}

#[test]
fn idle_and_timeout_end_an_attempt() {
    check(
        "{name: Slow, phases: {work: {limits: {timeout: 1h}, on: {timeout: rest}, next: [done]}, rest: {}}}",
        "work 1: idle\nwork 2: timeout\nrest: go done",
        expect![[r#"
            run started: `Slow` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 is being stopped: it printed nothing for too long
            a1 was stopped: it printed nothing for too long
              a2 resumed at `work` (scripted): try 1 after it broke off
            a2 is being stopped: it took longer than the phase allows
            a2 was stopped: it took longer than the phase allows
              `work` left for `rest` (timeout)
              phase `rest` entered
              a3 started at `rest` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `rest` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}
