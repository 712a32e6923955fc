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
    for problem in &catalog.problems.list {
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
fn a_broken_file_is_never_swapped_for_another_of_its_name_and_hides_no_other() {
    check(
        &[
            ("proj/.chronicle/workflows/both.yaml", "name: [\n"),
            ("proj/.chronicle/workflows/calls.yaml", "phases: [{workflow: both}]"),
            ("proj/.chronicle/workflows/lost.yaml", "phases: [{workflow: nobody}]"),
            ("proj/.chronicle/workflows/later.yaml", "phases: [{workflow: lost}]"),
            ("home/.config/chronicle/workflows/both.yaml", "phases: [{id: a}]"),
        ],
        &expect![[r#"
            both BROKEN < proj/.chronicle/workflows/both.yaml
              overrides home/.config/chronicle/workflows/both.yaml
              error[syntax] proj/.chronicle/workflows/both.yaml:1:7: not readable as YAML: unclosed bracket '['
            calls BROKEN < proj/.chronicle/workflows/calls.yaml
              error[broken-workflow] proj/.chronicle/workflows/calls.yaml:1:21: `both` cannot run: it has errors
              error[syntax] proj/.chronicle/workflows/both.yaml:1:7: not readable as YAML: unclosed bracket '['
            later BROKEN < proj/.chronicle/workflows/later.yaml
              error[broken-workflow] proj/.chronicle/workflows/later.yaml:1:21: `lost` cannot run: it has errors
              error[workflow-not-found] proj/.chronicle/workflows/lost.yaml:1:21: no workflow is called `nobody` (hint: `chronicle list` shows the workflows)
            lost BROKEN < proj/.chronicle/workflows/lost.yaml
              error[workflow-not-found] proj/.chronicle/workflows/lost.yaml:1:21: no workflow is called `nobody` (hint: `chronicle list` shows the workflows)
        "#]],
    );
}

#[test]
fn what_would_run_itself_is_not_swapped_for_one_of_the_user() {
    check(
        &[
            ("proj/.chronicle/workflows/a.yaml", "phases: [{workflow: b}]"),
            ("proj/.chronicle/workflows/b.yaml", "phases: [{workflow: a}]"),
            ("home/.config/chronicle/workflows/b.yaml", "phases: [{id: x}]"),
        ],
        &expect![[r#"
            a BROKEN < proj/.chronicle/workflows/a.yaml
              error[workflow-cycle] proj/.chronicle/workflows/b.yaml:1:21: `a` would run itself: `a` → `b` → `a`
            b BROKEN < proj/.chronicle/workflows/b.yaml
              overrides home/.config/chronicle/workflows/b.yaml
              error[workflow-cycle] proj/.chronicle/workflows/a.yaml:1:21: `b` would run itself: `b` → `a` → `b`
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
fn two_personas_of_one_name_in_one_folder_are_told() {
    let (loose, scout) = ("---\nname: scout\n---\nLook.", "---\ntools: read\n---\nLook.");
    check(
        &[
            ("proj/.chronicle/personas/aaa.md", loose),
            ("proj/.chronicle/personas/scout.md", scout),
            ("proj/.claude/agents/deep/seer.md", scout),
            ("proj/.claude/agents/seer.md", scout),
            ("proj/.claude/agents/scout.md", scout),
            ("proj/.pi/agents/seer.md", scout),
        ],
        &expect![[r#"
            persona scout < proj/.chronicle/personas/aaa.md
              overrides proj/.chronicle/personas/scout.md
              overrides proj/.claude/agents/scout.md
              error[duplicate-persona] proj/.chronicle/personas/scout.md: `proj/.chronicle/personas/aaa.md` is called `scout` too, and comes first (hint: rename or delete one of them)
              warning[duplicate-persona] proj/.claude/agents/scout.md: `proj/.chronicle/personas/aaa.md` is called `scout` too, and comes first (hint: rename or delete one of them)
            persona seer < proj/.claude/agents/seer.md
              overrides proj/.claude/agents/deep/seer.md
              overrides proj/.pi/agents/seer.md
              warning[duplicate-persona] proj/.claude/agents/deep/seer.md: `proj/.claude/agents/seer.md` is called `seer` too, and comes first (hint: rename or delete one of them)
              warning[duplicate-persona] proj/.pi/agents/seer.md: `proj/.claude/agents/seer.md` is called `seer` too, and comes first (hint: rename or delete one of them)
        "#]],
    );
}

#[test]
fn a_persona_that_cannot_be_read_is_never_swapped_for_another() {
    const PERSONAS: &[Builtin] = &[
        Builtin { path: "planner.md", text: "---\nname: planner\n---\n" },
        Builtin { path: "scout.md", text: "---\nname: scout\n---\n" },
        Builtin { path: "fixer.md", text: "---\nname: fixer\n---\n" },
        Builtin { path: "empty.md", text: "---\nname: empty\n---\n" },
    ];
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("proj/.chronicle/workflows/w.yaml", "phases: {plan: {persona: planner}}"),
        ("proj/.chronicle/workflows/v.yaml", "phases: {plan: {persona: scout}}"),
        ("proj/.chronicle/workflows/u.yaml", "phases: {plan: {persona: fixer}}"),
        ("proj/.chronicle/workflows/e.yaml", "phases: {plan: {persona: empty}}"),
        // Its name is the file's or `scout`: neither may be another persona.
        ("proj/.chronicle/personas/planner.md", "\n---\nname: scout\ntools: read\nPlan.\n"),
        ("proj/.chronicle/personas/empty.md", "\n"),
        ("home/.config/chronicle/personas/planner.md", "---\n---\nUser's."),
    ];
    let places = Places { personas: PERSONAS, ..lay_out(root.path(), &files) };
    let unclosed = "error[bad-frontmatter] proj/.chronicle/personas/planner.md:2:1: the fields begun with `---` have no end";
    let catalog = discover::find_in(&places);
    let told = |name: &str| {
        let problems = catalog.named(&places, name).unwrap().problems;
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        text.join("\n").replace(&format!("{}/", root.path().display()), "")
    };
    let hidden = "error[hidden-persona] home/.config/chronicle/personas/planner.md: `proj/.chronicle/personas/planner.md` comes first, cannot be read, and may be `planner`";
    assert!(told("w").contains(hidden), "{}", told("w"));
    assert!(told("v").contains(unclosed), "{}", told("v"));
    assert!(
        told("e").contains("error[empty-file] proj/.chronicle/personas/empty.md"),
        "{}",
        told("e")
    );
    assert_eq!(told("u"), "", "others are used");
    // What cannot be opened may have any name.
    let odd = root.path().join("proj/.claude/agents/odd.md");
    fs::create_dir_all(odd.parent().unwrap()).unwrap();
    fs::write(&odd, b"---\nname: fixer\xff\n---\n").unwrap();
    let catalog = discover::find_in(&places);
    let problems = catalog.named(&places, "u").unwrap().problems;
    assert_eq!(problems.iter().map(|it| it.code).collect::<Vec<_>>(), ["hidden-persona"]);
}

#[test]
fn other_endings_and_folders_are_read_or_told() {
    check(
        &[
            ("proj/.chronicle/workflows/a/workflow.yml", "phases: {one: {}}"),
            ("proj/.chronicle/workflows/b/workflow.json", r#"{"phases": {"one": {}}}"#),
            ("proj/.chronicle/workflows/c/feature.yaml", "phases: {one: {}}"),
            ("proj/.chronicle/workflows/c/plan.md", "Plan."),
            ("proj/.pi/workflows/_shared/d/workflow.yml", "name: D"),
            ("proj/agents/agent-chain.yml", "chain: {steps: [{agent: x, prompt: y}]}"),
            ("proj/agents/x.md", "---\n---\nX."),
            ("proj/agents/teams.yml", "small: [x]"),
            ("proj/.chronicle/rules.yml", "readOnlyPaths: [a]"),
        ],
        &expect![[r#"
            a < proj/.chronicle/workflows/a/workflow.yml
            b < proj/.chronicle/workflows/b/workflow.json
            chain < proj/agents/agent-chain.yml
            persona x < proj/agents/x.md
            team small: x
            rules 1 < proj/.chronicle/rules.yml
            note[not-read] proj/.chronicle/workflows/c/feature.yaml: not read: a workflow is a file in `workflows`, or a folder with `workflow.yaml` (hint: if it is one, move it one folder up, or call it `workflow.yaml`)
            note[not-read] proj/.pi/workflows/_shared/d/workflow.yml: not read: a workflow of pi-workflows is a folder with `workflow.yaml` (hint: if it is one, call it `workflow.yaml`)
        "#]],
    );
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
              warning[duplicate-persona] proj/.claude/agents/planner.md: `proj/.chronicle/personas/planner.md` is called `Planner` too, and comes first (hint: rename or delete one of them)
            persona odd < proj/.pi/agents/odd.md
              note[unknown-field] proj/.pi/agents/odd.md:3:1: a persona has no field `shoes`: it is ignored
            persona open < proj/.pi/agents/open.md
              error[bad-frontmatter] proj/.pi/agents/open.md:1:1: the fields begun with `---` have no end (hint: end them with a line `---`)
            persona scout < proj/.pi/agents/scout.md
            persona deep < home/.pi/agent/agent-profiles/deep.md
            team small: scout
            team big: scout planner
            team mine: planner
            rules 2 < proj/.pi/damage-control-rules.yaml
            note[not-a-persona] proj/.pi/agents/README.md: no fields before the text: it is no persona
            warning[unknown-persona] home/.config/chronicle/teams.yaml:1:17: no persona is called `nobody`: the team lacks it
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
        "implementation": {"agent": "builder", "persona": "unused", "tools": "read, edit", "next": ["verification", "planning"], "timeout_minutes": 20}
    }}"#;
    let root = tempfile::tempdir().unwrap();
    let places = lay_out(root.path(), &[("proj/.pi/chronicle/workflows/f.json", template)]);
    let catalog = discover::find_in(&places);
    expect![[r#"
        f < proj/.pi/chronicle/workflows/f.json
          warning[unknown-persona] proj/.pi/chronicle/workflows/f.json:2:22: no persona is called `Plan.`: the worker may only read (hint: `chronicle list` shows the personas; a text has several words)
          warning[unknown-persona] proj/.pi/chronicle/workflows/f.json:3:28: no persona is called `builder`: the worker may only read (hint: `chronicle list` shows the personas; a text has several words)
          warning[conflicting-fields] proj/.pi/chronicle/workflows/f.json:3:48: `agent` names the persona: this text is not used
          warning[implicit-phase] proj/.pi/chronicle/workflows/f.json:3:101: no state is called `verification`: a worker that may only read is added
    "#]].assert_eq(&told(&catalog, root.path()));
    let workflow = catalog.named(&places, "f").unwrap().workflows.remove(0);
    let ids: Vec<&str> = workflow.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!(ids, ["planning", "implementation", "verification"]);
    assert_eq!(workflow.initial.as_str(), "planning");
    let built = &workflow.phases[1];
    assert_eq!((built.persona.as_deref(), built.agent.as_deref()), (None, None));
    let implicit = &workflow.phases[2];
    assert_eq!(implicit.tools.allow.as_deref().unwrap(), ["read", "grep", "find", "ls", "glob"]);
    assert_eq!(built.tools.allow.as_deref().unwrap(), ["read"]);
    assert_eq!(built.limits.timeout_ms, Some(20 * 60_000));
}

#[test]
fn a_restriction_in_another_spelling_is_an_error_in_files_of_other_programs_too() {
    let pi = "name: P\ncommandName: p\ninitialMessage: go\nphases: [a.md]\n";
    for head in [
        "Tools: {blacklist: [bash]}",
        "tools: {blackList: [bash]}",
        "tools: [read]",
        "tools: {blacklist: {bash: true}}",
        "blacklist: [bash]",
        "allowed_tools: [read]",
    ] {
        let root = tempfile::tempdir().unwrap();
        let phase = format!("---\nid: a\nname: A\nemoji: x\n{head}\n---\nDo it.\n");
        let files =
            [("proj/.pi/workflows/p/workflow.yaml", pi), ("proj/.pi/workflows/p/a.md", &phase)];
        let catalog = discover::find_in(&lay_out(root.path(), &files));
        assert!(!catalog.workflows[0].is_usable, "{head}: {}", told(&catalog, root.path()));
    }
    for field in [
        r#""Tools": "read""#,
        r#""allowed_tools": "read""#,
        r#""requiresApproval": true"#,
        r#""requires_aproval": true"#,
    ] {
        let root = tempfile::tempdir().unwrap();
        let text = format!(
            r#"{{"name": "f", "states": {{"a": {{"persona": "Plan it well.", {field}}}}}}}"#
        );
        let places = lay_out(root.path(), &[("proj/.pi/chronicle/workflows/f.json", &text)]);
        let catalog = discover::find_in(&places);
        assert!(!catalog.workflows[0].is_usable, "{field}: {}", told(&catalog, root.path()));
    }
}

#[test]
fn a_place_that_cannot_be_read_lets_nothing_else_run_in_its_stead() {
    const WORKFLOWS: &[Builtin] = &[
        Builtin { path: "one.yaml", text: "phases: [{id: a}]" },
        Builtin { path: "two.yaml", text: "phases: [{workflow: one}]" },
    ];
    let root = tempfile::tempdir().unwrap();
    // A file where a folder should be: nobody can look into it, not even the superuser.
    let files = [("proj/.chronicle/workflows", "no folder")];
    let places = Places { workflows: WORKFLOWS, ..lay_out(root.path(), &files) };
    let catalog = discover::find_in(&places);
    expect![[r#"
        one BROKEN < built-in one.yaml
          error[hidden-workflow] built-in one.yaml: `proj/.chronicle/workflows` comes first, cannot be read, and may hold `one` (hint: make that one readable)
        two BROKEN < built-in two.yaml
          error[hidden-workflow] built-in two.yaml: `proj/.chronicle/workflows` comes first, cannot be read, and may hold `two` (hint: make that one readable)
        error[unreadable] proj/.chronicle/workflows: cannot be read: Not a directory (os error 20)
    "#]].assert_eq(&told(&catalog, root.path()));
    assert!(!catalog.named(&places, "one").unwrap().is_usable());

    // Chains that make no sense may be called as any workflow whose name stands in the file.
    fs::remove_file(root.path().join("proj/.chronicle/workflows")).unwrap();
    lay_out(root.path(), &[("proj/.pi/agents/agent-chain.yaml", "one:\n  steps: [\n")]);
    let catalog = discover::find_in(&places);
    expect![[r#"
        one BROKEN < built-in one.yaml
          error[hidden-workflow] built-in one.yaml: `proj/.pi/agents/agent-chain.yaml` comes first, cannot be read, and may hold `one` (hint: make that one readable)
        two BROKEN < built-in two.yaml
        error[syntax] proj/.pi/agents/agent-chain.yaml:2:10: not readable as YAML: unclosed bracket '['
    "#]].assert_eq(&told(&catalog, root.path()));
}

#[test]
fn a_folder_that_is_named_like_a_workflow_hides_the_built_in_one() {
    const WORKFLOWS: &[Builtin] = &[Builtin { path: "one.yaml", text: "phases: [{id: a}]" }];
    let root = tempfile::tempdir().unwrap();
    let places = Places { workflows: WORKFLOWS, ..lay_out(root.path(), &[]) };
    fs::create_dir_all(root.path().join("proj/.chronicle/workflows/one.yaml")).unwrap();
    let catalog = discover::find_in(&places);
    expect![[r#"
        one BROKEN < proj/.chronicle/workflows/one.yaml
          overrides built-in one.yaml
          error[not-a-file] proj/.chronicle/workflows/one.yaml: it is a folder
    "#]]
    .assert_eq(&told(&catalog, root.path()));
}

#[test]
fn a_persona_that_nobody_has_is_an_error_natively_and_elsewhere_may_only_read() {
    let template =
        r#"{"states": {"a": {"agent": "old hand", "next": ["b"]}, "b": {"persona": "Scuot"}}}"#;
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("proj/.chronicle/personas/scout.md", "---\nname: scout\n---\nLook."),
        (
            "proj/.chronicle/workflows/n.yaml",
            "phases: [{id: a, persona: scuot, followups: [skout]}]",
        ),
        ("proj/.chronicle/workflows/o.yaml", "phases: [{id: a, workflow: n}]"),
        ("proj/.chronicle/workflows/p.yaml", "phases: [{id: a, persona: You look.}]"),
        ("proj/.pi/chronicle/workflows/t.json", template),
        ("proj/.pi/agents/agent-chain.yaml", "c: {steps: [{agent: nobody here, prompt: x}]}"),
        ("proj/.pi/agents/teams.yaml", "all of them: [scout, skuot]"),
    ];
    let places = lay_out(root.path(), &files);
    let catalog = discover::find_in(&places);
    expect![[r#"
        n BROKEN < proj/.chronicle/workflows/n.yaml
          error[unknown-persona] proj/.chronicle/workflows/n.yaml:1:18: no persona is called `scuot` (hint: did you mean `scout`?)
          error[unknown-persona] proj/.chronicle/workflows/n.yaml:1:34: no persona is called `skout` (hint: did you mean `scout`?)
        o BROKEN < proj/.chronicle/workflows/o.yaml
          error[broken-workflow] proj/.chronicle/workflows/o.yaml:1:28: `n` cannot run: it has errors
          error[unknown-persona] proj/.chronicle/workflows/n.yaml:1:18: no persona is called `scuot` (hint: did you mean `scout`?)
          error[unknown-persona] proj/.chronicle/workflows/n.yaml:1:34: no persona is called `skout` (hint: did you mean `scout`?)
        p < proj/.chronicle/workflows/p.yaml
        t < proj/.pi/chronicle/workflows/t.json
          warning[unknown-persona] proj/.pi/chronicle/workflows/t.json:1:19: no persona is called `old hand`: the worker may only read (hint: `chronicle list` shows the personas; a text has several words)
          warning[unknown-persona] proj/.pi/chronicle/workflows/t.json:1:62: no persona is called `Scuot`: the worker may only read (hint: did you mean `scout`?)
        c < proj/.pi/agents/agent-chain.yaml
          warning[unknown-persona] proj/.pi/agents/agent-chain.yaml:1:14: no persona is called `nobody here`: the worker may only read (hint: `chronicle list` shows the personas; a text has several words)
        persona scout < proj/.chronicle/personas/scout.md
        team all of them: scout skuot
        warning[unknown-persona] proj/.pi/agents/teams.yaml:1:22: no persona is called `skuot`: the team lacks it
    "#]].assert_eq(&told(&catalog, root.path()));
    for (name, phases) in [("t", 2), ("c", 1)] {
        let workflow = catalog.named(&places, name).unwrap().workflows.remove(0);
        assert_eq!(workflow.phases.len(), phases);
        for phase in workflow.phases {
            let allow = phase.tools.allow.unwrap();
            assert_eq!(allow, ["read", "grep", "find", "ls", "glob"], "{name}");
            assert_eq!(phase.persona, None, "{name}: a bare word is nobody's text");
        }
    }
}

#[test]
fn personas_in_folders_and_without_fields_are_found() {
    check(
        &[
            ("proj/agents/core/build/mason.md", "---\ndescription: lays bricks\n---\nBuild.\n"),
            ("proj/agents/core/scout.md", "You look around and change nothing.\n"),
            ("proj/agents/scout.md", "---\nname: scout\n---\nThe first.\n"),
            ("proj/agents/docs/README.md", "# How to write one\n"),
            ("proj/agents/.drafts/ghost.md", "---\nname: ghost\n---\n"),
            ("proj/agents/plain.md", "You are plain.\n"),
            ("proj/.chronicle/workflows/w.yaml", "phases: [{id: a, persona: plain}]"),
            ("proj/agents/agent-chain.yaml", "c: {steps: [{agent: Mason, prompt: x}]}"),
        ],
        &expect![[r#"
            w < proj/.chronicle/workflows/w.yaml
            c < proj/agents/agent-chain.yaml
            persona plain < proj/agents/plain.md
              note[plain-persona] proj/agents/plain.md: no fields before the text: every tool is allowed, and it helps only where `followups` names it
            persona scout < proj/agents/scout.md
              overrides proj/agents/core/scout.md
              warning[duplicate-persona] proj/agents/core/scout.md: `proj/agents/scout.md` is called `scout` too, and comes first (hint: rename or delete one of them)
            persona mason < proj/agents/core/build/mason.md
            note[not-a-persona] proj/agents/docs/README.md: no fields before the text: it is no persona
        "#]],
    );
}

#[test]
fn chains_as_people_write_them() {
    check(
        &[
            ("proj/agents/a.md", "---\nname: a\n---\nA.\n"),
            (
                "proj/agents/agent-chain.yaml",
                "# all of them\ndefault: nowhere\nchains:\n  look:\n    description: looks\n    steps:\n      - agent: a\n        prompt: x\n  list:\n    - {agent: a, prompt: y}\n",
            ),
            (
                "proj/.pi/agents/agent-chain.yaml",
                "plain:\n  description: Plan: then build\n  steps:\n    - agent: a\n      prompt: Do this: $INPUT # and that\\nthen stop: really\n    - agent: a\n      prompt: \"Quoted: $INPUT\"\n",
            ),
        ],
        &expect![[r#"
            look < proj/agents/agent-chain.yaml
            list < proj/agents/agent-chain.yaml
            plain < proj/.pi/agents/agent-chain.yaml
            persona a < proj/agents/a.md
            warning[unknown-chain] proj/agents/agent-chain.yaml:2:10: no chain is called `nowhere`
        "#]],
    );
}

#[test]
fn a_file_of_chains_by_its_path_is_its_chains() {
    let root = tempfile::tempdir().unwrap();
    let several = "one: {steps: [{agent: a, prompt: x}]}\ntwo: {steps: [{agent: a, prompt: x}]}\n";
    let files = [
        ("proj/agents/a.md", "---\nname: a\n---\nA.\n"),
        ("elsewhere/agent-chain.yaml", several),
        ("only/agent-chain.yaml", "one: {steps: [{agent: a, prompt: x}]}"),
    ];
    let places = lay_out(root.path(), &files);
    let catalog = discover::find_in(&places);
    let path = |name: &str| root.path().join(name).join("agent-chain.yaml").display().to_string();
    let (chains, problems) = catalog.chains_at(&places, &path("elsewhere")).unwrap();
    let keys: Vec<&str> = chains.iter().map(|it| it.workflows[0].key.as_str()).collect();
    assert_eq!((keys, problems.list.len()), (vec!["one", "two"], 0));
    let error = catalog.named(&places, &path("elsewhere")).unwrap_err().to_string();
    assert!(error.ends_with("holds several chains: `one`, `two`"), "{error}");
    let only = catalog.named(&places, &path("only")).unwrap();
    assert!(only.is_usable(), "{:?}", only.problems);
    assert_eq!(only.workflows[0].key, "one");
}

#[test]
fn a_state_called_done_that_works_is_worked_and_ends() {
    let template = r#"{"initial": "plan", "states": {
        "plan": {"persona": "You plan it.", "next": ["done", "plan"]},
        "done": {"persona": "You write it up.", "next": ["plan"], "requires_approval": true}
    }}"#;
    let plain = r#"{"states": {"plan": {"persona": "You plan it.", "next": ["done"]}, "done": {"description": "over", "next": []}}}"#;
    let pi = "name: P\ncommandName: p\ninitialMessage: go\nphases: [a.md, done.md, b.md]\n";
    let root = tempfile::tempdir().unwrap();
    let phase = |id: &str| PHASE.replace("id: a", &format!("id: {id}"));
    let files = [
        ("proj/.pi/chronicle/workflows/works.json", template),
        ("proj/.pi/chronicle/workflows/plain.json", plain),
        ("proj/.pi/workflows/list/workflow.yaml", pi),
        ("proj/.pi/workflows/list/a.md", &phase("a")),
        ("proj/.pi/workflows/list/done.md", &phase("done")),
        ("proj/.pi/workflows/list/b.md", &phase("b")),
    ];
    let places = lay_out(root.path(), &files);
    let catalog = discover::find_in(&places);
    expect![[r#"
        list < proj/.pi/workflows/list/workflow.yaml
          note[done-works] proj/.pi/workflows/list/done.md:1:1: `done` is the word for the end: this one is called `finish` here
        plain < proj/.pi/chronicle/workflows/plain.json
        works < proj/.pi/chronicle/workflows/works.json
          note[done-works] proj/.pi/chronicle/workflows/works.json:3:9: `done` is the word for the end: this one is called `finish` here
    "#]].assert_eq(&told(&catalog, root.path()));
    let ways = |name: &str| -> Vec<String> {
        let workflow = catalog.named(&places, name).unwrap().workflows.remove(0);
        let way = |phase: &chronicle_core::definition::workflow::Phase| {
            format!("{} ({}) -> {:?} {:?}", phase.id, phase.name, phase.next, phase.approval)
        };
        workflow.phases.iter().map(way).collect()
    };
    expect![[r#"
        [
            [
                "plan (plan) -> [PhaseId(\"finish\"), PhaseId(\"plan\")] None",
                "finish (done) -> [] Before",
            ],
            [
                "plan (plan) -> [PhaseId(\"done\")] None",
                "done (done) -> [] None",
            ],
            [
                "a (A) -> [PhaseId(\"finish\")] None",
                "finish (A) -> [PhaseId(\"b\")] None",
                "b (A) -> [] None",
            ],
        ]
    "#]]
    .assert_debug_eq(&["works", "plain", "list"].map(ways));
}

#[test]
fn lists_of_pi_workflows_bind_the_workers_own_calls_and_a_loop_policy_of_the_chronicle_is_kept() {
    let pi = "name: P\ncommandName: p\ninitialMessage: go\nphases: [a.md, b.md]\n";
    let limited =
        |id: &str, tools: &str| PHASE.replace("id: a\n", &format!("id: {id}\ntools:\n  {tools}\n"));
    let template = r#"{"initial": "plan",
        "loop_policy": {"pair_bounce_threshold": 5, "stagnation_threshold": 2, "hard_transition_cap": 4},
        "states": {"plan": {"persona": "You plan it.", "next": ["plan"]}}}"#;
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("proj/.pi/workflows/list/workflow.yaml", pi),
        ("proj/.pi/workflows/list/a.md", &limited("a", "blacklist: [edit]")),
        ("proj/.pi/workflows/list/b.md", &limited("b", "whitelist: [read]\n  subagents: bound")),
        ("proj/.pi/chronicle/workflows/loops.json", template),
    ];
    let places = lay_out(root.path(), &files);
    let catalog = discover::find_in(&places);
    let read = |name: &str| catalog.named(&places, name).unwrap().workflows.remove(0);
    let lists: Vec<_> = read("list").phases.into_iter().map(|phase| phase.tools).collect();
    assert_eq!((lists[0].deny.as_slice(), lists[0].own_only), (&["edit".to_owned()][..], true));
    let allowed = lists[1].allow.as_deref();
    assert_eq!((allowed, lists[1].own_only), (Some(&["read".to_owned()][..]), false));
    let judged = read("loops").phases[0].limits.loops.progress.unwrap();
    assert_eq!((judged.bounce, judged.stagnation, judged.cap), (5, 2, 4));
}
