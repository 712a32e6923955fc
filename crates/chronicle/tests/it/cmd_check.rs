//! `chronicle check`: everything that is wrong, where it is, and how it ends.

use std::fs;

use expect_test::expect;

use crate::session::Session;

const GOOD: &str = "{name: Good, limits: {timeout: 1h}, agent: 'command:true', phases: {work: }}";

#[test]
fn all_problems_are_told_at_once_with_their_lines() {
    let session = Session::new();
    session.write(
        ".chronicle/workflows/main.yaml",
        "name: Main\nagent: claud\nlimits: {timeout: 1h}\nphases:\n  plan: {next: [biuld]}\n  build: {instrctions: x, next: [plan]}\n",
    );
    let said = session.chronicle(&["check"]).exits(3);
    let project = session.project().display().to_string();
    expect![[r#"
        error[unknown-target]: no phase is called `biuld`
         --> PROJECT/.chronicle/workflows/main.yaml:5:17
          |
        5 |   plan: {next: [biuld]}
          |                 ^^^^^
          |
          = help: did you mean `build`?

        warning[unreachable-phase]: no edge leads to `build`
         --> PROJECT/.chronicle/workflows/main.yaml:6:3
          |
        6 |   build: {instrctions: x, next: [plan]}
          |   ^^^^^

        error[unknown-field]: a phase has no field `instrctions`
         --> PROJECT/.chronicle/workflows/main.yaml:6:11
          |
        6 |   build: {instrctions: x, next: [plan]}
          |           ^^^^^^^^^^^
          |
          = help: did you mean `instructions`?

        error[unknown-agent]: agent `claud` is not known; known agents: `claude`, `pi`, `scripted:SCRIPT`, `command:PROGRAM ARGS`
         --> PROJECT/.chronicle/workflows/main.yaml:2:1
          |
        2 | agent: claud
          | ^^^^^
          |
          = help: did you mean `claude`?

        ✗ main  2 phases  PROJECT/.chronicle/workflows/main.yaml

        1 workflow: 3 errors, 1 warning, 0 notes
    "#]].assert_eq(&said.stdout.replace(&project, "PROJECT"));
}

#[test]
fn one_bad_file_never_hides_the_good_ones() {
    let session = Session::new();
    session.write(".chronicle/workflows/good.yaml", GOOD);
    session.write(".chronicle/workflows/bad.yaml", "phases: [");
    session.write(".chronicle/workflows/binary.yaml", [0xff, 0xfe, 0x00, 0x80]);
    let said = session.chronicle(&["check"]).exits(3);
    let said = said.prints("✓ good").prints("✗ bad").prints("✗ binary").prints("error[not-text]");
    said.prints("3 workflows: 2 errors");
    session.chronicle(&["check", "good"]).exits(0).prints("1 workflow: 0 errors");
    session.chronicle(&["check", ".chronicle/workflows/good.yaml"]).exits(0);
}

#[test]
fn warnings_are_errors_when_it_is_strict() {
    let session = Session::new();
    let warned = GOOD.replace("{work: }", "{work: {on: {postponed: done}}}");
    session.write(".chronicle/workflows/main.yaml", warned);
    session.chronicle(&["check"]).exits(0).prints("warning[unknown-outcome]").prints("✓ main");
    session.chronicle(&["check", "--strict"]).exits(3).prints("error[unknown-outcome]").prints("✗");
}

#[test]
fn what_runs_unbounded_is_a_note_and_no_more() {
    let session = Session::new();
    let text = |limits: &str| format!("{{agent: 'command:true', {limits} phases: {{work: }}}}");
    session.write(".chronicle/workflows/main.yaml", text(""));
    session.chronicle(&["check"]).exits(0).prints("0 notes");
    session.write(".chronicle/workflows/main.yaml", text("limits: {standstill: none},"));
    let said = session.chronicle(&["check", "--strict"]).exits(0);
    said.prints("note[unbounded]: nothing bounds how long `work` may work").prints("1 note");
}

#[test]
fn a_word_that_starts_two_workflows_is_told_at_the_second() {
    let session = Session::new();
    for name in ["one", "two"] {
        let text = GOOD.replace("name: Good", "name: Good, commandName: go");
        session.write(&format!(".chronicle/workflows/{name}.yaml"), text);
    }
    let said = session.chronicle(&["check"]).exits(0).prints("warning[duplicate-command]");
    assert_eq!(said.stdout.matches("duplicate-command").count(), 1);
    said.prints("`go` starts this workflow as `one` does").prints("two.yaml:1");
}

#[test]
fn what_is_wrong_inside_is_told_once_and_breaks_those_outside() {
    let session = Session::new();
    session.write(".chronicle/workflows/inner.yaml", "{phases: {a: {colour: red}}}");
    session.write(".chronicle/workflows/middle.yaml", "{phases: {m: {workflow: inner}}}");
    session.write(".chronicle/workflows/outer.yaml", "{phases: {o: {workflow: middle}}}");
    let said = session.chronicle(&["check"]).exits(3);
    assert_eq!(said.stdout.matches("error[unknown-field]").count(), 1, "{}", said.stdout);
    let said = said.prints("`inner` cannot run").prints("`middle` cannot run");
    said.prints("✗ inner").prints("✗ middle").prints("✗ outer");
}

#[test]
fn a_machine_reads_the_same() {
    let session = Session::new();
    session.write(".chronicle/workflows/main.yaml", "phases: {a: {instrctions: x}}\n");
    let said = session.chronicle(&["check", "--json"]).exits(3);
    let json = said.json();
    assert_eq!(json["version"], 2);
    assert_eq!(json["workflows"][0]["usable"], false);
    let problem = &json["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["severity"], &problem["line"], &problem["column"]),
        (&"unknown-field".into(), &"error".into(), &1.into(), &14.into())
    );
    assert_eq!(problem["hint"], "did you mean `instructions`?");
}

#[test]
fn an_unknown_name_says_what_was_meant() {
    let session = Session::new();
    session.write(".chronicle/workflows/feature.yaml", GOOD);
    let said = session.chronicle(&["check", "featrue"]).exits(2);
    assert!(said.stderr.contains("Hint: did you mean `feature`?"), "{}", said.stderr);
    let said = Session::new().chronicle(&["check"]).exits(0);
    assert!(said.stderr.contains("No workflows here"), "{}", said.stderr);
}

#[test]
fn a_folder_named_like_a_file_is_told() {
    let session = Session::new();
    fs::create_dir_all(session.path("dir.yaml")).unwrap();
    session.chronicle(&["check", "./dir.yaml"]).exits(3).prints("error[not-a-file]");
}

#[test]
fn problems_of_personas_teams_and_rules_are_told_with_their_lines() {
    let session = Session::new();
    session.write(".chronicle/workflows/good.yaml", GOOD);
    session.write(".chronicle/personas/odd.md", "---\nname: odd\nhat: tall\n---\nYou look.\n");
    session.write(".chronicle/personas/open.md", "---\nname: open\n");
    session.write(".chronicle/teams.yaml", "# ours\nmakers: [odd, ood]\n");
    session.write(".chronicle/rules.yaml", "readOnlyPath:\n  - a\n");
    session.write("agents/agent-chain.yaml", "# none\n- plan\n");
    let said = session.chronicle(&["check"]).exits(3);
    let project = session.project().display().to_string();
    expect![[r#"
        error[not-a-chain]: not a map of chains
         --> PROJECT/agents/agent-chain.yaml:2:1
          |
        2 | - plan
          | ^
          |
          = help: write `name: {description: …, steps: [{agent: …, prompt: …}]}`

        warning[unknown-persona]: no persona is called `ood`: the team lacks it
         --> PROJECT/.chronicle/teams.yaml:2:15
          |
        2 | makers: [odd, ood]
          |               ^^^
          |
          = help: did you mean `odd`?

        note[unknown-field]: a persona has no field `hat`: it is ignored
         --> PROJECT/.chronicle/personas/odd.md:3:1
          |
        3 | hat: tall
          | ^^^

        error[bad-frontmatter]: the fields begun with `---` have no end
         --> PROJECT/.chronicle/personas/open.md:1:1
          |
        1 | ---
          | ^^^
          |
          = help: end them with a line `---`

        error[unknown-field]: no kind of rule is called `readOnlyPath`
         --> PROJECT/.chronicle/rules.yaml:1:1
          |
        1 | readOnlyPath:
          | ^^^^^^^^^^^^
          |
          = help: did you mean `readOnlyPaths`?

        ✓ good  1 phase  PROJECT/.chronicle/workflows/good.yaml

        1 workflow: 3 errors, 1 warning, 1 note
    "#]]
    .assert_eq(&said.stdout.replace(&project, "PROJECT"));
    let chains = session.chronicle(&["check", "agents/agent-chain.yaml"]).exits(3);
    chains.prints("agents/agent-chain.yaml:2:1");
}

#[test]
fn files_that_other_programs_pass_over_are_told() {
    let session = Session::new();
    session.write(".chronicle/workflows/good.yaml", GOOD);
    session.write(".pi/workflows/ship.yaml", "name: Ship\n");
    session.write(".pi/workflows/notes.md", "no workflow\n");
    session.write(".pi/workflows/old/workflow.yml", "name: Old\n");
    session.write(".pi/chronicle/workflows/late.yaml", "name: Late\n");
    let said = session.chronicle(&["check", "--strict"]).exits(0);
    let project = session.project().display().to_string();
    expect![[r#"
        note[not-read]: not read: a workflow of pi-workflows is a folder with `workflow.yaml`
        --> PROJECT/.pi/workflows/old/workflow.yml
         = help: if it is one, call it `workflow.yaml`

        note[not-read]: not read: a workflow of pi-workflows is a folder with `workflow.yaml`
        --> PROJECT/.pi/workflows/ship.yaml
         = help: if it is one, move it to `ship/workflow.yaml`

        note[not-read]: not read: a workflow of The Chronicle is a `.json` file
        --> PROJECT/.pi/chronicle/workflows/late.yaml

        ✓ good  1 phase  PROJECT/.chronicle/workflows/good.yaml

        1 workflow: 0 errors, 0 warnings, 3 notes
    "#]]
    .assert_eq(&said.stdout.replace(&project, "PROJECT"));
    let listed = session.chronicle(&["list"]).exits(0);
    listed.prints("note[not-read] .pi/workflows/ship.yaml: not read");
}

#[test]
fn personas_of_one_name_in_several_folders_are_told_with_both_files() {
    let session = Session::new();
    session.write(".claude/agents/scout.md", "---\nname: scout\n---\nLook.\n");
    session.write(".pi/agents/scout.md", "---\nname: scout\ntools: read\n---\nLook.\n");
    for command in ["check", "doctor", "list"] {
        let said = session.chronicle(&[command]).stdout;
        let text = "/.claude/agents/scout.md` is called `scout` too, and comes first";
        let text = if command == "list" { &text[1..] } else { text };
        // A narrow page is broken between words.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(text) && said.contains(".pi/agents/scout.md"), "{command}: {said}");
    }
}

#[test]
fn a_persona_that_cannot_be_read_refuses_the_run_that_uses_it() {
    let session = Session::new();
    session.write(".chronicle/workflows/plan.yaml", "phases: {plan: {persona: planner}}\n");
    session.write(".chronicle/personas/planner.md", "---\ntools: read\nYou plan.\n");
    let said = session.chronicle(&["run", "plan", "x"]).exits(3);
    said.talks("personas/planner.md:1:1").talks("bad-frontmatter");
}
