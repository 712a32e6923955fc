//! Agents that Claude's own sub-agents and workflows start. Their results are in no line of its stream; a hook tells of them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agents_background::until_a_turn_ended;
use crate::agents_guards::{LARGE, TOO_LARGE, assert_ran_unjudged, claude_hooks, yard};
use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Said, Started, until};

/// Longer than it takes; the runner's own limit comes first.
const PATIENCE: Duration = Duration::from_mins(1);
const PERSON: &str =
    "bashToolPatterns: [{pattern: '\\bdeploy\\b', reason: only people deploy, ask: true}]\n";
const DEPLOYS: &str = "sh ./deploy --now && false";

/// Who makes the calls.
#[derive(Debug, Clone, Copy)]
enum Who {
    Worker,
    Nested,
    Workflow,
}

fn agent(prompt: &str) -> Value {
    let input = json!({"description": "Look", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false});
    json!({"tool": "Agent", "input": input})
}

impl Who {
    /// A yard where these commands are called one after the other.
    fn yard(self, commands: &[&str]) -> AgentYard {
        let kind = Kind::Claude;
        let calls: Vec<Value> = commands.iter().map(|command| kind.shell(command)).collect();
        let mut turns: Vec<Value> = calls.iter().map(|call| json!({"calls": [call]})).collect();
        turns.push(json!({"say": "It is done."}));
        let outer = json!([{"calls": [agent("do the inner part")]}, {"say": "It did it."}]);
        match self {
            Self::Worker => yard(kind, &calls, &[]),
            Self::Nested => {
                let inner = talk("inner", "do the inner part", &json!(turns));
                let outer = talk("outer", "do the outer part", &outer);
                yard(kind, &[agent("do the outer part")], &[inner, outer])
            }
            Self::Workflow => {
                let script = "export const meta = {name: 'w', description: 'd', phases: [{title: 'a'}]}\n\
                    return await agent('do the inner part')";
                turns[0]["stall"] = json!({"name": "inner"});
                let main = json!([
                    {"calls": [{"tool": "Workflow", "input": {"script": script}}]},
                    {"say": "I wait for it."},
                    {"calls": [kind.leave("done", "did it")]},
                    {"say": "Done."},
                ]);
                let inner = talk("inner", "do the inner part", &json!(turns));
                // Its own conversation with the worker comes first, and the yard's is never asked for.
                yard(kind, &[], &[inner, talk("worker", "`work`: ", &main)])
            }
        }
    }

    fn run(self, yard: &AgentYard) -> Said {
        self.start(yard, &[]).wait()
    }

    fn start(self, yard: &AgentYard, more: &[&str]) -> Started {
        let mut supervisor = yard.spawn(&[&yard.run_args(), more].concat());
        if matches!(self, Self::Workflow) {
            assert!(yard.server.wait_for_stall("inner", PATIENCE), "{}", yard.transcripts());
            until_a_turn_ended(yard, &mut supervisor);
            yard.server.release("inner");
        }
        supervisor
    }
}

/// Each call ends once, also those that failed, and those that a rule of the user's own forbids.
fn each_call_ends_once(who: Who) {
    let yard = who.yard(&["echo one > one.txt", "exit 3", "touch never", "sh ./deploy"]);
    let denies = json!({"permissions": {"deny": ["Bash(touch never:*)"]}});
    yard.session.write(".claude/settings.json", denies.to_string());
    yard.exits(who.run(&yard), 0);
    assert!(yard.session.has("one.txt") && !yard.session.has("never"));
    assert!(!yard.session.has("deployed"));
    let called = yard.session.events_of("tool_called");
    let ended = yard.session.events_of("tool_ended");
    let mut results = Vec::new();
    for call in called.iter().filter(|it| it["data"]["tool"] == "Bash") {
        let ends = ended.iter().filter(|end| end["data"]["call"] == call["data"]["call"]);
        let ends: Vec<&Value> = ends.map(|end| &end["data"]["ok"]).collect();
        assert_eq!(ends.len(), 1, "{call} {ended:#?}\n{}", yard.transcripts());
        results.push(ends[0] == true);
    }
    assert_eq!(results, [true, false, false, false], "{called:#?} {ended:#?}");
    yard.session.assert_whole();
}

#[test]
fn needs_claude_ends_each_call_of_a_nested_sub_agent() {
    each_call_ends_once(Who::Nested);
}

#[test]
fn needs_claude_ends_each_call_of_a_workflow() {
    each_call_ends_once(Who::Workflow);
}

/// A hook is asked about a call that is too large to be read: it is denied, and the sub-agent goes on.
#[test]
fn needs_claude_denies_what_is_too_large_in_a_nested_sub_agent() {
    let large = format!("touch large.txt # {}", "x".repeat(LARGE));
    let yard = Who::Nested.yard(&[&large, "touch small.txt"]);
    yard.exits(Who::Nested.run(&yard), 0);
    assert!(!yard.session.has("large.txt") && yard.session.has("small.txt"));
    let log = yard.session.chronicle(&["log", "--tools"]).exits(0);
    log.prints("a1 was denied `Bash`: ").prints(TOO_LARGE);
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    yard.session.assert_whole();
}

/// While a person is asked about what a hook made of a call, another hook gives leave. The call runs, and fails: that it was denied
/// does not explain its failure.
fn finds_what_ran_before_a_person_answered(who: Who) {
    let yard = who.yard(&["echo harmless", "echo late > late.txt"]);
    yard.session.write(".chronicle/rules.yaml", PERSON);
    yard.session.write(".claude/settings.json", claude_hooks(DEPLOYS, true));
    // A call waits while somebody is there who could answer.
    let mut supervisor = who.start(&yard, &["--wait"]);
    let is_needed = |gate: &Value| gate["data"]["gate_kind"] == "intervention";
    let opened = || yard.session.events_of("gate_opened");
    until("a person is needed, or it is over", || {
        (yard.session.ledger_lines() > 0 && opened().iter().any(is_needed))
            || supervisor.has_ended()
    });
    yard.session.chronicle(&["cancel", &yard.session.short()]).exits(0);
    let said = supervisor.wait();
    assert!(yard.session.has("deployed"), "{said:?} {}", yard.transcripts());
    let given = format!("{{\"command\":\"{DEPLOYS}\",\"description\":\"Do it\"}}");
    let ran = format!("it ran `Bash` {given} before a person had answered");
    assert_ran_unjudged(&yard, said, &ran);
    assert!(!yard.session.has("late.txt"), "{}", yard.transcripts());
}

#[test]
fn needs_claude_finds_what_ran_before_a_person_answered() {
    finds_what_ran_before_a_person_answered(Who::Worker);
}

#[test]
fn needs_claude_finds_what_ran_before_a_person_answered_in_a_nested_sub_agent() {
    finds_what_ran_before_a_person_answered(Who::Nested);
}

#[test]
fn needs_claude_finds_what_ran_before_a_person_answered_in_a_workflow() {
    finds_what_ran_before_a_person_answered(Who::Workflow);
}

/// A hook that gives leave and Chronicle, which denies, answer the same question: whoever is first decides.
fn never_passes_over_what_is_forbidden(who: Who) {
    let yard = who.yard(&["echo harmless", "echo harmless", "echo harmless", "echo harmless"]);
    yard.session.write(".claude/settings.json", claude_hooks("sh ./deploy --now", true));
    let said = who.run(&yard);
    if yard.session.has("deployed") {
        let said = yard.exits(said, 4);
        let ran = "it ran `Bash` {\"command\":\"sh ./deploy --now\",\"description\":\"Do it\"} although it was denied";
        assert_ran_unjudged(&yard, said, ran);
    } else {
        yard.exits(said, 0);
    }
}

#[test]
fn needs_claude_never_passes_over_what_a_nested_sub_agent_did() {
    never_passes_over_what_is_forbidden(Who::Nested);
}

#[test]
fn needs_claude_never_passes_over_what_a_workflow_did() {
    never_passes_over_what_is_forbidden(Who::Workflow);
}
