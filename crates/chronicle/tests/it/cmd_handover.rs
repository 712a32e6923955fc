//! `chronicle handover`: what is printed is what the agent got, also when it is long, and also when it is lost.

use std::fs;

use expect_test::expect;

use chronicle_core::base::limits::HANDOVER_MAX;

use crate::session::Session;

/// Keeps what it is told, says that it is done.
const AGENT: &str = r#"
read -r order
printf '%s\n' "$order" >> told
printf '%s\n' '{"type":"session","protocol":1,"session":"s"}'
printf '%s\n' '{"type":"signal","id":"1","tool":"signal_back","arguments":{"signal":"complete","summary":"done"}}'
read -r answer
printf '%s\n' '{"type":"finished"}'
"#;
const WORKFLOW: &str = "
name: Told
phases:
  plan: {persona: You are brief., instructions: Plan it., next: [build]}
  build: {instructions: Build it.}
";

/// What each worker got, in order.
fn got(session: &Session) -> Vec<serde_json::Value> {
    let lines = fs::read_to_string(session.project().join("told")).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn told(task: &str) -> Session {
    let session = Session::with(WORKFLOW, "");
    session.write("agent.sh", AGENT);
    session.write("task.txt", task);
    let run = ["run", "main", "--task-file", "task.txt", "--agent", "command:sh agent.sh"];
    session.chronicle(&run).exits(0);
    session
}

#[test]
fn it_prints_what_the_agent_got_byte_for_byte() {
    let session = told("a small task");
    let run = session.short();
    for (index, order) in got(&session).iter().enumerate() {
        let id = format!("a{}", index + 1);
        let view = session.json(&["handover", &run, &id]);
        assert_eq!((&view["text"], &view["kept"]), (&order["handover"], &true.into()), "{id}");
        assert_eq!((&view["persona"], &view["rest"]), (&order["persona"], &().into()), "{id}");
        let said = session.chronicle(&["handover", &run, &id]).exits(0).stdout;
        let text = order["handover"].as_str().unwrap();
        assert!(said.ends_with(&format!("{text}\n")), "{said}");
        assert_eq!(said.contains("## Persona (system prompt)\n\nYou are brief."), index == 0);
    }
    let said = session.chronicle(&["handover", &run, "a1", "--next"]).exits(2);
    assert!(said.stderr.contains("cannot be used with"), "{}", said.stderr);
}

#[test]
fn what_does_not_fit_is_in_the_file_that_the_worker_reads() {
    let task = long_task();
    let session = told(&task);
    let order = got(&session).remove(0);
    let text = order["handover"].as_str().unwrap();
    assert!(text.len() <= HANDOVER_MAX, "{}", text.len());
    let (_, after) = text.split_once("Read the file `").unwrap();
    let file = after.split_once('`').unwrap().0;
    let (run, body) = file.split_once("/artifacts/").unwrap();
    let told = text.replace(run, ".chronicle/runs/…").replace(body, "…");
    let (_, told) = told.split_once("## What did not fit").unwrap();
    expect![[r#"

        ## What did not fit

        This handover is cut. Read the file `.chronicle/runs/…/artifacts/…`: it has in full: Task.
    "#]]
    .assert_eq(&format!(
        "\n## What did not fit{}\n",
        told.split_inclusive('\n').take(3).collect::<String>().trim_end()
    ));
    let rest = fs::read_to_string(session.project().join(file)).unwrap();
    assert!(rest.contains(task.trim()), "the file is where the handover says, and has it all");
    let view = session.json(&["handover", &session.short(), "a1"]);
    assert_eq!((view["rest_file"].as_str(), view["rest"].as_str()), (Some(file), Some(&*rest)));
    session.assert_whole();
}

/// A task whose full text is longer than what a line keeps.
fn long_task() -> String {
    (0..16_000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// Replaces what is in all files of `artifacts/`, and says how many there are.
fn spoil(session: &Session) -> usize {
    let run = session.project().join(".chronicle/runs").join(session.run_id());
    let artifacts = fs::read_dir(run.join("artifacts")).unwrap();
    artifacts.map(|entry| fs::write(entry.unwrap().path(), "spoiled").unwrap()).count()
}

#[test]
fn a_short_text_is_in_the_ledger_whatever_becomes_of_its_copy() {
    let session = told("a small task");
    let run = session.short();
    let before = session.json(&["handover", &run, "a2"]);
    assert_eq!(spoil(&session), 2, "one for each worker");
    assert_eq!(session.json(&["handover", &run, "a2"]), before);
    assert_eq!(before["kept"], true);
    session.chronicle(&["audit"]).exits(0);
}

#[test]
fn a_text_that_is_lost_is_worked_out_again_and_audit_says_so() {
    let session = told(&long_task());
    let run = session.short();
    let before = session.json(&["handover", &run, "a2"]);
    assert!(spoil(&session) > 2, "what does not fit has a file of its own");
    let after = session.json(&["handover", &run, "a2"]);
    assert_eq!((&after["text"], &after["kept"]), (&before["text"], &false.into()));
    let said = session.chronicle(&["handover", &run, "a2"]).exits(0);
    assert!(said.stderr.contains("worked it out again from the ledger"), "{}", said.stderr);
    let audit = session.chronicle(&["audit"]).exits(1);
    assert!(
        audit.stdout.contains("texts that the ledger names are lost or changed"),
        "{}",
        audit.stdout
    );
}
