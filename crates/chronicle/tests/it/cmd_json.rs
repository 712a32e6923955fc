//! What `--json` prints: objects with a version, as the reference describes them; errors too.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::session::{RUN, Session};

const WORKFLOW: &str = "
name: Gates
phases:
  work: {approval: after, next: [done]}
";
const SCRIPT: &str = "work: [{append: {path: log, text: x}}, {complete: {summary: worked}}]";

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json.md");
    fs::read_to_string(path).unwrap()
}

/// What the reference says of a document, by its heading.
fn section(heading: &str) -> String {
    let page = page();
    let from = page.split(&format!("\n## {heading}\n")).nth(1);
    let from = from.unwrap_or_else(|| panic!("no section `{heading}`"));
    from.split("\n## ").next().unwrap().to_owned()
}

/// An object with its version, every field of which the section names.
fn is_described(document: &Value, heading: &str) {
    let fields = document.as_object().unwrap_or_else(|| panic!("{heading}: {document}"));
    assert_eq!(fields["version"], 2, "{heading}");
    let section = section(heading);
    for field in fields.keys().filter(|field| *field != "version") {
        assert!(section.contains(&format!("`{field}`")), "{heading} does not name `{field}`");
    }
}

#[test]
fn every_document_is_an_object_with_its_version_and_described() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let dry = session.json(&[RUN, &["--dry-run"]].concat());
    is_described(&dry, "run --dry-run");
    assert_eq!(dry["rehearsal"]["ends"], serde_json::json!({"well": true}));
    is_described(&session.chronicle(&[RUN, &["--json"]].concat()).exits(4).json(), "A run");
    let explained = session.chronicle(&["--json", "guard", "explain", "--", "bash", "rm -rf /"]);
    is_described(&explained.exits(0).json(), "guard");
    let run = session.short();
    for (args, heading) in [
        (&["status"][..], "A run"),
        (&["runs"], "runs"),
        (&["handover"], "handover"),
        (&["diff"], "diff"),
        (&["audit", "--replay"], "audit"),
        (&["repair"], "repair"),
        (&["gc", "--yes"], "gc"),
        (&["list"], "list"),
        (&["check", "main"], "check"),
        (&["graph", "main"], "graph"),
        (&["guard", "list"], "guard"),
        (&["config"], "config"),
        (&["config", "path"], "config"),
        (&["config", "set", "limits.nudges", "1"], "config"),
        (&["config", "unset", "limits.nudges"], "config"),
        (&["init"], "init"),
        (&["trust"], "trust"),
        (&["trust", "--list"], "trust"),
        (&["trust", "--revoke"], "trust"),
        (&["note", &run, "mind the gap"], "A run"),
        (&["title", &run, "second try"], "A run"),
        (&["undo", &run, "--list"], "undo"),
        (&["undo", &run, "work", "--yes"], "undo"),
        (&["approve", &run], "A run"),
    ] {
        is_described(&session.json(args), heading);
    }
    let log = session.chronicle(&["log", "--json"]).exits(0).stdout;
    for line in log.lines() {
        is_described(&serde_json::from_str(line).unwrap(), "log");
    }
    is_described(&session.chronicle(&["doctor", "--json"]).json(), "doctor");
}

#[test]
fn an_error_is_the_last_line_of_standard_error() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(4);
    session.write(".chronicle/workflows/bad.yaml", "phases: {a: {nxt: [b]}}");
    for (args, exit) in [
        (&["status", "deadbeef"][..], 2),
        (&["approve", "deadbeef"], 2),
        (&["run", "gone", "x"], 2),
        (&["run", "bad", "x"], 3),
        (&["statsu"], 2),
        (&["go", "--flies"], 2),
        (&["config", "limits.retrys"], 2),
    ] {
        let said = session.chronicle(&[args, &["--json"]].concat()).exits(exit);
        assert_eq!(said.stdout, "", "{args:?}");
        let last = said.stderr.lines().last().unwrap_or_default();
        let document: Value =
            serde_json::from_str(last).unwrap_or_else(|_| panic!("{args:?}: {last}"));
        assert_eq!(document["version"], 2);
        assert_eq!(document["error"]["exit"], exit, "{args:?}");
        assert!(document["error"]["message"].as_str().is_some_and(|it| !it.is_empty()), "{last}");
        let errors = section("Errors");
        for field in document["error"].as_object().unwrap().keys() {
            assert!(errors.contains(&format!("`{field}`")), "{field}");
        }
    }
    let bad = session.chronicle(&["run", "bad", "x", "--json"]).exits(3);
    let last: Value = serde_json::from_str(bad.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(last["error"]["problems"][0]["code"], "unknown-field");
    assert_eq!(last["error"]["problems"][0]["line"], 1);
}

#[test]
fn needs_git_rows_of_pools_and_folders_are_described() {
    let workflow = "
name: Race
phases:
  build: {run: race, workers: [{id: a}, {id: b}], next: [done]}
";
    let script = "work: [{write: {path: a.txt, text: x}}, {complete: {summary: worked}}]";
    let session = Session::with(workflow, script);
    session.shell("git init -q").exits(0);
    session.run().exits(4);
    let view = session.json(&["status"]);
    let section = section("A run");
    let (pool, folder) = (&view["pools"][0], &view["folders"][0]);
    for row in [pool, &pool["race"], &pool["steps"][0], folder] {
        let fields = row.as_object().unwrap_or_else(|| panic!("{view}"));
        for field in fields.keys() {
            assert!(section.contains(&format!("`{field}`")), "`{field}` is not described");
        }
    }
    // Nobody works in the folder of one that has finished.
    assert_eq!(folder["state"], "nobody works there");
}
