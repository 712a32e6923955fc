//! Decisions about people and workers who speak: gates, pauses, signals, tools.

use chronicle_core::base::ids::{AttemptId, PhaseId};
use chronicle_core::base::time::Millis;
use chronicle_core::event::input::{
    Actor, Answer, AttemptReport, By, Command, EndSeen, FinalText, Input, What,
};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{Issues, Verdict};
use chronicle_core::state::Status;
use expect_test::expect;

use crate::decide::{THREE, check};
use crate::world::{World, about, calls, person, signal, tree};

fn leave(target: &str) -> Signal {
    Signal::Leave {
        target: Some(PhaseId::from(target)),
        outcome: None,
        summary: String::new(),
        task: None,
        issues: Issues::default(),
    }
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
              `build` done, workflow complete
              the workflow ended
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
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_pause_stops_the_worker_and_resume_goes_on_in_its_session() {
    let mut world = World::started(THREE, "plan: go build\nbuild: go verify\nverify: go done");
    world.step(&person(Command::Pause { reason: "Ctrl-C".to_owned() }));
    assert_eq!(world.state.status(), Status::Ending, "it is still being stopped");
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
          `verify` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn a_cancelled_run_is_over_once_nothing_works() {
    let mut world = World::started(THREE, "");
    world.step(&person(Command::Cancel { reason: "wrong task".to_owned() }));
    assert_eq!(world.state.status(), Status::Ending);
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
    let call = |id: &str, tool: &str| about(AttemptId(1), calls(id, tool, ""));
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
    let mut call = |tool: &str| world.step(&about(AttemptId(1), calls(tool, tool, "")));
    assert_eq!(call("read"), Answer::Verdict(Verdict::Allowed));
    let Answer::Verdict(Verdict::Denied(why)) = call("bash") else { panic!("bash allowed") };
    expect!["this phase allows only the tools `Read`, `Grep`"].assert_eq(&why);
}

#[test]
fn a_worker_is_not_a_person_and_nobody_signals_for_another() {
    let mut world = World::started(THREE, "");
    let by = |attempt| By { actor: Actor::Worker(AttemptId(attempt)), request: None };
    let input = |by, command| Input { at: Millis(0), by, what: What::Command(command) };
    let approve = Command::Approve { gate: None, note: String::new(), scope: None };
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
fn gates_answered_by_one_are_closed_for_the_next() {
    let mut world =
        World::started("{name: G, phases: {plan: {approval: before}}}", "plan: go done");
    world.step(&person(Command::Approve { gate: None, note: String::new(), scope: None }));
    let again = Command::Approve {
        gate: Some(chronicle_core::base::ids::GateId(1)),
        note: String::new(),
        scope: None,
    };
    let Answer::Refused(why) = world.step(&person(again)) else { panic!("approved twice") };
    expect!["g1 was already approved by ann at 2026-11-15T02:30:50.000Z"].assert_eq(&why);
}

#[test]
fn a_no_after_the_work_goes_where_the_workflow_says() {
    let workflow = "{name: No, phases: {plan: {approval: after, next: [build], on: {rejected: rethink}}, rethink: {next: [build]}, build: {}}}";
    let script = "plan: go build\nrethink: go build\nbuild: go done\ng1: reject too big";
    let world = World::started(workflow, script).play();
    let told = world.told();
    assert!(told.contains("`plan` left for `rethink` (rejected)"), "{told}");
    assert!(!told.contains("`plan` left for `build`"), "{told}");
    assert_eq!(world.state.status(), Status::Done, "{told}");
}

#[test]
fn an_approval_of_a_failure_says_where_it_leads() {
    let workflow =
        "{name: F, phases: {judge: {approval: after, on: {pass: done, fail: mend}}, mend: {}}}";
    let world = World::started(workflow, "judge: go mend fail\nmend: go done").play();
    let gate = world.state.open_gates().next().unwrap();
    expect![[r#"`judge` ended with `fail` "did it"; approval leads to `mend`"#]]
        .assert_eq(&gate.opened.about);
}

#[test]
fn retry_does_not_begin_what_waits_for_an_approval() {
    let workflow = "{name: B, phases: {pay: {approval: before}}}";
    let mut world = World::started(workflow, "");
    for agent in [None, Some("pi".to_owned())] {
        let retry = Command::Retry { place: None, note: String::new(), agent, from: None };
        let Answer::Refused(why) = world.step(&person(retry)) else { panic!("not refused") };
        expect![
            "g1 asks whether `pay` may begin, and nothing was tried yet: `approve` or `reject`"
        ]
        .assert_eq(&why);
    }
    assert!(world.state.live.is_empty(), "{}", world.told());
}

#[test]
fn a_no_after_the_work_takes_its_edge_and_puts_away_what_was_left() {
    check(
        "
name: After
phases:
  plan: {next: [ship]}
  ship: {approval: after, cleanup: ['true'], next: [done], on: {rejected: plan}}
",
        "plan: go ship
         ship: go done
         g1: reject too early
         g2: approve",
        expect![[r#"
            run started: `After` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 leaves for `ship`: "did it"
            a1 ended
              `plan` left for `ship`
              phase `ship` entered
              a2 started at `ship` (scripted)
            a2 leaves for `done`: "did it"
            a2 ended
              g1 waits at `ship` for approval: is `ship` done? "did it"
            g1 rejected by ann: "too early"
              a3 cleans up `ship`: `true`
            a3's command 1 succeeded
            a3 ran every command
              `ship` left for `plan` (rejected)
              phase `plan` entered
              a4 started at `plan` (scripted)
            a4 leaves for `ship`: "did it"
            a4 ended
              `plan` left for `ship`
              phase `ship` entered
              a5 started at `ship` (scripted)
            a5 leaves for `done`: "did it"
            a5 ended
              g2 waits at `ship` for approval: is `ship` done? "did it"
            g2 approved by ann
              a6 cleans up `ship`: `true`
            a6's command 1 succeeded
            a6 ran every command
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_no_without_a_reason_is_refused_and_leaves_the_gate_open() {
    let mut world = World::started("{name: B, phases: {pay: {approval: before}}}", "");
    let reject = Command::Reject { gate: None, note: " ".to_owned() };
    let refused =
        Answer::Refused("rejecting g1 needs a reason, which the worker is told".to_owned());
    assert_eq!(world.step(&person(reject)), refused);
    assert_eq!(world.state.open_gates().count(), 1);
}

#[test]
fn the_verdict_of_a_worker_is_shown_to_whoever_decides_and_decides_nothing() {
    let workflow = "{name: W, phases: {review: {requires_approval: true, approval_mode: post, next: [ship]}, ship: {}}}";
    let asked = [
        ("All good. No verdict: approve it or not", " no verdict"),
        ("All good.\n- **Verdict:** approve", " verdict: APPROVE"),
        ("It leaks.\n\n## Verdict\n\nBLOCK", " verdict: BLOCK"),
        ("Verdict: APPROVE\nVerdict: BLOCK", " verdict: BLOCK"),
        ("I looked at it.", " no verdict"),
    ];
    for (said, shown) in asked {
        let mut world = World::started(workflow, "review: hang\nship: hang");
        let _ = world.one_move();
        let leave = Signal::Leave {
            target: None,
            outcome: None,
            summary: "looked".to_owned(),
            task: None,
            issues: Issues::default(),
        };
        world.step(&signal(AttemptId(1), "r", leave));
        let final_text = Some(Box::new(FinalText(said.to_owned())));
        let seen = EndSeen { finished: true, code: Some(0), final_text, ..EndSeen::default() };
        world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
        world.step(&tree(Moment::After(AttemptId(1)), &[]));
        let gate = world.state.open_gates().next().unwrap_or_else(|| panic!("{}", world.told()));
        assert_eq!(gate.opened.about, format!("is `review` done?{shown} \"looked\""), "{said}");
        assert_eq!(chronicle_core::view::run_json(&world.state).unwrap()["status"], "paused");
        world.step(&person(Command::Approve { gate: None, note: String::new(), scope: None }));
        assert_eq!(world.state.frames.values().next().unwrap().phase.as_str(), "ship");
    }
}

#[test]
fn a_title_is_given_changed_and_removed_even_after_the_end() {
    let mut world = World::started(THREE, "");
    let title = |text: &str| person(Command::Title { text: text.to_owned() });
    let accepted = |text: &str| Answer::Accepted(text.to_owned());
    assert_eq!(world.step(&title("  second try ")), accepted("title given"));
    assert_eq!(world.state.title.as_deref(), Some("second try"));
    assert_eq!(world.step(&title("second try")), accepted("it has that title already"));
    assert_eq!(
        world.step(&title(&"x".repeat(201))),
        Answer::Refused(
            "the title is too long: it has 201 bytes, and at most 200 are kept".to_owned()
        )
    );
    world.step(&person(Command::Cancel { reason: String::new() }));
    assert_eq!(world.step(&title("")), accepted("title removed"));
    assert_eq!(world.state.title, None);
    assert_eq!(world.step(&title("given up")), accepted("title given"));
    expect![[r#"
        run started: `Three phases` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        ann gave it the title "second try"
        cancelled
        ann removed the title
        ann gave it the title "given up"
    "#]]
    .assert_eq(&world.told());
}
