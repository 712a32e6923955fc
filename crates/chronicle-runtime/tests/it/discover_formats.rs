//! Every format in its place, which of several files is used, and what is said of the others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use chronicle_runtime::for_tests::discover::{self, Builtin, Catalog, Places};
use expect_test::{Expect, expect};

/// A phase in the way of pi-workflows.
const PHASE: &str = "---\nid: a\nname: A\nemoji: x\n---\nDo it.\n";

/// A project and a user, with these files: `proj/…`, `home/…`.
pub(crate) fn lay_out(root: &Path, files: &[(&str, &str)]) -> Places {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let home = root.join("home");
    Places {
        config: Some(home.join(".config")),
        pi: Some(home.join(".pi/agent")),
        home: Some(home),
        ..Places::only(root.join("proj"))
    }
}

/// The catalog as text: each thing with what is told of it.
pub(crate) fn told(catalog: &Catalog, root: &Path) -> String {
    let mut text = String::new();
    for found in &catalog.workflows {
        let state = if found.is_usable { "" } else { " BROKEN" };
        writeln!(text, "{}{state} < {}", found.key, found.origin.path).unwrap();
        for origin in &found.overrides {
            writeln!(text, "  overrides {}", origin.path).unwrap();
        }
        for origin in &found.instead_of {
            writeln!(text, "  instead of {}", origin.path).unwrap();
        }
        for problem in &found.problems {
            writeln!(text, "  {problem}").unwrap();
        }
    }
    for found in &catalog.personas {
        writeln!(text, "persona {} < {}", found.persona.name, found.origin.path).unwrap();
        for origin in &found.overrides {
            writeln!(text, "  overrides {}", origin.path).unwrap();
        }
        for problem in &found.problems {
            writeln!(text, "  {problem}").unwrap();
        }
    }
    for found in &catalog.teams {
        writeln!(text, "team {}: {}", found.team.name, found.team.members.join(" ")).unwrap();
    }
    for found in &catalog.rules {
        writeln!(text, "rules {} < {}", found.read.rules.count(), found.origin.path).unwrap();
        for problem in &found.read.problems {
            writeln!(text, "  {problem}").unwrap();
        }
    }
    for problem in &catalog.problems {
        writeln!(text, "{problem}").unwrap();
    }
    text.replace(&format!("{}/", root.display()), "")
}

fn check(files: &[(&str, &str)], expected: &Expect) {
    let root = tempfile::tempdir().unwrap();
    let catalog = discover::find_in(&lay_out(root.path(), files));
    expected.assert_eq(&told(&catalog, root.path()));
}

#[test]
fn first_come_first_served_and_what_comes_later_is_named() {
    let named = |name: &str| format!("{{name: {name}, phases: {{plan: {{}}}}}}");
    let pi = "name: P\ncommandName: p\ninitialMessage: go\nphases: [a.md]\n";
    check(
        &[
            ("proj/.chronicle/workflows/both.yaml", &named("Own")),
            ("proj/.chronicle/workflows/both/workflow.yaml", &named("Folder")),
            ("proj/.pi/workflows/both/workflow.yaml", pi),
            ("proj/.pi/workflows/both/a.md", PHASE),
            ("proj/.pi/chronicle/workflows/both.json", r#"{"states": {"a": {"persona": "x"}}}"#),
            ("proj/.pi/agents/agent-chain.yaml", "both: {steps: [{agent: x, prompt: y}]}"),
            ("home/.config/chronicle/workflows/both.yaml", &named("User")),
            ("home/.config/chronicle/workflows/mine.yml", &named("Mine")),
            ("home/.pi/agent/workflows/both/workflow.yaml", pi),
            ("home/.pi/agent/workflows/both/a.md", PHASE),
        ],
        &expect![[r#"
            both < proj/.chronicle/workflows/both.yaml
              overrides proj/.chronicle/workflows/both/workflow.yaml
              overrides proj/.pi/workflows/both/workflow.yaml
              overrides proj/.pi/chronicle/workflows/both.json
              overrides proj/.pi/agents/agent-chain.yaml
              overrides home/.config/chronicle/workflows/both.yaml
              overrides home/.pi/agent/workflows/both/workflow.yaml
            mine < home/.config/chronicle/workflows/mine.yml
        "#]],
    );
}

#[test]
fn a_bad_file_hides_neither_a_good_one_of_its_name_nor_any_other() {
    check(
        &[
            ("proj/.chronicle/workflows/both.yaml", "name: [\n"),
            ("proj/.chronicle/workflows/calls.yaml", "phases: [{workflow: both}]"),
            ("proj/.chronicle/workflows/lost.yaml", "phases: [{workflow: nobody}]"),
            ("proj/.chronicle/workflows/later.yaml", "phases: [{workflow: lost}]"),
            ("home/.config/chronicle/workflows/both.yaml", "phases: [{id: a}]"),
        ],
        &expect![[r#"
            both < home/.config/chronicle/workflows/both.yaml
              instead of proj/.chronicle/workflows/both.yaml
              error[syntax] proj/.chronicle/workflows/both.yaml:1:7: not readable as YAML: unclosed bracket '['
            calls < proj/.chronicle/workflows/calls.yaml
            later BROKEN < proj/.chronicle/workflows/later.yaml
              error[broken-workflow] proj/.chronicle/workflows/later.yaml:1:21: `lost` cannot run: it has errors
              error[workflow-not-found] proj/.chronicle/workflows/lost.yaml:1:21: no workflow is called `nobody` (hint: `chronicle list` shows the workflows)
            lost BROKEN < proj/.chronicle/workflows/lost.yaml
              error[workflow-not-found] proj/.chronicle/workflows/lost.yaml:1:21: no workflow is called `nobody` (hint: `chronicle list` shows the workflows)
        "#]],
    );
}

#[test]
fn what_would_run_itself_gives_way_to_a_good_one_of_the_user() {
    check(
        &[
            ("proj/.chronicle/workflows/a.yaml", "phases: [{workflow: b}]"),
            ("proj/.chronicle/workflows/b.yaml", "phases: [{workflow: a}]"),
            ("home/.config/chronicle/workflows/b.yaml", "phases: [{id: x}]"),
        ],
        &expect![[r#"
            a < proj/.chronicle/workflows/a.yaml
            b < home/.config/chronicle/workflows/b.yaml
              instead of proj/.chronicle/workflows/b.yaml
              error[broken-inside] proj/.chronicle/workflows/b.yaml: what it runs inside it is missing, broken, or itself
        "#]],
    );
}

#[test]
fn phases_of_files_are_told_of_in_their_own_files() {
    check(
        &[
            (
                "proj/.chronicle/workflows/w/workflow.yaml",
                "phases: [plan.md, {id: b}, {workflow: s}, gone.md, ../../x.md]",
            ),
            ("proj/.chronicle/workflows/w/plan.md", "---\nname: Plan\nnxet: b\n---\nPlan it.\n"),
            ("proj/.chronicle/workflows/s.yaml", "phases: {one: s/one.md, two: s/two.md}"),
            ("proj/.chronicle/workflows/s/one.md", "No fields at all.\n"),
            ("proj/.chronicle/workflows/s/two.md", "---\nnext: [\n---\n"),
            ("proj/.chronicle/x.md", "outside"),
        ],
        &expect![[r#"
            s BROKEN < proj/.chronicle/workflows/s.yaml
              error[syntax] proj/.chronicle/workflows/s/two.md:2:7: not readable as YAML: unclosed bracket '['
            w BROKEN < proj/.chronicle/workflows/w/workflow.yaml
              error[broken-workflow] proj/.chronicle/workflows/w/workflow.yaml:1:39: `s` cannot run: it has errors
              error[not-found] proj/.chronicle/workflows/w/workflow.yaml:1:43: the phase file `gone.md`: there is no such file
              error[path-escape] proj/.chronicle/workflows/w/workflow.yaml:1:52: the file `../../x.md` is outside of the workflows' folder (hint: put it beside the workflow)
              error[unknown-field] proj/.chronicle/workflows/w/plan.md:3:1: a phase has no field `nxet` (hint: did you mean `next`?)
              error[syntax] proj/.chronicle/workflows/s/two.md:2:7: not readable as YAML: unclosed bracket '['
        "#]],
    );
}

#[test]
fn links_are_followed_inside_and_refused_outside() {
    let root = tempfile::tempdir().unwrap();
    let pi = "name: P\ncommandName: p\ninitialMessage: go\nphases: [a.md]\n";
    let files = [
        ("proj/.pi/workflows/inside/workflow.yaml", pi),
        ("proj/.pi/workflows/outside/workflow.yaml", pi),
        ("proj/.pi/workflows/dangling/workflow.yaml", pi),
        ("proj/.pi/workflows/_shared/nested/workflow.yaml", pi),
        ("proj/.pi/workflows/_shared/nested/a.md", PHASE),
        ("elsewhere/linked/workflow.yaml", pi),
        ("elsewhere/linked/a.md", PHASE),
    ];
    let places = lay_out(root.path(), &files);
    let folder = root.path().join("proj/.pi/workflows");
    symlink("../_shared/nested/a.md", folder.join("inside/a.md")).unwrap();
    symlink(root.path().join("elsewhere/linked/a.md"), folder.join("outside/a.md")).unwrap();
    symlink("nowhere.md", folder.join("dangling/a.md")).unwrap();
    symlink(root.path().join("elsewhere/linked"), folder.join("linked")).unwrap();
    symlink("nowhere", folder.join("gone")).unwrap();
    expect![[r#"
        dangling BROKEN < proj/.pi/workflows/dangling/workflow.yaml
          error[not-found] proj/.pi/workflows/dangling/workflow.yaml:4:10: the phase file `a.md`: there is no such file
        inside < proj/.pi/workflows/inside/workflow.yaml
        linked < proj/.pi/workflows/linked/workflow.yaml
          warning[duplicate-command] proj/.pi/workflows/linked/workflow.yaml: the command `p` starts `inside`, which comes first
        outside BROKEN < proj/.pi/workflows/outside/workflow.yaml
          error[path-escape] proj/.pi/workflows/outside/workflow.yaml:4:10: the file `a.md` is outside of the workflows' folder (hint: put it beside the workflow)
        nested < proj/.pi/workflows/_shared/nested/workflow.yaml
          warning[duplicate-command] proj/.pi/workflows/_shared/nested/workflow.yaml: the command `p` starts `inside`, which comes first
    "#]].assert_eq(&told(&discover::find_in(&places), root.path()));
}

#[test]
fn personas_teams_and_rules_of_the_project_come_first() {
    check(
        &[
            ("proj/.chronicle/personas/planner.md", "---\nname: Planner\n---\nOurs."),
            ("proj/.claude/agents/planner.md", "---\nname: planner\n---\nTheirs."),
            ("proj/.pi/agents/scout.md", "---\ndescription: looks\ntools: read, grep\n---\nLook."),
            ("proj/.pi/agents/README.md", "# No persona\n"),
            ("proj/.pi/agents/odd.md", "---\nname: odd\nshoes: 9\n---\n"),
            ("proj/.pi/agents/open.md", "---\nname: open\n"),
            (
                "proj/.pi/agents/teams.yaml",
                "# Teams:\nsmall: [scout]\nbig: {agents: [scout, planner], not_covered: [tea]}\n",
            ),
            ("home/.config/chronicle/teams.yaml", "teams: {small: [nobody], mine: [planner]}"),
            (
                "home/.pi/agent/agent-profiles/deep.md",
                "---\nprovider: p\nmodel: m\nthinkingLevel: high\n---\n",
            ),
            (
                "proj/.pi/damage-control-rules.yaml",
                "bashToolPatterns: [{pattern: 'a(?!b)', reason: r}]\nreadOnlyPaths: [x]\n",
            ),
            ("home/.pi/damage-control-rules.yaml", "readOnlyPaths: [a, b, c]"),
        ],
        &expect![[r#"
            persona Planner < proj/.chronicle/personas/planner.md
              overrides proj/.claude/agents/planner.md
            persona odd < proj/.pi/agents/odd.md
              note[unknown-field] proj/.pi/agents/odd.md:3:1: a persona has no field `shoes`: it is ignored
            persona scout < proj/.pi/agents/scout.md
            persona deep < home/.pi/agent/agent-profiles/deep.md
            team small: scout
            team big: scout planner
            team mine: planner
            rules 2 < proj/.pi/damage-control-rules.yaml
            note[not-a-persona] proj/.pi/agents/README.md: no fields before the text: it is no persona
            error[bad-frontmatter] proj/.pi/agents/open.md:1:1: the fields begun with `---` have no end (hint: end them with a line `---`)
        "#]],
    );
}

#[test]
fn what_is_built_in_comes_last() {
    const WORKFLOWS: &[Builtin] = &[
        Builtin { path: "one.yaml", text: "phases: [{id: a}]" },
        Builtin { path: "two/workflow.yaml", text: "phases: [plan.md]" },
        Builtin { path: "two/plan.md", text: "Plan." },
    ];
    const PERSONAS: &[Builtin] = &[Builtin { path: "scout.md", text: "---\nname: scout\n---\n" }];
    let root = tempfile::tempdir().unwrap();
    let files = [("proj/.chronicle/workflows/one.yaml", "phases: [{id: mine}]")];
    let places =
        Places { workflows: WORKFLOWS, personas: PERSONAS, ..lay_out(root.path(), &files) };
    let catalog = discover::find_in(&places);
    expect![[r#"
        one < proj/.chronicle/workflows/one.yaml
          overrides built-in one.yaml
        two < built-in two/workflow.yaml
        persona scout < built-in scout.md
    "#]]
    .assert_eq(&told(&catalog, root.path()));
    let loaded = catalog.named(&places, "two").unwrap();
    assert_eq!(loaded.workflows[0].phases[0].instructions, "Plan.");
    assert_eq!(loaded.workflows[0].phases[0].id.as_str(), "plan");
}

#[test]
fn a_command_is_another_name_and_the_first_of_two_counts() {
    let pi = "name: P\ncommandName: go\ninitialMessage: go\nphases: [a.md]\n";
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("home/.pi/agent/workflows/x/workflow.yaml", pi),
        ("home/.pi/agent/workflows/x/a.md", PHASE),
        ("proj/.pi/workflows/b/workflow.yaml", pi),
        ("proj/.pi/workflows/b/a.md", PHASE),
    ];
    let places = lay_out(root.path(), &files);
    let catalog = discover::find_in(&places);
    assert_eq!(catalog.named(&places, "go").unwrap().workflows[0].key, "x");
    expect![[r#"
        x < home/.pi/agent/workflows/x/workflow.yaml
        b < proj/.pi/workflows/b/workflow.yaml
          warning[duplicate-command] proj/.pi/workflows/b/workflow.yaml: the command `go` starts `x`, which comes first
    "#]].assert_eq(&told(&catalog, root.path()));
}

#[test]
fn a_thousand_workflows_are_listed_in_their_order() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("proj/.chronicle/workflows");
    fs::create_dir_all(&folder).unwrap();
    let names: Vec<String> = (0..1_000).map(|index| format!("w{index:03}")).collect();
    for name in &names {
        fs::write(folder.join(format!("{name}.yaml")), "phases: [{id: a}]").unwrap();
    }
    let catalog = discover::find_in(&Places::only(root.path().join("proj")));
    assert_eq!(catalog.keys(), names);
    assert!(catalog.workflows.iter().all(|found| found.is_usable));
}

#[test]
fn the_chronicles_own_example_loads_with_its_undefined_state() {
    let template = r#"{"name": "f", "states": {
        "planning": {"persona": "Plan.", "next": ["implementation"], "requires_approval": true},
        "implementation": {"agent": "builder", "persona": "unused", "tools": "read, edit", "next": ["verification", "planning"], "extra_skills": ["x"], "timeout_minutes": 20}
    }}"#;
    let root = tempfile::tempdir().unwrap();
    let places = lay_out(root.path(), &[("proj/.pi/chronicle/workflows/f.json", template)]);
    let catalog = discover::find_in(&places);
    expect![[r#"
        f < proj/.pi/chronicle/workflows/f.json
          warning[conflicting-fields] proj/.pi/chronicle/workflows/f.json:3:48: `agent` names the persona: this text is not used
          warning[implicit-phase] proj/.pi/chronicle/workflows/f.json:3:101: no phase is called `verification`: a worker with that persona is added
          warning[unused-field] proj/.pi/chronicle/workflows/f.json:3:130: `extra_skills` is not used here
    "#]].assert_eq(&told(&catalog, root.path()));
    let workflow = catalog.named(&places, "f").unwrap().workflows.remove(0);
    let ids: Vec<&str> = workflow.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(ids, ["planning", "implementation", "verification"]);
    assert_eq!(workflow.initial.as_str(), "planning");
    let built = &workflow.phases[1];
    assert_eq!((built.persona.as_deref(), built.agent.as_deref()), (Some("builder"), None));
    assert_eq!(built.tools.allow.as_deref().unwrap(), ["read", "edit"]);
    assert_eq!(built.limits.timeout_ms, Some(20 * 60_000));
}
