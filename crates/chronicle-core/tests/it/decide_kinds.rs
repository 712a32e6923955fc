//! Decisions about phases that no agent works on: commands, and workflows inside.

use chronicle_core::base::ids::{AttemptId, DONE, PhaseId};
use chronicle_core::base::limits::DECISION_EVENTS_MAX;
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::state::Status;
use expect_test::expect;

use crate::decide::check;
use crate::world::{World, person, workflows};

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
            a1's command 1 succeeded
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
            a3's command 1 succeeded
            a3's command 2 succeeded
            a3 ran every command
              `test` done, workflow complete
              the workflow ended
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
              g1 waits at `test` for intervention: `false` failed
            g1 answered with `retry` by ann
              a2 started at `test` (shell): asked for
            a2's command 1 succeeded
            a2 ran every command
              `test` done, workflow complete
              the workflow ended
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
            a1's command 1 succeeded
            a1's command 2 succeeded
            a1 was lost with its supervisor or keeper
              a2 started at `test` (shell): the last attempt was lost
            a2's command 1 succeeded
            a2's command 2 succeeded
            a2 was lost with its supervisor or keeper
              a3 started at `test` (shell): the last attempt was lost
            a3's command 1 succeeded
            a3's command 2 succeeded
            a3 was lost with its supervisor or keeper
              a4 started at `test` (shell): the last attempt was lost
            a4's command 1 succeeded
            a4's command 2 succeeded
            a4 was lost with its supervisor or keeper
              a5 started at `test` (shell): the last attempt was lost
            a5's command 1 succeeded
            a5's command 2 succeeded
            a5 was lost with its supervisor or keeper
              a6 started at `test` (shell): the last attempt was lost
            a6's command 1 succeeded
            a6's command 2 succeeded
            a6 was lost with its supervisor or keeper
              a7 started at `test` (shell): the last attempt was lost
            a7's command 1 succeeded
            a7's command 2 succeeded
            a7 was lost with its supervisor or keeper
              a8 started at `test` (shell): the last attempt was lost
            a8's command 1 succeeded
            a8's command 2 succeeded
            a8 was lost with its supervisor or keeper
              a9 started at `test` (shell): the last attempt was lost
            a9's command 1 succeeded
            a9's command 2 succeeded
            a9 was lost with its supervisor or keeper
              a10 started at `test` (shell): the last attempt was lost
            a10's command 1 succeeded
            a10's command 2 succeeded
            a10 was lost with its supervisor or keeper
              a11 started at `test` (shell): the last attempt was lost
            a11's command 1 succeeded
            a11's command 2 succeeded
            a11 was lost with its supervisor or keeper
              a12 started at `test` (shell): the last attempt was lost
            a12's command 1 succeeded
            a12's command 2 succeeded
            a12 was lost with its supervisor or keeper
              a13 started at `test` (shell): the last attempt was lost
            a13's command 1 succeeded
            a13's command 2 succeeded
            a13 was lost with its supervisor or keeper
              a14 started at `test` (shell): the last attempt was lost
            a14's command 1 succeeded
            a14's command 2 succeeded
            a14 was lost with its supervisor or keeper
              a15 started at `test` (shell): the last attempt was lost
            a15's command 1 succeeded
            a15's command 2 succeeded
            a15 was lost with its supervisor or keeper
              a16 started at `test` (shell): the last attempt was lost
            a16's command 1 succeeded
            a16's command 2 succeeded
            a16 was lost with its supervisor or keeper
              a17 started at `test` (shell): the last attempt was lost
            a17's command 1 succeeded
            a17's command 2 succeeded
            a17 was lost with its supervisor or keeper
              a18 started at `test` (shell): the last attempt was lost
            a18's command 1 succeeded
            a18's command 2 succeeded
            a18 was lost with its supervisor or keeper
              a19 started at `test` (shell): the last attempt was lost
            a19's command 1 succeeded
            a19's command 2 succeeded
            a19 was lost with its supervisor or keeper
              a20 started at `test` (shell): the last attempt was lost
            a20's command 1 succeeded
            a20's command 2 succeeded
            a20 was lost with its supervisor or keeper
              a21 started at `test` (shell): the last attempt was lost
            a21's command 1 succeeded
            a21's command 2 succeeded
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
              g1 waits at `ship` for intervention: `ship` may run only once, and it is unknown whether it did
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
              `review/judge` done, workflow complete
              the workflow in `review` ended
              `review` left for `ship`
              phase `ship` entered
              a4 started at `ship` (scripted)
            a4 leaves for `done`: "did it"
            a4 ended
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_workflow_that_turns_without_working_is_held() {
    let mut workflows = workflows(
        "
name: Turns
limits: {loop: {count: edge, max: 1000000}}
phases:
  a: {run: workflow, workflow: nothing, next: [b]}
  b: {run: workflow, workflow: nothing, next: [a]}
=== nothing
name: Nothing
phases: {box: {}}
",
    );
    // As a file of another program may have it: nothing but an end.
    workflows[1].initial = PhaseId::from(DONE);
    workflows[1].phases[0].id = PhaseId::from(DONE);
    let world = World::of(workflows, "").play();
    assert_eq!(world.state.status(), Status::Waiting);
    assert_eq!(world.lines.len(), 1, "it is one decision, and it ends");
    assert!(
        world.lines[0].events.len() <= DECISION_EVENTS_MAX + 2,
        "{}",
        world.lines[0].events.len()
    );
    let told = world.told();
    let last = told.lines().last().unwrap();
    assert!(last.ends_with("the workflow loops without any work"), "{last}");
    assert_eq!(world.state.attempts.len(), 0);
}

#[test]
fn of_several_commands_that_may_run_only_once_those_that_ended_well_are_not_run_again() {
    let workflow =
        "{name: Pay, phases: {pay: {run: command, commands: [order, charge, thank], once: true}}}";
    let world = World::started(workflow, "pay 1: run 0 0; lost\ng1: retry").play();
    let told = world.told();
    expect![[r#"`pay` may run only once, and it is unknown whether command 2 of 3 did: "charge". `retry` runs it again and not the one before it, which ended well; `retry --from 3` goes on behind it if it did run; `--from 1` begins anew"#]]
        .assert_eq(&world.state.gates.iter().next().unwrap().opened.about);
    assert_eq!(world.state.attempt(AttemptId(2)).unwrap().intent.first_command, 1);
    assert_eq!(world.state.status(), chronicle_core::state::Status::Done, "{told}");
}

/// The command that the second attempt begins with, after `charge` was in doubt and a person said so.
fn begins_with(once: bool, answer: &str) -> u32 {
    let workflow = format!(
        "{{name: Pay, phases: {{pay: {{run: command, commands: [order, charge, thank], once: {once}, \
         limits: {{losses: 0}}}}}}}}"
    );
    let world = World::started(&workflow, &format!("pay 1: run 0 0; lost\ng1: {answer}")).play();
    assert_eq!(world.state.status(), chronicle_core::state::Status::Done, "{}", world.told());
    world.state.attempt(AttemptId(2)).unwrap().intent.first_command
}

#[test]
fn a_person_says_which_command_to_begin_with() {
    assert_eq!(begins_with(true, "retry-from 1"), 0);
    assert_eq!(begins_with(true, "retry-from 3"), 2);
    assert_eq!(begins_with(false, "retry-from 2"), 1);
    // What may run again does so from the beginning: the person may have changed what the first commands work on.
    assert_eq!(begins_with(false, "retry"), 0);
}

#[test]
fn retry_from_needs_an_existing_command() {
    let workflow =
        "{name: Pay, phases: {pay: {run: command, commands: [order, charge], once: true}}}";
    let mut world = World::started(workflow, "pay 1: run 0 0; lost").play();
    let mut told = |from| {
        let retry =
            Command::Retry { place: None, note: String::new(), agent: None, from: Some(from) };
        world.step(&person(retry))
    };
    let none = |from| {
        Answer::Refused(format!(
            "`pay` has no command {from}: it has 2, and `skip` goes on without any of them"
        ))
    };
    assert_eq!((told(0), told(3)), (none(0), none(3)));
    let mut world = World::started("{name: W, phases: {plan: {}}}", "plan: auth x").play();
    let retry = Command::Retry { place: None, note: String::new(), agent: None, from: Some(1) };
    let refused = "`plan` runs no commands: `retry` without `--from` tries it again";
    assert_eq!(world.step(&person(retry)), Answer::Refused(refused.to_owned()));
}
