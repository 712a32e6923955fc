//! Agents that take over from others: through kills, and told before, while and after it happens.

use crate::session::{Session, until};

const WORKFLOW: &str =
    "{name: W, phases: {plan: {fallback: ['scripted:second.yaml'], next: [build]}, build: {}}}";
/// Works a little, and is signed out.
const FIRST: &str = r#"
plan:
  - append: {path: log, text: "first\n"}
  - usage: {id: m1, input: 100}
  - error: {class: auth, text: "please sign in"}
  - crash: 1
build:
  - complete: {summary: built}
"#;
/// Stops in the middle, until the file `go` is there.
const SECOND: &str = r#"
plan:
  - append: {path: log, text: "second 1\n"}
  - usage: {id: m2, input: 10}
  - touch: {file: reached}
  - wait_for: {file: go}
  - append: {path: log, text: "second 2\n"}
  - complete: {summary: planned}
"#;

fn session() -> Session {
    let session = Session::with(WORKFLOW, FIRST);
    session.write("second.yaml", SECOND);
    session
}

#[test]
fn a_fallback_agent_continues_after_a_kill() {
    let session = session();
    let supervisor = session.spawn_run();
    until("the second agent is in the middle", || session.has("reached"));
    session
        .chronicle(&["status"])
        .exits(0)
        .prints("fallback at `plan`: `scripted:second.yaml` instead of `scripted:script.yaml`, which is not signed in");
    supervisor.kill();
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    let started = session.events_of("attempt_started");
    let seen: Vec<(&str, &str)> = started
        .iter()
        .map(|it| {
            (it["data"]["agent"].as_str().unwrap(), it["data"]["why"]["is"].as_str().unwrap())
        })
        .collect();
    let (first, second) = ("scripted:script.yaml", "scripted:second.yaml");
    assert_eq!(seen, [(first, "first"), (second, "fallback"), (second, "lost"), (first, "first")]);
    // No agent resumes another's session, and whoever was lost goes on in its own.
    let sessions: Vec<&str> =
        started.iter().map(|it| it["data"]["session"].as_str().unwrap()).collect();
    assert!(sessions[0] != sessions[1] && sessions[1] == sessions[2], "{sessions:?}");
    assert_eq!(session.read("log"), "first\nsecond 1\nsecond 2\n");
    let view = session.json(&["status"]);
    assert_eq!(
        (&view["status"], &view["spent"]["tokens"]),
        (&"done".into(), &110.into()),
        "{view}"
    );
    assert_eq!(session.events_of("fell_back").len(), 1);
    session.assert_whole();
    session.chronicle(&["audit", "--replay"]).exits(0);
}

#[test]
fn fallback_agents_are_shown_beforehand_and_must_be_known() {
    let session = session();
    let dry = ["run", "main", "t", "--dry-run", "--agent", "scripted:script.yaml"];
    session.chronicle(&dry).exits(0).prints("fallback  scripted:second.yaml");
    session.write(
        ".chronicle/workflows/main.yaml",
        "phases: [{id: plan, agent: 'scripted:script.yaml', fallback: [cluade]}]\n",
    );
    let told = session.chronicle(&["check"]).exits(3);
    assert!(told.stdout.contains("main.yaml:1:52"), "{}", told.stdout);
    told.prints("unknown-agent").prints("did you mean `claude`?");
    session.chronicle(&["run", "main", "t"]).exits(2).talks("agent `cluade` is not known");
    session.write(
        ".chronicle/workflows/main.yaml",
        "phases: [{id: plan, agent: 'scripted:script.yaml', fallback: ['pi:small']}]\n",
    );
    session.chronicle(&["check"]).exits(0);
    let mut start = session.command(env!("CARGO_BIN_EXE_chronicle"));
    start.args(["run", "main", "t"]).env("PATH", "/usr/bin:/bin");
    session.start(start, "").wait().exits(2).talks("agent `pi` is not installed");
    assert!(session.runs().is_empty());
}

#[test]
fn a_trial_costs_nothing() {
    let session = Session::with(
        "{name: W, phases: {plan: {fallback: ['claude:haiku', pi]}}}",
        "plan:\n  - error: {class: auth, text: no}\n  - crash: 1\n",
    );
    session.run().exits(4).talks("Agents of `fallback` are left out").talks("is not signed in");
    assert!(session.events_of("fell_back").is_empty());
}

/// An agent that only works when another cannot is seen before that.
#[test]
fn fallback_agents_are_shown_before_they_are_needed() {
    let workflow = "{name: F, phases: {work: {agent: 'command:true', fallback: ['command:no-such-program'], next: [done]}}}";
    let session = Session::with(workflow, "{}");
    session.chronicle(&["graph", "main"]).exits(0).prints("else command:no-such-program");
    let doctor = session.chronicle(&["doctor"]);
    let row = doctor.stdout.lines().find(|line| line.contains("fallbacks")).unwrap().to_owned();
    assert!(row.contains('✗') && row.contains("command:no-such-program, not installed"), "{row}");
}
