//! An undo that is killed, wherever that is: it is seen, finished or taken back, and what a person does meanwhile stays.
//!
//! What the files must be is known by copies that the test keeps itself; no tree is asked.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chronicle_runtime::for_tests::fail::Point;

use crate::session::{Session, until};

type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

const WORKFLOW: &str = "{name: One, phases: {p0: {next: [done]}}}";
const SCRIPT: &str = r#"
p0:
  - shell: {command: "for n in 0 1 2 3; do echo new > f$n; done; rm g0 g1; echo new > h0; mkdir deep; echo new > deep/d0; chmod 644 h1; echo more >> h1"}
  - complete: {summary: did}
"#;

/// Every file of the project but our own, with its bytes and mode.
pub(crate) fn copy(session: &Session) -> Files {
    let root = session.project();
    let (mut found, mut folders) = (Files::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_owned();
            if name.starts_with(".chronicle") || name.starts_with(".git") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                folders.push(path);
            } else {
                let bytes = if meta.is_symlink() {
                    fs::read_link(path).unwrap().into_os_string().into_vec()
                } else {
                    fs::read(path).unwrap()
                };
                found.insert(name, (meta.permissions().mode() & 0o777, bytes));
            }
        }
    }
    found
}

/// A run that is over, with the files before it and after it.
fn done() -> (Session, String, Files, Files) {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write(".gitignore", "script.yaml\n");
    for name in ["f0", "f1", "g0", "g1", "h0", "h1"] {
        session.write(name, format!("old {name}\n"));
    }
    session.shell("chmod 600 h1").exits(0);
    let before = copy(&session);
    session.run().exits(0);
    let after = copy(&session);
    assert_ne!(before, after);
    let run = session.short();
    (session, run, before, after)
}

/// Runs with a death in store; whether it struck.
fn dies(session: &Session, point: &str, args: &[&str]) -> bool {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("CHRONICLE_FAILPOINT", point).args(args);
    command.output().unwrap().status.code().is_none()
}

fn half_undone(session: &Session, run: &str) -> bool {
    session.json(&["status", run])["half_undone"] == "p0"
}

fn with(files: &Files, name: &str, text: &str) -> Files {
    let mut files = files.clone();
    let mode = files.get(Path::new(name)).map_or(0o644, |(mode, _)| *mode);
    files.insert(name.into(), (mode, text.as_bytes().to_vec()));
    files
}

/// Dies at that point of an undo, and then a person edits one of the files that it is about.
fn edited_after(session: &Session, run: &str, before: &Files, after: &Files) {
    session.write("f1", "a person's\n");
    session.write("mine.txt", "mine\n");
    let edited = |files: &Files| with(&with(files, "f1", "a person's\n"), "mine.txt", "mine\n");
    if half_undone(session, run) {
        let status = session.chronicle(&["status", run]).exits(0);
        status
            .prints("interrupted undo: of `p0`")
            .prints(&format!("chronicle undo {run} --finish"));
        // Nothing begins on files that are half of one state and half of another.
        session.run().exits(2).talks("the undo of `p0` in run").talks("--finish");
        let said = session.chronicle(&["undo", run, "--finish"]).exits(0);
        assert_eq!(copy(session), edited(before), "{}{}", said.stdout, said.stderr);
        said.prints("left alone because it was changed meanwhile: f1");
        assert!(!half_undone(session, run));
    } else if copy(session) == edited(before) {
        // It was done; only nobody had heard of it.
        session.chronicle(&["undo", run, "--finish"]).exits(0);
        assert_eq!(copy(session), edited(before));
    } else {
        // It was not written down: nothing happened, and the edit stops the next one.
        assert_eq!(copy(session), edited(after));
        session.chronicle(&["undo", run, "p0", "--yes"]).exits(2).talks("were changed since");
        assert_eq!(copy(session), edited(after));
    }
    fs::remove_file(session.path("mine.txt")).unwrap();
}

/// Puts the files back as the run left them, for the next death.
fn restore(session: &Session, after: &Files) {
    let now = copy(session);
    for name in now.keys().filter(|name| !after.contains_key(*name)) {
        fs::remove_file(session.project().join(name)).unwrap();
    }
    for (name, (mode, bytes)) in after {
        let path = session.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if now.get(name) != Some(&(*mode, bytes.clone())) {
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
        }
    }
    assert_eq!(copy(session), *after);
}

/// The places of an undo where it can die: each hit of those inside it, the first ones of the ledger's.
fn deaths() -> impl Iterator<Item = (&'static str, u32)> {
    Point::ALL.iter().flat_map(|point| {
        let most = match point {
            Point::InRestore => 20,
            Point::InTree => 3,
            _ => 2,
        };
        (1..=most).map(|nth| (point.name(), nth))
    })
}

#[test]
fn needs_git_an_edit_after_a_killed_undo_stays_wherever_it_died() {
    let (mut died, mut half) = (0, 0);
    let (mut session, mut run, mut before, mut after) = done();
    let mut skip = None;
    for (point, nth) in deaths() {
        if skip == Some(point) {
            continue;
        }
        if !dies(&session, &format!("{point}:{nth}"), &["undo", &run, "p0", "--yes"]) {
            assert_eq!(copy(&session), before, "{point}:{nth}");
            skip = Some(point);
            session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
            assert_eq!(copy(&session), after, "{point}:{nth}");
            continue;
        }
        died += 1;
        half += u32::from(half_undone(&session, &run));
        edited_after(&session, &run, &before, &after);
        session.chronicle(&["audit", &run]).exits(0);
        (session, run, before, after) = done();
    }
    assert!(died >= 15 && half >= 8, "{died} deaths, {half} half done");
}

#[test]
fn needs_git_a_killed_undo_is_finished_by_the_next_one_or_by_resume_or_taken_back() {
    let (session, run, before, after) = done();
    let half = |nth: u32| {
        assert!(dies(&session, &format!("in-restore:{nth}"), &["undo", &run, "p0", "--yes"]));
        assert!(half_undone(&session, &run));
    };
    half(3);
    session
        .chronicle(&["resume", &run])
        .exits(0)
        .prints("The interrupted undo of `p0` is finished");
    assert_eq!(copy(&session), before);
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(copy(&session), after);
    half(5);
    session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
    assert_eq!(copy(&session), after);
    half(7);
    // Nobody can be asked here.
    session.chronicle(&["undo", &run, "p0"]).exits(2).talks("was interrupted, and is not finished");
    let said = session.chronicle(&["undo", &run, "p0", "--yes"]).exits(0);
    said.prints("The interrupted undo of `p0` is finished");
    assert_eq!(copy(&session), before);
    // A back can be killed too.
    let back = ["undo", &run, "--back", "--yes"];
    assert!(dies(&session, "in-restore:4", &back));
    session.chronicle(&["undo", &run, "--finish"]).exits(0);
    assert_eq!(copy(&session), after);
    session.chronicle(&["undo", &run, "--finish"]).exits(0).talks("No undo was interrupted");
    // Files do not stay half undone for the next run either.
    restore(&session, &after);
    session.run().exits(0);
    session.chronicle(&["audit", &run]).exits(0);
}

#[test]
fn needs_git_an_edit_after_a_killed_undo_stays_when_the_undo_is_taken_back() {
    for nth in [1, 4, 7] {
        let (session, run, _, after) = done();
        let undo = ["undo", &run, "p0", "--yes"];
        assert!(dies(&session, &format!("in-restore:{nth}"), &undo));
        session.write("f1", "a person's\n");
        let said = session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
        said.prints("left alone because it was changed meanwhile: f1");
        assert_eq!(copy(&session), with(&after, "f1", "a person's\n"), "after {nth}");
        // Nothing is left to take back, and nothing was lost that a person wrote.
        session.chronicle(&["undo", &run, "--back", "--yes"]).exits(2).talks("nothing is undone");
    }
}

#[test]
fn needs_git_a_killed_undo_counts_all_of_its_files() {
    let counted = |session: &Session, run: &str| {
        let list = session.json(&["undo", run, "--list"]);
        list["undos"][0]["files"].as_u64().unwrap()
    };
    let (session, run, _, _) = done();
    session.chronicle(&["undo", &run, "p0", "--yes"]).exits(0);
    let whole = counted(&session, &run);
    assert!(whole >= 8, "{whole}");
    for nth in [2, 5, 8] {
        let (session, run, _, _) = done();
        assert!(dies(&session, &format!("in-restore:{nth}"), &["undo", &run, "p0", "--yes"]));
        let said = session.chronicle(&["undo", &run, "--finish"]).exits(0);
        said.prints(&format!("{whole} files restored."));
        assert_eq!(counted(&session, &run), whole, "killed at {nth}");
    }
}

#[test]
fn needs_git_a_lock_that_cannot_be_taken_is_no_mistake_of_the_person() {
    let (session, run, _, after) = done();
    session.shell("mv .chronicle/worktrees .chronicle/away; echo > .chronicle/worktrees").exits(0);
    let said = session.chronicle(&["undo", &run, "p0", "--yes"]).exits(70);
    said.talks("worktrees/shared.lock");
    assert_eq!(copy(&session), after);
}

/// Stands for git: one that writes files waits for ever, and says who it is.
const HANGS: &str = r#"#!/bin/sh
case " $* " in
*" checkout-index "*) echo $$ >"$HANGING.new"; mv "$HANGING.new" "$HANGING"; exec sleep 100000 ;;
esac
exec REAL "$@"
"#;

#[test]
fn needs_git_nothing_of_an_undo_outlives_it() {
    let (session, run, _, after) = done();
    let folder = session.project().parent().unwrap().join("hangs");
    fs::create_dir_all(&folder).unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&paths).map(|folder| folder.join("git"));
    let real = real.into_iter().find(|path| path.is_file()).unwrap();
    fs::write(folder.join("git"), HANGS.replace("REAL", real.to_str().unwrap())).unwrap();
    fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.env("HANGING", folder.join("pid")).args(["undo", &run, "p0", "--yes"]);
    let undo = session.start(command, "");
    until("git hangs", || folder.join("pid").exists());
    let git = fs::read_to_string(folder.join("pid")).unwrap().trim().to_owned();
    undo.kill();
    let lives = || {
        let stat = fs::read_to_string(format!("/proc/{git}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    until("its git is dead too", || !lives());
    assert_eq!(copy(&session), after);
}
