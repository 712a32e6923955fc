//! Decisions, text in and text out: a workflow, what the world does, what happened.

use chronicle_core::event::{Verdict, Why};
use chronicle_core::ids::{AttemptId, PhaseId};
use chronicle_core::input::{Actor, Answer, AttemptReport, By, Command, EndSeen, Input, What};
use chronicle_core::signal::Signal;
use chronicle_core::state::Status;
use chronicle_core::time::Millis;
use expect_test::{Expect, expect};

use crate::world::{World, about, person, signal};

pub(crate) const THREE: &str = "
name: Three phases
phases:
  plan: {name: Planning, next: [build]}
  build: {name: Implementation, next: [verify]}
  verify: {name: Verification, next: [build, done]}
";

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an expectation reads best in its place")]
fn check(workflow: &str, script: &str, expected: Expect) -> World {
    let world = World::started(workflow, script).play();
    expected.assert_eq(&world.told());
    world
}

fn leave(target: &str) -> Signal {
    Signal::Leave { target: Some(PhaseId::from(target)), outcome: None, summary: String::new() }
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
              `verify` left, nothing follows
              the workflow came to its end
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
          `verify` left, nothing follows
          the workflow came to its end
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
              `verify` left, nothing follows
              the workflow came to its end
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
              a2 resumed at `work` (scripted): reminder 1, no signal came
            a2 reported an error: "boom"
              a3 started at `work` (scripted): fresh start 1
            a3 reported an error: "boom"
              g1 waits at `work` for intervention: `work` cannot go on: the last attempt reported an error: "boom"
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
              `mend` left, nothing follows
              the workflow came to its end
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
          g1 waits at `work` for intervention: `work` cannot go on: the last attempt is not signed in: "sign in first"
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
            a1 works in session `s9`
            a1 reported 10 tokens
            a1 was lost with its supervisor or keeper
              a2 resumed at `work` (scripted): the last attempt was lost
            a2 reported 20 tokens
            a2 leaves for `done`: "did it"
            a2 ended
              `work` left, nothing follows
              the workflow came to its end
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
              g1 waits at `verify` for intervention: `verify` and `build` were left for each other 3 times, as often as allowed
            g1 answered with `go verify` by ann
              `verify` left for `verify` by a person's word
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
              g2 waits at `build` for intervention: `build` and `verify` were left for each other 3 times, as often as allowed
        "#]],
    );
}

#[test]
fn an_approval_waits_for_a_person_and_a_rejection_goes_back_into_the_session() {
    check(
        "
name: Approved
phases:
  plan: {approval: both, next: [build]}
  build: {}
",
        "plan 1: go build
         plan 2: go build
         build: go done
         g1: approve
         g2: reject not like this
         g3: approve",
        expect![[r#"
            run started: `Approved` on "the task"
              workflow `main` entered
              phase `plan` entered
              g1 waits at `plan` for approval: may `plan` begin?
            g1 approved by ann
              a1 started at `plan` (scripted)
            a1 leaves for `build`: "did it"
            a1 ended
              g2 waits at `plan` for approval: is `plan` done? "did it"
            g2 rejected by ann: "not like this"
              a2 resumed at `plan` (scripted): rejected: "not like this"
            a2 leaves for `build`: "did it"
            a2 ended
              g3 waits at `plan` for approval: is `plan` done? "did it"
            g3 approved by ann
              `plan` left for `build`
              phase `build` entered
              a3 started at `build` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `build` left, nothing follows
              the workflow came to its end
              run done
        "#]],
    );
}

#[test]
fn a_phase_that_may_not_begin_goes_where_the_workflow_says() {
    check(
        "
name: Refused
phases:
  plan: {next: [ship]}
  ship: {approval: before, next: [done], on: {rejected: plan}}
",
        "plan: go ship\nship: go done\ng1: reject too early\ng2: approve",
        expect![[r#"
            run started: `Refused` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 leaves for `ship`: "did it"
            a1 ended
              `plan` left for `ship`
              phase `ship` entered
              g1 waits at `ship` for approval: may `ship` begin?
            g1 rejected by ann: "too early"
              `ship` left for `plan` (rejected)
              phase `plan` entered
              a2 started at `plan` (scripted)
            a2 leaves for `ship`: "did it"
            a2 ended
              `plan` left for `ship`
              phase `ship` entered
              g2 waits at `ship` for approval: may `ship` begin?
            g2 approved by ann
              a3 started at `ship` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `ship` left, nothing follows
              the workflow came to its end
              run done
        "#]],
    );
}

#[test]
fn commands_run_in_order_and_a_failure_needs_its_own_edge() {
    check(
        "
name: Commands
phases:
  test: {run: command, commands: ['cargo build', 'cargo test'], next: [done], on: {fail: mend}}
  mend: {next: [test]}
",
        "test 1: run 0 0; run 1 1
         mend: go test",
        expect![[r#"
            run started: `Commands` on "the task"
              workflow `main` entered
              phase `test` entered
              a1 started at `test` (shell)
            a1's command 1 ended well
            a1's command 2 failed with exit code 1
            a1 failed at command 2
              `test` left for `mend` (fail)
              phase `mend` entered
              a2 started at `mend` (scripted)
            a2 leaves for `test`: "did it"
            a2 ended
              `mend` left for `test`
              phase `test` entered
              a3 started at `test` (shell)
            a3's command 1 ended well
            a3's command 2 ended well
            a3 ran every command
              `test` left, nothing follows
              the workflow came to its end
              run done
        "#]],
    );
}

#[test]
fn a_failed_command_without_an_edge_waits_for_a_person() {
    check(
        "{name: Commands, phases: {test: {run: command, commands: ['false']}}}",
        "test 1: run 0 1\ng1: retry",
        expect![[r#"
            run started: `Commands` on "the task"
              workflow `main` entered
              phase `test` entered
              a1 started at `test` (shell)
            a1's command 1 failed with exit code 1
            a1 failed at command 1
              g1 waits at `test` for intervention: `test` cannot go on: the last attempt failed at command 1
            g1 answered with `retry` by ann
              a2 started at `test` (shell): asked for
            a2's command 1 ended well
            a2 ran every command
              `test` left, nothing follows
              the workflow came to its end
              run done
        "#]],
    );
}

#[test]
fn commands_that_are_done_are_not_done_again_after_a_loss() {
    let world = check(
        "{name: Commands, phases: {test: {run: command, commands: [a, b, c]}}}",
        "test: run 0 0; run 1 0; lost; run 2 0",
        expect![[r#"
            run started: `Commands` on "the task"
              workflow `main` entered
              phase `test` entered
              a1 started at `test` (shell)
            a1's command 1 ended well
            a1's command 2 ended well
            a1 was lost with its supervisor or keeper
              a2 started at `test` (shell): the last attempt was lost
            a2's command 1 ended well
            a2's command 2 ended well
            a2 was lost with its supervisor or keeper
              a3 started at `test` (shell): the last attempt was lost
            a3's command 1 ended well
            a3's command 2 ended well
            a3 was lost with its supervisor or keeper
              a4 started at `test` (shell): the last attempt was lost
            a4's command 1 ended well
            a4's command 2 ended well
            a4 was lost with its supervisor or keeper
              a5 started at `test` (shell): the last attempt was lost
            a5's command 1 ended well
            a5's command 2 ended well
            a5 was lost with its supervisor or keeper
              a6 started at `test` (shell): the last attempt was lost
            a6's command 1 ended well
            a6's command 2 ended well
            a6 was lost with its supervisor or keeper
              a7 started at `test` (shell): the last attempt was lost
            a7's command 1 ended well
            a7's command 2 ended well
            a7 was lost with its supervisor or keeper
              a8 started at `test` (shell): the last attempt was lost
            a8's command 1 ended well
            a8's command 2 ended well
            a8 was lost with its supervisor or keeper
              a9 started at `test` (shell): the last attempt was lost
            a9's command 1 ended well
            a9's command 2 ended well
            a9 was lost with its supervisor or keeper
              a10 started at `test` (shell): the last attempt was lost
            a10's command 1 ended well
            a10's command 2 ended well
            a10 was lost with its supervisor or keeper
              a11 started at `test` (shell): the last attempt was lost
            a11's command 1 ended well
            a11's command 2 ended well
            a11 was lost with its supervisor or keeper
              a12 started at `test` (shell): the last attempt was lost
            a12's command 1 ended well
            a12's command 2 ended well
            a12 was lost with its supervisor or keeper
              a13 started at `test` (shell): the last attempt was lost
            a13's command 1 ended well
            a13's command 2 ended well
            a13 was lost with its supervisor or keeper
              a14 started at `test` (shell): the last attempt was lost
            a14's command 1 ended well
            a14's command 2 ended well
            a14 was lost with its supervisor or keeper
              a15 started at `test` (shell): the last attempt was lost
            a15's command 1 ended well
            a15's command 2 ended well
            a15 was lost with its supervisor or keeper
              a16 started at `test` (shell): the last attempt was lost
            a16's command 1 ended well
            a16's command 2 ended well
            a16 was lost with its supervisor or keeper
              a17 started at `test` (shell): the last attempt was lost
            a17's command 1 ended well
            a17's command 2 ended well
            a17 was lost with its supervisor or keeper
              a18 started at `test` (shell): the last attempt was lost
            a18's command 1 ended well
            a18's command 2 ended well
            a18 was lost with its supervisor or keeper
              a19 started at `test` (shell): the last attempt was lost
            a19's command 1 ended well
            a19's command 2 ended well
            a19 was lost with its supervisor or keeper
              a20 started at `test` (shell): the last attempt was lost
            a20's command 1 ended well
            a20's command 2 ended well
            a20 was lost with its supervisor or keeper
              a21 started at `test` (shell): the last attempt was lost
            a21's command 1 ended well
            a21's command 2 ended well
            a21 was lost with its supervisor or keeper
              g1 waits at `test` for intervention: `test` was lost more than 20 times without progress
        "#]],
    );
    assert_eq!(world.state.attempt(AttemptId(2)).unwrap().intent.first_command, 2);
}

#[test]
fn a_command_that_may_run_only_once_is_not_guessed_about() {
    check(
        "{name: Deploy, phases: {ship: {run: command, commands: [deploy], once: true}}}",
        "ship: lost",
        expect![[r#"
            run started: `Deploy` on "the task"
              workflow `main` entered
              phase `ship` entered
              a1 started at `ship` (shell)
            a1 was lost with its supervisor or keeper
              g1 waits at `ship` for intervention: `ship` may run only once, and nobody saw whether it did
        "#]],
    );
}

#[test]
fn a_workflow_inside_a_phase_has_its_own_frame() {
    check(
        "
name: Outer
phases:
  plan: {next: [review]}
  review: {run: workflow, workflow: inner, next: [ship]}
  ship: {}
=== inner
name: Inner
phases:
  look: {next: [judge]}
  judge: {}
",
        "plan: go review
         review/look: go judge
         review/judge: go done
         ship: go done",
        expect![[r#"
            run started: `Outer` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 leaves for `review`: "did it"
            a1 ended
              `plan` left for `review`
              phase `review` entered
              workflow `inner` entered
              phase `review/look` entered
              a2 started at `review/look` (scripted)
            a2 leaves for `judge`: "did it"
            a2 ended
              `review/look` left for `review/judge`
              phase `review/judge` entered
              a3 started at `review/judge` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `review/judge` left, nothing follows
              the workflow in `review` came to its end
              `review` left for `ship`
              phase `ship` entered
              a4 started at `ship` (scripted)
            a4 leaves for `done`: "did it"
            a4 ended
              `ship` left, nothing follows
              the workflow came to its end
              run done
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
            a1 is being ended: nothing was heard of it for too long
            a1 was ended: nothing was heard of it for too long
              a2 resumed at `work` (scripted): reminder 1, no signal came
            a2 is being ended: it took longer than the phase allows
            a2 was ended: it took longer than the phase allows
              `work` left for `rest` (timeout)
              phase `rest` entered
              a3 started at `rest` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `rest` left, nothing follows
              the workflow came to its end
              run done
        "#]],
    );
}

#[test]
fn a_pause_stops_the_worker_and_resume_goes_on_in_its_session() {
    let mut world = World::started(THREE, "plan: go build\nbuild: go verify\nverify: go done");
    world.step(&person(Command::Pause { reason: "Ctrl-C".to_owned() }));
    assert_eq!(world.state.status(), Status::Running, "it is still being stopped");
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Paused);
    world.step(&person(Command::Resume));
    let world = world.play();
    expect![[r#"
        run started: `Three phases` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        paused: Ctrl-C
        a1 was stopped
        resumed
          a2 resumed at `plan` (scripted): the run was paused
        a2 could not resume: its session is gone: "no such session"
          a3 started at `plan` (scripted): its session is gone
        a3 leaves for `build`: "did it"
        a3 ended
          `plan` left for `build`
          phase `build` entered
          a4 started at `build` (scripted)
        a4 leaves for `verify`: "did it"
        a4 ended
          `build` left for `verify`
          phase `verify` entered
          a5 started at `verify` (scripted)
        a5 leaves for `done`: "did it"
        a5 ended
          `verify` left, nothing follows
          the workflow came to its end
          run done
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn a_cancelled_run_is_over_once_nothing_works() {
    let mut world = World::started(THREE, "");
    world.step(&person(Command::Cancel { reason: "wrong task".to_owned() }));
    assert_eq!(world.state.status(), Status::Running);
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Cancelled);
    assert!(matches!(world.step(&person(Command::Resume)), Answer::Refused(_)));
}

#[test]
fn the_same_call_gets_the_same_answer_and_the_first_signal_wins() {
    let mut world = World::started(THREE, "");
    let a1 = AttemptId(1);
    let refused = world.step(&signal(a1, "r1", leave("nowhere")));
    assert!(matches!(refused, Answer::Refused(_)));
    assert_eq!(world.step(&signal(a1, "r1", leave("nowhere"))), refused);
    let accepted = world.step(&signal(a1, "r2", leave("build")));
    let lines = world.lines.len();
    assert_eq!(world.step(&signal(a1, "r2", leave("build"))), accepted, "repeated by its id");
    assert_eq!(world.step(&signal(a1, "r3", leave("build"))), accepted, "repeated by its words");
    assert_eq!(world.lines.len(), lines, "a repeated call leaves nothing");
}

#[test]
fn after_the_signal_every_tool_is_denied_but_our_own() {
    let mut world = World::started(THREE, "");
    let call = |call: &str, tool: &str| {
        let (call, tool, input) = (call.to_owned(), tool.to_owned(), String::new());
        about(AttemptId(1), AttemptReport::ToolCalled { call, tool, input })
    };
    assert_eq!(world.step(&call("c1", "bash")), Answer::Verdict(Verdict::Allowed));
    world.step(&signal(AttemptId(1), "r1", leave("build")));
    let Answer::Verdict(Verdict::Denied(_)) = world.step(&call("c2", "bash")) else {
        panic!("bash after the signal");
    };
    assert_eq!(world.step(&call("c3", "workflow_status")), Answer::Verdict(Verdict::Allowed));
}

#[test]
fn tool_lists_are_enforced() {
    let mut world = World::started("{name: T, phases: {work: {tools: {allow: [Read, Grep]}}}}", "");
    let mut call = |tool: &str| {
        let (call, tool, input) = (tool.to_owned(), tool.to_owned(), String::new());
        world.step(&about(AttemptId(1), AttemptReport::ToolCalled { call, tool, input }))
    };
    assert_eq!(call("read"), Answer::Verdict(Verdict::Allowed));
    let Answer::Verdict(Verdict::Denied(why)) = call("bash") else { panic!("bash allowed") };
    expect!["this phase allows only the tools `Read`, `Grep`"].assert_eq(&why);
}

#[test]
fn a_worker_is_not_a_person_and_nobody_signals_for_another() {
    let mut world = World::started(THREE, "");
    let by = |attempt| By { actor: Actor::Worker(AttemptId(attempt)), request: None };
    let input = |by, command| Input { at: Millis(0), by, what: What::Command(command) };
    let approve = Command::Approve { gate: None, note: String::new() };
    let steal =
        Command::Signal { attempt: AttemptId(1), request: "r".to_owned(), signal: leave("build") };
    assert!(matches!(world.step(&input(by(1), approve)), Answer::Refused(_)));
    assert!(matches!(world.step(&input(by(2), steal)), Answer::Refused(_)));
    assert_eq!(world.lines.len(), 1);
}

#[test]
fn an_accepted_signal_stands_even_if_the_supervisor_dies_before_the_turn_ends() {
    let mut world = World::started(THREE, "");
    world.step(&signal(AttemptId(1), "r1", leave("build")));
    let seen = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    assert_eq!(world.state.visits.last().unwrap().place.as_str(), "build");
}

#[test]
fn a_workflow_that_turns_without_working_is_held() {
    let world = check(
        "
name: Turns
limits: {loop: {count: edge, max: 1000000}}
phases:
  a: {run: workflow, workflow: nothing, next: [b]}
  b: {run: workflow, workflow: nothing, next: [a]}
=== nothing
name: Nothing
phases: {done: {}}
",
        "",
        expect![[r#"
            run started: `Turns` on "the task"
              workflow `main` entered
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              the workflow in `b` came to its end
              `b` left for `a`
              phase `a` entered
              workflow `nothing` entered
              the workflow in `a` came to its end
              `a` left for `b`
              phase `b` entered
              workflow `nothing` entered
              g1 waits at `b/done` for intervention: the workflow goes round without anybody working
        "#]],
    );
    assert_eq!(world.state.status(), Status::Waiting);
}

#[test]
fn gates_answered_by_one_are_closed_for_the_next() {
    let mut world =
        World::started("{name: G, phases: {plan: {approval: before}}}", "plan: go done");
    world.step(&person(Command::Approve { gate: None, note: String::new() }));
    let again =
        Command::Approve { gate: Some(chronicle_core::ids::GateId(1)), note: String::new() };
    let Answer::Refused(why) = world.step(&person(again)) else { panic!("approved twice") };
    expect!["g1 was already approved by ann at 2026-11-15T02:30:50.000Z"].assert_eq(&why);
}
