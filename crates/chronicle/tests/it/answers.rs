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

/// As users of The Chronicle have it: whatever the worker decides, a person is asked, and sees what it decided.
#[test]
fn a_verdict_is_shown_to_whoever_approves_and_the_run_is_paused_for_other_tools() {
    let session = Session::new();
    session.write(
        ".pi/chronicle/workflows/review.json",
        r#"{"name": "Review", "initial_state": "look", "states": {"look": {"agent": "looker", "requires_approval": true,
            "approval_mode": "post", "next": ["ship"]}, "ship": {"agent": "shipper", "next": []}}}"#,
    );
    session.write(".pi/agents/looker.md", "---\nname: looker\ntools: read\n---\nYou look.\n");
    session.write(".pi/agents/shipper.md", "---\nname: shipper\ntools: read\n---\nYou ship.\n");
    session.write(
        "script.yaml",
        "look:\n  - complete: {summary: \"It leaks.\\n\\n**Verdict:** BLOCK\"}\nship:\n  - complete: {summary: shipped}\n",
    );
    let run = ["run", "review", "t", "--agent", "scripted:script.yaml"];
    session.chronicle(&run).exits(4).prints("is `look` done? verdict: BLOCK");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(session.run_file("run.json")).unwrap()).unwrap();
    assert_eq!(json["status"], "paused");
    session.chronicle(&["approve", &session.short(), "g1"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}
