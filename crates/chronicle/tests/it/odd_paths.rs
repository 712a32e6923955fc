//! Projects and programs whose paths are not text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use crate::session::{RUN, Session};

const CHRONICLE: &str = env!("CARGO_BIN_EXE_chronicle");
const WORKFLOW: &str = "{name: Small, phases: {work: {next: [done]}}}";
const SCRIPT: &str = "work: [{append: {path: log, text: worked}}, {complete: {summary: worked}}]";

/// A project beside the usual one, in a folder whose name is not UTF-8.
fn odd(session: &Session) -> PathBuf {
    let project = session.project().parent().unwrap().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir_all(project.join(".chronicle/workflows")).unwrap();
    fs::write(project.join(".chronicle/workflows/main.yaml"), WORKFLOW).unwrap();
    fs::write(project.join("script.yaml"), SCRIPT).unwrap();
    project
}

#[test]
fn no_run_begins_in_a_folder_whose_path_is_not_text() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let project = odd(&session);
    let there = |args: &[&str]| {
        let mut command = session.command(CHRONICLE);
        command.args(args).current_dir(&project);
        session.start(command, "").wait()
    };
    let around = || {
        let entries = fs::read_dir(project.parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = around();
    for more in [&[][..], &["--detach"]] {
        let said = there(&[RUN, more].concat()).exits(2).talks("is not valid UTF-8");
        said.talks("Hint: rename or move it");
    }
    assert_eq!(around(), before, "nothing was made in a folder with a similar name");
    assert!(!project.join(".chronicle/runs").exists());
    // What only looks works all the same.
    there(&["runs"]).exits(0).talks("No runs here yet");
    there(&["status"]).exits(2).talks("there are no runs in");
    there(&["check", "main"]).exits(0);
    there(&["list"]).exits(0);
    there(&["trust"]).exits(0).prints("is trusted as it is now");
    there(&["trust", "--list"]).exits(0);
    there(&["trust", "--revoke"]).exits(0);
    there(&[RUN, &["--dry-run"]].concat()).exits(0);
}

/// A run that is moved there is not resumed, and not lost either.
#[test]
fn a_run_in_such_a_folder_waits_until_it_is_moved() {
    let session =
        Session::with("{name: G, phases: {work: {approval: before, next: [done]}}}", SCRIPT);
    session.run().exits(4);
    session.chronicle(&["approve"]).exits(0);
    let odd = session.project().parent().unwrap().join(OsStr::from_bytes(b"moved-\xff"));
    fs::rename(session.project(), &odd).unwrap();
    let there = |args: &[&str]| {
        let mut command = session.command(CHRONICLE);
        command.args(args).current_dir(&odd);
        session.start(command, "").wait()
    };
    there(&["status"]).exits(0);
    there(&["audit"]).exits(0);
    there(&["resume", "--trust"]).exits(2).talks("is not valid UTF-8");
    fs::rename(&odd, session.project()).unwrap();
    session.chronicle(&["resume", "--trust"]).exits(0);
    session.assert_whole();
}

/// On Linux it names itself by a path that is text, wherever it is.
#[test]
#[cfg(target_os = "linux")]
fn a_program_whose_path_is_not_text_works() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let folder = session.project().parent().unwrap().join(OsStr::from_bytes(b"bin-\xe9"));
    fs::create_dir(&folder).unwrap();
    let program = folder.join("chronicle");
    fs::copy(CHRONICLE, &program).unwrap();
    let model = session.command("true");
    let mut command = Command::new(&program);
    command.args(RUN).env_clear().current_dir(session.project());
    command.envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
    session.start(command, "").wait().exits(0);
    session.assert_whole();
}
