//! Runs that nobody drives, and what people may still say to them.

use std::fs::{self, OpenOptions};

use crate::session::{Session, until};

const WORKFLOW: &str = "
name: One
limits: {nudges: 1, retries: 1}
phases:
  work: {next: [done]}
";

/// A run whose supervisor was killed in the middle.
fn interrupted() -> Session {
    let script = "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {}}]";
    let session = Session::with(WORKFLOW, script);
    let supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached") && session.ledger_lines() >= 3);
    supervisor.kill();
    session.write("go", "");
    session
}

#[test]
fn damage_behind_the_cache_is_seen_by_whoever_writes() {
    let session = interrupted();
    let ledger = session.run_file("ledger.jsonl");
    let mut bytes = fs::read(&ledger).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 20] ^= 1;
    fs::write(&ledger, &bytes).unwrap();
    session.chronicle(&["resume"]).exits(6).talks("is damaged in line 2");
    assert_eq!(fs::read(&ledger).unwrap(), bytes, "nobody writes to a damaged ledger");
}

#[test]
fn a_torn_line_that_an_answer_finds_is_recorded() {
    let session = interrupted();
    let file = OpenOptions::new().write(true).open(session.run_file("ledger.jsonl")).unwrap();
    file.set_len(file.metadata().unwrap().len() - 5).unwrap();
    session.chronicle(&["cancel", &session.short()]).exits(0);
    assert_eq!(session.events_of("tail_set_aside").len(), 1);
    assert_eq!(session.json(&["status"])["status"], "cancelled");
}

#[test]
fn a_paused_one_rests_and_can_be_sent_elsewhere() {
    let session = interrupted();
    session.chronicle(&["pause", &session.short()]).exits(0);
    let status = session.json(&["status"]);
    assert_eq!((&status["status"], &status["goes_on"]), (&"paused".into(), &true.into()));
    session.chronicle(&["go", &session.short(), "done"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    session.assert_whole();
}

#[test]
fn one_that_is_ready_stays_so_when_it_is_sent_elsewhere() {
    let workflow = "{name: Two, phases: {plan: {approval: after, next: [work]}, work: {next: [ship]}, ship: {next: [done]}}}";
    let script = "plan: [{complete: {}}]\nship: [{complete: {}}]";
    let session = Session::with(workflow, script);
    session.run().exits(4);
    session.chronicle(&["approve"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "ready");
    let sent = session.chronicle(&["go", "ship"]).exits(0).prints("going to `ship`.");
    sent.talks(&format!("Next: chronicle resume {}", session.short()));
    let status = session.json(&["status"]);
    assert_eq!((&status["status"], &status["goes_on"]), (&"ready".into(), &true.into()));
    assert_eq!(status["phases"][1]["mark"], "skipped");
    session.chronicle(&["resume"]).exits(0).talks("`ship` done, workflow complete");
    session.assert_whole();
}

#[test]
fn a_run_whose_supervisor_died_can_be_moved_at_once() {
    let session = interrupted();
    let lines = session.ledger_lines();
    session.chronicle(&["go", &session.short(), "nowhere"]).exits(2).talks("has no phase");
    assert_eq!(session.ledger_lines(), lines, "a refused move leaves no trace");
    session.chronicle(&["go", &session.short(), "done"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    let ends = session.events_of("attempt_ended");
    assert_eq!(ends[0]["data"]["end"]["is"], "lost", "what it left is ended first");
    session.assert_whole();
}

#[test]
fn a_run_that_was_moved_back_continues_there() {
    let script = "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {}}]\n\
        more: [{touch: {file: more}}, {complete: {}}]";
    let workflow = "name: Two\nphases:\n  work: {next: [more]}\n  more: {next: [done]}\n";
    let session = Session::with(workflow, script);
    let supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached") && session.ledger_lines() >= 3);
    supervisor.kill();
    session.chronicle(&["go", &session.short(), "more"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "interrupted");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.path_of_phases(), ["work", "more"]);
    assert!(session.has("more"));
    session.assert_whole();
}

/// The lock as a supervisor on another host leaves it, on a disk whose locks do not reach so far.
const FOREIGN: &str = r#"{"epoch":7,"holder":{"pid":4711,"host":"far-away","started":1,"command":"chronicle run","since":"2026-11-15T02:30:50.123Z"}}"#;

#[test]
fn a_holder_on_another_host_is_believed_until_a_person_says_otherwise() {
    let session = interrupted();
    fs::write(session.run_file("lock"), format!("{FOREIGN}\n")).unwrap();
    let refused = session.chronicle(&["resume", &session.short()]).exits(5);
    refused.talks("process 4711 on `far-away`").talks("`chronicle resume --force`");
    let taken = session.chronicle(&["resume", &session.short(), "--force"]).exits(0);
    taken.talks("Taken from `chronicle run` (process 4711 on `far-away`").talks("the same files");
    assert_eq!(session.json(&["status"])["status"], "done");
    let epochs: Vec<u64> = session
        .events_of("supervisor_started")
        .iter()
        .map(|event| event["data"]["epoch"].as_u64().unwrap())
        .collect();
    assert_eq!(epochs.last(), Some(&8), "later than the one it was taken from");
    session.assert_whole();
}

#[test]
fn a_supervisor_that_lives_here_is_not_pushed_aside() {
    let script = "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {}}]";
    let session = Session::with(WORKFLOW, script);
    let mut supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached"));
    let pid = supervisor.pid();
    let refused = session.chronicle(&["resume", &session.short(), "--force"]).exits(5);
    refused.talks(&format!("process {pid}"));
    session.write("go", "");
    until("the supervisor ends", || supervisor.has_ended());
    assert_eq!(session.json(&["status"])["status"], "done");
}
