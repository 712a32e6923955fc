//! The cases of Claude Code.

use std::time::Duration;

use chronicle_model::Server;
use chronicle_model::real::{Claude, Ended, Program, Yard};
use serde_json::{Value, json};

use crate::cases::{Case, CaseScene, Recorder};
use crate::signal_server;

/// The session that is resumed.
const SESSION: &str = "5e551011-0000-4000-8000-000000000001";
const SOON: Duration = Duration::from_secs(30);

pub(crate) fn record(recorder: &mut Recorder) {
    let started = |retries: u32| {
        move |yard: &Yard, server: &Server, extra: &[&str]| -> Result<Program, String> {
            let mut claude = Claude::find()?;
            claude.retries = retries;
            claude.start(yard, server, extra).map_err(|it| it.to_string())
        }
    };
    recorder.play("claude", CASES, &started(0));
    recorder.play("claude", RETRIED, &started(2));
}

const CASES: &[Case] = &[
    Case {
        name: "text",
        about: "one turn: thoughts and text",
        script: "conversations: [{name: main, turns: [{think: Easy., say: Two and two are four.,
          usage: {input: 1200, output: 34, cache_read: 800, cache_write: 300}}]}]",
        act: one_turn,
    },
    Case {
        name: "edit",
        about: "a file written, read and edited, each after leave was given",
        script: r#"conversations: [{name: main, turns: [
          {say: Writing., calls: [{tool: Write, input: {file_path: "{{project}}/a.txt", content: "one\ntwo\n"}}]},
          {calls: [{tool: Read, input: {file_path: "{{project}}/a.txt"}}]},
          {calls: [{tool: Edit, input: {file_path: "{{project}}/a.txt", old_string: two, new_string: "2"}}]},
          {say: Done.}]}]"#,
        act: allow_all,
    },
    Case {
        name: "shell",
        about: "two calls in one message: one command works, one fails",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: Bash, input: {command: "echo hi", description: Greet}},
                   {tool: Bash, input: {command: "echo no >&2; exit 3", description: Fail}}]},
          {say: Done.}]}]"#,
        act: allow_all,
    },
    Case {
        name: "denied",
        about: "leave refused with a reason; the model is told and goes on",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: Bash, input: {command: "touch made", description: Make}}]},
          {say: "Then not: {{result}}"}]}]"#,
        act: |scene| {
            talk(scene, &[], |it| Claude::deny(it, "this phase may not use Bash"))
        },
    },
    Case {
        name: "signal",
        about: "a tool of the signal server called, over MCP",
        script: r"conversations: [{name: main, turns: [
          {calls: [{tool: mcp__chronicle__signal_back, input: {signal: complete, summary: all done}}]},
          {say: Done.}]}]",
        act: |scene| {
            let config = signal_server::config(&json!({"type": "stdio"})).to_string();
            talk(scene, &["--mcp-config", &config, "--strict-mcp-config"], Claude::allow)
        },
    },
    Case {
        name: "first",
        about: "the first turn of a session whose id was chosen",
        script: "conversations: [{name: main, turns: [{say: I will remember APPLE.}]}]",
        act: |scene| talk(scene, &["--session-id", SESSION], Claude::allow),
    },
    Case {
        name: "resumed",
        about: "the same session in a second process: cost is the sum of both",
        script: "conversations: [{name: main, turns: [{say: I will remember APPLE.}, {say: It was APPLE.}]}]",
        act: |scene| {
            talk(scene, &["--session-id", SESSION], Claude::allow)?;
            let ended = talk(scene, &["--resume", SESSION], Claude::allow)?;
            let asked = scene.server.asked().pop().map_or(0, |it| it.messages.len());
            if asked < 3 { Err(format!("only {asked} messages were sent")) } else { Ok(ended) }
        },
    },
    Case {
        name: "session-gone",
        about: "a session that does not exist is to be resumed",
        script: "conversations: []",
        act: |scene| {
            let mut claude = scene.start(&["--resume", SESSION])?;
            // It may end before it reads.
            let _ = claude.send(&Claude::prompt("go on"));
            claude.end().map_err(|it| it.to_string())
        },
    },
    Case {
        name: "interrupted",
        about: "interrupted in mid-turn, then another turn in the same process",
        script: "conversations: [{name: main, turns: [
          {say: 'A long story that will never be told to its end.', stall: {name: story, at: middle}},
          {say: Yes?}]}]",
        act: interrupted,
    },
    Case {
        name: "interrupted-tool",
        about: "interrupted while leave is awaited",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: Bash, input: {command: "touch made", description: Make}}]}]}]"#,
        act: |scene| {
            let mut claude = scene.start(&[])?;
            send(&mut claude, &Claude::prompt("go"))?;
            claude.until(Claude::is_question)?;
            send(&mut claude, &interrupt())?;
            claude.until(Claude::is_end)?;
            claude.end().map_err(|it| it.to_string())
        },
    },
    Case {
        name: "note",
        about: "told something while a tool waits for leave; it is read with the tool's result",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: Bash, input: {command: "echo hi", description: Greet}}]},
          {say: Noted.}]}]"#,
        act: |scene| {
            let mut claude = scene.start(&[])?;
            send(&mut claude, &Claude::prompt("go"))?;
            let question = claude.until(Claude::is_question)?;
            send(&mut claude, &Claude::prompt("mind the gap"))?;
            send(&mut claude, &Claude::allow(&question))?;
            claude.until(Claude::is_end)?;
            let asked = scene.server.asked().pop().unwrap_or_default();
            let is_told = asked.messages.iter().any(|it| it.text.contains("mind the gap"));
            if !is_told {
                return Err("the note was not sent".to_owned());
            }
            claude.end().map_err(|it| it.to_string())
        },
    },
    Case {
        name: "sub-agent",
        about: "a worker's own sub-agent reads a file; its lines bear the call's id",
        script: r#"conversations:
          - {name: below, when: {first: look into a.txt}, turns: [
              {calls: [{tool: Read, input: {file_path: "{{project}}/a.txt"}}], usage: {input: 70, output: 7}},
              {say: It says hello., usage: {input: 80, output: 8}}]}
          - {name: main, turns: [
              {calls: [{tool: Agent, input: {description: Look, prompt: look into a.txt, subagent_type: general-purpose, run_in_background: false}}]},
              {say: Done.}]}"#,
        act: |scene| {
            scene.yard.write("a.txt", "hello\n").map_err(|it| it.to_string())?;
            allow_all(scene)
        },
    },
    Case {
        name: "unauthorized",
        about: "401: the key is not known; given up at once",
        script: "conversations: [{name: main, turns: [{fail: {kind: unauthorized}, times: 0}]}]",
        act: one_turn,
    },
    Case {
        name: "rate-limited",
        about: "429 and no retries left",
        script: "conversations: [{name: main, turns: [{fail: {kind: rate_limited, retry_after: 1}, times: 0}]}]",
        act: one_turn,
    },
    Case {
        name: "quota-spent",
        about: "429 with the reset of a subscription",
        script: "conversations: [{name: main, turns: [{fail: {kind: quota_spent, reset: '1767225600'}, times: 0}]}]",
        act: one_turn,
    },
    Case {
        name: "server-error",
        about: "500 and no retries left",
        script: "conversations: [{name: main, turns: [{fail: {kind: server_error}, times: 0}]}]",
        act: one_turn,
    },
    Case {
        name: "overloaded",
        about: "529 and no retries left",
        script: "conversations: [{name: main, turns: [{fail: {kind: overloaded}, times: 0}]}]",
        act: one_turn,
    },
    Case {
        name: "bad-request",
        about: "400: never retried",
        script: "conversations: [{name: main, turns: [{fail: {kind: bad_request}, times: 0}]}]",
        act: one_turn,
    },
    Case {
        name: "context-full",
        about: "400: more than the model can read",
        script: "conversations: [{name: main, turns: [{fail: {kind: context_overflow}, times: 0}]}]",
        act: one_turn,
    },
];

const RETRIED: &[Case] = &[
    Case {
        name: "retried",
        about: "529, then 429 with retry-after, then an answer",
        script: "conversations: [{name: main, turns: [{fail: {kind: overloaded}},
          {fail: {kind: rate_limited, retry_after: 1}}, {say: At last.}]}]",
        act: one_turn,
    },
    Case {
        name: "cut",
        about: "the stream breaks in the middle; the request is made again",
        script: "conversations: [{name: main, turns: [
          {say: A long enough text to be cut in half., cut: true}, {say: Whole.}]}]",
        act: one_turn,
    },
];

fn one_turn(scene: &CaseScene<'_>) -> Result<Ended, String> {
    talk(scene, &[], Claude::allow)
}

fn allow_all(scene: &CaseScene<'_>) -> Result<Ended, String> {
    talk(scene, &[], Claude::allow)
}

/// One turn, in which every question gets the same answer.
fn talk(
    scene: &CaseScene<'_>,
    extra: &[&str],
    answer: impl Fn(&Value) -> Value,
) -> Result<Ended, String> {
    let mut claude = scene.start(extra)?;
    send(&mut claude, &Claude::prompt("go"))?;
    loop {
        let line = claude.until(|it| Claude::is_end(it) || Claude::is_question(it))?;
        if Claude::is_end(&line) {
            return claude.end().map_err(|it| it.to_string());
        }
        send(&mut claude, &answer(&line))?;
    }
}

fn interrupted(scene: &CaseScene<'_>) -> Result<Ended, String> {
    let mut claude = scene.start(&[])?;
    send(&mut claude, &Claude::prompt("tell a story"))?;
    if !scene.server.wait_for_stall("story", SOON) {
        return Err("the story was never asked for".to_owned());
    }
    claude.until(|it| it["event"]["delta"]["type"] == "text_delta")?;
    send(&mut claude, &interrupt())?;
    claude.until(Claude::is_end)?;
    send(&mut claude, &Claude::prompt("are you there"))?;
    claude.until(Claude::is_end)?;
    claude.end().map_err(|it| it.to_string())
}

fn interrupt() -> Value {
    json!({"type": "control_request", "request_id": "i1", "request": {"subtype": "interrupt"}})
}

fn send(program: &mut Program, message: &Value) -> Result<(), String> {
    program.send(message).map_err(|it| it.to_string())
}
