//! Every format in its place, which of several files is used, and what is said of the others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use chronicle_runtime::for_tests::discover::{self, Builtin, Catalog, Places};
use expect_test::{Expect, expect};

/// A phase in the way of pi-workflows.
pub(crate) const PHASE: &str = "---\nid: a\nname: A\nemoji: x\n---\nDo it.\n";

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

pub(crate) fn check(files: &[(&str, &str)], expected: &Expect) {
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
fn endings_in_capitals_are_read_and_others_are_told() {
    check(
        &[
            ("proj/.chronicle/workflows/plan.YAML", "{name: Mine, phases: {plan: {}}}"),
            ("proj/.chronicle/workflows/ship.toml", "name = 'x'"),
        ],
        &expect![[r#"
            plan < proj/.chronicle/workflows/plan.YAML
            note[not-read] proj/.chronicle/workflows/ship.toml: not read: a workflow is a file `NAME.yaml` or `NAME.json`
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
          warning[no-instructions] built-in scout.md: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
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
