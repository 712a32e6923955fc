//! Anthropic Messages, byte by byte.

use expect_test::expect;
use serde_json::json;

use super::client::{asking, playing, post, unframed};

const PATH: &str = "/v1/messages";

#[test]
fn a_turn_is_streamed() {
    let server = playing(
        "{think: Hm., say: I write it now for all to see., \
         calls: [{tool: Write, input: {path: a, text: b}}], \
         usage: {input: 5, output: 7, cache_read: 3, cache_write: 2}}",
    );
    let answer = unframed(&post(&server, PATH, &asking("go", true)));
    expect![[r#"
        HTTP/1.1 200 OK
        request-id: req_00000000
        x-request-id: req_00000000
        content-type: text/event-stream; charset=utf-8
        cache-control: no-cache
        transfer-encoding: chunked
        connection: close

        event: message_start
        data: {"message":{"content":[],"id":"msg_00000000","model":"m","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"input_tokens":5,"output_tokens":1}},"type":"message_start"}
        event: ping
        data: {"type":"ping"}
        event: content_block_start
        data: {"content_block":{"signature":"","thinking":"","type":"thinking"},"index":0,"type":"content_block_start"}
        event: content_block_delta
        data: {"delta":{"thinking":"Hm.","type":"thinking_delta"},"index":0,"type":"content_block_delta"}
        event: content_block_delta
        data: {"delta":{"signature":"signature-0","type":"signature_delta"},"index":0,"type":"content_block_delta"}
        event: content_block_stop
        data: {"index":0,"type":"content_block_stop"}
        event: content_block_start
        data: {"content_block":{"text":"","type":"text"},"index":1,"type":"content_block_start"}
        event: content_block_delta
        data: {"delta":{"text":"I write it now for all t","type":"text_delta"},"index":1,"type":"content_block_delta"}
        event: content_block_delta
        data: {"delta":{"text":"o see.","type":"text_delta"},"index":1,"type":"content_block_delta"}
        event: content_block_stop
        data: {"index":1,"type":"content_block_stop"}
        event: content_block_start
        data: {"content_block":{"id":"toolu_00000000_0","input":{},"name":"Write","type":"tool_use"},"index":2,"type":"content_block_start"}
        event: content_block_delta
        data: {"delta":{"partial_json":"{\"path\":\"a\",","type":"input_json_delta"},"index":2,"type":"content_block_delta"}
        event: content_block_delta
        data: {"delta":{"partial_json":"\"text\":\"b\"}","type":"input_json_delta"},"index":2,"type":"content_block_delta"}
        event: content_block_stop
        data: {"index":2,"type":"content_block_stop"}
        event: message_delta
        data: {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"input_tokens":5,"output_tokens":7}}
        event: message_stop
        data: {"type":"message_stop"}
    "#]].assert_eq(&answer);
    assert_eq!(server.leftovers(), [""; 0]);
}

#[test]
fn a_turn_comes_whole() {
    let server = playing("{say: Hi., calls: [{tool: Write}], usage: {input: 5, output: 7}}");
    let answer = unframed(&post(&server, PATH, &asking("go", false)));
    expect![[r#"
        HTTP/1.1 200 OK
        request-id: req_00000000
        x-request-id: req_00000000
        content-type: application/json
        content-length: 331
        connection: close

        {"content":[{"text":"Hi.","type":"text"},{"id":"toolu_00000000_0","input":{},"name":"Write","type":"tool_use"}],"id":"msg_00000000","model":"m","role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":5,"output_tokens":7}}
    "#]].assert_eq(&answer);
}

#[test]
fn errors_have_the_real_shape() {
    let server = playing(
        "{fail: {kind: unauthorized}}, {fail: {kind: context_overflow}}, \
         {fail: {kind: rate_limited, retry_after: 3, reset: '2026-01-01T00:00:03Z'}}, \
         {fail: {kind: quota_spent, reset: '1767225600'}}, \
         {fail: {kind: server_error}}, {fail: {kind: overloaded}}, \
         {say: Half of this text was there., fail: {kind: overloaded, midway: true}}",
    );
    let answers: Vec<_> =
        (0..7).map(|_| unframed(&post(&server, PATH, &asking("go", true)))).collect();
    expect![[r#"
        HTTP/1.1 401 Unauthorized
        request-id: req_00000000
        content-type: application/json
        content-length: 114
        connection: close

        {"error":{"message":"invalid x-api-key","type":"authentication_error"},"request_id":"req_00000000","type":"error"}
        ---
        HTTP/1.1 400 Bad Request
        request-id: req_00000001
        content-type: application/json
        content-length: 148
        connection: close

        {"error":{"message":"prompt is too long: 208310 tokens > 200000 maximum","type":"invalid_request_error"},"request_id":"req_00000001","type":"error"}
        ---
        HTTP/1.1 429 Too Many Requests
        retry-after: 3
        anthropic-ratelimit-requests-remaining: 0
        anthropic-ratelimit-requests-reset: 2026-01-01T00:00:03Z
        request-id: req_00000002
        content-type: application/json
        content-length: 176
        connection: close

        {"error":{"message":"This request would exceed your organization's rate limit of 50 requests per minute.","type":"rate_limit_error"},"request_id":"req_00000002","type":"error"}
        ---
        HTTP/1.1 429 Too Many Requests
        anthropic-ratelimit-unified-status: rejected
        anthropic-ratelimit-unified-representative-claim: five_hour
        anthropic-ratelimit-unified-reset: 1767225600
        request-id: req_00000003
        content-type: application/json
        content-length: 169
        connection: close

        {"error":{"message":"This request would exceed your account's rate limit. Please try again later.","type":"rate_limit_error"},"request_id":"req_00000003","type":"error"}
        ---
        HTTP/1.1 500 Internal Server Error
        request-id: req_00000004
        content-type: application/json
        content-length: 107
        connection: close

        {"error":{"message":"Internal server error","type":"api_error"},"request_id":"req_00000004","type":"error"}
        ---
        HTTP/1.1 529 Other
        request-id: req_00000005
        content-type: application/json
        content-length: 103
        connection: close

        {"error":{"message":"Overloaded","type":"overloaded_error"},"request_id":"req_00000005","type":"error"}
        ---
        HTTP/1.1 200 OK
        request-id: req_00000006
        x-request-id: req_00000006
        content-type: text/event-stream; charset=utf-8
        cache-control: no-cache
        transfer-encoding: chunked
        connection: close

        event: message_start
        data: {"message":{"content":[],"id":"msg_00000006","model":"m","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":100,"output_tokens":1}},"type":"message_start"}
        event: ping
        data: {"type":"ping"}
        event: content_block_start
        data: {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}
        event: content_block_delta
        data: {"delta":{"text":"Half of this text was th","type":"text_delta"},"index":0,"type":"content_block_delta"}
        event: error
        data: {"error":{"message":"Overloaded","type":"overloaded_error"},"request_id":"req_00000006","type":"error"}
    "#]].assert_eq(&answers.join("---\n"));
}

#[test]
fn numbers_and_lists_are_answered_beside() {
    let server = playing("{say: Hi.}");
    let count = post(&server, "/v1/messages/count_tokens", &asking("go", false));
    assert!(count.ends_with('}') && count.contains("{\"input_tokens\":"), "{count}");
    let list = super::client::exchange(&server, "GET /v1/models HTTP/1.1\r\n\r\n");
    assert!(list.contains("\"id\":\"scripted-model\""), "{list}");
    assert_eq!(server.leftovers(), ["`main` still has turns: 1"]);
}

#[test]
fn history_is_read() {
    let server = playing("{say: 'It said {{result}}, {{result Write}}.'}");
    let mut body = asking("go", false);
    body["system"] = json!([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]);
    body["messages"] = json!([
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "ok"},
            {"type": "tool_use", "id": "t1", "name": "Write", "input": {"a": 1}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "done", "is_error": true},
        ]},
        {"role": "system", "content": "a reminder"},
    ]);
    let answer = post(&server, PATH, &body);
    assert!(answer.contains("It said done, done."), "{answer}");
    expect![[r#"
        [
            Asked {
                model: "m",
                system: "one\ntwo",
                messages: [
                    ChatMessage {
                        role: User,
                        text: "go",
                        calls: [],
                        results: [],
                    },
                    ChatMessage {
                        role: Assistant,
                        text: "ok",
                        calls: [
                            Called {
                                id: "t1",
                                tool: "Write",
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
                                id: "t1",
                                text: "done",
                                is_error: true,
                            },
                        ],
                    },
                    ChatMessage {
                        role: System,
                        text: "a reminder",
                        calls: [],
                        results: [],
                    },
                ],
                tools: [
                    "Write",
                ],
                stream: false,
            },
        ]
    "#]]
    .assert_debug_eq(&server.asked());
}
