//! The real Claude Code, without Chronicle: what everything else builds on.

use std::fs;

use chronicle_model::real::{Claude, Yard};
use chronicle_model::{Script, ScriptedUsage, Server};

const EDIT: &str = r#"
conversations:
  - name: main
    turns:
      - think: Two lines will do.
        say: Writing.
        calls: [{tool: Write, input: {file_path: "{{project}}/hello.txt", content: "one\ntwo\n"}}]
        usage: {input: 1200, output: 34, cache_read: 800, cache_write: 300}
      - calls: [{tool: Edit, input: {file_path: "{{project}}/hello.txt", old_string: two, new_string: "2"}}]
        usage: {input: 50, output: 20, cache_read: 2000}
      - say: Done.
        usage: {input: 70, output: 3, cache_read: 2100, cache_write: 5}
"#;

#[test]
fn needs_claude_edits_a_file_and_counts_as_the_server_does() {
    let yard = Yard::new().unwrap();
    let project = yard.project();
    let script = Script::parse(EDIT).unwrap().with("project", project.to_string_lossy());
    let server = Server::start(script).unwrap();
    let mut claude = Claude::find().unwrap().start(&yard, &server, &[]).unwrap();
    claude.send(&Claude::prompt("make hello.txt")).unwrap();
    let mut asked = Vec::new();
    let result = loop {
        let line = claude.until(|it| Claude::is_end(it) || Claude::is_question(it)).unwrap();
        if Claude::is_end(&line) {
            break line;
        }
        asked.push(line["request"]["tool_name"].as_str().unwrap().to_owned());
        claude.send(&Claude::allow(&line)).unwrap();
    };
    let ended = claude.end().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(asked, ["Write", "Edit"]);
    assert_eq!(fs::read_to_string(project.join("hello.txt")).unwrap(), "one\n2\n");
    assert_eq!(result["result"], "Done.");
    assert_eq!(result["is_error"], false);
    let count = |name: &str| result["usage"][name].as_u64().unwrap();
    let said = ScriptedUsage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
    };
    assert_eq!(said, server.usage());
    assert_eq!(server.leftovers(), [""; 0]);
    let last = server.asked().pop().unwrap();
    assert!(last.tools.iter().any(|it| it == "Write"), "{:?}", last.tools);
    assert!(last.first().contains("make hello.txt"));
    assert_eq!(last.messages.iter().flat_map(|it| &it.results).count(), 2);
}
