//! Personas in their places: which of several is used, which are refused, and what is said of the others.

use std::fs;

use chronicle_runtime::for_tests::discover::{self, Builtin, Places};
use expect_test::expect;

use crate::discover_formats::{check, lay_out, told};

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
        Builtin { path: "fixer.md", text: "---\nname: fixer\n---\nFix it.\n" },
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
fn a_persona_is_not_swapped_because_of_its_files_ending_or_kind() {
    let scout = "---\nname: scout\ntools: read\n---\nLook.";
    let places = ["scout.MD", "scout.markdown", "scout.txt", "scout", "scout.md/x.txt"];
    let own = places.map(|name| format!("proj/.chronicle/personas/{name}"));
    let claudes = ["scout.MD", "scout.markdown", "scout.md/x.txt"];
    let claudes = claudes.map(|name| format!("proj/.claude/agents/{name}"));
    for file in own.iter().chain(&claudes) {
        let root = tempfile::tempdir().unwrap();
        let user = ("home/.claude/agents/scout.md", "---\nname: scout\n---\nDo anything.");
        let catalog = discover::find_in(&lay_out(root.path(), &[(file, scout), user]));
        let found = catalog.personas.iter().find(|it| it.persona.name == "scout").unwrap();
        assert!(found.origin.path.contains("proj/"), "{file}: {}", found.origin.path);
        let told = told(&catalog, root.path());
        assert!(told.contains("error[not-read]") || told.contains("error[not-a-file]"), "{told}");
    }
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
              warning[no-instructions] proj/.pi/agents/odd.md: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
              note[unknown-field] proj/.pi/agents/odd.md:3:1: a persona has no field `shoes`: it is ignored
            persona open < proj/.pi/agents/open.md
              error[bad-frontmatter] proj/.pi/agents/open.md:1:1: the fields begun with `---` have no end (hint: end them with a line `---`)
            persona scout < proj/.pi/agents/scout.md
            persona deep < home/.pi/agent/agent-profiles/deep.md
              warning[no-instructions] home/.pi/agent/agent-profiles/deep.md: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
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
fn a_persona_that_nobody_has_is_an_error_natively_and_in_chains_and_elsewhere_may_only_read() {
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
        (
            "proj/.chronicle/workflows/p.yaml",
            "phases: [{id: a, persona: You look., availableProfiles: [Scout, nosuch]}]",
        ),
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
          warning[unknown-persona] proj/.chronicle/workflows/p.yaml:1:38: no persona is called `nosuch`: no sub-agent can be of it (hint: `chronicle list` shows the personas; a text has several words)
        t < proj/.pi/chronicle/workflows/t.json
          warning[unknown-persona] proj/.pi/chronicle/workflows/t.json:1:19: no persona is called `old hand`: the worker may only read (hint: `chronicle list` shows the personas; a text has several words)
          warning[unknown-persona] proj/.pi/chronicle/workflows/t.json:1:62: no persona is called `Scuot`: the worker may only read (hint: did you mean `scout`?)
        c BROKEN < proj/.pi/agents/agent-chain.yaml
          error[unknown-persona] proj/.pi/agents/agent-chain.yaml:1:14: no persona is called `nobody here` (hint: `chronicle list` shows the personas; a text has several words)
        persona scout < proj/.chronicle/personas/scout.md
        team all of them: scout skuot
        warning[unknown-persona] proj/.pi/agents/teams.yaml:1:22: no persona is called `skuot`: the team lacks it
    "#]].assert_eq(&told(&catalog, root.path()));
    let workflow = catalog.named(&places, "t").unwrap().workflows.remove(0);
    assert_eq!(workflow.phases.len(), 2);
    for phase in workflow.phases {
        let allow = phase.tools.allow.unwrap();
        assert_eq!(allow, ["read", "grep", "find", "ls", "glob"]);
        assert_eq!(phase.persona, None, "a bare word is nobody's text");
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
fn what_is_built_in_is_not_meant_by_files_of_other_programs() {
    let template = r#"{"states": {"a": {"agent": "reviewer", "followups": ["fixer", "mate"], "next": ["skeptic"]}}}"#;
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("proj/.pi/agents/mate.md", "---\nname: mate\n---\nHelp.\n"),
        ("proj/.pi/chronicle/workflows/t.json", template),
        ("proj/.pi/agents/agent-chain.yaml", "c: {steps: [{agent: reviewer, prompt: x}]}"),
        ("proj/.pi/agents/teams.yaml", "theirs: [mate, reviewer]"),
        ("proj/.chronicle/teams.yaml", "ours: [mate, reviewer]"),
        ("proj/.chronicle/workflows/n.yaml", "phases: [{id: a, persona: reviewer}]"),
    ];
    let shipped = discover::builtin::PERSONAS;
    let places = Places { personas: shipped, ..lay_out(root.path(), &files) };
    let catalog = discover::find_in(&places);
    let told = told(&catalog, root.path());
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("persona ")).collect();
    expect![[r#"
        n < proj/.chronicle/workflows/n.yaml
        t < proj/.pi/chronicle/workflows/t.json
          warning[unknown-persona] proj/.pi/chronicle/workflows/t.json:1:19: no persona is called `reviewer`: the worker may only read (hint: write `agents/reviewer.md`: what is built in is not meant by files of other programs)
          warning[unknown-persona] proj/.pi/chronicle/workflows/t.json:1:40: no persona is called `fixer`: it cannot help (hint: write `agents/fixer.md`: what is built in is not meant by files of other programs)
          warning[implicit-phase] proj/.pi/chronicle/workflows/t.json:1:81: no state is called `skeptic`: a worker that may only read is added
        c BROKEN < proj/.pi/agents/agent-chain.yaml
          error[unknown-persona] proj/.pi/agents/agent-chain.yaml:1:14: no persona is called `reviewer` (hint: write `agents/reviewer.md`: what is built in is not meant by files of other programs)
        team ours: mate reviewer
        team theirs: mate
        warning[unknown-persona] proj/.pi/agents/teams.yaml:1:16: no persona is called `reviewer`: the team lacks it"#]].assert_eq(&told.join("\n"));
    let loaded = catalog.named(&places, "t").unwrap();
    let names: Vec<String> =
        catalog.personas_of(&loaded.workflows).into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["mate"]);
    let phases = &loaded.workflows[0].phases;
    assert_eq!(phases[0].followups.as_deref(), Some(&["mate".to_owned()][..]));
    assert!(phases.iter().all(|phase| phase.persona.is_none() && phase.tools.allow.is_some()));
    let native = catalog.named(&places, "n").unwrap();
    assert!(native.is_usable() && !catalog.personas_of(&native.workflows)[0].prompt.is_empty());
}

#[test]
fn whatever_limits_a_persona_is_enforced_or_refused() {
    for field in [
        "timeoutMinutes: 5",
        "timeout: 5",
        "max-turns: 3",
        "MaxTurns: 3",
        "maxSteps: 3",
        "permissions: {bash: deny}",
        "permission_mode: dontAsk",
        "approval: always",
        "requires_approval: true",
        "sandbox: true",
        "readOnly: true",
        "budget: 1",
        "limits: {turns: 3}",
        "modle: opus",
        "Model: opus",
        "isolate: true",
        "maxTruns: 3",
        "permisionMode: plan",
        "hook: {PreToolUse: []}",
        "disalowedTools: bash",
        "Deny: bash",
        "mode: read-only",
        "mode: plan",
        "allowed_paths: [src]",
        "writable: [src]",
        "domain: [{path: src, delete: false}]",
        "network: false",
        "access: read",
        "only: read",
        "exclude: bash",
        "no_bash: true",
        "capabilities: [read]",
        "restrictions: [no shell]",
        "constraints: [no shell]",
        "disabled: true",
        "enabled: false",
        "isolation: worktree",
        "bash: false",
        "can_write: false",
        "policy: read-only",
        "max_iterations: 3",
        "turns: 3",
    ] {
        let root = tempfile::tempdir().unwrap();
        let persona = format!("---\nname: mate\n{field}\n---\nHelp.\n");
        let files = [
            ("proj/.claude/agents/mate.md", persona.as_str()),
            ("proj/.chronicle/workflows/n.yaml", "phases: [{id: a, persona: mate}]"),
        ];
        let places = lay_out(root.path(), &files);
        let loaded = discover::find_in(&places).named(&places, "n").unwrap();
        assert!(!loaded.is_usable(), "{field}: {:?}", loaded.problems);
        let problem = &loaded.problems[0];
        assert!(problem.file.ends_with("mate.md") && problem.line == 3, "{field}: {problem}");
    }
}

#[test]
fn what_restricts_nobody_is_ignored() {
    for field in ["mode: subagent", "enabled: true", "disabled: false", "color: red", "domain:"] {
        let root = tempfile::tempdir().unwrap();
        let persona = format!("---\nname: mate\n{field}\n---\nHelp.\n");
        let files = [
            ("proj/.claude/agents/mate.md", persona.as_str()),
            ("proj/.chronicle/workflows/n.yaml", "phases: [{id: a, persona: mate}]"),
        ];
        let places = lay_out(root.path(), &files);
        let loaded = discover::find_in(&places).named(&places, "n").unwrap();
        assert!(loaded.is_usable(), "{field}: {:?}", loaded.problems);
    }
}

#[test]
fn a_persona_without_text_is_told() {
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("proj/.claude/agents/mate.md", "---\nname: mate\n---\n"),
        ("proj/.chronicle/workflows/n.yaml", "phases: [{id: a, persona: mate}]"),
    ];
    let places = lay_out(root.path(), &files);
    let loaded = discover::find_in(&places).named(&places, "n").unwrap();
    assert!(loaded.is_usable(), "{:?}", loaded.problems);
    assert!(loaded.problems[0].to_string().contains("no text below the fields"), "it is told");
}
