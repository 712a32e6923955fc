//! Races as people meet them: several agents do the same, somebody chooses, one result is merged, and the others are kept as trees.

use serde_json::{Value, json};

use crate::session::Session;

const WORK: &str = "
build/one/work: [{edit: {path: lines.txt, find: two, replace: first}}, {complete: {summary: the first way}}]
";
const TWO: &str = "
build/two/work: [{edit: {path: lines.txt, find: two, replace: second}}, {write: {path: more.txt, text: more}}, {complete: {summary: the second way}}]
";

fn workflow(judge: &str) -> String {
    format!(
        "name: Main
phases:
  - {{id: build, run: race, {judge}instructions: do it, workers: [{{id: one}}, {{id: two, agent: 'scripted:other.yaml'}}], next: [done]}}
  - {{id: pick, instructions: choose, next: [done]}}
"
    )
}

fn repository(judge: &str, script: &str) -> Session {
    let session = Session::with(&workflow(judge), script);
    session.write("lines.txt", "one\ntwo\nthree\n");
    // Who names an agent keeps it, whatever the command line says.
    session.write("other.yaml", TWO);
    session.write(".gitignore", "*.yaml\n");
    session
        .shell("git init -q && git config user.email a@example.org && git config user.name a")
        .exits(0);
    session.shell("git add -A && git commit -qm first").exits(0);
    session
}

/// The work of who lost is still there, although its folder is gone.
fn assert_kept(session: &Session, step: &str, text: &str) {
    assert_eq!(session.json(&["status"])["folders"], json!(null), "folders go with the race");
    let lost = session.events_of("step_settled");
    assert_eq!(lost[0]["data"]["step"], json!(step), "{lost:?}");
    let tree = lost[0]["data"]["tree"].as_str().unwrap().to_owned();
    let file = session.shell(&format!("git --git-dir=.chronicle/trees.git show {tree}:lines.txt"));
    assert!(file.stdout.contains(text), "{}", file.stdout);
}

#[test]
fn needs_git_a_person_chooses() {
    let session = repository("", WORK);
    session.run().exits(4);
    let run = session.short();
    let gate = session.json(&["status"])["needs_you"][0].clone();
    assert_eq!(gate["options"], json!(["one", "two", "none"]), "{gate}");
    let context = gate["context"].as_str().unwrap_or_default().to_owned();
    for shown in ["the first way", "the second way", "+1", "/w1/"] {
        assert!(context.contains(shown), "{shown} in {context}");
    }
    session.chronicle(&["status"]).exits(0).prints("race of 2, judged by person");
    // What a person edits meanwhile is kept.
    session.write("lines.txt", "zero\none\ntwo\nthree\n");
    session.chronicle(&["answer", &run, "two"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("lines.txt"), "zero\none\nsecond\nthree\n");
    assert_eq!(session.read("more.txt"), "more");
    assert_kept(&session, "one", "first");
    let pool = session.json(&["status"])["pools"][0].clone();
    assert_eq!(pool["race"]["winner"], json!("two"), "{pool}");
    assert_eq!(pool["steps"][0]["state"], json!("lost"), "{pool}");
    session.assert_whole();
    session.assert_nothing_lives();
}

#[test]
fn needs_git_commands_choose_and_what_they_write_is_not_merged() {
    let judge = "judge: {commands: ['touch judged; grep -q second lines.txt']}, ";
    let session = repository(judge, WORK);
    session.run().exits(0);
    assert_eq!(session.read("lines.txt"), "one\nsecond\nthree\n");
    assert!(!session.has("judged"), "what a judge writes is nobody's work");
    assert_kept(&session, "one", "first");
    session.assert_whole();
}

/// The judge can read the folders of both, and write to neither.
const PICK: &str = "
build/pick:
  1: [{need: {question: ready?, options: [x, y]}}]
  otherwise: [{shell: {command: sh ./look.sh}}, {complete: {outcome: one, summary: it is smaller}}]
";

#[test]
fn needs_git_a_phase_chooses_after_a_kill() {
    let session = repository("judge: pick, ", &format!("{WORK}{PICK}"));
    session.run().exits(4);
    let folders = session.json(&["status"])["folders"].as_array().cloned().unwrap_or_default();
    let paths: Vec<&str> = folders.iter().filter_map(|row| row["path"].as_str()).collect();
    let [one, two] = paths[..] else { panic!("{folders:?}") };
    session.write("look.sh", format!("cat {one}/lines.txt {two}/lines.txt > seen.txt\n"));
    session.chronicle(&["answer", &session.short(), "x"]).exits(0);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.env("CHRONICLE_FAILPOINT", "before-merge-write:1").arg("resume");
    let died = session.start(command, "").wait();
    assert_ne!(died.code, Some(0), "{}", died.stderr);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("lines.txt"), "one\nfirst\nthree\n");
    assert!(!session.has("more.txt"));
    let seen = session.read("seen.txt");
    assert!(seen.contains("first") && seen.contains("second"), "{seen}");
    assert_kept(&session, "two", "second");
    let decided: Vec<Value> = session.events_of("race_decided");
    assert_eq!(decided[0]["data"]["by"], json!({"is": "phase", "of": "pick"}), "{decided:?}");
    session.assert_whole();
    session.assert_nothing_lives();
}

/// What Chronicle merges itself is no edit of anybody. What a person edits meanwhile is.
#[test]
fn needs_git_a_merge_is_not_told_as_somebody_elses_change() {
    let pick = "build/pick: [{complete: {outcome: two, summary: it has more}}]\nship: [{complete: {summary: shipped}}]\n";
    let session = repository("judge: pick, ", &format!("{WORK}{pick}"));
    let main = workflow("judge: pick, ")
        .replace("other.yaml'}], next: [done]", "other.yaml'}], next: [ship]");
    session.write(
        ".chronicle/workflows/main.yaml",
        main + "  - {id: ship, instructions: ship it, next: [done]}\n",
    );
    session.run().exits(0);
    assert_eq!(session.read("more.txt"), "more");
    let log = session.chronicle(&["log"]).exits(0).stdout;
    assert!(log.contains("race `build` entered"), "{log}");
    assert!(!log.contains("meanwhile changed"), "{log}");
    session.assert_whole();
}
