//! The secret of an attempt: where it is, and what it is worth to whom.

use std::fs;

use serde_json::{Value, json};

use crate::session::{Session, until};

const WORKFLOW: &str = "name: Main\nphases: {work: {next: [done]}}\n";
/// The server as the agent's own file has it; `$CALL` is what it is told.
const SECRET: &str = r#"sed 's/.*CHRONICLE_SECRET":"\([0-9a-f]*\).*/\1/' $CHRONICLE_RUN_FOLDER/given/a1/servers.json"#;

fn call() -> String {
    let params = json!({"name": "workflow_status"});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

/// What a call came to: whether it was refused, and the words.
fn outcome(answer: &str) -> (bool, String) {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    (answer["result"]["isError"].as_bool().unwrap(), text)
}

/// A worker that tells what it has, makes calls of its own, and waits until the test has made others from outside.
fn at_work() -> (Session, crate::session::Started) {
    let say = |how: &str, to: &str| {
        format!("printf '%s\\n' '{}' | {how} chronicle mcp >{to} 2>&1", call())
    };
    let lines = [
        "env >environment; tr '\\0' '\\n' </proc/$PPID/environ >above; tr '\\0' '\\n' </proc/$PPID/cmdline >>above".to_owned(),
        say("", "without"),
        say("CHRONICLE_SECRET=guessed", "wrong"),
        say(&format!("CHRONICLE_SECRET=\"$({SECRET})\""), "right"),
        say(&format!("CHRONICLE_COOKIE=another CHRONICLE_SECRET=\"$({SECRET})\""), "unmarked"),
        say(&format!("env -u CHRONICLE_COOKIE setsid -w env CHRONICLE_SECRET=\"$({SECRET})\""), "apart"),
        ": >here".to_owned(),
    ];
    let script = format!(
        "work:\n  - shell:\n      command: |\n        {}\n  - wait_for: {{file: go}}\n  - complete: {{summary: x}}\n",
        lines.join("\n        ")
    );
    let session = Session::with(WORKFLOW, &script);
    let mut supervisor = session.spawn_run();
    until("it has called, or is over", || session.has("here") || supervisor.has_ended());
    (session, supervisor)
}

#[test]
fn the_secret_is_the_servers_alone_and_no_proof_by_itself() {
    let (session, supervisor) = at_work();
    let file = session.run_file("given/a1/servers.json");
    let servers: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let env = servers["mcpServers"]["chronicle"]["env"].clone();
    let secret = env["CHRONICLE_SECRET"].as_str().unwrap().to_owned();
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "nobody else reads it");
    for place in ["environment", "above"] {
        let had = session.read(place);
        assert!(!had.contains(&secret) && !had.contains("CHRONICLE_SECRET"), "{place}: {had}");
    }
    let not_yours = (true, "this is not the secret of your attempt".to_owned());
    for name in ["without", "wrong"] {
        assert_eq!(outcome(&session.read(name)), not_yours, "{name}");
    }
    // Its place among the processes decides, not the mark.
    for name in ["right", "unmarked", "apart"] {
        let (is_refused, text) = outcome(&session.read(name));
        assert!(!is_refused, "{name}: {text}");
    }
    // From outside, with all that a worker has: its secret and its mark.
    let marks = session.read("environment");
    let cookie = marks.lines().find_map(|line| line.strip_prefix("CHRONICLE_COOKIE=")).unwrap();
    for cookie in [Some(cookie), None] {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.arg("mcp").env("CHRONICLE_SECRET", &secret);
        command.env("CHRONICLE_RUN_FOLDER", session.run_file(""));
        command.envs(cookie.map(|cookie| ("CHRONICLE_COOKIE", cookie)));
        let said = session.start(command, &format!("{}\n", call())).wait().exits(0);
        let only = (true, "only a worker of this run can signal".to_owned());
        assert_eq!(outcome(&said.stdout), only, "{cookie:?}");
    }
    session.write("go", "");
    supervisor.wait().exits(0);
}
