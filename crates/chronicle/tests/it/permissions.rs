//! Calls that need a person's leave, with the scripted agent: held, answered late, and never run without a yes.

use crate::session::{RUN, Session, until};

/// Three commands, the first two of which need leave.
const SCRIPT: &str = "
work:
  - shell: {command: 'cat risky-one >> log'}
  - shell: {command: 'cat risky-two >> log'}
  - shell: {command: 'echo plain >> log'}
  - complete: {summary: worked}
";

fn session(limits: &str, script: &str) -> Session {
    let workflow = format!("name: Ask\nphases:\n  work: {{next: [done], limits: {{{limits}}}}}\n");
    let session = Session::with(&workflow, script);
    session.ask_about("risky");
    session.write("risky-one", "risky one\n");
    session.write("risky-two", "risky two\n");
    session
}

fn is_open(session: &Session, gate: &str) -> bool {
    let view = session.json(&["status"]);
    view["needs_you"].as_array().is_some_and(|open| open.iter().any(|it| it["gate"] == gate))
}

/// What the worker was told about each of its calls.
fn verdicts(session: &Session) -> Vec<(String, String)> {
    let calls = session.events_of("tool_called").into_iter();
    calls
        .map(|it| {
            let verdict = &it["data"]["verdict"];
            let word = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
            (word(&verdict["is"]), word(&verdict["why"]))
        })
        .collect()
}

#[test]
fn a_call_is_held_until_a_person_says_yes_or_no() {
    let session = session("idle: 1s", SCRIPT);
    let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
    until("it asks", || supervisor.talk().contains("g1"));
    let gate = session.json(&["status"])["needs_you"][0].clone();
    assert_eq!((&gate["kind"], &gate["gate"]), (&"permission".into(), &"g1".into()));
    assert_eq!(gate["call"]["command"], "cat risky-one >> log");
    // Another worker is ended for the same silence.
    let other = Session::with(
        "name: Idle\nphases: {work: {next: [done], limits: {idle: 1s, nudges: 0, retries: 0}}}\n",
        "work: [{wait_for: {file: never}}]",
    );
    other.run().exits(4).talks("it printed nothing for too long");
    assert!(!session.has("log"), "it waits");
    let approved = session.chronicle(&["approve", &session.short(), "g1", "--for", "phase"]);
    approved.exits(0).talks("cat risky-one >> log");
    until("it asks again", || is_open(&session, "g2"));
    assert_eq!(session.read("log"), "risky one\n");
    session.chronicle(&["reject", &session.short(), "g2", "one is enough"]).exits(0);
    supervisor.wait().exits(0);
    assert_eq!(session.read("log"), "risky one\nplain\n");
    let verdicts = verdicts(&session);
    let words: Vec<&str> = verdicts.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["allowed", "denied", "allowed"]);
    assert!(verdicts[1].1.contains("one is enough"), "{verdicts:?}");
    session.assert_whole();
}

#[test]
fn without_anybody_to_ask_the_worker_hears_that_nobody_has_answered() {
    let session = session("", SCRIPT);
    session.run().exits(0);
    assert_eq!(session.read("log"), "plain\n");
    let verdicts = verdicts(&session);
    assert!(verdicts[0].1.contains("nobody has answered yet"), "{verdicts:?}");
    let status = session.json(&["status"]);
    assert!(status["needs_you"].as_array().is_none_or(Vec::is_empty), "the run is over: {status}");
    session.assert_whole();
}

#[test]
fn a_call_waits_no_longer_than_its_limit() {
    let session = session("ask: 1s", SCRIPT);
    session.chronicle(&[RUN, &["--wait"]].concat()).exits(0);
    assert_eq!(session.read("log"), "plain\n");
    session.assert_whole();
}

/// Killed while the call waits: it has not run, the gate is there, and whoever goes on gets the answer.
#[test]
fn a_supervisor_killed_over_the_question_runs_nothing() {
    for answer in ["approve", "reject"] {
        let session = session("", SCRIPT);
        let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
        until("it asks", || supervisor.talk().contains("g1"));
        supervisor.kill();
        assert!(!session.has("log") && is_open(&session, "g1"));
        session.chronicle(&[answer, &session.short(), "g1"]).exits(0);
        assert_eq!(session.json(&["status"])["status"], "interrupted");
        session.chronicle(&["resume"]).exits(0);
        let one = if answer == "approve" { "risky one\n" } else { "" };
        assert_eq!(session.read("log"), format!("{one}plain\n"), "the second one had no answer");
        let opened = session.events_of("gate_opened");
        assert_eq!(opened.len(), 2, "nobody is asked twice about the first: {opened:?}");
        session.assert_whole();
    }
}

/// Resumed before anybody has answered, and with nobody there: the worker goes on without the call.
#[test]
fn a_run_that_waits_for_leave_can_be_resumed_without() {
    let session = session("", SCRIPT);
    let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
    until("it asks", || supervisor.talk().contains("g1"));
    supervisor.kill();
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("log"), "plain\n");
    let gates = session.events_of("gate_opened").len();
    assert_eq!(gates, 2, "the first call waited at the gate that was open");
    session.assert_whole();
}

/// The gate is still open after `resume`, and the next attempt waits at it.
#[test]
fn the_next_attempt_waits_at_the_gate_that_is_open() {
    let session = session("", SCRIPT);
    let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
    until("it asks", || supervisor.talk().contains("g1"));
    supervisor.kill();
    let resumed = session.spawn(&["resume", "--wait"]);
    until("the next one waits", || session.events_of("call_held").len() == 2);
    assert_eq!(session.events_of("gate_opened").len(), 1);
    session.chronicle(&["approve", &session.short(), "g1"]).exits(0);
    until("it asks again", || is_open(&session, "g2"));
    assert_eq!(session.read("log"), "risky one\n");
    session.chronicle(&["cancel", &session.short()]).exits(0);
    resumed.wait();
    session.assert_whole();
}
