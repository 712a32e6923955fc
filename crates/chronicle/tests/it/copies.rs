//! A copied project is another one: what is done to the copy ends nothing of the original.

use std::path::{Path, PathBuf};

use crate::session::{Said, Session, Started, agents, until};

const WORKFLOW: &str = "{name: One, phases: {work: {next: [done]}}}";
/// Stops in the middle, until the file `go` is there.
const SCRIPT: &str = "
work:
  - touch: {file: reached}
  - wait_for: {file: go}
  - transition: {to: done, summary: worked}
";

/// A run whose agent is at work, and a copy of the whole project beside it.
fn copied() -> (Session, Started, PathBuf) {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn_run();
    until("the agent is at work", || session.has("reached"));
    let copy = session.project().with_file_name("copy");
    let (from, to) = (session.project(), copy.display());
    session.shell(&format!("cp -r {} {to}", from.display())).exits(0);
    (session, supervisor, copy)
}

fn chronicle_in(session: &Session, folder: &Path, args: &[&str]) -> Said {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.current_dir(folder).args(args);
    session.start(command, "").wait()
}

/// The original's agent lived on, and comes to its end.
fn assert_unharmed(session: &Session, supervisor: Started, agent: &[u32]) {
    let now = agents(&session.run_id());
    assert!(agent.iter().all(|pid| now.contains(pid)), "{agent:?} of {now:?}");
    session.write("go", "");
    supervisor.wait().exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    assert_eq!(session.events_of("attempt_started").len(), 1);
    session.assert_whole();
}

#[test]
fn giving_up_the_copy_leaves_the_original_alone_and_says_so() {
    let (session, supervisor, copy) = copied();
    let (run, agent) = (session.short(), agents(&session.run_id()));
    assert_eq!(agent.len(), 1);
    let said = chronicle_in(&session, &copy, &["cancel", &run]).exits(0);
    let said =
        said.talks("processes of this run are not this folder's").talks(&agent[0].to_string());
    assert!(said.stdout.contains("cancelled"), "{}", said.stdout);
    let of_copy = chronicle_in(&session, &copy, &["status", "--json"]).exits(0).json();
    assert_eq!(of_copy["status"], "cancelled");
    assert_unharmed(&session, supervisor, &agent);
}

#[test]
fn the_copy_goes_on_by_itself_and_the_original_too() {
    let (session, supervisor, copy) = copied();
    let (run, agent) = (session.short(), agents(&session.run_id()));
    chronicle_in(&session, &copy, &["pause", &run]).exits(0);
    std::fs::write(copy.join("go"), "").unwrap();
    let said = chronicle_in(&session, &copy, &["resume", &run]).exits(0);
    said.talks("They are left alone");
    let of_copy = chronicle_in(&session, &copy, &["status", "--json"]).exits(0).json();
    assert_eq!(of_copy["status"], "done");
    assert_unharmed(&session, supervisor, &agent);
}

/// Not even what a killed supervisor left in the original is the copy's to end: that is found by the original itself.
#[test]
fn what_the_original_left_is_found_by_the_original_alone() {
    let (session, supervisor, copy) = copied();
    supervisor.kill();
    std::fs::write(copy.join("go"), "").unwrap();
    chronicle_in(&session, &copy, &["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "interrupted");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    session.assert_whole();
}
