//! Decisions on the way out: what is verified before a phase is left.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::engine::work::work;
use chronicle_core::event::input::{AttemptReport, Command, EndSeen};
use chronicle_core::event::{CrashClass, Duty, End};
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use expect_test::expect;

use crate::decide::check;
use crate::world::{World, about, person};

const WORKFLOW: &str = "
name: Careful
verify: [all tests]
phases:
  build: {verify: [lint, test], cleanup: [stop server, rm tmp], approval: after, next: [ship]}
  ship: {next: [done]}
";

#[test]
fn verify_then_approval_then_cleanup_then_the_edge() {
    let world = check(
        WORKFLOW,
        "build: go ship\nship: go done\ng1: approve",
        expect![[r#"
        run started: `Careful` on "the task"
          workflow `main` entered
          phase `build` entered
          a1 started at `build` (scripted)
        a1 leaves for `ship`: "did it"
        a1 ended
          a2 verifies `build`: `lint`, `test`
        a2's command 1 succeeded
        a2's command 2 succeeded
        a2 ran every command
          g1 waits at `build` for approval: is `build` done? "did it"
        g1 approved by ann
          a3 cleans up `build`: `stop server`, `rm tmp`
        a3's command 1 succeeded
        a3's command 2 succeeded
        a3 ran every command
          `build` left for `ship`
          phase `ship` entered
          a4 started at `ship` (scripted)
        a4 leaves for `done`: "did it"
        a4 ended
          a5 verifies `ship`: `all tests`
        a5's command 1 succeeded
        a5 ran every command
          `ship` done, workflow complete
          the workflow ended
          run done
    "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    let tries: Vec<_> = world.state.places.values().map(|tally| tally.tries).collect();
    assert_eq!(tries, [1, 1], "a chore is nobody's try");
}

#[test]
fn work_that_is_not_verified_goes_back_to_its_session() {
    let world = check(
        WORKFLOW,
        "build 1: go ship\nbuild 2: go ship\nbuild!verify 1: run 0 0; run 1 1\nship: go done\ng1: approve",
        expect![[r#"
            run started: `Careful` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 leaves for `ship`: "did it"
            a1 ended
              a2 verifies `build`: `lint`, `test`
            a2's command 1 succeeded
            a2's command 2 failed with exit code 1
            a2 failed at command 2
              a3 resumed at `build` (scripted): not verified: "`test` failed"
            a3 leaves for `ship`: "did it"
            a3 ended
              a4 verifies `build`: `lint`, `test`
            a4's command 1 succeeded
            a4's command 2 succeeded
            a4 ran every command
              g1 waits at `build` for approval: is `build` done? "did it"
            g1 approved by ann
              a5 cleans up `build`: `stop server`, `rm tmp`
            a5's command 1 succeeded
            a5's command 2 succeeded
            a5 ran every command
              `build` left for `ship`
              phase `ship` entered
              a6 started at `ship` (scripted)
            a6 leaves for `done`: "did it"
            a6 ended
              a7 verifies `ship`: `all tests`
            a7's command 1 succeeded
            a7 ran every command
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    let attempts: Vec<_> = world.state.attempts.iter().map(|it| it.intent.clone()).collect();
    assert_eq!(attempts[0].session, attempts[2].session);
    assert!(attempts[2].resume);
}

#[test]
fn work_that_stays_unverified_needs_a_person_and_skip_follows_the_worker() {
    check(
        "phases:\n  build: {verify: [test], limits: {retries: 1}, next: [ship, other]}\n  other: {next: [done]}\n  ship: {next: [done]}",
        "build: go other\nbuild!verify: run 0 1\nother: go done\ng1: skip it is known to fail",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 leaves for `other`: "did it"
            a1 ended
              a2 verifies `build`: `test`
            a2's command 1 failed with exit code 1
            a2 failed at command 1
              a3 resumed at `build` (scripted): not verified: "`test` failed"
            a3 leaves for `other`: "did it"
            a3 ended
              a4 verifies `build`: `test`
            a4's command 1 failed with exit code 1
            a4 failed at command 1
              g1 waits at `build` for intervention: `build` was reported done but failed verification: `test` failed
            g1 answered with `skip` by ann: "it is known to fail"
              `build` left for `other` (skipped)
              phase `other` entered
              a5 started at `other` (scripted)
            a5 leaves for `done`: "did it"
            a5 ended
              `other` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_verify_that_cannot_be_started_is_asked_about_and_the_work_is_not_repeated() {
    for kind in ["", "run: command, once: true, commands: [make], "] {
        let text = format!(
            "phases:\n  build: {{{kind}verify: [lint, test], on: {{unverified: mend}}, next: [done]}}\n  mend: {{}}"
        );
        let mut world = World::started(&text, "build: go done");
        while world.state.attempts.len() < 2 {
            assert!(world.one_move(), "{}", world.told());
        }
        let error = Some((CrashClass::CannotStart, "no thread".to_owned()));
        let seen = EndSeen { error, ..EndSeen::default() };
        world.step(&about(AttemptId(2), AttemptReport::Ended(seen)));
        // The tree after it comes first.
        while world.one_move() {}
        let asked = world.state.open_gates().next().unwrap().opened.about.clone();
        assert_eq!(
            asked,
            "`build` was reported done, and its `verify` could not be started: \"no thread\". \
             `retry` verifies it again, `skip` goes on without"
        );
        assert_eq!(world.state.attempts.len(), 2, "{}", world.told());
        let (place, note) = (None, String::new());
        world.step(&person(Command::Retry { place, note, agent: None, from: None }));
        while world.one_move() {}
        let duties: Vec<_> = world.state.attempts.iter().map(|it| it.duty()).collect();
        assert_eq!(duties, [None, Some(Duty::Verify), Some(Duty::Verify)], "{}", world.told());
        assert_eq!(world.state.status(), Status::Done);
    }
}

#[test]
fn a_person_who_names_another_agent_has_unverified_work_done_again() {
    let mut world =
        World::started("phases:\n  build: {verify: [test], next: [done]}", "build: go done");
    while world.state.attempts.len() < 2 {
        assert!(world.one_move(), "{}", world.told());
    }
    let error = Some((CrashClass::CannotStart, "no thread".to_owned()));
    world.step(&about(AttemptId(2), AttemptReport::Ended(EndSeen { error, ..EndSeen::default() })));
    while world.one_move() {}
    let (place, note, agent) = (None, String::new(), Some("claude".to_owned()));
    world.step(&person(Command::Retry { place, note, agent, from: None }));
    while world.state.attempts.len() < 3 {
        assert!(world.one_move(), "{}", world.told());
    }
    let last = world.state.attempts.iter().last().unwrap();
    assert_eq!((last.intent.attempt, last.duty()), (AttemptId(3), None), "{}", world.told());
}

#[test]
fn a_workflow_may_have_its_own_way_for_unverified_work() {
    check(
        "phases:\n  build: {limits: {retries: 0}, verify: [test], next: [done], on: {unverified: mend}}\n  mend: {next: [done]}",
        "build: go done\nbuild!verify: run 0 1\nmend: go done",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              a2 verifies `build`: `test`
            a2's command 1 failed with exit code 1
            a2 failed at command 1
              `build` left for `mend` (unverified)
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
fn a_worker_that_claims_no_success_is_not_verified() {
    check(
        "phases:\n  build: {verify: [test], next: [done], on: {fail: mend}}\n  mend: {next: [done]}",
        "build: go mend fail\nmend: go done",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `build` entered
              a1 started at `build` (scripted)
            a1 leaves for `mend`: "did it"
            a1 ended
              `build` left for `mend` (fail)
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
fn the_verify_of_a_workflow_inside_has_its_own_environment() {
    let workflow = "env: {WHERE: outside}
verify: [whole]
phases:
  in: {workflow: inner, verify: [outer], on: {unverified: mend}, next: [done]}
  mend: {next: [done]}
=== inner
env: {WHERE: inside}
verify: [inner]
phases: {a: {next: [done]}}
";
    let mut world = World::started(workflow, "in/a: go done");
    let mut seen = Vec::new();
    while world.one_move() {
        seen.extend(world.state.live_attempts().filter(|it| it.intent.chore.is_some()).map(|it| {
            let work = work(&world.state, it.intent.attempt).unwrap();
            let commands: Vec<&str> = work.commands.iter().map(|it| it.1.as_str()).collect();
            format!("{} in {}", commands.join(", "), work.env["WHERE"])
        }));
        seen.dedup();
    }
    assert_eq!(seen, ["inner in inside", "outer, whole in outside"]);
    assert_eq!(world.state.status(), Status::Done);
    let failed =
        World::started(workflow, "in/a: go done\nin!verify: run 0 1\nmend: go done").play();
    assert!(failed.told().contains("a2 verifies `in`: `inner`"), "{}", failed.told());
    assert!(failed.told().contains("`in` left for `mend` (unverified)"), "{}", failed.told());
    assert!(!failed.told().contains("`outer`"), "{}", failed.told());
}

#[test]
fn a_phase_is_left_only_if_the_verify_of_the_workflow_inside_passes() {
    let world = check(
        "verify: [whole]
phases:
  in: {workflow: inner, verify: [outer], on: {unverified: mend}, next: [done]}
  mend: {next: [done]}
=== inner
verify: [inner]
phases: {a: {verify: [own]}}
",
        "in/a: go done\nin!verify: run 0 1\nmend: go done",
        expect![[r#"
            run started: `main` on "the task"
              workflow `main` entered
              phase `in` entered
              workflow `inner` entered
              phase `in/a` entered
              a1 started at `in/a` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              a2 verifies `in/a`: `own`
            a2's command 1 succeeded
            a2 ran every command
              `in/a` done, workflow complete
              the workflow in `in` ended
              a3 verifies `in`: `inner`, `outer`, `whole`
            a3's command 1 failed with exit code 1
            a3 failed at command 1
              `in` left for `mend` (unverified)
              phase `mend` entered
              a4 started at `mend` (scripted)
            a4 leaves for `done`: "did it"
            a4 ended
              a5 verifies `mend`: `whole`
            a5's command 1 succeeded
            a5 ran every command
              `mend` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
}

#[test]
fn a_pause_stops_what_verifies_and_not_what_puts_away() {
    let mut world = World::started(WORKFLOW, "build: go ship\ng1: approve");
    while world.state.attempt(AttemptId(2)).is_none() {
        world.one_move();
    }
    let pause = || person(Command::Pause { reason: String::new() });
    world.step(&pause());
    assert_eq!(world.state.due()[0].action, Action::StopAttempt(AttemptId(2)));
    let stopped = EndSeen { stopped: true, ..EndSeen::default() };
    world.step(&about(AttemptId(2), AttemptReport::Ended(stopped)));
    while world.one_move() {}
    assert_eq!(world.state.status(), Status::Paused);
    world.step(&person(Command::Resume));
    while world.state.attempt(AttemptId(4)).is_none() {
        world.one_move();
    }
    world.step(&pause());
    let stops = |world: &World| {
        world.state.due().iter().any(|due| matches!(due.action, Action::StopAttempt(_)))
    };
    while world.one_move() {
        assert!(!stops(&world));
    }
    let ended = world.state.attempt(AttemptId(4)).and_then(|attempt| attempt.ended.clone());
    assert_eq!(ended.map(|(end, _)| end), Some(End::CommandsDone));
    assert_eq!(world.state.status(), Status::Paused);
}

#[test]
fn a_chore_that_is_lost_is_done_again() {
    let workflow = "phases:\n  build: {verify: [test], cleanup: [one], next: [done]}";
    let mut world = World::started(workflow, "build: go done");
    for lost in [2, 4] {
        while world.state.attempt(AttemptId(lost)).is_none() {
            world.one_move();
        }
        let seen = EndSeen { lost: true, ..EndSeen::default() };
        world.step(&about(AttemptId(lost), AttemptReport::Ended(seen)));
    }
    let world = world.play();
    expect![[r#"
        run started: `main` on "the task"
          workflow `main` entered
          phase `build` entered
          a1 started at `build` (scripted)
        a1 leaves for `done`: "did it"
        a1 ended
          a2 verifies `build`: `test`
        a2 was lost with its supervisor or keeper
          a3 verifies `build`: `test`
        a3's command 1 succeeded
        a3 ran every command
          a4 cleans up `build`: `one`
        a4 was lost with its supervisor or keeper
          a5 cleans up `build`: `one`
        a5's command 1 succeeded
        a5 ran every command
          `build` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.told());
}
