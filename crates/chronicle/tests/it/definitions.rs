//! Definitions of every kind through the real binary: listed, run, and frozen.

use std::fs;

use expect_test::expect;

use crate::session::Session;

/// An agent that notes what it was told and says something before it leaves.
const AGENT: &str = r#"
read -r order
printf '%s\n' "$order" >> orders
place=$(printf '%s' "$order" | sed -n 's/.*"place":"\([^"]*\)".*/\1/p')
session=$(printf '%s' "$order" | sed -n 's/.*"session":"\([^"]*\)".*/\1/p')
say() { printf '%s\n' "$1"; }
say "{\"type\":\"session\",\"protocol\":1,\"session\":\"$session\",\"resumed\":false}"
say '{"type":"text","text":"Before the tool."}'
say '{"type":"permission","id":"c1","tool":"read","input":{"path":"x"}}'
read -r answer
say '{"type":"tool_end","id":"c1","ok":true}'
say "{\"type\":\"text\",\"text\":\"$place says \$ORIGINAL and \"}"
say '{"type":"text","text":"no more."}'
say '{"type":"signal","id":"s1","tool":"signal_back","arguments":{"signal":"complete","summary":"short"}}'
read -r answer
say '{"type":"finished"}'
"#;

fn orders(session: &Session) -> Vec<serde_json::Value> {
    session.read("orders").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_chain_feeds_each_step_with_what_the_one_before_said() {
    let session = Session::new();
    session.write("agent.sh", AGENT);
    session.write(
        ".pi/agents/agent-chain.yaml",
        "look:\n  steps:\n    - {agent: scout, prompt: 'First: $INPUT'}\n    - {agent: Scout, prompt: 'Then: $INPUT / $ORIGINAL'}\n",
    );
    session.write(
        ".pi/agents/scout.md",
        "---\nname: scout\ntools: read,grep\nmodel: small\nthinking: low\n---\nYou are the scout.\n",
    );
    session.chronicle(&["run", "look", "the task", "--agent", "command:sh agent.sh"]).exits(0);
    let orders = orders(&session);
    assert_eq!(orders.len(), 2);
    let told = |index: usize| orders[index]["handover"].as_str().unwrap().to_owned();
    assert!(told(0).contains("First: the task"), "{}", told(0));
    let second = "Then: scout says $ORIGINAL and no more. / the task";
    assert!(told(1).contains(second), "{}", told(1));
    for order in &orders {
        assert_eq!(order["persona"], "You are the scout.");
        assert_eq!(order["model"], "small");
        assert_eq!(order["thinking"], "low");
        assert_eq!(order["tools"]["allow"], serde_json::json!(["read", "grep"]));
    }
    let started = session.events_of("run_started");
    assert_eq!(started[0]["data"]["personas"][0]["prompt"], "You are the scout.");
    session.assert_whole();
}

#[test]
fn a_failing_step_of_a_chain_stops_the_run() {
    let session = Session::new();
    session.write("script.yaml", "a:\n  - exit: 3\n");
    session.write(
        ".pi/agents/agent-chain.yaml",
        "two: {steps: [{agent: a, prompt: x}, {agent: b, prompt: y}]}",
    );
    session.write(".pi/agents/a.md", "You are the first.\n");
    session.write(".pi/agents/b.md", "You are the second.\n");
    session.chronicle(&["run", "two", "t", "--agent", "scripted:script.yaml"]).exits(4);
    assert_eq!(session.path_of_phases(), ["a"]);
    session.assert_nothing_lives();
}

#[test]
fn editing_a_workflow_and_its_persona_in_mid_run_changes_nothing_in_the_run() {
    let session = Session::new();
    session.write("agent.sh", AGENT);
    let file = ".chronicle/workflows/main/workflow.yaml";
    session.write(file, "phases: [one.md, two.md]\n");
    session.write(
        ".chronicle/workflows/main/one.md",
        "---\napproval: before\npersona: keeper\n---\nThe old one.\n",
    );
    session.write(".chronicle/workflows/main/two.md", "---\npersona: keeper\n---\nThe old two.\n");
    session.write(".chronicle/personas/keeper.md", "---\nname: Keeper\n---\nOld keeper.\n");
    session.chronicle(&["run", "main", "t", "--agent", "command:sh agent.sh"]).exits(4);
    session.write(file, "phases: [{id: other, instructions: New.}]\n");
    session.write(".chronicle/workflows/main/two.md", "New two.\n");
    session.write(".chronicle/personas/keeper.md", "---\nname: Keeper\n---\nNew keeper.\n");
    fs::remove_file(session.path(".chronicle/workflows/main/one.md")).unwrap();
    session.chronicle(&["approve", &session.short()]).exits(0);
    session.chronicle(&["resume"]).exits(0);
    assert_eq!(session.path_of_phases(), ["one", "two"]);
    let orders = orders(&session);
    for (order, words) in orders.iter().zip(["The old one.", "The old two."]) {
        assert!(order["handover"].as_str().unwrap().contains(words));
        assert_eq!(order["persona"], "Old keeper.");
    }
    session.assert_whole();
}

#[test]
fn a_team_limits_the_personas_of_a_run() {
    let session =
        Session::with("phases: [{id: a, persona: builder}]", "a:\n  - complete: {summary: x}\n");
    session.write(".pi/agents/builder.md", "---\nname: builder\n---\nBuild.\n");
    session.write(".pi/agents/scout.md", "---\nname: scout\n---\nLook.\n");
    session.write(".pi/agents/teams.yaml", "look: [scout]\nwork: {agents: [Builder, nobody]}\n");
    let run = |team: &str| {
        session.chronicle(&["run", "main", "t", "--agent", "scripted:script.yaml", "--team", team])
    };
    run("look").exits(3).talks("the workflow uses `builder`, not in team `look`");
    run("nope").exits(2).talks("there are: look, work");
    run("WORK").exits(0);
    run("all").exits(0);
    assert_eq!(session.runs().len(), 2, "a refused run leaves nothing");
}

#[test]
fn rules_that_cannot_be_read_stop_the_start_and_others_are_frozen_into_the_run() {
    let session = Session::with("phases: [{id: a}]", "a:\n  - complete: {summary: x}\n");
    let file = ".pi/damage-control-rules.yaml";
    session.write(file, "bashToolPatterns: [{pattern: 'a(', reason: r}]\n");
    let said = session.run().exits(3).talks("error[bad-pattern]").talks("so nothing may start");
    assert!(said.stderr.contains("Hint: mend"), "{}", said.stderr);
    assert_eq!(session.runs().len(), 0);
    session.write(file, "bashToolPatterns: [{pattern: 'a(?!b)', reason: r}]\nreadOnlyPaths: [x]\n");
    session.run().exits(0);
    let started = session.events_of("run_started");
    let frozen = &started[0]["data"]["rules"][0];
    assert_eq!((&frozen["name"], &frozen["count"]), (&file.into(), &2.into()));
    assert_eq!(started[0]["data"]["unenforced"], serde_json::Value::Null);
}

/// What is listed but for the built-in definitions, which come and go with versions.
fn without_builtin(listed: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in listed.lines() {
        let about_the_last = line.starts_with("    ");
        inside = line.contains("built-in ") || (inside && about_the_last);
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn the_list_shows_what_is_here_and_what_is_wrong() {
    let session = Session::new();
    session.write(".chronicle/workflows/good.yaml", "description: Does it\nphases: [{id: a}]\n");
    session.write(".chronicle/workflows/bad.yaml", "phases: [{id: a, nxet: b}]\n");
    session.write(".pi/chronicle/workflows/good.json", r#"{"states": {"a": {}}}"#);
    session.write(".pi/agents/agent-chain.yaml", "look: {steps: [{agent: scout, prompt: x}]}\n");
    session.write(".pi/agents/scout.md", "---\ndescription: Looks around\n---\nLook.\n");
    session.write(".pi/agents/teams.yaml", "small: [scout]\n");
    session.write(".pi/damage-control-rules.yaml", "readOnlyPaths: [x]\n");
    session.write(".claude/agents/README.md", "no persona\n");
    let said = session.chronicle(&["list"]).exits(0);
    expect![[r#"
        Workflows
        ✗ bad      1 phase  .chronicle/workflows/bad.yaml
            error[unknown-field] .chronicle/workflows/bad.yaml:1:18: a phase has no field `nxet` (hint: did you mean `next`?)
          good     1 phase  .chronicle/workflows/good.yaml
            Does it
            overrides .pi/chronicle/workflows/good.json

        Chains
          look  1 phase  .pi/agents/agent-chain.yaml

        Personas
          scout           Looks around  .pi/agents/scout.md

        Teams
          small  scout  .pi/agents/teams.yaml

        Rules
          1 rule  .pi/damage-control-rules.yaml

        Problems
            note[not-a-persona] .claude/agents/README.md: no fields before the text: it is no persona
    "#]].assert_eq(&without_builtin(&said.stdout));
    let json = session.json(&["list"]);
    assert_eq!(json["workflows"][0]["key"], "bad");
    assert_eq!(json["workflows"][0]["usable"], false);
    assert_eq!(json["workflows"][0]["problems"][0]["code"], "unknown-field");
    assert_eq!(json["workflows"][1]["overrides"][0]["level"], "project");
    assert_eq!(json["personas"][0]["name"], "scout");
    assert_eq!(json["rules"][0]["count"], 1);
}

/// Every command that would use a workflow refuses the broken one, and none of them takes another of its name.
#[test]
fn a_broken_workflow_is_never_swapped_for_the_built_in_one() {
    let session = Session::new();
    session.write(
        ".chronicle/workflows/feature.yaml",
        "name: Mine\nphases: {plan: {approval: befor, next: [done]}}\n",
    );
    session.write(".chronicle/workflows/outer.yaml", "phases: [{id: o, workflow: feature}]\n");
    let said = session.chronicle(&["check"]).exits(3);
    said.prints("error[unknown-value]").prints("✗ feature").prints("✗ outer");
    session.chronicle(&["check", "feature"]).exits(3);
    for name in ["feature", "outer"] {
        let run = ["run", name, "t", "--agent", "command:true"];
        session.chronicle(&run).exits(3).talks("error[unknown-value]");
        session.chronicle(&[&run[..], &["--dry-run"]].concat()).exits(3);
        session.chronicle(&["graph", name]).exits(3);
    }
    let listed = session.chronicle(&["list"]).exits(0);
    let listed = listed.prints("✗ feature").prints("overrides built-in feature.yaml");
    listed.prints("error[unknown-value] .chronicle/workflows/feature.yaml:2:27");
    assert_eq!(session.runs().len(), 0);
}

#[test]
fn a_chain_whose_agent_nobody_wrote_does_not_start_and_a_state_of_the_chronicle_may_only_read() {
    for agent in ["scout", "reviewer"] {
        let session = Session::new();
        session.write("agent.sh", AGENT);
        let chain = format!("look: {{steps: [{{agent: {agent}, prompt: x}}]}}\n");
        session.write(".pi/agents/agent-chain.yaml", &chain);
        let run = ["run", "look", "t", "--agent", "command:sh agent.sh"];
        let said = format!("error[unknown-persona]: no persona is called `{agent}`");
        session.chronicle(&run).exits(3).talks(&said);
        fs::remove_file(session.path(".pi/agents/agent-chain.yaml")).unwrap();
        let template = format!(r#"{{"states": {{"a": {{"agent": "{agent}"}}}}}}"#);
        session.write(".pi/chronicle/workflows/look.json", &template);
        session.chronicle(&["check", "--strict"]).exits(3).prints("error[unknown-persona]");
        let said = format!("warning[unknown-persona]: no persona is called `{agent}`");
        session.chronicle(&run).exits(0).talks(&said);
        let order = &orders(&session)[0];
        let only = serde_json::json!(["read", "grep", "find", "ls", "glob"]);
        assert_eq!(order["tools"]["allow"], only, "{agent}");
        assert!(order["persona"].is_null(), "{order}");
    }
}

#[test]
fn who_helps_has_the_words_and_the_limits_of_their_persona() {
    let session = Session::with(
        "phases: [{id: a, persona: You build it.}]",
        "a:
  - followup: {persona: nosuchrole, reason: lost, resume: true}
  - followup: {persona: mender, reason: broken, resume: true}
  - complete: {summary: done}
a@mender:
  - tool: {name: bash, input: {command: 'true'}}
  - complete: {summary: mended}
",
    );
    session.write(
        ".chronicle/personas/mender.md",
        "---\nname: Mender\ntools: read\nmodel: small\n---\nYou mend what is broken.\n",
    );
    session.run().exits(0);
    let refused = session.events_of("signal_refused");
    let answer = refused[0]["data"]["answer"].as_str().unwrap();
    assert!(
        answer.starts_with("no persona is called `nosuchrole`; you may ask `Mender`"),
        "{answer}"
    );
    assert!(answer.contains("`spiritmender`"), "{answer}");
    let started = session.events_of("run_started");
    let frozen = started[0]["data"]["personas"].as_array().unwrap();
    let mender = frozen.iter().find(|it| it["name"] == "Mender").unwrap();
    assert_eq!(mender["prompt"], "You mend what is broken.");
    let calls = session.events_of("tool_called");
    assert_eq!(calls[0]["data"]["verdict"]["is"], "denied", "{calls:?}");
    session.assert_whole();
}

#[test]
fn an_unsupported_field_is_refused_everywhere_and_can_be_accepted() {
    let session = Session::with(
        "phases: [{id: o, workflow: inner}]",
        "o/a:\n  - complete: {summary: done}\n",
    );
    session.write(
        ".chronicle/workflows/inner.yaml",
        "phases: [{id: a, persona: turner, extra_skills: [tea]}]\n",
    );
    session.write(
        ".chronicle/personas/turner.md",
        "---\nname: turner\nmax_turns: 3\nskills: [tea]\n---\nYou turn.\n",
    );
    let refused =
        session.run().exits(3).talks("`extra_skills`").talks("`max_turns`").talks("`skills`");
    assert!(refused.stderr.contains("turner.md:3:1"), "{}", refused.stderr);
    session.chronicle(&["check"]).exits(3).prints("cannot enforce `max_turns`");
    session
        .chronicle(&["run", "main", "t", "--dry-run", "--agent", "scripted:script.yaml"])
        .exits(3);
    let accepted = ["run", "main", "t", "--agent", "scripted:script.yaml", "--accept-unenforced"];
    session.chronicle(&accepted).exits(0).talks("warning[not-supported-yet]");
    let started = session.events_of("run_started");
    let unenforced = started[0]["data"]["unenforced"].to_string();
    for promise in ["`extra_skills` of phase `a`", "`skills` of persona `turner`", "`max_turns` of"]
    {
        assert!(unenforced.contains(promise), "{unenforced}");
    }
}

#[test]
fn no_run_starts_with_a_persona_whose_list_of_tools_is_not_read() {
    let session = Session::with(
        "phases: [{id: a, persona: scout}]",
        "a:\n  - tool: {name: bash, input: {command: 'true'}}\n  - complete: {summary: done}\n",
    );
    let run = ["run", "main", "t", "--agent", "scripted:script.yaml", "--accept-unenforced"];
    for folder in [".chronicle/personas", ".claude/agents"] {
        let file = format!("{folder}/scout.md");
        session.write(&file, "---\nname: scout\nallowed-tools: read\n---\nYou look.\n");
        let place = format!("{file}:3:1");
        session.chronicle(&["check"]).exits(3).prints("error[unread-tools]").prints(&place);
        session.run().exits(3).talks("did you mean `tools`?").talks(&place);
        session.chronicle(&run).exits(3).talks("error[unread-tools]");
        std::fs::remove_file(session.path(&file)).unwrap();
    }
    assert!(!session.has(".chronicle/runs"), "nothing ran");
}

#[test]
fn a_second_persona_of_the_same_name_is_told_before_a_run() {
    let session =
        Session::with("phases: [{id: a, persona: scout}]", "a:\n  - complete: {summary: done}\n");
    let write = |folder: &str| {
        session.write(&format!("{folder}/aaa.md"), "---\nname: scout\n---\nYou look.\n");
        session.write(&format!("{folder}/scout.md"), "---\ntools: read\n---\nYou look.\n");
    };
    write(".claude/agents");
    session.chronicle(&["check"]).exits(0).prints("warning[duplicate-persona]");
    session.run().exits(0).talks("warning[duplicate-persona]");
    write(".chronicle/personas");
    session.chronicle(&["check"]).exits(3).prints("error[duplicate-persona]");
    session.run().exits(3).talks("error[duplicate-persona]").talks("scout.md");
}

#[test]
fn rules_of_another_program_do_not_keep_everything_from_starting() {
    let session = Session::with("phases: [{id: a}]", "a:\n  - complete: {summary: x}\n");
    let file = ".pi/damage-control-rules.yaml";
    session.write(file, "version: 1\nreadOnlyPaths:\n  - x\n  -\npathOverrides:\n  - {path: y}\n");
    session.run().exits(0);
    session.chronicle(&["list"]).exits(0).prints("an empty item").prints("no exceptions are made");
    session.write(file, "readOnlyPaths: [x]\nreadOnlyPath: [y]\n");
    session.run().exits(3).talks("did you mean `readOnlyPaths`?");
    let accepted = ["run", "main", "t", "--agent", "scripted:script.yaml", "--accept-unenforced"];
    session.chronicle(&accepted).exits(0);
    let unenforced = session.json(&["status"])["unenforced"][0].clone();
    assert!(unenforced.as_str().unwrap().ends_with("rules.yaml` that this version does not know"));
}

#[test]
fn the_worker_of_an_isolated_persona_has_a_home_of_its_own_and_no_other_has() {
    let session = Session::with(
        "phases: [{id: a, persona: apart}, {id: b}]",
        "a: [{shell: {command: 'echo $HOME > a.home'}}, {complete: {}}]
b: [{shell: {command: 'echo $HOME > b.home'}}, {complete: {}}]
",
    );
    session.write(".chronicle/personas/apart.md", "---\nname: apart\nisolated: true\n---\nGo.\n");
    session.run().exits(0);
    let own = session.run_file("home").canonicalize().unwrap();
    assert_eq!(session.read("a.home").trim(), own.to_string_lossy());
    let theirs = session.project().parent().unwrap().join("home");
    assert_eq!(session.read("b.home").trim(), theirs.to_string_lossy());
}
