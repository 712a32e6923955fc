//! Output that cannot be written, and a process that may open too few files.

use std::fs::File;

use crate::session::Session;

const RUN: &str = "run main task --agent scripted:script.yaml";

const WORKFLOW: &str = "{name: One, phases: [{id: work}]}";
const SCRIPT: &str = "work: [{complete: {summary: worked}}]";

/// What a command says whose results go to a disk without room.
fn into_full(session: &Session, args: &[&str]) -> (Option<i32>, String) {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ran = command.args(args).stdout(full).output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_a_failure() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(0);
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["log"],
        &["runs"],
        &["runs", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["list"],
        &["config"],
        &["schema"],
        &["handover"],
        &["audit"],
        &["--help"],
        &["--version"],
    ] {
        let (code, said) = into_full(&session, args);
        assert_eq!(code, Some(70), "{args:?}: {said}");
        assert_eq!(said.matches("could not be written").count(), 1, "{args:?}: {said}");
    }
}

#[test]
fn needs_sh_a_run_that_cannot_begin_is_not_in_the_way() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let chronicle = env!("CARGO_BIN_EXE_chronicle");
    let mut least = None;
    for limit in 5..40 {
        let line = format!("ulimit -n {limit}; exec '{chronicle}' {RUN}");
        let said = session.shell(&line);
        if said.code != Some(70) {
            least = Some(limit);
            break;
        }
    }
    assert!(least.is_some_and(|least| least > 5), "{least:?}");
    // Where even removing the folder needs more open files, it is named with what removes it.
    let said = session.chronicle(&["runs"]).exits(0).stderr;
    for line in said.lines().filter(|line| line.contains("never started")) {
        let run = line.split(' ').nth(1).unwrap();
        session.chronicle(&["cancel", run]).exits(0);
    }
    let said = session.chronicle(&["runs"]).exits(0).stderr;
    assert!(!said.contains("never started"), "{said}");
}
