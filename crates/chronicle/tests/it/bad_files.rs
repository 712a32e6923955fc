//! Pipes, links and folders in the place of a run's files: nobody waits for them, and nobody follows them out of the project.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

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

/// Puts something at a path.
type Put = fn(&Path);

/// What a worker may put in the place of a file.
const INSTEAD: [(&str, Put); 4] = [
    ("a pipe", |path| {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }),
    ("a symbolic link", |path| symlink("/dev/zero", path).unwrap()),
    ("a symbolic link", |path| {
        let other = path.with_extension("other");
        fs::rename(path.with_extension("kept"), &other).unwrap();
        symlink(&other, path).unwrap();
    }),
    ("a folder", |path| fs::create_dir(path).unwrap()),
];

/// A run whose supervisor was killed in the middle.
fn interrupted() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached") && session.ledger_lines() >= 6);
    supervisor.kill();
    session.write("go", "");
    session
}

/// Puts each thing in the place of a file of an interrupted run, and does this with it.
fn with_each(name: &str, act: impl Fn(&Session, &str)) {
    for (what, put) in INSTEAD {
        let session = interrupted();
        let path = session.run_file(name);
        let kept = path.with_extension("kept");
        if path.exists() {
            fs::rename(&path, &kept).unwrap();
        } else {
            fs::write(&kept, "").unwrap();
        }
        put(&path);
        act(&session, &format!("{what} is in the place of the file"));
    }
}

#[test]
fn a_ledger_that_is_no_file_is_damage() {
    with_each("ledger.jsonl", |session, why| {
        for command in ["status", "log", "audit", "resume", "cancel", "handover", "diff"] {
            session.chronicle(&[command, &session.short()]).exits(6).talks(why);
        }
        session.chronicle(&["runs"]).exits(0).talks("cannot be read");
    });
}

#[test]
fn a_lock_that_is_no_file_is_damage() {
    with_each("lock", |session, why| {
        for command in ["resume", "cancel"] {
            session.chronicle(&[command, &session.short()]).exits(6).talks(why);
        }
        session.chronicle(&["status", &session.short()]).exits(0);
    });
}

#[test]
fn files_that_may_be_deleted_may_contain_anything() {
    for name in ["state.cache", "run.json", "link", "ignored", "transcripts/a2.jsonl"] {
        with_each(name, |session, _| {
            session.chronicle(&["status", &session.short()]).exits(0);
            session.chronicle(&["resume", &session.short()]).exits(0);
            session.chronicle(&["audit", &session.short()]).exits(0);
        });
    }
}

/// What it is called, and how it is made.
type Instead<'a> = (&'a str, &'a dyn Fn(&Path));

/// Its lines name what is in there: a link would let others replace it, or have it written elsewhere.
#[test]
fn a_folder_of_artifacts_that_is_none_is_damage() {
    let elsewhere = tempfile::tempdir().unwrap();
    let link = |path: &Path| symlink(elsewhere.path(), path).unwrap();
    let others: [Instead<'_>; 4] = [
        ("a symbolic link", &link),
        ("a symbolic link", &|path| symlink("/nowhere", path).unwrap()),
        ("a pipe", &INSTEAD[0].1),
        ("a file", &|path| fs::write(path, "").unwrap()),
    ];
    for (what, put) in others {
        let session = interrupted();
        let (path, kept) = (session.run_file("artifacts"), session.run_file("kept"));
        fs::rename(&path, &kept).unwrap();
        put(&path);
        for command in ["status", "log", "audit", "resume", "cancel", "handover"] {
            let said = session.chronicle(&[command, &session.short()]).exits(6);
            said.talks(&path.display().to_string())
                .talks(&format!("{what} is in the place of the folder"));
        }
        session.chronicle(&["gc", "--yes"]).exits(0);
        fs::remove_file(&path).unwrap();
        fs::rename(&kept, &path).unwrap();
        session.chronicle(&["resume"]).exits(0);
        session.assert_whole();
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing was written there");
}

/// Planted while the run works: the next text is not written through it.
#[test]
fn a_link_to_another_folder_of_artifacts_is_not_followed_by_the_supervisor() {
    let elsewhere = tempfile::tempdir().unwrap();
    let session = Session::with(
        "{name: Two, phases: {one: {next: [two]}, two: {next: [done]}}}",
        "one: [{touch: {file: reached}}, {wait_for: {file: go}}, {transition: {to: two, summary: worked}}]\n\
         two: [{complete: {summary: worked}}]\n",
    );
    let supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached"));
    let path = session.run_file("artifacts");
    fs::rename(&path, session.run_file("kept")).unwrap();
    symlink(elsewhere.path(), &path).unwrap();
    session.write("go", "");
    supervisor.wait();
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing was written there");
    session.assert_nothing_lives();
}

#[test]
fn links_in_the_place_of_other_folders_of_a_run_are_damage_for_whoever_writes() {
    for name in ["transcripts", "keepers", "given"] {
        let session = interrupted();
        let (path, kept) = (session.run_file(name), session.run_file("kept"));
        let _ = fs::rename(&path, &kept);
        symlink("/tmp", &path).unwrap();
        for command in ["resume", "cancel"] {
            let said = session.chronicle(&[command, &session.short()]).exits(6);
            said.talks("a symbolic link is in the place of the folder");
        }
    }
}

/// Whether an agent lives below it cannot be told then: a person is asked, and nobody waits.
#[test]
fn a_keepers_lock_that_is_no_file_asks_a_person() {
    with_each("keepers/a1.lock", |session, _| {
        session.chronicle(&["resume", &session.short()]).exits(4).prints("needs you");
    });
}

#[test]
fn a_lock_on_the_projects_files_that_is_no_file_is_told() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let lock = session.path(".chronicle/worktrees/shared.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    symlink("/dev/zero", &lock).unwrap();
    session.run().exits(6).talks("a symbolic link is in the place of the file");
}

/// The limit of a shell on file sizes ends a process without a word, unless it is told to go on.
#[test]
fn a_limit_on_file_sizes_is_told() {
    // However long lines are: one of these falls between the first line and the end.
    for blocks in 1..200 {
        let session = Session::with(WORKFLOW, SCRIPT);
        session.write("go", "");
        let run = "chronicle run main 'the task' --agent scripted:script.yaml";
        let said = session.shell(&format!("ulimit -f {blocks}; exec {run}"));
        let said = said.exits(70).talks("the limit on file sizes (`ulimit -f`)");
        if session.runs().is_empty() {
            // There is nothing to resume, so that is not what is proposed.
            said.talks("`ulimit -f unlimited`, then start the run again");
            continue;
        }
        said.talks("`ulimit -f unlimited`, then `chronicle resume`");
        session.chronicle(&["resume"]).exits(0);
        session.assert_whole();
        return;
    }
    panic!("no limit let a first line through");
}

/// A project's files are anybody's: what they name must not reach a terminal as it is.
#[test]
fn names_from_a_project_are_harmless() {
    let name = "name: \"Small\\e[2J\\e]0;owned\\a\"";
    let session = Session::with(&WORKFLOW.replace("name: Small", name), SCRIPT);
    session.write(".chronicle/workflows/e\u{1b}[2J.yaml", WORKFLOW);
    let dry = [crate::session::RUN, &["--dry-run"]].concat();
    for args in [&dry[..], &["trust"], &["list"], &["check"], &["runs"], &["graph", "main"]] {
        let said = session.chronicle(args);
        assert!(
            !said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'),
            "{args:?}: {said:?}"
        );
    }
}
