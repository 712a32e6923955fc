//! Real agents that do not have their tools judged: they are given nothing to do, or stopped before they do it, unless their user's own
//! settings want it so.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::agents_guards::assert_ran_unjudged;
use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{Said, of_run, until, within};

const ONE: &str = "name: One\nphases: {work: {next: [done], limits: {nudges: 0, retries: 0}}}\n";
const BEST_EFFORT: &str = "[guards]\nproof = \"best-effort\"\n";
const HINT: &str = "update it, or set `guards.proof = \"best-effort\"` in your own settings";
/// How long anything of a run may live on after its supervisor was killed; a busy machine needs more than a moment.
const NOTHING_LEFT: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_mins(1);

/// Keeps one kind of lines of the agent from its supervisor.
fn without_lines(word: &str) -> String {
    format!("\"$@\" | grep --line-buffered -v '{word}'\n")
}

/// Claude Code agrees, and calls our hooks for other things than tools and prompts.
const NO_HOOKS: &str = "sed -u 's/\"PreToolUse\":/\"SessionEnd\":/;s/\"UserPromptSubmit\":/\"Notification\":/' | \"$@\"\n";

/// Starts Pi without our extension.
const NO_EXTENSION: &str = "for word; do shift; if [ \"$word\" = -e ]; then skip=1; elif [ \"$skip\" ]; then skip=; \
     else set -- \"$@\" \"$word\"; fi; done\nexec \"$@\"\n";

fn wrapped(kind: Kind, wrapper: &str, turns: &Value) -> AgentYard {
    wrapped_in(kind, ONE, wrapper, turns)
}

fn wrapped_in(kind: Kind, workflow: &str, wrapper: &str, turns: &Value) -> AgentYard {
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", turns)]));
    yard.session.write("wrapper.sh", wrapper);
    yard.wrap("sh wrapper.sh");
    yard
}

/// Writes a file and leaves.
fn writes(kind: Kind) -> Value {
    json!([
        {"calls": [kind.write("a.txt", "one\n")]},
        {"calls": [kind.leave("done", "wrote it")]},
        {"say": "Done."},
    ])
}

/// A person is asked at once, in these words, and nothing was done.
fn is_given_nothing(yard: &AgentYard, said: Said, why: &str) {
    let given = "`work` cannot continue: the last attempt was given nothing to do, since its guard is not proven";
    is_not_let_on(yard, said, given, why);
}

/// A person is asked at once, and nothing was done, though it had the handover.
fn is_stopped(yard: &AgentYard, said: Said, why: &str) {
    let stopped =
        "`work` cannot continue: the last attempt was stopped, since its guard is not proven";
    is_not_let_on(yard, said, stopped, why);
}

fn is_not_let_on(yard: &AgentYard, said: Said, given: &str, why: &str) {
    let said = yard.exits(said, 4).talks(given).talks(why).talks(HINT);
    assert_eq!(yard.session.events_of("attempt_started").len(), 1, "{said:?}");
    assert_eq!(yard.session.events_of("tool_called"), [""; 0]);
    assert!(!yard.session.has("a.txt"), "{said:?}");
    yard.session.assert_whole();
}

/// It works, and everybody who looks is told so.
fn works_unproven(yard: &AgentYard, why: &str) {
    let unproven = yard.session.json(&["status"])["unproven"].clone();
    assert_eq!((&unproven["attempt"], &unproven["attempts"]), (&json!("a1"), &json!(1)));
    assert!(unproven["text"].as_str().is_some_and(|text| text.contains(why)), "{unproven}");
    let status = yard.session.chronicle(&["status"]).exits(0);
    status.prints("guard not proven: a1 (best-effort)").prints(why);
    let log = yard.session.chronicle(&["log", &yard.session.short()]).exits(0);
    log.prints("a1 works although its guard is not proven (best-effort)");
    yard.session.assert_whole();
}

/// Long enough for an agent on a busy machine to begin, and short to wait for.
const IDLE: &str = "{nudges: 0, retries: 0, idle: 6s}";

/// Each of these takes as long as Chronicle waits, so they go on side by side.
#[test]
fn needs_claude_is_silent_about_its_hooks() {
    let kind = Kind::Claude;
    let one = ONE.replace("{nudges: 0, retries: 0}", IDLE);
    let silent = |wrapper: &str, turns: &Value| wrapped_in(kind, &one, wrapper, turns);
    let answer = || without_lines("\"request_id\":\"chronicle-lock\"");
    thread::scope(|scope| {
        scope.spawn(|| {
            let yard = silent(&answer(), &writes(kind));
            let why = "it did not answer when it was asked to call its hook";
            is_given_nothing(&yard, yard.run(), why);
            assert_eq!(yard.server.asked().len(), 0, "its model heard nothing");
        });
        scope.spawn(|| {
            let yard = silent(&without_lines("hook_callback"), &writes(kind));
            let why =
                "Claude Code does not let Chronicle judge its tools: it did not call its hook";
            is_stopped(&yard, yard.run(), why);
            assert_eq!(yard.server.asked().len(), 0, "its model heard nothing");
        });
        scope.spawn(|| {
            let yard = silent(&answer(), &writes(kind));
            yard.set(BEST_EFFORT);
            yard.exits(yard.run(), 0);
            assert_eq!(yard.session.read("a.txt"), "one\n");
            works_unproven(&yard, "it did not answer when it was asked to call its hook");
        });
    });
}

/// The handover is out by the time that this is found. No tool has run by then, and none does.
#[test]
fn needs_claude_calls_no_hook() {
    let kind = Kind::Claude;
    let yard = wrapped(kind, NO_HOOKS, &writes(kind));
    is_stopped(&yard, yard.run(), "it went to work without calling its hook");
    let yard = wrapped(kind, NO_HOOKS, &writes(kind));
    yard.set(BEST_EFFORT);
    yard.exits(yard.run(), 0);
    // Its own question for leave is judged all the same.
    assert_eq!(yard.session.events_of("tool_called").len(), 2);
    works_unproven(&yard, "it went to work without calling its hook");
}

/// Hooks of the user's that are switched off, or slow, are no reason to doubt ours.
#[test]
fn needs_claude_calls_our_hooks_whatever_its_users_are() {
    let kind = Kind::Claude;
    let slow = json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "sleep 1"}]}]}});
    for settings in [json!({"disableAllHooks": true}), slow] {
        let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &writes(kind))]));
        yard.session.write(".claude/settings.json", settings.to_string());
        yard.exits(yard.run(), 0);
        assert_eq!(yard.session.events_of("guard_unproven"), [""; 0]);
        assert_eq!(yard.session.read("a.txt"), "one\n");
        yard.assert_played();
    }
}

fn has_no_extension(kind: Kind) {
    let why = "Pi does not let Chronicle judge its tools: it did not load its extension";
    let yard = wrapped(kind, NO_EXTENSION, &writes(kind));
    is_given_nothing(&yard, yard.run(), why);
    assert_eq!(yard.server.asked().len(), 0, "its model heard nothing");
    // Without the extension it has no tools for signals either.
    let yard = wrapped(kind, NO_EXTENSION, &json!([{"say": "I can do nothing."}]));
    yard.set(BEST_EFFORT);
    yard.exits(yard.run(), 4).talks("finished without a leaving signal");
    yard.assert_played();
    works_unproven(&yard, why);
    // What it does without asking ends it at once.
    let yard = wrapped(kind, NO_EXTENSION, &writes(kind));
    yard.set(BEST_EFFORT);
    let said = yard.exits(yard.run(), 4);
    let call =
        "it ran `write` {\"content\":\"one\\n\",\"path\":\"a.txt\"} without asking for permission";
    let said = assert_ran_unjudged(&yard, said, call);
    assert!(!said.stderr.contains("given nothing to do"), "{said:?}");
}

#[test]
fn needs_pi_old_has_no_extension() {
    has_no_extension(Kind::PiOld);
}

#[test]
fn needs_pi_new_has_no_extension() {
    has_no_extension(Kind::PiNew);
}

/// The supervisor is killed while a call waits for its verdict: the call does not run.
fn asks_nobody(kind: Kind) {
    let turns = json!([
        {"say": "Writing.", "calls": [kind.write("a.txt", "one\n")], "stall": {"name": "late", "at": "middle"}},
        {"say": "Done."},
    ]);
    let goes_on = json!({
        "name": "goes on",
        "when": {"first": "`work`: ", "last": "The work was interrupted"},
        "turns": [{"calls": [kind.leave("done", "went on")]}, {"say": "Done."}],
    });
    let talks = json!([goes_on, talk("main", "`work`: ", &turns)]);
    let yard = AgentYard::new(kind, ONE, &talks);
    yard.session.write("wrapper.sh", "\"$@\" | tee -a said.jsonl\n");
    yard.wrap("sh wrapper.sh");
    let supervisor = yard.spawn(&yard.run_args());
    assert!(yard.server.wait_for_stall("late", PATIENCE), "{}", yard.transcripts());
    let run = yard.session.run_id();
    supervisor.signal(Signal::STOP);
    yard.server.release("late");
    let question = if kind == Kind::Claude { "PreToolUse" } else { "chronicle:permission" };
    until("it asks", || yard.session.read("said.jsonl").contains(question));
    // What is not on its disk yet nobody can go on with.
    until("the agent keeps what it asked", || yard.keeps(&["Writing.", "a.txt"]));
    supervisor.kill();
    within(NOTHING_LEFT, "nothing of it lives", || of_run(&run).is_empty());
    assert!(!yard.session.has("a.txt"), "it ran without a verdict");
    assert_eq!(yard.session.events_of("tool_called"), [""; 0]);
    yard.exits(yard.chronicle(&["resume"]), 0);
    assert!(!yard.session.has("a.txt"), "it ran without a verdict");
    yard.session.assert_whole();
}

#[test]
fn needs_claude_asks_nobody() {
    asks_nobody(Kind::Claude);
}

#[test]
fn needs_pi_old_asks_nobody() {
    asks_nobody(Kind::PiOld);
}

#[test]
fn needs_pi_new_asks_nobody() {
    asks_nobody(Kind::PiNew);
}
