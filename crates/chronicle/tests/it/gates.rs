//! What a person sees before they say yes: what would run, and what was changed.

use crate::session::Session;

const WORKFLOW: &str = "
name: Ship
phases:
  build: {approval: after, cleanup: [rm -f tmp], next: [test]}
  test: {run: command, commands: ['true'], next: [publish]}
  publish: {run: command, approval: before, commands: [echo shipped, 'true']}
";
const SCRIPT: &str = "
build:
  - write: {path: src/new.txt, text: \"one\\ntwo\\n\"}
  - complete: {summary: built}
";

#[test]
fn an_approval_shows_commands_files_and_how_much_changed() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(4);
    let run = session.short();
    let status = session.chronicle(&["status"]).exits(0);
    let status = status.prints("a yes runs: rm -f tmp").prints("a yes runs: true");
    let status = status.prints("changed: 1 file, +2").prints("A src/new.txt  +2 -0");
    status.prints(&format!("see: chronicle diff {run} --phase build"));
    let gate = &session.json(&["status"])["needs_you"][0];
    assert_eq!(gate["commands"], serde_json::json!(["rm -f tmp", "true"]));
    assert_eq!(gate["changes"]["list"][0]["path"], "src/new.txt");
    session.shell(&format!("chronicle diff {run} --phase build")).exits(0).prints("+one");
    let said = session.chronicle(&["approve"]).exits(0).prints("approved");
    said.talks("is `build` done?").talks("A src/new.txt  +2 -0");
    session.chronicle(&["resume"]).exits(4);
    let status = session.chronicle(&["status"]).exits(0).prints("may `publish` begin?");
    let status = status.prints("a yes runs: echo shipped").prints("changed: 1 file, +2");
    status.prints(&format!("see: chronicle diff {run}\n"));
}

#[test]
fn what_the_help_of_approve_shows_works_at_the_last_gate() {
    let workflow = "{name: Last, phases: {work: {approval: after, next: [done]}}}";
    let session = Session::with(workflow, "work: [{complete: {summary: x}}]");
    session.run().exits(4);
    session.chronicle(&["approve", "--help"]).exits(0).prints("chronicle approve 5f3a9c1e g2");
    let said = session.chronicle(&["approve", &session.short(), "g1"]).exits(0);
    said.prints("is done.");
}
