//! What lists and views look like on terminals of several widths.

use crate::session::{Session, until};
use crate::terminal::Terminal;

const WORKFLOW: &str =
    "{name: Small, phases: {work: {approval: after, next: [end]}, end: {next: [done]}}}";
const SCRIPT: &str = "work: [{complete: {}}]\nend: [{complete: {}}]";

fn session() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(4);
    session
}

/// What a command shows on a terminal of that width.
fn on(session: &Session, columns: u16, line: &str) -> String {
    let terminal = Terminal::of_width(session, columns, line);
    until("it has ended", || terminal.screen().contains("ended with"));
    terminal.screen()
}

#[test]
fn needs_tmux_the_titles_of_runs_are_whole() {
    let session = session();
    for columns in [60, 80, 200] {
        let screen = on(&session, columns, "chronicle runs");
        let head = screen.lines().next().unwrap().to_owned();
        assert!(!head.contains('…') && head.ends_with("TASK"), "{columns}: {head}");
    }
    let wide = on(&session, 200, "chronicle runs");
    assert!(wide.starts_with("RUN       STATUS       WORKFLOW  AT    CHANGED"), "{wide}");
}

#[test]
fn runs_of_every_project_name_their_project() {
    let session = session();
    let folder = session.project();
    let name = folder.file_name().unwrap().to_str().unwrap();
    session.chronicle(&["runs", "--all"]).exits(0).prints(name);
    let here = session.chronicle(&["runs"]).exits(0);
    assert!(!here.stdout.contains(name), "{}", here.stdout);
    let row = &session.json(&["runs", "--all"])["runs"][0];
    assert_eq!(row["project"], folder.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_run_that_was_cancelled_is_nowhere_any_more() {
    let session = session();
    session.chronicle(&["cancel"]).exits(0);
    let status = session.chronicle(&["status"]).exits(0).prints("work [×] -> end [ ]");
    assert!(!status.stdout.contains('●'), "{}", status.stdout);
    assert_eq!(session.json(&["status"])["phases"][0]["mark"], "stopped");
}

/// Whether a line of words stands on the screen with none of them cut in two.
fn has_words(screen: &str, words: &str) -> bool {
    let shown: Vec<&str> = screen.split_whitespace().collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    shown.windows(words.len()).any(|part| part == words)
}

#[test]
fn needs_tmux_words_are_not_cut_in_two() {
    let session = session();
    let about = "Looks for whatever could go wrong in a change before anybody relies on it";
    let persona = format!("---\nname: looker\ndescription: {about}\n---\nYou look.\n");
    session.write(".chronicle/personas/looker.md", persona);
    session.write(
        ".chronicle/config.toml",
        "verify = ['cargo test --workspace --all-targets', 'make lint']\n",
    );
    let shown = on(&session, 80, "chronicle list | cat; clear; chronicle list");
    assert!(has_words(&shown, "Looks for whatever could go wrong"), "{shown}");
    for (columns, line) in
        [(80, "chronicle list"), (80, "chronicle config"), (60, "chronicle status")]
    {
        let whole = session.shell(line).exits(0).stdout;
        let screen = on(&session, columns, &format!("{line} | cat >/dev/null; {line}"));
        for word in screen.split_whitespace().filter(|word| !word.contains("ended")) {
            let is_known = whole.split_whitespace().any(|it| it == word);
            assert!(
                is_known || ["ended", "with", "0"].contains(&word),
                "{columns}: `{word}` in\n{screen}"
            );
        }
    }
}
