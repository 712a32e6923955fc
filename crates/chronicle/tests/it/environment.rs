//! What of a person's environment reaches workers and commands: seen from inside of them.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;

use serde_json::json;

use crate::agents_yard::{AgentYard, Kind, talk};
use crate::session::{RUN, Said, Session};

/// Nobody may see it but the workers that are given it.
const VALUE: &str = "quartz-Lantern-77";
/// Secrets of several services, and what only looks like them.
const MINE: [(&str, &str); 8] = [
    ("GITHUB_TOKEN", VALUE),
    ("NPM_TOKEN", VALUE),
    ("AWS_SECRET_ACCESS_KEY", VALUE),
    ("OPENAI_API_KEY", VALUE),
    ("DATABASE_URL", "postgres://me:quartz-Lantern-77@db/x"),
    ("KUBECONFIG", "/somewhere"),
    ("MAX_TOKENS", "9"),
    ("FOO_ONE", "1"),
];
const NAMES: &str = "env | cut -d= -f1";

fn with_mine(mut command: Command) -> Command {
    command.envs(MINE);
    command
}

fn chronicle(session: &Session, args: &[&str]) -> Said {
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(args);
    session.start(with_mine(command), "").wait()
}

/// Which of my variables a file of names has.
fn mine_in(session: &Session, file: &str) -> Vec<&'static str> {
    let text = session.read(file);
    let names: Vec<&str> = text.lines().collect();
    assert!(names.contains(&"HOME") && names.contains(&"CHRONICLE_RUN"), "{text}");
    MINE.map(|(name, _)| name).into_iter().filter(|name| names.contains(name)).collect()
}

fn set(session: &Session, text: &str) {
    let config = session.user().join("config.toml");
    let mut file = OpenOptions::new().append(true).open(config).unwrap();
    file.write_all(format!("\n{text}").as_bytes()).unwrap();
}

#[test]
fn commands_do_not_have_the_secrets_of_other_services() {
    let workflow = format!(
        "
name: Main
phases:
  - {{id: plain, commands: \"{NAMES} >plain\"}}
  - id: said
    commands: \"{NAMES} >said; echo $ADDED >>values\"
    verify: \"{NAMES} >verified\"
    cleanup: \"{NAMES} >cleaned\"
    env: {{pass: [GITHUB_TOKEN, 'AWS_*', OPENAI_API_KEY], drop: ['FOO*', OPENAI_API_KEY, '*_RUN'], set: {{ADDED: yes}}}}
  - {{id: last, commands: \"{NAMES} >last\"}}
"
    );
    let session = Session::with(&workflow, "");
    chronicle(&session, RUN).exits(0);
    let kept = ["KUBECONFIG", "MAX_TOKENS", "FOO_ONE"];
    assert_eq!(mine_in(&session, "plain"), kept);
    let said = ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "KUBECONFIG", "MAX_TOKENS"];
    for file in ["said", "verified", "cleaned"] {
        assert_eq!(mine_in(&session, file), said, "{file}");
    }
    assert_eq!(session.read("values"), "yes\n");
    assert_eq!(mine_in(&session, "last"), kept);
}

/// The agent's settings, then the workflow, then the phase: lists add up, and of what is set the last word counts.
#[test]
fn an_agents_worker_has_what_its_settings_and_its_phase_say() {
    let workflow = "
name: Main
env: {pass: [NPM_TOKEN], set: {A: workflow, B: workflow, C: workflow}}
phases:
  work:
    env: {set: {A: phase, PATH_OF_MINE: ''}}
    next: [done]
";
    let script =
        "work:\n  - shell: {command: sh ./look.sh}\n  - transition: {to: done, summary: x}\n";
    let session = Session::with(workflow, script);
    // In a file: a guard asks before a worker reads what it cannot know.
    let look = "echo $A $B $C $D >values; tr '\\0' '\\n' </proc/$PPID/environ | cut -d= -f1 >above";
    session.write("look.sh", format!("{NAMES} >names; {look}\n"));
    set(
        &session,
        "[agents.scripted.env]\npass = 'OPENAI_API_KEY'\ndrop = ['FOO_*', 'NPM_TOKEN']\nset = { A = 'agent', C = 'agent', D = 'agent' }\n",
    );
    session.write(
        ".chronicle/config.toml",
        "[agents.scripted.env]\npass = ['DATABASE_URL', 'FOO_ONE', 'NPM_TOKEN']\ndrop = []\n",
    );
    chronicle(&session, RUN).exits(0);
    let had = ["OPENAI_API_KEY", "DATABASE_URL", "KUBECONFIG", "MAX_TOKENS"];
    assert_eq!(mine_in(&session, "names"), had, "no project takes back what the user drops");
    assert_eq!(session.read("values"), "phase workflow workflow agent\n");
    assert_eq!(mine_in(&session, "above"), had, "nor can it be read from who started it");
}

/// A run has the lists that it was started with, whatever becomes of the file.
#[test]
fn the_environment_is_frozen_into_the_run() {
    let workflow = |pass: &str| {
        format!(
            "name: Main\nphases:\n  - {{id: ask, run: human, instructions: x}}\n  - {{id: work, env: {{pass: [{pass}]}}, commands: \"{NAMES} >names\"}}\n"
        )
    };
    let session = Session::with(&workflow("NPM_TOKEN"), "");
    chronicle(&session, RUN).exits(4);
    session.write(".chronicle/workflows/main.yaml", workflow("GITHUB_TOKEN"));
    chronicle(&session, &["approve", &session.short()]).exits(0);
    chronicle(&session, &["resume"]).exits(0);
    assert_eq!(mine_in(&session, "names"), ["NPM_TOKEN", "KUBECONFIG", "MAX_TOKENS", "FOO_ONE"]);
}

/// What a definition sets under the name of a secret is hidden where a worker prints it.
#[test]
fn secrets_that_are_set_are_hidden_like_all_others() {
    let workflow = "
name: Main
phases:
  - {id: one, env: {set: {SHOP_PASSWORD: copper-Meadow-41}}, commands: 'echo it is $SHOP_PASSWORD'}
  - {id: two, env: {SHOP_PASSWORD: copper-Meadow-42}, commands: 'echo it is $SHOP_PASSWORD; false'}
";
    let script = "";
    let session = Session::with(workflow, script);
    set(&session, "[agents.scripted.env.set]\nSHOP_TOKEN = 'copper-Meadow-43'\n");
    let said = chronicle(&session, RUN).exits(4);
    for attempt in ["a1", "a2"] {
        let transcript = session.run_file(&format!("transcripts/{attempt}.jsonl"));
        let transcript = std::fs::read_to_string(transcript).unwrap();
        assert!(transcript.contains("it is [redacted]"), "{transcript}");
    }
    let told = format!("{}{}{}", said.stdout, said.stderr, chronicle(&session, &["log"]).stdout);
    assert!(told.contains("it is [redacted]") && !told.contains("copper-Meadow"), "{told}");
    let noted = chronicle(&session, &["note", &session.short(), "use copper-Meadow-42"]).exits(0);
    assert!(noted.stdout.contains("[redacted]"), "{}", noted.stdout);
    let config = chronicle(&session, &["config"]).exits(0);
    assert!(config.stdout.contains("SHOP_TOKEN = \"[redacted]\""), "{}", config.stdout);
}

#[test]
fn check_and_doctor_name_what_workers_lose_and_get() {
    let workflow = "
name: Main
agent: claude
phases:
  - {id: plan, limits: {timeout: 1h}}
  - {id: build, env: {pass: [NPM_TOKEN], drop: ['FOO*']}, limits: {timeout: 1h}}
  - {id: check, commands: 'true'}
";
    let session = Session::with(workflow, "");
    let said = chronicle(&session, &["check", "main"]).exits(0);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let without = "`AWS_SECRET_ACCESS_KEY`, `DATABASE_URL`";
    for sentence in [
        format!(
            "environment of `plan` (claude): without {without}, `GITHUB_TOKEN`, `NPM_TOKEN`, `OPENAI_API_KEY`"
        ),
        format!(
            "environment of `build` (claude): without {without}, `FOO_ONE`, `GITHUB_TOKEN`, `OPENAI_API_KEY`; with `NPM_TOKEN`"
        ),
        format!(
            "environment of `check` (shell): without {without}, `GITHUB_TOKEN`, `NPM_TOKEN`, `OPENAI_API_KEY`"
        ),
    ] {
        assert!(text.contains(&sentence), "{sentence}\n{text}");
    }
    let rows = chronicle(&session, &["check", "main", "--json"]).exits(0).json();
    let build = &rows["workflows"][0]["environment"][1];
    assert_eq!(build["phases"], json!(["build"]));
    assert_eq!(build["passed"], json!(["NPM_TOKEN"]));
    let fake = session.path("claude");
    session.write("claude", "#!/bin/sh\necho 2.1.325\n");
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    set(
        &session,
        &format!("[agents.claude]\ncommand = '{}'\nenv.pass = 'GITHUB_TOKEN'\n", fake.display()),
    );
    let doctor = chronicle(&session, &["doctor"]);
    let text = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("environment: workers get `GITHUB_TOKEN`, which look"), "{text}");
    assert!(
        text.contains(&format!("environment: workers do not get {without}, `NPM_TOKEN`")),
        "{text}"
    );
    for said in [said.stdout, rows.to_string(), doctor.stdout] {
        assert!(!said.contains(VALUE), "{said}");
    }
}

#[test]
fn variables_of_chronicle_can_be_named_by_no_setting() {
    let session = Session::with("{name: Main, phases: {work: {commands: 'true'}}}", "");
    set(
        &session,
        "[agents.claude.env]\npass = ['CHRONICLE_RUN']\ndrop = ['A=B']\nset = { chronicle_run = 'x' }\n",
    );
    let said = chronicle(&session, &["config"]);
    let told = format!("{}{}", said.stdout, said.stderr);
    for setting in ["pass", "drop"] {
        let expected = format!(
            "`agents.claude.env.{setting}` must be a list of names of environment variables"
        );
        assert!(told.contains(&expected), "{told}");
    }
    assert!(told.contains("`agents.claude.env.set` must be variables with texts"), "{told}");
}

/// A real agent has its own key, and its shell none of the secrets of other services.
fn keeps_secrets_from_its_shell(kind: Kind) {
    let list = kind.shell("env | cut -d= -f1 >names");
    let turns = json!([
        {"calls": [list]},
        {"calls": [kind.leave("done", "looked")]},
        {"say": "Done."},
    ]);
    let workflow = "name: One\nphases: {work: {env: {pass: [NPM_TOKEN], drop: ['FOO*'], set: {ADDED: x}}, next: [done]}}\n";
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    let command = with_mine(yard.command(&yard.run_args()));
    let said = yard.session.start(command, "").wait();
    yard.exits(said, 0);
    yard.assert_played();
    let mut had = vec!["NPM_TOKEN", "KUBECONFIG", "MAX_TOKENS"];
    if kind != Kind::Claude {
        // A key of one of its providers.
        had.insert(1, "OPENAI_API_KEY");
    }
    assert_eq!(mine_in(&yard.session, "names"), had);
    let names = yard.session.read("names");
    assert!(names.lines().any(|name| name == "ADDED"), "{names}");
    assert!(!names.contains("CHRONICLE_SECRET"), "{names}");
}

#[test]
fn needs_claude_keeps_secrets_from_its_shell() {
    keeps_secrets_from_its_shell(Kind::Claude);
}

#[test]
fn needs_pi_old_keeps_secrets_from_its_shell() {
    keeps_secrets_from_its_shell(Kind::PiOld);
}

#[test]
fn needs_pi_new_keeps_secrets_from_its_shell() {
    keeps_secrets_from_its_shell(Kind::PiNew);
}
