//! Everything that a worker can tell its supervisor, told by real agents through their own tool machinery.

use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Session, until};

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";

fn signal_back(kind: Kind, fields: &Value) -> Value {
    json!({"calls": [kind.signal("signal_back", fields)]})
}

fn completes(kind: Kind, summary: &str) -> Value {
    signal_back(kind, &json!({"signal": "complete", "summary": summary}))
}

/// The sessions of all attempts, in the order in which they were started.
fn sessions(yard: &AgentYard) -> Vec<Value> {
    let started = yard.session.events_of("attempt_started");
    started.into_iter().map(|mut it| it["data"]["session"].take()).collect()
}

/// What cannot be finished in one go is continued by a fresh session that is told where; `complete` ends it.
fn continues_and_completes(kind: Kind) {
    let first = json!([
        {"calls": [
            kind.signal("workflow_update_snapshot", &json!({"data": {"findings": ["it is old"]}})),
            kind.signal("workflow_status", &json!({})),
        ]},
        signal_back(kind, &json!({
            "signal": "partially-complete",
            "progress": "half of it",
            "continuationPoint": "the other half",
        })),
        {"say": "Until later."},
    ]);
    let second = json!([completes(kind, "all of it"), {"say": "Done."}]);
    let talks = json!([
        talk("second", "Go on here: the other half", &second),
        talk("first", "`work`: ", &first)
    ]);
    let yard = AgentYard::new(kind, ONE, &talks);
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let sessions = sessions(&yard);
    assert!(sessions.len() == 2 && sessions[0] != sessions[1], "{sessions:?}");
    let asked = yard.server.asked();
    let told = asked[1].results();
    assert!(told.iter().any(|it| it.contains("`work`")), "where it is: {told:?}");
    assert!(asked[3].first().contains("it is old"), "{}", asked[3].first());
    yard.assert_spent_as_served();
}

#[test]
fn needs_claude_continues_and_completes() {
    continues_and_completes(Kind::Claude);
}

#[test]
fn needs_pi_old_continues_and_completes() {
    continues_and_completes(Kind::PiOld);
}

#[test]
fn needs_pi_new_continues_and_completes() {
    continues_and_completes(Kind::PiNew);
}

/// Calls of one message: what comes before the accepted signal runs, nothing after it does.
fn calls_more_beside_its_signal(kind: Kind) {
    let turns = json!([
        {"calls": [
            kind.shell("touch before"),
            kind.leave("done", "left in between"),
            kind.shell("touch after"),
            kind.write("after-too", "late"),
        ]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let made = ["before", "after", "after-too"].map(|file| yard.session.has(file));
    assert_eq!(made, [true, false, false], "{}", yard.transcripts());
    let calls = yard.session.events_of("tool_called");
    let late = calls.iter().rev().take(2).all(|it| it["data"]["verdict"] != "allowed");
    assert!(late, "{calls:#?}");
    yard.session.assert_whole();
}

#[test]
fn needs_claude_calls_more_beside_its_signal() {
    calls_more_beside_its_signal(Kind::Claude);
}

#[test]
fn needs_pi_old_calls_more_beside_its_signal() {
    calls_more_beside_its_signal(Kind::PiOld);
}

#[test]
fn needs_pi_new_calls_more_beside_its_signal() {
    calls_more_beside_its_signal(Kind::PiNew);
}

/// A worker that needs a person ends its turn; the answer, given while nobody drives the run, comes to the same session.
fn needs_a_person(kind: Kind) {
    let turns = json!([
        signal_back(kind, &json!({
            "signal": "needs-user-input",
            "question": "Which colour?",
            "context": "the door",
            "options": ["red", "blue"],
        })),
        {"say": "I wait."},
        completes(kind, "painted"),
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 4).talks("Which colour?");
    yard.session.chronicle(&["answer", &yard.session.short(), "2"]).exits(0);
    yard.exits(yard.chronicle(&["resume"]), 0);
    yard.assert_played();
    let sessions = sessions(&yard);
    assert!(sessions.len() == 2 && sessions[0] == sessions[1], "{sessions:?}");
    let heard = yard.server.asked()[2].texts();
    assert!(heard.contains("blue"), "{heard}");
    yard.assert_spent_as_served();
}

#[test]
fn needs_claude_needs_a_person() {
    needs_a_person(Kind::Claude);
}

#[test]
fn needs_pi_old_needs_a_person() {
    needs_a_person(Kind::PiOld);
}

#[test]
fn needs_pi_new_needs_a_person() {
    needs_a_person(Kind::PiNew);
}

/// Help comes from a session of its own; then the one that asked goes on where it was.
fn needs_help(kind: Kind) {
    let asker = json!([
        signal_back(kind, &json!({
            "signal": "needs-role-followup",
            "targetRole": "spiritmender",
            "reason": "the build is red",
            "context": "see the log",
            "resume": true,
        })),
        {"say": "I wait."},
        completes(kind, "built with help"),
        {"say": "Done."},
    ]);
    let helper = json!([completes(kind, "it was a comma"), {"say": "Mended."}]);
    let talks =
        json!([talk("helper", "the build is red", &helper), talk("asker", "`work`: ", &asker)]);
    let workflow = "name: Help\nphases: {work: {persona: codeweaver, followups: [spiritmender], next: [done]}}\n";
    let yard = AgentYard::new(kind, workflow, &talks);
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let sessions = sessions(&yard);
    assert!(sessions.len() == 3 && sessions[0] == sessions[2], "{sessions:?}");
    assert_ne!(sessions[0], sessions[1]);
    let heard = yard.server.asked()[4].texts();
    assert!(heard.contains("it was a comma"), "{heard}");
    yard.assert_spent_as_served();
}

#[test]
fn needs_claude_needs_help() {
    needs_help(Kind::Claude);
}

#[test]
fn needs_pi_new_needs_help() {
    needs_help(Kind::PiNew);
}

/// A question keeps the tool waiting, for longer than an agent may be silent otherwise; its answer is the tool's result.
fn asks_and_waits(kind: Kind) {
    asks_and_waits_set(kind, "", &[]);
}

fn asks_and_waits_set(kind: Kind, settings: &str, flags: &[&str]) {
    let ask = json!({"question": "Which colour?", "options": ["red", "blue"]});
    let turns = json!([
        {"calls": [kind.signal("workflow_ask", &ask)]},
        {"calls": [kind.leave("done", "painted")]},
        {"say": "Done."},
    ]);
    let workflow = "name: One\nphases: {work: {next: [done], limits: {idle: 6s}}}\n";
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    yard.set(settings);
    // Shorter than the person takes. It is not for the agent's settings to say how long a question waits.
    let impatient = json!({"env": {"MCP_TOOL_TIMEOUT": "2000"}}).to_string();
    yard.session.write("../home/.claude/settings.json", impatient);
    let mut supervisor = yard.spawn(&[yard.run_args().as_slice(), &["--wait"], flags].concat());
    until("it asks, or is over", || {
        supervisor.talk().contains("Which colour?") || supervisor.has_ended()
    });
    is_idle_for_as_long();
    yard.session.chronicle(&["answer", &yard.session.short(), "2"]).exits(0);
    yard.exits(supervisor.wait(), 0);
    yard.assert_played();
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    let asked = yard.server.asked();
    let told = asked[1].results();
    assert!(told[0].contains("blue"), "{told:?}");
    if kind == Kind::Claude {
        let given =
            std::fs::read_to_string(yard.session.run_file("given/a1/servers.json")).unwrap();
        assert_eq!(given.contains("Bearer"), !settings.is_empty(), "{given}");
    }
    yard.assert_spent_as_served();
}

/// Nobody stays for the answer: the worker is stopped, and asks its model nothing more.
fn asks_and_nobody_stays(kind: Kind) {
    let turns = json!([
        {"calls": [kind.signal("workflow_ask", &json!({"question": "Which colour?"}))]},
        {"calls": [kind.leave("done", "painted")], "times": 0},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 4).talks("Which colour?");
    assert_eq!(yard.server.asked().len(), 1, "{}", yard.transcripts());
    let ended = yard.session.events_of("attempt_ended");
    assert_eq!(ended[0]["data"]["strays"], 0, "our own server is no stray: {ended:?}");
    yard.assert_spent_as_served();
}

#[test]
fn needs_claude_asks_and_nobody_stays() {
    asks_and_nobody_stays(Kind::Claude);
}

#[test]
fn needs_pi_old_asks_and_nobody_stays() {
    asks_and_nobody_stays(Kind::PiOld);
}

#[test]
fn needs_pi_new_asks_and_nobody_stays() {
    asks_and_nobody_stays(Kind::PiNew);
}

/// A call that the agent itself refuses is in the log, with its words.
fn calls_what_is_not_there(kind: Kind) {
    let turns = json!([
        {"calls": [{"tool": "Telepathy", "input": {"to": "ann"}}]},
        {"calls": [kind.leave("done", "without")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let log = yard.session.chronicle(&["log", "--tools"]).exits(0);
    log.prints("a1 was denied `Telepathy`: the agent itself refused it: \"");
    yard.session.assert_whole();
}

/// Hooks and rules of the user's own keep a call from running: that is in the log as the agent's own refusal, and the worker goes on.
#[test]
fn needs_claude_calls_what_its_user_forbids() {
    let workflow = "name: One\nphases: {work: {next: [done], tools: {deny: [webfetch]}}}\n";
    let kind = Kind::Claude;
    let turns = json!([
        {"calls": [kind.shell("touch by-exit")]},
        {"calls": [kind.shell("touch by-json")]},
        {"calls": [kind.shell("touch by-rule")]},
        {"calls": [kind.signal("workflow_transition", &json!({"target_state": "done", "summary": "by-exit"}))]},
        {"calls": [kind.shell("touch allowed")]},
        {"calls": [kind.leave("done", "the rest")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    let denies = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no json on sundays",
    }});
    let guard = format!(
        "case $(cat) in\n*by-exit*) echo no exit on sundays >&2; exit 2;;\n*by-json*) echo '{denies}';;\nesac\n"
    );
    yard.session.write("guard.sh", guard);
    let command = format!("sh '{}'", yard.session.path("guard.sh").display());
    let hook = json!({"matcher": ".*", "hooks": [{"type": "command", "command": command}]});
    let settings = json!({
        "permissions": {"deny": ["Bash(touch by-rule)"]},
        "hooks": {"PreToolUse": [hook]},
    });
    yard.session.write("../home/.claude/settings.json", settings.to_string());
    yard.exits(yard.run(), 0);
    yard.assert_played();
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    let log = yard.session.chronicle(&["log", "--tools"]).exits(0);
    let log = log
        .prints(
            "a1 was denied `Bash`: the agent itself refused it: \"PreToolUse:Bash hook error: [",
        )
        .prints("]: no exit on sundays")
        .prints("refused it: \"PreToolUse:Bash hook error: no json on sundays\"")
        .prints(
            "refused it: \"Permission to use Bash with command touch by-rule has been denied.\"",
        )
        .prints("refused it: \"PreToolUse:mcp__chronicle__workflow_transition hook error: [");
    assert!(!log.stdout.contains("without asking"), "{}", log.stdout);
    let made = ["by-exit", "by-json", "by-rule", "allowed"].map(|it| yard.session.has(it));
    assert_eq!(made, [false, false, false, true]);
    yard.assert_spent_as_served();
    yard.session.assert_whole();
}

/// A rule of the user's own that hides our tools is named at once: no worker could ever leave its phase.
#[test]
fn needs_claude_has_no_tools_of_ours() {
    for rule in ["mcp__chronicle", "mcp__chronicle__*"] {
        let turns = json!([{"say": "I cannot leave.", "times": 0}]);
        let yard = AgentYard::new(Kind::Claude, ONE, &json!([talk("main", "`work`: ", &turns)]));
        let settings = json!({"permissions": {"deny": [rule]}});
        yard.session.write("../home/.claude/settings.json", settings.to_string());
        let said = yard.exits(yard.run(), 4);
        said.prints("take the rule on `mcp__chronicle` out of `permissions.deny`");
        assert_eq!(yard.session.events_of("attempt_started").len(), 1, "{rule}");
    }
}

#[test]
fn needs_claude_calls_what_is_not_there() {
    calls_what_is_not_there(Kind::Claude);
}

#[test]
fn needs_pi_old_calls_what_is_not_there() {
    calls_what_is_not_there(Kind::PiOld);
}

#[test]
fn needs_pi_new_calls_what_is_not_there() {
    calls_what_is_not_there(Kind::PiNew);
}

/// Another agent, started only now, is ended for the same silence.
fn is_idle_for_as_long() {
    let limits = "{idle: 6s, nudges: 0, retries: 0}";
    let workflow = format!("name: Idle\nphases: {{work: {{next: [done], limits: {limits}}}}}\n");
    let other = Session::with(&workflow, "work: [{wait_for: {file: never}}]");
    other.run().exits(4).talks("it printed nothing for too long");
}

#[test]
fn needs_claude_asks_and_waits() {
    asks_and_waits(Kind::Claude);
}

#[test]
fn needs_claude_asks_and_waits_by_http() {
    // Behind walls it is not used.
    asks_and_waits_set(Kind::Claude, "signals = 'http'\n", &["--no-walls"]);
}

#[test]
fn needs_pi_old_asks_and_waits() {
    asks_and_waits(Kind::PiOld);
}

#[test]
fn needs_pi_new_asks_and_waits() {
    asks_and_waits(Kind::PiNew);
}
