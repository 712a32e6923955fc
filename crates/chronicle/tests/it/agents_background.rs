//! Claude's work in the background: a turn is over once that has ended too, or the worker has left.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Started, until};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";
/// Longer than it takes; the runner's own limit comes first.
const PATIENCE: Duration = Duration::from_mins(1);

fn in_background(kind: &str, input: &Value) -> Value {
    let mut input = input.clone();
    input["run_in_background"] = json!(true);
    json!({"tool": kind, "input": input})
}

fn sub_agent() -> Value {
    let input = json!({"description": "Look", "prompt": "look into a.txt", "subagent_type": "general-purpose"});
    in_background("Agent", &input)
}

fn background_shell(command: &str) -> Value {
    in_background("Bash", &json!({"command": command, "description": "Wait"}))
}

/// Waits until the main agent has ended its first turn: only then it tells what its session has spent.
pub(crate) fn until_a_turn_ended(yard: &AgentYard, supervisor: &mut Started) {
    let is_total = |event: &Value| event["data"]["scope"]["of"] == "session";
    let is_told = || yard.session.events_of("usage_reported").iter().any(is_total);
    until("its first turn has ended, or it is over", || {
        (yard.session.ledger_lines() > 0 && is_told()) || supervisor.has_ended()
    });
}

/// A sub-agent that works on after the turn has its tools asked for and answered, and its worker goes on when it is done.
#[test]
fn needs_claude_waits_for_its_sub_agent() {
    let kind = Kind::Claude;
    let main = json!([
        {"calls": [sub_agent()]},
        {"say": "I wait for it."},
        {"calls": [kind.leave("done", "it says hello")]},
        {"say": "Done."},
    ]);
    let sub = json!([
        {"calls": [kind.read("a.txt")], "stall": {"name": "sub"}},
        {"say": "It says hello."},
    ]);
    let talks = json!([talk("sub", "look into a.txt", &sub), talk("main", "`work`: ", &main)]);
    let yard = AgentYard::new(kind, ONE, &talks);
    yard.session.write("a.txt", "hello\n");
    let mut supervisor = yard.spawn(&yard.run_args());
    assert!(yard.server.wait_for_stall("sub", PATIENCE), "{}", yard.transcripts());
    until_a_turn_ended(&yard, &mut supervisor);
    yard.server.release("sub");
    yard.exits(supervisor.wait(), 0);
    yard.assert_played();
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    yard.assert_spent_as_served();
}

/// So does a command. What it writes after its call returned is the worker's.
#[test]
fn needs_claude_waits_for_its_background_command() {
    let kind = Kind::Claude;
    let main = json!([
        {"calls": [background_shell("until test -e go; do sleep 0.1; done; echo yes > made.txt")]},
        {"say": "I wait for it."},
        {"calls": [kind.leave("done", "it is made")]},
        {"say": "Done."},
    ]);
    let workflow = "name: One\nphases: {work: {next: [done], requires: [changed_files]}}\n";
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &main)]));
    let mut supervisor = yard.spawn(&yard.run_args());
    until_a_turn_ended(&yard, &mut supervisor);
    yard.session.write("go", "");
    yard.exits(supervisor.wait(), 0).talks("`made.txt`");
    let ends = yard.session.events_of("tool_ended");
    let is_on = |event: &&Value| event["data"]["goes_on"] == true;
    assert_eq!(ends.iter().filter(is_on).count(), 1, "{ends:?}");
    let call = &ends.iter().find(is_on).unwrap()["data"]["call"];
    assert_eq!(ends.iter().filter(|end| end["data"]["call"] == *call).count(), 2, "{ends:?}");
    yard.assert_played();
    assert_eq!(yard.session.read("made.txt"), "yes\n");
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
}

/// Who has left waits for nothing: what still runs is ended with it.
#[test]
fn needs_claude_leaves_without_waiting_for_its_background_command() {
    let kind = Kind::Claude;
    let main = json!([
        {"calls": [background_shell("exec tail -f /dev/null")]},
        {"calls": [kind.leave("done", "it runs")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &main)]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let stops = yard.session.events_of("stop_asked");
    assert!(stops.is_empty(), "it ended by itself: {stops:?}");
    yard.session.assert_whole();
}

/// One that never ends is not waited for longer than silence is: then the worker is reminded.
#[test]
fn needs_claude_is_reminded_of_a_background_command_that_never_ends() {
    let kind = Kind::Claude;
    let workflow = "name: One\nphases: {work: {next: [done], limits: {idle: 8s, nudges: 100}}}\n";
    let main = json!([
        {"calls": [background_shell("exec tail -f /dev/null")]},
        {"say": "I wait for it."},
        {"calls": [kind.leave("done", "went on")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &main)]));
    yard.exits(yard.run(), 0).talks("it printed nothing for too long");
    yard.session.assert_whole();
}

/// Killed while its sub-agent works, it goes on in its session: what it says first about the lost one ends nothing.
#[test]
fn needs_claude_goes_on_after_its_sub_agent_was_lost() {
    let kind = Kind::Claude;
    let main = json!([
        {"calls": [sub_agent()]},
        {"say": "I wait for it."},
        {"calls": [kind.leave("done", "did it myself")], "times": 1},
        {"say": "Done.", "times": 0},
    ]);
    let sub = json!([{"say": "Never.", "stall": {"name": "sub"}}]);
    let talks = json!([talk("sub", "look into a.txt", &sub), talk("main", "`work`: ", &main)]);
    let yard = AgentYard::new(kind, ONE, &talks);
    let mut supervisor = yard.spawn(&yard.run_args());
    assert!(yard.server.wait_for_stall("sub", PATIENCE), "{}", yard.transcripts());
    until_a_turn_ended(&yard, &mut supervisor);
    let found = crate::session::workers(&yard.session.run_id());
    crate::session::send(found[0], rustix::process::Signal::KILL);
    yard.exits(supervisor.wait(), 0);
    let ended = yard.session.events_of("attempt_ended");
    assert_eq!(ended.len(), 2, "{ended:?}\n{}", yard.transcripts());
    yard.session.assert_whole();
}

/// Whoever is stopped is asked first, in its own protocol: it keeps what it was doing in its session, and ends by itself.
fn is_interrupted(kind: Kind, interrupt: &str, kept: &str) {
    let turns = json!([
        {"say": "And then I said a long thing.", "stall": {"name": "late", "at": "middle"}},
        {"calls": [kind.leave("done", "went on")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let supervisor = yard.spawn(&yard.run_args());
    assert!(yard.server.wait_for_stall("late", PATIENCE), "{}", yard.transcripts());
    yard.session.chronicle(&["pause", &yard.session.short()]).exits(0);
    supervisor.wait();
    let transcript = yard.transcripts();
    assert!(transcript.contains(interrupt), "{transcript}");
    assert!(yard.keeps(&[kept]), "{transcript}");
    let ended = yard.session.events_of("attempt_ended");
    assert_eq!(ended[0]["data"]["end"]["is"], "stopped", "{ended:?}");
    yard.exits(yard.chronicle(&["resume"]), 0);
    yard.session.assert_whole();
}

#[test]
fn needs_claude_is_interrupted() {
    let line = "\\\"subtype\\\":\\\"interrupt\\\"";
    is_interrupted(Kind::Claude, line, "[Request interrupted by user]");
}

#[test]
fn needs_pi_old_is_interrupted() {
    is_interrupted(Kind::PiOld, "\\\"type\\\":\\\"abort\\\"", "\"stopReason\":\"aborted\"");
}

#[test]
fn needs_pi_new_is_interrupted() {
    is_interrupted(Kind::PiNew, "\\\"type\\\":\\\"abort\\\"", "\"stopReason\":\"aborted\"");
}
