//! An undo that fails, and trees that are damaged: what is told is true, and there is a way on.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cmd_trees::files;
use crate::session::Session;

const WORKFLOW: &str = "{name: One, phases: [{id: work}]}";
const SCRIPT: &str = "
work:
  - write: {path: a, text: \"new a\\n\"}
  - write: {path: b, text: \"new b\\n\"}
  - complete: {summary: worked}
";

fn done() -> (Session, String) {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write(".gitignore", "script.yaml\n");
    session.write("a", "old a\n");
    session.write("b", "old b\n");
    session.run().exits(0);
    let run = session.short();
    (session, run)
}

/// Stands for git on a full disk: it cannot write files.
const FULL: &str = r#"#!/bin/sh
case " $* " in
*" checkout-index "*) echo "fatal: No space left on device" >&2; exit 128 ;;
esac
PATH=${PATH#*:} exec git "$@"
"#;

/// The same command where the disk is full.
fn with_full_disk(session: &Session, args: &[&str]) -> Option<i32> {
    let folder = session.project().parent().unwrap().join("full");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("git"), FULL).unwrap();
    fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.args(args).output().unwrap().status.code()
}

#[test]
fn needs_git_an_undo_that_failed_is_told_and_can_be_repeated() {
    let (session, run) = done();
    let worked = files(&session.project());
    let undo = ["undo", run.as_str(), "--all", "--yes"];
    assert_eq!(with_full_disk(&session, &undo), Some(70));
    assert_eq!(files(&session.project()), worked);
    let list = session.chronicle(&["undo", &run, "--list"]).exits(0).stdout;
    assert!(list.contains("undone: run, 0 files; it failed: git could not write files"), "{list}");
    let rows = session.json(&["undo", &run, "--list"]);
    assert!(rows["undos"][0]["error"].is_string(), "{rows}");
    // It changed nothing, so that there is nothing to take back.
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(2).talks("nothing is undone");
    // Once the cause is gone the same works, and takes nothing of it for a person's work.
    session.chronicle(&undo).exits(0).prints("2 files restored.");
    assert_eq!(session.read("b"), "old b\n");
    // The same holds on the way back.
    let back = ["undo", run.as_str(), "--back", "--yes"];
    assert_eq!(with_full_disk(&session, &back), Some(70));
    session.chronicle(&back).exits(0).prints("2 files restored.");
    assert_eq!(files(&session.project()), worked);
    session.chronicle(&["audit", &run]).exits(0);
}

#[test]
fn needs_git_damaged_trees_are_damage() {
    let damages: [(&str, &str); 4] = [
        ("every object is gone", "find .chronicle/trees.git/objects -type f -delete"),
        (
            "every object is empty",
            "for f in $(find .chronicle/trees.git/objects -type f); do chmod u+w $f; : >$f; done",
        ),
        (
            "the pack is something else",
            "git --git-dir=.chronicle/trees.git repack -a -d -q; \
             for f in .chronicle/trees.git/objects/pack/*.pack; do chmod u+w $f; echo x >$f; done",
        ),
        ("the settings are something else", "echo '[' >.chronicle/trees.git/config"),
    ];
    for (what, damage) in damages {
        let (session, run) = done();
        session.shell(damage).exits(0);
        for args in [
            &["diff", &run][..],
            &["undo", &run, "--all", "--yes"],
            &["gc", "--days", "0", "--yes"],
        ] {
            let said = session.chronicle(args);
            let told = format!("{what}, {args:?}: {:?} {}", said.code, said.stderr);
            // What nobody needs any more may be cleared away from a damaged repository.
            assert!(said.code == Some(6) || args[0] == "gc" && said.code == Some(0), "{told}");
            assert!(said.code == Some(0) || said.stderr.contains("trees.git` back"), "{told}");
        }
        session.chronicle(&["undo", &run, "--list"]).exits(0);
        // The way on that is told.
        session.shell("mv .chronicle/trees.git ../damaged").exits(0);
        session.chronicle(&["diff", &run]).exits(2).talks("no files were recorded");
        session.run().exits(0);
        assert_eq!(session.chronicle(&["status"]).exits(0).stdout.matches("no trees").count(), 0);
    }
}

#[test]
fn needs_git_trees_without_a_head_are_kept() {
    let (session, run) = done();
    fs::remove_file(session.path(".chronicle/trees.git/HEAD")).unwrap();
    session.chronicle(&["undo", &run, "--all", "--yes"]).exits(0).prints("2 files restored.");
    assert_eq!(session.read("a"), "old a\n");
}

#[test]
fn needs_git_files_of_chronicle_itself_are_no_work() {
    let workflow = "{name: One, phases: [{id: work, requires: [changed_files]}]}";
    let script = "
work:
  - write: {path: .chronicle/x.txt, text: x}
  - complete: {summary: worked}
";
    let session = Session::with(workflow, script);
    session.run().exits(4);
    session.chronicle(&["status"]).exits(0).prints("no file of the project changed");
}
