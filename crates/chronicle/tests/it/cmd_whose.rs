//! Whose work a changed file is: a worker's only if it is known to be.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::session::{Session, keepers, until};

/// Longer than any clock of files is behind ours.
const TICK: Duration = Duration::from_millis(200);

fn project(workflow: &str, script: &str) -> Session {
    let session = Session::with(workflow, script);
    session.write(".gitignore", "script.yaml\nat-work\ngo\n");
    session
}

/// Waits until the worker has no tool in its hands, for longer than clocks are apart.
fn idle(session: &Session) {
    until("the worker waits", || session.has("at-work"));
    let since = fs::metadata(session.path("at-work")).unwrap().modified().unwrap();
    until("a while has passed", || SystemTime::now() > since + TICK);
}

/// Kills the supervisor, and waits until nothing of it is left.
fn kill(session: &Session, supervisor: crate::session::Started) {
    supervisor.kill();
    let run = session.run_id();
    until("its keeper is gone", || keepers(&run).is_empty());
}

const ONE: &str = "{name: Two, phases: [{id: a}, {id: b}]}";
const WAITS: &str = r#"
a:
  - write: {path: own.txt, text: "own\n"}
  - write: {path: shared.txt, text: "own\n"}
  - touch: {file: at-work}
  - wait_for: {file: go}
  - complete: {summary: did}
b:
  - complete: {summary: did}
"#;

fn told(session: &Session, line: &str) {
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert!(log.contains(line), "{line}:\n{log}");
}

#[test]
fn needs_git_what_a_person_does_after_a_kill_is_not_the_workers() {
    let session = project(ONE, WAITS);
    let supervisor = session.spawn_run();
    idle(&session);
    kill(&session, supervisor);
    session.write("mine.txt", "mine\n");
    session.write("shared.txt", "mine\n");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    told(
        &session,
        "a1 changed 1 file, +1: `own.txt`; changed meanwhile, origin unknown: \
         2 files, +2: `mine.txt`, `shared.txt`",
    );
    let run = session.short();
    // The next worker is told so.
    let handover = session.chronicle(&["handover", &run, "a3"]).exits(0).stdout;
    let line = handover.lines().find(|line| line.contains("not known to be a worker's")).unwrap();
    assert!(line.contains("`mine.txt`") && !line.contains("own.txt"), "{line}");
    // What is compared and undone is the worker's alone.
    let diff = session.chronicle(&["diff", &run, "--name-only"]).exits(0);
    assert_eq!(diff.stdout, "own.txt\n");
    diff.talks("Left out, not being known as a worker's: mine.txt, shared.txt");
    let all = session.chronicle(&["diff", &run, "--all", "--name-only"]).exits(0).stdout;
    assert_eq!(all, "mine.txt\nown.txt\nshared.txt\n");
    let said = session.chronicle(&["undo", &run, "a", "--yes"]).exits(0);
    said.prints("1 file restored.\n  own.txt\n").talks("Left as they are");
    assert_eq!(
        (session.read("mine.txt").as_str(), session.read("shared.txt").as_str()),
        ("mine\n", "mine\n")
    );
    // By name it goes: somebody said so.
    session.chronicle(&["undo", &run, "a", "--file", "mine.txt", "--yes", "--also-mine"]).exits(0);
    assert!(!session.has("mine.txt"));
}

#[test]
fn needs_git_what_a_person_does_beside_a_worker_is_not_the_workers() {
    let session = project(ONE, WAITS);
    let supervisor = session.spawn_run();
    idle(&session);
    session.write("mine.txt", "mine\n");
    session.write("go", "");
    supervisor.wait().exits(0);
    told(
        &session,
        "a1 changed 2 files, +2: `own.txt`, `shared.txt`; changed meanwhile, origin unknown: \
         1 file, +1: `mine.txt`",
    );
    let run = session.short();
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0).prints("2 files restored.");
    assert!(session.has("mine.txt") && !session.has("own.txt"));
}

#[test]
fn needs_git_a_persons_edit_proves_nothing_for_a_worker() {
    let workflow =
        "{name: One, phases: {a: {requires: [changed_files], limits: {nudges: 0}, next: [done]}}}";
    let script =
        "a:\n  - touch: {file: at-work}\n  - wait_for: {file: go}\n  - complete: {summary: did}\n";
    let session = project(workflow, script);
    let supervisor = session.spawn_run();
    idle(&session);
    kill(&session, supervisor);
    session.write("mine.txt", "mine\n");
    session.write("go", "");
    let said = session.chronicle(&["resume"]);
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert_eq!(said.code, Some(4), "{}\n{log}", said.stderr);
    assert!(
        log.contains("files changed, but not while it used a tool that changes files"),
        "{log}"
    );
    let run = session.short();
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0).prints("0 files restored.");
    assert!(session.has("mine.txt"));
}

#[test]
fn needs_git_what_a_person_does_while_a_run_waits_is_not_in_its_difference() {
    let workflow = "{name: Two, phases: [{id: a, approval: after}, {id: b}]}";
    let script = "a:\n  - write: {path: a.txt, text: a}\n  - complete: {summary: did}\n\
        b:\n  - write: {path: b.txt, text: b}\n  - complete: {summary: did}\n";
    let session = project(workflow, script);
    session.run().exits(4);
    session.write("mine.txt", "mine\n");
    let run = session.short();
    session.chronicle(&["approve", &run]).exits(0);
    session.chronicle(&["resume", &run]).exits(0);
    let diff = session.chronicle(&["diff", &run, "--name-only"]).exits(0);
    assert_eq!(diff.stdout, "a.txt\nb.txt\n");
    diff.talks("Left out, not being known as a worker's: mine.txt");
    session.chronicle(&["undo", &run, "--all", "--yes"]).exits(0);
    assert!(session.has("mine.txt") && !session.has("a.txt") && !session.has("b.txt"));
}

/// A worker's own file that nobody could have seen being made by a tool: said, and left alone.
#[test]
fn needs_git_a_change_without_a_tool_call_has_an_unknown_origin() {
    let script = "a:\n  - write: {path: own.txt, text: own}\n  - touch: {file: unasked.txt}\n  - complete: {summary: did}\n";
    let session = project("{name: One, phases: [{id: a}]}", script);
    let supervisor = session.spawn_run();
    supervisor.wait().exits(0);
    let run = session.short();
    let log = session.chronicle(&["log", &run]).exits(0).stdout;
    assert!(log.contains("origin unknown: 1 file: `unasked.txt`"), "{log}");
    session.chronicle(&["undo", &run, "a", "--yes"]).exits(0);
    assert!(!session.has("own.txt"));
    assert!(session.has("unasked.txt"), "nobody knows whose it is");
}

/// Asks for one tool, changes `own.txt`, and waits in the middle of the call.
fn agent(tool: &str, input: &str) -> String {
    format!(
        r#"read order
echo '{{"type":"session","protocol":1,"session":"s","resumed":false}}'
echo '{{"type":"permission","id":"c1","tool":"{tool}","input":{input}}}'
read answer
echo own > own.txt
touch at-work
until [ -e go ]; do sleep 0.05; done
echo '{{"type":"tool_end","id":"c1","ok":true}}'
echo '{{"type":"signal","id":"s1","tool":"signal_back","arguments":{{"signal":"complete","summary":"did"}}}}'
read answer
echo '{{"type":"finished"}}'
"#
    )
}

#[test]
fn needs_git_a_call_that_names_its_file_changes_no_other() {
    let one = "a1 changed 1 file, +1: `own.txt`; changed meanwhile, origin unknown: 1 file, +1: `mine.txt`";
    let both = "a1 changed 2 files, +2: `mine.txt`, `own.txt`";
    let command = r#"{"command":"make"}"#;
    for (tool, input, line) in [
        ("write", r#"{"path":"own.txt"}"#, one),
        ("read", r#"{"path":"own.txt"}"#, "origin unknown: 2 files, +2: `mine.txt`, `own.txt`"),
        ("bash", command, both),
    ] {
        let session = project("{name: One, phases: [{id: a}]}", "");
        session.write(".gitignore", "agent.sh\nat-work\ngo\n");
        session.write("agent.sh", agent(tool, input));
        let run = ["run", "main", "x", "--agent", "command:sh agent.sh"];
        let supervisor = session.spawn(&run);
        until("the worker is in its call", || session.has("at-work"));
        session.write("mine.txt", "mine\n");
        session.write("go", "");
        supervisor.wait().exits(0);
        told(&session, line);
    }
}

/// Its lines come while workers work, and would pass for theirs.
#[test]
fn needs_git_the_supervisors_own_output_is_not_a_workers_work() {
    // The worker writes there itself, so that the file changes at a time when it is known to be at work.
    let script = "a: [{shell: {command: 'echo x >> run.log'}}, {complete: {}}]";
    let session = Session::with("phases: [{id: a}]", script);
    let chronicle = env!("CARGO_BIN_EXE_chronicle");
    let run = format!("{chronicle} run main t --agent scripted:script.yaml > run.log");
    let said = session.shell(&run).exits(0);
    said.talks("Note: `run.log` has this command's own output");
    let log = session.chronicle(&["log"]).exits(0);
    log.prints("a1 changed no files; changed meanwhile, origin unknown: 1 file")
        .prints("`run.log`");
}
