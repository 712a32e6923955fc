//! What people get wrong, and what disks do to files: an error that names the place, the right exit code, no harm done.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::session::{RUN, Said, Session};

const WORKFLOW: &str = "
name: Small
phases:
  work: {next: [done]}
";
const SCRIPT: &str = "work: [{complete: {summary: worked}}]";

/// Runs `main` with that workflow.
fn run(workflow: impl AsRef<[u8]>) -> (Session, Said) {
    let session = Session::with("", SCRIPT);
    session.write(".chronicle/workflows/main.yaml", workflow);
    let said = session.run();
    (session, said)
}

/// It is an error for people, without a trace of the program's inside, and nothing was begun.
#[track_caller]
fn is_refused(session: &Session, said: Said, code: i32) -> Said {
    let said = said.exits(code);
    assert!(said.stderr.contains("Error: "), "{}", said.stderr);
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    assert_eq!(session.runs(), Vec::<String>::new(), "no run was begun");
    said
}

#[test]
fn a_broken_workflow_is_shown_where_it_is_broken() {
    let workflow = "name: Broken\nphases:\n  plan:\n    nxt: [build]\n    next: [biuld]\n  build:\n    approval: perhaps\n";
    let (session, said) = run(workflow);
    let said = is_refused(&session, said, 3);
    let shown = session.redact(&said.stderr);
    for words in [
        "<project>/.chronicle/workflows/main.yaml:4:5",
        "<project>/.chronicle/workflows/main.yaml:7:15",
        "nxt: [build]",
        "did you mean `next`?",
        "no phase is called `biuld`",
        "main.yaml` cannot be run: 3 errors",
    ] {
        assert!(shown.contains(words), "no `{words}` in:\n{shown}");
    }
}

#[test]
fn invalid_yaml_is_shown_at_its_place() {
    for workflow in ["phases: [", "phases:\n  a: {next: [b}\n", "a: b: c\n", "\t- x\n"] {
        let (session, said) = run(workflow);
        let said = is_refused(&session, said, 3);
        assert!(said.stderr.contains("main.yaml:"), "{workflow:?}: {}", said.stderr);
    }
}

#[test]
fn a_workflow_without_anything_to_do_is_refused() {
    for workflow in ["", "\n# nothing\n", "null", "[]", "7", "name: Empty\n", "phases: {}\n"] {
        let (session, said) = run(workflow);
        is_refused(&session, said, 3);
    }
}

#[test]
fn a_field_that_this_version_would_ignore_is_refused_by_name() {
    let (session, said) = run(format!("{WORKFLOW}\nguards: {{rules: [nosuch]}}\n"));
    let said = is_refused(&session, said, 3);
    assert!(said.stderr.contains("no file of rules `nosuch`"), "{}", said.stderr);
    assert!(said.stderr.contains("main.yaml:6:1"), "{}", said.stderr);
    for field in ["run: inline", "isolation: worktree"] {
        let (session, said) = run(format!("name: Later\nphases:\n  work: {{{field}}}\n"));
        let said = is_refused(&session, said, 3);
        assert!(said.stderr.contains("this version cannot enforce"), "{}", said.stderr);
    }
}

#[test]
fn binary_garbage_is_no_workflow() {
    let garbage: Vec<u8> = (0..=255).rev().cycle().step_by(7).take(4096).collect();
    let (session, said) = run(garbage);
    is_refused(&session, said, 3).talks("not text in UTF-8");
    let (session, said) = run(b"name: x\0y\nphases: {a: {}}\n");
    is_refused(&session, said, 3);
}

#[test]
fn a_huge_workflow_is_refused() {
    let (session, said) = run("# ".repeat(8_000_000));
    is_refused(&session, said, 3);
    let deep = "a: ".to_owned() + &"[".repeat(100_000);
    let (session, said) = run(deep);
    is_refused(&session, said, 3);
}

#[test]
fn an_unknown_workflow_is_told_with_those_there_are() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write(".chronicle/workflows/feature.yaml", WORKFLOW);
    let said = session.chronicle(&["run", "featrue", "x", "--agent", "scripted:script.yaml"]);
    let said = is_refused(&session, said, 2).talks("no workflow `featrue`");
    let said = said.talks("feature").talks("main");
    for folder in [
        "/.chronicle/workflows`",
        "/.pi/workflows`",
        "/.pi/chronicle/workflows`",
        "/agents/agent-chain.yaml`",
        "/.pi/agents/agent-chain.yaml`",
        "/.config/chronicle/workflows`",
        "/.pi/agent/workflows`",
    ] {
        assert!(said.stderr.contains(folder), "{folder} is not in: {}", said.stderr);
    }
    session.write(".chronicle/workflows/inner.yaml", format!("show: workflows\n{WORKFLOW}"));
    let said = session.chronicle(&["run", "innr", "x", "--agent", "scripted:script.yaml"]).exits(2);
    assert!(!said.stderr.contains("inner"), "it cannot be run: {}", said.stderr);
    let said = session.chronicle(&["run", "./gone.yaml", "x", "--agent", "scripted:script.yaml"]);
    is_refused(&session, said, 3).talks("cannot read `./gone.yaml`");
    let empty = Session::new();
    is_refused(&empty, empty.run(), 2).talks("Hint: there are: bugfix, feature, review");
}

#[test]
fn a_workflow_inside_that_is_not_there_or_turns_in_a_circle_is_refused() {
    let (session, said) = run("name: Outer\nphases:\n  a: {run: workflow, workflow: gone}\n");
    is_refused(&session, said, 3).talks("`gone`");
    let session = Session::with("name: O\nphases:\n  a: {workflow: innr}\n", SCRIPT);
    session.write(".chronicle/workflows/inner.yaml", "{name: I, phases: {b: {}}}");
    is_refused(&session, session.run(), 3).talks("did you mean `inner`?");
    let (session, said) = run("name: Outer\nphases:\n  a: {run: workflow, workflow: main}\n");
    is_refused(&session, said, 3);
}

#[test]
fn an_unknown_agent_is_refused_before_anything_begins() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let with = |agent: &str| session.chronicle(&["run", "main", "x", "--agent", agent]);
    is_refused(&session, with("claud"), 2).talks("agent `claud` is not known");
    is_refused(&session, with("scripted"), 2).talks("scripted:SCRIPT.yaml");
    is_refused(&session, with("command:"), 2).talks("names no program");
    is_refused(&session, with("command:sh 'x"), 2).talks("a quote that is not closed");
    is_refused(&session, session.chronicle(&["run", "main", "x"]), 2).talks("no agent is named");
}

#[test]
fn a_script_that_is_broken_asks_a_person() {
    let session = Session::with("name: S\nphases: {work: {}}\n", "");
    for (script, words) in [
        ("work:\n  - say: a\n  - shout: b\n", "script.yaml:3: unknown word `shout`"),
        ("other: []\n", "has no place `work`; it has `other`"),
        ("work: {2: []}\n", "`work` has no try 1 and no `otherwise`"),
    ] {
        session.write("script.yaml", script);
        session.run().exits(4).talks(words);
        assert_eq!(session.events_of("attempt_started").len(), 1, "asked at once: {words}");
        session.assert_whole();
    }
}

#[test]
fn there_must_be_a_task() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let agent = ["--agent", "scripted:script.yaml"];
    for task in [&[][..], &[""], &["  \n "], &["--task-file", "empty"], &["--task-file", "-"]] {
        session.write("empty", " \n");
        let said = session.chronicle(&[&["run", "main"], task, &agent].concat());
        is_refused(&session, said, 2).talks("there is no task");
    }
    let said = session.chronicle(&["run", "main", "--task-file", "gone", agent[0], agent[1]]);
    is_refused(&session, said, 2).talks("the task cannot be read from `gone`");
    session.write("binary", b"\xff\xfe");
    let said = session.chronicle(&["run", "main", "--task-file", "binary", agent[0], agent[1]]);
    is_refused(&session, said, 2).talks("the task cannot be read from `binary`");
}

/// Characters of one to four bytes, so that one of them lies across any limit.
fn unicode(bytes: usize) -> String {
    "aé→😀\n".repeat(bytes / 11 + 1)
}

#[test]
fn a_task_is_kept_whole_or_refused_and_never_cut() {
    let agent = ["--agent", "scripted:script.yaml"];
    let (file, argument) = (unicode(245_000), unicode(120_000));
    for (task, args) in [(&file, ["--task-file", "task.txt"].as_slice()), (&argument, &[&argument])]
    {
        let session = Session::with(WORKFLOW, SCRIPT);
        session.write("task.txt", &file);
        session.chronicle(&[&["run", "main"], args, &agent].concat()).exits(0);
        let started = session.events_of("run_started");
        assert_eq!(started[0]["data"]["task"], task.as_str(), "{} bytes", task.len());
    }
    let session = Session::with(WORKFLOW, SCRIPT);
    for shift in 0..4 {
        session.write("huge", "x".repeat(shift) + &unicode(300_000));
        let said = session.chronicle(&["run", "main", "--task-file", "huge", agent[0], agent[1]]);
        is_refused(&session, said, 2).talks("the task in `huge` is longer than 300,000 bytes");
    }
    session.write("broken", [unicode(1_000).as_bytes(), b"\xff\n"].concat());
    let said = session.chronicle(&["run", "main", "--task-file", "broken", agent[0], agent[1]]);
    is_refused(&session, said, 2).talks("the task cannot be read from `broken`: invalid utf-8");
}

#[test]
fn bad_flags_are_usage() {
    let session = Session::with(WORKFLOW, SCRIPT);
    for args in [
        &["--no-such-flag"][..],
        &["no-such-command"],
        &[],
        &["run"],
        &["run", "main", "task", "--task-file", "f"],
        &["log", "--since", "many"],
        &["completions", "no-such-shell"],
        &["status", "one", "two"],
    ] {
        let said = session.chronicle(args).exits(2);
        assert!(said.stderr.contains("--help"), "{args:?}: {}", said.stderr);
        assert_eq!(said.stdout, "", "{args:?}");
    }
}

#[test]
fn an_amount_of_dollars_that_is_none_says_how_to_write_one() {
    let session = Session::with(WORKFLOW, SCRIPT);
    for amount in ["abc", "1,50", ""] {
        let said = session.chronicle(&[RUN, &["--budget-usd", amount]].concat());
        let said = is_refused(&session, said, 2);
        said.talks(&format!("`{amount}` is no amount of dollars"))
            .talks("say it like `--budget-usd 2.50`");
    }
}

#[test]
fn a_run_that_is_not_there_is_told() {
    let session = Session::with(WORKFLOW, SCRIPT);
    for command in ["status", "log", "audit", "resume", "approve", "reject", "retry", "cancel"] {
        let said = session.chronicle(&[command, "deadbeef"]).exits(2);
        said.talks("no run `deadbeef`").talks("Hint: `chronicle runs`");
    }
    session.chronicle(&["go", "deadbeef", "work"]).exits(2).talks("no run `deadbeef`");
    for command in ["status", "log", "audit", "resume"] {
        session.chronicle(&[command]).exits(2).talks("there are no runs in");
    }
    session.chronicle(&["runs"]).exits(0).talks("No runs here yet");
    session.chronicle(&["-C", "no/such/folder", "runs"]).exits(2).talks("there is no folder");
}

#[test]
fn a_prefix_of_several_runs_is_not_enough() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(0);
    session.run().exits(0);
    let runs = session.runs();
    let shared = &runs[0][..4];
    let said = session.chronicle(&["status", shared]).exits(2).talks("could be several runs");
    said.talks(&runs[0]).talks(&runs[1]).talks("Hint: give more of the id");
    for run in &runs {
        session.chronicle(&["status", run]).exits(0);
        session.chronicle(&["status", &run[..20]]).exits(0);
        session.chronicle(&["status", &run[20..]]).exits(0);
    }
}

#[test]
fn an_empty_word_names_no_run() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(0);
    session.chronicle(&["cancel", ""]).exits(2);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let folder = session.path(".chronicle");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let can_write = fs::write(folder.join("probe"), "").is_ok();
    if can_write {
        println!("SKIPPED: permissions do not bind this user, so nothing is read-only");
    } else {
        let said = session.run();
        is_refused(&session, said, 70).talks("no run can be made in").talks("Hint: ");
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A file system that takes no files from anybody.
#[test]
fn a_folder_that_nobody_can_write_is_told() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let workflow = session.path(".chronicle/workflows/main.yaml").display().to_string();
    let agent = format!("scripted:{}", session.path("script.yaml").display());
    let said =
        session.chronicle(&["-C", "/sys", "run", &workflow, "task", "--agent", &agent, "--trust"]);
    is_refused(&session, said, 70).talks("no run can be made in `/sys/.chronicle/runs`");
    session.chronicle(&["-C", "/sys", "runs"]).exits(0).talks("No runs here yet");
}

#[test]
fn a_file_where_the_folder_should_be_is_told() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("flow.yaml", WORKFLOW);
    fs::remove_dir_all(session.path(".chronicle")).unwrap();
    session.write(".chronicle", "not a folder");
    let args = ["-C", ".", "run", "./flow.yaml", "task", "--agent", "scripted:script.yaml"];
    for args in
        [&args[..], &["-C", ".", "init", "--yes"], &["-C", ".", "config", "set", "model", "m"]]
    {
        let said = session.chronicle(args).exits(2);
        said.talks("/.chronicle` is in the way: it must be a folder").talks("Hint: move it away");
    }
    session.chronicle(&["-C", ".", "runs"]).exits(0).talks("No runs here yet");
    assert_eq!(session.read(".chronicle"), "not a folder");
}

#[test]
fn a_run_that_never_began_hides_no_other() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(0);
    let begun = session.run_id();
    let never = "fffffff0-0000-7000-8000-000000000000";
    fs::create_dir_all(session.path(".chronicle/runs").join(never)).unwrap();
    session.chronicle(&["runs"]).exits(0).prints("done").talks("never started");
    session.chronicle(&["status", never]).exits(2).talks("it never started");
    session.chronicle(&["resume", never]).exits(2);
    session.chronicle(&["status", &begun]).exits(0);
    session.chronicle(&["log", never]).exits(0);
    let said = session.chronicle(&["audit", never]);
    assert!(said.code.is_some_and(|code| code < 10), "{said:?}");
    session.chronicle(RUN).exits(0);
}

/// Everything that could fool a reader: escapes, line separators, and characters that change the direction of text.
const FOUL: &str = "\u{1b}[31m\u{1b}[2J\u{7}\u{2028}\u{2029}\u{202e}\u{2066}\u{200f}";

fn assert_plain(args: &[&str], said: &Said) {
    for text in [&said.stdout, &said.stderr] {
        let foul = text.chars().find(|it| FOUL.contains(*it) && !it.is_ascii_graphic());
        assert_eq!(foul, None, "{args:?} printed {text:?}");
    }
}

#[test]
fn text_from_anybody_never_reaches_a_terminal_as_it_is() {
    let script = format!(
        "work:\n  - write: {{path: {0:?}, text: x}}\n  - complete: {{summary: {0:?}}}\n",
        format!("s{FOUL}")
    );
    let script = yaml(&script);
    let workflow = yaml(&format!(
        "name: Plain\ndescription: {0:?}\nphases:\n  work: {{persona: {0:?}, description: {0:?}, instructions: {0:?}, approval: after, next: [done]}}\n",
        format!("You are d{FOUL} e")
    ));
    let session = Session::with(&workflow, &script);
    let task = format!("task{FOUL}");
    let run = ["run", "main", &task, "--agent", "scripted:script.yaml"];
    let all: [&[&str]; 15] = [
        &["list"],
        &["check"],
        &["graph", "main"],
        &["run", "main", &task, "--dry-run"],
        &run,
        &["status"],
        &["runs"],
        &["log", "--tools"],
        &["note", &task],
        &["reject", &task],
        &["status", &task],
        &["run", &task],
        &["check", &task],
        &["config", "get", &task],
        &[&task],
    ];
    for args in all {
        assert_plain(args, &session.chronicle(args));
    }
}

#[test]
fn a_name_that_could_fool_a_reader_is_refused() {
    for workflow in [
        format!("name: {:?}\nphases: {{work: {{}}}}\n", format!("N{FOUL}")),
        format!("phases: {{work: {{name: {:?}}}}}\n", format!("N{FOUL}")),
        format!("phases:\n  {:?}: {{}}\n", format!("N{FOUL}")),
    ] {
        let session = Session::with(&yaml(&workflow), "");
        let said = session.chronicle(&["check"]).exits(3).prints("contains a control character");
        assert_plain(&["check"], &said);
    }
}

/// Rust's escapes of characters as YAML has them.
fn yaml(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\\u{") {
        let (digits, behind) = behind.split_once('}').unwrap();
        let _ = write!(out, "{before}\\u{digits:0>4}");
        rest = behind;
    }
    out + rest
}

#[test]
fn a_file_is_no_project() {
    let session = Session::new();
    session.write("main.c", "");
    session.chronicle(&["-C", "main.c", "runs"]).exits(2).talks("`main.c` is not a folder");
}

/// Before anything is written: a run that fails at its first start is not begun.
#[test]
fn an_agent_that_is_not_there_starts_no_run() {
    let session =
        Session::with("{name: One, phases: {work: {next: [done]}}}", "work: [{complete: {}}]");
    for (agent, words) in [
        ("scripted:none.yaml", "names a script that is not there: `none.yaml`"),
        ("command:no-such-program --flag", "names a program that is not there: `no-such-program`"),
        ("command:./none", "names a program that is not there: `./none`"),
    ] {
        session.chronicle(&["run", "main", "t", "--agent", agent]).exits(2).talks(words);
    }
    assert!(session.runs().is_empty());
}

#[test]
fn a_mistyped_workflow_says_what_was_meant() {
    let session = Session::with("{name: One, phases: {work: {next: [done]}}}", "{}");
    session.chronicle(&["run", "mian", "t"]).exits(2).talks("did you mean `main`?");
    session.chronicle(&["run", "bugfixx", "t"]).exits(2).talks("did you mean `bugfix`?");
}

/// Where the environment names nobody, the system does.
#[test]
fn a_person_without_a_name_in_the_environment_has_the_systems() {
    let session =
        Session::with("{name: One, phases: {work: {next: [done]}}}", "work: [{complete: {}}]");
    let run = "env -u USER -u LOGNAME chronicle run main t --agent scripted:script.yaml";
    session.shell(run).exits(0);
    let name = session.shell("id -un").exits(0).stdout;
    assert_eq!(session.events_of("run_started")[0]["data"]["who"], name.trim());
}
