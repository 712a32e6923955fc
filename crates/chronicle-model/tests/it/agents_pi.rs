//! The real Pi in both tested versions, without Chronicle: what everything else builds on.

use std::fs;

use chronicle_model::real::{Pi, PiVersion, Yard};
use chronicle_model::{Script, ScriptedUsage, Server};

const EDIT: &str = r#"
conversations:
  - name: main
    turns:
      - say: Writing.
        calls: [{tool: write, input: {path: hello.txt, content: "one\ntwo\n"}}]
        usage: {input: 1200, output: 34, cache_read: 800}
      - calls: [{tool: edit, input: {path: hello.txt, edits: [{oldText: two, newText: "2"}]}}]
        usage: {input: 50, output: 20, cache_read: 2000}
      - say: Done.
        usage: {input: 70, output: 3, cache_read: 2100}
"#;

fn edits_a_file(version: PiVersion) {
    let yard = Yard::new().unwrap();
    let server = Server::start(Script::parse(EDIT).unwrap()).unwrap();
    let mut pi = Pi::find(version).unwrap().start(&yard, &server, &[]).unwrap();
    pi.send(&Pi::prompt("1", "make hello.txt")).unwrap();
    pi.until(Pi::is_end).unwrap();
    let ended = pi.end().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let path = yard.project().join("hello.txt");
    assert_eq!(fs::read_to_string(path).unwrap(), "one\n2\n");
    let said = ended.said();
    let is_mine = |line: &&serde_json::Value| {
        line["type"] == "message_end" && line["message"]["role"] == "assistant"
    };
    let sum = said.iter().filter(is_mine).fold(ScriptedUsage::NONE, |sum, line| {
        let count = |name: &str| line["message"]["usage"][name].as_u64().unwrap();
        sum.plus(ScriptedUsage {
            input: count("input"),
            output: count("output"),
            cache_read: count("cacheRead"),
            cache_write: count("cacheWrite"),
        })
    });
    assert_eq!(sum, server.usage());
    assert_eq!(server.leftovers(), [""; 0]);
    let last = server.asked().pop().unwrap();
    assert!(last.tools.iter().any(|it| it == "edit"), "{:?}", last.tools);
    assert!(last.first().contains("make hello.txt"));
    assert_eq!(last.messages.iter().flat_map(|it| &it.results).count(), 2);
}

#[test]
fn needs_pi_old_edits_a_file_and_counts_as_the_server_does() {
    edits_a_file(PiVersion::Old);
}

#[test]
fn needs_pi_new_edits_a_file_and_counts_as_the_server_does() {
    edits_a_file(PiVersion::New);
}
