//! Trust: what asks, what does not, and who may answer. The scenario `trust` has a whole session.

use std::fs;

use crate::session::{RUN, Session, until};
use crate::terminal::Terminal;

const WORKFLOW: &str = "
name: Small
phases:
  look: {run: command, commands: [echo looking], next: [work]}
  work: {next: [done]}
";
const SCRIPT: &str = "work: [{next: {summary: worked}}]";

fn untrusted() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.distrust();
    session
}

#[test]
fn nothing_starts_before_a_person_agreed() {
    let session = untrusted();
    let said = session.run().exits(2).talks("is not trusted on this machine yet");
    said.talks("`.chronicle/workflows/main.yaml`").talks("chronicle trust");
    assert_eq!(session.runs(), Vec::<String>::new());
    assert!(!session.has(".chronicle/runs"));
    session.chronicle(&["trust"]).exits(0);
    session.run().exits(0);
}

#[test]
fn more_files_than_a_person_can_agree_to_are_refused_whole() {
    let session = untrusted();
    for index in 0..5_001 {
        session.write(&format!("agents/a{index}.md"), "x");
    }
    session.chronicle(&["trust"]).exits(70).talks("more than 5000 files of this project");
    session.run().exits(2).talks("is not trusted on this machine yet");
}

#[test]
fn a_workflow_given_by_its_path_is_the_projects_own_too() {
    let session = untrusted();
    session.write("elsewhere/review.yaml", WORKFLOW);
    let run = ["run", "./elsewhere/review.yaml", "x", "--agent", "scripted:script.yaml"];
    session.chronicle(&run).exits(2).talks("`elsewhere/review.yaml`");
    session.chronicle(&["trust"]).exits(0);
    session
        .chronicle(&run)
        .exits(2)
        .talks("has changed since you trusted it: `elsewhere/review.yaml`");
    session.chronicle(&[&run[..], &["--trust"]].concat()).exits(0);
    session.chronicle(&run).exits(2);
}

#[test]
fn only_what_the_run_uses_is_asked_about_and_changes_are_named() {
    let session = untrusted();
    session.write(".chronicle/workflows/other.yaml", WORKFLOW);
    session.chronicle(&["trust"]).exits(0).prints(".chronicle/workflows/other.yaml");
    session.write(".chronicle/workflows/other.yaml", WORKFLOW.replace("looking", "stealing"));
    session.run().exits(0);
    let other = ["run", "other", "x", "--agent", "scripted:script.yaml"];
    let said = session.chronicle(&other).exits(2).talks("changed since you trusted it");
    assert!(!said.stderr.contains("main.yaml"), "{}", said.stderr);
    session.write(".chronicle/config.toml", "verify = ['curl evil']\n");
    session.run().exits(2).talks("`.chronicle/config.toml`");
}

#[test]
fn built_in_workflows_ask_only_for_the_projects_commands() {
    let session = untrusted();
    fs::remove_dir_all(session.path(".chronicle")).unwrap();
    session.write(
        "script.yaml",
        "look: [{next: {}}]\ndoubt: [{complete: {summary: fine}}]\nplan: [{next: {}}]\n",
    );
    session
        .chronicle(&["-C", ".", "run", "review", "x", "--agent", "scripted:script.yaml"])
        .exits(0);
    session.write("Makefile", "test:\n\ttrue\n");
    let feature = ["run", "feature", "x", "--agent", "scripted:script.yaml"];
    session.chronicle(&feature).exits(2).talks("`verify commands`");
    session.chronicle(&["trust"]).exits(0).prints("verify commands");
    session.chronicle(&feature).exits(4);
    session.write("Makefile", "check:\n\ttrue\n");
    session
        .chronicle(&feature)
        .exits(2)
        .talks("has changed since you trusted it: `verify commands`");
}

#[test]
fn a_folder_named_by_the_user_is_trusted_and_one_beside_it_is_not() {
    let session = untrusted();
    let beside = format!("trust.folders = ['{}x']\n", session.project().display());
    fs::write(session.user().join("config.toml"), beside).unwrap();
    session.run().exits(2);
    let below = format!("trust.folders = ['{}']\n", session.project().parent().unwrap().display());
    fs::write(session.user().join("config.toml"), below).unwrap();
    session.run().exits(0);
}

#[test]
fn a_run_that_came_with_the_files_is_not_resumed_unasked() {
    let waiting = Session::with(
        "{name: W, phases: {a: {approval: after, next: [b]}, b: {}}}",
        "a: [{next: {}}]\nb: [{next: {}}]",
    );
    waiting.run().exits(4);
    waiting.chronicle(&["approve", &waiting.short()]).exits(0);
    let session = untrusted();
    session.write("script.yaml", "a: [{next: {}}]\nb: [{next: {}}]");
    let (from, to) = (waiting.path(".chronicle/runs"), session.path(".chronicle/runs"));
    session.shell(&format!("cp -r {} {}", from.display(), to.display())).exits(0);
    // To be looked at is not to be trusted.
    session.chronicle(&["runs"]).exits(0);
    session.chronicle(&["status"]).exits(0);
    session.chronicle(&["resume"]).exits(2).talks(&format!("`run {}`", session.short()));
    session.chronicle(&["resume", "--trust"]).exits(0);
    waiting.chronicle(&["resume"]).exits(0);
}

#[test]
fn a_record_that_makes_no_sense_asks_again() {
    let session = untrusted();
    session.chronicle(&["trust"]).exits(0);
    let folder = session.project().join("../home/.local/state/chronicle/trust");
    let record = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    for text in ["", "{}", "\0", "[]"] {
        fs::write(&record, text).unwrap();
        session.run().exits(2);
    }
    session.chronicle(&["trust"]).exits(0);
    session.run().exits(0);
}

#[test]
fn needs_tmux_a_worker_cannot_answer_the_question_even_on_a_terminal() {
    let session = untrusted();
    let terminal = Terminal::new(&session, &format!("CHRONICLE_ATTEMPT=a7 chronicle {}", typed()));
    until("it is refused", || terminal.screen().contains("ended with 2"));
    assert!(terminal.screen().contains("a7 is a worker"), "{}", terminal.screen());
}

#[test]
fn needs_tmux_a_person_is_asked_once_and_again_when_something_changed() {
    let session = untrusted();
    let line = format!(
        "chronicle {0}; chronicle {0}; echo '# new' >> .chronicle/workflows/main.yaml; chronicle {0}",
        typed()
    );
    let terminal = Terminal::new(&session, &line);
    until("it asks", || terminal.screen().contains("Trust this project as it is now? [y/N]"));
    let screen = terminal.screen();
    assert!(screen.contains(".chronicle/workflows/main.yaml"), "{screen}");
    assert!(screen.contains("$ echo looking"), "{screen}");
    assert_eq!(session.runs(), Vec::<String>::new());
    terminal.tmux(&["send-keys", "y", "Enter"]);
    until("it asks about the change", || terminal.screen().contains("main.yaml (changed)"));
    assert_eq!(session.runs().len(), 2, "the second run asked nothing");
    terminal.tmux(&["send-keys", "Enter"]);
    until("it is not started", || terminal.screen().contains("ended with 2"));
    assert_eq!(session.runs().len(), 2);
}

#[test]
fn needs_tmux_what_was_typed_before_the_question_trusts_nothing() {
    let session = untrusted();
    let line = format!("until test -e typed; do sleep 0.02; done; chronicle {}", typed());
    let terminal = Terminal::new(&session, &line);
    terminal.tmux(&["send-keys", "yes", "Enter"]);
    until("it is typed", || terminal.screen().contains("yes"));
    session.write("typed", "");
    until("it asks", || terminal.screen().contains("Trust this project as it is now? [y/N]"));
    terminal.tmux(&["send-keys", "n", "Enter"]);
    until("it is not started", || terminal.screen().contains("ended with 2"));
    let screen = terminal.screen();
    assert!(screen.contains("What was typed before this question was not used."), "{screen}");
    assert_eq!(session.runs(), Vec::<String>::new());
}

/// `run` as it is typed.
fn typed() -> String {
    RUN.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_project_may_have_any_name_that_is_text() {
    for name in ["new\\nline", "tab\\there", "esc\\033[31m", "turned\\342\\200\\256"] {
        let session = untrusted();
        let odd = format!(
            "mkdir \"$(printf '../{name}')\" && cp -r .chronicle script.yaml \"$(printf '../{name}')\" && \
            cd \"$(printf '../{name}')\""
        );
        let line = format!(
            "{odd} && mkdir .chronicle/personas && printf -- '---\\nname: wise\\n---\\nBe wise.' > .chronicle/personas/wise.md && \
            {{ chronicle run main x --agent scripted:script.yaml; test $? = 2; }} && chronicle trust && \
            chronicle run main x --agent scripted:script.yaml && chronicle status && chronicle trust --list && chronicle trust --revoke"
        );
        session.shell(&line).exits(0).prints("is trusted as it is now");
    }
}
