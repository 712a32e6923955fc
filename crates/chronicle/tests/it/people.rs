//! People and workers who speak to each other through a real supervisor: alive, dead, and two at once.

use crate::session::{Session, until};

const ONE: &str = "{name: One, phases: {work: {next: [done]}}}";
const ASKS: &str = r#"
work:
  - touch: {file: reached}
  - workflow_ask: {question: "Which colour?", options: [red, blue]}
  - append: {path: door, text: "painted\n"}
  - complete: {summary: painted}
"#;

fn is_asked(session: &Session) -> bool {
    session.has("reached")
        && session.runs().pop().is_some_and(|run| {
            let ledger = session.path(".chronicle/runs").join(run).join("ledger.jsonl");
            std::fs::read_to_string(ledger).is_ok_and(|text| text.contains("gate_opened"))
        })
}

#[test]
fn an_agent_that_waits_hears_the_answer_where_it_is() {
    let session = Session::with(ONE, ASKS);
    let args = [crate::session::RUN, &["--wait"]].concat();
    let supervisor = session.spawn(&args);
    until("the question is open", || is_asked(&session));
    let view = session.json(&["status"]);
    assert_eq!((&view["status"], &view["working"][0]["asks"]), (&"waiting".into(), &true.into()));
    session.chronicle(&["answer", &session.short(), "2"]).exits(0).prints("answered g1");
    supervisor.wait().exits(0);
    assert_eq!(session.events_of("attempt_started").len(), 1, "nobody was started anew");
    let transcript = std::fs::read_to_string(session.run_file("transcripts/a1.jsonl")).unwrap();
    assert!(
        transcript.contains(r#"\"text\":\"blue\""#) || transcript.contains("blue"),
        "{transcript}"
    );
    assert_eq!(session.read("door"), "painted\n");
    session.assert_whole();
}

#[test]
fn a_question_answered_while_the_supervisor_is_dead_reaches_the_same_session() {
    let session = Session::with(ONE, ASKS);
    let args = [crate::session::RUN, &["--wait"]].concat();
    let supervisor = session.spawn(&args);
    until("the question is open", || is_asked(&session));
    supervisor.kill();
    session
        .chronicle(&["answer", &session.short(), "g1", "blue"])
        .exits(0)
        .talks("chronicle resume");
    session.chronicle(&["resume"]).exits(0);
    let started = session.events_of("attempt_started");
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["data"]["session"], started[1]["data"]["session"]);
    assert_eq!(started[1]["data"]["resume"], true);
    let transcript = std::fs::read_to_string(session.run_file("transcripts/a2.jsonl")).unwrap();
    assert!(transcript.contains("blue"), "{transcript}");
    assert_eq!(session.events_of("gate_opened").len(), 1, "it was asked once");
    session.assert_whole();
}

#[test]
fn of_two_who_approve_at_once_one_wins_and_the_other_is_told() {
    let workflow = "{name: Gate, phases: {work: {approval: after, next: [done]}}}";
    let session = Session::with(workflow, "work: [{complete: {summary: worked}}]");
    session.run().exits(4);
    let run = session.short();
    let both = [session.spawn(&["approve", &run, "g1"]), session.spawn(&["approve", &run, "g1"])];
    let said = both.map(crate::session::Started::wait);
    let won: Vec<bool> = said.iter().map(|said| said.code == Some(0)).collect();
    assert_eq!(won.iter().filter(|won| **won).count(), 1, "{said:?}");
    let lost = said.iter().find(|said| said.code != Some(0)).unwrap();
    assert!(lost.stderr.contains("g1 was already approved by ann at "), "{lost:?}");
    assert_eq!(session.events_of("gate_answered").len(), 1);
}

#[test]
fn a_note_reaches_the_agent_while_it_works() {
    let script = r#"
work:
  - touch: {file: reached}
  - wait_for: {file: go}
  - complete: {summary: done}
"#;
    let session = Session::with(ONE, script);
    let supervisor = session.spawn_run();
    until("the agent works", || session.has("reached"));
    session
        .chronicle(&["note", &session.short(), "mind the tests"])
        .exits(0)
        .prints("n1 is for a1, or for the next worker");
    until("it was told", || session.events_of("message_delivered").len() == 1);
    session.write("go", "");
    supervisor.wait().exits(0);
    let transcript = std::fs::read_to_string(session.run_file("transcripts/a1.jsonl")).unwrap();
    assert!(transcript.contains("noted: ann: mind the tests"), "{transcript}");
    assert_eq!(session.events_of("message_delivered").len(), 1);
    session.assert_whole();
}

#[test]
fn help_within_help_that_is_killed_in_the_middle_comes_to_the_same_end() {
    let script = r#"
work:
  - append: {path: log, text: "asked\n"}
  - followup: {persona: spiritmender, reason: broken, resume: true}
  - append: {path: log, text: "went on\n"}
  - complete: {summary: with help}
"@spiritmender":
  - append: {path: log, text: "mends\n"}
  - followup: {persona: siegemaster, reason: lost, resume: true}
  - append: {path: log, text: "mended\n"}
  - complete: {summary: mended}
"@siegemaster":
  - append: {path: log, text: "seeks\n"}
  - touch: {file: reached}
  - wait_for: {file: go}
  - complete: {summary: found}
"#;
    let session = Session::with(ONE, script);
    let supervisor = session.spawn_run();
    until("help within help is at work", || session.has("reached"));
    supervisor.kill();
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("log"), "asked\nmends\nseeks\nmended\nwent on\n");
    assert_eq!(session.events_of("follow_up_ended").len(), 2);
    session.assert_whole();
}

#[test]
fn another_agent_may_be_asked_for_and_must_be_known() {
    let session = Session::with(ONE, "work: [{error: {class: auth, text: no}}, {crash: 1}]");
    session.write("other.yaml", "work: [{complete: {summary: the other did it}}]");
    session.run().exits(4);
    let run = session.short();
    session.chronicle(&["retry", &run, "--agent", "nobody"]).exits(2).talks("is not known");
    session.chronicle(&["retry", &run, "--agent", "scripted:other.yaml"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}
