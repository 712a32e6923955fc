//! Killed in the middle of a tree, and in the middle of an undo: no lock stays, and no difference is wrong. The deaths of
//! Chronicle itself are part of the crash matrix: `crash.rs` calls them.

use std::fs;
use std::path::{Path, PathBuf};

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

/// Locks that a killed git or Chronicle left in the repository of trees.
fn locks(session: &Session) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![session.path(".chronicle/trees.git")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "lock") || name.starts_with("half-") {
                found.push(name);
            }
        }
    }
    found
}

/// Dies in every tree of a run once. Returns how often.
pub(crate) fn in_tree() -> usize {
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
        assert_eq!(locks(&session), [""; 0], "killed in tree {nth}");
        session.chronicle(&["audit"]).exits(0);
    }
    assert!(deaths >= 3, "{deaths} deaths");
    deaths
}

/// Dies when half of the files are back. Returns how often.
pub(crate) fn in_restore() -> usize {
    let session = project();
    let before = files(&session.project());
    session.run().exits(0);
    let run = session.json(&["status"])["short"].as_str().unwrap().to_owned();
    let undo = ["undo", run.as_str(), "plan", "--yes"];
    assert!(dies(&session, "in-restore:1", &undo));
    assert_ne!(files(&session.project()), before);
    // The run is over, and what it still needs is kept all the same.
    session.chronicle(&["gc", "--days", "0", "--yes"]).exits(0);
    // The next one finishes it first, and finds nothing left to do.
    session.chronicle(&undo).exits(0);
    assert_eq!(files(&session.project()), before);
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    session.chronicle(&["audit"]).exits(0);
    assert_eq!(locks(&session), [""; 0]);
    1
}

/// Stands for git: the nth call of all dies, one that writes an index with its lock in its hands, one that names a tree
/// with that locked, any other before it has done anything.
const MORTAL: &str = r#"#!/bin/sh
n=1
while ! mkdir "$CALLS/$n" 2>/dev/null; do n=$((n + 1)); done
[ "$n" = "$DIES" ] || exec REAL "$@"
case " $* " in
*" update-index "*)
    mkfifo "$CALLS/in"
    REAL "$@" <"$CALLS/in" &
    git=$!
    exec 3>"$CALLS/in"
    until [ -e "$GIT_INDEX_FILE.lock" ]; do :; done
    kill -9 $git
    echo index >"$CALLS/died"
    ;;
*" update-ref "*)
    for name; do case $name in refs/*) lock=$GIT_DIR/$name.lock ;; esac; done
    mkdir -p "${lock%/*}"
    : >"$lock"
    echo name >"$CALLS/died"
    ;;
*) echo other >"$CALLS/died" ;;
esac
kill -9 $$
"#;

/// Runs with the nth call of git dying. What died, if so many calls were made.
fn git_dies(session: &Session, nth: usize, real: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let folder = session.project().parent().unwrap().join("mortal");
    let calls = folder.join("calls");
    fs::create_dir_all(&calls).unwrap();
    let git = folder.join("git");
    fs::write(&git, MORTAL.replace("REAL", real.to_str().unwrap())).unwrap();
    fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.env("CALLS", &calls).env("DIES", nth.to_string());
    command.args(["run", "main", "task", "--agent", "scripted:script.yaml"]);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "call {nth}: {}", String::from_utf8_lossy(&ran.stderr));
    fs::read_to_string(calls.join("died")).ok().map(|died| died.trim().to_owned())
}

fn real_git() -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&paths).map(|folder| folder.join("git"));
    real.into_iter().find(|path| path.is_file()).unwrap()
}

/// The files as the phase left them, and not one tree missed, whichever git is killed.
#[test]
fn needs_git_a_killed_git_changes_nothing() {
    let real = real_git();
    let project = || {
        let session = project();
        session.write(".chronicle/workflows/main.yaml", "{name: One, phases: [{id: build}]}");
        session
    };
    let diff = |session: &Session| session.chronicle(&["diff"]).exits(0).stdout;
    let unharmed = project();
    unharmed.run().exits(0);
    let expected = diff(&unharmed);
    let mut died = Vec::new();
    for nth in 1.. {
        let session = project();
        let Some(what) = git_dies(&session, nth, &real) else { break };
        let missed = session.events_of("tree_missed");
        assert!(missed.is_empty(), "call {nth}, {what}: {missed:?}");
        let recorded = session.events_of("tree_recorded");
        let unread = recorded.iter().filter(|it| it["data"]["unreadable"].is_number()).count();
        assert_eq!((recorded.len(), unread), (2, 0), "call {nth}, {what}: {recorded:?}");
        assert_eq!(diff(&session), expected, "call {nth}, {what}");
        assert_eq!(locks(&session), [""; 0], "call {nth}, {what}");
        died.push(what);
    }
    for what in ["index", "other"] {
        assert!(died.iter().any(|it| it == what), "{died:?}");
    }
}

/// A tree that is packed already is named by git itself, which may be killed over it.
#[test]
fn needs_git_a_git_killed_over_a_name_changes_nothing() {
    let real = real_git();
    let packed = || {
        let session = project();
        session.write(".chronicle/workflows/main.yaml", "{name: One, phases: [{id: plan}]}");
        session.run().exits(0);
        session.shell("git --git-dir=.chronicle/trees.git repack -a -d -q").exits(0);
        session
    };
    let mut died = Vec::new();
    for nth in 1.. {
        let session = packed();
        let Some(what) = git_dies(&session, nth, &real) else { break };
        assert_eq!(session.events_of("tree_missed").len(), 0, "call {nth}, {what}");
        assert_eq!(session.events_of("tree_recorded").len(), 2, "call {nth}, {what}");
        let named = "git --git-dir=.chronicle/trees.git for-each-ref refs/runs";
        let named = session.shell(named).exits(0).stdout;
        assert_eq!(named.lines().count(), 4, "call {nth}, {what}: {named}");
        assert_eq!(locks(&session), [""; 0], "call {nth}, {what}");
        died.push(what);
    }
    assert!(died.iter().any(|it| it == "name"), "{died:?}");
}
