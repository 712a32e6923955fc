//! Real agents do real work under Chronicle: files, signals through their own tool machinery, usage, refusals.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chronicle_runtime::for_tests::process::Tool;
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
    let rest = kind.shell("echo more >> notes.txt && rm old.txt");
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
                // One after the other: of a file that is removed while another is made beside it, nobody can tell when.
                {"calls": [build], "usage": usage(1300, 30)},
                {"calls": [rest], "usage": usage(65, 15)},
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
    yard.session.write("notes.txt", "first\n");
    yard.session.write("old.txt", "old\n");
    let before = files(&yard);
    let mut supervisor = yard.spawn(&[yard.run_args().as_slice(), &["--wait"]].concat());
    until("it waits for an approval, or is over", || {
        supervisor.talk().contains("g1 waits") || supervisor.has_ended()
    });
    let run = yard.session.short();
    yard.session.chronicle(&["approve", run.as_str()]);
    yard.exits(supervisor.wait(), 0);
    assert_eq!(yard.session.path_of_phases(), ["research", "implement", "review"]);
    assert_eq!(yard.session.read("plan.md"), "greet\n");
    assert_eq!(yard.session.read("hello.txt"), "hi\n");
    assert_diffs_are_true(&yard, &before);
    yard.assert_played();
    yard.assert_spent_as_served();
    let changed = yard.session.events_of("file_changed");
    let paths: Vec<&str> = changed.iter().map(|it| it["data"]["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["plan.md", "hello.txt"]);
    let asked = yard.server.asked();
    let personas = ["You are the pathfinder.", "You are the smith.", "You are the ward."];
    for (request, persona) in [0, 3, 7].map(|at| &asked[at]).into_iter().zip(personas) {
        assert!(request.system.contains(persona), "{:.2000}", request.system);
        assert!(request.first().contains("Add a greeting"));
    }
    yard.session.assert_whole();
}

/// What is in the project, Chronicle's own folder and what agents leave there for themselves apart.
fn files(yard: &AgentYard) -> BTreeMap<String, String> {
    let entries = fs::read_dir(yard.session.project()).unwrap().map(Result::unwrap);
    let own = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let names = own.map(|entry| entry.file_name().into_string().unwrap());
    names.map(|name| (name.clone(), yard.session.read(&name))).collect()
}

/// The differences of all attempts, one after the other, and that of the whole run make of the files before what is on disk now.
#[track_caller]
fn assert_diffs_are_true(yard: &AgentYard, before: &BTreeMap<String, String>) {
    let now = files(yard);
    let changed = ["hello.txt", "notes.txt", "old.txt", "plan.md"];
    let diff = |part: &[&str]| yard.session.chronicle(&[&["diff"], part].concat()).exits(0).stdout;
    assert_eq!(diff(&["--name-only"]).lines().collect::<Vec<_>>(), changed);
    let of_attempts: Vec<String> =
        ["a1", "a2", "a3"].map(|attempt| diff(&["--attempt", attempt])).into();
    assert!(of_attempts[0].contains("plan.md") && !of_attempts[0].contains("hello.txt"));
    assert_eq!(of_attempts[2], "", "a review changes nothing");
    for patches in [of_attempts, vec![diff(&[])]] {
        assert_eq!(patched(before.clone(), &patches), now, "{patches:#?}");
    }
}

/// Files as git makes them of others by patches.
fn patched(files: BTreeMap<String, String>, patches: &[String]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for patch in patches.iter().filter(|patch| !patch.is_empty()) {
        let tool = Tool::new(["git", "apply", "--whitespace=nowarn", "-"], folder.path());
        let ran = tool.env("GIT_CEILING_DIRECTORIES", "/").input(patch.clone().into_bytes()).run();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{}\n{patch}", ran.stderr);
    }
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
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

const ONE: &str = "name: One\nphases: {work: {next: [done]}}\n";

/// What the model was told by the tools that it called, in all requests together.
fn results(yard: &AgentYard) -> Vec<String> {
    let last = yard.server.asked().pop().unwrap();
    last.messages
        .iter()
        .flat_map(|message| message.results.clone())
        .map(|it| format!("{it:?}"))
        .collect()
}

/// A wrong way out is refused with the right ones, and the worker takes one of them in the same turn.
fn is_corrected(kind: Kind) {
    let talk = talk(
        "main",
        "`work`: ",
        &json!([
            {"calls": [kind.leave("nowhere", "lost")]},
            {"calls": [kind.leave("done", "found")]},
            {"say": "Done."},
        ]),
    );
    let yard = AgentYard::new(kind, ONE, &json!([talk]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let told = results(&yard);
    assert!(told[0].contains("nowhere") && told[0].contains("`done`"), "{told:?}");
    assert_eq!(yard.session.events_of("signal_refused").len(), 1);
    assert_eq!(yard.session.events_of("attempt_started").len(), 1);
    yard.assert_spent_as_served();
}

#[test]
fn needs_claude_is_corrected() {
    is_corrected(Kind::Claude);
}

#[test]
fn needs_pi_old_is_corrected() {
    is_corrected(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_corrected() {
    is_corrected(Kind::PiNew);
}

/// A tool that the phase forbids does not run, be it one that only reads, and the model is told why.
fn is_denied(kind: Kind) {
    let workflow = "name: One\nphases: {work: {next: [done], tools: {deny: [read, bash]}}}\n";
    let talk = talk(
        "main",
        "`work`: ",
        &json!([
            {"calls": [kind.read("secret.txt")]},
            {"calls": [kind.shell("touch made")]},
            {"calls": [kind.leave("done", "looked at nothing")]},
            {"say": "Done."},
        ]),
    );
    let yard = AgentYard::new(kind, workflow, &json!([talk]));
    yard.session.write("secret.txt", "the cake is a lie");
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let told = results(&yard);
    assert!(told[0].contains("this phase denies the tool"), "{told:?}");
    assert!(told[1].contains("this phase denies the tool"), "{told:?}");
    assert!(!told.iter().any(|text| text.contains("cake")), "{told:?}");
    assert!(!yard.session.has("made"));
}

#[test]
fn needs_claude_is_denied_even_reads() {
    is_denied(Kind::Claude);
}

#[test]
fn needs_pi_old_is_denied_even_reads() {
    is_denied(Kind::PiOld);
}

#[test]
fn needs_pi_new_is_denied_even_reads() {
    is_denied(Kind::PiNew);
}

/// What the user's and the project's own settings of the agent allow is asked for all the same.
#[test]
fn needs_claude_asks_whatever_its_settings_allow() {
    let workflow =
        "name: One\nphases: {work: {next: [done], tools: {deny: [bash, write, read]}}}\n";
    let kind = Kind::Claude;
    let talk = talk(
        "main",
        "`work`: ",
        &json!([
            {"calls": [kind.shell("touch made"), kind.write("made", "by hand")]},
            {"calls": [kind.read("secret.txt")]},
            {"calls": [kind.leave("done", "could do nothing")]},
            {"say": "Done."},
        ]),
    );
    let allow = ["Bash", "Bash(*)", "Write", "Read", "Read(**)", "Edit"];
    let settings = json!({"permissions": {"allow": allow, "defaultMode": "bypassPermissions"}});
    let yard = AgentYard::new(kind, workflow, &json!([talk]));
    yard.session.write(".claude/settings.json", settings.to_string());
    yard.session.write("../home/.claude/settings.json", settings.to_string());
    yard.session.write("secret.txt", "the cake is a lie");
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let told = results(&yard);
    for text in &told[..3] {
        assert!(text.contains("this phase denies the tool"), "{told:?}");
    }
    assert!(!yard.session.has("made"));
}

/// Hooks of the user and of the project may answer its question for leave before Chronicle does. What is denied does not run all the
/// same, and what a person has to answer is waited for.
#[test]
fn needs_claude_asks_whatever_its_hooks_answer() {
    let workflow = "name: One\nphases: {work: {next: [done], tools: {deny: [bash]}}}\n";
    let kind = Kind::Claude;
    let mut turns: Vec<_> =
        (0..8).map(|at| json!({"calls": [kind.shell(&format!("touch made{at}"))]})).collect();
    turns.push(json!({"calls": [kind.write("allowed.txt", "this is")]}));
    turns.push(json!({"calls": [kind.leave("done", "could do nothing")]}));
    turns.push(json!({"say": "Done."}));
    let talk = talk("main", "`work`: ", &json!(turns));
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
    let hook = json!({"type": "command", "command": format!("echo '{allow}'")});
    let settings = json!({"hooks": {"PermissionRequest": [{"matcher": "", "hooks": [hook]}]}});
    let yard = AgentYard::new(kind, workflow, &json!([talk]));
    yard.session.write(".claude/settings.json", settings.to_string());
    yard.session.write("../home/.claude/settings.json", settings.to_string());
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let told = results(&yard);
    for (at, text) in told[..8].iter().enumerate() {
        assert!(text.contains("this phase denies the tool"), "{at}: {told:?}");
        assert!(!yard.session.has(&format!("made{at}")));
    }
    assert!(yard.session.has("allowed.txt"), "{told:?}");
    // Two locks, and one line of the ledger for each call.
    let calls = yard.session.events_of("tool_called");
    let bash = calls.iter().filter(|event| event["data"]["tool"] == "Bash");
    assert_eq!(bash.count(), 8, "{calls:?}");
    yard.session.assert_whole();
}

/// Where a phase lists its tools, the model is offered those and ours alone; what else it calls does not run.
fn has_its_list_of_tools(kind: Kind) {
    let workflow = "name: One\nphases: {work: {next: [done], tools: {allow: [Read, nonesuch]}}}\n";
    let talk = talk(
        "main",
        "`work`: ",
        &json!([
            {"calls": [kind.read("plan.md")]},
            {"calls": [kind.shell("touch made")]},
            {"calls": [kind.leave("done", "read it")]},
            {"say": "Done."},
        ]),
    );
    let yard = AgentYard::new(kind, workflow, &json!([talk]));
    yard.session.write("plan.md", "greet the cat");
    yard.exits(yard.run(), 0);
    yard.assert_played();
    let asked = yard.server.asked();
    let offers = |name: &str| asked[0].tools.iter().any(|tool| tool.eq_ignore_ascii_case(name));
    assert!(offers("read"), "{:?}", asked[0].tools);
    assert!(!["bash", "edit", "write"].iter().any(|it| offers(it)), "{:?}", asked[0].tools);
    let told = results(&yard);
    assert!(told[0].contains("greet the cat"), "{told:?}");
    assert!(told[1].contains("is_error: true") || told[1].contains("not found"), "{told:?}");
    assert!(!yard.session.has("made"));
}

#[test]
fn needs_claude_has_its_list_of_tools() {
    has_its_list_of_tools(Kind::Claude);
}

#[test]
fn needs_pi_old_has_its_list_of_tools() {
    has_its_list_of_tools(Kind::PiOld);
}

#[test]
fn needs_pi_new_has_its_list_of_tools() {
    has_its_list_of_tools(Kind::PiNew);
}

/// What its shell left running is gone with the phase.
fn leaves_nothing_running(kind: Kind) {
    let stray = "setsid sh -c 'echo $$ > pid; exec tail -f /dev/null' > /dev/null 2>&1 & echo on";
    let talk = talk(
        "main",
        "`work`: ",
        &json!([
            {"calls": [kind.shell(stray)]},
            {"calls": [kind.shell("until test -s pid; do :; done")]},
            {"calls": [kind.leave("done", "left something")]},
            {"say": "Done."},
        ]),
    );
    let yard = AgentYard::new(kind, ONE, &json!([talk]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    // By where they are: behind a wall they have other process ids than here.
    assert_eq!(crate::session::working_in(&yard.session.project()), [0; 0]);
    yard.session.assert_whole();
}

#[test]
fn needs_claude_leaves_nothing_running() {
    leaves_nothing_running(Kind::Claude);
}

#[test]
fn needs_pi_old_leaves_nothing_running() {
    leaves_nothing_running(Kind::PiOld);
}

#[test]
fn needs_pi_new_leaves_nothing_running() {
    leaves_nothing_running(Kind::PiNew);
}

/// In a home of the run's own nothing of the person's is read or written; the session is found there again.
#[test]
fn needs_claude_works_in_a_home_of_its_own() {
    let kind = Kind::Claude;
    let turns = json!([
        {"say": "All is well, I think."},
        {"calls": [kind.shell("pwd; echo $HOME > where")]},
        {"calls": [kind.leave("done", "now it is")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, ONE, &json!([talk("main", "`work`: ", &turns)]));
    let args = [yard.run_args().as_slice(), &["--isolated"]].concat();
    yard.exits(yard.chronicle(&args), 0);
    yard.assert_played();
    let home = yard.session.run_file("home");
    assert_eq!(yard.session.read("where").trim(), home.canonicalize().unwrap().to_string_lossy());
    assert!(home.join(".claude").is_dir());
    assert!(!yard.session.has("../home/.claude") && !yard.session.has("../home/.claude.json"));
    let started = yard.session.events_of("attempt_started");
    assert_eq!(started[0]["data"]["session"], started[1]["data"]["session"]);
}

/// Pi knows no model there: its lists are the person's own.
#[test]
fn needs_pi_new_works_in_a_home_of_its_own() {
    let yard = AgentYard::new(Kind::PiNew, ONE, &json!([]));
    let args = [yard.run_args().as_slice(), &["--isolated"]].concat();
    yard.exits(yard.chronicle(&args), 4);
    assert!(yard.session.run_file("home/.pi/agent").is_dir());
    assert!(yard.server.asked().is_empty());
}

/// A worker that may not run commands cannot leave a hook behind that runs one at its next start.
fn leaves_no_hook(kind: Kind, path: &str) {
    let workflow = "name: One\nphases: {work: {next: [done], tools: {deny: [bash]}}}\n";
    let turns = json!([
        {"calls": [kind.write(path, "{}")]},
        {"calls": [kind.write("notes.md", "tried\n")]},
        {"calls": [kind.leave("done", "tried")]},
        {"say": "Done."},
    ]);
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    yard.exits(yard.run(), 0);
    yard.assert_played();
    assert!(yard.session.has("notes.md") && !yard.session.has(path));
    let said = yard.session.chronicle(&["log", "--tools"]).exits(0);
    said.prints("can make a program run them at its next start");
}

#[test]
fn needs_claude_leaves_no_hook() {
    leaves_no_hook(Kind::Claude, ".claude/settings.json");
}

#[test]
fn needs_pi_new_leaves_no_hook() {
    leaves_no_hook(Kind::PiNew, ".pi/extensions/hook.ts");
}
