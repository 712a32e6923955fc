//! Lines on a real terminal: broken between words by us and never by the terminal, and no stale copy of the one that moves.

use crate::session::{Session, until};
use crate::terminal::Terminal;

/// How wide the terminals are.
const WIDTHS: [u16; 2] = [60, 80];
const RUN: &str = "chronicle run main 'a task that is long enough to be broken somewhere on both terminals' \
                   --agent scripted:script.yaml";
const WORKFLOW: &str =
    "{name: A workflow with quite a long name, phases: {work: {approval: after}}}";
const SCRIPT: &str = r#"
work:
  - workflow_ask:
      question: Which colour is the door of the new house to be painted in, now that the old one is sold nowhere?
      options: [red, "a much longer one, which fits neither into sixty columns nor into eighty of them"]
  - complete: {summary: "The door is painted, twice on both sides, and it was dry before the evening came down"}
"#;

/// No line was broken by the terminal, which breaks in the middle of words. Returns what is shown.
fn assert_unbroken(terminal: &Terminal<'_>, before: &str) -> String {
    let lines = |text: &str| -> Vec<String> {
        let shown = text.split(before).next().unwrap_or_default();
        shown.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    };
    let shown = terminal.everything();
    assert_eq!(lines(&shown), lines(&terminal.joined()));
    shown
}

/// The text as one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn needs_tmux_lines_of_a_run_and_its_questions_are_broken_between_words() {
    for width in WIDTHS {
        let session = Session::with(WORKFLOW, SCRIPT);
        let terminal = Terminal::of_width(&session, width, RUN);
        until("it asks", || words(&terminal.screen()).contains("answers later:"));
        let shown = assert_unbroken(&terminal, "ended with");
        assert!(shown.contains("\n    "), "what follows is indented:\n{shown}");
        terminal.types("2 because");
        until("it asks for approval", || terminal.screen().contains("Type `yes`, or `no` and why"));
        assert_unbroken(&terminal, "ended with");
        terminal.types("nonsense");
        until("that is no answer", || terminal.screen().contains("That is no answer here."));
        assert_unbroken(&terminal, "ended with");
        terminal.types("yes");
        until("it is done", || terminal.screen().contains("ended with 0"));
        assert_unbroken(&terminal, "ended with");
        session.assert_whole();
    }
}

#[test]
fn needs_tmux_errors_and_hints_are_broken_between_words() {
    for width in WIDTHS {
        let session = Session::with(WORKFLOW, SCRIPT);
        let terminal = Terminal::of_width(&session, width, "chronicle run nowhere 'a task'");
        until("it is refused", || terminal.screen().contains("ended with 2"));
        let shown = assert_unbroken(&terminal, "ended with");
        assert!(words(&shown).contains("Hint: there are: "), "{shown}");
    }
}

#[test]
fn needs_tmux_json_stays_one_line() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let terminal = Terminal::of_width(&session, 60, "chronicle run nowhere 'a task' --json");
    until("it is refused", || terminal.screen().contains("ended with 2"));
    let line = terminal.joined().lines().next().unwrap_or_default().to_owned();
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
}

/// Whether a line is a copy of the one that moves.
fn is_moving(line: &str) -> bool {
    line.contains("] · ") && line.contains(" tokens")
}

#[test]
fn needs_tmux_the_demo_leaves_no_line_that_moved_and_breaks_between_words() {
    for width in WIDTHS {
        let session = Session::new();
        let terminal = Terminal::of_width(&session, width, "chronicle demo");
        until("it ends", || terminal.screen().contains("ended with 0"));
        // The head of the ledger is longer than a line, and what follows it is to be copied, so it is never broken by us.
        let shown = assert_unbroken(&terminal, "  head ");
        let stale: Vec<&str> = shown.lines().filter(|line| is_moving(line)).collect();
        assert_eq!(stale, Vec::<&str>::new(), "{shown}");
        assert!(shown.contains("the supervisor is dead"), "{shown}");
        let typed = words(&terminal.joined());
        assert!(typed.contains("--agent scripted:demo-script.yaml --trust"), "{typed}");
    }
}

const WAITS: &str = r#"
work:
  - usage: {input: 1200, output: 34}
  - wait_for: {file: go}
  - complete: {summary: waited}
"#;

#[test]
fn needs_tmux_words_of_other_threads_leave_no_line_that_moved() {
    let session = Session::with("{name: Small, phases: {work: {}}}", WAITS);
    let terminal = Terminal::new(&session, RUN);
    until("the line moves", || terminal.screen().lines().any(is_moving));
    // Echoed behind the line.
    terminal.tmux(&["send-keys", "C-c"]);
    until("it is paused", || terminal.screen().contains("ended with 130"));
    let shown = terminal.everything();
    assert!(shown.contains("Pausing: the worker is being stopped."), "{shown}");
    assert!(!shown.lines().any(is_moving), "{shown}");
}

#[test]
fn needs_tmux_the_line_that_moves_counts_while_a_worker_works() {
    let session = Session::with("{name: Small, phases: {work: {}}}", WAITS);
    let terminal = Terminal::new(&session, RUN);
    let counted = || {
        let screen = terminal.screen();
        let line = screen.lines().find(|line| is_moving(line) && line.contains("1,234 tokens"))?;
        line.split(" · ").nth(1).map(str::to_owned)
    };
    until("the line moves", || counted().is_some());
    let first = counted();
    until("it counts", || counted().is_some_and(|now| Some(&now) != first.as_ref()));
    session.write("go", "");
    until("it ends", || terminal.screen().contains("ended with 0"));
    assert!(!terminal.everything().lines().any(is_moving), "it is erased at the end");
}
