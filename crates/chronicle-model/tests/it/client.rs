//! A client that shows every byte it got.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use chronicle_model::{Script, Server};
use serde_json::{Value, json};

/// A server with one conversation of these turns, in YAML's short form.
pub(crate) fn playing(turns: &str) -> Server {
    let text = format!("conversations: [{{name: main, turns: [{turns}]}}]");
    Server::start(Script::parse(&text).unwrap()).unwrap()
}

/// Sends a body and reads to the end of the connection.
pub(crate) fn post(server: &Server, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nx-api-key: k\r\ncontent-length: {}", body.len());
    exchange(server, &format!("{head}\r\n\r\n{body}"))
}

/// Sends bytes and reads to the end of the connection.
pub(crate) fn exchange(server: &Server, bytes: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A connection that is cut ends with an error on some machines; what came is what counts.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

pub(crate) fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Without the lines that only frame a stream: sizes of chunks, and empty ones.
pub(crate) fn unframed(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let is_size = |line: &str| !line.is_empty() && line.bytes().all(|it| it.is_ascii_hexdigit());
    let lines = body.lines().map(|it| it.trim_end_matches('\r'));
    let kept = lines.filter(|it| !it.is_empty() && !is_size(it)).collect::<Vec<_>>();
    format!("{}\n\n{}\n", head.replace('\r', ""), kept.join("\n"))
}

/// A request with one tool and one message.
pub(crate) fn asking(text: &str, stream: bool) -> Value {
    json!({
        "model": "m", "stream": stream, "stream_options": {"include_usage": true},
        "system": "be brief",
        "tools": [{"name": "Write"}],
        "messages": [{"role": "user", "content": text}],
    })
}

/// The same for chat completions.
pub(crate) fn asking_chat(text: &str, stream: bool) -> Value {
    let mut body = asking(text, stream);
    body["tools"] = json!([{"type": "function", "function": {"name": "write"}}]);
    body["messages"] = json!([
        {"role": "system", "content": "be brief"}, {"role": "user", "content": text},
    ]);
    body
}
