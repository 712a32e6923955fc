//! A ledger that is not as it was left is damage, whoever knows of it; `repair` goes on as a person's recorded word.

use std::fs;
use std::path::PathBuf;

use chronicle_runtime::for_tests::ledger::Sum;

use crate::session::{Session, until};

const WORKFLOW: &str = "
name: Two
phases:
  work: {next: [check]}
  check: {approval: after, next: [done]}
";
const SCRIPT: &str = "
work: [{append: {path: log, text: worked}}, {complete: {summary: worked}}]
check: [{append: {path: log, text: checked}}, {complete: {summary: checked}}]
";

/// A run that waits for an approval, and that nobody drives.
fn waiting() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(4);
    session
}

fn ledger(session: &Session) -> Vec<u8> {
    fs::read(session.run_file("ledger.jsonl")).unwrap()
}

fn put(session: &Session, bytes: &[u8]) {
    fs::write(session.run_file("ledger.jsonl"), bytes).unwrap();
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The anchor of the only run.
fn anchor(session: &Session) -> PathBuf {
    let anchors = session.user().join("../../.local/state/chronicle/anchors");
    let mut found = fs::read_dir(anchors).unwrap().map(|entry| entry.unwrap().path());
    let only = found.next().unwrap();
    assert!(found.next().is_none());
    only
}

/// One more line with that event: the chain is whole.
fn with_a_line(whole: &[u8], event: &str) -> Vec<u8> {
    let last: serde_json::Value = serde_json::from_slice(lines(whole).last().unwrap()).unwrap();
    let (seq, sum) = (last["seq"].as_u64().unwrap(), last["sum"].as_str().unwrap());
    let by = r#"{"actor":{"is":"person","id":"ann"}}"#;
    let body =
        format!(r#"{{"seq":{},"at":{},"v":1,"by":{by},"events":[{event}]"#, seq + 1, last["at"]);
    let sum = sum.parse::<Sum>().unwrap().then(body.as_bytes());
    [whole, format!("{body},\"sum\":\"{sum}\"}}\n").as_bytes()].concat()
}

/// Each of those who know of a lost line alone.
const WITNESSES: [(&str, &str); 3] = [
    ("state.cache", "`state.cache` knows"),
    ("run.json", "`run.json` knows"),
    ("anchor", "the anchor outside of the project knows"),
];

#[test]
fn a_ledger_that_was_longer_is_damage() {
    for (stays, words) in WITNESSES {
        let session = waiting();
        let whole = ledger(&session);
        for (other, _) in WITNESSES.iter().filter(|(other, _)| *other != stays) {
            let path = if *other == "anchor" { anchor(&session) } else { session.run_file(other) };
            fs::remove_file(path).unwrap();
        }
        fs::remove_dir_all(session.run_file("keepers")).unwrap();
        for left in [3, 1, 0] {
            put(&session, &lines(&whole)[..left].concat());
            for command in ["audit", "status", "log", "resume", "cancel", "undo"] {
                let more: &[&str] = if command == "undo" { &["work", "--yes"] } else { &[] };
                let said = session.chronicle(&[&[command, &session.short()], more].concat());
                let said = said.exits(6).talks(&format!("it ends at line {left}, and {words}"));
                said.talks(&format!("`chronicle repair {}`", session.short()));
            }
            session.chronicle(&["resume"]).exits(6).talks(&session.run_id());
        }
        fs::remove_file(session.run_file("ledger.jsonl")).unwrap();
        session.chronicle(&["audit"]).exits(6).talks("it ends at line 0");
        assert_eq!(session.read("log"), "workedchecked", "nothing was done again");
    }
}

#[test]
fn an_attempt_that_was_started_and_is_in_no_line_is_damage() {
    let session = waiting();
    let whole = ledger(&session);
    fs::remove_file(anchor(&session)).unwrap();
    for name in ["state.cache", "run.json"] {
        fs::remove_file(session.run_file(name)).unwrap();
    }
    put(&session, &lines(&whole)[..1].concat());
    for command in ["audit", "resume"] {
        let said = session.chronicle(&[command, &session.short()]).exits(6);
        said.talks("it ends at line 1, and a2 was started after that");
    }
    put(&session, b"");
    session.chronicle(&["audit"]).exits(6).talks("it ends at line 0, and a1 was started");
}

#[test]
fn another_history_of_the_same_length_is_damage() {
    let (session, other) = (waiting(), waiting());
    put(&session, &ledger(&other));
    session.chronicle(&["status"]).exits(6).talks("is not the one that");
    session.chronicle(&["audit"]).exits(6).talks("is not the one that");
}

#[test]
fn a_line_written_while_nobody_drove_the_run_is_found() {
    let session = waiting();
    let whole = ledger(&session);
    let count = lines(&whole).len();
    let yes = r#"{"kind":"gate_answered","data":{"gate":"g1","answer":{"is":"approved"},"who":"ann","note":""}}"#;
    put(&session, &with_a_line(&whole, yes));
    let words = format!("line {} was written while the run was not being driven", count + 1);
    for command in ["audit", "status", "resume", "cancel"] {
        session.chronicle(&[command, &session.short()]).exits(6).talks(&words);
    }
    let said = session.chronicle(&["repair"]).exits(6).talks(&words);
    let said = said.talks(&format!("The last line that can be trusted is {count}"));
    said.talks("1 line after it").talks("nothing was repaired");
    session.chronicle(&["repair", "--yes"]).exits(0).prints(&format!("from line {count}."));
    assert_eq!(session.events_of("gate_answered").len(), 0, "nobody answered");
    session.assert_whole();
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.assert_whole();
}

/// Such as after the run was driven on another machine, whose Chronicle cannot know this one's anchors.
#[test]
fn a_person_may_keep_lines_that_another_machine_wrote() {
    let session = waiting();
    let whole = ledger(&session);
    let note = r#"{"kind":"run_paused","data":{"reason":"on the other machine"}}"#;
    put(&session, &with_a_line(&whole, note));
    session.chronicle(&["status"]).exits(6);
    session.chronicle(&["repair", "--keep", "--yes"]).exits(0);
    session.chronicle(&["status"]).exits(0).prints("on the other machine");
    let repaired = session.events_of("ledger_repaired");
    assert_eq!(repaired.len(), 1);
    assert!(repaired[0]["data"]["file"].is_null(), "nothing was cut: {repaired:?}");
    session.assert_whole();
}

#[test]
fn a_flipped_bit_anywhere_is_told_though_there_is_a_cache() {
    let session = waiting();
    let whole = ledger(&session);
    assert!(session.run_file("state.cache").exists());
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        put(&session, &bytes);
        session.chronicle(&["status"]).exits(6);
    }
}

#[test]
fn a_damaged_run_is_repaired_and_goes_on() {
    let session = waiting();
    let whole = ledger(&session);
    let all = lines(&whole);
    let keep =
        all.iter().position(|line| line.windows(13).any(|it| it == b"attempt_ended")).unwrap();
    let mut bytes = whole.clone();
    let at = all[..keep].concat().len() + 20;
    bytes[at] ^= 1;
    put(&session, &bytes);
    let (run, wrong) = (session.short(), format!("is damaged in line {}", keep + 1));
    session.chronicle(&["resume"]).exits(6).talks(&wrong);
    let said =
        session.chronicle(&["repair", &run]).exits(6).talks(&wrong).talks("may be done again");
    said.talks(&format!("The last line that can be trusted is {keep}"));
    assert_eq!(ledger(&session), bytes, "nothing was changed");
    session.chronicle(&["repair", &run, "--yes"]).exits(0).prints("damaged-1.jsonl");
    assert_eq!(fs::read(session.run_file("damaged-1.jsonl")).unwrap(), bytes);
    let repaired = session.events_of("ledger_repaired");
    assert!(repaired[0]["data"]["why"].as_str().unwrap().contains(&wrong), "{repaired:?}");
    session.chronicle(&["log"]).exits(0).prints("a person continued the run with a damaged ledger");
    session.chronicle(&["repair"]).exits(0).talks("there is nothing to repair");
    session.chronicle(&["resume", &run]).exits(4);
    session.chronicle(&["approve", &run]).exits(0);
    session.chronicle(&["audit", "--replay"]).exits(0);
    session.assert_whole();
}

/// Every file of the run but its lock, with its content.
fn written(session: &Session) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut folders) = (Vec::new(), vec![session.run_file("")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap() != "lock" {
                let bytes = fs::read(&path).unwrap();
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}

/// Cut in the middle of a line, and lines after it are gone: the torn one belongs to what a repair has to find.
#[test]
fn a_damaged_ledger_with_a_torn_line_is_left_as_it_is() {
    let session = waiting();
    let whole = ledger(&session);
    let all = lines(&whole);
    let cut = all[..all.len() - 2].concat().len() + 20;
    put(&session, &whole[..cut]);
    let (run, before) = (session.short(), written(&session));
    for args in [
        &["approve", &run][..],
        &["reject", &run, "no"],
        &["answer", &run, "yes"],
        &["note", &run, "more"],
        &["title", &run, "other"],
        &["budget", &run, "+5 usd"],
        &["retry", &run],
        &["skip", &run],
        &["go", &run, "work"],
        &["pause", &run],
        &["resume", &run],
        &["undo", &run, "--all", "--yes"],
        &["cancel", &run],
    ] {
        let said = session.chronicle(args);
        assert_eq!(said.code, Some(6), "{args:?}: {}{}", said.stdout, said.stderr);
        assert!(written(&session) == before, "{args:?} wrote something");
    }
    session.chronicle(&["repair", &run, "--yes"]).exits(0).prints("damaged-1.jsonl");
    assert_eq!(fs::read(session.run_file("damaged-1.jsonl")).unwrap(), &whole[..cut]);
}

/// The copy would be a run of its own, with the same open gate and the same work to do.
#[test]
fn the_folder_of_a_run_under_another_name_is_damage() {
    let session = waiting();
    let (run, id) = (session.short(), session.run_id());
    let other = format!("{}0000deadbeef", &id[..id.len() - 12]);
    let (from, to) =
        (session.path(".chronicle/runs").join(&id), session.path(".chronicle/runs").join(&other));
    fs::create_dir(&to).unwrap();
    fs::copy(from.join("ledger.jsonl"), to.join("ledger.jsonl")).unwrap();
    let wrong = format!("is that of run {id}: its folder was copied");
    for command in ["status", "audit", "resume", "approve"] {
        session.chronicle(&[command, &other]).exits(6).talks(&wrong);
    }
    assert_eq!(ledger(&session), fs::read(to.join("ledger.jsonl")).unwrap(), "nothing was written");
    // Of two runs `repair` means the one that is damaged.
    let remove = format!("`rm -r '{}'` removes the copy", to.display());
    session.chronicle(&["repair"]).exits(6).talks(&wrong).talks(&remove);
    fs::rename(&from, session.path("elsewhere")).unwrap();
    let rename = format!("`mv '{}' '{}'` gives it its name back", to.display(), from.display());
    session.chronicle(&["repair", &other]).exits(6).talks(&rename);
    fs::rename(session.path("elsewhere"), &from).unwrap();
    fs::remove_dir_all(&to).unwrap();
    session.chronicle(&["approve", &run]).exits(0);
}

#[test]
fn a_run_without_an_intact_line_cannot_be_repaired() {
    let session = waiting();
    put(&session, b"garbage\n");
    let said = session.chronicle(&["repair", "--yes"]).exits(6);
    said.talks("no line of its ledger is whole").talks("from a copy");
    assert_eq!(ledger(&session), b"garbage\n");
}

/// An anchor lags, and never leads: whatever the moment of a kill, the run goes on.
#[test]
fn a_killed_run_is_not_taken_for_a_damaged_one() {
    let script = "
work: [{append: {path: log, text: x}}, {touch: {file: reached}}, {wait_for: {file: go}}, {complete: {summary: worked}}]
check: [{complete: {summary: checked}}]
";
    let session = Session::with(WORKFLOW, script);
    let supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached") && session.ledger_lines() >= 6);
    supervisor.kill();
    session.chronicle(&["status"]).exits(0);
    session.chronicle(&["note", &session.short(), "mind the tests"]).exits(0);
    // Moved or copied, it has no anchor, and is as good as before.
    let copy = session.project().join("../copy");
    let from = session.project();
    session.shell(&format!("cp -a {} {}", from.display(), copy.display())).exits(0);
    session.chronicle(&["-C", copy.to_str().unwrap(), "audit"]).exits(0);
    session.write("go", "");
    session.chronicle(&["resume"]).exits(4);
    session.assert_whole();
}
