//! The supervisor of a real agent is killed in the middle of a turn.

use std::time::Duration;

use serde_json::json;

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{inits, of_run, until, within};
use crate::walled::behind;

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";
/// Longer than it takes; the runner's own limit comes first.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long anything of a run may live on after its supervisor was killed. Seen: a part of a second; the rest is for a busy
/// machine.
const NOTHING_LEFT: Duration = Duration::from_secs(10);

/// Nothing of it lives on, and the same session goes on where it was, with its history.
fn goes_on_after_a_kill(kind: Kind) {
    let turns = json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")]},
        {"say": "And then I said a long thing.", "stall": {"name": "late", "at": "middle"}},
        {"calls": [kind.leave("done", "went on")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let supervisor = yard.spawn(&yard.run_args());
    assert!(yard.server.wait_for_stall("late", PATIENCE), "{}", yard.transcripts());
    let run = yard.session.run_id();
    until("the agent keeps what it did", || yard.keeps(&["Writing.", "a.txt"]));
    supervisor.kill();
    within(NOTHING_LEFT, "nothing of it lives", || of_run(&run).is_empty());
    yard.server.release("late");
    yard.exits(yard.chronicle(&["resume"]), 0);
    let started = yard.session.events_of("attempt_started");
    assert_eq!(started.len(), 2, "{started:?}");
    assert_eq!(started[0]["data"]["session"], started[1]["data"]["session"]);
    assert_eq!(started[1]["data"]["why"]["is"], "lost");
    let asked = yard.server.asked();
    let resumed = format!("{:?}", asked[2].messages);
    assert!(resumed.contains("Writing.") && resumed.contains("a.txt"), "{resumed}");
    assert_eq!(yard.session.read("a.txt"), "one\n");
    yard.session.assert_whole();
}

#[test]
fn needs_claude_goes_on_after_a_kill() {
    goes_on_after_a_kill(Kind::Claude);
}

#[test]
fn needs_pi_old_goes_on_after_a_kill() {
    goes_on_after_a_kill(Kind::PiOld);
}

#[test]
fn needs_pi_new_goes_on_after_a_kill() {
    goes_on_after_a_kill(Kind::PiNew);
}

/// The same in the middle of a tool, whose child has left its group: it is gone, and the call is not taken for done.
fn goes_on_after_a_kill_in_a_tool(kind: Kind) {
    let stray = "setsid sh -c 'echo $$ > pid; exec tail -f /dev/null'";
    // Its tool may be gone a moment before the agent is, which then asks for one more turn.
    let turns = json!([
        {"say": "Running.", "calls": [kind.shell(stray)]},
        {"say": "Done."},
        {"say": "Done."},
    ]);
    let goes_on = json!({
        "name": "goes on",
        "when": {"first": "`work`: ", "last": "The work was interrupted"},
        "turns": [{"calls": [kind.leave("done", "went on")]}],
    });
    let yard = AgentYard::new(kind, ONE, &json!([goes_on, talk("main", "`work`: ", &turns)]));
    let mut supervisor = yard.spawn(&yard.run_args());
    until("the tool runs", || {
        supervisor.has_ended() || yard.session.has("pid") && !yard.session.read("pid").is_empty()
    });
    until("the agent keeps what it does", || yard.keeps(&["Running.", "tail -f"]));
    let run = yard.session.run_id();
    // Behind a wall it has another process id than here.
    let strays = match inits(&run).first() {
        Some(init) => behind(*init),
        None => vec![yard.session.read("pid").trim().parse().unwrap()],
    };
    supervisor.kill();
    within(NOTHING_LEFT, "nothing of it lives", || of_run(&run).is_empty());
    let lives = |pid: &&u32| std::path::Path::new("/proc").join(pid.to_string()).exists();
    assert_eq!(strays.iter().find(lives), None);
    yard.exits(yard.chronicle(&["resume"]), 0);
    let started = yard.session.events_of("attempt_started");
    assert_eq!(started.len(), 2, "{started:?}");
    assert_eq!(started[0]["data"]["session"], started[1]["data"]["session"]);
    let asked = yard.server.asked();
    assert!(asked.len() > 2 && asked[1..].iter().all(|it| it.texts().contains("Running.")));
    yard.session.assert_whole();
}

#[test]
fn needs_claude_goes_on_after_a_kill_in_a_tool() {
    goes_on_after_a_kill_in_a_tool(Kind::Claude);
}

#[test]
fn needs_pi_old_goes_on_after_a_kill_in_a_tool() {
    goes_on_after_a_kill_in_a_tool(Kind::PiOld);
}

#[test]
fn needs_pi_new_goes_on_after_a_kill_in_a_tool() {
    goes_on_after_a_kill_in_a_tool(Kind::PiNew);
}
