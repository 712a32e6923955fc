//! OpenAI chat completions, byte by byte.

use expect_test::expect;
use serde_json::json;

use super::client::{asking_chat, playing, post, unframed};

const PATH: &str = "/key/v1/chat/completions";

#[test]
fn a_turn_is_streamed() {
    let server = playing(
        "{think: Hm., say: I write it now for all to see., \
         calls: [{tool: write, input: {path: a, text: b}}], \
         usage: {input: 5, output: 7, cache_read: 3, cache_write: 2}}",
    );
    let answer = unframed(&post(&server, PATH, &asking_chat("go", true)));
    expect![[r#"
        HTTP/1.1 200 OK
        request-id: req_00000000
        x-request-id: req_00000000
        content-type: text/event-stream; charset=utf-8
        cache-control: no-cache
        transfer-encoding: chunked
        connection: close

        data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{"reasoning_content":"Hm."},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{"content":"I write it now for all t"},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{"content":"o see."},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"","name":"write"},"id":"call_00000000_0","index":0,"type":"function"}]},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"path\":\"a\","},"index":0}]},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"\"text\":\"b\"}"},"index":0}]},"finish_reason":null,"index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[{"delta":{},"finish_reason":"tool_calls","index":0}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk"}
        data: {"choices":[],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion.chunk","usage":{"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens":10,"prompt_tokens_details":{"cache_write_tokens":2,"cached_tokens":3},"total_tokens":17}}
        data: [DONE]
    "#]].assert_eq(&answer);
}

#[test]
fn a_turn_comes_whole() {
    let server = playing("{say: Hi., calls: [{tool: write}], usage: {input: 5, output: 7}}");
    let answer = unframed(&post(&server, PATH, &asking_chat("go", false)));
    expect![[r#"
        HTTP/1.1 200 OK
        request-id: req_00000000
        x-request-id: req_00000000
        content-type: application/json
        content-length: 506
        connection: close

        {"choices":[{"finish_reason":"tool_calls","index":0,"logprobs":null,"message":{"content":"Hi.","refusal":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"write"},"id":"call_00000000_0","type":"function"}]}}],"created":1767225600,"id":"chatcmpl-00000000","model":"m","object":"chat.completion","usage":{"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens":5,"prompt_tokens_details":{"cache_write_tokens":0,"cached_tokens":0},"total_tokens":12}}
    "#]].assert_eq(&answer);
}

#[test]
fn errors_have_the_real_shape() {
    let server = playing(
        "{fail: {kind: unauthorized}}, {fail: {kind: context_overflow}}, \
         {fail: {kind: rate_limited, retry_after: 3, reset: 3s}}, {fail: {kind: quota_spent}}, \
         {fail: {kind: server_error}}, {fail: {kind: overloaded}}",
    );
    let answers: Vec<_> =
        (0..6).map(|_| unframed(&post(&server, PATH, &asking_chat("go", true)))).collect();
    expect![[r#"
        HTTP/1.1 401 Unauthorized
        x-request-id: req_00000000
        content-type: application/json
        content-length: 120
        connection: close

        {"error":{"code":"invalid_api_key","message":"Incorrect API key provided.","param":null,"type":"invalid_request_error"}}
        ---
        HTTP/1.1 400 Bad Request
        x-request-id: req_00000001
        content-type: application/json
        content-length: 252
        connection: close

        {"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 200000 tokens. However, your messages resulted in 208310 tokens. Please reduce the length of the messages.","param":"messages","type":"invalid_request_error"}}
        ---
        HTTP/1.1 429 Too Many Requests
        x-request-id: req_00000002
        retry-after: 3
        retry-after-ms: 3000
        x-ratelimit-remaining-requests: 0
        x-ratelimit-reset-requests: 3s
        content-type: application/json
        content-length: 116
        connection: close

        {"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for requests.","param":null,"type":"requests"}}
        ---
        HTTP/1.1 429 Too Many Requests
        x-request-id: req_00000003
        content-type: application/json
        content-length: 169
        connection: close

        {"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details.","param":null,"type":"insufficient_quota"}}
        ---
        HTTP/1.1 500 Internal Server Error
        x-request-id: req_00000004
        content-type: application/json
        content-length: 143
        connection: close

        {"error":{"code":null,"message":"The server had an error while processing your request. Sorry about that!","param":null,"type":"server_error"}}
        ---
        HTTP/1.1 503 Service Unavailable
        x-request-id: req_00000005
        content-type: application/json
        content-length: 130
        connection: close

        {"error":{"code":null,"message":"The engine is currently overloaded, please try again later.","param":null,"type":"server_error"}}
    "#]].assert_eq(&answers.join("---\n"));
}

#[test]
fn history_is_read() {
    let server = playing("{say: 'It said {{result 1}}.'}");
    let mut body = asking_chat("go", false);
    body["messages"] = json!([
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "write", "arguments": "{\"a\":1}"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]);
    let answer = post(&server, PATH, &body);
    assert!(answer.contains("It said done."), "{answer}");
    expect![[r#"
        [
            Asked {
                model: "m",
                system: "be brief",
                messages: [
                    ChatMessage {
                        role: User,
                        text: "go",
                        calls: [],
                        results: [],
                    },
                    ChatMessage {
                        role: Assistant,
                        text: "",
                        calls: [
                            Called {
                                id: "c1",
                                tool: "write",
                                input: Object {
                                    "a": Number(1),
                                },
                            },
                        ],
                        results: [],
                    },
                    ChatMessage {
                        role: User,
                        text: "",
                        calls: [],
                        results: [
                            ToolResult {
                                id: "c1",
                                text: "done",
                                is_error: false,
                            },
                        ],
                    },
                ],
                tools: [
                    "write",
                ],
                stream: false,
            },
        ]
    "#]]
    .assert_debug_eq(&server.asked());
}
