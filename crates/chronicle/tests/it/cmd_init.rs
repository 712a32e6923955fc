//! `chronicle init`: what it finds, writes and leaves alone.

use std::fs;

use crate::session::{Said, Session, until};
use crate::terminal::Terminal;

const SCRIPT: &str = "
work:
  1: [{append: {path: log, text: x}}, {next: {summary: first}}]
  otherwise: [{write: {path: good, text: ''}}, {next: {summary: second}}]
review: [{complete: {outcome: pass, summary: good}}]
";

/// A project without anything, and a person who trusts nothing yet.
fn fresh() -> Session {
    let session = Session::new();
    fs::remove_dir_all(session.path(".chronicle")).unwrap();
    session.distrust();
    session.write("script.yaml", SCRIPT);
    session
}

#[test]
fn what_it_writes_runs_at_once_and_is_judged_by_the_projects_own_checks() {
    let session = fresh();
    session.write("Makefile", "check:\n\ttest -e good\n");
    let said = session.chronicle(&["-C", ".", "init"]).exits(0);
    let said = said
        .prints("wrote  .chronicle/config.toml")
        .prints("wrote  .chronicle/workflows/change.yaml");
    said.prints("checks  make check").talks("Next: chronicle run change");
    // An editor finds what to check the workflow by.
    let first = session.read(".chronicle/workflows/change.yaml");
    let named = first.lines().next().and_then(|line| line.split_once("$schema=")).unwrap().1;
    assert!(session.read(&format!(".chronicle/workflows/{named}")).contains("\"phases\""));
    assert!(session.read(".chronicle/config.toml").contains("\nverify = [\"make check\"]\n"));
    // The path may not have `make`: what counts is that the command is the one that was found.
    let text = session.read(".chronicle/config.toml").replace("make check", "test -e good");
    session.write(".chronicle/config.toml", text);
    session.chronicle(&["trust"]).exits(0).prints(".chronicle/config.toml");
    session.chronicle(&["run", "change", "x", "--agent", "scripted:script.yaml"]).exits(0);
    assert_eq!(session.path_of_phases(), ["work", "verify", "work", "verify"]);
    session.assert_whole();
}

#[test]
fn without_checks_its_workflow_is_judged_by_a_reviewer_and_needs_no_question() {
    let session = fresh();
    session.chronicle(&["-C", ".", "init", "--yes"]).exits(0).prints("checks  none found");
    session.chronicle(&["run", "change", "x", "--agent", "scripted:script.yaml"]).exits(0);
    assert_eq!(session.path_of_phases(), ["work", "review"]);
}

#[test]
fn it_never_touches_what_is_there() {
    let session = fresh();
    session.chronicle(&["-C", ".", "init", "--yes"]).exits(0);
    let files = [
        ".chronicle/config.toml",
        ".chronicle/workflow.schema.json",
        ".chronicle/workflows/change.yaml",
    ];
    let before = files.map(|file| session.read(file));
    session.write("Cargo.toml", "[package]\n");
    let again = session.json(&["init", "--yes"]);
    assert_eq!(again["wrote"], serde_json::json!([]));
    assert_eq!(again["kept"], serde_json::json!(files));
    assert_eq!(files.map(|file| session.read(file)), before);
    session.write(".chronicle/config.toml", "agent = \"mine\"\n");
    fs::rename(session.path(files[2]), session.path(".chronicle/workflows/ours.yaml")).unwrap();
    session.chronicle(&["init", "--yes"]).exits(0).prints("kept   .chronicle/workflows/ours.yaml");
    assert_eq!(session.read(".chronicle/config.toml"), "agent = \"mine\"\n");
    assert!(!session.has(files[2]));
}

#[test]
fn it_finds_what_other_tools_left_and_the_agents_there_are() {
    let session = fresh();
    session.write(".claude/agents/reviewer.md", "---\nname: reviewer\n---\nYou review.\n");
    session.write(".pi/workflows/spir/workflow.yaml", "name: Spir\n");
    session.write("bin/claude", "#!/bin/sh\necho 2.0.9 of a fake\n");
    session.shell("chmod +x bin/claude").exits(0);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["-C", ".", "init", "--json"]).env("PATH", session.path("bin"));
    let report = session.start(command, "").wait().exits(0).json();
    let definitions = report["definitions"].as_array().unwrap();
    assert_eq!(definitions.len(), 2, "{definitions:?}");
    assert_eq!(report["agents"][0], format!("claude ({})", session.path("bin/claude").display()));
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["doctor", "--json"]).env("PATH", session.path("bin"));
    let said = session.start(command, "").wait().json();
    let agent =
        said["findings"].as_array().unwrap().iter().find(|one| one["what"] == "agent").unwrap();
    let found = agent["found"].as_str().unwrap();
    assert!(found.starts_with("claude at `") && found.contains("2.0.9 of a fake"), "{found}");
    assert!(found.contains("tested with 2.1.325, and older ones may lack"), "{found}");
    assert!(found.contains("started for work, it gave no answer"), "{found}");
    assert_eq!(agent["good"], false);
    assert!(
        agent["more"].to_string().contains("no login was found; start `claude` once"),
        "{agent}"
    );
}

#[test]
fn without_any_agent_the_doctor_says_how_to_get_one() {
    let session = fresh();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["doctor"]).env("PATH", session.path("bin"));
    let said = session.start(command, "").wait().exits(1);
    said.prints("none that Chronicle can drive is installed: claude, pi")
        .prints("`npm install -g @anthropic-ai/claude-code` brings `claude`")
        .prints("without any: `chronicle demo`");
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["run", "review", "look", "--trust"]).env("PATH", session.path("bin"));
    let said = session.start(command, "").wait().exits(2);
    said.talks("and none is installed").talks("`chronicle demo`").talks("--agent scripted:");
}

#[test]
fn an_agent_that_hangs_does_not_hold_up_the_doctor() {
    let session = fresh();
    session.write("bin/pi", "#!/bin/sh\nwhile :; do :; done\n");
    session.shell("chmod +x bin/pi").exits(0);
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["doctor"]).env("PATH", session.path("bin"));
    let said = session.start(command, "").wait().exits(1);
    said.prints("pi at `")
        .prints("`--version` printed no version within 20 seconds, without a word");
}

/// A command with the programs of `bin` alone.
fn beside(session: &Session, args: &[&str]) -> Said {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    let path = format!("{}:/usr/bin:/bin", session.path("bin").display());
    command.args(args).env("PATH", path);
    session.start(command, "").wait()
}

/// What is no agent, or one that lacks what is needed, is found by `doctor`, and by `run` before there is a run.
#[test]
fn a_program_that_is_no_agent_is_found_before_the_first_attempt() {
    let old = "case $1 in --version) echo 0.74.2;; *) echo 'Error: Unknown option: --session-id' >&2; exit 1;; esac";
    for (name, script, found, refused) in [
        (
            "claude",
            "echo hello",
            "`--version` printed no version; it said: hello",
            "cannot be used: `--version` printed no version; it said: hello",
        ),
        (
            "claude",
            "exit 3",
            "`--version` printed no version, without a word",
            "cannot be used: `--version` printed no version, without a word",
        ),
        (
            "pi",
            old,
            "started for work, it gave no answer; it said: Error: Unknown option: --session-id",
            "is too old (0.74.2): started for work, it gave no answer; it said: Error: Unknown option",
        ),
    ] {
        let session = fresh();
        session.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
        session.shell(&format!("chmod +x bin/{name}")).exits(0);
        beside(&session, &["doctor"]).exits(1).prints(&format!("{name} at `")).prints(found);
        let said = beside(&session, &["run", "review", "look", "--trust", "--agent", name]);
        said.exits(2).talks(&format!("Error: agent `{name}`")).talks(refused).talks("Hint: ");
        assert_eq!(session.runs(), Vec::<String>::new());
    }
}

/// One that says a good version and does not answer is found by `doctor` alone: `run` does not start it twice.
#[test]
fn the_doctor_starts_agents_and_a_run_asks_for_a_version_once() {
    let session = fresh();
    let script = "echo \"$1\" >> asked; case $1 in --version) echo '2.1.325 (Claude Code)';; *) echo nonsense; exit 1;; esac";
    session.write("bin/claude", format!("#!/bin/sh\n{script}\n"));
    session.shell("chmod +x bin/claude").exits(0);
    let found = "2.1.325 (Claude Code), a version that was tested: started for work, it gave no answer; it said: nonsense";
    beside(&session, &["doctor"]).exits(1).prints(found);
    for _ in 0..2 {
        std::fs::write(session.path("asked"), "").unwrap();
        beside(&session, &["run", "review", "look", "--trust", "--agent", "claude"]).exits(4);
    }
    assert!(!session.read("asked").contains("--version"), "{}", session.read("asked"));
}

#[test]
fn needs_tmux_it_asks_for_the_checks_where_it_finds_none() {
    let session = fresh();
    let terminal = Terminal::new(&session, "chronicle -C . init");
    until("it asks", || terminal.screen().contains("Which command tells whether"));
    terminal.tmux(&["send-keys", "sh test.sh", "Enter"]);
    until("it asks again", || terminal.screen().contains("Another one?"));
    terminal.tmux(&["send-keys", "Enter"]);
    until("it ends", || terminal.screen().contains("ended with 0"));
    assert!(session.read(".chronicle/config.toml").contains("\nverify = [\"sh test.sh\"]\n"));
    assert!(session.read(".chronicle/workflows/change.yaml").contains("{verify}"));
}

/// What a foreign project's build files say is run only after a person has agreed.
#[test]
fn without_a_terminal_it_agrees_to_nothing() {
    let session = Session::new();
    session.distrust();
    session.write("Makefile", "test:\n\ttouch pwned\n");
    session.chronicle(&["init"]).exits(0);
    session.write("script.yaml", "{}");
    let args = ["run", "review", "a task", "--agent", "scripted:script.yaml"];
    session.chronicle(&args).exits(2).talks("is not trusted on this machine yet");
    assert!(!session.has("pwned"));
    assert!(
        session
            .chronicle(&["trust", "--list"])
            .stdout
            .lines()
            .all(|line| !line.contains("project"))
    );
}
