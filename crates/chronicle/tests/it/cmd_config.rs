//! `chronicle config`, and who has the first word when several say something.

use std::fs;

use serde_json::Value;

use crate::session::Session;

/// Two phases of which the second names its own agent and model.
const WORKFLOW: &str = "
name: Two
phases:
  one: {next: [two]}
  two: {agent: 'scripted:phase.yaml', model: of-phase}
";
const SCRIPT: &str = "one: [{next: {}}]\ntwo: [{next: {}}]\n";

fn session() -> Session {
    let session = Session::with(WORKFLOW, SCRIPT);
    for name in ["phase.yaml", "user.yaml", "project.yaml"] {
        session.write(name, SCRIPT);
    }
    session
}

fn user(session: &Session, text: &str) {
    let file = session.user().join("config.toml");
    let trusting = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{text}\n{trusting}")).unwrap();
}

/// The agents of the newest run's attempts.
fn agents(session: &Session) -> Vec<String> {
    let started = session.events_of("attempt_started");
    started.iter().map(|event| event["data"]["agent"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn flag_phase_project_and_user_in_this_order() {
    let session = session();
    user(&session, "agent = 'scripted:user.yaml'");
    session.chronicle(&["run", "main", "x"]).exits(0);
    assert_eq!(agents(&session), ["scripted:user.yaml", "scripted:phase.yaml"]);
    session.write(".chronicle/config.toml", "agent = 'scripted:project.yaml'\nmodel = 'm'\n");
    session.chronicle(&["run", "main", "x"]).exits(0);
    assert_eq!(agents(&session), ["scripted:project.yaml", "scripted:phase.yaml"]);
    assert_eq!(session.events_of("run_started")[0]["data"]["model"], "m");
    session.run().exits(0);
    assert_eq!(agents(&session), ["scripted:script.yaml", "scripted:script.yaml"]);
    session.chronicle(&["run", "main", "x", "--model", "flag"]).exits(0);
    let started = &session.events_of("run_started")[0]["data"];
    assert_eq!(started["model"], "flag");
    assert_eq!(started["workflows"][0]["phases"][1]["model"], Value::Null);
}

#[test]
fn limits_hold_where_a_workflow_sets_none() {
    let session =
        Session::with("{name: L, limits: {nudges: 9}, phases: {work: {}}}", "work: [{next: {}}]");
    user(&session, "limits.retries = 7\nlimits.idle = '3m'");
    session.write(".chronicle/config.toml", "limits.retries = 5\nlimits.nudges = 1\n");
    session.run().exits(0);
    let limits = session.events_of("run_started")[0]["data"]["workflows"][0]["limits"].clone();
    assert_eq!((&limits["retries"], &limits["nudges"]), (&5.into(), &9.into()));
    assert_eq!(limits["idle_ms"], 180_000);
}

#[test]
fn an_agent_may_have_a_name_of_ones_own_and_two_are_a_question() {
    let session = Session::with("{name: O, phases: {work: {}}}", "work: [{next: {}}]");
    let own = "agents.mine.command = 'chronicle scripted-agent script.yaml'";
    user(&session, own);
    session
        .chronicle(&["run", "main", "x"])
        .exits(0)
        .talks("Agent: `mine`, the only one there is.");
    assert_eq!(agents(&session), ["command:chronicle scripted-agent script.yaml"]);
    user(&session, "agents.other.command = 'false'");
    let said = session.chronicle(&["run", "main", "x"]).exits(2);
    said.talks("there are several agents, and none is chosen: `mine`, `other`")
        .talks("--agent mine");
    assert_eq!(session.runs().len(), 1);
    session.chronicle(&["run", "main", "x", "--agent", "mine"]).exits(0);
    user(&session, "agent = 'mine'");
    session.chronicle(&["run", "main", "x"]).exits(0);
}

#[test]
fn its_json_has_everything_about_every_setting() {
    let session = session();
    session.write(".chronicle/config.toml", "\nlimits.retries = 5\n");
    session.write("Cargo.toml", "[package]\n");
    let rows = session.json(&["config"]);
    let row = |key: &str| -> Value {
        rows["settings"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap().clone()
    };
    let retries = row("limits.retries");
    assert_eq!((&retries["value"], &retries["default"]), (&"5".into(), &"2".into()));
    assert_eq!(retries["origin"], ".chronicle/config.toml:2");
    assert!(retries["about"].as_str().unwrap().contains("crashes"));
    assert_eq!(row("verify")["value"], "[\"cargo test\"]");
    assert_eq!(row("verify")["origin"], "found from Cargo.toml");
    assert_eq!(row("model")["value"], Value::Null);
    let paths = session.json(&["config", "path"])["files"].take();
    assert_eq!((&paths[0]["whose"], &paths[1]["whose"]), (&"user".into(), &"project".into()));
    let said = session.chronicle(&["config", "limits.retrys"]).exits(2);
    said.talks("there is no setting").talks("did you mean `limits.retries`?");
}

#[test]
fn on_gate_wait_stays_and_a_setting_that_is_wrong_stops_no_running_run() {
    let session =
        Session::with("{name: G, phases: {work: {approval: after}}}", "work: [{next: {}}]");
    session.run().exits(4);
    session.write(".chronicle/config.toml", "nonsense = 1\n");
    let run = session.short();
    session.chronicle(&["status"]).exits(0);
    session.chronicle(&["approve", &run]).exits(0);
    session.run().exits(3).talks("there is no setting `nonsense`");
    session.write(".chronicle/config.toml", "on_gate = 'wait'\n");
    let started = session.spawn_run();
    crate::session::until("the run waits", || {
        let said = session.chronicle(&["status", "--json"]);
        session.runs().len() == 2 && said.code == Some(0) && said.json()["status"] == "waiting"
    });
    session.chronicle(&["approve", &session.short()]).exits(0);
    started.wait().exits(0);
    session.assert_whole();
}

/// A key of a known service, put together so that nobody takes this file for a leak.
fn key() -> String {
    ["gh", "p_Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j"].concat()
}

/// Everything that a run left on disk.
fn on_disk(session: &Session) -> String {
    let files = ["ledger.jsonl", "state.cache", "run.json", "transcripts/a1.jsonl"];
    files.iter().filter_map(|file| fs::read_to_string(session.run_file(file)).ok()).collect()
}

#[test]
fn a_secret_in_pieces_is_nowhere_on_disk_and_in_no_joined_text() {
    let key = key();
    let pieces: Vec<String> =
        key.as_bytes().chunks(5).map(|it| String::from_utf8(it.to_vec()).unwrap()).collect();
    let say: Vec<String> = pieces.iter().map(|piece| format!("{{say: '{piece}'}}")).collect();
    let script = format!(
        "work: [{{say: 'The key is '}}, {}, {{say: ' and that is all'}}, {{exit: 3}}]",
        say.join(", ")
    );
    let session =
        Session::with("{name: R, limits: {nudges: 0, retries: 0}, phases: {work: {}}}", &script);
    session.run().exits(4);
    let ledger = fs::read_to_string(session.run_file("ledger.jsonl")).unwrap();
    assert!(ledger.contains("The key is [redacted] and that is all"), "{ledger}");
    assert!(!on_disk(&session).contains(&key));
    let transcript = fs::read_to_string(session.run_file("transcripts/a1.jsonl")).unwrap();
    let lines =
        transcript.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let said = lines.filter_map(|line| serde_json::from_str(line["line"].as_str()?).ok());
    let joined: String = said
        .filter_map(|line: serde_json::Value| line["text"].as_str().map(str::to_owned))
        .collect();
    assert!(joined.contains("The key is [redacted] and that is all"), "{joined}");
}

#[test]
fn a_secret_in_pieces_with_thoughts_between_them_is_nowhere_on_disk() {
    let key = key();
    let (first, second) = key.split_at(20);
    let agent = format!(
        r#"read -r order
session=$(printf '%s' "$order" | sed -n 's/.*"session":"\([^"]*\)".*/\1/p')
say() {{ printf '%s\n' "$1"; }}
say "{{\"type\":\"session\",\"protocol\":1,\"session\":\"$session\",\"resumed\":false}}"
say '{{"type":"text","text":"The key is {first}"}}'
say '{{"type":"text","text":"Hm, {first}","thinking":true}}'
say 'nobody understands this'
say '{{"type":"text","text":"{second} and that is all"}}'
say '{{"type":"text","text":"{second}.","thinking":true}}'
say '{{"type":"signal","id":"s1","tool":"signal_back","arguments":{{"signal":"complete","summary":"done"}}}}'
read -r answer
say '{{"type":"finished"}}'
"#
    );
    let session = Session::new();
    session.write("agent.sh", &agent);
    session.write(".chronicle/workflows/main.yaml", "phases: {work: {}}");
    session.chronicle(&["run", "main", "t", "--agent", "command:sh agent.sh"]).exits(0);
    let disk = on_disk(&session);
    assert!(disk.contains("The key is [redacted]"), "{disk}");
    for half in [first, second] {
        assert!(!disk.contains(half), "{half} in {disk}");
    }
}

#[test]
fn what_a_person_types_is_searched_too_and_names_of_phases_stay() {
    let workflow = "{name: R, phases: {work: {next: [task-decomposition-review-2024]}, task-decomposition-review-2024: {approval: after}}}";
    let script = "work: [{transition: {to: task-decomposition-review-2024, summary: 's'}}]\ntask-decomposition-review-2024: [{next: {}}]";
    let session = Session::with(workflow, script);
    session.write(".env", "PORT=8080\nDB=open-sesame-1234\nSERVICE_TOKEN=just-a-plain-word\n");
    let task = format!("deploy with {} and just-a-plain-word on 8080", key());
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    command.args(["run", "main", &task, "--agent", "scripted:script.yaml"]);
    session
        .start(command, "")
        .wait()
        .exits(4)
        .talks("deploy with [redacted] and [redacted] on 8080");
    let note = format!("use {}", key());
    session
        .chronicle(&["note", &session.short(), &note])
        .exits(0)
        .prints("was replaced by [redacted]");
    assert!(!on_disk(&session).contains(&key()));
}

#[test]
fn the_lock_of_a_run_has_no_secret_of_the_command_line() {
    let session = Session::with(
        "{name: R, phases: {work: {}}}",
        "work: [{say: here}, {wait_for: {file: go}}, {next: {}}]",
    );
    let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
    let task = format!("deploy with {}", key());
    command.args(["run", "main", &task, "--agent", "scripted:script.yaml"]);
    let started = session.start(command, "");
    crate::session::until("the worker works", || {
        session.runs().len() == 1 && on_disk(&session).contains("here")
    });
    let lock = fs::read_to_string(session.run_file("lock")).unwrap();
    assert!(lock.contains("deploy with [redacted]") && !lock.contains(&key()), "{lock}");
    session.write("go", "");
    started.wait().exits(0);
}

#[test]
fn a_variable_that_people_call_secret_is_redacted() {
    let script = "work: [{shell: {command: 'echo the word is $PLAIN'}}, {say: 'the word is open-sesame-42'}, {next: {}}]";
    let session = Session::with("{name: R, phases: {work: {}}}", script);
    session.write(".chronicle/config.toml", "redact.variables = ['PLAIN']\n");
    let run = |session: &Session| {
        let mut command = session.command(env!("CARGO_BIN_EXE_chronicle"));
        command.args(crate::session::RUN).env("PLAIN", "open-sesame-42");
        session.start(command, "").wait().exits(0);
        fs::read_to_string(session.run_file("transcripts/a1.jsonl")).unwrap()
    };
    let transcript = run(&session);
    assert!(transcript.contains("the word is [redacted]"), "{transcript}");
    assert!(!transcript.contains("open-sesame"), "{transcript}");
    session.write(".chronicle/config.toml", "");
    assert!(run(&session).contains("open-sesame-42"), "only because of the setting");
}

#[test]
fn a_setting_is_set_where_it_belongs_and_all_else_stays() {
    let session = session();
    session.chronicle(&["init", "--yes"]).exits(0);
    let before = session.read(".chronicle/config.toml");
    let said = session.chronicle(&["config", "set", "limits.retries", "3"]).exits(0);
    said.prints("limits.retries = 3  (").prints(".chronicle/config.toml)");
    let after = session.read(".chronicle/config.toml");
    let gone: Vec<&str> =
        before.lines().filter(|line| !after.lines().any(|it| it == *line)).collect();
    assert_eq!(gone, [""; 0], "every comment stays");
    assert_eq!(after.lines().count(), before.lines().count() + 1);
    session.chronicle(&["config", "set", "limits.retries", "4"]).exits(0);
    session.chronicle(&["config", "limits.retries"]).exits(0).prints("limits.retries = 4");
    session.chronicle(&["config", "set", "verify", "make test", "make lint"]).exits(0);
    session.chronicle(&["config", "verify"]).exits(0).prints(r#"["make test", "make lint"]"#);
    session
        .chronicle(&["config", "unset", "limits.retries"])
        .exits(0)
        .prints("is not set any more");
    session.chronicle(&["config", "unset", "verify"]).exits(0);
    assert_eq!(session.read(".chronicle/config.toml"), before);
    session.chronicle(&["config", "unset", "verify"]).exits(2).talks("the file does not set");
    session.chronicle(&["config", "set", "model", "m", "--user"]).exits(0);
    let user = fs::read_to_string(session.user().join("config.toml")).unwrap();
    assert!(user.contains("model = \"m\"") && user.contains("trust.folders"), "{user}");
}

#[test]
fn an_invalid_setting_is_not_written() {
    let session = session();
    session.write(".chronicle/config.toml", "# mine\nagent = 'pi'\n");
    for (args, words) in [
        (&["limits.retrys", "3"][..], "did you mean `limits.retries`?"),
        (
            &["limits.retries", "many"],
            "`limits.retries` must be a whole number, not the text `many`",
        ),
        (&["on_gate", "wiat"], "did you mean `wait`?"),
        (&["notify.bell", "yes"], "must be `true` or `false`"),
        (&["trust.folders", "/", "--project-file"], "only the user's own settings"),
    ] {
        let args = [&["config", "set"], args].concat();
        let said = session.chronicle(&args).talks(words);
        assert!(matches!(said.code, Some(2 | 3)), "{args:?}: {:?}", said.code);
    }
    assert_eq!(session.read(".chronicle/config.toml"), "# mine\nagent = 'pi'\n");
    session.write(".chronicle/config.toml", "agent = \n");
    session.chronicle(&["config", "set", "model", "m"]).exits(3).talks("nothing was changed");
    assert_eq!(session.read(".chronicle/config.toml"), "agent = \n");
}

#[test]
fn a_setting_that_the_person_set_needs_no_new_trust() {
    let session = session();
    session.distrust();
    session.chronicle(&["trust"]).exits(0);
    session.chronicle(&["config", "set", "limits.retries", "1"]).exits(0);
    session.run().exits(0);
    session.write(".chronicle/config.toml", "limits.retries = 9\n");
    session.chronicle(&["config", "set", "limits.nudges", "1"]).exits(0);
    session.run().exits(2).talks("has changed since you trusted it");
}

#[test]
fn what_holds_for_every_project_is_set_by_name_only() {
    let session = session();
    let file = session.user().join("config.toml");
    let before = fs::read_to_string(&file).unwrap();
    let said = session.chronicle(&["config", "set", "notify.command", "say hello"]).exits(2);
    said.talks("can only be set in your own file").talks("Hint: add `--user`");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    session.chronicle(&["config", "set", "notify.command", "say hello", "--user"]).exits(0);
    assert!(fs::read_to_string(&file).unwrap().contains("say hello"));
}
