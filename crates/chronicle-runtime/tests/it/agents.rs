//! Recorded lines in, what was seen out. No process is started here.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use chronicle_core::base::ids::{AttemptId, Place, RunId, SessionId};
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::Tools;
use chronicle_core::event::Verdict;
use chronicle_core::event::input::Answer;
use chronicle_runtime::for_tests::agents::{
    Adapter, FROM_AGENT, LINE_MAX, Order, Seen, TO_AGENT, find,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const DOCUMENT: &str = include_str!("../../../../docs/agent-protocol.md");

fn adapter() -> Box<dyn Adapter> {
    find("command:agent", Path::new("/p"), &Settings::default()).unwrap()
}

pub(crate) fn order() -> Order {
    Order {
        run: RunId::new("0199"),
        attempt: AttemptId(7),
        place: Place::new("build/ward"),
        try_number: 2,
        session: SessionId::new("s1"),
        resume: false,
        task: "add a page".to_owned(),
        handover: "You build.".to_owned(),
        persona: None,
        followup: None,
        model: Some("big".to_owned()),
        thinking: None,
        tools: Tools { deny: vec!["bash".to_owned()], ..Tools::default() },
        targets: vec!["review".into()],
        project: PathBuf::from("/p"),
        chronicle: PathBuf::from("/bin/c"),
        run_folder: PathBuf::from("/p/run"),
        nonce: "n1".to_owned(),
        secret: "s3cret".to_owned(),
        signals: None,
        home: None,
        given: PathBuf::from("/p/run/given/a7"),
    }
}

/// Pi has anything but CommonJS transpiled in each start anew, which takes longer than all that Chronicle does itself.
#[test]
fn the_extension_of_pi_is_loaded_as_it_is() {
    let pi = find("pi", Path::new("/p"), &Settings::default()).unwrap();
    let launch = pi.launch(&order(), Path::new("/bin/c"));
    let extension = launch.files.iter().find(|file| file.name == "chronicle.cjs").unwrap();
    let needs_more =
        |line: &str| ["import ", "export ", "require("].iter().any(|it| line.contains(it));
    assert_eq!(extension.text.lines().find(|line| needs_more(line)), None);
}

/// What is seen in lines after the session was named, a row each.
fn seen(lines: &str) -> String {
    let mut adapter = adapter();
    adapter.read(r#"{"type":"session","protocol":1,"session":"s1","resumed":false}"#);
    let rows = lines.lines().flat_map(|line| adapter.read(line));
    rows.map(|seen| format!("{seen:?}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn work_is_seen_as_it_is_told() {
    insta::assert_snapshot!(seen(r#"
{"type":"text","text":"Looking.","later":1}
{"text":"Hm.","thinking":true,"type":"text"}
{"type":"tool_call","id":"c1","tool":"read","input":{"path":"a"}}
{"type":"permission","id":"c1","tool":"read","input":{"path":"a"},"parent":"c0"}
{"type":"tool_end","id":"c1","ok":true,"output":"x"}
{"type":"file_change","path":"src/a.rs","change":"created","patch":"--- a"}
{"type":"question","id":"q1","question":"Which?","options":["a","b"]}
{"type":"quota","until":"2030-01-01T01:00:00+01:00"}
{"type":"finished","interrupted":true}
"#), @r#"
    Text("Looking.")
    Thought("Hm.")
    ToolCall(RawCall { call: Call { id: "c1", tool: "read", kind: Unknown, by: Worker, sum: 50b33fc616807487, folder: None, shown: "{\"path\":\"a\"}", command: None, command_cut: false, background: false, path: None, start_file: false }, input: Object {"path": String("a")}, folder: None, is_final: false, too_large: None })
    Permission(RawCall { call: Call { id: "c1", tool: "read", kind: Unknown, by: SubAgent, sum: 50b33fc616807487, folder: None, shown: "{\"path\":\"a\"}", command: None, command_cut: false, background: false, path: None, start_file: false }, input: Object {"path": String("a")}, folder: None, is_final: false, too_large: None })
    ToolEnd { call: "c1", ok: true }
    FileChange { path: "src/a.rs", change: Created }
    Question { request: "q1", question: "Which?", options: ["a", "b"], closed: false, waits_ms: None }
    QuotaReset { until: Millis(1893456000000) }
    Finished
    "#);
}

#[test]
fn usage_keeps_its_width_and_whether_it_has_a_price() {
    insta::assert_snapshot!(seen(r#"
{"type":"usage","id":"m1","input":1200,"output":300,"usd":0.012}
{"type":"usage","of":"turn","input":10,"cache_read":5,"cache_write":2,"model":"big"}
{"type":"usage","of":"session","usd":null}
{"type":"usage","of":"message","input":1}
{"type":"usage","of":"turn","usd":-1}
{"type":"usage","of":"turn","input":-1}
"#), @r#"
    Usage { scope: Message("m1"), usage: Usage { input: 1200, output: 300, cache_read: 0, cache_write: 0, usd_micros: 12000, unpriced: false }, model: None }
    Usage { scope: Turn, usage: Usage { input: 10, output: 0, cache_read: 5, cache_write: 2, usd_micros: 0, unpriced: true }, model: Some("big") }
    Usage { scope: Session, usage: Usage { input: 0, output: 0, cache_read: 0, cache_write: 0, usd_micros: 0, unpriced: false }, model: None }
    NotUnderstood { why: "`usage`: of a message needs the message's `id`" }
    NotUnderstood { why: "`usage`: `usd` cannot be -1" }
    NotUnderstood { why: "`usage`: invalid value: integer `-1`, expected u64" }
    "#);
}

#[test]
fn signals_are_read_by_the_core_and_sub_agents_cannot_send_them() {
    insta::assert_snapshot!(seen(r#"
{"type":"signal","id":"s1","tool":"workflow_transition","arguments":{"target_state":"build","summary":"planned"}}
{"type":"signal","id":"s2","tool":"signal_back","arguments":{"signal":"complete","outcome":"pass","summary":"looked"}}
{"type":"signal","id":"s3","tool":"workflow_status"}
{"type":"signal","id":"s4","tool":"workflow_transition","arguments":null}
{"type":"signal","id":"s5","tool":"workflow_step","arguments":{"action":"next"},"parent":"c1"}
"#), @r#"
    Signal { request: "s1", signal: Leave { target: Some(PhaseId("build")), outcome: None, summary: "planned", task: None, issues: Issues { opened: [], resolved: [] } } }
    Signal { request: "s2", signal: Leave { target: None, outcome: Some(Outcome("pass")), summary: "looked", task: None, issues: Issues { opened: [], resolved: [] } } }
    Signal { request: "s3", signal: Status }
    Signal { request: "s4", signal: Malformed("`workflow_transition` needs `target_state`: the phase to go to") }
    Signal { request: "s5", signal: Malformed("a sub-agent cannot call `workflow_step`: tell the agent that started you instead") }
    "#);
}

#[test]
fn errors_have_a_class_and_a_retry_is_none() {
    insta::assert_snapshot!(seen(r#"
{"type":"error","class":"auth","text":"sign in"}
{"type":"error","class":"session_gone"}
{"type":"error","class":"martian","text":"?"}
{"type":"error","class":"overload","text":"529","retry_in_ms":2000}
"#), @r#"
    Error { class: Auth, text: "sign in" }
    Error { class: SessionGone, text: "" }
    Error { class: Other, text: "?" }
    Retrying { class: Overload, text: "529", after_ms: 2000 }
    "#);
}

#[test]
fn what_makes_no_sense_is_seen_as_that() {
    insta::assert_snapshot!(seen(r#"
not json
[1]
{"id":"c1"}
{"type":"later"}
{"type":"permission","tool":"read"}
{"type":"permission","id":"","tool":"read"}
{"type":"file_change","path":"a","change":"moved"}
{"type":"quota","until":"soon"}
"#), @r#"
    NotUnderstood { why: "not a line of JSON: expected ident at line 1 column 2" }
    NotUnderstood { why: "a message without `type`" }
    NotUnderstood { why: "a message without `type`" }
    NotUnderstood { why: "a message of unknown type `later`" }
    NotUnderstood { why: "`permission`: missing field `id`" }
    NotUnderstood { why: "`permission`: `id` has 0 bytes; 1 to 200 fit" }
    NotUnderstood { why: "`file_change`: unknown variant `moved`, expected one of `created`, `changed`, `deleted`" }
    NotUnderstood { why: "`quota`: `until` is no time: `soon`" }
    "#);
}

#[test]
fn work_before_the_session_breaks_the_protocol() {
    let mut adapter = adapter();
    for (line, expected) in [
        (r#"{"type":"text","text":"hi"}"#, r#"[Text("hi")]"#),
        (
            r#"{"type":"permission","id":"c1","tool":"read"}"#,
            r#"[Error { class: Protocol, text: "`permission` came before `session`" }]"#,
        ),
        (
            r#"{"type":"session","protocol":2,"session":"s1"}"#,
            r#"[Error { class: Protocol, text: "the agent speaks protocol 2, not 1" }]"#,
        ),
        (r#"{"type":"session","protocol":1,"session":"s1"}"#, r#"[Session(SessionId("s1"))]"#),
        (r#"{"type":"tool_end","id":"c1","ok":true}"#, r#"[ToolEnd { call: "c1", ok: true }]"#),
        ("", "[]"),
    ] {
        assert_eq!(format!("{:?}", adapter.read(line)), expected, "{line}");
    }
}

#[test]
fn the_guard_sees_all_of_an_input_and_an_event_a_part() {
    let command = "x".repeat(50_000);
    let mut adapter = adapter();
    adapter.read(r#"{"type":"session","protocol":1,"session":"s1"}"#);
    let line = json!({"type": "permission", "id": "c", "tool": "bash", "input": command});
    let seen = adapter.read(&line.to_string());
    let [Seen::Permission(raw)] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!(raw.input, json!(command));
    assert!(raw.call.shown.len() < 2_100);
    assert_eq!(raw.call.command.as_ref().map(String::len), Some(8_000));
    assert!(raw.call.command_cut);
    let long = adapter.read(&"x".repeat(LINE_MAX + 1));
    assert_eq!(format!("{long:?}").matches("the limit is 4194304").count(), 1);
}

#[test]
fn the_order_is_the_first_line() {
    let lines = adapter().open(&order());
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(
        serde_json::from_str::<Value>(line).unwrap(),
        json!({
            "type": "start", "protocol": 1, "run": "0199", "attempt": "a7", "place": "build/ward",
            "try": 2, "session": "s1", "task": "add a page", "handover": "You build.",
            "model": "big", "tools": {"allow": null, "deny": ["bash"]}, "targets": ["review"],
            "project": "/p", "servers": "/p/run/given/a7/servers.json",
        })
    );
    let lines = adapter().open(&Order { resume: true, ..order() });
    assert_eq!(serde_json::from_str::<Value>(&lines[0]).unwrap()["type"], "resume");
}

#[test]
fn answers_and_asides_are_written_as_the_document_says() {
    let mut adapter = adapter();
    let mut written = Vec::new();
    for answer in [
        Answer::Verdict(Verdict::Allowed),
        Answer::Verdict(Verdict::Denied("no".to_owned())),
        Answer::Accepted("well".to_owned()),
        Answer::Refused("not so".to_owned()),
        Answer::Noted,
    ] {
        written.extend(adapter.answer("c1", &answer));
    }
    written.extend(adapter.prompt("go on"));
    written.extend(adapter.note("psst\nhey"));
    written.extend(adapter.interrupt());
    insta::assert_snapshot!(written.join("\n"), @r#"
    {"answer":"allow","id":"c1","text":"","type":"answer"}
    {"answer":"deny","id":"c1","text":"no","type":"answer"}
    {"answer":"accepted","id":"c1","text":"well","type":"answer"}
    {"answer":"refused","id":"c1","text":"not so","type":"answer"}
    {"answer":"accepted","id":"c1","text":"","type":"answer"}
    {"text":"go on","type":"prompt"}
    {"text":"psst\nhey","type":"note"}
    {"type":"interrupt"}
    "#);
}

#[test]
fn names_lead_to_commands() {
    let launch = |agent: &str| {
        let launch = find(agent, Path::new("/p"), &Settings::default())
            .unwrap()
            .launch(&order(), Path::new("/bin/c"));
        launch.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(launch("scripted:a/b.yaml"), ["/bin/c", "scripted-agent", "/p/a/b.yaml"]);
    assert_eq!(launch("scripted:/x.yaml"), ["/bin/c", "scripted-agent", "/x.yaml"]);
    assert_eq!(launch("command:python3 'my agent.py'"), ["python3", "my agent.py"]);
}

#[test]
fn unknown_names_are_refused_with_what_would_do() {
    let refused = |agent: &str| {
        let unknown = find(agent, Path::new("/p"), &Settings::default()).err().unwrap();
        format!("{unknown} / {}", unknown.hint)
    };
    insta::assert_snapshot!(["claud", "scripted", "command:", "command:a 'b"].map(refused).join("\n"), @"
    agent `claud` is not known; known agents: `claude`, `pi`, `scripted:SCRIPT`, `command:PROGRAM ARGS` / did you mean `claude`?
    agent `scripted` is not known; known agents: `claude`, `pi`, `scripted:SCRIPT`, `command:PROGRAM ARGS` / name the script: `scripted:SCRIPT.yaml`, relative to the project
    agent `command:` names no program / write `command:PROGRAM ARGS`, quotes in pairs
    agent `command:a 'b` has a quote that is not closed / write `command:PROGRAM ARGS`, quotes in pairs
    ");
}

#[test]
fn the_document_has_a_heading_for_each_type_and_no_other() {
    let headings: Vec<&str> =
        DOCUMENT.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let types: Vec<&str> = TO_AGENT.into_iter().chain(FROM_AGENT).collect();
    assert_eq!(headings, types);
}

#[test]
fn the_documented_session_is_understood() {
    let mut adapter = adapter();
    let mut types = Vec::new();
    for line in DOCUMENT.lines() {
        if let Some(line) = line.strip_prefix("< ") {
            let seen = adapter.read(line);
            assert!(!matches!(seen[..], [Seen::NotUnderstood { .. }]), "{seen:?}");
        }
        if let Some(line) = line.strip_prefix("> ").or_else(|| line.strip_prefix("< ")) {
            let message: Value = serde_json::from_str(line).unwrap();
            types.push(message["type"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(types.first().map(String::as_str), Some("start"));
    assert_eq!(types.last().map(String::as_str), Some("finished"));
}

proptest! {
    #[test]
    fn no_line_is_too_odd(line in any::<String>()) {
        let mut adapter = adapter();
        adapter.open(&order());
        let _ = adapter.read(&line);
    }

    #[test]
    fn no_message_is_too_odd(
        kind in proptest::sample::select(FROM_AGENT.to_vec()),
        fields in proptest::collection::btree_map(
            proptest::sample::select(vec![
                "id", "tool", "input", "text", "session", "protocol", "of", "usd", "until",
                "class", "path", "change", "arguments", "question", "options", "ok",
            ]),
            proptest::sample::select(vec![
                json!(null), json!(1), json!(-1), json!(1e300), json!(true), json!(""),
                json!("message"), json!("é".repeat(300)), json!([1, "a"]), json!({"a": {}}),
            ]),
            0..8,
        ),
    ) {
        let mut message = json!(fields);
        message["type"] = json!(kind);
        let mut adapter = adapter();
        adapter.read(r#"{"type":"session","protocol":1,"session":"s1"}"#);
        prop_assert_eq!(adapter.read(&message.to_string()).len(), 1);
    }

    #[test]
    fn no_name_is_too_odd(agent in any::<String>()) {
        let _ = find(&agent, Path::new("/p"), &Settings::default());
        let _ = find(&format!("command:{agent}"), Path::new("/p"), &Settings::default());
    }
}
