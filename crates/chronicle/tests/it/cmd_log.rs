//! Tests of `chronicle log` on real runs.

use crate::session::{Session, until};

const WORKFLOW: &str = "
name: Small
phases:
  work: {next: [done]}
";
const SCRIPT: &str = "
work:
  - append: {path: log, text: x}
  - usage: {input: 1, output: 1, usd: 0.01}
  - wait_for: {file: go}
  - complete: {summary: worked}
";

fn done() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    session.write("go", "");
    session.run().exits(0);
    session
}

/// The numbers of the ledger's lines that were shown.
fn numbers(text: &str) -> Vec<u64> {
    text.lines().map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

#[test]
fn details_are_shown_when_asked_for() {
    let session = done();
    let short = session.chronicle(&["log"]).exits(0).stdout;
    let long = session.chronicle(&["log", "--tools"]).exits(0).stdout;
    for detail in
        ["a1 called `edit`", "a1 created `log`", "a1 reported 2 tokens", "works in session"]
    {
        assert!(!short.contains(detail), "{short}");
        assert!(long.contains(detail), "{long}");
    }
    assert!(short.lines().all(|line| long.contains(line)));
}

#[test]
fn it_begins_after_a_line() {
    let session = done();
    let all = numbers(&session.chronicle(&["log", "--tools"]).exits(0).stdout);
    assert_eq!((all[0], *all.last().unwrap()), (1, session.ledger_lines() as u64));
    for since in [0, 1, 4, *all.last().unwrap(), 1_000] {
        let said = session.chronicle(&["log", "--tools", "--since", &since.to_string()]).exits(0);
        let expected: Vec<u64> = all.iter().copied().filter(|seq| *seq > since).collect();
        assert_eq!(numbers(&said.stdout), expected);
    }
}

#[test]
fn it_follows_until_the_run_rests() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn_run();
    until("the run has begun", || session.ledger_lines() >= 3);
    let mut follower = session.spawn(&["log", "--follow", "--tools"]);
    until("the follower has seen the usage", || follower.printed().contains("a1 reported"));
    assert!(!follower.has_ended(), "the run goes on");
    session.write("go", "");
    supervisor.wait().exits(0);
    let said = follower.wait().exits(0).prints("run done");
    assert_eq!(said.stdout, session.chronicle(&["log", "--tools"]).exits(0).stdout);
}

#[test]
fn a_follower_of_a_killed_supervisor_ends() {
    let session = Session::with(WORKFLOW, SCRIPT);
    let supervisor = session.spawn_run();
    until("the run has begun", || session.ledger_lines() >= 3);
    let follower = session.spawn(&["log", "--follow"]);
    until("the follower shows something", || follower.printed().contains("a1 started"));
    supervisor.kill();
    follower.wait().exits(0);
}

#[test]
fn following_a_run_that_rests_shows_it_and_ends() {
    let session = done();
    let all = session.chronicle(&["log"]).exits(0).stdout;
    assert_eq!(session.chronicle(&["log", "-f"]).exits(0).stdout, all);
}
