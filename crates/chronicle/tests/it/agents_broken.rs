//! Real agents that break in the middle of a turn, by somebody's hand or by their own: what goes on, and in which session.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Session, Started, send, until, workers};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";
/// A busy machine may keep an agent silent for as long while it only starts: then it is reminded once more.
const IDLE: &str = "name: One\nphases: {work: {next: [done], limits: {idle: 8s, nudges: 100}}}\n";
/// Longer than it takes; the runner's own limit comes first.
const PATIENCE: Duration = Duration::from_mins(1);

/// The model says the half of something and no more; whoever asks again is told how to leave.
fn half_a_turn(kind: Kind) -> Value {
    json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")]},
        {"say": "And then I said a long thing.", "stall": {"name": "late", "at": "middle"}},
        {"calls": [kind.leave("done", "went on")]},
        {"say": "Done."},
    ])
}

/// A run whose agent is in the middle of its second answer.
fn in_mid_turn(kind: Kind, workflow: &str) -> (AgentYard, Started) {
    let talks = json!([talk("main", "`work`: ", &half_a_turn(kind))]);
    let yard = AgentYard::new(kind, workflow, &talks);
    let supervisor = yard.spawn(&yard.run_args());
    assert!(yard.server.wait_for_stall("late", PATIENCE), "{}", yard.transcripts());
    // Agents write down what was said in their own time. What is not on their disk yet nobody can go on with.
    until("the agent keeps its first answer", || yard.keeps(&["Writing.", "a.txt"]));
    (yard, supervisor)
}

/// The agent of the run, and nothing below it.
fn agent(yard: &AgentYard) -> u32 {
    let found = workers(&yard.session.run_id());
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

/// An attempt ended in these words, and the next went on in its session, with its history.
fn goes_on_in_its_session(yard: &AgentYard, supervisor: Started, words: &str) {
    yard.exits(supervisor.wait(), 0).talks(words);
    let started = yard.session.events_of("attempt_started");
    let [.., ended, last] = &*started else { panic!("nobody went on: {started:?}") };
    assert_eq!(ended["data"]["session"], last["data"]["session"], "{started:?}");
    assert_eq!(last["data"]["resume"], true, "{started:?}");
    let asked = yard.server.asked();
    let resumed = format!("{:?}", asked[2].messages);
    assert!(resumed.contains("Writing.") && resumed.contains("a.txt"), "{resumed}");
    yard.session.assert_whole();
}

fn is_killed(kind: Kind) {
    let (yard, supervisor) = in_mid_turn(kind, ONE);
    send(agent(&yard), Signal::KILL);
    goes_on_in_its_session(&yard, supervisor, "died before its turn ended (signal 9)");
    // Nobody is reminded of a signal who had no chance to send one.
    let log = yard.session.chronicle(&["log", &yard.session.short()]).exits(0);
    let log = log.prints("a2 resumed at `work`").prints("try 1 after it broke off");
    assert!(!log.stdout.contains("no signal came"), "{}", log.stdout);
}

#[test]
fn needs_claude_is_killed() {
    is_killed(Kind::Claude);
}

#[test]
fn needs_pi_old_is_killed() {
    is_killed(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_killed() {
    is_killed(Kind::PiNew);
}

fn hangs(kind: Kind) {
    let (yard, supervisor) = in_mid_turn(kind, IDLE);
    goes_on_in_its_session(&yard, supervisor, "it printed nothing for too long");
}

#[test]
fn needs_claude_hangs() {
    hangs(Kind::Claude);
}

#[test]
fn needs_pi_new_hangs() {
    hangs(Kind::PiNew);
}

/// One that is stopped hears no request to end; it is ended all the same.
fn is_stopped(kind: Kind) {
    let (yard, supervisor) = in_mid_turn(kind, IDLE);
    send(agent(&yard), Signal::STOP);
    yard.server.release("late");
    goes_on_in_its_session(&yard, supervisor, "it printed nothing for too long");
}

#[test]
fn needs_claude_is_stopped() {
    is_stopped(Kind::Claude);
}

#[test]
fn needs_pi_new_is_stopped() {
    is_stopped(Kind::PiNew);
}

/// Interrupted by a signal it says that its turn is over and exits 0; nothing was signalled, so nothing is done.
#[test]
fn needs_claude_exits_well_with_nothing_done() {
    let (yard, supervisor) = in_mid_turn(Kind::Claude, ONE);
    send(agent(&yard), Signal::INT);
    goes_on_in_its_session(&yard, supervisor, "finished without a leaving signal");
}

/// A program that only says a version: it would end the same however often it is started, so that a person is asked at once, in the
/// program's own words.
#[test]
fn a_program_that_ends_at_once_asks_a_person_at_once() {
    let without_a_word = "it ended before it took part in the run, without a word";
    let in_its_words = "it ended before it took part in the run; it said: no such option";
    for (name, version) in [("claude", "2.1.325"), ("pi", "1.5.0")] {
        for (ends, words) in [("exit 3", without_a_word), ("echo no such option >&2", in_its_words)]
        {
            let workflow = "name: One\nphases: {work: {next: [done]}}\n";
            let session = Session::with(workflow, "");
            let script = format!("case $1 in --version) echo {version};; *) {ends};; esac\n");
            session.write("agent.sh", script);
            let config = session.user().join("config.toml");
            let settings = std::fs::read_to_string(&config).unwrap();
            let settings = format!("{settings}\n[agents.{name}]\ncommand = 'sh agent.sh'\n");
            std::fs::write(config, settings).unwrap();
            let said = session.chronicle(&["run", "main", "the task", "--agent", name]).exits(4);
            let why = "`work` cannot continue: the last attempt failed in a way that a retry does not fix";
            said.talks(why).talks(words);
            assert_eq!(session.events_of("attempt_started").len(), 1);
            session.assert_whole();
        }
    }
}

/// The service is broken for a while: the agent's own retries are cut short, ours come later, in the same session.
fn finds_room_later(kind: Kind) {
    let turns = json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")]},
        {"fail": {"kind": "overloaded"}, "times": 3},
        {"calls": [kind.leave("done", "there was room")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 0).talks("`work` waits for another try at ");
    let started = yard.session.events_of("attempt_started");
    assert_eq!((started.len(), &started[1]["data"]["why"]["is"]), (2, &json!("waited")));
    assert_eq!(started[0]["data"]["session"], started[1]["data"]["session"]);
    yard.session.assert_whole();
}

#[test]
fn needs_claude_finds_room_later() {
    finds_room_later(Kind::Claude);
}

#[test]
fn needs_pi_old_finds_room_later() {
    finds_room_later(Kind::PiOld);
}

#[test]
fn needs_pi_new_finds_room_later() {
    finds_room_later(Kind::PiNew);
}

/// With a key the service does not say when there is a new quota: it is tried again ever later.
#[test]
fn needs_claude_has_no_quota_for_a_while() {
    let turns = json!([
        {"fail": {"kind": "quota_spent", "reset": "2999-01-01T00:00:00Z"}, "times": 3},
        {"calls": [Kind::Claude.leave("done", "there was more")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(Kind::Claude, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 0).talks("has used up its quota").talks("the wait is over");
    yard.session.assert_whole();
}

/// The service is broken for ever: the agent's own retries are cut short, ours end at a person, who is told why.
fn finds_no_service(kind: Kind) {
    let workflow = "name: One\nphases: {work: {next: [done], limits: {waits: 0}}}\n";
    let turns = json!([{"fail": {"kind": "server_error"}, "times": 0}]);
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 4).talks("found its model's service overloaded");
    yard.session.assert_whole();
}

#[test]
fn needs_claude_finds_no_service() {
    finds_no_service(Kind::Claude);
}

#[test]
fn needs_pi_old_finds_no_service() {
    finds_no_service(Kind::PiOld);
}

#[test]
fn needs_pi_new_finds_no_service() {
    finds_no_service(Kind::PiNew);
}

/// A conversation that is too long for the model is not resumed: a fresh session goes on in its place, and is told so.
fn has_no_room_left(kind: Kind) {
    let first = json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")]},
        {"fail": {"kind": "context_overflow"}, "times": 0},
    ]);
    let second = json!([{"calls": [kind.leave("done", "went on")]}, {"say": "Done."}]);
    let talks =
        json!(
            [talk("second", "its context was full", &second), talk("first", "`work`: ", &first),]
        );
    let yard = AgentYard::new(kind, ONE, &talks);
    yard.exits(yard.run(), 0).talks("ran out of context");
    let started = yard.session.events_of("attempt_started");
    assert_eq!((started.len(), &started[1]["data"]["why"]["is"]), (2, &json!("continued")));
    assert_ne!(started[0]["data"]["session"], started[1]["data"]["session"]);
    yard.session.assert_whole();
}

#[test]
fn needs_claude_has_no_room_left() {
    has_no_room_left(Kind::Claude);
}

#[test]
fn needs_pi_old_has_no_room_left() {
    has_no_room_left(Kind::PiOld);
}

#[test]
fn needs_pi_new_has_no_room_left() {
    has_no_room_left(Kind::PiNew);
}
