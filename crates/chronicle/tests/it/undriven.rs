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
    assert_eq!(session.json(&["status"])["standing"], "cancelled");
}

#[test]
fn a_paused_one_rests_and_can_be_sent_elsewhere() {
    let session = interrupted();
    session.chronicle(&["pause", &session.short()]).exits(0);
    assert_eq!(session.json(&["status"])["standing"], "paused");
    session.chronicle(&["go", &session.short(), "done"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    session.assert_whole();
}
