//! Waits that end by themselves: they are seen, survive their supervisor, and a person may cut them short.

use crate::session::{RUN, Session, until};

const WORKFLOW: &str = "{name: W, phases: {plan: {next: [build]}, build: {}}}";
/// Far away: nothing here waits for it.
const SCRIPT: &str = "
plan:
  - usage: {id: m1, input: 100}
  - quota: {until: '2999-01-01T00:00:00Z'}
  - crash: 1
  - complete: {summary: planned}
build:
  - complete: {summary: built}
";

fn waits(session: &Session) -> bool {
    let view = session.json(&["status"]);
    view["waits"].is_array() && view["supervised"] == true
}

#[test]
fn a_quota_survives_its_supervisor_and_is_cut_short() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn(RUN);
    until("it waits", || {
        !session.runs().is_empty() && session.ledger_lines() > 0 && waits(&session)
    });
    let view = session.json(&["status"]);
    assert_eq!(view["status"], "waiting");
    assert_eq!(view["waits"][0]["kind"], "quota", "{view}");
    assert_eq!(view["needs_you"].as_array().unwrap().len(), 0, "nobody is asked");
    session.chronicle(&["status"]).exits(0).prints("waits at `plan`: a new quota at ");
    let before = view["waits"][0]["until"].clone();

    supervisor.kill();
    let view = session.json(&["status"]);
    assert_eq!((&view["status"], &view["waits"][0]["until"]), (&"interrupted".into(), &before));
    let short = session.short();
    session.chronicle(&["status"]).exits(0).prints(&format!("Next: chronicle resume {short}"));

    // The newest that can go on is found without its name, and goes on waiting for the same.
    let supervisor = session.spawn(&["resume"]);
    until("it waits again", || waits(&session));
    assert_eq!(session.json(&["status"])["waits"][0]["until"], before);
    assert_eq!(session.events_of("attempt_started").len(), 1);
    session.chronicle(&["retry", &short]).exits(0);
    supervisor.wait().exits(0).talks("the wait at `plan` was cut short by ann");
    let whys: Vec<String> = session
        .events_of("attempt_started")
        .iter()
        .map(|event| event["data"]["why"]["is"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(whys, ["first", "waited", "first"]);
    assert_eq!(session.json(&["status"])["spent"]["tokens"], 100);
    session.assert_whole();
}

#[test]
fn a_wait_is_ended_while_nobody_drives_the_run() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn(RUN);
    until("it waits", || {
        !session.runs().is_empty() && session.ledger_lines() > 0 && waits(&session)
    });
    supervisor.kill();
    let short = session.short();
    session.chronicle(&["retry", &short]).exits(0).talks(&format!("chronicle resume {short}"));
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    session.assert_whole();
}

#[test]
fn a_run_that_waits_can_be_paused_and_cancelled() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn(RUN);
    until("it waits", || {
        !session.runs().is_empty() && session.ledger_lines() > 0 && waits(&session)
    });
    let short = session.short();
    session.chronicle(&["pause", &short]).exits(0);
    supervisor.wait();
    assert_eq!(session.json(&["status"])["status"], "paused");
    session.chronicle(&["cancel", &short, "enough"]).exits(0);
    let view = session.json(&["status"]);
    assert_eq!((&view["status"], view.get("waits")), (&"cancelled".into(), None), "{view}");
    session.assert_whole();
}
