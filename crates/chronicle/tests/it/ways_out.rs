//! Ways through a workflow that no file, loop or answer may take by itself.

use crate::session::Session;

#[test]
fn what_may_run_only_once_is_asked_about_when_the_run_comes_back_to_it() {
    let workflow = "
name: Pay
phases:
  pay: {run: command, commands: ['echo x >> paid'], once: true, next: [check]}
  check: {run: command, commands: ['test -e good'], next: [done], on: {fail: pay}}
";
    let session = Session::with(workflow, "{}");
    let question = "`pay` may run only once, and it ran before: `skip` goes on without it, `retry` runs it again";
    session.run().exits(4).prints(question);
    assert_eq!(session.read("paid"), "x\n");
    session.write("good", "");
    session.chronicle(&["skip", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("paid"), "x\n", "it was skipped");
    session.assert_whole();
}

#[test]
fn going_back_to_a_once_phase_asks_before_it_runs_again() {
    let workflow = "
name: Pay
phases:
  pay: {run: command, commands: ['echo x >> paid'], once: true, next: [look]}
  look: {run: human, next: [done]}
";
    let session = Session::with(workflow, "{}");
    session.run().exits(4);
    session.chronicle(&["go", &session.short(), "pay"]).exits(0);
    session.chronicle(&["resume"]).exits(4);
    assert_eq!(session.read("paid"), "x\n");
    session.chronicle(&["retry", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(4);
    assert_eq!(session.read("paid"), "x\nx\n");
}

#[test]
fn another_try_after_a_refused_beginning_asks_again() {
    let workflow = "{name: Gate, phases: {work: {approval: before, next: [done]}}}";
    let session = Session::with(workflow, "work: [{complete: {summary: worked}}]");
    session.run().exits(4);
    let run = session.short();
    session.chronicle(&["reject", &run, "not today"]).exits(0);
    let asked = session.chronicle(&["retry", &run, "--note", "slowly"]).exits(0);
    asked.prints("`work` asks again whether it may begin");
    session.chronicle(&["resume"]).exits(4).talks("may `work` begin?");
    assert_eq!(session.events_of("attempt_started").len(), 0);
    session.chronicle(&["approve", &run]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    let handover = session.chronicle(&["handover", &run, "a1"]).exits(0);
    handover.prints("slowly");
}

#[test]
fn an_outcome_with_a_way_of_its_own_is_not_led_elsewhere_by_a_target() {
    let workflow = "{name: Two, phases: {a: {next: [done], on: {fail: b}}, b: {next: [done]}}}";
    let script = "
a: [{transition: {to: done, outcome: fail, summary: broken}}, {complete: {outcome: fail, summary: broken}}]
b: [{complete: {summary: mended}}]
";
    let session = Session::with(workflow, script);
    let said = session.run().exits(0);
    said.talks(
        "`fail` leads from `a` to `b`, not to `done`: leave out the target, or say another outcome",
    );
    assert_eq!(session.path_of_phases(), ["a", "b"]);
}

#[test]
fn unverified_work_goes_back_before_it_takes_its_own_way() {
    let workflow = "
name: Verified
phases:
  a: {limits: {retries: 2}, verify: ['echo v >> log; false'], next: [done], on: {unverified: b}}
  b: {next: [done]}
";
    let script = "a: [{complete: {summary: worked}}]\nb: [{complete: {summary: mended}}]";
    let session = Session::with(workflow, script);
    session.run().exits(0);
    assert_eq!(session.read("log"), "v\nv\nv\n");
    assert_eq!(session.path_of_phases(), ["a", "b"]);
}

#[test]
fn no_edge_of_a_failure_leads_past_the_verification_of_the_workflow() {
    for outcome in ["crash", "timeout", "stuck", "fail", "rejected", "unverified"] {
        let approval = if outcome == "rejected" { "approval: before, " } else { "" };
        let verify = if outcome == "unverified" { "verify: ['true'], " } else { "" };
        let workflow = format!(
            "name: V\nverify: ['true']\nphases: {{a: {{{approval}{verify}next: [done], on: {{{outcome}: done}}}}}}\n"
        );
        let session = Session::with(&workflow, "{}");
        let said = session.run().exits(3);
        said.talks(&format!("`{outcome}` leads to `done` past the workflow's `verify`"));
    }
}
