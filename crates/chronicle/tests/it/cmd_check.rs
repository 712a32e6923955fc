//! `chronicle check`: everything that is wrong, where it is, and how it ends.

use std::fs;

use expect_test::expect;

use crate::session::Session;

const GOOD: &str = "{name: Good, limits: {timeout: 1h}, agent: 'command:true', phases: {work: }}";

#[test]
fn all_problems_are_told_at_once_with_their_lines() {
    let session = Session::new();
    session.write(
        ".chronicle/workflows/main.yaml",
        "name: Main\nagent: claud\nlimits: {timeout: 1h}\nphases:\n  plan: {next: [biuld]}\n  build: {instrctions: x, next: [plan]}\n",
    );
    let said = session.chronicle(&["check"]).exits(3);
    let project = session.project().display().to_string();
    expect![[r#"
        error[unknown-target]: no phase is called `biuld`
         --> PROJECT/.chronicle/workflows/main.yaml:5:17
          |
        5 |   plan: {next: [biuld]}
          |                 ^^^^^
          |
          = help: did you mean `build`?

        warning[unreachable-phase]: no edge leads to `build`
         --> PROJECT/.chronicle/workflows/main.yaml:6:3
          |
        6 |   build: {instrctions: x, next: [plan]}
          |   ^^^^^

        error[unknown-field]: a phase has no field `instrctions`
         --> PROJECT/.chronicle/workflows/main.yaml:6:11
          |
        6 |   build: {instrctions: x, next: [plan]}
          |           ^^^^^^^^^^^
          |
          = help: did you mean `instructions`?

        error[unknown-agent]: agent `claud` is not known; known agents: `claude`, `pi`, `scripted:SCRIPT`, `command:PROGRAM ARGS`
         --> PROJECT/.chronicle/workflows/main.yaml:2:1
          |
        2 | agent: claud
          | ^^^^^
          |
          = help: did you mean `claude`?

        ✗ main  2 phases  PROJECT/.chronicle/workflows/main.yaml

        1 workflow: 3 errors, 1 warning, 0 notes
    "#]].assert_eq(&said.stdout.replace(&project, "PROJECT"));
}

#[test]
fn one_bad_file_never_hides_the_good_ones() {
    let session = Session::new();
    session.write(".chronicle/workflows/good.yaml", GOOD);
    session.write(".chronicle/workflows/bad.yaml", "phases: [");
    session.write(".chronicle/workflows/binary.yaml", [0xff, 0xfe, 0x00, 0x80]);
    let said = session.chronicle(&["check"]).exits(3);
    let said = said.prints("✓ good").prints("✗ bad").prints("✗ binary").prints("error[not-text]");
    said.prints("3 workflows: 2 errors");
    session.chronicle(&["check", "good"]).exits(0).prints("1 workflow: 0 errors");
    session.chronicle(&["check", ".chronicle/workflows/good.yaml"]).exits(0);
}

#[test]
fn warnings_are_errors_when_it_is_strict() {
    let session = Session::new();
    let warned = GOOD.replace("{work: }", "{work: {on: {postponed: done}}}");
    session.write(".chronicle/workflows/main.yaml", warned);
    session.chronicle(&["check"]).exits(0).prints("warning[unknown-outcome]").prints("✓ main");
    session.chronicle(&["check", "--strict"]).exits(3).prints("error[unknown-outcome]").prints("✗");
}

#[test]
fn what_runs_unbounded_is_a_note_and_no_more() {
    let session = Session::new();
    let text = |limits: &str| format!("{{agent: 'command:true', {limits} phases: {{work: }}}}");
    session.write(".chronicle/workflows/main.yaml", text(""));
    session.chronicle(&["check"]).exits(0).prints("0 notes");
    session.write(".chronicle/workflows/main.yaml", text("limits: {standstill: none},"));
    let said = session.chronicle(&["check", "--strict"]).exits(0);
    said.prints("note[unbounded]: nothing bounds how long `work` may work").prints("1 note");
}

#[test]
fn a_word_that_starts_two_workflows_is_told_at_the_second() {
    let session = Session::new();
    for name in ["one", "two"] {
        let text = GOOD.replace("name: Good", "name: Good, commandName: go");
        session.write(&format!(".chronicle/workflows/{name}.yaml"), text);
    }
    let said = session.chronicle(&["check"]).exits(0).prints("warning[duplicate-command]");
    assert_eq!(said.stdout.matches("duplicate-command").count(), 1);
    said.prints("`go` starts this workflow as `one` does").prints("two.yaml:1");
}

#[test]
fn what_is_wrong_inside_is_told_once_and_breaks_those_outside() {
    let session = Session::new();
    session.write(".chronicle/workflows/inner.yaml", "{phases: {a: {colour: red}}}");
    session.write(".chronicle/workflows/middle.yaml", "{phases: {m: {workflow: inner}}}");
    session.write(".chronicle/workflows/outer.yaml", "{phases: {o: {workflow: middle}}}");
    let said = session.chronicle(&["check"]).exits(3);
    assert_eq!(said.stdout.matches("error[unknown-field]").count(), 1, "{}", said.stdout);
    let said = said.prints("`inner` cannot run").prints("`middle` cannot run");
    said.prints("✗ inner").prints("✗ middle").prints("✗ outer");
}

#[test]
fn a_machine_reads_the_same() {
    let session = Session::new();
    session.write(".chronicle/workflows/main.yaml", "phases: {a: {instrctions: x}}\n");
    let said = session.chronicle(&["check", "--json"]).exits(3);
    let json = said.json();
    assert_eq!(json["version"], 2);
    assert_eq!(json["workflows"][0]["usable"], false);
    let problem = &json["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["severity"], &problem["line"], &problem["column"]),
        (&"unknown-field".into(), &"error".into(), &1.into(), &14.into())
    );
    assert_eq!(problem["hint"], "did you mean `instructions`?");
}

#[test]
fn an_unknown_name_says_what_was_meant() {
    let session = Session::new();
    session.write(".chronicle/workflows/feature.yaml", GOOD);
    let said = session.chronicle(&["check", "featrue"]).exits(2);
    assert!(said.stderr.contains("Hint: did you mean `feature`?"), "{}", said.stderr);
    let said = Session::new().chronicle(&["check"]).exits(0);
    assert!(said.stderr.contains("No workflows here"), "{}", said.stderr);
}

#[test]
fn a_folder_named_like_a_file_is_told() {
    let session = Session::new();
    fs::create_dir_all(session.path("dir.yaml")).unwrap();
    session.chronicle(&["check", "./dir.yaml"]).exits(3).prints("error[not-a-file]");
}
