//! Killed in the middle of a tree, and in the middle of an undo: no lock stays, and no difference is wrong.

use crate::cmd_trees::files;
use crate::session::Session;

const WORKFLOW: &str = "{name: Two, phases: [{id: plan}, {id: build}]}";
const SCRIPT: &str = "
plan:
  - write: {path: a, text: \"one\\n\"}
  - complete: {summary: planned}
build:
  - write: {path: b, text: \"two\\n\"}
  - delete: {path: gone}
  - complete: {summary: built}
";

fn project() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write(".gitignore", "script.yaml\n");
    session.write("gone", "gone\n");
    session
}

/// Runs with a death in store; whether it struck.
fn dies(session: &Session, point: &str, args: &[&str]) -> bool {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("CHRONICLE_FAILPOINT", point).args(args);
    command.output().unwrap().status.code().is_none()
}

fn compared(session: &Session) -> [String; 2] {
    ["plan", "build"].map(|phase| session.chronicle(&["diff", "--phase", phase]).exits(0).stdout)
}

#[test]
fn needs_git_killed_in_the_middle_of_a_tree() {
    let unharmed = project();
    unharmed.run().exits(0);
    let expected = compared(&unharmed);
    let mut deaths = 0;
    for nth in 1.. {
        let session = project();
        let args = ["run", "main", "task", "--agent", "scripted:script.yaml"];
        if !dies(&session, &format!("in-tree:{nth}"), &args) {
            break;
        }
        deaths += 1;
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(compared(&session), expected, "killed in tree {nth}");
        session.chronicle(&["audit"]).exits(0);
    }
    assert!(deaths >= 3, "{deaths} deaths");
}

#[test]
fn needs_git_killed_in_the_middle_of_an_undo() {
    let session = project();
    let before = files(&session.project());
    session.run().exits(0);
    let run = session.json(&["status"])["short"].as_str().unwrap().to_owned();
    let undo = ["undo", run.as_str(), "plan", "--yes"];
    assert!(dies(&session, "in-restore:1", &undo));
    assert_ne!(files(&session.project()), before);
    // The next one finishes it first, and finds nothing left to do.
    session.chronicle(&undo).exits(0);
    assert_eq!(files(&session.project()), before);
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    session.chronicle(&["audit"]).exits(0);
}
