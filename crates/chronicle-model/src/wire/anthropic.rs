//! The Messages protocol of Anthropic.

use serde_json::{Value, json};

use super::{
    Asked, Called, ChatMessage, Role, Said, ToolResult, Wire, input_pieces, items, pieces, text_of,
    texts,
};
use crate::http::Reply;
use crate::script::{Failure, FailureKind, ScriptedUsage, Stop};

pub(super) struct Messages;

impl Wire for Messages {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn read(&self, body: &Value) -> Asked {
        Asked {
            model: text_of(&body["model"]),
            system: texts(&body["system"]),
            messages: items(&body["messages"]).iter().map(message).collect(),
            tools: items(&body["tools"]).iter().map(|it| text_of(&it["name"])).collect(),
            stream: body["stream"] == json!(true),
        }
    }

    fn whole(&self, said: &Said) -> Value {
        let mut message = envelope(said, &usage(said.usage, said.usage.output));
        message["content"] = blocks(said).into_iter().map(|(block, _)| block).collect();
        message["stop_reason"] = json!(stop(said.stop));
        message
    }

    fn stream(&self, said: &Said, _body: &Value) -> Vec<String> {
        // The real service counts the output at the end. An agent that trusts the first figure would be found out.
        let start = json!({"message": envelope(said, &usage(said.usage, 1))});
        let mut events = vec![event("message_start", start), event("ping", json!({}))];
        for (index, (block, deltas)) in blocks(said).into_iter().enumerate() {
            let opened = json!({"index": index, "content_block": emptied(&block)});
            events.push(event("content_block_start", opened));
            for delta in deltas {
                let delta = json!({"index": index, "delta": delta});
                events.push(event("content_block_delta", delta));
            }
            events.push(event("content_block_stop", json!({"index": index})));
        }
        let output = said.usage.output;
        let spent =
            if said.brief { json!({"output_tokens": output}) } else { usage(said.usage, output) };
        let delta = json!({
            "delta": {"stop_reason": stop(said.stop), "stop_sequence": null},
            "usage": spent,
        });
        events.push(event("message_delta", delta));
        events.push(event("message_stop", json!({})));
        events
    }

    fn failure(&self, failure: &Failure, number: usize) -> Reply {
        let (status, _, _) = words(failure.kind);
        let mut reply = Reply::json(status, &error(failure, number));
        reply.headers = limits(failure);
        reply.headers.push(("request-id", request_id(number)));
        reply
    }

    fn failure_in_stream(&self, failure: &Failure, number: usize) -> String {
        event("error", error(failure, number))
    }
}

fn message(from: &Value) -> ChatMessage {
    let role = match from["role"].as_str() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let mut message = ChatMessage { text: texts(&from["content"]), ..ChatMessage::new(role) };
    for block in items(&from["content"]) {
        match block["type"].as_str() {
            Some("tool_use") => message.calls.push(Called {
                id: text_of(&block["id"]),
                tool: text_of(&block["name"]),
                input: block["input"].clone(),
            }),
            Some("tool_result") => message.results.push(ToolResult {
                id: text_of(&block["tool_use_id"]),
                text: texts(&block["content"]),
                is_error: block["is_error"] == json!(true),
            }),
            _ => {}
        }
    }
    message
}

fn envelope(said: &Said, usage: &Value) -> Value {
    json!({
        "id": format!("msg_{:08}", said.number), "type": "message", "role": "assistant",
        "model": said.model, "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage,
    })
}

fn usage(usage: ScriptedUsage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input, "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read, "output_tokens": output,
    })
}

/// Each block with the deltas that fill it.
fn blocks(said: &Said) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if let Some(text) = &said.think {
        let signature = format!("signature-{}", said.number);
        let thoughts = pieces(text).into_iter();
        let mut deltas: Vec<_> =
            thoughts.map(|it| json!({"type": "thinking_delta", "thinking": it})).collect();
        deltas.push(json!({"type": "signature_delta", "signature": signature}));
        let block = json!({"type": "thinking", "thinking": text, "signature": signature});
        blocks.push((block, deltas));
    }
    if let Some(text) = &said.say {
        let deltas = pieces(text).into_iter().map(|it| json!({"type": "text_delta", "text": it}));
        blocks.push((json!({"type": "text", "text": text}), deltas.collect()));
    }
    for (index, (tool, input)) in said.calls.iter().enumerate() {
        let id = format!("toolu_{:08}_{index}", said.number);
        let parts = input_pieces(input).into_iter();
        let deltas = parts.map(|it| json!({"type": "input_json_delta", "partial_json": it}));
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        blocks.push((block, deltas.collect()));
    }
    blocks
}

/// A block before its deltas.
fn emptied(block: &Value) -> Value {
    let mut block = block.clone();
    for (field, nothing) in [
        ("text", json!("")),
        ("thinking", json!("")),
        ("signature", json!("")),
        ("input", json!({})),
    ] {
        if block.get(field).is_some() {
            block[field] = nothing;
        }
    }
    block
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Tools => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Refusal => "refusal",
    }
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

fn error(failure: &Failure, number: usize) -> Value {
    let (_, kind, usual) = words(failure.kind);
    let message = failure.message.as_deref().unwrap_or(usual);
    json!({
        "type": "error", "error": {"type": kind, "message": message},
        "request_id": request_id(number),
    })
}

fn request_id(number: usize) -> String {
    format!("req_{number:08}")
}

/// Status, type and usual message.
fn words(kind: FailureKind) -> (u16, &'static str, &'static str) {
    match kind {
        FailureKind::BadRequest => {
            (400, "invalid_request_error", "messages: at least one message is required")
        }
        FailureKind::ContextOverflow => {
            (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
        }
        FailureKind::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
        FailureKind::Forbidden => (
            403,
            "permission_error",
            "Your API key does not have permission to use the specified resource.",
        ),
        FailureKind::NotFound => (404, "not_found_error", "model: no-such-model"),
        FailureKind::RateLimited => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50 requests per minute.",
        ),
        FailureKind::QuotaSpent => (
            429,
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
        FailureKind::ServerError => (500, "api_error", "Internal server error"),
        FailureKind::Overloaded => (529, "overloaded_error", "Overloaded"),
    }
}

/// The headers that tell when to come back.
fn limits(failure: &Failure) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    if let Some(seconds) = failure.retry_after {
        headers.push(("retry-after", seconds.to_string()));
    }
    let Some(reset) = &failure.reset else { return headers };
    if failure.kind == FailureKind::QuotaSpent {
        headers.push(("anthropic-ratelimit-unified-status", "rejected".to_owned()));
        headers.push(("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()));
        headers.push(("anthropic-ratelimit-unified-reset", reset.clone()));
    } else {
        headers.push(("anthropic-ratelimit-requests-remaining", "0".to_owned()));
        headers.push(("anthropic-ratelimit-requests-reset", reset.clone()));
    }
    headers
}
