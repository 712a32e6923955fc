//! `chronicle run --dry-run`: it tells everything and touches nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;

use crate::session::Session;

const WORKFLOW: &str = "
name: Small
limits: {timeout: 10m}
phases:
  plan: {name: Planning, persona: planner, instructions: 'Plan {description}.', tools: {deny: [bash]}, approval: after, next: [test]}
  test: {commands: ['touch ran'], next: [done], on: {fail: mend}}
  mend: {agent: 'command:touch started', next: [test]}
";

/// Every file below a folder with its bytes, and every folder.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path.clone());
                found.insert(path, None);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, Some(bytes));
            }
        }
    }
    found
}

#[test]
fn it_tells_the_path_and_the_handovers() {
    let session = Session::with(WORKFLOW, "");
    let said = session.chronicle(&[
        "run",
        "main",
        "the task",
        "--agent",
        "scripted:s.yaml",
        "--dry-run",
        "--no-walls",
    ]);
    expect![[r#"
        Dry run of `Small` on "the task": no agent starts, nothing is written.
        ‹…› stands for what only a run knows.

          1  plan  Planning
             agent     scripted:s.yaml
             persona   You plan changes to a code base that others will carry out.  - Read before you decide: the code that the task touches, its tests, its callers, and how the project did something   similar before.… [668 bytes cut]
             tools     all but bash
             limits    10 min 00 s, stuck after 10 min 00 s of silence
             asks you  is `Planning` done? "‹what the worker of `plan` says›"
             leads to  test
             handover  1248 bytes, as it would be sent:
             │ ## Why you are here
             │ 
             │ This phase begins: no worker was here before you.
             │ 
             │ ## Task
             │ 
             │ the task
             │ 
             │ ## Your role
             │ 
             │ You are `planner`: Turns a task into a plan that somebody else can follow. Changes nothing.
             │ 
             │ ## Your phase
             │ 
             │ `plan`: Planning
             │ Phase 1 of 3 in `Small`. Phases completed so far: 0. You are a1, try 1.
             │ Nobody watches you work: only what you say by Chronicle's tools and what you change in files is known to others. A person reviews your work before the run continues.
             │ The way: Planning [●] -> test [ ] -> mend [ ]
             │ 
             │ ## Instructions
             │ 
             │ Plan the task.
             │ 
             │ ## Tools
             │ 
             │ You may not use: bash.
             │ 
             │ ## When you are done
             │ 
             │ Call the tool `workflow_transition` with `target_state` and a `summary`: what you did and decided, what you found, which files you changed, what is open. Then end your turn. Ending your turn without it does not end the phase.
             │ You may go to: `test`. For example: `workflow_transition(target_state: "test", summary: …)`.
             │ Beside that: `workflow_update_snapshot` keeps what later phases must know; `workflow_ask` asks a person and waits; `signal_back` with `partially-complete` lets somebody fresh go on when your context is used up; `signal_back` with `needs-role-followup` asks another persona for help; `workflow_status` tells where you are.

          2  test  test
             command   touch ran
             limits    10 min 00 s
             leads to  done, on fail: mend

          3  mend  mend
             through   `test` on `fail`
             agent     scripted:s.yaml
             limits    10 min 00 s, stuck after 10 min 00 s of silence
             leads to  test
             handover  1529 bytes, as it would be sent:
             │ ## Why you are here
             │ 
             │ `test` ended with `fail`, and it is for you to put that right. It says: `touch ran` failed: ‹what the command prints›
             │ 
             │ All that the commands printed is in the file `.chronicle/runs/‹run›/transcripts/a2.jsonl`.
             │ 
             │ No worker was at this phase before you.
             │ 
             │ ## Task
             │ 
             │ the task
             │ 
             │ ## Your phase
             │ 
             │ `mend`: mend
             │ Phase 3 of 3 in `Small`. Phases completed so far: 1. You are a3, try 1.
             │ Nobody watches you work: only what you say by Chronicle's tools and what you change in files is known to others.
             │ The way: Planning [✓] -> test [✗] -> mend [●]
             │ 
             │ ## When you are done
             │ 
             │ Call the tool `workflow_transition` with `target_state` and a `summary`: what you did and decided, what you found, which files you changed, what is open. Then end your turn. Ending your turn without it does not end the phase.
             │ You may go to: `test`. For example: `workflow_transition(target_state: "test", summary: …)`.
             │ Beside that: `workflow_update_snapshot` keeps what later phases must know; `workflow_ask` asks a person and waits; `signal_back` with `partially-complete` lets somebody fresh go on when your context is used up; `signal_back` with `needs-role-followup` asks another persona for help; `workflow_status` tells where you are.
             │ 
             │ ## Commands that were run, newest first
             │ 
             │ - at `test` `touch ran` failed
             │ 
             │ ## What people said, newest first
             │ 
             │ - approved without a word: `plan` (g1)
             │ 
             │ ## What happened before, newest first
             │ 
             │ - `test` → `mend` (fail): (see the top)
             │ - `plan` → `test` (complete): ‹what the worker of `plan` says›

        The main way comes to the end.
    "#]].assert_eq(&said.exits(0).stdout);
}

#[test]
fn no_agent_starts_and_nothing_is_written() {
    let session = Session::with(WORKFLOW, "work: []");
    let home = session.project().parent().unwrap().join("home");
    let before = (everything(&session.project()), everything(&home));
    let dry = ["run", "main", "the task", "--agent", "command:touch started", "--dry-run"];
    session.chronicle(&dry).exits(0);
    session.chronicle(&[&dry[..], &["--json"]].concat()).exits(0);
    assert_eq!((everything(&session.project()), everything(&home)), before);
}

#[test]
fn an_agent_that_a_run_would_refuse_is_told() {
    let session = Session::with(WORKFLOW, "");
    let said = session.chronicle(&["run", "main", "the task", "--dry-run"]).exits(0);
    said.prints("note: no agent is named: `run` would need `--agent`");
    session.chronicle(&["run", "main", "--dry-run"]).exits(2);
}

#[test]
fn a_machine_reads_the_same() {
    let session = Session::with(WORKFLOW, "");
    let json =
        session.json(&["run", "main", "the task", "--agent", "scripted:s.yaml", "--dry-run"]);
    let scenes = json["rehearsal"]["scenes"].as_array().unwrap();
    let places: Vec<&str> = scenes.iter().map(|it| it["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["plan", "test", "mend"]);
    assert_eq!(scenes[2]["through"]["from"], "test");
    assert!(scenes[0]["handover"].as_str().unwrap().contains("Plan the task."));
}

/// What a run would first ask is said, and asked by nobody.
#[test]
fn it_says_what_a_run_would_ask_to_be_trusted() {
    let session = Session::with("{name: Small, phases: {plan: {}}}", "");
    session.distrust();
    let dry = || {
        session.chronicle(&["run", "main", "the task", "--agent", "scripted:s.yaml", "--dry-run"])
    };
    let note = "note: the project is not trusted on this machine yet: `run` would first ask about `.chronicle/workflows/main.yaml`";
    dry().exits(0).prints(note);
    session.chronicle(&["trust"]).exits(0);
    let said = dry().exits(0);
    assert!(!said.stdout.contains("trust"), "{}", said.stdout);
    session.write(".chronicle/workflows/main.yaml", "{name: Other, phases: {plan: {}}}");
    dry()
        .exits(0)
        .prints("note: the project has changed since you trusted it: `run` would first ask");
    let json = session.json(&["run", "main", "t", "--agent", "scripted:s.yaml", "--dry-run"]);
    assert!(json["notes"].to_string().contains("changed since you trusted it"), "{json}");
}

#[test]
fn no_name_of_a_project_reaches_the_terminal_as_an_escape() {
    let workflow = r#"{"name": "Evil \u001b]0;x\u0007\u001b[2J", "phases": {"plan": {"name": "a\u001b[H\rb"}}}"#;
    let session = Session::with(workflow, "plan: [{next: {}}]");
    session.write("odd\u{1b}[2J.md", "x");
    for arguments in [
        &["run", "main", "t", "--dry-run"][..],
        &["list"],
        &["check"],
        &["run", "main", "t", "--agent", "scripted:script.yaml"],
    ] {
        let said = session.chronicle(arguments);
        let all = [said.stdout.as_str(), said.stderr.as_str()].concat();
        assert!(!all.contains(['\u{1b}', '\u{7}', '\r']), "{arguments:?}: {all:?}");
    }
    let told = "the name `Evil \u{fffd}]0;x\u{fffd}\u{fffd}[2J` contains a control character";
    session.chronicle(&["run", "main", "t", "--dry-run"]).exits(3).talks(told);
}
