//! A system that gives no thread: no run hangs, nothing goes on unattended, and what is missing is said.
//!
//! A real limit strikes wherever it likes, so each thread is refused by its name.

use crate::session::{RUN, Said, Session, of_run, until};

const WORKFLOW: &str = "
name: Threads
phases:
  work: {next: [check]}
  check: {run: command, commands: ['echo checked >> log'], next: [done]}
";
const SCRIPT: &str =
    "work: [{append: {path: log, text: 'worked '}}, {complete: {summary: worked}}]";

/// Runs a command for which those threads cannot be started.
fn without(session: &Session, threads: &str, args: &[&str]) -> Said {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(args).env("CHRONICLE_FAILPOINT_THREADS", threads);
    session.start(command, "").wait()
}

#[test]
fn a_run_that_cannot_begin_leaves_nothing_behind() {
    for thread in ["timers", "driver"] {
        let session = Session::with(WORKFLOW, SCRIPT);
        let said = without(&session, thread, RUN).exits(70);
        said.talks("no thread can be started").talks("`ulimit -u`").talks("start the run again");
        assert_eq!(session.runs(), [""; 0], "{thread}");
        assert!(!session.has("log"), "{thread}");
    }
}

#[test]
fn a_run_that_cannot_be_resumed_for_now_stays_as_it_is() {
    let session =
        Session::with("{name: G, phases: {work: {approval: before, next: [done]}}}", SCRIPT);
    session.run().exits(4);
    session.chronicle(&["approve"]).exits(0);
    let run = session.short();
    for thread in ["timers", "driver"] {
        let said = without(&session, thread, &["resume"]).exits(70);
        said.talks("no thread can be started").talks(&format!("`chronicle resume {run}`"));
    }
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

/// Whether a keeper was ever started for an attempt of the newest run.
fn was_kept(session: &Session, attempt: &str) -> bool {
    session.run_file(&format!("keepers/{attempt}.lock")).exists()
}

#[test]
fn what_could_not_be_started_has_not_run() {
    let pay = "{name: Pay, phases: {pay: {run: command, commands: ['echo paid >> log'], once: true, next: [done]}}}";
    let session = Session::with(pay, "{}");
    without(&session, "output", RUN).exits(4).prints("could not be started");
    assert!(!was_kept(&session, "a1"), "the command may have run");
    session.chronicle(&["retry"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("log"), "paid\n");
    assert!(was_kept(&session, "a2"), "a keeper leaves its lock");
    session.assert_whole();
    for thread in ["leases", "write", "read", "stderr", "watch", "wait"] {
        let session = Session::with(WORKFLOW, SCRIPT);
        without(&session, thread, RUN).exits(4).prints("could not be started");
        assert!(!was_kept(&session, "a1"), "{thread}");
    }
}

#[test]
fn a_command_that_could_not_be_started_is_named() {
    let pay = "{name: Pay, phases: {pay: {run: command, commands: ['echo paid', 'echo paid >> log'], once: true, next: [done]}}}";
    let session = Session::with(pay, "{}");
    without(&session, "output", RUN).exits(4).prints("command 1 of 2, `echo paid`: ");
    session.chronicle(&["retry", "--from", "2"]).exits(0);
    let said = without(&session, "output", &["resume"]).exits(4);
    said.prints("command 2 of 2, `echo paid >> log`: ");
    session.chronicle(&["retry", "--from", "2"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("log"), "paid\n");
    session.assert_whole();
}

/// A thread that watches commands which were never started would go on without end.
#[cfg(target_os = "linux")]
#[test]
fn nothing_watches_what_could_not_be_started() {
    let session =
        Session::with("{name: C, phases: {c: {run: command, commands: [ls], next: [done]}}}", "{}");
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(RUN).arg("--wait").env("CHRONICLE_FAILPOINT_THREADS", "shell");
    let mut supervisor = session.start(command, "");
    until("it asks, or is over", || {
        supervisor.talk().contains("g1 waits") || supervisor.has_ended()
    });
    let tasks = std::fs::read_dir(format!("/proc/{}/task", supervisor.pid())).unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        // One may end while they are listed.
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    let names: Vec<String> = tasks.map(name).collect();
    assert!(names.iter().any(|name| name.trim() == "driver"), "{names:?}");
    assert!(!names.iter().any(|name| name.trim() == "watch"), "{names:?}");
    session.chronicle(&["cancel"]).exits(0);
    supervisor.wait();
}

const VERIFIED: &str = "
name: Verified
phases:
  work: {approval: before, verify: ['echo verified >> log'], cleanup: ['echo cleaned >> log'], next: [done]}
";

/// Its worker can do nothing about it, and is not sent back.
#[test]
fn a_verify_that_cannot_be_started_asks_a_person_and_repeats_no_work() {
    for thread in ["shell", "output"] {
        let session = Session::with(VERIFIED, SCRIPT);
        session.run().exits(4);
        session.chronicle(&["approve"]).exits(0);
        let said = without(&session, thread, &["resume"]).exits(4);
        said.prints("its `verify` could not be started");
        assert_eq!(session.events_of("attempt_started").len(), 2, "{thread}");
        session.chronicle(&["retry"]).exits(0).prints("`work` is verified again");
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(session.read("log"), "worked verified\ncleaned\n", "{thread}");
        session.assert_whole();
    }
}

#[test]
fn a_cleanup_that_cannot_be_started_is_told_and_holds_up_nothing() {
    let workflow = VERIFIED.replace("verify: ['echo verified >> log'], ", "");
    let session = Session::with(&workflow, SCRIPT);
    session.run().exits(4);
    session.chronicle(&["approve"]).exits(0);
    let said = without(&session, "shell", &["resume"]).exits(0);
    said.talks("a2 could not be started: \"no thread to tend it");
    session.chronicle(&["log"]).exits(0).prints("a2 could not be started");
    assert_eq!(session.read("log"), "worked ");
    session.assert_whole();
}

/// What tends a worker is there, or the worker is not.
#[test]
fn a_worker_that_cannot_be_tended_is_ended_and_a_person_asked() {
    for thread in ["leases", "write", "read", "stderr", "watch", "wait", "shell", "output"] {
        let session = Session::with(WORKFLOW, SCRIPT);
        without(&session, thread, RUN).exits(4).talks("thread");
        assert_eq!(of_run(&session.run_id()), [0; 0], "{thread}");
        session.chronicle(&["retry"]).exits(0);
        session.chronicle(&["resume"]).exits(0);
        assert!(session.read("log").ends_with("checked\n"), "{thread}");
        session.assert_whole();
    }
}

/// Without these a run works all the same: its files are recorded one thing after the other, or the record says what is missing.
#[test]
fn a_run_goes_on_without_what_only_helps() {
    for thread in ["link", "client", "tree", "changed", "place", "ignored", "remark"] {
        let session = Session::with(WORKFLOW, SCRIPT);
        without(&session, thread, RUN).exits(0);
        assert_eq!(session.events_of("tree_missed").len(), 0, "{thread}");
        session.assert_whole();
    }
    for thread in ["tool-input", "tool-output"] {
        let session = Session::with(WORKFLOW, SCRIPT);
        without(&session, thread, RUN).exits(0);
        assert_ne!(session.events_of("tree_missed").len(), 0, "{thread}");
        session.chronicle(&["status"]).exits(0).prints("no thread to read it");
        session.assert_whole();
    }
}

#[test]
fn a_run_that_ctrl_c_could_not_stop_is_stopped_and_resumed_later() {
    let session = Session::with(WORKFLOW, SCRIPT);
    without(&session, "signals", RUN).exits(70).talks("no thread for signals");
    assert_eq!(of_run(&session.run_id()), [0; 0]);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

/// What an earlier supervisor left is ended before anything else begins, with or without a thread for it.
#[test]
fn leftovers_are_ended_without_a_thread_too() {
    let script = "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {}}]";
    let session = Session::with(WORKFLOW, script);
    let supervisor = session.spawn_run();
    until("the agent waits", || session.has("reached"));
    supervisor.kill();
    session.write("go", "");
    without(&session, "observe", &["resume"]).exits(0);
    assert_eq!(of_run(&session.run_id()), [0; 0]);
    session.assert_whole();
}
