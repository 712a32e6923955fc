//! How many agents work at once on one machine, over all runs of a user: who finds no room waits, says for what, and leaves no
//! trace when it is stopped; whoever dies gives its room back.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::session::{RUN, Said, Session, Started, until};

const ONE: &str = "{name: One, phases: [{id: work}]}";
const HELD: &str = "
work:
  - touch: {file: reached}
  - wait_for: {file: go}
  - complete: {summary: worked}
";

fn limited(session: &Session, settings: &str) {
    let file = session.user().join("config.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(file, before + settings).unwrap();
}

/// Most attempts that worked at the same time, by a run's own record: from the first word of an agent to its end.
fn most_at_once(events: &[Value]) -> usize {
    let (mut works, mut most) = (BTreeSet::new(), 0);
    for event in events {
        let attempt = event["data"]["attempt"].as_str().unwrap_or_default().to_owned();
        match event["kind"].as_str() {
            Some("session_opened") => _ = works.insert(attempt),
            Some("attempt_ended") => _ = works.remove(&attempt),
            _ => {}
        }
        most = most.max(works.len());
    }
    most
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["kind"] == kind).count()
}

/// What `status` says, once there is a run.
fn status(session: &Session) -> Option<Value> {
    let said = session.chronicle(&["status", "--json"]);
    (said.code == Some(0)).then(|| said.json())
}

/// Another project of the same person on the same machine.
struct Beside<'s> {
    session: &'s Session,
    project: PathBuf,
}

impl<'s> Beside<'s> {
    fn new(session: &'s Session, script: &str) -> Self {
        let project = session.project().with_file_name("beside");
        fs::create_dir_all(project.join(".chronicle/workflows")).unwrap();
        fs::write(project.join(".chronicle/workflows/main.yaml"), ONE).unwrap();
        fs::write(project.join("script.yaml"), script).unwrap();
        Self { session, project }
    }

    fn spawn(&self, args: &[&str]) -> Started {
        let mut command = self.session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(args).current_dir(&self.project);
        self.session.start(command, "")
    }

    fn chronicle(&self, args: &[&str]) -> Said {
        self.spawn(args).wait()
    }

    fn status(&self) -> Value {
        let said = self.chronicle(&["status", "--json"]);
        if said.code == Some(0) { said.json() } else { Value::Null }
    }

    fn events(&self) -> Vec<Value> {
        let said = self.chronicle(&["log", "--json"]).exits(0);
        let entries = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.map(|mut entry| entry["event"].take()).collect()
    }

    /// Waits until its attempt waits for room.
    fn waits(&self) -> Value {
        let mut view = Value::Null;
        until("it waits for room", || {
            view = self.status();
            view["supervised"] == json!(true) && view["working"][0]["room"].is_string()
        });
        view
    }
}

const THREE: &str = "name: Main
phases:
  - {id: build, run: pool, slots: 3, instructions: do it, steps: [{id: a}, {id: b}, {id: c}]}
";
const THREE_SCRIPT: &str = "
build/a/work: [{wait_for: {file: go}}, {write: {path: a, text: a}}, {complete: {summary: made a}}]
build/b/work: [{wait_for: {file: go}}, {write: {path: b, text: b}}, {complete: {summary: made b}}]
build/c/work: [{wait_for: {file: go}}, {write: {path: c, text: c}}, {complete: {summary: made c}}]
";

#[test]
fn needs_git_steps_of_a_pool_wait_for_room_and_all_are_done() {
    for settings in ["\n[machine]\nagents = 1\n", "\n[agents.scripted]\nat_once = 1\n"] {
        let session = Session::with(THREE, THREE_SCRIPT);
        session.shell("git init -q && git add -A").exits(0);
        limited(&session, settings);
        let run = session.spawn_run();
        // All three have a slot and a folder, and one of them has room.
        let mut folders = Vec::new();
        until("two steps wait for room", || {
            let Some(view) = status(&session) else { return false };
            let rows = |name: &str| view[name].as_array().cloned().unwrap_or_default();
            let paths = rows("folders").into_iter();
            folders = paths.filter_map(|it| it["path"].as_str().map(PathBuf::from)).collect();
            let working = rows("working");
            let waits = working.iter().filter(|it| it["room"].is_string()).count();
            (folders.len(), working.len(), waits) == (3, 3, 2)
        });
        let view = session.chronicle(&["status"]).exits(0);
        assert_eq!(view.stdout.matches("waits for room").count(), 2, "{}", view.stdout);
        for folder in &folders {
            fs::write(folder.join("go"), "").unwrap();
        }
        run.wait().exits(0);
        for name in ["a", "b", "c"] {
            assert_eq!(session.read(name), name);
        }
        let events = session.events();
        assert_eq!(most_at_once(&events), 1, "{events:#?}");
        assert_eq!(count(&events, "attempt_ended"), 3);
        assert_eq!(count(&events, "room_awaited"), 2, "{events:#?}");
        assert_eq!(count(&events, "room_taken"), 2, "{events:#?}");
        session.assert_whole();
    }
}

const TWO: &str = "name: Main
phases:
  - {id: build, run: pool, slots: 2, instructions: do it, steps: [{id: a}, {id: b}]}
";
const TWO_SCRIPT: &str = "
build/a/work:
  - workflow_ask: {question: 'Which colour?', options: [red, blue]}
  - write: {path: a, text: a}
  - complete: {summary: made a}
build/b/work: [{write: {path: b, text: b}}, {complete: {summary: made b}}]
";

/// Nobody is there who would answer: held, its room would keep the run from ever coming to an end.
#[test]
fn needs_git_who_waits_for_a_person_lets_others_work() {
    for settings in ["\n[machine]\nagents = 1\n", "\n[agents.scripted]\nat_once = 1\n"] {
        let session = Session::with(TWO, TWO_SCRIPT);
        session.shell("git init -q && git add -A").exits(0);
        limited(&session, settings);
        session.run().exits(4).talks("Which colour?");
        assert_eq!(session.read("b"), "b");
        assert!(!session.has("a"));
        session.chronicle(&["answer", "red"]).exits(0);
        session.chronicle(&["resume"]).exits(0);
        assert_eq!(session.read("a"), "a");
        session.assert_whole();
    }
}

/// Answered while another one works in its room, it goes on beside that one.
#[test]
fn needs_git_who_was_answered_goes_on_beyond_the_limit() {
    let script = TWO_SCRIPT.replace(
        "build/b/work: [",
        "build/b/work: [{touch: {file: b-works}}, {wait_for: {file: go}}, ",
    );
    let session = Session::with(TWO, &script);
    session.shell("git init -q && git add -A").exits(0);
    limited(&session, "\n[machine]\nagents = 1\n");
    let run = session.spawn_run();
    let mut folder = PathBuf::new();
    until("the second step works", || {
        let Some(view) = status(&session) else { return false };
        let folders = view["folders"].as_array().cloned().unwrap_or_default();
        let of_b = folders.iter().find(|it| it["place"] == "build/b");
        folder = of_b.and_then(|it| it["path"].as_str()).map(PathBuf::from).unwrap_or_default();
        folder.join("b-works").exists()
    });
    session.chronicle(&["answer", "red"]).exits(0);
    until("the first one goes on", || session.has("a"));
    assert!(!session.has("b"));
    fs::write(folder.join("go"), "").unwrap();
    run.wait().exits(0);
    assert_eq!(session.read("b"), "b");
    session.assert_whole();
}

#[test]
fn a_run_waits_for_another_and_goes_on_when_that_is_killed() {
    let session = Session::with(ONE, HELD);
    limited(&session, "\n[machine]\nagents = 1\n");
    let holder = session.spawn_run();
    until("the first agent works", || session.has("reached"));
    let beside = Beside::new(&session, "work: [{complete: {summary: worked}}]\n");

    // It says what it waits for, and none of its time passes.
    let waiting = beside.spawn(RUN);
    let view = beside.waits();
    let said = "waits for room: at most 1 agent works at once on this machine (`machine.agents`)";
    assert_eq!(view["working"][0]["room"], json!(said));
    assert_eq!(view["working"][0]["active_ms"], json!(0));
    beside.chronicle(&["status"]).exits(0).prints(said);
    beside.chronicle(&["log"]).exits(0).prints(&format!("a1 {said}"));

    // Paused, it ends as an attempt that never began.
    beside.chronicle(&["pause"]).exits(0);
    waiting.wait();
    assert_eq!(beside.status()["status"], json!("paused"));
    assert_eq!(count(&beside.events(), "session_opened"), 0);

    // Killed, it leaves nothing that anybody has to clean up.
    let waiting = beside.spawn(&["resume"]);
    beside.waits();
    waiting.kill();

    // Whoever holds the room is killed: the other one goes on by itself.
    let waiting = beside.spawn(&["resume"]);
    beside.waits();
    holder.kill();
    waiting.wait().exits(0);
    assert_eq!(beside.status()["status"], json!("done"));
    let events = beside.events();
    assert_eq!((count(&events, "session_opened"), count(&events, "room_taken")), (1, 1));
    beside.chronicle(&["audit", "--replay"]).exits(0);

    // And so does the killed one, once it is resumed.
    session.write("go", "");
    session.chronicle(&["resume"]).exits(0);
    session.assert_whole();
}

#[test]
fn who_waits_can_be_cancelled() {
    let session = Session::with(ONE, HELD);
    limited(&session, "\n[agents.scripted]\nat_once = 1\n");
    let holder = session.spawn_run();
    until("the first agent works", || session.has("reached"));
    let beside = Beside::new(&session, "work: [{complete: {summary: worked}}]\n");
    let waiting = beside.spawn(RUN);
    let view = beside.waits();
    let said = "waits for room: at most 1 attempt works with `scripted` at once on this machine (`agents.scripted.at_once`)";
    assert_eq!(view["working"][0]["room"], json!(said));
    beside.chronicle(&["cancel"]).exits(0);
    waiting.wait();
    assert_eq!(beside.status()["status"], json!("cancelled"));
    // Nothing is recorded after an attempt that never began.
    let events = beside.events();
    assert_eq!((count(&events, "session_opened"), count(&events, "room_taken")), (0, 0));
    session.write("go", "");
    holder.wait().exits(0);
    // The room is free again.
    beside.chronicle(RUN).exits(0);
    assert_eq!(count(&beside.events(), "room_awaited"), 0);
}

/// Its lock falls with whoever holds it, however a run ends, and a place that cannot be had is no reason to work without.
#[test]
fn an_agent_for_which_room_cannot_be_told_does_not_start() {
    let session = Session::with(ONE, "work: [{complete: {summary: worked}}]\n");
    let state = session.project().with_file_name("home").join(".local/state/chronicle");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("room"), "in the way").unwrap();
    session.run().exits(4);
    let told = session.chronicle(&["log"]).exits(0).stdout;
    let said = "no room for it on this machine can be taken";
    assert!(told.contains(said) && told.contains("XDG_STATE_HOME"), "{told}");
    fs::remove_file(state.join("room")).unwrap();
    session.chronicle(&["retry"]).exits(0);
    session.chronicle(&["resume"]).exits(0);
}

#[test]
fn who_cannot_wait_does_not_start() {
    let session = Session::with(ONE, HELD);
    limited(&session, "\n[machine]\nagents = 1\n");
    let holder = session.spawn_run();
    until("the first agent works", || session.has("reached"));
    let beside = Beside::new(&session, "work: [{complete: {summary: worked}}]\n");
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(RUN).current_dir(&beside.project).env("CHRONICLE_FAILPOINT_THREADS", "room");
    session.start(command, "").wait().exits(4);
    beside.chronicle(&["log"]).exits(0).prints("no thread to wait for it");
    session.write("go", "");
    holder.wait().exits(0);
}
