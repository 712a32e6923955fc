//! People are told when a run needs them and when it ended: by a command, a webhook, the terminal. Beside the run, and once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::Value;

use crate::session::{RUN, Session, of_run, until};
use crate::terminal::Terminal;

const APPROVED: &str =
    "{name: Painted, phases: {work: {approval: after, next: [ship]}, ship: {next: [done]}}}";
const WORKS: &str = "{work: [{complete: {summary: painted}}], ship: [{complete: {summary: sent}}]}";

/// Adds to the user's own settings.
fn settings(session: &Session, text: &str) {
    let file = session.user().join("config.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{before}{text}\n")).unwrap();
}

fn told_file(session: &Session) -> PathBuf {
    session.user().join("told")
}

fn told(session: &Session) -> Vec<Value> {
    let text = fs::read_to_string(told_file(session)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session whose user is told by a command.
fn with_command(command: &str) -> Session {
    let session = Session::with(APPROVED, WORKS);
    settings(&session, &format!("notify.command = '{command}'"));
    session
}

fn keeps(session: &Session) {
    let command = format!("cat >> {}", told_file(session).display());
    settings(session, &format!("notify.command = '{command}'"));
}

#[test]
fn a_command_reads_what_happened() {
    let session = Session::with(APPROVED, WORKS);
    keeps(&session);
    session.run().exits(4).talks("people were notified that g1 waits: by the command");
    let first = told(&session);
    assert_eq!(first.len(), 1);
    assert_eq!(
        (&first[0]["event"], &first[0]["gate"]["gate"]),
        (&"needs_you".into(), &"g1".into())
    );
    assert_eq!(first[0]["short"], session.short());
    let next = first[0]["next"].as_str().unwrap();
    assert!(next.starts_with("chronicle approve"), "{next}");
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    let events: Vec<Value> = told(&session).iter().map(|it| it["event"].clone()).collect();
    assert_eq!(events, ["needs_you", "done"]);
    session.assert_whole();
}

#[test]
fn what_fails_is_said_and_changes_nothing() {
    let session = with_command("echo no such room >&2; exit 3");
    session.run().exits(4);
    let status = session.chronicle(&["status"]).exits(0);
    status.prints("people were not told: the command failed: exit code 3: no such room");
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn the_run_does_not_wait_for_a_command_that_hangs_and_ends_it_in_the_end() {
    let session = with_command("touch told; sleep 600");
    let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
    until("it is being told", || session.has("told"));
    session.chronicle(&["approve", &session.short()]).exits(0);
    supervisor.wait().exits(0);
    let kinds: Vec<Value> = session.events().iter().map(|event| event["kind"].clone()).collect();
    let at = |kind: &str| kinds.iter().position(|it| it == kind).unwrap();
    assert!(at("run_done") < at("notice_given"), "{kinds:?}");
    let given = session.events_of("notice_given");
    assert_eq!(given.len(), 2);
    assert_eq!(given[0]["data"]["failed"][0]["why"], "it took longer than 10 seconds");
    session.assert_whole();
}

#[test]
fn a_notice_is_not_repeated_after_its_supervisor_died() {
    let session = Session::with(APPROVED, WORKS);
    let file = told_file(&session);
    let command = format!("cat >> {}; sleep 600", file.display());
    settings(&session, &format!("notify.command = '{command}'"));
    let supervisor = session.spawn(RUN);
    until("it is being told", || told(&session).len() == 1);
    supervisor.kill();
    until("nothing of it is left", || of_run(&session.runs().pop().unwrap()).is_empty());
    let config = session.user().join("config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, text.replace("; sleep 600", "")).unwrap();
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    let given = session.events_of("notice_given");
    assert_eq!(
        (&given[0]["data"]["about"], &given[0]["data"]["missed"]),
        (&"g1".into(), &"unknown".into())
    );
    let events: Vec<Value> = told(&session).iter().map(|it| it["event"].clone()).collect();
    assert_eq!(events, ["needs_you", "done"], "each once");
    session
        .chronicle(&["log"])
        .exits(0)
        .prints("it is unknown whether people were notified that g1 waits: a supervisor died while sending the notice");
    session.assert_whole();
}

#[test]
fn a_command_given_while_nobody_drives_tells_nobody_else() {
    let session = Session::with(APPROVED, WORKS);
    keeps(&session);
    session.run().exits(4);
    session.chronicle(&["cancel", &session.short(), "changed my mind"]).exits(0);
    assert_eq!(told(&session).len(), 1);
    session
        .chronicle(&["log"])
        .exits(0)
        .prints("no notice was sent that the run ended: the run was not being driven");
    session.assert_whole();
}

#[test]
fn a_notification_command_cannot_answer_a_gate() {
    let chronicle = env!("CARGO_BIN_EXE_chronicle");
    let session = with_command(&format!("{chronicle} approve 2> $HOME/said"));
    session.run().exits(4);
    let said = session.read("../home/said");
    assert!(said.contains("the command of `notify.command` is not a person"), "{said}");
    assert!(session.events_of("gate_answered").is_empty());
    let why = session.events_of("notice_given")[0]["data"]["failed"][0]["why"].clone();
    assert!(why.as_str().unwrap().contains("exit code"), "{why}");
    assert_eq!(session.json(&["status"])["status"], "waiting");
}

#[test]
fn a_project_cannot_say_what_the_users_machine_runs() {
    let session = Session::with(APPROVED, WORKS);
    session.write(".chronicle/config.toml", "notify.command = 'touch pwned'\n");
    let said = session.run();
    assert!(!session.has("pwned"), "{}", said.stderr);
    said.exits(3).talks("only the user's own settings may say `notify.command`");
}

#[test]
fn needs_git_the_doctor_knows_how_people_are_told() {
    let session = Session::with(APPROVED, WORKS);
    settings(&session, "agents.mine.command = 'sh agent.sh'");
    session.chronicle(&["doctor"]).exits(0).prints("no notices are configured");
    keeps(&session);
    settings(&session, "notify.bell = true");
    let said = session.chronicle(&["doctor"]).exits(0);
    said.prints("people are notified by a command, the terminal's bell");
}

/// One request, read whole and answered.
fn answer(listener: &TcpListener, status: &str) -> (String, Value) {
    let mut stream = None;
    until("somebody posts", || {
        stream = listener.accept().ok().map(|(stream, _)| stream);
        stream.is_some()
    });
    let mut stream = stream.unwrap();
    stream.set_nonblocking(false).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

#[test]
fn needs_curl_an_address_is_posted_to() {
    let session = Session::with(APPROVED, WORKS);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    settings(&session, &format!("notify.webhook = 'http://{address}/hook/s3cr3t?a={{b}}'"));
    let supervisor = session.spawn(RUN);
    let (head, body) = answer(&listener, "204 No Content");
    assert!(head.starts_with("POST /hook/s3cr3t?a={b} HTTP/1.1"), "{head}");
    assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
    assert_eq!(body["event"], "needs_you");
    supervisor.wait().exits(4).talks("people were notified that g1 waits: by the webhook");
    session.chronicle(&["approve", &session.short()]).exits(0);
    let supervisor = session.spawn(&["resume"]);
    let (_, body) = answer(&listener, "500 Oh");
    assert_eq!(body["event"], "done");
    supervisor.wait().exits(0);
    let why = session.events_of("notice_given")[1]["data"]["failed"][0]["why"].clone();
    assert!(why.as_str().unwrap().contains("500"), "{why}");
    let ledger = fs::read_to_string(session.run_file("ledger.jsonl")).unwrap();
    assert!(!ledger.contains("s3cr3t"), "the address is nobody's business");
    session.assert_whole();
}

#[test]
fn needs_tmux_the_terminal_rings_and_says_why() {
    let session = Session::with(APPROVED, WORKS);
    settings(&session, "notify.bell = true");
    // What the terminal gets is read as it comes, control characters and all.
    let raw = session.path("raw");
    let wait = "until [ -e go ]; do sleep 0.02; done";
    let run = "chronicle run main task --agent scripted:script.yaml";
    let terminal = Terminal::new(&session, &format!("{wait}; {run}"));
    terminal.tmux(&["pipe-pane", &format!("cat > {}", raw.display())]);
    until("it is read", || raw.exists());
    session.write("go", "");
    until("it has rung", || {
        let raw = fs::read(&raw).unwrap_or_default();
        let raw = String::from_utf8_lossy(&raw).into_owned();
        raw.contains("\u{1b}]9;Chronicle: g1 waits at `work` for approval: is `work` done? \"painted\"\u{1b}\\\u{7}")
    });
    drop(terminal);
}
