//! What a person answers while nobody drives the run is done by the next `resume`, as it was said.

use crate::session::Session;

/// A run that waits at an approval after its only phase.
fn at_approval() -> Session {
    let workflow = "name: Gate\nphases:\n  work: {approval: after, next: [done]}\n";
    let session = Session::with(workflow, "work: [{complete: {summary: worked}}]");
    session.run().exits(4);
    session
}

#[test]
fn the_note_of_a_rejection_reaches_the_worker() {
    let session = at_approval();
    session.chronicle(&["reject", &session.short(), "g1", "the tests are missing"]).exits(0);
    session.chronicle(&["resume"]).exits(4);
    let started = session.events_of("attempt_started");
    assert_eq!(started.len(), 2, "the rejection's attempt, and none that is lost: {started:?}");
    assert_eq!(started[1]["data"]["why"]["is"], "rejected");
}

#[test]
fn what_a_person_answers_loses_no_attempt() {
    let session = at_approval();
    session.chronicle(&["retry", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(4);
    assert_eq!(session.events_of("attempt_started").len(), 2);
    assert_eq!(session.events_of("attempt_ended").len(), 2);
}

#[test]
fn a_phase_that_may_run_once_runs_after_its_approval() {
    let workflow = "name: Ship\nphases:\n  ship: {run: command, once: true, approval: before, commands: ['echo x >> shipped']}\n";
    let session = Session::with(workflow, "{}");
    session.run().exits(4);
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("shipped"), "x\n");
}

#[test]
fn what_to_type_next_is_not_refused() {
    let workflow = "name: Ask\nphases:\n  work: {next: [done, human_intervention]}\n";
    let session = Session::with(workflow, "work: [{transition: {to: human_intervention}}]");
    session.run().exits(4);
    let next = session.json(&["status"])["next"][0].as_str().unwrap().to_owned();
    let first = next.split("  (or:").next().unwrap();
    session.shell(&first.replace("PHASE", "work")).exits(0);
}
