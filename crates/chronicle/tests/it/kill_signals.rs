//! What a terminal sends: once pauses, twice stops at once, and `chronicle resume` goes on in every case.

use rustix::process::Signal;

use crate::session::{Session, Started, of_run, until};

const WORKFLOW: &str = "
name: Signals
phases:
  work: {next: [done]}
";
const POLITE: &str = r#"
work:
  - append: {path: log, text: "1\n"}
  - touch: {file: reached}
  - wait_for: {file: go}
  - append: {path: log, text: "2\n"}
  - complete: {summary: worked}
"#;
const STUBBORN: &str = r#"
work:
  - append: {path: log, text: "1\n"}
  - ignore_term
  - stray: {ignore_term: true, setsid: true, pid: stray}
  - touch: {file: reached}
  - hang
"#;

fn working(script: &str) -> (Session, Started) {
    let session = Session::with(WORKFLOW, script);
    let supervisor = session.spawn_run();
    until("the agent works", || session.has("reached"));
    (session, supervisor)
}

/// Resumed with a script that comes to its end.
fn goes_on(session: &Session) {
    session.write("script.yaml", POLITE);
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "done");
    session.assert_whole();
}

#[test]
fn the_first_pauses() {
    for (signal, why) in [
        (Signal::INT, "interrupted from the keyboard"),
        (Signal::TERM, "its supervisor was told to stop (SIGTERM)"),
        (Signal::HUP, "its terminal was closed"),
    ] {
        let (session, supervisor) = working(POLITE);
        supervisor.signal(signal);
        let run = session.short();
        let said = supervisor.wait().exits(130);
        let said = said.talks("Pausing: the worker is being stopped. Ctrl-C again stops at once.");
        let said = said.talks(&format!("paused: {why}")).talks("a1 was stopped");
        said.prints(&format!("Next: chronicle resume {run}"));
        let view = session.json(&["status"]);
        assert_eq!((&view["status"], &view["supervised"]), (&"paused".into(), &false.into()));
        session.assert_whole();
        goes_on(&session);
        assert_eq!(session.read("log"), "1\n2\n");
        assert_eq!(session.events_of("attempt_started")[1]["data"]["why"]["is"], "paused");
    }
}

#[test]
fn the_first_ends_an_agent_that_ignores_it() {
    let (session, supervisor) = working(STUBBORN);
    supervisor.signal(Signal::INT);
    supervisor.wait().exits(130);
    session.assert_whole();
    goes_on(&session);
}

#[test]
fn the_second_stops_at_once() {
    for signal in [Signal::INT, Signal::TERM] {
        let (session, supervisor) = working(STUBBORN);
        let run = session.run_id();
        supervisor.signal(signal);
        until("the first signal was heard", || supervisor.talk().contains("Pausing"));
        supervisor.signal(signal);
        supervisor.wait().exits(130);
        // Nobody waits for the keeper now; it ends all that it kept, by force if it must.
        until("nothing of the run lives", || of_run(&run).is_empty());
        goes_on(&session);
    }
}

#[test]
fn while_a_command_runs() {
    let workflow = "
name: Commands
phases:
  work:
    run: command
    commands:
      - echo one >> log; touch reached; until test -f go; do sleep 0.01; done
      - echo two >> log
";
    let session = Session::with(workflow, "{}");
    let supervisor = session.spawn_run();
    until("the command runs", || session.has("reached"));
    supervisor.signal(Signal::INT);
    supervisor.wait().exits(130);
    session.assert_whole();
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("log"), "one\none\ntwo\n");
    session.assert_whole();
}

#[test]
fn a_paused_run_can_be_sent_elsewhere_or_cancelled() {
    let (session, supervisor) = working(POLITE);
    supervisor.signal(Signal::INT);
    supervisor.wait().exits(130);
    let run = session.short();
    session.chronicle(&["approve", &run]).exits(2).talks("nothing is being asked");
    session.chronicle(&["go", &run, "done", "--note", "good enough"]).exits(0);
    session.chronicle(&["resume", &run]).exits(0).prints("done");
    session.assert_whole();

    let (session, supervisor) = working(POLITE);
    supervisor.signal(Signal::INT);
    supervisor.wait().exits(130);
    session.chronicle(&["cancel", &session.short(), "not wanted any more"]).exits(0);
    session.chronicle(&["status"]).exits(0).prints("cancelled: not wanted any more");
    session.chronicle(&["resume", &session.short()]).exits(2).talks("is over: cancelled");
    session.assert_whole();
}

#[test]
fn whoever_waits_for_a_stopped_supervisor_is_told_so() {
    let session = Session::with(
        "{name: Long, phases: {work: {next: [done]}}}",
        "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {summary: worked}}]",
    );
    let supervisor = session.spawn_run();
    until("the worker works", || session.has("reached"));
    supervisor.signal(Signal::STOP);
    let cancel = session.spawn(&["cancel"]);
    until("it says what it waits for", || {
        let said = cancel.talk();
        said.contains("Waiting at most 30 seconds")
            && said.contains("which is stopped; `kill -CONT ")
    });
    supervisor.signal(Signal::CONT);
    cancel.wait().exits(0);
    supervisor.wait();
}

#[test]
fn a_run_whose_folder_is_removed_says_so() {
    let session = Session::with(
        "{name: Long, phases: {work: {next: [done]}}}",
        "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {summary: worked}}]",
    );
    let supervisor = session.spawn_run();
    until("the worker works", || session.has("reached"));
    std::fs::remove_dir_all(session.path(".chronicle")).unwrap();
    session.write("go", "");
    supervisor.wait().exits(6).talks("the run's folder is gone");
}

#[test]
fn a_run_whose_ledger_is_removed_says_so_and_what_to_do() {
    let session = Session::with(
        "{name: Long, phases: {work: {next: [done]}}}",
        "work: [{touch: {file: reached}}, {wait_for: {file: go}}, {complete: {summary: worked}}]",
    );
    let supervisor = session.spawn_run();
    until("the worker works", || session.has("reached"));
    std::fs::remove_file(session.run_file("ledger.jsonl")).unwrap();
    session.write("go", "");
    let said = supervisor.wait().exits(6).talks("was removed while the run was being driven");
    said.talks("Hint: put the file back from a copy, then `chronicle resume`");
}

/// It waits as long as a supervisor may take to answer, which is thirty seconds.
#[test]
#[cfg(target_os = "linux")]
fn a_command_that_a_stopped_supervisor_did_not_answer_says_what_helps() {
    let (session, supervisor) = working(POLITE);
    let pid = supervisor.pid();
    supervisor.signal(Signal::STOP);
    until("it is stopped", || session.json(&["status"])["stopped"] == pid);
    let said = session.chronicle(&["pause"]).exits(5).talks("a signal has stopped");
    let said = said.talks(&format!("Hint: `kill -CONT {pid}` lets it continue"));
    assert!(!said.stderr.contains("Ctrl-C"), "{}", said.stderr);
    supervisor.signal(Signal::CONT);
    session.write("go", "");
    supervisor.wait();
}

/// It does nothing and answers nobody, which is told, with what lets it go on.
#[test]
#[cfg(target_os = "linux")]
fn a_supervisor_that_a_signal_stopped_is_told() {
    let (session, supervisor) = working(POLITE);
    let (run, pid) = (session.short(), supervisor.pid());
    assert_eq!(session.json(&["status"])["stopped"], serde_json::Value::Null);
    supervisor.signal(Signal::STOP);
    until("it is stopped", || session.json(&["status"])["stopped"] == pid);
    let next = format!("kill -CONT {pid}");
    let view = session.json(&["status"]);
    assert_eq!(view["next"][0], next.as_str());
    let said = session.chronicle(&["status"]).exits(0).prints("supervisor stopped:");
    said.prints(&format!("process {pid} was stopped by a signal and answers nobody"));
    assert_eq!(session.json(&["status"])["active_ms"], view["active_ms"], "no time passes");
    session.chronicle(&["runs"]).exits(0).prints("(its supervisor is stopped)");
    assert_eq!(session.json(&["runs"])["runs"][0]["stopped"], pid);
    for args in [&["resume"][..], &["resume", &run]] {
        session.chronicle(args).exits(5).talks(&format!("`{next}` lets it continue"));
    }
    supervisor.signal(Signal::CONT);
    session.write("go", "");
    supervisor.wait().exits(0);
    session.assert_whole();
}
