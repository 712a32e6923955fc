//! Budgets in dollars, used up by a real agent in the middle of a turn.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{of_run, until};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";

/// Two answers cost more than this, one does not. Claude tells its price after the turn, so that ours counts before.
fn budget(kind: Kind) -> &'static str {
    match kind {
        Kind::Claude => "0.70",
        Kind::PiOld | Kind::PiNew => "0.40",
    }
}

/// It is ended with the report that uses the budget up, in the middle of its tool; raised, the same session goes on.
fn is_ended_at_its_budget(kind: Kind) {
    let usage = json!({"input": 100_000, "output": 100});
    let turns = json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")], "usage": usage},
        {"calls": [kind.shell("exec tail -f /dev/null")], "usage": usage},
        {"calls": [kind.leave("done", "went on")], "usage": usage},
        {"say": "Done.", "usage": usage},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let args = [yard.run_args().as_slice(), &["--budget-usd", budget(kind)]].concat();
    yard.exits(yard.chronicle(&args), 4).talks("its budget allows no more work");
    assert_eq!(yard.server.asked().len(), 2, "nothing is asked after the report that was too much");
    assert_spent_up_to_the_stop(&yard);
    let spent = yard.session.json(&["status"])["spent"].clone();
    assert_eq!(spent["priced"], true, "{spent}");
    yard.session.assert_nothing_lives();
    yard.session.chronicle(&["budget", &yard.session.short(), "+5", "usd"]).exits(0);
    yard.exits(yard.chronicle(&["resume"]), 0);
    yard.assert_played();
    let started = yard.session.events_of("attempt_started");
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["data"]["session"], started[1]["data"]["session"]);
    let resumed = yard.server.asked()[2].texts();
    assert!(resumed.contains("Writing."), "{resumed}");
    assert_spent_up_to_the_stop(&yard);
    yard.session.assert_whole();
}

/// The server counts whole answers. Of the one that was too much, a slow machine is stopped in mid-stream, and what was told of it
/// by then counts too.
#[track_caller]
fn assert_spent_up_to_the_stop(yard: &AgentYard) {
    const LAST_ANSWER: u64 = 100_100;
    let usage = yard.server.usage();
    let served = usage.read() + usage.output;
    let spent = yard.session.json(&["status"])["spent"]["tokens"].as_u64().unwrap();
    assert!((served..=served + LAST_ANSWER).contains(&spent), "{spent} {usage:?}");
}

#[test]
fn needs_claude_is_ended_at_its_budget() {
    is_ended_at_its_budget(Kind::Claude);
}

#[test]
fn needs_pi_old_is_ended_at_its_budget() {
    is_ended_at_its_budget(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_ended_at_its_budget() {
    is_ended_at_its_budget(Kind::PiNew);
}

/// One that is in no table, under a budget in dollars.
const UNKNOWN: [&str; 4] = ["--budget-usd", "5", "--model", "at-home"];

/// The price of its model is not known: a person is asked, and may let it work all the same.
#[test]
fn needs_claude_has_a_model_of_unknown_price() {
    let kind = Kind::Claude;
    let turns = json!([
        {"calls": [kind.shell("exec tail -f /dev/null")]},
        {"calls": [kind.leave("done", "went on")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let args = [yard.run_args().as_slice(), &UNKNOWN].concat();
    yard.exits(yard.chronicle(&args), 4).talks("the price of `claude` is unknown");
    yard.session.chronicle(&["approve", &yard.session.short()]).exits(0);
    yard.exits(yard.chronicle(&["resume"]), 0);
    yard.assert_played();
}

/// The person says what it costs: nobody is asked.
#[test]
fn needs_claude_has_a_price_of_the_persons_own() {
    let kind = Kind::Claude;
    let turns = json!([{"calls": [kind.leave("done", "went on")]}, {"say": "Done."}]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.set("[prices]\nat-home = { input = 1, output = 2 }\n");
    let args = [yard.run_args().as_slice(), &UNKNOWN].concat();
    yard.exits(yard.chronicle(&args), 0);
    yard.assert_played();
}

/// A model whose price Chronicle and Claude agree on: 5 dollars for a million tokens in, 25 for a million out.
const PRICED: [&str; 2] = ["--model", "claude-opus-4-8"];

/// What goes in is reported when a message begins, what comes out when it ends: both count.
#[test]
fn needs_claude_is_ended_at_its_budget_where_messages_come_in_parts() {
    let kind = Kind::Claude;
    let usage = json!({"input": 10_000, "output": 2_000});
    let turns = json!([
        {"calls": [kind.shell("echo 1 >> n.txt")], "usage": usage, "brief": true},
        {"calls": [kind.shell("echo 2 >> n.txt")], "usage": usage, "brief": true},
        {"calls": [kind.shell("exec tail -f /dev/null")], "usage": usage, "brief": true},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    // More than the beginning of the third message costs: where that would be too much, it is a matter of speed how much of the
    // rest comes.
    let args = [yard.run_args().as_slice(), &["--budget-usd", "0.26"], &PRICED].concat();
    yard.exits(yard.chronicle(&args), 4).talks("$0.30 of $0.26");
    let warned = yard.session.events_of("budget_warned");
    // The beginning of a message tells of its first token of output.
    assert_eq!(warned[0]["data"]["spent"], 250_025, "{warned:?}");
    assert_eq!(yard.server.asked().len(), 3, "each costs ten cents");
    yard.assert_spent_as_served();
}

/// Where streams break, Claude asks again for the whole answer at once, whose cost no piece tells: it is asked for.
#[test]
fn needs_claude_is_ended_at_its_budget_where_streams_break() {
    let kind = Kind::Claude;
    let workflow = "name: One\nphases: {work: {next: [done], limits: {idle: 3m, retries: 0}}}\n";
    let usage = json!({"input": 5_000, "output": 1_000});
    let broken = json!({"calls": [kind.shell("echo no >> n.txt")], "cut": true, "usage": {"input": 1, "output": 1}});
    let turns = json!([
        broken,
        {"calls": [kind.shell("echo 1 >> n.txt")], "usage": usage},
        broken,
        {"calls": [kind.shell("echo 2 >> n.txt")], "usage": usage},
        // Nobody lets it go: only the budget ends this turn in time.
        {"stall": {"name": "never"}, "say": "Too late."},
    ]);
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    let args = [yard.run_args().as_slice(), &["--budget-tokens", "11000"]].concat();
    yard.exits(yard.chronicle(&args), 4).talks("its budget allows no more work");
    let spent = yard.session.json(&["status"])["spent"]["tokens"].as_u64().unwrap();
    assert!((12_000..13_000).contains(&spent), "{spent}");
    let lines = yard.session.read("n.txt");
    assert!(["1\n", "1\n2\n"].contains(&lines.as_str()), "{lines}");
    yard.session.assert_nothing_lives();
}

/// Longer than it takes; the runner's own limit comes first.
const PATIENCE: Duration = Duration::from_mins(1);

/// Claude's own total starts over after a kill; what was spent before it stays.
#[test]
fn needs_claude_keeps_its_dollars_after_a_kill() {
    let kind = Kind::Claude;
    let usage = json!({"input": 10_000, "output": 500});
    let turns = json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")], "usage": usage, "brief": true},
        {"say": "Never sent.", "stall": {"name": "late"}},
        {"calls": [kind.leave("done", "went on")], "usage": usage, "brief": true},
        {"say": "Done.", "usage": usage, "brief": true},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let supervisor = yard.spawn(&[yard.run_args().as_slice(), &PRICED].concat());
    assert!(yard.server.wait_for_stall("late", PATIENCE), "{}", yard.transcripts());
    let run = yard.session.run_id();
    until("the agent keeps what it did", || yard.keeps(&["Writing.", "a.txt"]));
    supervisor.kill();
    until("nothing of it lives", || of_run(&run).is_empty());
    yard.server.release("late");
    yard.exits(yard.chronicle(&["resume"]), 0);
    let spent = yard.session.json(&["status"])["spent"].clone();
    assert_eq!((&spent["tokens"], &spent["usd_micros"]), (&json!(31_500), &json!(187_500)));
}

/// What one message of the sub-agent costs: 5,010 tokens, or 12.5 cents.
fn of_sub_agent(kind: Kind, command: &str) -> Value {
    let usage = json!({"input": 10, "output": 5_000});
    json!({"calls": [kind.shell(command)], "usage": usage, "brief": true})
}

/// A worker that starts a sub-agent, which works until it is ended.
fn with_sub_agent(in_background: bool, messages: &Value) -> AgentYard {
    let kind = Kind::Claude;
    let input = json!({
        "description": "Look",
        "prompt": "look into a.txt",
        "subagent_type": "general-purpose",
        "run_in_background": in_background,
    });
    let main = json!([
        {"calls": [{"tool": "Agent", "input": input}], "brief": true},
        {"say": "I wait for it.", "brief": true},
    ]);
    let talks = json!([talk("sub", "look into a.txt", messages), talk("main", "`work`: ", &main)]);
    AgentYard::new(kind, ONE, &talks)
}

/// Its lines tell of a sub-agent's message only how it began. What it cost counts all the same, as soon as it was made.
fn is_ended_by_its_sub_agent(in_background: bool, budget: &[&str]) {
    let kind = Kind::Claude;
    let mut first = of_sub_agent(kind, "echo 1 >> n.txt");
    if in_background {
        first["stall"] = json!({"name": "sub"});
    }
    let messages = json!([
        first,
        of_sub_agent(kind, "echo 2 >> n.txt"),
        of_sub_agent(kind, "echo 3 >> n.txt"),
        of_sub_agent(kind, "exec tail -f /dev/null"),
    ]);
    let yard = with_sub_agent(in_background, &messages);
    let args = [yard.run_args().as_slice(), budget, &PRICED].concat();
    let mut supervisor = yard.spawn(&args);
    if in_background {
        // Until its worker has ended its turn: of a message in mid-stream nobody could say what it cost.
        assert!(yard.server.wait_for_stall("sub", PATIENCE), "{}", yard.transcripts());
        let is_total = |event: &Value| event["data"]["scope"]["of"] == "session";
        let is_told = || yard.session.events_of("usage_reported").iter().any(is_total);
        until("the turn has ended", || {
            (yard.session.ledger_lines() > 0 && is_told()) || supervisor.has_ended()
        });
        yard.server.release("sub");
    }
    yard.exits(supervisor.wait(), 4).talks("its budget allows no more work");
    assert_eq!(yard.session.read("n.txt"), "1\n2\n3\n", "three of its messages were allowed");
    yard.assert_spent_as_served();
    yard.session.assert_nothing_lives();
    yard.session.assert_whole();
}

#[test]
fn needs_claude_is_ended_at_its_budget_of_tokens_by_its_sub_agent() {
    is_ended_by_its_sub_agent(false, &["--budget-tokens", "17000"]);
}

#[test]
fn needs_claude_is_ended_at_its_budget_in_dollars_by_its_sub_agent() {
    is_ended_by_its_sub_agent(false, &["--budget-usd", "0.45"]);
}

#[test]
fn needs_claude_is_ended_at_its_budget_by_its_sub_agent_in_the_background() {
    is_ended_by_its_sub_agent(true, &["--budget-tokens", "17000"]);
}

/// What its sub-agent has spent stays counted when no turn ends that would tell it.
#[test]
fn needs_claude_keeps_what_its_sub_agent_spent_after_a_cancel() {
    let kind = Kind::Claude;
    let messages = json!([
        of_sub_agent(kind, "echo 1 >> n.txt"),
        of_sub_agent(kind, "exec tail -f /dev/null")
    ]);
    let yard = with_sub_agent(false, &messages);
    let mut supervisor = yard.spawn(&yard.run_args());
    let is_counted = |event: &Value| event["data"]["usage"]["output"].as_u64() >= Some(10_000);
    let is_told = || yard.session.events_of("usage_reported").iter().any(is_counted);
    until("both messages are counted", || {
        (yard.session.ledger_lines() > 0 && is_told()) || supervisor.has_ended()
    });
    yard.session.chronicle(&["cancel", &yard.session.short()]).exits(0);
    supervisor.wait();
    yard.assert_spent_as_served();
}
