//! Tool calls as each adapter reads them: which are the same, what their tools do and who makes them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use chronicle_core::definition::settings::Settings;
use chronicle_core::event::Call;
use chronicle_runtime::for_tests::agents::{Adapter, Seen, find};
use serde_json::{Value, json};

fn adapter(agent: &str) -> Box<dyn Adapter> {
    let mut adapter = find(agent, Path::new("/p"), &Settings::default()).unwrap();
    if agent.starts_with("command") {
        adapter.read(r#"{"type":"session","protocol":1,"session":"s1"}"#);
    }
    adapter
}

/// The line in which an agent asks for a call; the input is JSON as it is printed.
fn line(agent: &str, tool: &str, input: &str) -> String {
    match agent {
        "claude" => format!(
            r#"{{"type":"control_request","request_id":"q","request":{{"subtype":"can_use_tool","tool_name":"{tool}","input":{input},"tool_use_id":"c"}}}}"#
        ),
        "pi" => {
            let asked = format!(r#"{{"id":"c","tool":"{tool}","input":{input}}}"#);
            json!({ "type": "extension_ui_request", "id": "q", "method": "input",
                "title": "chronicle:permission", "placeholder": asked })
            .to_string()
        }
        _ => format!(r#"{{"type":"permission","id":"c","tool":"{tool}","input":{input}}}"#),
    }
}

fn read(agent: &str, line: &str) -> Call {
    match adapter(agent).read(line).as_slice() {
        [Seen::Permission(raw) | Seen::ToolCall(raw)] => raw.call.clone(),
        other => panic!("{line}: {other:?}"),
    }
}

fn call(agent: &str, tool: &str, input: &str) -> Call {
    read(agent, &line(agent, tool, input))
}

const AGENTS: [&str; 3] = ["claude", "pi", "command:agent"];

#[test]
fn the_order_of_keys_makes_no_other_call_and_the_last_byte_of_a_long_one_does() {
    for agent in AGENTS {
        let sum = |input: &str| call(agent, "write", input).sum;
        let one = sum(r#"{"path":"a","options":{"x":1,"y":2}}"#);
        assert_eq!(sum(r#"{ "options": {"y": 2, "x": 1}, "path": "a" }"#), one, "{agent}");
        let long = |end: &str| sum(&json!({ "text": "x".repeat(100_000) + end }).to_string());
        assert_eq!(long("y"), long("y"), "{agent}");
        assert_ne!(long("y"), long("z"), "{agent}");
    }
}

#[test]
fn the_words_in_which_claude_describes_a_command_make_no_other_call() {
    let sum = |tool: &str, description: &str| {
        let input = json!({ "command": "ls", "prompt": "p", "description": description });
        call("claude", tool, &input.to_string()).sum
    };
    assert_eq!(sum("Bash", "List files"), sum("Bash", "Look around"));
    assert_ne!(sum("Agent", "List files"), sum("Agent", "Look around"));
    let other = |agent: &str, description: &str| {
        let input = json!({ "command": "ls", "description": description }).to_string();
        call(agent, "bash", &input).sum
    };
    for agent in ["pi", "command:agent"] {
        assert_ne!(other(agent, "a"), other(agent, "b"), "{agent} has no such field");
    }
}

#[test]
fn the_sum_is_that_of_the_line_as_it_was_printed() {
    for agent in AGENTS {
        let (secret, hidden) = (line(agent, "bash", r#""login hunter2""#), r#""login [redacted]""#);
        let hidden = line(agent, "bash", hidden);
        let sum = |line: &str| {
            let seen = adapter(agent).glance(line);
            seen.iter().find_map(|seen| match seen {
                Seen::Permission(raw) | Seen::ToolCall(raw) => Some(raw.call.sum),
                _ => None,
            })
        };
        assert_eq!(sum(&secret), Some(read(agent, &secret).sum), "{agent}");
        assert_ne!(sum(&secret), sum(&hidden), "{agent}");
        for nothing in ["", "no json", "{}", r#"{"type":"text","text":"hm"}"#] {
            assert_eq!(sum(nothing), None, "{agent} {nothing}");
        }
    }
}

#[test]
fn a_tool_is_of_the_kind_that_its_adapter_knows_for_sure() {
    let kinds = |agent: &str, tools: &[&str]| {
        let kind = |tool: &&str| format!("{:?}", call(agent, tool, "{}").kind).to_lowercase();
        tools.iter().map(kind).collect::<Vec<_>>().join(" ")
    };
    let tools = ["Bash", "Read", "Write", "Edit", "Grep", "WebFetch", "Task", "mcp__docs__find"];
    assert_eq!(kinds("claude", &tools), "run read write edit search fetch agent mcp");
    let tools = ["bash", "read", "Monitor", "TodoWrite", "mcp__chronicle__signal_back"];
    assert_eq!(kinds("claude", &tools), "unknown unknown run other mcp");
    let tools = ["bash", "read", "write", "edit", "grep", "find", "ls", "signal_back", "Bash"];
    assert_eq!(kinds("pi", &tools), "run read write edit search search search other unknown");
    assert_eq!(kinds("command:agent", &["bash", "Shell", "read"]), "run run unknown");
}

#[test]
fn a_command_is_found_in_the_input_whatever_its_shape() {
    for (tool, input, expected) in [
        ("bash", r#"{"command":"make"}"#, Some("make")),
        ("bash", r#""make""#, Some("make")),
        ("shell", r#"{"command":["bash","-lc","make"]}"#, Some("make")),
        ("bash", "null", None),
        ("read", r#"{"command":"make"}"#, None),
    ] {
        for agent in AGENTS {
            assert_eq!(call(agent, tool, input).command.as_deref(), expected, "{agent} {input}");
        }
    }
    let called = call("claude", "mcp__box__bash", r#"{"command":"make"}"#);
    assert_eq!(called.command.as_deref(), Some("make"));
}

#[test]
fn calls_of_sub_agents_are_told_apart() {
    let by = |agent: &str, line: &str| format!("{:?}", read(agent, line).by);
    let asked = line("claude", "Read", "{}");
    let mut message: Value = serde_json::from_str(&asked).unwrap();
    message["request"]["agent_id"] = json!("a1");
    assert_eq!([by("claude", &asked), by("claude", &message.to_string())], ["Worker", "SubAgent"]);
    let asked = line("command:agent", "read", "{}");
    let below = asked.replace("{\"type", "{\"parent\":\"c0\",\"type");
    assert_eq!([by("command:agent", &asked), by("command:agent", &below)], ["Worker", "SubAgent"]);
}
