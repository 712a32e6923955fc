//! What is played to whom, what breaks on purpose, and what is kept.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use chronicle_model::{Outcome, Script, ScriptedUsage, Server};
use serde_json::{Value, json};

use super::client::{asking, connect, exchange, playing, post};

const PATH: &str = "/v1/messages";
const SOON: Duration = Duration::from_secs(30);

fn say(server: &Server, path: &str, body: &Value) -> String {
    let answer = post(server, path, body);
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let value: Value = serde_json::from_str(body).unwrap();
    let text = value["content"][0]["text"].as_str().or(value["error"]["message"].as_str());
    text.unwrap().to_owned()
}

#[test]
fn each_request_gets_the_turn_of_its_conversation() {
    let script = "conversations:
      - {name: below, when: {first: look around}, turns: [{say: below 1}]}
      - {name: keyed, when: {path: /k1/}, turns: [{say: keyed 1}, {say: keyed 2}]}
      - {name: titled, when: {tools: false, system: title}, turns: [{say: A title}]}
      - {name: main, turns: [{say: main 1, times: 2}, {say: main, times: 0}]}
    ";
    let server = Server::start(Script::parse(script).unwrap()).unwrap();
    let main = asking("go", false);
    let mut side = main.clone();
    side["tools"] = json!([]);
    assert_eq!(say(&server, PATH, &main), "main 1");
    assert_eq!(say(&server, "/k1/v1/messages", &main), "keyed 1");
    assert_eq!(say(&server, PATH, &side), "OK");
    assert_eq!(say(&server, PATH, &asking("please look around", false)), "below 1");
    assert_eq!(say(&server, PATH, &main), "main 1");
    for _ in 0..3 {
        assert_eq!(say(&server, PATH, &main), "main");
    }
    assert_eq!(server.leftovers(), ["`keyed` still has turns: 1", "`titled` still has turns: 1"]);
    side["system"] = json!("give a title");
    assert_eq!(say(&server, PATH, &side), "A title");
}

#[test]
fn what_the_script_does_not_foresee_is_an_error_that_is_kept() {
    let server = playing("{say: 'a {{nothing}}'}");
    assert_eq!(say(&server, PATH, &asking("go", false)), "`{{nothing}}` stands for nothing here");
    assert_eq!(say(&server, PATH, &asking("go", false)), "`main` has no turn left for request 2");
    assert_eq!(server.leftovers().len(), 2);
    assert_eq!(server.usage(), ScriptedUsage::NONE);
}

#[test]
fn usage_is_the_sum_of_what_was_handed_out() {
    let server = playing(
        "{say: a, usage: {input: 1, output: 2, cache_read: 3, cache_write: 4}}, \
         {fail: {kind: overloaded}}, {say: a long enough text, cut: true}, {say: b, usage: {input: 10, output: 20}}",
    );
    for stream in [true, true, true, false] {
        post(&server, PATH, &asking("go", stream));
    }
    assert_eq!(
        server.usage(),
        ScriptedUsage { input: 11, output: 22, cache_read: 3, cache_write: 4 }
    );
    let outcomes: Vec<_> = server.requests().into_iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes[1..3], [Outcome::Failed(529), Outcome::Cut]);
}

#[test]
fn a_cut_stream_ends_in_the_middle() {
    let server = playing("{say: 'long enough to have a middle, and then some more', cut: true}");
    let answer = post(&server, PATH, &asking("go", true));
    assert!(answer.contains("message_start") && !answer.contains("message_stop"), "{answer}");
    assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn a_stall_waits_for_its_release() {
    let server = playing("{say: one two three four five six, stall: {name: late, at: middle}}");
    thread::scope(|scope| {
        let answer = scope.spawn(|| post(&server, PATH, &asking("go", true)));
        assert!(server.wait_for_stall("late", SOON));
        assert_eq!(server.stalled(), ["late"]);
        assert_eq!(server.requests()[0].outcome, Outcome::Open);
        server.release("late");
        assert!(answer.join().unwrap().contains("message_stop"));
    });
    assert_eq!(server.stalled(), [""; 0]);
}

#[test]
fn a_server_that_is_dropped_lets_go_of_everything() {
    let server = playing("{say: hi, stall: {name: never}}");
    let mut stream = connect(&server);
    let body = asking("go", true).to_string();
    let head = format!("POST {PATH} HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let idle = connect(&server);
    assert!(server.wait_for_stall("never", SOON));
    drop(server);
    let mut rest = Vec::new();
    assert!(stream.read_to_end(&mut rest).is_ok_and(|read| read == 0) || rest.is_empty());
    drop(idle);
}

#[test]
fn keys_are_not_kept() {
    let server = playing("{say: hi}");
    post(&server, PATH, &asking("go", false));
    let request = server.requests().remove(0);
    assert_eq!(request.headers["x-api-key"], "(hidden)");
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", PATH));
    assert_eq!(request.body["system"], "be brief");
}

#[test]
fn nonsense_is_survived() {
    let server = playing("{say: hi}");
    for bytes in ["\r\n\r\n", "POST\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n"] {
        assert_eq!(exchange(&server, bytes), "");
    }
    assert!(exchange(&server, "GET /nowhere HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert_eq!(say(&server, PATH, &asking("go", false)), "hi");
}

/// A pace only ever makes a stream slower: what it says is the same.
#[test]
fn a_model_takes_its_time() {
    let (fast, slow) = (playing("{say: hello}"), playing("{say: hello, pace_ms: 20}"));
    let began = Instant::now();
    let told = post(&slow, PATH, &asking("go", true));
    assert!(began.elapsed() >= Duration::from_millis(7 * 20), "{told}");
    assert_eq!(told, post(&fast, PATH, &asking("go", true)));
    assert_eq!(told.matches("event: ").count(), 7);
}
