//! A ledger that is not what was written: the exact line is named, and nobody writes to it.

use std::fs;

use chronicle_runtime::for_tests::ledger::Sum;

use crate::session::{Session, until};

const WORKFLOW: &str = "
name: Small
phases:
  work: {next: [done]}
";
const SCRIPT: &str = "
work:
  - append: {path: log, text: worked}
  - touch: {file: reached}
  - wait_for: {file: go}
  - complete: {summary: worked}
";

/// A run whose supervisor was killed in the middle.
fn interrupted() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn_run();
    // The touch is done before its line is read, so that the file alone says too little.
    until("the agent waits", || session.has("reached") && session.ledger_lines() >= 6);
    supervisor.kill();
    session.write("go", "");
    session
}

fn ledger(session: &Session) -> Vec<u8> {
    fs::read(session.run_file("ledger.jsonl")).unwrap()
}

/// Where a line begins, from 1.
fn start_of(ledger: &[u8], line: usize) -> usize {
    let ends = ledger.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(at, _)| at + 1).nth(line - 2).unwrap_or(0)
}

#[test]
fn a_flipped_byte_stops_the_run_at_its_line() {
    let session = interrupted();
    let whole = ledger(&session);
    for line in [2, 4] {
        let mut bytes = whole.clone();
        let at = start_of(&whole, line) + 20;
        bytes[at] ^= 1;
        fs::write(session.run_file("ledger.jsonl"), &bytes).unwrap();
        let _ = fs::remove_file(session.run_file("state.cache"));
        for command in ["audit", "status", "log", "resume"] {
            let said = session.chronicle(&[command, &session.short()]).exits(6);
            let said = said.talks(&format!("is damaged in line {line}")).talks("Hint: ");
            assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
        }
        session.chronicle(&["cancel", &session.short()]).exits(6);
        assert_eq!(ledger(&session), bytes, "nobody writes to a damaged ledger");
        session.chronicle(&["runs"]).exits(0).talks("cannot be read");
    }
    fs::write(session.run_file("ledger.jsonl"), &whole).unwrap();
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn damage_behind_the_cache_is_seen_by_the_audit() {
    let session = interrupted();
    assert!(session.run_file("state.cache").exists());
    let mut bytes = ledger(&session);
    let at = start_of(&bytes, 2) + 20;
    bytes[at] ^= 1;
    fs::write(session.run_file("ledger.jsonl"), &bytes).unwrap();
    session.chronicle(&["audit"]).exits(6).talks("is damaged in line 2");
    session.chronicle(&["log"]).exits(6).talks("is damaged in line 2");
}

#[test]
fn a_line_that_is_missing_is_damage() {
    let session = interrupted();
    let whole = ledger(&session);
    let _ = fs::remove_file(session.run_file("state.cache"));
    let (from, to) = (start_of(&whole, 3), start_of(&whole, 4));
    let without = [&whole[..from], &whole[to..]].concat();
    fs::write(session.run_file("ledger.jsonl"), &without).unwrap();
    session.chronicle(&["resume", &session.short()]).exits(6).talks("is damaged in line 3");
    assert_eq!(ledger(&session), without);
}

#[test]
fn an_empty_ledger_never_started() {
    let session = interrupted();
    fs::write(session.run_file("ledger.jsonl"), "").unwrap();
    let said = session.chronicle(&["status"]);
    assert!(matches!(said.code, Some(2 | 6)), "{said:?}");
    let said = session.chronicle(&["resume", &session.short()]);
    assert!(matches!(said.code, Some(2 | 6)), "{said:?}");
}

#[test]
fn garbage_instead_of_a_ledger_is_damage() {
    let session = interrupted();
    let garbage: Vec<u8> = (0..=255).rev().cycle().step_by(31).take(9_000).collect();
    let _ = fs::remove_file(session.run_file("state.cache"));
    fs::write(session.run_file("ledger.jsonl"), &garbage).unwrap();
    for command in ["audit", "status", "log", "resume"] {
        session.chronicle(&[command, &session.short()]).exits(6).talks("is damaged in line 1");
    }
    assert_eq!(ledger(&session), garbage);
}

/// Every command that reads one run, with what it needs beside its id.
const READERS: &[&[&str]] = &[
    &["status"],
    &["log"],
    &["audit"],
    &["audit", "--replay"],
    &["handover"],
    &["handover", "--next"],
    &["diff"],
    &["undo", "work", "--yes"],
    &["undo", "--list"],
    &["resume"],
    &["pause"],
    &["cancel"],
    &["note", "a note"],
    &["title", "a title"],
    &["budget", "+2.50 usd"],
    &["approve"],
    &["reject", "a reason"],
    &["answer", "yes"],
    &["retry"],
    &["skip"],
    &["go", "work"],
    &["repair", "--yes"],
];

#[test]
fn every_command_that_reads_a_run_ends_alike_where_its_ledger_is_damaged() {
    let session = interrupted();
    let kept = session.keep();
    let damages: [(&str, Option<&[u8]>); 5] = [
        ("a word", Some(b"junk")),
        ("lines", Some(b"junk\nmore\n")),
        ("zeros", Some(&[0; 64])),
        ("nothing", Some(b"")),
        ("no file", None),
    ];
    for (name, bytes) in damages {
        for has_cache in [true, false] {
            session.restore(&kept);
            match bytes {
                Some(bytes) => fs::write(session.run_file("ledger.jsonl"), bytes).unwrap(),
                None => fs::remove_file(session.run_file("ledger.jsonl")).unwrap(),
            }
            if !has_cache {
                fs::remove_file(session.run_file("state.cache")).unwrap();
            }
            let run = session.short();
            for args in READERS {
                let typed = [&[args[0], &run], &args[1..]].concat();
                let said = session.chronicle(&typed);
                assert_eq!(
                    said.code,
                    Some(6),
                    "{name}, cache {has_cache}: {typed:?}: {}",
                    said.stderr
                );
                assert!(said.stderr.contains("Hint: "), "{typed:?}: {}", said.stderr);
            }
            // The list is made, and names it.
            session.chronicle(&["runs"]).exits(0).talks("cannot be read");
            let listed = session.json(&["runs"]);
            assert_eq!(listed["unreadable"][0]["run"], session.run_id(), "{listed}");
        }
    }
}

/// One more line with that event: the chain is whole.
fn with_a_line(whole: &[u8], event: &str) -> Vec<u8> {
    let last = whole[..whole.len() - 1].rsplit(|byte| *byte == b'\n').next().unwrap();
    let last: serde_json::Value = serde_json::from_slice(last).unwrap();
    let (seq, sum) = (last["seq"].as_u64().unwrap(), last["sum"].as_str().unwrap());
    let body = format!(
        r#"{{"seq":{},"at":{},"v":1,"by":{},"events":[{event}]"#,
        seq + 1,
        last["at"],
        last["by"]
    );
    let sum = sum.parse::<Sum>().unwrap().then(body.as_bytes());
    [whole, format!("{body},\"sum\":\"{sum}\"}}\n").as_bytes()].concat()
}

#[test]
fn a_line_of_a_newer_version_makes_the_run_read_only() {
    let session = interrupted();
    let bytes = with_a_line(&ledger(&session), r#"{"kind":"teleported","data":{}}"#);
    fs::write(session.run_file("ledger.jsonl"), &bytes).unwrap();
    for cached in [true, false] {
        if !cached {
            let _ = fs::remove_file(session.run_file("state.cache"));
        }
        let said = session.chronicle(&["status"]).exits(0).prints("work");
        said.talks("Shown as far as it can be read").talks("`teleported`");
        let said = session.chronicle(&["resume", &session.short()]).exits(6);
        said.talks("`teleported`, which this version does not know").talks("newer");
        session.chronicle(&["cancel", &session.short()]).exits(6);
        assert_eq!(ledger(&session), bytes, "nobody writes to it");
    }
}

#[test]
fn a_line_that_cannot_have_happened_is_told_by_the_audit() {
    let session = interrupted();
    let event = r#"{"kind":"stop_asked","data":{"attempt":"a99","cause":"idle"}}"#;
    fs::write(session.run_file("ledger.jsonl"), with_a_line(&ledger(&session), event)).unwrap();
    let said = session.chronicle(&["audit", &session.short()]).exits(6);
    said.prints("chain whole").prints("cannot have happened: line ").prints("names attempt a99");
    let said = session.chronicle(&["audit", &session.short(), "--json"]).exits(6);
    said.prints("\"impossible\"");
}
