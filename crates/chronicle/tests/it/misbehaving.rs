//! Agents that keep to no protocol: each is given up after as many attempts as the workflow allows.

use crate::session::{Session, until};

const ONE: &str = "
name: One
limits: {nudges: 1, retries: 0}
phases:
  work: {next: [done]}
";

/// Starts `main`, and waits until the run rests or has begun more attempts than any limit allows.
fn rests_within(session: &Session, agent: &str, attempts: usize) {
    let mut supervisor = session.spawn(&["run", "main", "the task", "--agent", agent]);
    let count =
        || session.runs().len() == 1 && session.events_of("attempt_started").len() > attempts;
    until("the run rests", || supervisor.has_ended() || count());
    assert!(!count(), "more than {attempts} attempts, and no end in sight");
    supervisor.wait().exits(4);
    session.assert_whole();
}

#[test]
fn a_program_that_is_no_agent_is_given_up() {
    let session = Session::with(ONE, "{}");
    session.write("chatter.sh", "while :; do echo chatter; done\n");
    rests_within(&session, "command:sh chatter.sh", 2);
    let ended = session.events_of("attempt_ended");
    let crash = ended[0]["data"]["end"].to_string();
    assert!(
        crash.contains("1000 lines in a row meant nothing; the first was `chatter`"),
        "{crash}"
    );
    assert!(ended[0]["data"]["not_understood"].as_u64().unwrap() >= 1_000, "{ended:?}");
}

#[test]
fn an_agent_that_works_before_it_names_its_session_is_given_up() {
    let session = Session::with(ONE, "{}");
    let hasty = r#"read -r order; echo '{"type":"permission","id":"1","tool":"bash"}'; read -r answer; sleep 600"#;
    session.write("hasty.sh", hasty);
    rests_within(&session, "command:sh hasty.sh", 2);
}

#[test]
fn an_agent_that_finishes_without_a_signal_and_stays_is_reminded_and_given_up() {
    let session = Session::with(ONE, r#"work: [{raw: '{"type":"finished"}'}, hang]"#);
    rests_within(&session, "scripted:script.yaml", 2);
}

#[test]
fn an_agent_that_makes_the_same_long_call_again_and_again_is_ended() {
    let workflow = "{name: One, phases: {work: {limits: {repeats: 3}}}}";
    let input = format!("{{file_path: a.txt, content: {}}}", "x".repeat(2_500));
    let calls = format!("{{tool: {{name: Write, input: {input}}}}}, ").repeat(12);
    let session =
        Session::with(workflow, &format!("work: [{calls}{{complete: {{summary: wrote}}}}]"));
    session.run().exits(4);
    let called = session.events_of("tool_called");
    let verdicts: Vec<_> = called.iter().map(|it| it["data"]["verdict"]["is"].as_str()).collect();
    // It may get some more said until it is gone.
    let [a, b, c, denied, ..] = verdicts.as_slice() else { panic!("{called:?}") };
    assert_eq!(
        [a, b, c, denied],
        [&Some("allowed"), &Some("allowed"), &Some("allowed"), &Some("denied")]
    );
    assert!(session.events_of("run_done").is_empty());
    session.assert_whole();
}

#[test]
fn an_agent_that_asks_for_something_else_under_a_known_id_gets_no_leave_for_it() {
    let session = Session::with("{name: One, phases: {work: {tools: {deny: [bash]}}}}", "{}");
    session.write(
        "sly.sh",
        r#"
        read -r order
        echo '{"type":"session","protocol":1,"session":"s1"}'
        echo '{"type":"permission","id":"x","tool":"read","input":{"path":"a"}}'; read -r read
        echo '{"type":"permission","id":"x","tool":"bash","input":{"command":"rm -rf /"}}'; read -r bash
        echo '{"type":"permission","id":"x","tool":"read","input":{"path":"a"}}'; read -r again
        printf '%s\n' "$read" "$bash" "$again" > answers
        echo '{"type":"signal","id":"s","tool":"signal_back","arguments":{"signal":"complete","summary":"tried"}}'
        read -r accepted; echo '{"type":"finished"}'
        "#,
    );
    session.chronicle(&["run", "main", "the task", "--agent", "command:sh sly.sh"]).exits(0);
    let answers = session.read("answers");
    let answers: Vec<&str> = answers.lines().collect();
    let is = |line: &str, answer: &str| line.contains(&format!(r#""answer":"{answer}""#));
    assert!(is(answers[0], "allow") && is(answers[1], "deny"), "{answers:?}");
    assert_eq!(answers[0], answers[2], "the same call gets the same answer");
    let called = session.events_of("tool_called");
    let told: Vec<_> = called.iter().map(|it| it["data"]["tool"].as_str().unwrap()).collect();
    assert_eq!(told, ["read", "bash"], "{called:?}");
    assert_eq!(called[1]["data"]["command"], "rm -rf /");
}
