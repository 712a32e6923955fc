//! Calls of real agents that need a person's leave: held in the agent's own protocol, and answered later.

use serde_json::json;

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::until;

const ONE: &str = "name: One\nphases: {work: {next: [done], limits: {idle: 10s}}}\n";

/// Asked about, allowed, rejected: the first runs, the second does not, and the model is told why.
fn is_held_and_answered(kind: Kind) {
    let turns = json!([
        {"calls": [kind.shell("touch risky-one")]},
        {"calls": [kind.shell("touch risky-two")]},
        {"calls": [kind.shell("touch plain")]},
        {"calls": [kind.leave("done", "did it")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.session.ask_about("risky");
    let mut supervisor = yard.spawn(&[yard.run_args().as_slice(), &["--wait"]].concat());
    let mut asks = |gate: &str| {
        until("it asks, or is over", || {
            supervisor.talk().contains(&format!("{gate} waits at `work`")) || supervisor.has_ended()
        });
    };
    asks("g1");
    assert!(!yard.session.has("risky-one"), "{}", yard.transcripts());
    let view = yard.session.json(&["status"]);
    assert_eq!(view["needs_you"][0]["call"]["command"], "touch risky-one");
    assert_eq!(yard.server.asked().len(), 1, "its model waits too");
    yard.session.chronicle(&["approve", &yard.session.short(), "g1"]).exits(0);
    asks("g2");
    assert!(yard.session.has("risky-one"), "{}", yard.transcripts());
    yard.session.chronicle(&["reject", &yard.session.short(), "g2", "one is enough"]).exits(0);
    yard.exits(supervisor.wait(), 0);
    yard.assert_played();
    let made = ["risky-one", "risky-two", "plain"].map(|file| yard.session.has(file));
    assert_eq!(made, [true, false, true], "{}", yard.transcripts());
    let asked = yard.server.asked();
    let told = asked[2].results();
    assert!(told.last().is_some_and(|it| it.contains("one is enough")), "{told:?}");
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    yard.assert_spent_as_served();
    yard.session.assert_whole();
}

#[test]
fn needs_claude_is_held_and_answered() {
    is_held_and_answered(Kind::Claude);
}

#[test]
fn needs_pi_old_is_held_and_answered() {
    is_held_and_answered(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_held_and_answered() {
    is_held_and_answered(Kind::PiNew);
}

/// Killed while the call waits: it has not run, and the same call of the resumed session gets the answer.
fn is_killed_over_the_question(kind: Kind) {
    let turns = json!([
        {"say": "Trying.", "calls": [kind.shell("touch risky-one")]},
        // An agent whose supervisor is gone may ask its model once more before it is ended itself.
        {"calls": [kind.shell("touch risky-one")]},
        {"calls": [kind.shell("touch risky-one")]},
        {"calls": [kind.leave("done", "did it")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.session.ask_about("risky");
    let supervisor = yard.spawn(&[yard.run_args().as_slice(), &["--wait"]].concat());
    until("it asks", || supervisor.talk().contains("g1 waits at `work`"));
    // What is not on its disk yet nobody can go on with.
    until("the agent keeps what it asked", || yard.keeps(&["Trying.", "risky-one"]));
    supervisor.kill();
    assert!(!yard.session.has("risky-one"), "{}", yard.transcripts());
    assert_eq!(yard.session.json(&["status"])["needs_you"][0]["kind"], "permission");
    yard.session.chronicle(&["approve", &yard.session.short(), "g1", "--for", "run"]).exits(0);
    yard.exits(yard.chronicle(&["resume"]), 0);
    assert!(yard.session.has("risky-one"), "{}", yard.transcripts());
    assert_eq!(yard.session.events_of("gate_opened").len(), 1);
    yard.session.assert_whole();
}

#[test]
fn needs_claude_is_killed_over_the_question() {
    is_killed_over_the_question(Kind::Claude);
}

#[test]
fn needs_pi_new_is_killed_over_the_question() {
    is_killed_over_the_question(Kind::PiNew);
}
