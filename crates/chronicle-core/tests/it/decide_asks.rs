//! Decisions about questions, answers and notes between workers and people.

use chronicle_core::base::ids::{AttemptId, GateId, NoteId, Place};
use chronicle_core::engine;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Report};
use chronicle_core::event::signal::{Signal, parse};
use chronicle_core::event::{Break, Message, OnGate, Question};
use chronicle_core::state::Status;
use chronicle_core::words;
use expect_test::expect;
use serde_json::json;

use crate::decide::{THREE, check};
use crate::world::{World, about, person, report, signal, start, workflows};

fn question(text: &str, options: &[&str]) -> Signal {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    Signal::Ask(Question {
        question: text.to_owned(),
        options,
        context: String::new(),
        closed: false,
    })
}

fn answer(text: &str) -> Command {
    Command::Answer { gate: None, text: text.to_owned(), note: String::new() }
}

#[test]
fn a_worker_that_needs_an_answer_ends_its_turn_and_goes_on_with_it() {
    check(
        "{name: A, phases: {work: {}}}",
        "work: need which colour?; go done\ng1: answer blue",
        expect![[r#"
            run started: `A` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            a1 ends its turn: asks: "which colour?"
            a1 ended
              g1 waits at `work` for an answer: which colour?
            g1 answered "blue" by ann
              a2 resumed at `work` (scripted): g1 was answered
            a2 leaves for `done`: "did it"
            a2 ended
              `work` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_worker_that_waits_hears_the_answer_where_it_is() {
    check(
        "{name: A, phases: {work: {}}}",
        "work: ask which colour?; usage 3; go done\ng1: answer blue",
        expect![[r#"
            run started: `A` on "the task"
              workflow `main` entered
              phase `work` entered
              a1 started at `work` (scripted)
            g1 waits at `work` for an answer: which colour?
            g1 answered "blue" by ann
            a1 was told the answer to g1
            a1 reported 3 tokens
            a1 leaves for `done`: "did it"
            a1 ended
              `work` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn an_open_question_is_waited_for_without_anybody_at_work() {
    let mut world = World::started(THREE, "");
    let asked = signal(AttemptId(1), "r1", question("which?", &["red", "blue"]));
    assert_eq!(world.step(&asked), Answer::Waits);
    assert_eq!(world.step(&asked), Answer::Waits, "the same call is the same question");
    assert_eq!(world.state.gates.len(), 1);
    assert_eq!(world.state.status(), Status::Waiting, "whoever works waits for a person");
    assert!(!world.state.due().iter().any(|effect| format!("{effect:?}").contains("Timer")));
    let leave = parse("workflow_step", &json!({"action": "next"}));
    assert_eq!(
        world.step(&signal(AttemptId(1), "r2", leave)),
        Answer::Refused("your question g1 is open: wait for its answer first".to_owned())
    );
    world.step(&about(AttemptId(1), AttemptReport::Idle));
    assert_eq!(world.state.status(), Status::Waiting, "who waits is not idle");
    world.step(&report(Report::SupervisorLeaves));
    assert_eq!(world.state.status(), Status::Running, "it is being ended");
    let seen = EndSeen { stopped: true, ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    assert_eq!((world.state.status(), world.state.live.len()), (Status::Waiting, 0));
    world.step(&person(answer("2")));
    assert_eq!(world.state.attempts.len(), 2);
    let again = signal(AttemptId(2), "r1", question("which?", &["red", "blue"]));
    assert_eq!(world.step(&again), Answer::Accepted("blue".to_owned()));
    expect![[r#"
        run started: `Three phases` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        g1 waits at `plan` for an answer: which?
        a1 was refused: your question g1 is open: wait for its answer first
        a1 is being stopped: it waits for an answer, and the supervisor is about to exit
        a1 was stopped: it waits for an answer, and the supervisor is about to exit
        g1 answered "blue" by ann
          a2 started at `plan` (scripted): g1 was answered
        a2 was told the answer to g1
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn an_answer_given_while_the_supervisor_is_dead_reaches_the_same_session() {
    let world = World::started("{name: A, phases: {work: {}}}", "work: ask which?; go done");
    let mut asked = world.play();
    asked.step(&person(answer("blue")));
    let killed = asked.killed_after(asked.lines.len());
    let resumed = killed.recovered();
    let second = resumed.state.attempt(AttemptId(2)).unwrap().clone();
    let first = resumed.state.attempt(AttemptId(1)).unwrap();
    assert!(second.intent.resume && second.intent.session == first.intent.session);
    let text = chronicle_core::handover::handover(&resumed.state, &second);
    assert!(text.contains("- You asked: which?\n  ann answered: blue"), "{text}");
    // An agent may count its calls anew: what was answered to one question is no answer to another.
    let gate = resumed.state.gate(GateId(1)).and_then(|gate| gate.opened.asker.as_ref()).unwrap();
    let heard = |words: &str| {
        let asked = signal(AttemptId(2), &gate.request, question(words, &[]));
        engine::step(&resumed.state, &asked).answer
    };
    assert_eq!(heard("which?"), Answer::Accepted("blue".to_owned()));
    assert_eq!(heard("delete it all?"), Answer::Waits);
    assert_eq!(resumed.play().state.status(), Status::Done);
}

#[test]
fn answers_fit_their_gates() {
    let mut world = World::started(THREE, "");
    world.step(&signal(AttemptId(1), "r1", question("which?", &["red", "blue"])));
    let mut say = |command| match world.step(&person(command)) {
        Answer::Refused(why) => why,
        other => format!("{other:?}"),
    };
    let note = String::new;
    let g1 = Some(GateId(1));
    expect!["g1 is a question: `answer` answers it"].assert_eq(&say(Command::Approve {
        gate: None,
        note: note(),
        scope: None,
    }));
    expect!["an answer to g1 needs words"].assert_eq(&say(answer("  ")));
    expect!["g1 is a question: `answer` answers it"]
        .assert_eq(&say(Command::Skip { place: None, note: note() }));
    expect![[r#"Accepted("answered g1 at `plan`")"#]].assert_eq(&say(answer("BLUE")));
    expect!["g1 was already answered by ann at 2026-11-15T02:30:50.000Z"]
        .assert_eq(&say(Command::Answer { gate: g1, text: "red".to_owned(), note: String::new() }));
    expect!["nothing is being asked: g1 was already answered by ann at 2026-11-15T02:30:50.000Z"]
        .assert_eq(&say(answer("red")));
}

#[test]
fn a_note_is_told_once_and_marked_when_it_may_be_a_repetition() {
    let mut world = World::started(THREE, "");
    let note = |text: &str| Command::Note { place: None, text: text.to_owned() };
    let said = world.step(&person(note("mind the tests")));
    assert_eq!(
        said,
        Answer::Accepted("n1 is for a1, or for the next worker, at `plan`".to_owned())
    );
    let told = about(AttemptId(1), AttemptReport::Told(Message::Note(NoteId(1))));
    world.step(&told);
    world.step(&told);
    world.step(&person(note("and the docs")));
    // The supervisor dies before it could say that the second one was told.
    let mut world = world.killed_after(world.lines.len()).recovered();
    let second = world.state.attempt(AttemptId(2)).unwrap();
    let text = chronicle_core::handover::handover(&world.state, second);
    let notes = text.split("## Notes from people").nth(1).unwrap();
    let notes = notes.split("##").next().unwrap().trim();
    expect![[r#"
        - ann (an earlier attempt was told this too): mind the tests
        - ann (an earlier attempt may have been told this too): and the docs"#]]
    .assert_eq(notes);
    assert!(!world.state.due().iter().any(|effect| format!("{effect:?}").contains("Tell")));
    let elsewhere = Command::Note { place: Some(Place::new("verify")), text: "x".to_owned() };
    assert!(matches!(world.step(&person(elsewhere)), Answer::Refused(_)));
    assert!(matches!(world.step(&person(note(&"x".repeat(4_001)))), Answer::Refused(_)));
    expect![[r#"
        run started: `Three phases` on "the task"
          workflow `main` entered
          phase `plan` entered
          a1 started at `plan` (scripted)
        n1 from ann to `plan`: "mind the tests"
        a1 was told n1
        n2 from ann to `plan`: "and the docs"
        a1 was lost with its supervisor or keeper
          a2 resumed at `plan` (scripted): the last attempt was lost
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn a_person_does_a_phase_by_hand_and_chooses_the_way_on() {
    check(
        "
name: By hand
phases:
  sign: {run: human, instructions: Sign the release., next: [ship]}
  ship: {run: human, next: [done, sign]}
",
        "g1: reject no key\ng2: go sign\ng3: approve signed\ng4: answer DONE",
        expect![[r#"
            run started: `By hand` on "the task"
              workflow `main` entered
              phase `sign` entered
              g1 waits at `sign` for approval: `sign` is yours to do: Sign the release.
            g1 rejected by ann: "no key"
              g2 waits at `sign` for intervention: a person rejected it: "no key"
            g2 answered with `go sign` by ann
              `sign` left for `sign` (skipped) by a person
              phase `sign` entered
              g3 waits at `sign` for approval: `sign` is yours to do: Sign the release.
            g3 approved by ann: "signed"
              `sign` left for `ship`
              phase `ship` entered
              g4 waits at `ship` for an answer: `ship` is yours to do
            g4 answered "done" by ann
              `ship` done, workflow complete
              the workflow ended
              run done
        "#]],
    );
}

#[test]
fn a_run_may_be_started_to_fail_when_a_person_is_needed() {
    let mut world = World::new("");
    let mut started = start(workflows("{name: F, phases: {work: {approval: before}}}"));
    started.on_gate = Some(OnGate::Fail);
    world.step(&person(Command::Start(Box::new(started))));
    assert_eq!(world.state.status(), Status::Failed);
    let approve = Command::Approve { gate: None, note: String::new(), scope: None };
    assert_eq!(world.step(&person(approve)), Answer::Refused("the run has failed".to_owned()));
    let mut asking = World::new("");
    let mut started = start(workflows("{name: F, phases: {work: {}}}"));
    started.on_gate = Some(OnGate::Fail);
    asking.step(&person(Command::Start(Box::new(started))));
    asking.step(&signal(AttemptId(1), "r1", question("which?", &[])));
    assert_eq!(asking.state.status(), Status::Ending, "its worker is being ended");
    let seen = EndSeen { stopped: true, ..EndSeen::default() };
    asking.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    assert_eq!((asking.state.status(), asking.state.attempts.len()), (Status::Failed, 1));
    expect![[r#"
        run started: `F` on "the task"
          workflow `main` entered
          phase `work` entered
          g1 waits at `work` for approval: may `work` begin?
          run failed: g1 at `work` needs a person: may `work` begin?
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn another_agent_may_be_chosen_for_another_try() {
    let mut world = World::started("{name: R, phases: {work: {}}}", "work: auth").play();
    let (place, note, agent) = (None, String::new(), Some("scripted:other.yaml".to_owned()));
    world.step(&person(Command::Retry { place, note, agent, from: None }));
    assert_eq!(world.state.attempts.last().unwrap().intent.agent, "scripted:other.yaml");
}

#[test]
fn a_closed_question_takes_only_its_options() {
    let mut world = World::started(THREE, "");
    let arguments =
        json!({"question": "which?", "options": ["red", "blue"], "allow_free_text": false});
    let asked = parse("ask_supervisor", &arguments);
    assert_eq!(world.step(&signal(AttemptId(1), "r1", asked)), Answer::Waits);
    let refused = world.step(&person(answer("green")));
    assert_eq!(
        refused,
        Answer::Refused("g1 must be answered with one of `red`, `blue`".to_owned())
    );
    let next = words::gate_next(&world.state, &world.state.gate(GateId(1)).unwrap().opened, "R");
    assert_eq!(next, "chronicle answer R g1 1  (1 = red, 2 = blue)");
    world.step(&person(answer("Blue")));
    let open = json!({"question": "which?", "allow_free_text": false});
    let Signal::Malformed(why) = parse("workflow_ask", &open) else { panic!("{open}") };
    assert!(why.contains("needs `options`"), "{why}");
}

#[test]
fn a_blocked_worker_asks_a_person_and_a_half_done_one_continues() {
    let blocked =
        json!({"signal": "complete", "operationStatus": "blocked", "blockedReason": "no key"});
    let Signal::Break(Break::Ask(question)) = parse("signal-back", &blocked) else { panic!() };
    assert_eq!(question.question, "no key");
    let partial = json!({"signal": "complete", "operationStatus": "partial", "summary": "half"});
    let Signal::Break(Break::Continue { progress, .. }) = parse("signal_back", &partial) else {
        panic!()
    };
    assert_eq!(progress, "half");
    for (arguments, words) in [
        (
            json!({"signal": "partially-complete"}),
            "the signal `partially-complete` needs `progress`: what is done by now; `continuationPoint`: where to go on",
        ),
        (
            json!({"signal": "needs-user-input"}),
            "`question`: what you want to know; `context`: why",
        ),
        (
            json!({"signal": "needs-role-followup", "reason": "r"}),
            "needs `targetRole`: who is to help; `context`: what they must know; `resume`: `true` if",
        ),
        (json!({"signal": "complete", "operationStatus": "blocked"}), "needs `blockedReason`"),
        (
            json!({"signal": "complete", "operationStatus": "stuck", "summary": "x"}),
            "`blocked`, not `stuck`",
        ),
    ] {
        let Signal::Malformed(why) = parse("signal_back", &arguments) else {
            panic!("{arguments}")
        };
        assert!(why.contains(words), "{why}");
    }
}
