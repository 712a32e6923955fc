//! What holds for every command: help, JSON, colours, readers that go away, workers that are no persons.

use std::io::pipe;

use serde_json::Value;

use crate::session::{RUN, Session};

const WORKFLOW: &str = "
name: Gates
phases:
  work: {approval: after, next: [done]}
";
const SCRIPT: &str = "work: [{append: {path: log, text: x}}, {complete: {summary: worked}}]";
const COMMANDS: [&str; 34] = [
    "list",
    "check",
    "graph",
    "guard",
    "schema",
    "config",
    "init",
    "trust",
    "pause",
    "doctor",
    "repair",
    "demo",
    "run",
    "resume",
    "runs",
    "status",
    "log",
    "handover",
    "audit",
    "approve",
    "reject",
    "answer",
    "retry",
    "skip",
    "note",
    "title",
    "budget",
    "go",
    "cancel",
    "diff",
    "undo",
    "merge",
    "gc",
    "completions",
];

/// A run that waits for an approval.
fn waiting() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(4);
    session
}

#[test]
fn every_command_has_help_with_an_example() {
    let session = Session::new();
    let all = session.chronicle(&["--help"]).exits(0).stdout;
    for command in COMMANDS {
        assert!(all.contains(&format!("\n  {command} ")), "{command} is not in:\n{all}");
        let said = session.chronicle(&[command, "--help"]).exits(0).prints("Usage: chronicle");
        let said = said.prints("Example").prints(&format!("chronicle {command}"));
        assert_eq!(said.stderr, "", "{command}");
        let short = session.chronicle(&[command, "-h"]).exits(0);
        assert!(short.stdout.contains("Usage:"), "{command}");
    }
    let listed = all.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(COMMANDS.contains(&name) || name == "help", "`{name}` is not tested here");
    }
    assert!(all.contains("Exit codes:"), "{all}");
    session.chronicle(&["--version"]).exits(0).prints("chronicle ");
}

#[test]
fn every_command_speaks_json() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let started = session.chronicle(&[RUN, &["--json"]].concat()).exits(4);
    assert_eq!(started.json()["status"], "waiting");
    let run = session.short();
    let view = session.json(&["status"]);
    assert_eq!((&view["version"], &view["run"]), (&2.into(), &session.run_id().into()));
    assert_eq!(view["needs_you"][0]["gate"], "g1");
    assert_eq!(session.json(&["runs"])["runs"][0]["short"], Value::from(run.clone()));
    let told = session.json(&["handover"]);
    assert_eq!((&told["attempt"], &told["kept"]), (&"a1".into(), &true.into()));
    let audit = session.json(&["audit"]);
    assert_eq!(audit["lines"], session.ledger_lines());
    assert_eq!(audit.get("replay"), None);
    let replay = &session.json(&["audit", "--replay"])["replay"];
    assert_eq!((&replay["is"], &replay["lines"]), (&"same".into(), &audit["lines"]));
    let said = session.chronicle(&["audit", "--replay"]).exits(0);
    said.prints("✓ replayed: all").prints("decisions come out the same");
    assert_eq!(session.json(&["reject", &run, "g1", "no"])["status"], "ready");
    let resumed = session.chronicle(&["resume", &run, "--json"]).exits(4);
    assert_eq!(resumed.json()["needs_you"][0]["gate"], "g2");
    assert_eq!(session.json(&["retry", &run])["status"], "ready");
    session.chronicle(&["resume", &run, "--json"]).exits(4).json();
    assert_eq!(session.json(&["approve", &run])["status"], "done");
    let log = session.chronicle(&["log", "--json"]).exits(0);
    let entries: Vec<Value> =
        log.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(entries.iter().all(|entry| entry["event"]["kind"].is_string()), "{entries:?}");
    session.chronicle(RUN).exits(4);
    let run = session.short();
    assert_eq!(session.json(&["go", &run, "done"])["status"], "done");
    session.chronicle(RUN).exits(4);
    let run = session.short();
    assert_eq!(session.json(&["cancel", &run, "why not"])["reason"], "why not");
}

#[test]
fn an_error_leaves_nothing_on_standard_output() {
    let session = waiting();
    for args in [
        &["status", "deadbeef", "--json"][..],
        &["approve", "deadbeef", "--json"],
        &["resume", "--json"],
        &["run", "gone", "x", "--json"],
        &["go", &session.short(), "nowhere", "--json"],
    ] {
        let said = session.chronicle(args);
        assert!(said.code.is_some_and(|code| code != 0), "{args:?}");
        assert_eq!(said.stdout, "", "{args:?}");
        assert!(said.stderr.contains("\"error\":{"), "{args:?}: {}", said.stderr);
    }
}

#[test]
fn no_colours_go_into_a_file() {
    let session = waiting();
    let run = session.short();
    for args in [&["status"][..], &["runs"], &["log", "--tools"], &["audit"], &["--help"], RUN] {
        for no_colour in [Some("1"), Some(""), None] {
            let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
            command.args(args).env("TERM", "xterm-256color").env_remove("NO_COLOR");
            command.envs(no_colour.map(|value| ("NO_COLOR", value)));
            let said = session.start(command, "").wait();
            let all = said.stdout + &said.stderr;
            assert!(!all.contains('\u{1b}'), "{args:?} of {run}: {all}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let session = waiting();
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["runs"],
        &["log"],
        &["log", "--json"],
        &["audit"],
        &["--help"],
        &["completions", "bash"],
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(args);
        let said = session.start_into(command, writer).wait().exits(0);
        assert_eq!(said.stderr, "", "{args:?}");
    }
}

#[test]
fn a_run_whose_reader_goes_away_goes_on() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(RUN);
    session.start_into(command, writer).wait().exits(4);
    assert_eq!(session.json(&["status"])["status"], "waiting");
    session.assert_whole();
}

#[test]
fn a_worker_is_not_a_person() {
    let session = waiting();
    let (run, lines) = (session.short(), session.ledger_lines());
    for args in [
        &["approve", &run][..],
        &["reject", &run, "g1", "no"],
        &["retry", &run],
        &["go", &run, "done"],
        &["cancel", &run],
        &["resume", &run],
        &["resume"],
        &["init", "--yes"],
        &["demo"],
        &["trust"],
        &["trust", "--revoke"],
        &[RUN, &["--trust"]].concat(),
        RUN,
        &[RUN, &["--detach"]].concat(),
    ] {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(args).env("CHRONICLE_ATTEMPT", "a7");
        let said = session.start(command, "").wait().exits(2);
        said.talks("this is a person's command, and a7 is a worker");
    }
    assert_eq!((session.ledger_lines(), session.runs().len()), (lines, 1));
    for args in
        [&["status"][..], &["log"], &["runs"], &["audit"], &["config"], &["trust", "--list"]]
    {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(args).env("CHRONICLE_ATTEMPT", "a7");
        session.start(command, "").wait().exits(0);
    }
}

#[test]
fn a_worker_cannot_decide_about_its_own_run() {
    let script = r#"
work:
  - shell: {command: "sh ./try.sh"}
  - complete: {summary: tried}
"#;
    let session = Session::with("name: W\nphases: {work: {next: [done]}}\n", script);
    // In a script, which no guard reads: the command itself is denied to a worker before it runs.
    session.write("try.sh", "chronicle cancel $CHRONICLE_RUN 2> said\necho $? > code\n");
    session.run().exits(0);
    assert_eq!(session.read("code"), "2\n");
    assert!(session.read("said").contains("this is a person's command, and a1 is a worker"));
    assert!(session.events_of("run_cancelled").is_empty());
}

#[test]
fn completions_are_there_for_every_shell() {
    let session = Session::new();
    for shell in ["bash", "zsh", "fish"] {
        let said = session.chronicle(&["completions", shell]).exits(0);
        assert_eq!(said.stderr, "");
        for command in COMMANDS {
            assert!(said.stdout.contains(command), "{shell} does not know `{command}`");
        }
    }
}
