//! Supervisors without a terminal, two runs on the same files, and runs reached from elsewhere.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::fs;
use std::os::unix::process::CommandExt;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::link_yard::{CHRONICLE, LinkYard, hear, run_args, until};

const WORKFLOW: &str = "
name: Main
phases:
  work: {approval: after, next: [done]}
";

const SCRIPT: &str =
    "work: [{touch: {file: here}}, {wait_for: {file: go}}, {transition: {to: done, summary: x}}]";

/// The supervisor's process, as the ledger names it.
fn supervisor_of(yard: &LinkYard) -> u32 {
    let pid = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let events = line["events"].as_array().cloned().unwrap_or_default();
        events.iter().find_map(|event| event["data"]["pid"].as_u64())
    };
    let pid = yard.ledger().lines().filter_map(pid).next_back().unwrap();
    u32::try_from(pid).unwrap()
}

/// The session that a process belongs to.
fn session_of(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().parse().unwrap()
}

#[test]
fn a_detached_run_outlives_its_parent_and_its_terminal() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    let line =
        format!("{CHRONICLE} {}; read x", "run main task --agent scripted:script.yaml --detach");
    let mut shell = yard.command("sh", "ann");
    shell.args(["-c", &line]).process_group(0).stdin(std::process::Stdio::piped());
    let mut shell = yard.begin("shell", &mut shell);
    yard.until_touched("here");
    until("it listens", || yard.socket().is_some_and(|it| it.exists()));
    let supervisor = supervisor_of(&yard);
    assert_eq!(session_of(supervisor), supervisor, "it has a session of its own");
    kill_process_group(Pid::from_raw(shell.pid().cast_signed()).unwrap(), Signal::HUP).unwrap();
    kill_process_group(Pid::from_raw(shell.pid().cast_signed()).unwrap(), Signal::KILL).unwrap();
    shell.code();
    yard.touch("go");
    yard.until_gate("g1");
    yard.chronicle("bob", &["approve", &yard.run(), "g1"]).good();
    yard.until_status("done");
    assert_eq!(yard.who_answered(1), ["bob"]);
    until("the supervisor goes", || yard.socket().is_none());
    let log = fs::read_to_string(yard.run_file("supervisor.log")).unwrap();
    assert!(log.contains("done"), "{log}");
}

#[test]
fn a_detached_run_hears_pause_and_cancel() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    let heard = yard.chronicle("ann", &run_args(&["--detach"])).good();
    assert!(heard.out.contains("continues on its own"), "{heard:?}");
    yard.until_touched("here");
    yard.chronicle("bob", &["pause", &yard.run()]).good();
    yard.until_status("paused");
    until("the supervisor goes", || yard.socket().is_none());
    yard.chronicle("ann", &["resume", &yard.run(), "--detach"]).good();
    yard.chronicle("bob", &["cancel", &yard.run(), "enough"]).good();
    yard.until_status("cancelled");
}

#[test]
fn a_second_run_on_the_same_files_waits_for_the_first() {
    let yard = LinkYard::new("name: Main\nphases:\n  work: {next: [done]}\n", SCRIPT);
    let mut first = yard.supervisor();
    yard.until_touched("here");
    let holder = yard.run();
    let mut second = yard.start("second", &run_args(&[]));
    let named =
        format!("Waiting: run {} has the project's files in hand", &holder[holder.len() - 8..]);
    until("the second says for whom it waits", || second.said().contains(&named));
    assert!(!second.is_over());
    yard.touch("go");
    assert_eq!(first.code(), Some(0), "{}", first.said());
    assert_eq!(second.code(), Some(0), "{}", second.said());
    assert_eq!(yard.runs().len(), 2);
}

/// The command was heard, and whoever heard it died before it could say so.
#[test]
fn a_supervisor_that_dies_under_a_command_leaves_no_doubt() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    let mut command = yard.command(CHRONICLE, "ann");
    command.args(run_args(&["--wait"])).env("CHRONICLE_FAILPOINT", "link-before-answer:1");
    let mut supervisor = yard.begin("supervisor", &mut command);
    yard.until_touched("here");
    until("it listens", || yard.socket().is_some_and(|it| it.exists()));
    let heard = yard.chronicle("bob", &["note", &yard.run(), "mind the tests"]).good();
    assert!(heard.out.contains("the supervisor ended before it could answer"), "{heard:?}");
    assert_eq!(supervisor.code(), None, "it was killed");
    assert_eq!(yard.ledger().matches("note_given").count(), 1, "{}", yard.ledger());
}

#[test]
fn runs_are_found_from_any_folder() {
    let yard = LinkYard::new(
        "name: Main\nphases:\n  work: {approval: after, next: [more]}\n  more: {}\n",
        "work: [{complete: {summary: x}}]\nmore: [{complete: {summary: y}}]\n",
    );
    assert_eq!(yard.chronicle("ann", &run_args(&[])).code, Some(4));
    let elsewhere = |args: &[&str]| {
        hear(yard.command(CHRONICLE, "ann").current_dir(yard.at("home")).args(args))
    };
    let runs = |args: &[&str]| -> Vec<String> {
        let rows: Value = serde_json::from_str(&elsewhere(args).good().out).unwrap();
        let ids = rows["runs"].as_array().unwrap().iter().map(|row| row["run"].to_string());
        ids.collect()
    };
    assert_eq!(runs(&["runs", "--json"]), [""; 0]);
    assert_eq!(runs(&["runs", "--all", "--json"]), [format!("\"{}\"", yard.run())]);
    let short = yard.run().split_off(yard.run().len() - 8);
    elsewhere(&["approve", &short, "g1"]).good();
    elsewhere(&["resume", &short]).good();
    assert_eq!(yard.status()["status"], "done");
    elsewhere(&["resume", "ffffffff"]).refused("no run `ffffffff`");
}

#[test]
fn the_doctor_finds_nothing_wrong_here() {
    let yard = LinkYard::new(WORKFLOW, SCRIPT);
    yard.set("[agents.mine]\ncommand = 'sh agent.sh'\n");
    let heard = yard.chronicle("ann", &["doctor", "--json"]).good();
    let findings: Value = serde_json::from_str(&heard.out).unwrap();
    let findings = findings["findings"].as_array().unwrap();
    assert!(findings.len() >= 5 && findings.iter().all(|finding| finding["good"] == true));
    assert!(yard.chronicle("ann", &["doctor"]).good().out.contains("under a keeper"));
}
