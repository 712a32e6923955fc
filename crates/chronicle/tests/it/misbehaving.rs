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
