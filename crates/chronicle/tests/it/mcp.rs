//! The signal server, spoken to by the official client of its protocol, by raw lines, and by nobody's leave.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chronicle_model::real;
use serde_json::{Value, json};

use crate::session::{Session, until};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";
/// A call without a supervisor is answered within this, as people and agents are promised.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// A run whose agent is the official client; what it saw.
fn seen_by_the_official_client(way: &str) -> (Session, Value) {
    let session = Session::with(ONE, "");
    let config = session.user().join("config.toml");
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{settings}\n[agents.claude]\nsignals = '{way}'\n")).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_agent.mjs");
    let (node, modules) = (real::node().unwrap(), real::mcp_client().unwrap());
    let chronicle = env!("CARGO_BIN_EXE_chronicle");
    let agent = format!(
        "command:\"{}\" \"{script}\" \"{}\" \"{chronicle}\" {way}",
        node.display(),
        modules.display()
    );
    let mut args = vec!["run", "main", "paint", "--agent", &agent, "--wait"];
    // Behind walls there is no HTTP.
    args.extend((way == "http").then_some("--no-walls"));
    let mut supervisor = session.spawn(&args);
    until("it asks, or is over", || {
        supervisor.talk().contains("Which colour?") || supervisor.has_ended()
    });
    session.chronicle(&["answer", &session.short(), "blue"]).exits(0);
    let said = supervisor.wait();
    assert_eq!(said.code, Some(0), "{said:?}\n{}", transcript(&session));
    let seen = serde_json::from_str(&session.read("seen.json")).unwrap();
    (session, seen)
}

fn transcript(session: &Session) -> String {
    fs::read_to_string(session.run_file("transcripts/a1.jsonl")).unwrap_or_default()
}

/// Names, lists, answers, refusals and a question that waits, as the protocol's own client understands them.
fn conforms(way: &str) -> Value {
    let (session, seen) = seen_by_the_official_client(way);
    assert_eq!(seen["server"], "chronicle");
    assert_eq!(
        seen["tools"],
        json!([
            "workflow_transition",
            "signal_back",
            "workflow_step",
            "workflow_update_snapshot",
            "workflow_plan",
            "workflow_ask",
            "workflow_status"
        ])
    );
    assert!(seen["unknown"].as_str().unwrap().contains("there is no tool `nonesuch`"), "{seen}");
    assert!(seen["status"]["isError"] == false && seen["while"]["isError"] == false, "{seen}");
    assert!(seen["wrong"]["isError"] == true, "{seen}");
    assert!(seen["wrong"]["text"].as_str().unwrap().contains("`done`"), "{seen}");
    assert_eq!(seen["stolen"]["isError"], true, "{seen}");
    assert_eq!(seen["stolen"]["text"], "this is not the secret of your attempt");
    assert!(seen["answer"]["text"].as_str().unwrap().contains("blue"), "{seen}");
    assert_eq!(seen["left"]["isError"], false, "{seen}");
    assert_eq!(session.events_of("attempt_started").len(), 1);
    session.assert_whole();
    seen
}

#[test]
fn needs_mcp_client_conforms_on_stdio() {
    conforms("stdio");
}

#[test]
fn needs_mcp_client_conforms_by_http() {
    let seen = conforms("http");
    assert_eq!(
        seen["statuses"],
        json!({
            "no secret": 401,
            "a wrong one": 200,
            "a browser": 403,
            "another page": 404,
            "to be spoken to": 405,
            "another version": 400,
            "no JSON": 200,
            "only told": 202,
        })
    );
}

/// Says a line to `chronicle mcp`; what it answers, and how long that took. Then its input ends, and so does it.
fn speak(command: &mut Command, line: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    let took = began.elapsed();
    drop(input);
    assert!(child.wait().unwrap().success());
    (answer, took)
}

/// `printf CALL | chronicle mcp`: the input ends before the first answer is there.
#[test]
fn calls_in_flight_are_answered_though_the_input_has_ended() {
    let session = Session::with(ONE, "work: [{complete: {summary: worked}}]");
    session.run().exits(0);
    let call = |id: u32| {
        let params = json!({"name": "workflow_status"});
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        )
    };
    let calls: String = (1..=8).map(call).collect();
    for _ in 0..8 {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.arg("mcp").env("CHRONICLE_SECRET", "s");
        command.env("CHRONICLE_RUN_FOLDER", session.run_file(""));
        let said = session.start(command, &calls).wait().exits(0);
        let answers = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut ids: Vec<u64> = answers.map(|answer| answer["id"].as_u64().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..=8).collect::<Vec<u64>>());
    }
}

/// One that is too long is refused under its id, and those behind it are answered as ever.
#[test]
fn a_call_that_is_too_long_is_refused_and_the_server_lives_on() {
    let session = Session::with(ONE, "work: [{complete: {summary: worked}}]");
    session.run().exits(0);
    let long = "x".repeat(1_000_000);
    let calls = format!(
        "{{\"method\":\"tools/call\",\"params\":{{\"name\":\"workflow_status\",\"x\":\"{long}\"}},\"jsonrpc\":\"2.0\",\"id\":1}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}}\n{long}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}}\n"
    );
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.arg("mcp").env("CHRONICLE_SECRET", "s");
    command.env("CHRONICLE_RUN_FOLDER", session.run_file(""));
    let said = session.start(command, &calls).wait().exits(0);
    let answers = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers: Vec<Value> = answers.collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2), &Value::Null, &json!(3)], "{answers:?}");
    let text = answers[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(answers[0]["result"]["isError"] == true && text.contains("say it shorter"), "{text}");
}

/// A call is its content, not its id: what comes under the id of another would get its answer, and be lost.
#[test]
fn another_call_under_a_known_id_is_refused() {
    let snapshot = |finding: &str| {
        let arguments = json!({"data": {"findings": [finding]}});
        let meta = json!({"claudecode/toolUseId": "toolu_1"});
        let params =
            json!({"name": "workflow_update_snapshot", "arguments": arguments, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let say = |finding: &str, to: &str| {
        format!("printf '%s\\n' '{}' | chronicle mcp >{to}", snapshot(finding))
    };
    // As an agent that starts the server would give it.
    let secret = r#"export CHRONICLE_SECRET="$(sed 's/.*CHRONICLE_SECRET":"\([0-9a-f]*\).*/\1/' $CHRONICLE_RUN_FOLDER/given/a1/servers.json)""#;
    let lines = [secret.to_owned(), say("one", "first"), say("one", "again"), say("two", "other")]
        .join("; ");
    let script = format!(
        "work:\n  - shell:\n      command: |\n        {lines}\n  - complete: {{summary: worked}}\n"
    );
    let session = Session::with(ONE, &script);
    session.run().exits(0);
    let heard = |name: &str| -> (bool, String) {
        let answer: Value = serde_json::from_str(&session.read(name)).unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        (answer["result"]["isError"].as_bool().unwrap(), text)
    };
    let (first, again, other) = (heard("first"), heard("again"), heard("other"));
    assert!(!first.0 && first == again, "{first:?} {again:?}");
    assert!(other.0 && other.1.contains("`toolu_1` is the id of another call"), "{other:?}");
    let view = session.json(&["status"]);
    assert_eq!(view["snapshot"]["findings"], json!(["one"]));
}

/// The supervisor is gone: the agent is told so at once, in words that say what to do.
#[test]
fn without_a_supervisor_a_call_is_answered_at_once() {
    let session = Session::with(ONE, "work: [{complete: {summary: worked}}]");
    session.run().exits(0);
    let call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"workflow_status\"}}\n";
    for folder in [Some(session.run_file("")), Some(session.path("nowhere")), None] {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.arg("mcp").env("CHRONICLE_SECRET", "s");
        command.envs(folder.map(|folder| ("CHRONICLE_RUN_FOLDER", folder)));
        // A busy machine may take its time to start a program; the answer itself must not.
        let tries: Vec<(String, Duration)> = (0..5).map(|_| speak(&mut command, call)).collect();
        let (said, took) = tries.into_iter().min_by_key(|(_, took)| *took).unwrap();
        let heard: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(heard["result"]["isError"], true, "{heard}");
        let text = heard["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("is gone") || text.contains("no run is named"), "{text}");
        assert!(took < GONE_WITHIN, "{took:?}");
    }
}
