//! The chat completions protocol of OpenAI.

use serde_json::{Value, json};

use super::{
    Asked, Called, ChatMessage, Role, Said, ToolResult, Wire, input_pieces, items, pieces, text_of,
    texts,
};
use crate::http::Reply;
use crate::script::{Failure, FailureKind, ScriptedUsage, Stop};

pub(super) struct Completions;

/// What every answer is said to be made at: nothing here knows the time.
const CREATED: u64 = 1_767_225_600;

impl Wire for Completions {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn read(&self, body: &Value) -> Asked {
        let all: Vec<ChatMessage> = items(&body["messages"]).iter().map(message).collect();
        let (system, messages): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|it| it.role == Role::System);
        let system: Vec<String> = system.into_iter().map(|it| it.text).collect();
        let tools = items(&body["tools"]).iter();
        Asked {
            model: text_of(&body["model"]),
            system: system.join("\n"),
            messages,
            tools: tools.map(|it| text_of(&it["function"]["name"])).collect(),
            stream: body["stream"] == json!(true),
        }
    }

    fn whole(&self, said: &Said) -> Value {
        let calls: Vec<Value> = (0..said.calls.len()).map(|it| call(said, it)).collect();
        let mut message = json!({"role": "assistant", "content": said.say, "refusal": null});
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        if let Some(thoughts) = &said.think {
            message["reasoning_content"] = json!(thoughts);
        }
        let mut answer = envelope(said, "chat.completion");
        answer["choices"] = json!([{
            "index": 0, "message": message, "logprobs": null, "finish_reason": stop(said.stop),
        }]);
        answer["usage"] = usage(said.usage);
        answer
    }

    fn stream(&self, said: &Said, body: &Value) -> Vec<String> {
        let mut events = vec![chunk(said, &json!({"role": "assistant", "content": ""}), None)];
        let thoughts = said.think.iter().flat_map(|it| pieces(it));
        events.extend(thoughts.map(|it| chunk(said, &json!({"reasoning_content": it}), None)));
        let texts = said.say.iter().flat_map(|it| pieces(it));
        events.extend(texts.map(|it| chunk(said, &json!({"content": it}), None)));
        for (index, (_, input)) in said.calls.iter().enumerate() {
            let mut opened = call(said, index);
            opened["index"] = json!(index);
            opened["function"]["arguments"] = json!("");
            events.push(chunk(said, &json!({"tool_calls": [opened]}), None));
            for part in input_pieces(input) {
                let part = json!({"index": index, "function": {"arguments": part}});
                events.push(chunk(said, &json!({"tool_calls": [part]}), None));
            }
        }
        events.push(chunk(said, &json!({}), Some(stop(said.stop))));
        // As the real service does: an agent that does not ask for it gets no usage in a stream.
        if body["stream_options"]["include_usage"] == json!(true) {
            let mut last = envelope(said, "chat.completion.chunk");
            last["choices"] = json!([]);
            last["usage"] = usage(said.usage);
            events.push(data(&last));
        }
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn failure(&self, failure: &Failure, number: usize) -> Reply {
        let mut reply = Reply::json(words(failure.kind).status, &error(failure));
        reply.headers.push(("x-request-id", format!("req_{number:08}")));
        if let Some(seconds) = failure.retry_after {
            reply.headers.push(("retry-after", seconds.to_string()));
            reply.headers.push(("retry-after-ms", (u64::from(seconds) * 1000).to_string()));
        }
        if let Some(reset) = &failure.reset {
            reply.headers.push(("x-ratelimit-remaining-requests", "0".to_owned()));
            reply.headers.push(("x-ratelimit-reset-requests", reset.clone()));
        }
        reply
    }

    fn failure_in_stream(&self, failure: &Failure, _number: usize) -> String {
        data(&error(failure))
    }
}

fn message(from: &Value) -> ChatMessage {
    let text = texts(&from["content"]);
    let id = text_of(&from["tool_call_id"]);
    match from["role"].as_str() {
        Some("system" | "developer") => ChatMessage { text, ..ChatMessage::new(Role::System) },
        Some("tool") => ChatMessage {
            results: vec![ToolResult { id, text, is_error: false }],
            ..ChatMessage::new(Role::User)
        },
        Some("assistant") => {
            let calls = items(&from["tool_calls"]).iter().map(called).collect();
            ChatMessage { text, calls, ..ChatMessage::new(Role::Assistant) }
        }
        _ => ChatMessage { text, ..ChatMessage::new(Role::User) },
    }
}

fn called(from: &Value) -> Called {
    let function = &from["function"];
    let input = function["arguments"].as_str().and_then(|it| serde_json::from_str(it).ok());
    Called {
        id: text_of(&from["id"]),
        tool: text_of(&function["name"]),
        input: input.unwrap_or(Value::Null),
    }
}

fn envelope(said: &Said, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{:08}", said.number), "object": object, "created": CREATED,
        "model": said.model,
    })
}

fn chunk(said: &Said, delta: &Value, stop: Option<&str>) -> String {
    let mut chunk = envelope(said, "chat.completion.chunk");
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": stop}]);
    data(&chunk)
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn call(said: &Said, index: usize) -> Value {
    let (tool, input) = &said.calls[index];
    json!({
        "id": format!("call_{:08}_{index}", said.number), "type": "function",
        "function": {"name": tool, "arguments": input.to_string()},
    })
}

/// Here what was read includes the cache.
fn usage(usage: ScriptedUsage) -> Value {
    json!({
        "prompt_tokens": usage.read(), "completion_tokens": usage.output,
        "total_tokens": usage.read() + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Tools => "tool_calls",
        Stop::Length => "length",
        Stop::Refusal => "content_filter",
    }
}

/// How an error is told here.
struct Words {
    status: u16,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<&'static str>,
    usual: &'static str,
}

fn error(failure: &Failure) -> Value {
    let Words { kind, code, param, usual, .. } = words(failure.kind);
    let message = failure.message.as_deref().unwrap_or(usual);
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

fn words(kind: FailureKind) -> Words {
    let invalid = "invalid_request_error";
    let plain = |status, kind, code, usual| Words { status, kind, code, param: None, usual };
    match kind {
        FailureKind::BadRequest => plain(400, invalid, None, "Invalid request."),
        FailureKind::ContextOverflow => Words {
            param: Some("messages"),
            ..plain(
                400,
                invalid,
                Some("context_length_exceeded"),
                "This model's maximum context length is 200000 tokens. However, your messages resulted in 208310 tokens. Please reduce the length of the messages.",
            )
        },
        FailureKind::Unauthorized => {
            plain(401, invalid, Some("invalid_api_key"), "Incorrect API key provided.")
        }
        FailureKind::Forbidden => plain(
            403,
            invalid,
            Some("unsupported_country_region_territory"),
            "Country, region, or territory not supported",
        ),
        FailureKind::NotFound => plain(
            404,
            invalid,
            Some("model_not_found"),
            "The model `no-such-model` does not exist or you do not have access to it.",
        ),
        FailureKind::RateLimited => {
            plain(429, "requests", Some("rate_limit_exceeded"), "Rate limit reached for requests.")
        }
        FailureKind::QuotaSpent => plain(
            429,
            "insufficient_quota",
            Some("insufficient_quota"),
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        FailureKind::ServerError => plain(
            500,
            "server_error",
            None,
            "The server had an error while processing your request. Sorry about that!",
        ),
        FailureKind::Overloaded => plain(
            503,
            "server_error",
            None,
            "The engine is currently overloaded, please try again later.",
        ),
    }
}
