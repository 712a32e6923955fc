//! Pools as people meet them: steps in slots, work folders, merges, conflicts, and what a person can say to one step.

use serde_json::{Value, json};

use crate::session::Session;

/// Steps that build on each other, and one that builds on none.
const DIAMOND: &str = "name: Main
phases:
  - id: build
    run: pool
    slots: 2
    instructions: do it
    steps:
      - {id: top}
      - {id: left, depends_on: [top]}
      - {id: right, depends_on: [top]}
      - {id: bottom, depends_on: [left, right], owner: somebody}
  - {id: check, run: command, commands: [cat top left right bottom]}
";

/// Each step finds the work of those that it depends on.
const DIAMOND_SCRIPT: &str = "
build/top/work: [{write: {path: top, text: top}}, {complete: {summary: made top}}]
build/left/work: [{shell: {command: 'cp top left'}}, {complete: {summary: made left}}]
build/right/work: [{shell: {command: 'cp top right'}}, {complete: {summary: made right}}]
build/bottom/work: [{shell: {command: 'cat left right > bottom'}}, {complete: {summary: made bottom}}]
";

fn repository(workflow: &str, script: &str) -> Session {
    let session = Session::with(workflow, script);
    session.write("lines.txt", "one\ntwo\nthree\n");
    session.write("far.txt", "near\n\n\n\nfar\n");
    session.write(".gitignore", "script.yaml\n");
    session
        .shell("git init -q && git config user.email a@example.org && git config user.name a")
        .exits(0);
    session.shell("git add -A && git commit -qm first").exits(0);
    session
}

fn steps(session: &Session) -> Vec<(String, String)> {
    let view = session.json(&["status"]);
    let steps = view["pools"][0]["steps"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    steps.iter().map(|step| (text(&step["place"]), text(&step["state"]))).collect()
}

fn folder(session: &Session, number: u64) -> String {
    let view = session.json(&["status"]);
    let folders = view["folders"].as_array().cloned().unwrap_or_default();
    let found = folders.iter().find(|row| row["number"] == json!(number));
    found.and_then(|row| row["path"].as_str()).unwrap().to_owned()
}

#[test]
fn needs_git_steps_build_on_each_other_and_leave_nothing_behind() {
    let session = repository(DIAMOND, DIAMOND_SCRIPT);
    let before = session
        .shell("git for-each-ref; git worktree list; git stash list; cat .git/config")
        .stdout;
    session.run().exits(0);
    assert_eq!(session.read("bottom"), "toptop");
    let after = session
        .shell("git for-each-ref; git worktree list; git stash list; cat .git/config")
        .stdout;
    assert_eq!(after, before, "nothing of ours is in the person's repository");
    let begun: Vec<Value> =
        session.events_of("slot_taken").iter().map(|it| it["data"]["step"].clone()).collect();
    assert_eq!(begun, ["top", "left", "right", "bottom"]);
    assert!(steps(&session).iter().all(|(_, state)| state == "done"), "{:?}", steps(&session));
    assert_eq!(session.json(&["status"])["folders"], json!(null), "folders go with their pool");
    session.assert_whole();
    session.assert_nothing_lives();
}

/// Both change the same line; a third one asks a person, and holds up nobody.
const CONFLICT: &str = "name: Main
phases:
  - {id: build, run: pool, slots: 3, instructions: do it, steps: [{id: a}, {id: b, depends_on: []}, {id: c}]}
";
const CONFLICT_SCRIPT: &str = "
build/a/work: [{edit: {path: lines.txt, find: two, replace: TWO}}, {complete: {summary: made a}}]
build/b/work:
  - wait_for: {path: go}
  - edit: {path: lines.txt, find: two, replace: '2'}
  - write: {path: b.txt, text: b}
  - complete: {summary: made b}
build/c/work:
  1: [{need: {question: which?, options: [x, y]}}]
  otherwise: [{write: {path: c.txt, text: c}}, {complete: {summary: made c}}]
";

/// A run that waits with a conflict of `b`.
fn in_conflict() -> Session {
    // `merge: in_order` makes sure that `a` is in the project first.
    let workflow = CONFLICT.replace("slots: 3,", "slots: 3, merge: in_order,");
    let script = CONFLICT_SCRIPT.replace("  - wait_for: {path: go}\n", "");
    let session = repository(&workflow, &script);
    session.run().exits(4);
    session
}

fn conflict_gate(session: &Session) -> String {
    let view = session.json(&["status"]);
    let gates = view["needs_you"].as_array().cloned().unwrap_or_default();
    let gate = gates.iter().find(|gate| gate["kind"] == json!("conflict"));
    gate.and_then(|gate| gate["gate"].as_str()).unwrap().to_owned()
}

fn question_gate(session: &Session) -> String {
    let view = session.json(&["status"]);
    let gates = view["needs_you"].as_array().cloned().unwrap_or_default();
    let gate = gates.iter().find(|gate| gate["kind"] == json!("question"));
    gate.and_then(|gate| gate["gate"].as_str()).unwrap().to_owned()
}

fn finish(session: &Session) {
    let run = session.short();
    session.chronicle(&["answer", &run, &question_gate(session), "x"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
    session.assert_nothing_lives();
}

#[test]
fn needs_git_a_conflict_is_resolved_in_the_steps_folder() {
    let session = in_conflict();
    let run = session.short();
    assert_eq!(session.read("lines.txt"), "one\nTWO\nthree\n", "the project is untouched");
    let marked = format!("{}/lines.txt", folder(&session, 2));
    let text = std::fs::read_to_string(&marked).expect("the conflict is marked there");
    assert!(
        text.contains("<<<<<<< ours: the project\nTWO\n=======\n2\n>>>>>>> theirs: the work"),
        "{text}"
    );
    // Marks that are left are no resolution.
    session.chronicle(&["answer", &run, &conflict_gate(&session), "resolved"]).exits(0);
    session.chronicle(&["resume"]).exits(4).talks("still has conflict marks");
    std::fs::write(&marked, "one\nboth\nthree\n").expect("a person resolves it");
    session.chronicle(&["answer", &run, &conflict_gate(&session), "resolved"]).exits(0);
    finish(&session);
    assert_eq!(session.read("lines.txt"), "one\nboth\nthree\n");
    assert_eq!((session.read("b.txt"), session.read("c.txt")), ("b".to_owned(), "c".to_owned()));
}

#[test]
fn needs_git_one_side_of_a_conflict_wins_by_lines() {
    for (word, line) in [("ours", "TWO"), ("theirs", "2")] {
        let session = in_conflict();
        session.write("lines.txt", "one\nTWO\nthree\nmine\n");
        let run = session.short();
        // Marks that are left are nobody's side.
        session.chronicle(&["answer", &run, &conflict_gate(&session), "resolved"]).exits(0);
        session.chronicle(&["resume"]).exits(4).talks("still has conflict marks");
        session.chronicle(&["answer", &run, &conflict_gate(&session), word]).exits(0);
        finish(&session);
        assert_eq!(session.read("lines.txt"), format!("one\n{line}\nthree\nmine\n"), "{word}");
        assert_eq!(session.read("b.txt"), "b", "{word}: what is in no conflict is merged");
    }
}

#[test]
fn needs_git_work_that_is_dropped_is_a_gap() {
    let session = in_conflict();
    let run = session.short();
    session.chronicle(&["answer", &run, &conflict_gate(&session), "drop"]).exits(0);
    session.chronicle(&["answer", &run, &question_gate(&session), "x"]).exits(0);
    let asked = session.chronicle(&["resume"]).exits(4);
    assert!(
        asked
            .stderr
            .contains("not all steps of `build` are done, 1 of 3 are open: `b` was given up"),
        "{}",
        asked.stderr
    );
    assert!(!session.has("b.txt"));
    // Skipped, it counts as done.
    session.chronicle(&["skip", &run, "build/b"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], json!("done"), "nothing is left to do");
    session.assert_whole();
}

#[test]
fn needs_git_one_step_is_cancelled_and_a_typing_mistake_cancels_nothing() {
    let session = in_conflict();
    let run = session.short();
    session
        .chronicle(&["cancel", &run, "build/typo"])
        .exits(2)
        .talks("there is no step `build/typo`");
    session.chronicle(&["cancel", &run, "build/b", "not needed"]).exits(0);
    session
        .chronicle(&["cancel", &run, "build/a"])
        .exits(2)
        .talks("`build/a` is done: `undo` takes its files back");
    assert_eq!(session.json(&["status"])["status"], json!("waiting"));
    let states = steps(&session);
    assert_eq!(states[1], ("build/b".to_owned(), "given up".to_owned()), "{states:?}");
}

/// Killed at each point of making a folder and of writing a merge, it goes on where it was.
#[test]
fn needs_git_deaths_in_folders_and_merges_change_nothing() {
    let points = [
        "in-work:1",
        "in-work:2",
        "before-merge-stage:3",
        "before-merge-write:1",
        "in-merge-write:1",
        "in-merge-swap:1",
        "before-merge-end:1",
        "before-merge-end:2",
    ];
    for point in points {
        let session = repository(
            CONFLICT,
            &CONFLICT_SCRIPT
                .replace("  - wait_for: {path: go}\n", "")
                .replace(
                    "edit: {path: lines.txt, find: two, replace: '2'}",
                    "edit: {path: far.txt, find: far, replace: away}",
                )
                .replace("  1: [{need: {question: which?, options: [x, y]}}]\n", ""),
        );
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        let args = ["run", "main", "task", "--agent", "scripted:script.yaml"];
        command.env("CHRONICLE_FAILPOINT", point).args(args);
        let died = session.start(command, "").wait();
        assert_ne!(died.code, Some(0), "{point} was not reached: {}", died.stderr);
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(session.read("lines.txt"), "one\nTWO\nthree\n", "{point}");
        assert_eq!(session.read("far.txt"), "near\n\n\n\naway\n", "{point}");
        assert_eq!(
            (session.read("b.txt"), session.read("c.txt")),
            ("b".to_owned(), "c".to_owned()),
            "{point}"
        );
        assert!(
            !session.has(".chronicle/merge")
                || session.shell("ls .chronicle/merge").stdout.is_empty(),
            "{point}"
        );
        session.assert_whole();
        session.assert_nothing_lives();
    }
}

/// What a person edits while a merge is on its way is part of it.
#[test]
fn needs_git_a_persons_edit_is_merged() {
    let session = in_conflict();
    let run = session.short();
    session.write("lines.txt", "zero\none\nTWO\nthree\n");
    session.write("own.txt", "mine");
    let path = format!("{}/lines.txt", folder(&session, 2));
    std::fs::write(path, "one\nTWO and 2\nthree\n").expect("a person resolves it");
    session.chronicle(&["answer", &run, &conflict_gate(&session), "resolved"]).exits(0);
    finish(&session);
    assert_eq!(session.read("lines.txt"), "zero\none\nTWO and 2\nthree\n");
    assert_eq!(session.read("own.txt"), "mine");
}

/// Each step, and the pool as a whole, is compared and undone by what came of it in the project.
#[test]
fn needs_git_steps_are_compared_and_the_pool_is_undone() {
    let session = repository(DIAMOND, DIAMOND_SCRIPT);
    session.run().exits(0);
    let run = session.short();
    let names = |args: &[&str]| {
        session.chronicle(&[&["diff", &run, "--name-only"], args].concat()).exits(0).stdout
    };
    assert_eq!(names(&["--phase", "build/left"]), "left\n");
    assert_eq!(names(&["--phase", "build"]), "bottom\nleft\nright\ntop\n");
    assert_eq!(names(&["--attempt", "a1"]), "top\n");
    assert_eq!(names(&[]), "bottom\nleft\nright\ntop\n");
    session.chronicle(&["undo", &run, "--attempt", "a1", "--yes"]).exits(2).talks("undo that step");
    session.chronicle(&["undo", &run, "build/bottom", "--yes"]).exits(0).prints("1 file restored");
    assert!(!session.has("bottom") && session.has("left"));
    session.write("lines.txt", "mine\n");
    session.chronicle(&["undo", &run, "build", "--yes"]).exits(0).prints("3 files restored");
    assert!(!session.has("top") && !session.has("left") && !session.has("right"));
    assert_eq!(session.read("lines.txt"), "mine\n", "what a person changed stays");
    session.chronicle(&["undo", &run, "--back", "2", "--yes"]).exits(0);
    assert_eq!(session.read("bottom"), "toptop");
    session.assert_whole();
}

const PLANNED: &str = "name: Main
phases:
  - {id: plan, produces: steps, instructions: plan it}
  - {id: build, run: pool, slots: 2, instructions: do it}
";

#[test]
fn needs_git_a_worker_plans_the_steps() {
    let script = "
plan:
  - signal: {tool: workflow_plan, arguments: {steps: [{id: a, depends_on: [b]}, {id: b}]}}
  - complete: {summary: planned}
build/a/work: [{shell: {command: 'cp b a'}}, {complete: {summary: made}}]
build/b/work: [{write: {path: b, text: b}}, {complete: {summary: made}}]
";
    let session = repository(PLANNED, script);
    session.run().exits(0);
    assert_eq!((session.read("a"), session.read("b")), ("b".to_owned(), "b".to_owned()));
    let begun: Vec<Value> =
        session.events_of("slot_taken").iter().map(|it| it["data"]["step"].clone()).collect();
    assert_eq!(begun, ["b", "a"], "`a` begins once the work of `b` is merged");
}

#[test]
fn needs_git_steps_are_read_from_a_file_and_a_broken_one_is_told() {
    let workflow = "name: Main
phases:
  - {id: build, run: pool, slots: 2, steps_from: plan.json, instructions: do it}
";
    let script = "work: [{write: {path: made, text: made}}, {complete: {summary: made}}]\n";
    let session = repository(workflow, script);
    session.run().exits(4).talks("the steps cannot be read from `plan.json`");
    let run = session.short();
    session.write("plan.json", r#"{"steps": [{"id": "a", "depends_on": ["a"]}]}"#);
    session.chronicle(&["retry", &run, "build"]).exits(0);
    session.chronicle(&["resume"]).exits(4).talks("a");
    session.write("plan.json", r#"{"steps": [{"id": "a"}]}"#);
    session.chronicle(&["retry", &run, "build"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.read("made"), "made");
    session.assert_whole();
}

#[test]
fn needs_git_a_project_without_a_repository_is_copied() {
    let session = Session::with(DIAMOND, DIAMOND_SCRIPT);
    session.run().exits(0);
    assert_eq!(session.read("bottom"), "toptop");
    session.assert_whole();
}
