//! Twelve steps on four slots with real folders and real merges: a question, a crash, a conflict, another plan and a budget that is
//! raised, with and without kills in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::session::{Session, Started, until};

const WORKFLOW: &str = "name: Main
budget: {tokens: 1000}
phases:
  - {id: plan, persona: pathseeker, produces: steps, instructions: plan it}
  - {id: build, run: pool, slots: 4, merge: in_order, persona: codeweaver, instructions: do it}
  - {id: check, run: command, commands: ['cat base one two three left right join four five seven eight nine > all']}
";

/// `base`, `left`, `right` and `join` are a diamond. The worker of `base` has the steps behind it planned again. Who waits for `go` is
/// let go on by the test.
const SCRIPT: &str = "
plan:
  - signal:
      tool: workflow_plan
      arguments:
        steps:
          - {id: base}
          - {id: one}
          - {id: two}
          - {id: three}
          - {id: left, depends_on: [base]}
          - {id: right, depends_on: [base]}
          - {id: join, depends_on: [left, right]}
          - {id: four, depends_on: [base]}
          - {id: five, depends_on: [base]}
          - {id: six, depends_on: [base]}
  - complete: {summary: planned}
build/base/work:
  - wait_for: {file: go}
  - followup: {persona: pathseeker, reason: there is more, resume: true}
  - edit: {path: lines.txt, find: two, replace: TWO}
  - write: {path: base, text: base}
  - complete: {summary: made}
build/base/work@pathseeker:
  - signal:
      tool: workflow_plan
      arguments:
        version: 1
        steps:
          - {id: left, depends_on: [base]}
          - {id: right, depends_on: [base]}
          - {id: join, depends_on: [left, right]}
          - {id: four, depends_on: [base]}
          - {id: five, depends_on: [base]}
          - {id: seven, depends_on: [base]}
          - {id: eight, depends_on: [base]}
          - {id: nine, depends_on: [join]}
  - complete: {summary: planned again}
build/one/work:
  1: [{wait_for: {file: go}}, {need: {question: which?, options: [x, y]}}]
  otherwise: [{write: {path: one, text: one}}, {complete: {summary: made}}]
build/two/work:
  1: [{wait_for: {file: go}}, {error: {class: other, text: it broke}}, {crash: 3}]
  otherwise: [{write: {path: two, text: two}}, {complete: {summary: made}}]
build/three/work:
  - wait_for: {file: go}
  - edit: {path: lines.txt, find: two, replace: '2'}
  - write: {path: three, text: three}
  - complete: {summary: made}
build/left/work:
  - usage: {input: 600, output: 0, usd: 0.001}
  - wait_for: {file: go}
  - shell: {command: 'cp base left'}
  - complete: {summary: made}
build/right/work:
  - usage: {input: 600, output: 0, usd: 0.001}
  - shell: {command: 'cp base right'}
  - complete: {summary: made}
build/join/work: [{shell: {command: 'cat left right > join'}}, {complete: {summary: made}}]
build/four/work: [{write: {path: four, text: four}}, {complete: {summary: made}}]
build/five/work: [{write: {path: five, text: five}}, {complete: {summary: made}}]
build/seven/work: [{write: {path: seven, text: seven}}, {complete: {summary: made}}]
build/eight/work: [{write: {path: eight, text: eight}}, {complete: {summary: made}}]
build/nine/work:
  - wait_for: {file: go}
  - shell: {command: 'cp join nine'}
  - complete: {summary: made}
";

/// Steps whose workers wait to be let go on, in the order in which the test comes to them.
const FIRST: [&str; 4] = ["build/base", "build/one", "build/two", "build/three"];

fn project() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("lines.txt", "one\ntwo\nthree\n");
    session.write(".gitignore", "script.yaml\ngo\n");
    let made = "git init -q && git config user.email a@example.org && git config user.name a && \
                git add -A && git commit -qm first";
    session.shell(made).exits(0);
    session
}

/// The work folder of each step that has one.
fn folders(session: &Session) -> BTreeMap<String, PathBuf> {
    let view = session.json(&["status"]);
    let rows = view["folders"].as_array().cloned().unwrap_or_default();
    let rows = rows.iter().filter_map(|row| Some((row["place"].as_str()?, row["path"].as_str()?)));
    rows.map(|(place, path)| (place.to_owned(), PathBuf::from(path))).collect()
}

/// Steps with an attempt that lives and has opened its session.
fn working(session: &Session) -> BTreeSet<String> {
    let events = if session.ledger_lines() > 0 { session.events() } else { Vec::new() };
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let mut working: BTreeMap<String, String> = BTreeMap::new();
    for event in &events {
        let (data, attempt) = (&event["data"], event["data"]["attempt"].to_string());
        match event["kind"].as_str().unwrap() {
            "attempt_started" => {
                drop(places.insert(attempt, data["place"].as_str().unwrap().to_owned()));
            }
            "session_opened" => {
                let place = places[&attempt].clone();
                working.insert(attempt, place);
            }
            "attempt_ended" => drop(working.remove(&attempt)),
            _ => {}
        }
    }
    working.into_values().map(|place| place.trim_end_matches("/work").to_owned()).collect()
}

/// What a person says at each gate that is open. Returns whether there was one.
fn answer_all(session: &Session) -> bool {
    let (view, run) = (session.json(&["status"]), session.short());
    let gates = view["needs_you"].as_array().cloned().unwrap_or_default();
    for gate in &gates {
        let id = gate["gate"].as_str().unwrap();
        match gate["kind"].as_str().unwrap() {
            "question" => drop(session.chronicle(&["answer", &run, id, "x"]).exits(0)),
            "budget" => drop(session.chronicle(&["budget", &run, "+5000", "tokens"]).exits(0)),
            "conflict" => {
                let marked = folders(session)["build/three"].join("lines.txt");
                let text = fs::read_to_string(&marked).unwrap();
                assert!(
                    text.contains("<<<<<<< ours") && text.contains("TWO\n=======\n2\n"),
                    "{text}"
                );
                fs::write(marked, "one\nTWO and 2\nthree\n").unwrap();
                session.chronicle(&["answer", &run, id, "resolved"]).exits(0);
            }
            other => panic!("nobody expected a gate `{other}`: {gate}"),
        }
    }
    !gates.is_empty()
}

/// A supervisor, started again whenever it leaves because a person is needed, until these steps wait to be let go on.
fn until_they_wait(session: &Session, supervisor: Started, steps: &[&str]) -> Started {
    let mut supervisor = supervisor;
    until("the steps work", || {
        let working = working(session);
        if steps.iter().all(|step| working.contains(*step)) {
            return true;
        }
        if supervisor.has_ended() {
            assert!(answer_all(session), "it ended, and nobody is asked: {}", supervisor.talk());
            supervisor = session.spawn(&["resume"]);
        }
        false
    });
    supervisor
}

fn let_go(session: &Session, steps: &[&str]) {
    let folders = folders(session);
    for step in steps {
        fs::write(folders[*step].join("go"), "").unwrap();
    }
}

/// Plays it all. With kills the supervisor dies each time that somebody waits.
fn play(kills: bool) -> Session {
    let session = project();
    let mut supervisor = session.spawn_run();
    for steps in [&FIRST[..], &["build/left"], &["build/nine"]] {
        supervisor = until_they_wait(&session, supervisor, steps);
        if kills {
            supervisor.kill();
            supervisor = until_they_wait(&session, session.spawn(&["resume"]), steps);
        }
        let_go(&session, steps);
    }
    until("the run is done", || {
        if !supervisor.has_ended() {
            return false;
        }
        let is_done = session.json(&["status"])["status"] == json!("done");
        if !is_done {
            assert!(answer_all(&session), "it ended, and nobody is asked: {}", supervisor.talk());
            supervisor = session.spawn(&["resume"]);
        }
        is_done
    });
    supervisor.wait().exits(0);
    session
}

/// How many attempts worked at the same time at most.
fn most_at_once(events: &[Value]) -> usize {
    let (mut working, mut most) = (BTreeSet::new(), 0);
    for event in events {
        let attempt = event["data"]["attempt"].to_string();
        match event["kind"].as_str().unwrap() {
            "session_opened" => drop(working.insert(attempt)),
            "attempt_ended" => drop(working.remove(&attempt)),
            _ => {}
        }
        most = most.max(working.len());
    }
    most
}

/// The steps in the order in which their work came into the project.
fn merged(events: &[Value]) -> Vec<String> {
    let mut steps: BTreeMap<u64, String> = BTreeMap::new();
    let mut merged = Vec::new();
    for event in events {
        let data = &event["data"];
        match event["kind"].as_str().unwrap() {
            "merge_began" => {
                let step = data["step"].as_str().unwrap().to_owned();
                steps.insert(data["folder"].as_u64().unwrap(), step);
            }
            "merge_written" if data["into"]["is"] == "project" => {
                merged.push(steps[&data["folder"].as_u64().unwrap()].clone());
            }
            _ => {}
        }
    }
    merged
}

#[track_caller]
fn is_whole(session: &Session) {
    assert_eq!(session.read("lines.txt"), "one\nTWO and 2\nthree\n");
    assert_eq!(session.read("all"), "baseonetwothreebasebasebasebasefourfiveseveneightbasebase");
    let events = session.events();
    assert!(most_at_once(&events) >= 4);
    let merged = merged(&events);
    let once: BTreeSet<&String> = merged.iter().collect();
    assert_eq!((once.len(), merged.len()), (12, 12), "{merged:?}");
    let at = |id: &str| merged.iter().position(|it| it == id);
    for (first, then) in
        [("base", "left"), ("base", "right"), ("left", "join"), ("right", "join"), ("join", "nine")]
    {
        assert!(at(first) < at(then), "{merged:?}");
    }
    let count = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count();
    assert_eq!((count("plan_made"), count("budget_raised")), (2, 1));
    let conflicts =
        |event: &&Value| event["kind"] == "merge_planned" && event["data"]["conflicts"] == 1;
    assert_eq!(events.iter().filter(conflicts).count(), 1);
    let view = session.json(&["status"]);
    assert_eq!(view["pools"][0]["steps"].as_array().unwrap().len(), 12);
    assert_eq!(view["folders"], json!(null), "folders go with their pool");
    session.shell("git diff --quiet --cached && git status --porcelain").exits(0);
    session.assert_whole();
}

#[test]
fn needs_git_twelve_steps_on_four_slots_come_to_their_end() {
    is_whole(&play(false));
}

#[test]
fn needs_git_twelve_steps_on_four_slots_outlive_three_kills() {
    let session = play(true);
    is_whole(&session);
    assert!(session.events_of("supervisor_started").len() >= 4);
}
