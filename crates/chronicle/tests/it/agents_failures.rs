//! Real agents that fail: each failure has its own words and its own way on.

use std::fs;

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";

/// A key that is not known stops the run at once: no other try would help.
fn is_not_signed_in(kind: Kind) {
    let turns = json!([{"fail": {"kind": "unauthorized"}, "times": 0}]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let said = yard.exits(yard.run(), 4);
    said.talks("is not signed in").talks("and type `/login`");
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
}

#[test]
fn needs_claude_is_not_signed_in() {
    is_not_signed_in(Kind::Claude);
}

#[test]
fn needs_pi_old_is_not_signed_in() {
    is_not_signed_in(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_not_signed_in() {
    is_not_signed_in(Kind::PiNew);
}

/// A turn that ends well and did not leave is a crash, whatever the exit code: the same session is reminded.
fn is_reminded(kind: Kind) {
    let turns = json!([
        {"say": "All is well, I think."},
        {"calls": [kind.leave("done", "now it is")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let started = yard.session.events_of("attempt_started");
    let (first, second) = (&started[0]["data"], &started[1]["data"]);
    assert_eq!((first["session"] == second["session"], second["resume"] == true), (true, true));
    assert_eq!(second["why"]["is"], "nudge");
    let history = format!("{:?}", yard.server.asked()[1].messages);
    assert!(history.contains("All is well, I think."), "{history}");
    yard.assert_spent_as_served();
}

#[test]
fn needs_claude_is_reminded() {
    is_reminded(Kind::Claude);
}

#[test]
fn needs_pi_old_is_reminded() {
    is_reminded(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_reminded() {
    is_reminded(Kind::PiNew);
}

/// A model that does not exist: nothing that Claude could do would help, and Pi takes over with the handover.
#[test]
fn needs_claude_needs_pi_new_takes_over() {
    let workflow =
        "name: One\nphases: {work: {fallback: ['pi:scripted/scripted-model'], next: [done]}}\n";
    let pi = Kind::PiNew;
    let turns = json!([{"calls": [pi.leave("done", "did it instead")]}, {"say": "Done."}]);
    let missing = json!([{"fail": {"kind": "not_found"}, "times": 0}]);
    let talks = json!([
        talk("pi", "Another agent (`claude`)", &turns),
        talk("claude", "`work`: ", &missing)
    ]);
    let yard = AgentYard::new(Kind::Claude, workflow, &talks);
    yard.also(pi);
    let said = yard.exits(yard.run(), 0);
    said.talks(
        "`work` falls back to `pi:scripted/scripted-model`: a1 with `claude` failed in a way that a retry does not fix",
    );
    let started = yard.session.events_of("attempt_started");
    let agents: Vec<&Value> = started.iter().map(|it| &it["data"]["agent"]).collect();
    assert_eq!(agents, ["claude", "pi"]);
    assert_eq!(started[1]["data"]["resume"], false);
    yard.assert_spent_as_served();
    yard.session.assert_whole();
}

/// Neither of two agents is signed in: each is named with what it needs.
#[test]
fn needs_claude_needs_pi_new_neither_is_signed_in() {
    let workflow =
        "name: One\nphases: {work: {fallback: ['pi:scripted/scripted-model'], next: [done]}}\n";
    let refused = json!([{"fail": {"kind": "unauthorized"}, "times": 0}]);
    let talks = json!([
        talk("pi", "Another agent (`claude`)", &refused),
        talk("claude", "`work`: ", &refused)
    ]);
    let yard = AgentYard::new(Kind::Claude, workflow, &talks);
    yard.also(Kind::PiNew);
    let said = yard.exits(yard.run(), 4);
    said.talks("`work` cannot continue: `claude` is not signed in")
        .talks("start `claude` once and type `/login`")
        .talks("then `pi:scripted/scripted-model` is not signed in: \"start `pi` once and type `/login`");
}

/// A port of this machine that no program listens on.
const NOBODY: &str = "http://127.0.0.1:1";

/// A service that cannot be reached is waited for as one that has no room; it is no crash of the agent.
fn waits_for_the_network(kind: Kind) {
    let workflow = "name: One\nphases: {work: {next: [done], limits: {waits: 1}}}\n";
    let yard = AgentYard::new(kind, workflow, &json!([]));
    if kind != Kind::Claude {
        let models = yard.pi_home().join("models.json");
        let text = fs::read_to_string(&models).unwrap();
        fs::write(models, text.replace(&yard.server.url(), NOBODY)).unwrap();
    }
    let mut command = yard.command(&yard.run_args());
    command.env("ANTHROPIC_BASE_URL", NOBODY);
    let said = yard.exits(yard.session.start(command, "").wait(), 4);
    said.talks("could not reach its model's service").talks("`work` waits for another try at");
    assert_eq!(yard.session.events_of("wait_began").len(), 1);
    assert_eq!(yard.session.events_of("attempt_started").len(), 2, "then a person is asked");
}

#[test]
fn needs_claude_waits_for_the_network() {
    waits_for_the_network(Kind::Claude);
}

#[test]
fn needs_pi_old_waits_for_the_network() {
    waits_for_the_network(Kind::PiOld);
}

#[test]
fn needs_pi_new_waits_for_the_network() {
    waits_for_the_network(Kind::PiNew);
}

/// The doctor finds it where the settings say, asks it for its version, and knows whether that was tested.
fn is_known_to_the_doctor(kind: Kind, version: &str) {
    let yard = AgentYard::new(kind, ONE, &json!([]));
    let findings = yard.exits(yard.chronicle(&["doctor", "--json"]), 0).json();
    let is_ours = |it: &&Value| it["found"].as_str().unwrap().starts_with(kind.name());
    let mut agents =
        findings["findings"].as_array().unwrap().iter().filter(|it| it["what"] == "agent");
    let found = agents.find(is_ours).unwrap();
    let words = found["found"].as_str().unwrap();
    assert!(words.contains(version) && words.ends_with("a version that was tested"), "{words}");
    let more = found["more"].to_string();
    for words in ["a key is in `ANTHROPIC_API_KEY`", "signals: ", "reads", "guards: "] {
        assert!(more.contains(words), "no `{words}` in {more}");
    }
}

#[test]
fn needs_claude_is_known_to_the_doctor() {
    is_known_to_the_doctor(Kind::Claude, "2.1.325");
}

#[test]
fn needs_pi_old_is_known_to_the_doctor() {
    is_known_to_the_doctor(Kind::PiOld, "0.87.1");
}

#[test]
fn needs_pi_new_is_known_to_the_doctor() {
    is_known_to_the_doctor(Kind::PiNew, "1.5.0");
}
