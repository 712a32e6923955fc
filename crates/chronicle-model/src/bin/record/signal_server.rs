//! A server for the cases with a tool from outside: one tool, over standard input and output, and only what the agents ask.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// The argument that makes this program such a server.
pub(crate) const WORD: &str = "signal-server";

/// How agents are told to start it.
pub(crate) fn config(extra: &Value) -> Value {
    let own = std::env::current_exe().unwrap_or_default();
    let mut server = json!({"command": own, "args": [WORD]});
    if let (Some(server), Some(extra)) = (server.as_object_mut(), extra.as_object()) {
        server.extend(extra.clone());
    }
    json!({"mcpServers": {"chronicle": server}})
}

/// Answers until the input ends.
pub(crate) fn serve() -> ExitCode {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(request) = serde_json::from_str::<Value>(&line) else { continue };
        if request.get("id").is_none() {
            continue;
        }
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": answer(&request)});
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn answer(request: &Value) -> Value {
    let text = json!({"type": "string"});
    match request["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "chronicle", "version": "0.1.0"},
        }),
        Some("tools/list") => json!({"tools": [{
            "name": "signal_back",
            "description": "Tells the supervisor how the work went.",
            "inputSchema": {
                "type": "object", "properties": {"signal": text, "summary": text},
                "required": ["signal"],
            },
        }]}),
        Some("tools/call") => {
            let said = format!("heard {}", request["params"]["arguments"]["signal"]);
            json!({"content": [{"type": "text", "text": said}], "isError": false})
        }
        _ => json!({}),
    }
}
