//! A git that does not end: what a worker put in its way is named, and no git outlives its supervisor.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{CWD, mkfifoat};

use crate::session::{Session, Started, until};

const WORKFLOW: &str = "{name: One, phases: [{id: work}]}";
const SCRIPT: &str = "
work:
  - touch: {file: reached}
  - wait_for: {file: go}
  - complete: {summary: worked}
";

fn project() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("sub/file", "one\n");
    session
}

/// A run whose worker has put a pipe there.
fn with_pipe(name: &str) -> (Session, Started) {
    let session = project();
    let run = session.spawn_run();
    until("the agent waits", || session.has("reached"));
    let _ = fs::remove_file(session.path(name));
    mkfifoat(CWD, session.path(name), 0o600.into()).unwrap();
    (session, run)
}

#[test]
fn needs_git_a_worker_that_puts_a_pipe_in_gits_way_holds_up_nobody() {
    for name in [".gitignore", "sub/.gitignore"] {
        let (session, run) = with_pipe(name);
        session.write("go", "");
        run.wait().exits(0);
        let missed = session.events_of("tree_missed");
        assert_eq!(missed.len(), 1, "{name}: {missed:?}");
        let why = missed[0]["data"]["why"].as_str().unwrap().to_owned();
        assert!(why.contains("named pipe") && why.contains(name), "{why}");
        // Each command that needs git says the same, and none waits.
        session.chronicle(&["undo", "--all", "--yes"]).exits(70).talks(name);
        fs::remove_file(session.path(name)).unwrap();
        session.chronicle(&["diff"]).exits(0);
    }
}

#[test]
fn needs_git_cancelling_does_not_wait_for_a_pipe() {
    let (session, run) = with_pipe("sub/.gitignore");
    session.chronicle(&["cancel", &session.short()]).exits(0);
    run.wait().exits(1);
    assert_eq!(session.events_of("tree_missed").len(), 1);
    assert_eq!(session.events_of("tree_recorded").len(), 1);
}

/// Stands for a git that hangs: it says who it is, and does not end.
const ENDLESS: &str =
    "#!/bin/sh\necho $$ >\"$CALLS/half\"; mv \"$CALLS/half\" \"$CALLS/id\"; exec sleep 3600\n";

#[test]
fn needs_sh_no_git_outlives_its_supervisor() {
    let session = project();
    let folder = session.project().parent().unwrap().join("endless");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("git"), ENDLESS).unwrap();
    fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.display())).env("CALLS", &folder);
    command.args(["run", "main", "task", "--agent", "scripted:script.yaml"]);
    let run = session.start(command, "");
    let cmdline = || {
        let id = fs::read_to_string(folder.join("id")).ok()?;
        Some(format!("/proc/{}/cmdline", id.trim()))
    };
    let said = |path: &str| fs::read_to_string(path).unwrap_or_default();
    until("git hangs", || cmdline().is_some_and(|path| said(&path).contains("sleep")));
    let git = cmdline().unwrap();
    run.kill();
    // What has ended but is not waited for has no command line any more.
    until("git is gone", || said(&git).is_empty());
}
