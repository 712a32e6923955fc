//! The Model Context Protocol, as much of it as a server of tools needs: JSON-RPC 2.0, one message a line.

use chronicle_runtime::handle::signals::signal_tools;
use serde_json::{Value, json};

/// Not JSON at all.
pub(super) const PARSE: i64 = -32_700;
/// JSON, and no request.
const REQUEST: i64 = -32_600;
/// A method that is not here.
const METHOD: i64 = -32_601;
/// Parameters that make no sense.
pub(super) const PARAMS: i64 = -32_602;
/// The versions that are spoken, the newest first; they do not differ in what is used here.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What is to be answered.
#[derive(Debug, PartialEq)]
pub(super) enum McpRequest {
    /// Answered without asking the supervisor.
    Plain { id: Value, result: Value },
    /// A tool call, relayed to the supervisor.
    Call(Call),
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) tool: String,
    /// What it is given.
    pub(super) arguments: Value,
    /// The agent's own id of the call, where it tells: the same call repeated bears it again.
    pub(super) name: Option<String>,
}

/// The id of a message that is too long to be read, by how it begins and ends: clients write it in either place.
pub(super) fn id_of_long(start: &[u8], end: &[u8]) -> Value {
    const NAME: &str = "\"id\":";
    let (start, end) = (String::from_utf8_lossy(start), String::from_utf8_lossy(end));
    let is_id = |id: &Value| id.is_string() || id.is_number();
    let first = |text: &str| {
        let id = serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?;
        id.ok().filter(is_id)
    };
    // Only where nothing of the message's own can stand before it.
    let rest = start.strip_prefix('{').unwrap_or_default();
    let rest = rest.strip_prefix("\"jsonrpc\":\"2.0\",").unwrap_or(rest);
    let at_start = rest.strip_prefix(NAME).and_then(first);
    let at_end = end.trim_end().strip_suffix('}').and_then(|rest| rest.rsplit_once(NAME));
    // The last thing in the message: a text that only looks like it is followed by more.
    let at_end = at_end.and_then(|(_, id)| serde_json::from_str::<Value>(id).ok()).filter(is_id);
    at_start.or(at_end).unwrap_or(Value::Null)
}

/// What is wrong with a message: its id, the code, the words.
pub(super) type Wrong = (Value, i64, String);

/// Reads a message; none for what wants no answer.
pub(super) fn read(line: &[u8]) -> Result<Option<McpRequest>, Wrong> {
    let message: Value = serde_json::from_slice(line)
        .map_err(|error| (Value::Null, PARSE, format!("not JSON: {error}")))?;
    let id = message.get("id").cloned().unwrap_or(Value::Null);
    // A message without an id is a notification, which must not be answered, not even with an error.
    let has_id = id.is_string() || id.is_number();
    let is_request = message["jsonrpc"] == "2.0" && (has_id || message.get("id").is_none());
    let Some(method) = message["method"].as_str().filter(|_| is_request) else {
        let is_answer = message.get("result").is_some() || message.get("error").is_some();
        let wrong = (id, REQUEST, "not a request of JSON-RPC 2.0".to_owned());
        // We ask nothing, so that an answer is for somebody else.
        return if is_answer { Ok(None) } else { Err(wrong) };
    };
    if !has_id {
        return Ok(None);
    }
    let plain = |result| Ok(Some(McpRequest::Plain { id: id.clone(), result }));
    match method {
        "initialize" => plain(initialize(&message["params"])),
        "ping" => plain(json!({})),
        "tools/list" => plain(list()),
        "tools/call" => call(id, &message["params"]).map(|call| Some(McpRequest::Call(call))),
        other => Err((id, METHOD, format!("there is no method `{other}`"))),
    }
}

fn initialize(params: &Value) -> Value {
    let wanted = params["protocolVersion"].as_str().unwrap_or_default();
    // As the protocol says: a server that does not speak the wanted version offers its own, and the client decides.
    let version = VERSIONS.iter().find(|version| **version == wanted).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "chronicle", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "Leave your phase with `workflow_transition` when its work is done.",
    })
}

fn list() -> Value {
    let tools = signal_tools().into_iter().map(
        |tool| json!({"name": tool.name, "description": tool.about, "inputSchema": tool.schema}),
    );
    json!({"tools": tools.collect::<Vec<_>>()})
}

fn call(id: Value, params: &Value) -> Result<Call, Wrong> {
    let Some(tool) = params["name"].as_str().map(str::to_owned) else {
        return Err((id, PARAMS, "`tools/call` needs `name`".to_owned()));
    };
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => json!({}),
        Some(Value::Object(arguments)) => Value::Object(arguments.clone()),
        Some(_) => return Err((id, PARAMS, "`arguments` must be an object".to_owned())),
    };
    // Claude's own id of the call. It stays the same when the call is repeated, ids of the protocol do not.
    let name = params["_meta"]["claudecode/toolUseId"].as_str().map(str::to_owned);
    Ok(Call { id, tool, arguments, name })
}

pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The answer to a call. A refusal is a result that the model reads, not an error of the protocol.
pub(super) fn answer(id: &Value, answer: Result<String, String>) -> Value {
    // A refusal is a result and not an error of the protocol: the model must read the reason.
    let is_error = answer.is_err();
    let text = answer.unwrap_or_else(|why| why);
    let content = json!([{"type": "text", "text": text}]);
    result(id, &json!({"content": content, "isError": is_error}))
}

/// Whether a version of the protocol is spoken here.
pub(super) fn speaks(version: &str) -> bool {
    VERSIONS.contains(&version)
}

pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn answers(lines: &[&str]) -> String {
        let answer = |line: &&str| match read(line.as_bytes()) {
            Ok(None) => "(nothing)".to_owned(),
            Ok(Some(McpRequest::Plain { id, result })) => super::result(&id, &result).to_string(),
            Ok(Some(McpRequest::Call(call))) => format!("{call:?}"),
            Err((id, code, why)) => error(&id, code, &why).to_string(),
        };
        lines.iter().map(answer).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_id_of_a_long_message_is_found_at_either_end() {
        let id = |start: &str, end: &str| id_of_long(start.as_bytes(), end.as_bytes());
        let method = r#"{"method":"tools/call","params":{"x"#;
        assert_eq!(id(method, "xx\"}},\"jsonrpc\":\"2.0\",\"id\":7}\n"), json!(7));
        assert_eq!(id(method, "xx\"}},\"jsonrpc\":\"2.0\",\"id\":\"a\"}"), json!("a"));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":8,"method":"tools"#, "xx\"}}}"), json!(8));
        assert_eq!(id(r#"{"id":"b","jsonrpc":"2.0""#, "xx\"}}}"), json!("b"));
        assert_eq!(id(method, "xx \"id\":7 xx\"}}}"), Value::Null);
        assert_eq!(id(method, "xx"), Value::Null);
    }

    #[test]
    fn requests_are_answered_and_the_rest_is_named() {
        expect![[r#"
            {"id":0,"jsonrpc":"2.0","result":{"capabilities":{"tools":{}},"instructions":"Leave your phase with `workflow_transition` when its work is done.","protocolVersion":"2025-06-18","serverInfo":{"name":"chronicle","version":"0.1.0"}}}
            {"id":"x","jsonrpc":"2.0","result":{"capabilities":{"tools":{}},"instructions":"Leave your phase with `workflow_transition` when its work is done.","protocolVersion":"2025-11-25","serverInfo":{"name":"chronicle","version":"0.1.0"}}}
            (nothing)
            {"id":1,"jsonrpc":"2.0","result":{}}
            Call { id: Number(2), tool: "workflow_status", arguments: Object {}, name: Some("toolu_1") }
            {"error":{"code":-32602,"message":"`arguments` must be an object"},"id":3,"jsonrpc":"2.0"}
            {"error":{"code":-32602,"message":"`tools/call` needs `name`"},"id":4,"jsonrpc":"2.0"}
            {"error":{"code":-32601,"message":"there is no method `server/discover`"},"id":5,"jsonrpc":"2.0"}
            (nothing)
            {"error":{"code":-32600,"message":"not a request of JSON-RPC 2.0"},"id":null,"jsonrpc":"2.0"}
            {"error":{"code":-32600,"message":"not a request of JSON-RPC 2.0"},"id":7,"jsonrpc":"2.0"}
            {"error":{"code":-32600,"message":"not a request of JSON-RPC 2.0"},"id":null,"jsonrpc":"2.0"}
            {"error":{"code":-32700,"message":"not JSON: EOF while parsing an object at line 1 column 1"},"id":null,"jsonrpc":"2.0"}"#]]
        .assert_eq(&answers(&[
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            r#"{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"1999-01-01"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workflow_status","_meta":{"claudecode/toolUseId":"toolu_1"}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workflow_status","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":6,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"id":7,"method":"ping"}"#,
            r"[]",
            r"{",
        ]));
    }

    #[test]
    fn every_tool_that_is_told_of_is_understood() {
        let tools = list();
        for tool in tools["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            assert!(tool["inputSchema"]["type"] == "object" && tool["description"].is_string());
            let signal = chronicle_core::event::signal::parse(name, &json!({}));
            assert!(!format!("{signal:?}").contains("there is no tool"), "{name}: {signal:?}");
        }
    }
}
