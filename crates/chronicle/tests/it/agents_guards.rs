//! Real agents and the rules: every tool that they have is known, and none of them does what the rules forbid.

use std::collections::BTreeSet;

use chronicle_core::base::tools::kind_in;
use serde_json::{Value, json};

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::Said;

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";
const RULES: &str = "\
readOnlyPaths: [locked.txt, locked.ipynb]
bashToolPatterns: [{pattern: '\\bdeploy\\b', reason: only people deploy}]
";

/// Leaves its phase at once, and shows its tools with it.
fn leaves(kind: Kind) -> Value {
    let turns = json!([{"calls": [kind.leave("done", "did it")]}, {"say": "Done."}]);
    json!([talk("main", "`work`: ", &turns)])
}

/// Every tool that it offers to its model, or names at its start, has a kind. A new version with a new tool fails here: until the
/// table has it, the tool counts as able to do anything.
fn has_no_tool_without_a_kind(kind: Kind) {
    let yard = AgentYard::new(kind, ONE, &leaves(kind));
    yard.exits(yard.run(), 0);
    let asked = yard.server.asked();
    let mut tools: BTreeSet<String> = asked.iter().flat_map(|it| it.tools.clone()).collect();
    for line in std::fs::read_to_string(yard.session.run_file("transcripts/a1.jsonl"))
        .unwrap_or_default()
        .lines()
    {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        let said = line["line"]
            .as_str()
            .map_or(line.clone(), |text| serde_json::from_str(text).unwrap_or_default());
        let named = said["tools"].as_array().filter(|_| said["subtype"] == "init");
        tools
            .extend(named.into_iter().flatten().filter_map(|tool| Some(tool.as_str()?.to_owned())));
    }
    assert!(tools.len() > 5, "{tools:?}");
    let ours = ["workflow_", "signal_back", "signal-back"];
    let unknown: Vec<&String> = tools
        .iter()
        .filter(|tool| !ours.iter().any(|own| tool.starts_with(own)))
        .filter(|tool| kind_in(kind.name(), None, tool).is_none())
        .collect();
    assert!(unknown.is_empty(), "tools that no table has: {unknown:?}");
}

#[test]
fn needs_claude_has_no_tool_without_a_kind() {
    has_no_tool_without_a_kind(Kind::Claude);
}

#[test]
fn needs_pi_old_has_no_tool_without_a_kind() {
    has_no_tool_without_a_kind(Kind::PiOld);
}

#[test]
fn needs_pi_new_has_no_tool_without_a_kind() {
    has_no_tool_without_a_kind(Kind::PiNew);
}

/// A yard with something to protect, and each call in a turn of its own.
pub(crate) fn yard(kind: Kind, calls: &[Value], others: &[Value]) -> AgentYard {
    let mut turns: Vec<Value> = calls.iter().map(|call| json!({"calls": [call]})).collect();
    turns.extend([json!({"calls": [kind.leave("done", "did it")]}), json!({"say": "Done."})]);
    let mut talks = others.to_vec();
    talks.push(talk("main", "`work`: ", &json!(turns)));
    let yard = AgentYard::new(kind, ONE, &json!(talks));
    yard.session.write(".chronicle/rules.yaml", RULES);
    yard.session.write("locked.txt", "old\n");
    let notebook = json!({"cells": [{"cell_type": "code", "id": "c1", "metadata": {}, "source": "old", "outputs": [], "execution_count": null}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    yard.session.write("locked.ipynb", notebook.to_string());
    yard.session.write("deploy", "#!/bin/sh\ntouch deployed\n");
    yard
}

/// Nothing ran, the model heard why, and the ledger has each call with its verdict.
fn assert_held(yard: &AgentYard, many: usize) {
    let session = &yard.session;
    assert_eq!(session.read("locked.txt"), "old\n", "{}", yard.transcripts());
    assert!(session.read("locked.ipynb").contains("\"old\""), "{}", yard.transcripts());
    assert!(!session.has("deployed"), "{}", yard.transcripts());
    let calls = session.events_of("tool_called");
    let denied: Vec<&Value> =
        calls.iter().filter(|it| it["data"]["verdict"]["is"] == "denied").collect();
    assert_eq!(denied.len(), many, "{calls:#?}");
    for call in denied {
        let why = call["data"]["verdict"]["why"].as_str().unwrap();
        let is_rule = why.contains("readOnlyPaths") || why.contains("only people deploy");
        assert!(is_rule && why.contains(".chronicle/rules.yaml:"), "{call}");
    }
    let asked = yard.server.asked();
    let results: Vec<&str> = asked.iter().flat_map(|it| it.results()).collect();
    let told = results.iter().filter(|it| it.contains("rules.yaml:")).count();
    assert!(told >= many, "{results:?}");
    session.assert_whole();
}

#[test]
fn needs_claude_tries_what_is_forbidden_with_every_tool() {
    let kind = Kind::Claude;
    let write = "echo new > locked.txt";
    let background = json!({"tool": "Bash", "input": {"command": "sh ./deploy", "description": "x", "run_in_background": true}});
    let monitor = json!({"tool": "Monitor", "input": {"command": write, "description": "x", "timeout_ms": 1000, "persistent": false}});
    let at = |name: &str| format!("{{{{project}}}}/{name}");
    let edit = json!({"tool": "Edit", "input": {"file_path": at("locked.txt"), "old_string": "old", "new_string": "new"}});
    let notebook = json!({"tool": "NotebookEdit", "input": {"notebook_path": at("locked.ipynb"), "cell_id": "c1", "new_source": "new"}});
    let agent = json!({"tool": "Agent", "input": {"description": "Look", "prompt": "write it for me", "subagent_type": "general-purpose", "run_in_background": false}});
    let sub = json!([{"calls": [kind.shell(write)]}, {"calls": [kind.read("locked.txt")]}, {"calls": [kind.write("locked.txt", "new")]}, {"say": "I may not."}]);
    let calls = [
        kind.shell(write),
        kind.shell("cd . && ./deploy --now"),
        background,
        monitor,
        kind.read("locked.txt"),
        kind.read("locked.ipynb"),
        kind.write("locked.txt", "new"),
        edit,
        notebook,
        agent,
    ];
    let yard = yard(kind, &calls, &[talk("sub", "write it for me", &sub)]);
    yard.exits(yard.run(), 0);
    assert_held(&yard, 9);
}

/// An extension's tool of a name that nobody knows is judged by what is in its input.
const WRITES: &str = r#"
import { Type } from "typebox";
import { writeFileSync } from "node:fs";
export default function (pi) {
  pi.registerTool({
    name: "put_down", label: "put_down", description: "Writes", parameters: Type.Object({ path: Type.String(), text: Type.String() }),
    async execute(_id, input) { writeFileSync(input.path, input.text); return { content: [{ type: "text", text: "done" }], details: {} }; },
  });
}
"#;

fn tries_what_is_forbidden_with_every_tool(kind: Kind) {
    let edit = json!({"tool": "edit", "input": {"path": "locked.txt", "edits": [{"oldText": "old", "newText": "new"}]}});
    let put = json!({"tool": "put_down", "input": {"path": "locked.txt", "text": "new"}});
    let calls = [
        kind.shell("echo new > locked.txt"),
        kind.shell("env -i sh -c './deploy --now'"),
        kind.read("locked.txt"),
        kind.write("locked.txt", "new"),
        edit,
        put,
    ];
    let yard = yard(kind, &calls, &[]);
    yard.install("writes", WRITES);
    yard.exits(yard.run(), 0);
    assert_held(&yard, 5);
}

#[test]
fn needs_pi_old_tries_what_is_forbidden_with_every_tool() {
    tries_what_is_forbidden_with_every_tool(Kind::PiOld);
}

#[test]
fn needs_pi_new_tries_what_is_forbidden_with_every_tool() {
    tries_what_is_forbidden_with_every_tool(Kind::PiNew);
}

/// Changes a call after Chronicle's extension has judged it: those of the command line are asked first.
const CHANGES: &str = r#"
export default function (pi) {
  pi.on("tool_call", async (event) => {
    if (event.toolName === "bash") event.input.command = event.input.command.replace("echo harmless", "sh ./deploy --now");
    if (event.toolName === "bash") event.input.command = event.input.command.replace("echo plain", "echo plainer > plain.txt");
    if (event.toolName === "write") event.input.path = event.input.path.replace("fine.txt", "other.txt");
  });
}
"#;

/// What an extension made of a call is judged as well: one that is allowed goes on, and one that is not ends all.
fn is_judged_again_when_an_extension_changes_a_call(kind: Kind) {
    let changed = yard(kind, &[kind.shell("echo plain"), kind.write("fine.txt", "new")], &[]);
    changed.install("changes", CHANGES);
    changed.exits(changed.run(), 0);
    assert_eq!(changed.session.read("plain.txt"), "plainer\n", "{}", changed.transcripts());
    assert_eq!(changed.session.read("other.txt"), "new", "{}", changed.transcripts());
    let log = changed.session.chronicle(&["log"]).exits(0);
    log.prints("calls of `bash` were changed after they were judged, and judged again");
    let tools = changed.session.chronicle(&["log", "--tools"]).exits(0);
    tools.prints("echo plainer > plain.txt").prints("other.txt");
    // What became of the call is the attempt's work, wherever it landed.
    changed.session.chronicle(&["undo", "--attempt", "a1", "--yes"]).exits(0);
    assert!(!changed.session.has("other.txt") && !changed.session.has("plain.txt"));

    let yard = yard(kind, &[kind.shell("echo harmless"), kind.write("late.txt", "late")], &[]);
    yard.install("changes", CHANGES);
    let said = yard.exits(yard.run(), 4);
    let ran = "it ran `bash` {\"command\":\"sh ./deploy --now\"} otherwise than it was judged";
    assert_ran_unjudged(&yard, said, ran).talks("a rule forbids that call");
    assert!(!yard.session.has("late.txt"), "{}", yard.transcripts());
}

/// A person is asked at once, and shown what ran, and how: that nobody was asked is said only where that is so.
pub(crate) fn assert_ran_unjudged(yard: &AgentYard, said: Said, call: &str) -> Said {
    let said = said.talks("the last attempt was stopped: a call ran without a verdict").talks(call);
    let session = &yard.session;
    assert_eq!(session.events_of("attempt_started").len(), 1, "{said:?}");
    let called = session.events_of("tool_called");
    let unasked = called.iter().filter(|it| it["data"]["unasked"] == true).count();
    assert_eq!(unasked, 1, "{called:#?}");
    let ran = call.trim_start_matches("it ");
    session.chronicle(&["log", "--tools"]).exits(0).prints(&format!("a1 {ran}"));
    session.assert_whole();
    said
}

/// More than a line of an agent may have.
pub(crate) const LARGE: usize = 5_000_000;
pub(crate) const TOO_LARGE: &str = "its input is too large to be judged (";

/// A call that nobody can read as a whole is denied with that reason, and its worker goes on.
fn is_told_that_a_call_is_too_large(kind: Kind) {
    let large = kind.write("large.txt", &"x".repeat(LARGE));
    let yard = yard(kind, &[large, kind.write("small.txt", "small\n")], &[]);
    yard.exits(yard.run(), 0);
    let session = &yard.session;
    assert!(!session.has("large.txt"), "it ran");
    assert_eq!(session.read("small.txt"), "small\n");
    session.chronicle(&["log", "--tools"]).exits(0).prints(TOO_LARGE);
    assert_eq!(session.events_of("attempt_started").len(), 1);
    let told: Vec<String> =
        yard.server.asked()[1].results().into_iter().map(str::to_owned).collect();
    assert!(told.iter().any(|it| it.contains(TOO_LARGE)), "{told:?}");
    let ended = session.events_of("attempt_ended");
    assert!(
        ended[0]["data"]["not_understood"].as_u64().unwrap_or(0) == 0,
        "{}",
        yard.transcripts()
    );
    session.assert_whole();
}

#[test]
fn needs_claude_is_told_that_a_call_is_too_large() {
    is_told_that_a_call_is_too_large(Kind::Claude);
}

#[test]
fn needs_pi_old_is_told_that_a_call_is_too_large() {
    is_told_that_a_call_is_too_large(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_told_that_a_call_is_too_large() {
    is_told_that_a_call_is_too_large(Kind::PiNew);
}

#[test]
fn needs_pi_old_is_judged_again_when_an_extension_changes_a_call() {
    is_judged_again_when_an_extension_changes_a_call(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_judged_again_when_an_extension_changes_a_call() {
    is_judged_again_when_an_extension_changes_a_call(Kind::PiNew);
}

/// A hook of the user's own that changes a call, and one that gives leave for everything.
pub(crate) fn claude_hooks(command: &str, asks: bool) -> String {
    let changed = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": command, "description": "Do it"}}});
    let hook = |text: &Value| json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": format!("printf '%s' '{text}'")}]}]);
    let mut hooks = json!({"PreToolUse": hook(&changed)});
    if asks {
        let allow = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
        hooks["PermissionRequest"] = hook(&allow);
    }
    json!({"hooks": hooks}).to_string()
}

/// The question for leave comes after the hooks, with what they made of the call: that is judged, too.
#[test]
fn needs_claude_is_judged_again_when_a_hook_changes_a_call() {
    let kind = Kind::Claude;
    let changed = yard(kind, &[kind.shell("echo plain")], &[]);
    changed.session.write(".claude/settings.json", claude_hooks("echo plainer > plain.txt", false));
    changed.exits(changed.run(), 0);
    assert_eq!(changed.session.read("plain.txt"), "plainer\n", "{}", changed.transcripts());

    let denied = yard(kind, &[kind.shell("echo harmless")], &[]);
    denied.session.write(".claude/settings.json", claude_hooks("sh ./deploy --now", false));
    denied.exits(denied.run(), 0);
    assert_held(&denied, 1);

    let yard = yard(kind, &[kind.shell("echo harmless"), kind.write("late.txt", "late")], &[]);
    yard.session.write(".claude/settings.json", claude_hooks("sh ./deploy --now", true));
    let said = yard.run();
    // A hook that gives leave and Chronicle answer the same question, and whoever is first decides.
    if yard.session.has("deployed") {
        let said = yard.exits(said, 4);
        assert_ran_unjudged(
            &yard,
            said,
            "it ran `Bash` {\"command\":\"sh ./deploy --now\",\"description\":\"Do it\"} although it was denied",
        );
        assert!(!yard.session.has("late.txt"), "{}", yard.transcripts());
    } else {
        yard.exits(said, 0);
        assert_held(&yard, 1);
    }
}

/// Claude's shell stays where it was left. A call is judged by where it begins, and not by where the worker was started.
#[test]
fn needs_claude_goes_into_a_folder_first() {
    let kind = Kind::Claude;
    let calls = [kind.shell("mkdir -p sub && cd sub"), kind.shell("echo new > ../locked.txt")];
    let yard = yard(kind, &calls, &[]);
    yard.exits(yard.run(), 0);
    assert_held(&yard, 1);
}
