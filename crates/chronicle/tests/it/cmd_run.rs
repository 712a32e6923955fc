//! `chronicle run`: what it leaves on disk, and where the task may come from.

use std::fs;

use serde_json::Value;

use crate::session::{RUN, Session};

const WORKFLOW: &str = "
name: Small
phases:
  work: {next: [done]}
";
const SCRIPT: &str = "
work:
  - usage: {input: 1000, output: 234, usd: 0.05}
  - complete: {summary: worked}
";

#[test]
fn its_folder_keeps_records_out_of_git() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(0);
    assert_eq!(
        session.read(".chronicle/.gitignore"),
        "/runs/\n/trees.git/\n/worktrees/\n/merge/\n*.unfinished\n"
    );
    session.write(".chronicle/.gitignore", "mine\n");
    session.run().exits(0);
    assert_eq!(session.read(".chronicle/.gitignore"), "mine\n", "a person's own file stays");
}

#[test]
fn git_sees_definitions_and_no_records_needs_git() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.shell("git init --quiet").exits(0);
    session.run().exits(0);
    let said = session.shell("git status --porcelain --untracked-files=all").exits(0);
    let said = said.prints(".chronicle/workflows/main.yaml").prints(".chronicle/.gitignore");
    assert!(!said.stdout.contains("runs"), "{}", said.stdout);
}

fn assert_older_format(run: &Value, id: &str) {
    assert_eq!(run["id"], id);
    assert_eq!(run["workflowName"], "Small");
    assert_eq!(run["currentState"], "done");
    assert_eq!(run["status"], "done");
    assert_eq!(run["totalTokens"], 1234);
    assert_eq!(run["initialTask"], "the task");
    let history = run["history"].as_array().unwrap();
    assert_eq!(history.len(), 1, "{history:?}");
    assert_eq!(history[0]["state"], "work");
    assert_eq!(history[0]["agentName"], "scripted");
    assert_eq!(history[0]["summary"], "worked");
    assert_eq!(history[0]["tokensUsed"], 1234);
    assert_eq!(history[0]["exitCode"], 0);
}

#[test]
fn its_run_json_has_the_names_of_the_older_format() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.run().exits(0);
    let text = fs::read_to_string(session.run_file("run.json")).unwrap();
    assert_older_format(&serde_json::from_str(&text).unwrap(), &session.run_id());
    assert!(!session.has(".pi"), "no mirror where nobody looks");
}

#[test]
fn its_mirror_is_written_where_pi_is_used() {
    let session = Session::with(WORKFLOW, SCRIPT);
    fs::create_dir(session.path(".pi")).unwrap();
    session.run().exits(0);
    let id = session.run_id();
    let text = session.read(&format!(".pi/chronicle/sessions/{id}.json"));
    assert_older_format(&serde_json::from_str(&text).unwrap(), &id);
}

#[test]
fn an_intervention_is_called_so_in_the_older_format() {
    let session =
        Session::with("name: Small\nphases: {work: {run: command, commands: ['false']}}\n", "");
    session.run().exits(4);
    let text = fs::read_to_string(session.run_file("run.json")).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&run["status"], &run["currentState"]),
        (&"human_intervention".into(), &"work".into())
    );
}

#[test]
fn the_task_may_come_from_a_file_or_from_standard_input() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let from = |file| ["run", "main", "--task-file", file, "--agent", "scripted:script.yaml"];
    session.write("task.md", "From a file,\nin two lines\n");
    session.chronicle(&from("task.md")).exits(0);
    assert_eq!(session.json(&["status"])["task"], "From a file,\nin two lines\n");
    session.chronicle_told(&from("-"), "From the input\n").exits(0);
    assert_eq!(session.json(&["status"])["task"], "From the input\n");
}

#[test]
fn a_task_is_shown_on_one_line_and_cannot_fool_a_terminal() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let task = "one\ntwo\u{1b}[2Jthree \u{7}";
    session.chronicle(&["run", "main", task, "--agent", "scripted:script.yaml"]).exits(0);
    for command in ["status", "runs", "log"] {
        let said = session.chronicle(&[command]).exits(0);
        assert!(!said.stdout.contains(['\u{1b}', '\u{7}']), "{}", said.stdout);
        assert!(said.stdout.contains("one two"), "{}", said.stdout);
    }
    assert_eq!(session.json(&["status"])["task"], task);
}

#[test]
fn a_workflow_may_be_given_by_its_path() {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("elsewhere/review.yaml", WORKFLOW);
    session.write("folder/workflow.yaml", WORKFLOW);
    for path in ["./elsewhere/review.yaml", "elsewhere/review.yaml", "./folder"] {
        session.chronicle(&["run", path, "x", "--agent", "scripted:script.yaml"]).exits(0);
    }
}

#[test]
fn it_works_from_a_folder_below_the_project() {
    let session = Session::with(WORKFLOW, SCRIPT);
    fs::create_dir_all(session.path("a/b")).unwrap();
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(RUN).current_dir(session.path("a/b"));
    session.start(command, "").wait().exits(0);
    assert_eq!(session.runs().len(), 1);
    session.assert_whole();
}

#[test]
fn the_users_own_workflows_are_found_after_the_projects() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let mine = session.project().join("../home/.config/chronicle/workflows");
    fs::create_dir_all(&mine).unwrap();
    for name in ["main", "mine"] {
        fs::write(mine.join(format!("{name}.yaml")), WORKFLOW.replace("Small", "Mine")).unwrap();
    }
    session.run().exits(0);
    assert_eq!(session.json(&["status"])["workflow"], "Small");
    session.chronicle(&["run", "mine", "x", "--agent", "scripted:script.yaml"]).exits(0);
    assert_eq!(session.json(&["status"])["workflow"], "Mine");
}

#[test]
fn a_run_is_frozen_when_it_starts() {
    let workflow = "name: Frozen\nphases:\n  one: {approval: after, next: [two]}\n  two: {}\n";
    let session = Session::with(workflow, "one: [{next: {}}]\ntwo: [{next: {}}]\n");
    session.run().exits(4);
    session.write(".chronicle/workflows/main.yaml", "name: Other\nphases: {three: {}}\n");
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.path_of_phases(), ["one", "two"]);
    assert_eq!(session.json(&["status"])["workflow"], "Frozen");
}

#[test]
fn a_file_of_a_strange_name_is_a_file() {
    let script = r#"work: [{write: {path: "späte Änderung 'n' \"so\".md", text: ja}}, {next: {}}]"#;
    let session = Session::with(WORKFLOW, script);
    session.run().exits(0);
    assert_eq!(session.read("späte Änderung 'n' \"so\".md"), "ja");
    session
        .chronicle(&["log", "--tools"])
        .exits(0)
        .prints("created `späte Änderung 'n' \"so\".md`");
}
