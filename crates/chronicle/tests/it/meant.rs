//! Commands without a run's id: where only one run can be meant it is that one, and else nothing is guessed.

use crate::session::{RUN, Session, until};

const GATES: &str = "{name: Gates, phases: {work: {approval: after, next: [done]}}}";
const ASKS: &str = "{name: Asks, phases: {work: {next: [done]}}}";
const SCRIPT: &str = "work: [{complete: {summary: worked}}]";

fn waiting() -> Session {
    let session = Session::with(GATES, SCRIPT);
    session.run().exits(4);
    session
}

#[test]
fn the_only_run_that_waits_is_meant_and_named() {
    let session = waiting();
    let run = session.short();
    session.chronicle(&["note", "mind the tests"]).exits(0).prints(&format!("Run {run}: n1"));
    session.chronicle(&["reject", "the tests are missing"]).exits(0).prints(&format!("Run {run}:"));
    session.chronicle(&["resume"]).exits(4);
    session.chronicle(&["retry"]).exits(0).prints(&format!("Run {run}:"));
    session.chronicle(&["resume"]).exits(4);
    session.chronicle(&["approve", "g3"]).exits(0).prints(&format!("Run {run} is done."));
    session.chronicle(&["approve"]).exits(2).talks("no run is meant: all runs here are over");
}

#[test]
fn the_only_question_is_answered_and_a_place_is_gone_to() {
    let script =
        "work: [{workflow_ask: {question: 'Which?', options: [red, blue]}}, {complete: {}}]";
    let session = Session::with(ASKS, script);
    session.run().exits(4);
    session.chronicle(&["answer", "2"]).exits(0);
    session.chronicle(&["go", "done"]).exits(0).prints("is done.");
    let mut asked = Session::with(GATES, SCRIPT).chronicle(&["pause"]).exits(2);
    asked.stderr.truncate(40);
    assert!(asked.stderr.starts_with("Error: there are no runs in"), "{}", asked.stderr);
}

/// What is missing is said by us, with what can be typed, and not by the reader of the command line.
#[test]
fn a_command_without_words_says_which_it_needs() {
    let session = Session::with(
        "{name: Two, phases: {work: {approval: after, next: [look]}, look: {}}}",
        SCRIPT,
    );
    for command in ["go", "note", "answer", "title", "budget"] {
        session.chronicle(&[command]).exits(2).talks("Error: there are no runs in");
    }
    session.run().exits(4);
    let run = session.short();
    let go = session.chronicle(&["go"]).exits(2);
    go.talks("Error: say where to go: `work`, `look`, or `done` to end it")
        .talks(&format!("Hint: chronicle go {run} PHASE"));
    for (command, what) in
        [("note", "Error: there is no note"), ("title", "Error: there is no title")]
    {
        session
            .chronicle(&[command])
            .exits(2)
            .talks(what)
            .talks(&format!("chronicle {command} {run} "));
    }
}

#[test]
fn of_several_that_wait_the_one_is_meant_whose_gate_the_command_answers() {
    let asks = "work: [{workflow_ask: {question: 'Which?', options: [red, blue]}}, {complete: {}}]";
    let session = Session::with(GATES, SCRIPT);
    session.run().exits(4);
    let approval = session.short();
    session.write("asks.yaml", ASKS);
    session.write("asking.yaml", asks);
    session.chronicle(&["run", "./asks.yaml", "x", "--agent", "scripted:asking.yaml"]).exits(4);
    let question = session.short();
    assert_ne!(approval, question);
    session.chronicle(&["answer", "2"]).exits(0).prints(&format!("Run {question}: answered g1"));
    session.chronicle(&["run", "./asks.yaml", "y", "--agent", "scripted:asking.yaml"]).exits(4);
    session.chronicle(&["approve", "g1"]).exits(0).prints(&format!("Run {approval}: approved g1"));
}

#[test]
fn the_word_of_an_attempt_is_no_run_that_is_too_short() {
    let session = waiting();
    session.chronicle(&["handover", "a1"]).exits(0).talks("a1 at `work`");
    session.chronicle(&["handover", "a9"]).exits(2).talks("a9");
    session.chronicle(&["handover", "xyz"]).exits(2).talks("too short");
}

#[test]
fn where_several_can_be_meant_they_are_listed() {
    let session = waiting();
    let first = session.short();
    session.chronicle(RUN).exits(4);
    let second = session.short();
    for args in [&["approve"][..], &["cancel"], &["note", "x"], &["pause", "for lunch"]] {
        let said = session.chronicle(args).exits(2).talks("say which run is meant");
        said.talks(&first).talks(&second);
    }
    session.chronicle(&["cancel", &first, "not needed"]).exits(0);
    session.chronicle(&["approve"]).exits(0).prints(&format!("Run {second} is done."));
}

#[test]
fn a_mistyped_id_is_never_taken_for_something_else() {
    let session = waiting();
    let lines = session.ledger_lines();
    for args in [
        &["cancel", "5f3a9cle"][..],
        &["cancel", "5f3a9c1e", "not needed"],
        &["pause", "lunch"],
        &["approve", "5f3a"],
        &["reject", "5f3a9c1e"],
        &["reject", "5f3a9cle", "the tests"],
        &["note", "5f3a9c1e"],
        &["note", "5f3a9cle", "the text"],
        &["answer", "12345678"],
        &["go", "5f3a9c1e", "done"],
        &["budget", "50000", "tokens"],
    ] {
        session.chronicle(args).exits(2).talks("no run `");
    }
    session.chronicle(&["retry", "5f3a9cle"]).exits(2);
    assert_eq!(session.ledger_lines(), lines, "nothing was said to the run");
    session.chronicle(&["cancel", "not needed any more"]).exits(0).prints("cancelled");
}

#[test]
fn resume_goes_on_with_the_run_that_was_left_last() {
    let session = Session::with(ASKS, "work: [{wait_for: {file: go}}, {complete: {}}]");
    let pause = || {
        let run = session.spawn_run();
        until("it works", || run.talk().contains("a1 started"));
        session.chronicle(&["pause", &session.short()]).exits(0);
        run.wait().exits(130);
        session.short()
    };
    let (older, newer) = (pause(), pause());
    let resumed = session.spawn(&["resume", &older]);
    until("it works", || session.json(&["status", &older])["status"] == "running");
    session.chronicle(&["pause", &older]).exits(0);
    resumed.wait().exits(130);
    let rows = session.json(&["runs"]);
    assert_eq!(rows["runs"][0]["short"], older.as_str(), "the last changed first");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0).prints(&older);
    session.chronicle(&["resume"]).exits(0).prints(&newer);
}

#[test]
fn a_run_with_the_task_of_one_that_was_left_says_so() {
    let session = waiting();
    let run = session.short();
    let said = session.chronicle(RUN).exits(4);
    let said = said.talks(&format!("Note: run {run} has the same workflow and task"));
    said.talks(&format!("answer it instead, for example with `chronicle approve {run} g1`"));
    let other = session.chronicle(&["run", "main", "other", "--agent", "scripted:script.yaml"]);
    assert!(!other.stderr.contains("Note: run"), "{}", other.stderr);
}

#[test]
fn a_damaged_run_that_may_be_meant_is_reported_as_damaged() {
    let session = waiting();
    let ledger = session.run_file("ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replacen("worked", "w0rked", 1)).unwrap();
    for args in [
        &["approve"][..],
        &["reject", "not like this"],
        &["cancel"],
        &["pause"],
        &["note", "mind the tests"],
        &["answer", "yes"],
        &["go", "work"],
        &["retry"],
        &["skip"],
        &["resume"],
        &["status"],
        &["log"],
    ] {
        session.chronicle(args).exits(6).talks("is damaged in line");
    }
}

/// Damages a ledger that is older than all others, so that `resume` does not begin with it.
fn damage(ledger: &std::path::Path) {
    let text = std::fs::read_to_string(ledger).unwrap();
    std::fs::write(ledger, text.replacen("worked", "w0rked", 1)).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_mins(10);
    std::fs::File::options().write(true).open(ledger).unwrap().set_modified(old).unwrap();
}

/// Whether the damaged one is meant cannot be known: it is named, and never passed over in silence.
#[test]
fn a_damaged_run_beside_the_one_that_is_meant_is_named() {
    for args in [
        &["approve"][..],
        &["reject", "not like this"],
        &["cancel"],
        &["pause"],
        &["note", "mind the tests"],
        &["go", "work"],
        &["resume"],
    ] {
        let session = waiting();
        let (damaged, ledger) = (session.short(), session.run_file("ledger.jsonl"));
        session.chronicle(&["run", "main", "other", "--agent", "scripted:script.yaml"]).exits(4);
        damage(&ledger);
        let said = session.chronicle(args);
        let named = format!("Note: run {damaged} cannot be read and was left out");
        if args == ["resume"] {
            // The other one waits for a person, and this one may be the one to continue.
            said.exits(6).talks("is damaged in line");
            continue;
        }
        said.talks(&named).talks("is damaged in line");
    }
}

#[test]
fn resume_names_the_damaged_run_that_it_leaves_out() {
    let session = Session::with(ASKS, SCRIPT);
    session.run().exits(0);
    let (damaged, ledger) = (session.short(), session.run_file("ledger.jsonl"));
    damage(&ledger);
    session.write("script.yaml", "work: [{wait_for: {file: go}}, {complete: {}}]");
    let run = session.spawn_run();
    until("it works", || run.talk().contains("a1 started"));
    session.chronicle(&["pause"]).exits(0).talks(&format!("run {damaged} cannot be read"));
    run.wait().exits(130);
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0).talks(&format!("run {damaged} cannot be read"));
}

/// A word that is the beginning of an id may as well be the text itself.
#[test]
fn a_short_word_that_is_taken_for_a_run_is_told() {
    let session = waiting();
    let run = session.short();
    let (word, lines) = (&run[..4], session.ledger_lines());
    for (command, what) in [("answer", "answer"), ("note", "note"), ("reject", "reason")] {
        let said = session.chronicle(&[command, word]).exits(2);
        let said = said.talks(&format!("there is no {what}: `{word}` is taken for run {run}"));
        said.talks(&format!("Hint: chronicle {command} {run}"));
    }
    for (command, what) in [("answer", "an answer"), ("reject", "a reason")] {
        let said = session.chronicle(&[command, ""]).exits(2);
        assert!(!said.stderr.contains("is taken for"), "{what}: {}", said.stderr);
    }
    assert_eq!(session.ledger_lines(), lines);
    session.chronicle(&["reject", &run, word]).exits(0);
}

#[test]
fn a_cancelled_run_whose_cleanup_has_still_to_run_is_the_one_to_resume() {
    let workflow =
        "{name: Gates, phases: {work: {approval: after, cleanup: [touch cleaned], next: [done]}}}";
    let session = Session::with(workflow, SCRIPT);
    session.run().exits(4);
    session.chronicle(&["cancel"]).exits(0);
    assert!(!session.has("cleaned"));
    let status = session.chronicle(&["status"]).exits(0).stdout;
    assert!(status.contains("  cancelled: the cleanup of `work` has still to run\n"), "{status}");
    session.chronicle(&["resume"]);
    assert!(session.has("cleaned"));
    session.chronicle(&["resume"]).exits(2).talks("no run can continue");
}

#[test]
fn what_shows_something_takes_the_run_that_changed_last_and_names_it() {
    let session = waiting();
    let older = session.short();
    let only = session.chronicle(&["log"]).exits(0);
    assert_eq!(only.stderr, "", "there is no choice to tell of");
    session.chronicle(RUN).exits(4);
    let newer = session.short();
    session.chronicle(&["note", &older, "mind the tests"]).exits(0);
    for command in ["status", "log", "audit", "handover", "diff"] {
        let said = session.chronicle(&[command]).exits(0);
        said.talks(&format!("Run {older}, which changed last of 2 runs here:"));
    }
    assert_eq!(session.json(&["status"])["short"], older.as_str());
    session.chronicle(&["note", &newer, "and the docs"]).exits(0);
    session.chronicle(&["status"]).exits(0).prints(&newer);
}

#[test]
fn undo_needs_no_id_where_there_is_only_one_run() {
    let session = Session::with(GATES, "work: [{write: {path: new, text: x}}, {complete: {}}]");
    session.run().exits(4);
    let first = session.short();
    session.chronicle(&["undo"]).exits(2).talks("say what to undo");
    session.chronicle(&["undo", "work", "--all"]).exits(2).talks("only one of them can be meant");
    session.chronicle(&["undo", "work", "--yes"]).exits(0).prints("1 file restored");
    assert!(!session.has("new"));
    session.chronicle(&["undo", "--back", "--yes"]).exits(0);
    assert!(session.has("new"));
    session.chronicle(RUN).exits(4);
    let said = session.chronicle(&["undo", "work", "--yes"]).exits(2);
    said.talks("say which run is meant").talks(&first);
    session.chronicle(&["undo", &first, "work", "--yes"]).exits(0);
}

#[test]
fn an_id_may_be_typed_in_capitals() {
    let session = waiting();
    let run = session.short().to_uppercase();
    session.chronicle(&["status", &run]).exits(0).prints(&session.short());
    session.chronicle(&["approve", &run]).exits(0);
}

#[test]
fn a_run_that_was_answered_while_it_rested_is_ready() {
    let workflow =
        "{name: Gates, phases: {work: {approval: after, next: [end]}, end: {next: [done]}}}";
    let script = "work: [{complete: {}}]\nend: [{wait_for: {file: go}}, {complete: {}}]";
    let session = Session::with(workflow, script);
    session.run().exits(4);
    session.chronicle(&["approve"]).exits(0);
    assert_eq!(session.json(&["status"])["status"], "ready");
    session.chronicle(&["runs"]).exits(0).prints("ready");
    let resumed = session.spawn(&["resume"]);
    until("it is driven", || session.events_of("supervisor_started").len() == 2);
    resumed.kill();
    until("nobody drives it", || session.json(&["status"])["status"] == "interrupted");
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
}

#[test]
fn a_run_that_somebody_drives_is_not_resumed_and_says_how_to_have_it() {
    let session = Session::with(
        "{name: One, phases: {work: {}}}",
        "work: [{append: {path: a.txt, text: a}}, {wait_for: {file: go}}, {complete: {}}]",
    );
    let run = session.spawn_run();
    until("it has written", || session.has("a.txt"));
    let id = session.short();
    session.chronicle(&["resume", &id]).exits(5).talks(&format!("chronicle pause {id}"));
    // What it has written is told while it works.
    until("its file is told", || {
        session.json(&["status", &id])["phases"][0]["files"] == serde_json::json!(["a.txt"])
    });
    session.chronicle(&["status", &id]).exits(0).prints(", 1 file");
    session.write("go", "");
    run.wait().exits(0);
}
