//! Every command of a person to a run in every status: what it answers, what the ledger gets, where the run stands then,
//! and what `status` says to type next.
//!
//! One file per status below `tests/statuses`, to be read as a table. `UPDATE_EXPECT=1` writes them anew: read them, they must be
//! right. Each command meets the same run: the session's folder is put back after each one.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;

use crate::session::{RUN, Said, Session, Started, until};

/// What people may type about a run, without `chronicle`; `RUN` is its id.
const COMMANDS: &[&[&str]] = &[
    &["approve", "RUN"],
    &["reject", "RUN", "not like this"],
    &["answer", "RUN", "red"],
    &["retry", "RUN"],
    &["skip", "RUN"],
    &["go", "RUN", "work"],
    &["go", "RUN", "done"],
    &["go", "RUN", "--loops", "+1"],
    &["note", "RUN", "mind the tests"],
    &["title", "RUN", "second try"],
    &["budget", "RUN", "+1000 tokens"],
    &["pause", "RUN"],
    &["cancel", "RUN"],
    &["resume", "RUN"],
    &["undo", "RUN", "work", "--yes"],
    &["repair", "RUN"],
    &["audit", "RUN"],
];

/// A test per status.
macro_rules! statuses {
    ($($name:ident: $set_up:expr;)*) => {
        $(#[test] fn $name() { ($set_up)(stringify!($name)); })*
    };
}

statuses! {
    approval_before: |name| undriven(name, "work: {approval: before, next: [done]}", WORKS);
    approval_after: |name| undriven(name, "work: {approval: after, next: [done]}", WORKS);
    question: |name| undriven(name, "work: {next: [done]}", ASKS);
    gave_up: |name| undriven(name, "work: {limits: {nudges: 0, retries: 0}, next: [done]}", GIVES_UP);
    person_wanted: |name| undriven(name, "work: {next: [done, human_intervention]}", WANTS_A_PERSON);
    loop_used_up: |name| undriven(name, ROUND, NEVER_GOOD);
    budget_used_up: |name| undriven(name, "work: {budget: {tokens: 100}, next: [done]}", SPENDS);
    command_failed: |name| undriven(name, "work: {run: command, commands: ['test -e mended'], next: [done]}", "{}");
    done: |name| undriven(name, "work: {next: [done]}", WORKS);
    failed: |name| undriven(name, "work: {next: [done]}", FAILS);
    paused: |name| stopped(name, "pause");
    cancelled: |name| stopped(name, "cancel");
    interrupted: killed_at_work;
    command_in_doubt: killed_in_a_command;
    waits_for_quota: killed_while_it_waits;
    running: |name| driven(name, "work: {next: [done]}", HELD);
    question_at_work: |name| driven(name, "work: {next: [done]}", ASKS);
    permission_at_work: |name| driven(name, "work: {next: [done]}", NEEDS_LEAVE);
    permission_killed: killed_while_a_call_waits;
    ending: |name| driven(name, CLEANS_UP, HELD);
}

const WORKS: &str =
    "work: [{append: {path: log, text: \"worked\\n\"}}, {complete: {summary: worked}}]";
const ASKS: &str = "
work:
  - touch: {file: reached}
  - workflow_ask: {question: Which colour?, options: [red, blue]}
  - complete: {summary: painted}
";
const GIVES_UP: &str = "
work:
  1: [{append: {path: log, text: \"tried\\n\"}}, {say: I think that was it.}]
  2: [{complete: {summary: it works now}}]
";
const WANTS_A_PERSON: &str = "
work:
  1: [{transition: {to: human_intervention, summary: which database?}}]
  2: [{transition: {to: done, summary: with the right one}}]
";
const ROUND: &str = "work: {next: [check]}\n  check: {next: [done], on: {fail: work}}";
const NEVER_GOOD: &str = "
work: [{append: {path: log, text: \"built\\n\"}}, {complete: {summary: built}}]
check: [{complete: {summary: still broken, outcome: fail}}]
";
const SPENDS: &str = "
work:
  1: [{usage: {id: m1, input: 200}}, {wait_for: {file: more}}]
  2: [{complete: {summary: cheaply}}]
";
const FAILS: &str = "work: [{transition: {to: done, summary: it cannot be done, outcome: fail}}]";
const HELD: &str = "
work:
  - append: {path: log, text: \"begun\\n\"}
  - touch: {file: reached}
  - wait_for: {file: go}
  - complete: {summary: worked}
";
/// Its command needs a person's leave.
const NEEDS_LEAVE: &str = "
work:
  - touch: {file: reached}
  - shell: {command: \"cat risky >> log\"}
  - complete: {summary: worked}
";
/// A cancelled run is not over before its cleanup is.
const CLEANS_UP: &str =
    "work: {next: [done], cleanup: ['touch cleaning; while ! test -e clean; do sleep 0.01; done']}";

fn session(phases: &str, script: &str) -> Session {
    let workflow =
        format!("name: Main\nlimits: {{loop: {{count: edge, max: 1}}}}\nphases:\n  {phases}\n");
    let session = Session::with(&workflow, script);
    // The marks by which a worker and its test wait for each other: whose they are is chance, and none of the run's business.
    session.write(".gitignore", "reached\ngo\n");
    session.ask_about("risky");
    session.write("risky", "risky\n");
    session
}

fn undriven(name: &str, phases: &str, script: &str) {
    let session = session(phases, script);
    let ran = session.run();
    table(name, &session, &format!("chronicle run exits {}", ran.code.unwrap()));
}

/// A run that was told to stop while it worked, and has.
fn stopped(name: &str, command: &str) {
    let session = session("work: {next: [done]}", HELD);
    let supervisor = at_work(&session, RUN);
    session.chronicle(&[command, &session.short()]).exits(0);
    let ran = supervisor.wait();
    session.write("go", "");
    table(name, &session, &format!("chronicle run exits {}", ran.code.unwrap()));
}

fn killed_at_work(name: &str) {
    let session = session("work: {next: [done]}", HELD);
    at_work(&session, RUN).kill();
    session.write("go", "");
    table(name, &session, "the supervisor was killed");
}

fn killed_in_a_command(name: &str) {
    let commands = "['echo x >> log', 'touch reached; while ! test -e go; do sleep 0.01; done']";
    let session =
        session(&format!("work: {{run: command, once: true, commands: {commands}}}"), "{}");
    at_work(&session, RUN).kill();
    let ran = session.chronicle(&["resume"]);
    session.write("go", "");
    table(
        name,
        &session,
        &format!("the supervisor was killed, chronicle resume exits {}", ran.code.unwrap()),
    );
}

fn killed_while_it_waits(name: &str) {
    let script = "work: [{quota: {in_ms: 360000000}}, {crash: 1}, {complete: {summary: at last}}]";
    let session = session("work: {next: [done]}", script);
    let supervisor = session.spawn_run();
    let waits = |status: &Said| status.code == Some(0) && status.json()["waits"][0].is_object();
    until("it waits", || waits(&session.chronicle(&["status", "--json"])));
    supervisor.kill();
    table(name, &session, "the supervisor was killed");
}

fn killed_while_a_call_waits(name: &str) {
    let session = session("work: {next: [done]}", NEEDS_LEAVE);
    let supervisor = at_work(&session, &[RUN, &["--wait"]].concat());
    until("it is asked", || session.json(&["status"])["status"] == "waiting");
    supervisor.kill();
    assert!(!session.has("log"), "nobody has given leave");
    table(name, &session, "the supervisor was killed while a call waited for leave");
}

/// Starts a run, and waits until its worker waits for the test.
fn at_work(session: &Session, args: &[&str]) -> Started {
    let supervisor = session.spawn(args);
    until("the worker works", || session.has("reached") && session.ledger_lines() >= 3);
    supervisor
}

/// Gives every command to the same run, which nobody drives, and compares what came of it with the file.
fn table(name: &str, session: &Session, how: &str) {
    let kept = session.keep();
    let mut text = heading(session, how);
    for command in COMMANDS {
        let before = session.events_with_actor().len();
        if command[0] == "resume" && name == "waits_for_quota" {
            // It waits for days: what it says until then is what counts.
            let resumed = session.spawn(&typed(session, command));
            until("it waits", || session.json(&["status"])["supervised"] == true);
            let driven = cell(session, command, &Said { code: Some(0), ..Said::default() }, before);
            text.push_str(&driven.replace("exit 0", "still waits"));
            resumed.kill();
        } else {
            let said = session.chronicle(&typed(session, command));
            text.push_str(&cell(session, command, &said, before));
        }
        session.assert_nothing_lives();
        session.restore(&kept);
    }
    compare(name, &text);
}

/// Gives every command to a run of its own, which a supervisor drives.
fn driven(name: &str, phases: &str, script: &str) {
    let mut text = String::new();
    for command in COMMANDS {
        let session = session(phases, script);
        let mut supervisor = at_work(&session, &[RUN, &["--wait"]].concat());
        if name == "ending" {
            session.chronicle(&["cancel", &session.short()]).exits(0);
            until("it is cleaned up", || session.has("cleaning"));
        }
        if name == "question_at_work" || name == "permission_at_work" {
            until("it is asked", || session.json(&["status"])["status"] == "waiting");
        }
        if text.is_empty() {
            text = heading(&session, "a supervisor lives");
        }
        let before = session.events_with_actor().len();
        let said = session.chronicle(&typed(&session, command));
        if said.code == Some(0) && leads_to_an_end(command) {
            until("the supervisor ends", || supervisor.has_ended());
        }
        text.push_str(&cell(&session, command, &said, before));
        supervisor.kill();
    }
    compare(name, &text);
}

/// Whether a supervisor has nothing left to do once it was accepted.
fn leads_to_an_end(command: &[&str]) -> bool {
    matches!(
        command,
        ["pause" | "cancel" | "answer" | "approve" | "reject", ..] | ["go", _, "done"]
    )
}

fn typed<'a>(session: &Session, command: &[&'a str]) -> Vec<&'a str> {
    let run: &'static str = Box::leak(session.short().into_boxed_str());
    command.iter().map(|word| if *word == "RUN" { run } else { word }).collect()
}

fn heading(session: &Session, how: &str) -> String {
    let view = session.json(&["status"]);
    let next = view["next"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut text = format!("status: {} ({how})\n", view["status"].as_str().unwrap());
    for line in next {
        writeln!(text, "next:   {}", session.redact(line)).unwrap();
    }
    text
}

/// A command, how it ended, what it said, what a person's word left in the ledger, where the run stands then, and
/// what is next.
fn cell(session: &Session, command: &[&str], said: &Said, before: usize) -> String {
    let line = command.join(" ").replace("RUN", "<run>");
    let mut text = format!("\n$ chronicle {line}\n");
    let told = format!("{}{}", said.stdout, said.stderr);
    let told =
        if command[0] == "audit" || command[0] == "resume" { first_line(&told) } else { told };
    // Said only if the supervisor takes a moment to leave, which depends on the machine.
    let is_said = |line: &&str| !line.trim().is_empty() && !line.starts_with("Waiting at most ");
    for line in session.redact(&told).lines().filter(is_said) {
        writeln!(text, "    {}", line.trim_end()).unwrap();
    }
    let status = session.json(&["status"]);
    let events = session.events_with_actor();
    let words: Vec<&str> = events[before..]
        .iter()
        .filter(|(actor, _)| actor == "person")
        .map(|(_, kind)| kind.as_str())
        .collect();
    let words = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
    let (code, standing) = (said.code.unwrap(), status["status"].as_str().unwrap());
    writeln!(text, "  exit {code}; ledger: {words}; then {standing}").unwrap();
    for next in status["next"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        writeln!(text, "  next: {}", session.redact(next)).unwrap();
    }
    text
}

/// What follows is about the whole run, and tested elsewhere.
fn first_line(told: &str) -> String {
    let line = told.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // On which machine is not the same everywhere, and how many lines a killed supervisor wrote is chance.
    let line = line.split(" on `").next().unwrap_or_default();
    line.split(": ").next().filter(|it| it.ends_with("chain whole")).unwrap_or(line).to_owned()
}

fn compare(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/statuses/{name}.txt"));
    expect_file![file].assert_eq(text);
}
