//! The real scripted agent, driven over pipes as a supervisor does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project with a script, and a home for sessions.
struct World {
    folder: TempDir,
}

impl World {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        fs::write(folder.path().join("script.yaml"), script).unwrap();
        Self { folder }
    }

    fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    fn spawn(&self) -> Agent {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronicle"));
        command.arg("scripted-agent").arg(self.folder.path().join("script.yaml"));
        command.env("CHRONICLE_SCRIPTED_HOME", self.folder.path().join("sessions"));
        Agent::spawn(command, &self.project())
    }

    fn order(&self, kind: &str, place: &str, try_number: u32) -> Value {
        json!({
            "type": kind, "protocol": 1, "run": "r", "attempt": "a1", "place": place,
            "try": try_number, "session": "s1", "task": "t", "handover": "h",
            "tools": {"allow": null, "deny": []}, "targets": ["done"],
            "project": self.project().to_str().unwrap(),
        })
    }

    fn start(&self, place: &str, try_number: u32) -> Agent {
        self.begin("start", place, try_number)
    }

    fn resume(&self, place: &str, try_number: u32) -> Agent {
        self.begin("resume", place, try_number)
    }

    fn begin(&self, kind: &str, place: &str, try_number: u32) -> Agent {
        let mut agent = self.spawn();
        agent.tell(&self.order(kind, place, try_number));
        agent
    }
}

/// A live agent process.
struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Agent {
    fn spawn(mut command: Command, project: &Path) -> Self {
        let mut child = command
            .current_dir(project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn answer(&mut self, id: &Value, answer: &str, text: &str) {
        self.tell(&json!({"type": "answer", "id": id, "answer": answer, "text": text}));
    }

    /// The next message; none at the end of the output.
    fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The next message, which must be of this type.
    fn expect(&mut self, kind: &str) -> Value {
        let message = self.hear().unwrap_or_else(|| panic!("no `{kind}`: {}", self.stderr()));
        assert_eq!(message["type"], kind, "{message}");
        message
    }

    /// Allows and accepts everything to the end of the turn; what it did, a word a message.
    fn obey(&mut self) -> Vec<String> {
        let mut did = Vec::new();
        while let Some(message) = self.hear() {
            let kind = message["type"].as_str().unwrap().to_owned();
            match kind.as_str() {
                "permission" => self.answer(&message["id"], "allow", ""),
                "signal" | "question" => self.answer(&message["id"], "accepted", "yes"),
                _ => {}
            }
            did.push(match kind.as_str() {
                "text" => message["text"].as_str().unwrap().to_owned(),
                _ => kind.clone(),
            });
            if kind == "finished" {
                break;
            }
        }
        did
    }

    /// Ends its input, and waits.
    fn end(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Agent {
    /// A test that fails leaves nothing behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_whole_session() {
    let world = World::new(
        r#"
plan:
  - say: Looking.
  - tool: {name: read, input: {path: README.md}, output: "hello"}
  - usage: {input: 1200, output: 300, usd: 0.012}
  - write: {path: docs/PLAN.md, text: "1. build\n"}
  - edit: {path: docs/PLAN.md, find: build, replace: test}
  - append: {path: docs/PLAN.md, text: "2. ship\n"}
  - shell: {command: "cat docs/PLAN.md"}
  - write: {path: old, text: x}
  - delete: {path: old}
  - ask: {question: Which?, options: [a, b]}
  - status
  - transition: {to: build, summary: planned, outcome: pass}
  - say: never said
"#,
    );
    let mut agent = world.start("plan", 1);
    let session = agent.expect("session");
    assert_eq!((&session["session"], &session["resumed"]), (&json!("s1"), &json!(false)));
    assert_eq!(agent.expect("text")["text"], "Looking.");
    let tool = agent.expect("permission");
    assert_eq!(
        tool,
        json!({"type": "permission", "id": "1.2", "tool": "read", "input": {"path": "README.md"}})
    );
    agent.answer(&tool["id"], "allow", "");
    assert_eq!(agent.expect("tool_end")["output"], "hello");
    let usage = agent.expect("usage");
    assert_eq!(
        (&usage["of"], &usage["id"], &usage["usd"]),
        (&json!("message"), &json!("1.3"), &json!(0.012))
    );
    assert_eq!(
        agent.obey().join(" · "),
        "permission · file_change · tool_end · permission · file_change · tool_end · permission · \
         file_change · tool_end · permission · tool_end · permission · file_change · tool_end · \
         permission · file_change · tool_end · question · the answer is: yes · signal · yes · \
         signal · finished"
    );
    assert_eq!(world.read("docs/PLAN.md"), "1. test\n2. ship\n");
    assert!(agent.end().success());
}

#[test]
fn a_denied_tool_does_not_run() {
    let world = World::new("plan: [{write: {path: a, text: x}}, {say: then}]");
    let mut agent = world.start("plan", 1);
    agent.expect("session");
    let asked = agent.expect("permission");
    assert_eq!(asked["tool"], "write");
    agent.answer(&asked["id"], "deny", "not there");
    let end = agent.expect("tool_end");
    assert_eq!((&end["ok"], &end["output"]), (&json!(false), &json!("not there")));
    assert_eq!(agent.obey(), ["then", "finished"]);
    assert!(!world.project().join("a").exists());
}

#[test]
fn an_answer_that_is_not_a_clear_yes_is_a_no() {
    let world = World::new("plan: [{write: {path: a, text: x}}]");
    let mut agent = world.start("plan", 1);
    agent.expect("session");
    agent.expect("permission");
    agent.answer(&json!("another"), "allow", "");
    agent.answer(&json!("1.1"), "accepted", "");
    assert_eq!(agent.expect("tool_end")["ok"], false);
    assert!(!world.project().join("a").exists());
}

#[test]
fn a_refused_signal_goes_on_and_an_accepted_one_ends() {
    let world = World::new(
        "plan: [{transition: {to: nowhere}}, {transition: {to: build}}, {say: never said}]",
    );
    let mut agent = world.start("plan", 1);
    agent.expect("session");
    let wrong = agent.expect("signal");
    assert_eq!(wrong["arguments"]["target_state"], "nowhere");
    agent.answer(&wrong["id"], "refused", "go to `build`");
    let said = agent.expect("text");
    assert_eq!(said["text"], "`workflow_transition` was refused: go to `build`");
    let right = agent.expect("signal");
    assert_ne!(wrong["id"], right["id"]);
    agent.answer(&right["id"], "accepted", "");
    agent.expect("finished");
    assert!(agent.end().success());
}

#[test]
fn keep_going_plays_what_follows_a_leaving_signal() {
    let world = World::new("plan: [{keep_going: true}, {next: {}}, {say: still here}]");
    assert_eq!(world.start("plan", 1).obey(), ["session", "signal", "still here", "finished"]);
}

#[test]
fn killed_at_each_step_and_resumed_it_appends_exactly_once() {
    let script = r#"
plan:
  - append: {path: log, text: "one\n"}
  - append: {path: log, text: "two\n"}
  - append: {path: log, text: "three\n"}
  - complete: {summary: done}
"#;
    let lines = messages(&World::new(script));
    assert!(lines > 10);
    for killed_after in 1..lines {
        let world = World::new(script);
        let mut agent = world.start("plan", 1);
        for _ in 0..killed_after {
            let message = agent.hear().unwrap();
            allow(&mut agent, &message);
        }
        agent.kill();
        let did = world.resume("plan", 1).obey();
        assert_eq!(did.last().map(String::as_str), Some("finished"), "{killed_after}");
        assert_eq!(world.read("log"), "one\ntwo\nthree\n", "killed after {killed_after}");
    }
}

fn messages(world: &World) -> usize {
    world.start("plan", 1).obey().len()
}

fn allow(agent: &mut Agent, message: &Value) {
    match message["type"].as_str() {
        Some("permission") => agent.answer(&message["id"], "allow", ""),
        Some("signal") => agent.answer(&message["id"], "accepted", ""),
        _ => {}
    }
}

#[test]
fn a_change_that_was_begun_is_finished_by_the_resumed_agent() {
    let world = World::new(r#"plan: [{append: {path: log, text: "all of it\n"}}]"#);
    // What a kill in the middle of the append leaves: the note that it began, and a part of the text.
    fs::create_dir_all(world.folder.path().join("sessions")).unwrap();
    let session = json!({"id": "s1", "place": "plan", "try": 1, "list": 1, "next": 0,
        "begun": {"step": 0, "length": 6}});
    fs::write(world.folder.path().join("sessions/s1.json"), session.to_string()).unwrap();
    fs::write(world.project().join("log"), "first\nall o").unwrap();
    world.resume("plan", 1).obey();
    assert_eq!(world.read("log"), "first\nall of it\n");
}

#[test]
fn a_repeated_usage_report_and_signal_keep_their_ids() {
    let world = World::new("plan: [{say: a}, {usage: {input: 1}}, {next: {}}]");
    let ids = |agent: &mut Agent| {
        agent.expect("session");
        if let Some(first) = agent.hear().filter(|first| first["type"] != "text") {
            return vec![first["id"].clone()];
        }
        vec![agent.expect("usage")["id"].clone(), agent.expect("signal")["id"].clone()]
    };
    let mut first = world.start("plan", 1);
    assert_eq!(ids(&mut first), [json!("1.2"), json!("1.3")]);
    first.kill();
    let mut second = world.resume("plan", 1);
    // The usage step was completed before the signal was sent: only that is repeated.
    assert_eq!(ids(&mut second), [json!("1.3")]);
}

#[test]
fn another_try_or_place_begins_its_list_in_the_same_session() {
    let world = World::new(
        "plan:\n  1: [{say: one}, {crash: 3}]\n  2: [{say: two}]\n  otherwise: [{say: more}]\n\
         ward: [{say: ward}]\n",
    );
    let mut agent = world.start("plan", 1);
    assert_eq!(agent.obey(), ["session", "one"]);
    assert_eq!(agent.end().code(), Some(3));
    let mut agent = world.resume("plan", 2);
    assert_eq!(agent.expect("session")["resumed"], true);
    assert_eq!(agent.obey(), ["two", "finished"]);
    assert_eq!(world.resume("plan", 9).obey(), ["session", "more", "finished"]);
    assert_eq!(world.resume("build/step-1/ward", 1).obey(), ["session", "ward", "finished"]);
}

#[test]
fn an_unknown_session_is_gone() {
    let world = World::new("plan: [{say: a}]");
    let mut agent = world.resume("plan", 1);
    let error = agent.expect("error");
    assert_eq!(error["class"], "session_gone");
    assert_eq!(agent.hear(), None);
    assert_eq!(agent.end().code(), Some(1));
}

#[test]
fn a_wrong_script_says_where() {
    for (script, place, words) in [
        ("plan:\n  - say: a\n  - shout: b\n", "plan", ["script.yaml:3:", "shout"]),
        ("plan:\n  - write: {path: a, txt: b}\n", "plan", ["script.yaml:2:", "txt"]),
        ("plan:\n  0: []\n", "plan", ["script.yaml:", "`0` is no try"]),
        ("plan: []\n", "build", ["script.yaml", "has no place `build`; it has `plan`"]),
        ("a: []\nplan:\n  1: []\n", "plan", ["script.yaml:3:", "no try 2 and no `otherwise`"]),
        ("plan:\n - say: a\n - write: {path: ../b, text: c}\n", "plan", [":3:", "`../b`"]),
        ("plan:\n - edit: {path: no, find: a, replace: b}\n", "plan", [":2:", "`no` is not there"]),
    ] {
        let world = World::new(script);
        let mut agent = world.start(place, 2);
        let mut error = json!(null);
        while let Some(message) = agent.hear() {
            allow(&mut agent, &message);
            error = message;
        }
        let said = agent.stderr();
        for word in words {
            assert!(said.contains(word), "{script}\n{said}");
        }
        assert_eq!(error["type"], "error", "{script}");
        assert_eq!(agent.end().code(), Some(2), "{script}");
    }
}

#[test]
fn a_missing_script_is_an_error_line_too() {
    let world = World::new("");
    fs::remove_file(world.folder.path().join("script.yaml")).unwrap();
    let mut agent = world.start("plan", 1);
    let error = agent.expect("error");
    assert!(error["text"].as_str().unwrap().contains("cannot be read"), "{error}");
    assert_eq!(agent.end().code(), Some(2));
}

#[test]
fn finish_waits_for_a_prompt() {
    let world = World::new("plan: [{say: a}, finish, {say: b}]");
    let mut agent = world.start("plan", 1);
    assert_eq!(agent.obey(), ["session", "a", "finished"]);
    agent.tell(&json!({"type": "prompt", "text": "go on"}));
    assert_eq!(agent.obey(), ["b", "finished"]);
    agent.tell(&json!({"type": "prompt", "text": "and?"}));
    assert_eq!(agent.obey(), ["finished"]);
    assert_eq!(agent.end().code(), Some(0));
}

#[test]
fn an_interrupt_ends_the_turn_and_a_prompt_goes_on() {
    let world = World::new("plan: [{wait_for: {file: never}}, {say: after}]");
    let mut agent = world.start("plan", 1);
    agent.expect("session");
    agent.tell(&json!({"type": "note", "text": "psst"}));
    assert_eq!(agent.expect("text")["text"], "noted: psst");
    agent.tell(&json!({"type": "interrupt"}));
    assert_eq!(agent.expect("finished")["interrupted"], true);
    fs::write(world.project().join("never"), "").unwrap();
    agent.tell(&json!({"type": "prompt", "text": "go on"}));
    assert_eq!(agent.obey(), ["after", "finished"]);
}

#[test]
fn exit_codes_prove_nothing() {
    let world = World::new("plan: [{exit: 7}]\nward: [{crash: 0}]");
    let mut agent = world.start("plan", 1);
    assert_eq!(agent.obey(), ["session", "finished"]);
    assert_eq!(agent.end().code(), Some(7));
    let mut agent = world.start("ward", 1);
    assert_eq!(agent.obey(), ["session"]);
    assert_eq!(agent.end().code(), Some(0));
}

#[test]
fn the_end_of_input_ends_it() {
    let world = World::new("plan: [{next: {}}]");
    let mut agent = world.start("plan", 1);
    agent.expect("session");
    agent.expect("signal");
    assert_eq!(agent.end().code(), Some(1));
}

#[test]
fn mischief_is_done_as_asked() {
    let world = World::new(
        r#"
plan:
  - garbage: not json
  - raw: '{"type":"later","x":1}'
  - bytes: ff fe
  - long_line: {bytes: 100000}
  - flood: {lines: 3, bytes: 10}
  - tool: {name: bash, unasked: true, fails: true}
  - error: {class: overload, text: busy}
  - quota: {until: "2030-01-01T00:00:00Z"}
  - close_stdout
  - touch: {file: lived-on}
  - hang
"#,
    );
    let mut agent = world.start("plan", 1);
    let mut bytes = Vec::new();
    agent.stdout.read_to_end(&mut bytes).unwrap();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    assert_eq!(lines[1], b"not json");
    assert_eq!(lines[2], br#"{"type":"later","x":1}"#);
    assert_eq!(lines[3], [0xff, 0xfe]);
    assert_eq!(lines[4].len(), 100_000);
    let kinds: Vec<Value> = lines[5..lines.len() - 1]
        .iter()
        .map(|line| serde_json::from_slice::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert_eq!(
        json!(kinds),
        json!(["text", "text", "text", "tool_call", "tool_end", "error", "quota"])
    );
    agent.kill();
}

#[test]
fn sigterm_is_ignored_when_asked() {
    let world =
        World::new("plan: [ignore_term, {say: ready}, {wait_for: {file: go}}, {say: alive}]");
    let mut agent = world.start("plan", 1);
    agent.expect("session");
    agent.expect("text");
    signal(agent.child.id(), Signal::TERM);
    fs::write(world.project().join("go"), "").unwrap();
    assert_eq!(agent.obey(), ["alive", "finished"]);
}

#[cfg(target_os = "linux")]
#[test]
fn strays_outlive_the_agent() {
    for (options, ignores_term) in [
        ("pid: pid", false),
        ("pid: pid, ignore_term: true", true),
        ("pid: pid, setsid: true", false),
        ("pid: pid, double_fork: true, ignore_term: true", true),
        ("pid: pid, setsid: true, double_fork: true", false),
    ] {
        let script = format!("plan: [{{stray: {{{options}}}}}, {{wait_for: {{file: pid}}}}]");
        let world = World::new(&script);
        let mut agent = world.start("plan", 1);
        assert_eq!(agent.obey(), ["session", "finished"], "{options}");
        let pid: u32 = world.read("pid").trim().parse().unwrap();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        assert!(agent.end().success());
        assert!(Path::new(&format!("/proc/{pid}")).exists(), "{options}");
        signal(pid, Signal::KILL);
        let term_bit = 1 << (Signal::TERM.as_raw() - 1);
        let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
        assert_eq!(ignored & term_bit != 0, ignores_term, "{options}");
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

const DOCUMENT: &str = include_str!("../../../../docs/agent-protocol.md");

/// The first block of code in the document that bears this name.
fn documented(language: &str) -> &'static str {
    let (_, rest) = DOCUMENT.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_documented_script_plays() {
    let world = World::new(documented("yaml"));
    let did = world.start("plan", 1).obey();
    assert_eq!(did.last().map(String::as_str), Some("finished"));
    let did = world.start("implementation", 2).obey();
    assert_eq!(did.last().map(String::as_str), Some("finished"));
    assert_eq!(world.read("PLAN.md"), "1. built\n");
}

#[test]
fn the_documented_steps_are_those_of_the_agent() {
    let table = DOCUMENT.split_once("| step | what it does |").unwrap().1;
    let documented: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(['`', ':']).next())
        .collect();
    let world = World::new("plan: [{no_such_step: 1}]");
    let mut agent = world.start("plan", 1);
    let error = agent.expect("error");
    let text = error["text"].as_str().unwrap();
    let known = text.split_once("expected one of ").unwrap().1;
    let mut known: Vec<&str> = known.split(", ").collect();
    known.sort_unstable();
    let mut sorted = documented.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, known);
}

#[test]
fn needs_python3_the_documented_agent_works() {
    let world = World::new("");
    let mut command = Command::new("python3");
    command.args(["-c", documented("python")]).env("HOME", world.folder.path());
    let mut agent = Agent::spawn(command, &world.project());
    agent.tell(&world.order("start", "plan", 1));
    assert_eq!(
        agent.obey().join(" "),
        "session Working on: t permission file_change tool_end usage signal finished"
    );
    assert!(agent.end().success());
    assert_eq!(world.read("NOTES.md"), "t\n");
}
