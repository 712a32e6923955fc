//! Real agents do real work under Chronicle: files, signals through their own tool machinery, usage, refusals.

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::until;

/// The three phases of the oldest format, the second with an approval.
const TEMPLATE: &str = r#"{
  "name": "greeting",
  "states": {
    "research": {"persona": "You are the pathfinder.", "next": ["implement"]},
    "implement": {"persona": "You are the smith.", "next": ["review"], "requires_approval": true},
    "review": {"persona": "You are the ward.", "next": []}
  }
}"#;

fn usage(input: u64, output: u64) -> Value {
    json!({"input": input, "output": output, "cache_read": 800})
}

fn in_three_phases(kind: Kind) -> Value {
    let (plan, build) = (kind.write("plan.md", "greet\n"), kind.write("hello.txt", "hi\n"));
    json!([
        talk(
            "research",
            "`research`: ",
            &json!([
                {"say": "Planning.", "calls": [plan], "usage": usage(1200, 34)},
                {"calls": [kind.leave("implement", "the plan is in plan.md")], "usage": usage(50, 20)},
                {"say": "Done.", "usage": usage(60, 3)},
            ])
        ),
        talk(
            "implement",
            "`implement`: ",
            &json!([
                {"calls": [build], "usage": usage(1300, 30)},
                {"calls": [kind.leave("review", "greets")], "usage": usage(70, 20)},
                {"say": "Built.", "usage": usage(80, 5)},
            ])
        ),
        talk(
            "review",
            "`review`: ",
            &json!([
                {"calls": [kind.read("hello.txt")], "usage": usage(900, 11)},
                {"calls": [kind.leave("done", "good")], "usage": usage(90, 12)},
                {"say": "Reviewed.", "usage": usage(95, 6)},
            ])
        ),
    ])
}

/// Signals called by the agent, files on disk, an approval from elsewhere, `done`, and every token counted.
fn walks_three_phases(kind: Kind) {
    let yard = AgentYard::new(kind, TEMPLATE, &in_three_phases(kind));
    let mut supervisor = yard.spawn(&[yard.run_args().as_slice(), &["--wait"]].concat());
    until("it waits for an approval, or is over", || {
        supervisor.talk().contains("g1 waits") || supervisor.has_ended()
    });
    yard.session.chronicle(&["approve"]);
    yard.exits(supervisor.wait(), 0);
    assert_eq!(yard.session.path_of_phases(), ["research", "implement", "review"]);
    assert_eq!(yard.session.read("plan.md"), "greet\n");
    assert_eq!(yard.session.read("hello.txt"), "hi\n");
    yard.assert_played();
    yard.assert_spent_as_served();
    let changed = yard.session.events_of("file_changed");
    let paths: Vec<&str> = changed.iter().map(|it| it["data"]["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["plan.md", "hello.txt"]);
    let asked = yard.server.asked();
    let personas = ["You are the pathfinder.", "You are the smith.", "You are the ward."];
    for (request, persona) in asked.iter().step_by(3).zip(personas) {
        assert!(request.system.contains(persona), "{:.2000}", request.system);
        assert!(request.first().contains("Add a greeting"));
    }
    yard.session.assert_whole();
}

#[test]
fn needs_claude_walks_three_phases() {
    walks_three_phases(Kind::Claude);
}

#[test]
fn needs_pi_old_walks_three_phases() {
    walks_three_phases(Kind::PiOld);
}

#[test]
fn needs_pi_new_walks_three_phases() {
    walks_three_phases(Kind::PiNew);
}
