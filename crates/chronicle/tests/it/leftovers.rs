//! What a killed process leaves behind that is worth nothing: it is told honestly, and can be removed.

use std::fs;

use crate::session::{RUN, Session, until};

const WORKFLOW: &str = "name: Small\nphases: {work: {next: [done]}}\n";
const SCRIPT: &str =
    "work: [{touch: {file: here}}, {wait_for: {file: go}}, {complete: {summary: worked}}]\n";

/// A run whose supervisor was killed before its first line.
fn unborn() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(RUN).env("CHRONICLE_FAILPOINT", "before-append:1");
    assert_eq!(session.start(command, "").wait().code, None);
    assert_eq!((session.runs().len(), session.ledger_lines()), (1, 0));
    session
}

#[test]
fn a_run_without_a_first_line_is_told_and_removed() {
    let session = unborn();
    let run = session.short();
    session.chronicle(&["runs"]).exits(0).talks(&format!("Run {run} never started"));
    for command in ["status", "audit", "resume"] {
        let said = session.chronicle(&[command, &run]).exits(2).talks("it never started");
        said.talks(&format!("`chronicle cancel {run}` removes it"));
    }
    session.chronicle(&["go", "work"]).exits(2).talks("it never started");
    session.chronicle(&["cancel", &run]).exits(0).prints("removed, since it never started");
    assert_eq!(session.runs(), [""; 0]);
    let session = unborn();
    // The only one that can be meant.
    session.chronicle(&["cancel"]).exits(0).prints("removed, since it never started");
    assert_eq!(session.runs(), [""; 0]);
    session.chronicle(&["runs", "--all"]).exits(0).talks("No runs here yet");
}

#[test]
fn gc_removes_runs_without_a_first_line_once_nobody_can_be_about_to_begin_them() {
    let session = unborn();
    let said = session.chronicle(&["gc", "--yes"]).exits(0).talks("There is nothing to free");
    said.talks(&format!("Run {} has no first line yet", session.short()));
    assert_eq!(session.runs().len(), 1, "somebody may be about to begin it");
    session.shell("touch -d '2 hours ago' .chronicle/runs/*").exits(0);
    let said = session.chronicle(&["gc"]).exits(2).talks("never started: its folder can go");
    assert!(!said.stderr.contains("has no first line yet"), "{}", said.stderr);
    session.chronicle(&["gc", "--yes"]).exits(0).prints("Removed, since they never started");
    assert_eq!(session.runs(), [""; 0]);
}

/// It looks the same, and is not: its lines were lost.
#[test]
fn a_run_that_lost_its_lines_is_not_removed() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("go", "");
    session.run().exits(0);
    fs::write(session.run_file("ledger.jsonl"), "").unwrap();
    session.shell("touch -d '2 hours ago' .chronicle/runs/*").exits(0);
    session.chronicle(&["gc", "--yes"]).exits(0);
    session.chronicle(&["cancel", &session.short()]).exits(6);
    assert_eq!(session.runs().len(), 1);
}

#[test]
fn unfinished_files_are_ignored_by_git_and_swept() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("go", "");
    session.write(".chronicle/.gitignore", "/runs/\n/trees.git/\n/worktrees/\n");
    session.write(".chronicle/.config.toml.7-0.unfinished", "half");
    fs::create_dir_all(session.path(".pi")).unwrap();
    session.run().exits(0);
    assert!(
        session.read(".chronicle/.gitignore").contains("\n*.unfinished\n"),
        "the old one is renewed"
    );
    session.write(".pi/chronicle/sessions/.x.json.7-0.unfinished", "half");
    session.write(".chronicle/trees.git/chronicle/modes/.abc.7-0.unfinished", "half");
    fs::write(session.run_file("artifacts/.abc.7-0.unfinished"), "half").unwrap();
    fs::write(session.run_file(".run.json.7-0.unfinished"), "half").unwrap();
    session.chronicle(&["gc", "--yes"]).exits(0);
    assert!(session.has(".chronicle/.config.toml.7-0.unfinished"), "its writer may live");
    session.shell("find . -name '*.unfinished' -exec touch -d '2 hours ago' {} +").exits(0);
    session.chronicle(&["gc", "--yes"]).exits(0);
    session.shell("find . -name '*.unfinished' | grep . && exit 1; exit 0").exits(0);
}

/// What is known outside of the project is told, and forgotten only if a person wants that.
#[test]
fn runs_whose_folders_were_removed_are_not_denied() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("go", "");
    session.run().exits(0);
    session.run().exits(0);
    let runs = session.runs();
    let shorts: Vec<&str> = runs.iter().map(|run| crate::session::short(run)).collect();
    // One of several: the other is shown, and both are listed.
    let kept = session.path("kept");
    fs::rename(session.path(".chronicle/runs").join(&runs[1]), &kept).unwrap();
    let said = session.chronicle(&["runs"]).exits(0).prints(shorts[0]);
    said.talks(&format!("Run {} cannot be read: its folder is gone", shorts[1]));
    let unreadable = session.json(&["runs"])["unreadable"].clone();
    assert_eq!(unreadable[0]["run"], runs[1].as_str());
    session.chronicle(&["status", shorts[1]]).exits(6).talks("is gone from");
    session.chronicle(&["status"]).exits(0).prints(shorts[0]);
    fs::rename(&kept, session.path(".chronicle/runs").join(&runs[1])).unwrap();
    session.chronicle(&["status", shorts[1]]).exits(0);
    // All of them.
    fs::remove_dir_all(session.path(".chronicle")).unwrap();
    let said = session.chronicle(&["runs"]).exits(0);
    let said = said.talks(&format!("Run {} cannot be read", shorts[0]));
    assert!(!said.stderr.contains("No runs here yet"), "{}", said.stderr);
    for args in [&["status"][..], &["log"], &["resume"], &["approve"], &["status", shorts[0]]] {
        let said = session.chronicle(args).exits(6).talks(shorts[0]);
        said.talks("Hint: put `.chronicle` back from a copy");
    }
    session
        .chronicle(&["gc"])
        .exits(2)
        .talks("can be forgotten")
        .talks("nothing was freed or forgotten");
    session.chronicle(&["gc", "--yes"]).exits(0).prints("Forgotten, since their folders are gone");
    session.chronicle(&["runs"]).exits(0).talks("No runs here yet");
    session.chronicle(&["status"]).exits(2).talks("there are no runs in");
}

/// Whoever records files next holds the lock on their modes, so that any age will do.
#[test]
fn needs_git_unfinished_modes_are_swept_with_the_next_recording() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("go", "");
    session.run().exits(0);
    let left = ["chronicle/modes/.abc", "chronicle/.bytes", "info/.exclude", ".HEAD"]
        .map(|name| format!(".chronicle/trees.git/{name}.7-0.unfinished"));
    for name in &left {
        session.write(name, "half");
    }
    session.run().exits(0);
    for name in left {
        assert!(!session.has(&name), "{name}");
    }
}

/// Whichever file a process was about to replace when it was killed.
#[test]
fn nothing_unfinished_outlives_gc() {
    let mut deaths = 0;
    for nth in 1..100 {
        let session = Session::with(WORKFLOW, SCRIPT);
        fs::create_dir_all(session.path(".pi")).unwrap();
        session.write("go", "");
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(RUN).env("CHRONICLE_FAILPOINT", format!("in-file-write:{nth}"));
        if session.start(command, "").wait().code.is_some() {
            break;
        }
        deaths += 1;
        session.shell("find .. -name '*.unfinished' -exec touch -d '2 hours ago' {} +").exits(0);
        session.chronicle(&["gc", "--yes"]).exits(0);
        session.shell("find .. -name '*.unfinished' | grep . && exit 1; exit 0").exits(0);
    }
    assert!((5..99).contains(&deaths), "{deaths} deaths");
}

/// A killed writer of the older format's file leaves nothing outside of the run's own folder.
#[test]
fn a_killed_writer_of_the_mirror_leaves_nothing_beside_it() {
    let session = Session::with(WORKFLOW, SCRIPT);
    fs::create_dir_all(session.path(".pi")).unwrap();
    session.write("go", "");
    let writes = "in-file-write";
    for nth in 1..20 {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(RUN).env("CHRONICLE_FAILPOINT", format!("{writes}:{nth}"));
        if session.start(command, "").wait().code.is_some() {
            break;
        }
        session.shell("find .pi -name '*.unfinished' | grep . && exit 1; exit 0").exits(0);
    }
}

/// A second run on the same files is made, and listed, before it waits.
#[test]
fn a_run_that_waits_for_the_files_is_listed() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let first = session.spawn_run();
    until("the first one works", || session.has("here"));
    let holder = session.short();
    let waiting = |run: &str| {
        let status = session.json(&["status", run]);
        assert_eq!(
            (&status["status"], &status["waits_for"]),
            (&"waiting".into(), &holder.as_str().into())
        );
        let words = format!("waits for run {holder}");
        session.chronicle(&["status", run]).exits(0).prints(&words);
        session.chronicle(&["runs"]).exits(0).prints(&words);
    };
    let second = session.spawn_run();
    until("the second one says so", || second.talk().contains("Waiting: run"));
    let run = session.short();
    assert_ne!(run, holder);
    waiting(&run);
    // One that is given up while it waits stays, and can go on or be cancelled.
    second.kill();
    assert_eq!(session.json(&["status", &run])["status"], "paused");
    let third = session.chronicle(&[RUN, &["--detach"]].concat()).exits(0);
    third.prints(&format!("waits for run {holder}, which works on the project's files"));
    let detached = session.short();
    waiting(&detached);
    let again = session.spawn(&["resume", &run]);
    until("it says so", || again.talk().contains("Waiting: run"));
    waiting(&run);
    session
        .chronicle(&["pause", &run])
        .exits(0)
        .talks("does not wait for the project's files any more");
    again.wait().exits(130).talks("was paused while it waited");
    assert_eq!(session.json(&["status", &run])["status"], "paused");
    let again = session.spawn(&["resume", &run]);
    until("it says so once more", || again.talk().contains("Waiting: run"));
    waiting(&run);
    session.chronicle(&["cancel", &run]).exits(0);
    again.wait().exits(1).talks("ended while it waited");
    session.write("go", "");
    first.wait().exits(0);
    until("the detached one is done", || session.json(&["status", &detached])["status"] == "done");
}
