//! Rules about tool calls, with the scripted agent: what they forbid does not run, and what got round them is found.

use crate::session::{RUN, Session, until};

const WORKFLOW: &str = "name: Guarded\nphases: {work: {next: [done]}}\n";
const RULES: &str = "\
# of the project
readOnlyPaths:
  - locked.txt
noDeletePaths: [kept/]
bashToolPatterns:
  - {pattern: '\\bdeploy\\b', reason: only people deploy}
";

fn session(script: &str) -> Session {
    let session = Session::with(WORKFLOW, script);
    session.write(".chronicle/rules.yaml", RULES);
    session.write("locked.txt", "old\n");
    session.write("kept/one", "1\n");
    session
}

/// The verdict on each call, and why.
fn verdicts(session: &Session) -> Vec<String> {
    let calls = session.events_of("tool_called");
    let said = |it: &serde_json::Value| {
        let verdict = &it["data"]["verdict"];
        let why = verdict["why"].as_str().unwrap_or_default();
        format!("{} {why}", verdict["is"].as_str().unwrap_or_default())
    };
    calls.iter().map(said).collect()
}

#[test]
fn what_the_rules_forbid_does_not_run_and_the_worker_is_told_which_rule() {
    let session = session(
        "work:
  - shell: {command: 'echo new > locked.txt'}
  - shell: {command: 'cd kept && rm one'}
  - shell: {command: 'ln -s locked.txt l; echo new | tee l'}
  - shell: {command: 'sh -c \"./deploy now\"'}
  - shell: {command: 'chronicle cancel'}
  - shell: {command: 'echo x >> .chronicle/rules.yaml'}
  - shell: {command: 'echo fine > free.txt'}
  - complete: {summary: worked}
",
    );
    session.run().exits(0);
    assert_eq!(
        (session.read("locked.txt").as_str(), session.read("kept/one").as_str()),
        ("old\n", "1\n")
    );
    assert_eq!(session.read("free.txt"), "fine\n");
    let told = verdicts(&session);
    let rules = [
        "readOnlyPaths `locked.txt` (.chronicle/rules.yaml:3)",
        "noDeletePaths `kept/` (.chronicle/rules.yaml:4)",
        "readOnlyPaths `locked.txt`",
        "only people deploy",
        "person's command",
        "guards this run",
    ];
    for (told, rule) in told.iter().zip(rules) {
        assert!(told.starts_with("denied") && told.contains(rule), "{rule}: {told}");
    }
    assert_eq!(told[6], "allowed ");
    // In the log with the rule, for people.
    session.chronicle(&["log", "--tools"]).exits(0).prints(".chronicle/rules.yaml:3");
    let status = session.json(&["status"]);
    let files = status["guards"]["files"].as_array().unwrap();
    assert_eq!(
        (&files[0]["file"], &files[0]["rules"]),
        (&".chronicle/rules.yaml".into(), &3.into())
    );
    let all = status["guards"]["rules"].as_u64().unwrap();
    session.chronicle(&["status"]).exits(0).prints(&format!("guards: {all} rules (3 of "));
    session.assert_whole();
}

/// A link that is put in place after the call was judged is another call's, and that one is judged by where it leads then.
#[test]
fn links_are_followed_as_they_are_when_the_call_is_made() {
    let session = session(
        "work:
  - shell: {command: 'mkdir a && echo 1 > a/out'}
  - shell: {command: 'rm -r a'}
  - shell: {command: 'ln -s kept a'}
  - shell: {command: 'rm a/one'}
  - complete: {summary: worked}
",
    );
    session.run().exits(0);
    assert!(session.has("kept/one"));
    let told = verdicts(&session);
    assert!(told[3].starts_with("denied") && told[3].contains("noDeletePaths"), "{told:?}");
}

/// Made beside every call, so that nobody knows whose it is.
#[test]
fn a_forbidden_change_of_unknown_origin_is_told_too() {
    let session =
        session("work:\n  - touch: {file: deep/locked.txt}\n  - complete: {summary: worked}\n");
    session.run().exits(0);
    session.chronicle(&["log"]).exits(0).prints("(.chronicle/rules.yaml:3)), origin unknown");
    let row = session.json(&["status"])["forbidden"][0].clone();
    assert_eq!((&row["path"], &row["origin_unknown"]), (&"deep/locked.txt".into(), &true.into()));
    let told = "while a1 worked, somebody changed `deep/locked.txt`";
    session.chronicle(&["status"]).exits(0).prints(told);
    let next = row["next"].as_str().unwrap();
    assert!(next.ends_with(" --all --also-mine --file deep/locked.txt"), "{next}");
    let words: Vec<&str> = next.split(' ').skip(1).chain(["--yes"]).collect();
    session.chronicle(&words).exits(0);
    assert!(!session.has("deep/locked.txt"));
    assert!(session.json(&["status"])["forbidden"].is_null(), "it was taken back");
    session.assert_whole();
}

#[test]
fn a_change_that_got_round_the_rules_is_found_reported_and_can_be_undone() {
    let session = session(
        "work:
  - shell: {command: 'sh ./fix.sh'}
  - complete: {summary: worked}
",
    );
    session.write("fix.sh", "echo new > locked.txt\necho more > other.txt\n");
    session.run().exits(0);
    assert_eq!(session.read("locked.txt"), "new\n");
    let rule = "`locked.txt` (readOnlyPaths `locked.txt` (.chronicle/rules.yaml:3))";
    session.chronicle(&["log"]).exits(0).prints(&format!("forbidden by the rules: {rule}"));
    let row = session.json(&["status"])["forbidden"][0].clone();
    assert_eq!((&row["attempt"], &row["path"]), (&"a1".into(), &"locked.txt".into()));
    let next = row["next"].as_str().unwrap();
    assert!(next.ends_with(" --attempt a1 --file locked.txt"), "{next}");
    session
        .chronicle(&["status"])
        .exits(0)
        .prints("forbidden change: a1 changed `locked.txt`")
        .prints(next);
    let words: Vec<&str> = next.split(' ').skip(1).chain(["--yes"]).collect();
    session.chronicle(&words).exits(0);
    assert_eq!(session.read("locked.txt"), "old\n");
    assert_eq!(session.read("other.txt"), "more\n", "only the file that is named is taken back");
    assert!(session.json(&["status"])["forbidden"].is_null(), "it was taken back");
    session.assert_whole();
}

/// What an undo took away is there again once the undo is taken back, and so is what is said of it.
#[test]
fn a_forbidden_change_that_is_brought_back_is_told_again() {
    let session = session("work: [{shell: {command: 'sh ./fix.sh'}}, {complete: {summary: x}}]\n");
    session.write("fix.sh", "echo new > locked.txt\necho more > other.txt\n");
    session.run().exits(0);
    let first = session.json(&["status"])["forbidden"].clone();
    let run = session.short();
    let undo = ["undo", &run, "--attempt", "a1", "--yes"];
    for _ in 0..2 {
        session.chronicle(&undo).exits(0);
        assert!(session.json(&["status"])["forbidden"].is_null(), "it was taken back");
        let back = session.chronicle(&["undo", &run, "--back", "--yes"]).exits(0);
        back.prints("there again, and forbidden by the rules: locked.txt (readOnlyPaths");
        assert_eq!(session.read("locked.txt"), "new\n");
        assert_eq!(session.json(&["status"])["forbidden"], first);
        session.chronicle(&["status"]).exits(0).prints("forbidden change: a1 changed `locked.txt`");
        let log = session.chronicle(&["log", &run]).exits(0).stdout;
        let last = log.lines().rfind(|line| line.contains("2 files restored")).unwrap();
        assert!(last.contains("forbidden by the rules: `locked.txt` (readOnlyPaths"), "{log}");
    }
    // Of two undos that are taken back at once the first one counts.
    session.chronicle(&["undo", &run, "--attempt", "a1", "--file", "locked.txt", "--yes"]).exits(0);
    session.chronicle(&undo).exits(0);
    session.chronicle(&["undo", &run, "--back", "1", "--yes"]).exits(0);
    assert!(session.json(&["status"])["forbidden"].is_null(), "only the other file is back");
    session.chronicle(&["undo", &run, "--back", "1", "--yes"]).exits(0);
    assert_eq!(session.json(&["status"])["forbidden"], first);
    session.assert_whole();
}

#[test]
fn rules_are_frozen_into_the_run() {
    let session = session(
        "work:
  - wait_for: {file: go}
  - shell: {command: 'echo new > locked.txt'}
  - complete: {summary: worked}
",
    );
    let supervisor = session.spawn_run();
    until("it works", || !session.runs().is_empty() && session.ledger_lines() > 1);
    session.write(".chronicle/rules.yaml", "readOnlyPaths: []\n");
    session.write("go", "");
    supervisor.wait().exits(0);
    assert_eq!(session.read("locked.txt"), "old\n");
    // Nor does a resumed one read the file again.
    let list = session.chronicle(&["guard", "list", "--run", &session.short()]).exits(0);
    list.prints("read only locked.txt");
}

#[test]
fn a_person_can_ask_what_would_become_of_a_call() {
    let session = session("work: [{complete: {summary: x}}]");
    session.write(
        ".chronicle/workflows/review.yaml",
        "name: Review\nphases: {look: {next: [done], tools: {deny: [edit, bash]}}}\n",
    );
    let explain = |args: &[&str]| {
        let words = [&["guard", "explain"], args].concat();
        session.chronicle(&words).exits(0)
    };
    explain(&["--", "bash", "cargo test"]).prints("allow  bash");
    // A group of commands is no broken object.
    explain(&["--", "bash", "{ ls; }"]).prints("allow  bash");
    explain(&["--", "bash", "{ echo > locked.txt; }"]).prints("deny  bash");
    let said = explain(&["--", "Bash", r#"{"command": "echo > locked.txt"}"#]).prints("deny  Bash");
    said.prints("rule: readOnlyPaths `locked.txt` (.chronicle/rules.yaml:3)");
    explain(&["--phase", "look", "--", "MultiEdit", "a.txt"]).prints("deny").prints("tools");
    explain(&["--phase", "look", "--", "Monitor", "ls"]).prints("deny");
    explain(&["--phase", "work", "--", "Monitor", "ls"]).prints("allow");
    let row =
        session.chronicle(&["--json", "guard", "explain", "--", "bash", "eval \"$x\""]).json();
    assert_eq!((&row["verdict"], &row["kind"]), (&"ask".into(), &"run".into()));
    assert_eq!(row["rule"]["kind"], "unclear");
    session
        .chronicle(&["guard", "explain", "--phase", "no", "--", "bash", "ls"])
        .exits(2)
        .talks("no workflow here has a phase `no`");
    session
        .chronicle(&["guard", "explain", "--", "bash", "{broken"])
        .exits(2)
        .talks("no JSON object");
    for (tool, text) in [("bash", "{command: make}"), ("Read", "{ path }"), ("bash", "{\"a\": b}")]
    {
        let said = session.chronicle(&["guard", "explain", "--", tool, text]);
        said.exits(2).talks("no JSON object");
    }
    let list = session.json(&["guard", "list"]);
    assert_eq!(list["files"][0]["rules"]["read_only"][0]["path"], "locked.txt");
    assert!(list["count"].as_u64().unwrap() > 50);
    // Nothing was written or started.
    assert_eq!(session.runs().len(), 0);
}

/// What a persona denies is not known while it cannot be read: then nobody is told that a call may run.
#[test]
fn a_phase_whose_persona_is_broken_or_missing_is_not_explained() {
    let session = session("work: [{complete: {summary: x}}]");
    let explain = ["guard", "explain", "--phase", "look", "--", "bash", "ls"];
    let workflow = |persona: &str| {
        format!("name: Review\nphases: {{look: {{persona: {persona}, next: [done]}}}}\n")
    };
    let file = ".chronicle/workflows/review.yaml";
    session.write(file, workflow("nobody"));
    let said = session.chronicle(&explain).exits(3);
    said.talks("error[unknown-persona]").talks("review.yaml:2:").talks("Hint: ");
    session.write(file, workflow("scoff"));
    session.write(".chronicle/personas/scoff.md", "---\ntools: {deny: [bash\n---\nYou scoff.\n");
    session.chronicle(&explain).exits(3).talks(".chronicle/personas/scoff.md").talks("Hint: ");
    session.write(".chronicle/personas/scoff.md", "---\ndisallowedTools: bash\n---\nYou scoff.\n");
    session.chronicle(&explain).exits(0).prints("deny  bash");
    // A name is the same in any case, for a run and here.
    session.write(file, workflow("Scoff"));
    session.chronicle(&explain).exits(0).prints("deny  bash");
    // A workflow that has no such phase is not in the way.
    session.write(".chronicle/workflows/other.yaml", "phases: {a: {persona: nobody}}\n");
    session.chronicle(&explain).exits(0).prints("deny  bash");
}

#[test]
fn the_built_in_rules_can_be_turned_off_by_their_user_and_by_nobody_else() {
    let script = "work:\n  - shell: {command: 'git reset --hard'}\n  - shell: {command: 'rm -rf .chronicle'}\n  - complete: {summary: x}\n";
    let session = Session::with(WORKFLOW, script);
    session.run().exits(0);
    assert!(verdicts(&session)[0].contains("nobody has answered"), "{:?}", verdicts(&session));
    let config = session.user().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}\n[guards]\nbuiltin = false\n")).unwrap();
    session.chronicle(RUN).exits(0);
    let told = verdicts(&session);
    let last: Vec<&String> = told.iter().rev().take(2).collect();
    assert_eq!(last[1], "allowed ", "{told:?}");
    assert!(last[0].starts_with("denied"), "what guards the run has no switch: {told:?}");
    session.chronicle(&["status"]).exits(0).prints("guards: no rules");
}

/// A workflow can bring rules of its own. It can only add to those that hold.
#[test]
fn a_workflow_names_files_of_rules_that_hold_for_its_runs() {
    let script = "work:\n  - shell: {command: 'touch a/b'}\n  - shell: {command: 'touch locked.txt'}\n  - complete: {summary: x}\n";
    let session = session(script);
    session.write(
        ".chronicle/workflows/main.yaml",
        format!("{WORKFLOW}guards: {{rules: [strict]}}\n"),
    );
    session.run().exits(3).talks("error[unknown-rules]").talks("no file of rules `strict`");
    session.write(".chronicle/rules/strict.yaml", "readOnlyPaths: [a/]\n");
    session
        .chronicle(&["list"])
        .exits(0)
        .prints("1 rule for workflows with `guards: {rules: [strict]}`");
    session.run().exits(0);
    let told = verdicts(&session);
    assert!(told[0].contains(".chronicle/rules/strict.yaml:1"), "{told:?}");
    assert!(told[1].contains(".chronicle/rules.yaml:3"), "{told:?}");
    session.write(".chronicle/rules/strict.yaml", "readOnlyPath: [a/]\n");
    session.run().exits(3).talks("so nothing may start");
    // No workflow can ask for less.
    let weak = format!("{WORKFLOW}guards: {{mode: best-effort}}\n");
    session.write(".chronicle/workflows/main.yaml", weak);
    session.run().exits(3).talks("mode");
}

/// What a person allowed is judged again when their answer arrives: where its paths lead may have changed since they saw it.
#[test]
fn a_link_that_is_swapped_while_a_person_thinks_leads_nowhere() {
    let session = Session::with(
        WORKFLOW,
        "work:\n  - shell: {command: 'cat link > out'}\n  - complete: {summary: worked}\n",
    );
    session.write(".chronicle/rules.yaml", "askPaths: [mild.txt]\nzeroAccessPaths: [hidden.txt]\n");
    session.write("mild.txt", "mild\n");
    session.write("hidden.txt", "hidden\n");
    std::os::unix::fs::symlink("mild.txt", session.path("link")).unwrap();
    let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
    until("it asks", || supervisor.talk().contains("g1 waits"));
    std::fs::remove_file(session.path("link")).unwrap();
    std::os::unix::fs::symlink("hidden.txt", session.path("link")).unwrap();
    session.chronicle(&["approve", &session.short(), "g1"]).exits(0);
    supervisor.wait().exits(0);
    assert!(!session.has("out"), "it ran");
    let log = session.chronicle(&["log", "--tools"]).exits(0);
    let log = log.prints("a1 was denied `bash`: ").prints("zeroAccessPaths `hidden.txt`");
    assert!(!log.stdout.contains("the agent itself refused it"), "{}", log.stdout);
    let called = session.events_of("tool_called");
    let rule = &called.last().unwrap()["data"]["judged"]["rule"];
    assert_eq!((&rule["kind"], &rule["text"]), (&"zero_access".into(), &"hidden.txt".into()));
    session.assert_whole();
}

/// A yes is for what a person was shown: if another rule or another file asks by now, it is another question.
#[test]
fn a_link_that_is_swapped_for_another_file_to_be_asked_about_needs_another_yes() {
    for rules in ["askPaths: [mild.txt, other.txt]\n", "askPaths: ['*.txt']\n"] {
        let session = Session::with(
            WORKFLOW,
            "work:\n  - shell: {command: 'cat link >> out'}\n  - shell: {command: 'cat link >> out'}\n  - complete: {summary: worked}\n",
        );
        session.write(".chronicle/rules.yaml", rules);
        session.write("mild.txt", "mild\n");
        session.write("other.txt", "other\n");
        std::os::unix::fs::symlink("mild.txt", session.path("link")).unwrap();
        let supervisor = session.spawn(&[RUN, &["--wait"]].concat());
        until("it asks", || supervisor.talk().contains("g1 waits"));
        std::fs::remove_file(session.path("link")).unwrap();
        std::os::unix::fs::symlink("other.txt", session.path("link")).unwrap();
        session.chronicle(&["approve", &session.short(), "g1"]).exits(0);
        until("it asks again", || supervisor.talk().contains("g2 waits"));
        assert!(!session.has("out"), "it ran: {rules}");
        // What did not change since is as it was shown.
        session.chronicle(&["approve", &session.short(), "g2"]).exits(0);
        supervisor.wait().exits(0);
        assert_eq!(std::fs::read_to_string(session.path("out")).unwrap(), "other\n", "{rules}");
        let log = session.chronicle(&["log", "--tools"]).exits(0);
        log.prints("a1 was denied `bash`: it did not run: what it leads to has changed");
        session.assert_whole();
    }
}
