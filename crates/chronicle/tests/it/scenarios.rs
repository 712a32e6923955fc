//! Whole sessions at a shell, one folder each below `tests/scenarios`.
//!
//! A folder has a `workflow.yaml` (the workflow `main`), a `script.yaml` for the scripted agent, or a whole tree in
//! `project/`; what a person types in `session.txt`; and in `expected.txt` all that is said to it, with ids and times
//! redacted. `!` marks what goes to standard error. `UPDATE_EXPECT=1` writes `expected.txt` anew: read it, it must be right.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::session::{Session, short};

/// A test per folder.
macro_rules! scenarios {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(#[test] fn $name() { play(stringify!($name)); })*
    };
}

scenarios! {
    approval
    back_and_forth
    budget
    builtin_bugfix
    builtin_feature
    builtin_review
    by_hand
    circle
    command_agent
    command_fails
    commands
    configured
    continued
    crash_to_person
    evidence
    fallback
    flood
    follow_ups
    garbage
    grace
    handover
    help_too_deep
    idle
    loop_limit
    needs_input
    no_checks
    no_result
    notes
    on_gate_fail
    person_wanted
    program_not_found
    question
    quota
    readme
    refused_target
    rejected_before
    secrets
    session_gone
    settings
    standstill
    strays
    sub_workflow
    three_phases
    timeout
    tools
    trees
    trust
    unasked_tool
    usage
    way_out
    worker_approves
}

#[test]
fn no_folder_is_forgotten() {
    let mut folders: Vec<String> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort_unstable();
    let mut names: Vec<String> = NAMES.iter().map(|name| name.replace('_', "-")).collect();
    names.sort_unstable();
    assert_eq!(folders, names);
}

/// Whose worker is ended in the middle of its words: whether the last of them is still heard is chance.
const CUT_SHORT: [&str; 2] = ["circle", "standstill"];

/// How many lines and events an audit counted is left out.
fn without_counts(told: &str) -> String {
    let line = |line: &str| match line.split_once("chain whole: ") {
        Some((before, _)) => format!("{before}chain whole: <counts>"),
        None => line.to_owned(),
    };
    told.lines().map(line).fold(String::new(), |all, line| all + &line + "\n")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

fn play(name: &str) {
    let folder = root().join(name.replace('_', "-"));
    let session = set_up(&folder);
    let typed = fs::read_to_string(folder.join("session.txt")).unwrap();
    let commands: Vec<&str> = typed.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert_eq!(commands.last(), Some(&"chronicle audit"), "every scenario ends with its audit");
    let mut told = String::new();
    for command in commands {
        told.push_str(&turn(&session, command));
    }
    if CUT_SHORT.contains(&name) {
        told = without_counts(&told);
    }
    compare(&folder.join("expected.txt"), &told);
    session.assert_whole();
}

fn set_up(folder: &Path) -> Session {
    let session = Session::new();
    copy(&folder.join("project"), &session.project());
    for (from, to) in
        [("workflow.yaml", ".chronicle/workflows/main.yaml"), ("script.yaml", "script.yaml")]
    {
        if let Ok(text) = fs::read(folder.join(from)) {
            session.write(to, text);
        }
    }
    session
}

/// Copies a tree, which may be none.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// One command and all that it says.
fn turn(session: &Session, command: &str) -> String {
    let run = session.runs().pop();
    let typed = run.map_or(command.to_owned(), |run| command.replace("<run>", short(&run)));
    let said = session.shell(&typed);
    let mut told = format!("$ {command}\n");
    for line in session.redact(&said.stderr).lines() {
        let _ = writeln!(told, "{}", format!("! {line}").trim_end());
    }
    for line in session.redact(&said.stdout).lines() {
        let _ = writeln!(told, "{}", line.trim_end());
    }
    let _ =
        writeln!(told, "[exit {}]\n", said.code.map_or("by a signal".into(), |c| c.to_string()));
    told
}

fn compare(file: &Path, told: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file, told).unwrap();
        return;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    if expected == told {
        return;
    }
    let pairs = expected.lines().zip(told.lines()).enumerate();
    let differs = pairs.filter(|(_, (expected, told))| expected != told).map(|(index, _)| index);
    let first =
        differs.into_iter().next().unwrap_or(expected.lines().count().min(told.lines().count()));
    let line = |text: &str| text.lines().nth(first).unwrap_or("(nothing)").to_owned();
    panic!(
        "{}:{} differs:\n  expected: {}\n  told:     {}\n\nAll that was told:\n{told}",
        file.display(),
        first + 1,
        line(&expected),
        line(told)
    );
}
