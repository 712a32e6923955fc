//! The cases of Pi, each with both tested versions.

use std::fs;
use std::time::Duration;

use chronicle_model::Server;
use chronicle_model::real::{Ended, Pi, PiVersion, Program, Yard};
use serde_json::{Value, json};

use crate::cases::{Case, CaseScene, Recorder};
use crate::signal_server;

/// The extension that asks us before every tool.
const GATE: &str = include_str!("gate.ts");
const SOON: Duration = Duration::from_secs(30);

pub(crate) fn record(recorder: &mut Recorder) {
    for (folder, version) in [("pi-0.87", PiVersion::Old), ("pi", PiVersion::New)] {
        let start = |yard: &Yard, server: &Server, extra: &[&str]| -> Result<Program, String> {
            let gate = yard.folder().join("gate.ts");
            fs::write(&gate, GATE).map_err(|it| it.to_string())?;
            let gate = gate.to_string_lossy();
            let all = [&["-e", &*gate], extra].concat();
            Pi::find(version)?.start(yard, server, &all).map_err(|it| it.to_string())
        };
        recorder.play(folder, CASES, &start);
        if version == PiVersion::New {
            recorder.play(folder, &[MCP], &start);
        }
    }
}

const CASES: &[Case] = &[
    Case {
        name: "text",
        about: "one turn, then what the session cost",
        script: "conversations: [{name: main, turns: [{think: Easy., say: Two and two are four.,
          usage: {input: 1200, output: 34, cache_read: 800}}]}]",
        act: |scene| {
            let mut pi = scene.start(&[])?;
            send(&mut pi, &json!({"id": "1", "type": "get_state"}))?;
            turn(&mut pi, "2", "go", "allow")?;
            send(&mut pi, &json!({"id": "3", "type": "get_session_stats"}))?;
            pi.until(|it| it["id"] == "3")?;
            end(pi)
        },
    },
    Case {
        name: "edit",
        about: "a file written, read and edited, each after leave was given by the extension",
        script: r#"conversations: [{name: main, turns: [
          {say: Writing., calls: [{tool: write, input: {path: a.txt, content: "one\ntwo\n"}}]},
          {calls: [{tool: read, input: {path: a.txt}}]},
          {calls: [{tool: edit, input: {path: a.txt, edits: [{oldText: two, newText: "2"}]}}]},
          {say: Done.}]}]"#,
        act: one_turn,
    },
    Case {
        name: "shell",
        about: "two calls in one message: one command works, one fails",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: bash, input: {command: "echo hi"}}, {tool: bash, input: {command: "echo no >&2; exit 3"}}]},
          {say: Done.}]}]"#,
        act: one_turn,
    },
    Case {
        name: "denied",
        about: "leave refused with a reason; the model is told and goes on",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: bash, input: {command: "touch made"}}]}, {say: "Then not: {{result}}"}]}]"#,
        act: |scene| talk(scene, &[], "this phase may not use bash"),
    },
    Case {
        name: "signal",
        about: "a tool of the extension called, answered by the supervisor",
        script: "conversations: [{name: main, turns: [
          {calls: [{tool: signal_back, input: {signal: complete, summary: all done}}]}, {say: Done.}]}]",
        act: |scene| talk(scene, &[], "heard"),
    },
    Case {
        name: "resumed",
        about: "the same session in a second process",
        script: "conversations: [{name: main, turns: [{say: I will remember APPLE.}, {say: It was APPLE.}]}]",
        act: |scene| {
            talk(scene, &["--session-id", "attempt-7"], "allow")?;
            let ended = talk(scene, &["--session-id", "attempt-7"], "allow")?;
            let asked = scene.server.asked().pop().map_or(0, |it| it.messages.len());
            if asked < 3 { Err(format!("only {asked} messages were sent")) } else { Ok(ended) }
        },
    },
    Case {
        name: "session-gone",
        about: "a session that does not exist is to be opened",
        script: "conversations: []",
        act: |scene| {
            let mut pi = scene.start(&["--session", "no-such-session"])?;
            // It may end before it reads.
            let _ = pi.send(&Pi::prompt("1", "go on"));
            end(pi)
        },
    },
    Case {
        name: "interrupted",
        about: "aborted in mid-turn, then another turn in the same process",
        script: "conversations: [{name: main, turns: [
          {say: 'A long story that will never be told to its end.', stall: {name: story, at: middle}},
          {say: Yes?}]}]",
        act: interrupted,
    },
    Case {
        name: "interrupted-tool",
        about: "aborted while leave is awaited: nothing ends before the question is answered too",
        script: r#"conversations: [{name: main, turns: [{calls: [{tool: bash, input: {command: "touch made"}}]}]}]"#,
        act: |scene| {
            let mut pi = scene.start(&[])?;
            send(&mut pi, &Pi::prompt("1", "go"))?;
            let question = pi.until(is_question)?;
            send(&mut pi, &json!({"id": "2", "type": "abort"}))?;
            let id = &question["id"];
            let none = json!({"type": "extension_ui_response", "id": id, "cancelled": true});
            send(&mut pi, &none)?;
            pi.until(Pi::is_end)?;
            end(pi)
        },
    },
    Case {
        name: "note",
        about: "steered while a tool waits for leave; the model reads it after the tool's result",
        script: r#"conversations: [{name: main, turns: [
          {calls: [{tool: bash, input: {command: "echo hi"}}]}, {say: Noted.}]}]"#,
        act: |scene| {
            let mut pi = scene.start(&[])?;
            send(&mut pi, &Pi::prompt("1", "go"))?;
            let question = pi.until(is_question)?;
            send(&mut pi, &json!({"id": "2", "type": "steer", "message": "mind the gap"}))?;
            pi.until(|it| it["id"] == "2")?;
            send(&mut pi, &answer(&question, "allow"))?;
            pi.until(Pi::is_end)?;
            let last = scene.server.asked().pop().map(|it| it.last()).unwrap_or_default();
            if last.contains("mind the gap") { end(pi) } else { Err(format!("last was {last}")) }
        },
    },
    Case {
        name: "retried",
        about: "500, then an answer",
        script: "conversations: [{name: main, turns: [{fail: {kind: server_error}}, {say: At last.}]}]",
        act: one_turn,
    },
    Case {
        name: "cut",
        about: "the stream breaks in the middle; the request is made again",
        script: "conversations: [{name: main, turns: [
          {say: A long enough text to be cut in half., cut: true}, {say: Whole.}]}]",
        act: one_turn,
    },
    Case {
        name: "unauthorized",
        about: "401: the key is not known; never retried",
        script: "conversations: [{name: main, turns: [{fail: {kind: unauthorized}, times: 0}]}]",
        act: without_retries,
    },
    Case {
        name: "rate-limited",
        about: "429, retries off",
        script: "conversations: [{name: main, turns: [{fail: {kind: rate_limited, retry_after: 1}, times: 0}]}]",
        act: without_retries,
    },
    Case {
        name: "quota-spent",
        about: "429: nothing left",
        script: "conversations: [{name: main, turns: [{fail: {kind: quota_spent}, times: 0}]}]",
        act: without_retries,
    },
    Case {
        name: "server-error",
        about: "500, retries off",
        script: "conversations: [{name: main, turns: [{fail: {kind: server_error}, times: 0}]}]",
        act: without_retries,
    },
    Case {
        name: "overloaded",
        about: "503, retries off",
        script: "conversations: [{name: main, turns: [{fail: {kind: overloaded}, times: 0}]}]",
        act: without_retries,
    },
    Case {
        name: "bad-request",
        about: "400: never retried",
        script: "conversations: [{name: main, turns: [{fail: {kind: bad_request}, times: 0}]}]",
        act: without_retries,
    },
    Case {
        name: "context-full",
        about: "400: more than the model can read",
        script: "conversations: [{name: main, turns: [{fail: {kind: context_overflow}, times: 0}]}]",
        act: without_retries,
    },
];

const MCP: Case = Case {
    name: "signal-mcp",
    about: "a tool of the signal server called, over MCP",
    script: "conversations: [{name: main, turns: [
      {calls: [{tool: mcp__chronicle__signal_back, input: {signal: complete, summary: all done}}]},
      {say: Done.}]}]",
    act: |scene| {
        let config = signal_server::config(&json!({"exposure": "direct"})).to_string();
        let home = scene.yard.home().join("agent");
        fs::create_dir_all(&home).map_err(|it| it.to_string())?;
        fs::write(home.join("mcp.json"), config).map_err(|it| it.to_string())?;
        talk(scene, &[], "allow")
    },
};

fn one_turn(scene: &CaseScene<'_>) -> Result<Ended, String> {
    talk(scene, &[], "allow")
}

/// One turn with its own retries off.
fn without_retries(scene: &CaseScene<'_>) -> Result<Ended, String> {
    let mut pi = scene.start(&[])?;
    send(&mut pi, &json!({"id": "0", "type": "set_auto_retry", "enabled": false}))?;
    turn(&mut pi, "1", "go", "allow")?;
    end(pi)
}

fn talk(scene: &CaseScene<'_>, extra: &[&str], word: &str) -> Result<Ended, String> {
    let mut pi = scene.start(extra)?;
    turn(&mut pi, "1", "go", word)?;
    end(pi)
}

/// One turn, in which every question gets the same answer.
fn turn(pi: &mut Program, id: &str, text: &str, word: &str) -> Result<(), String> {
    send(pi, &Pi::prompt(id, text))?;
    loop {
        let line = pi.until(|it| Pi::is_end(it) || is_question(it))?;
        if Pi::is_end(&line) {
            return Ok(());
        }
        send(pi, &answer(&line, word))?;
    }
}

fn interrupted(scene: &CaseScene<'_>) -> Result<Ended, String> {
    let mut pi = scene.start(&[])?;
    send(&mut pi, &Pi::prompt("1", "tell a story"))?;
    if !scene.server.wait_for_stall("story", SOON) {
        return Err("the story was never asked for".to_owned());
    }
    pi.until(|it| it["assistantMessageEvent"]["type"] == "text_delta")?;
    send(&mut pi, &json!({"id": "2", "type": "abort"}))?;
    pi.until(Pi::is_end)?;
    turn(&mut pi, "3", "are you there", "allow")?;
    end(pi)
}

fn is_question(line: &Value) -> bool {
    line["type"] == "extension_ui_request" && line["method"] == "input"
}

fn answer(question: &Value, word: &str) -> Value {
    json!({"type": "extension_ui_response", "id": question["id"], "value": word})
}

fn send(program: &mut Program, message: &Value) -> Result<(), String> {
    program.send(message).map_err(|it| it.to_string())
}

fn end(program: Program) -> Result<Ended, String> {
    program.end().map_err(|it| it.to_string())
}
