//! Workflows of other programs: what they mean here.

use std::path::Path;

use chronicle_runtime::for_tests::discover;
use expect_test::expect;

use crate::discover_formats::{PHASE, check, lay_out, told};

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
fn what_is_said_beside_a_workflow_that_is_run_inside_holds_or_is_told() {
    let inner = "name: Inner\nshow: workflows\nphases: [a.md]\n";
    let load = |entry: &str| {
        let outer = format!(
            "name: P\ncommandName: p\ninitialMessage: go\nphases: [{{subworkflow: inner{entry}}}]\n"
        );
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("proj/.pi/workflows/p/workflow.yaml", outer.as_str()),
            ("proj/.pi/workflows/inner/workflow.yaml", inner),
            ("proj/.pi/workflows/inner/a.md", PHASE),
        ];
        let places = lay_out(root.path(), &files);
        discover::find_in(&places).named(&places, "p").unwrap()
    };
    let plain = load("");
    assert!(plain.is_usable(), "{:?}", plain.problems);
    let approved = load(", approval: before, verify: [make]");
    assert!(approved.is_usable(), "{:?}", approved.problems);
    let phase = &approved.workflows[0].phases[0];
    assert!(phase.approval.is_before() && phase.verify == ["make"], "{phase:?}");
    for entry in ["tools: {blacklist: [bash]}", "blacklist: [bash]", "aproval: before", "gate: yes"]
    {
        let loaded = load(&format!(", {entry}"));
        assert!(!loaded.is_usable(), "{entry}: {:?}", loaded.problems);
    }
}

#[test]
fn what_an_end_cannot_keep_is_refused() {
    let load = |done: &str| {
        let text = format!(
            r#"{{"name": "f", "states": {{"a": {{"agent": "scout", "next": ["done"]}}, "done": {{{done}}}}}}}"#
        );
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("proj/.pi/chronicle/workflows/f.json", text.as_str()),
            ("proj/.pi/agents/scout.md", "---\nname: scout\ntools: read\n---\nLook.\n"),
        ];
        let places = lay_out(root.path(), &files);
        discover::find_in(&places).named(&places, "f").unwrap()
    };
    for harmless in ["", r#""requires_approval": false"#, r#""description": "the end""#] {
        let loaded = load(harmless);
        assert!(loaded.is_usable(), "{harmless}: {:?}", loaded.problems);
    }
    for kept in [r#""requires_approval": true"#, r#""approval": "before""#, r#""verify": ["make"]"#]
    {
        let loaded = load(kept);
        assert!(!loaded.is_usable(), "{kept}: {:?}", loaded.problems);
        let worker = load(&format!(r#"{kept}, "agent": "scout""#));
        assert!(worker.is_usable(), "{kept}: {:?}", worker.problems);
    }
}

#[test]
fn several_names_in_one_text_of_a_list_are_several_names() {
    let pi = "name: P\ncommandName: p\ninitialMessage: go\nphases: [a.md]\n";
    for list in ["\"bash, edit\"", "[\"bash,edit\"]", "[bash, edit]"] {
        let head = format!("tools: {{blacklist: {list}}}");
        let phase = PHASE.replacen("---\n", &format!("---\n{head}\n"), 1);
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("proj/.pi/workflows/p/workflow.yaml", pi),
            ("proj/.pi/workflows/p/a.md", phase.as_str()),
        ];
        let places = lay_out(root.path(), &files);
        let loaded = discover::find_in(&places).named(&places, "p").unwrap();
        assert_eq!(loaded.workflows[0].phases[0].tools.deny, ["bash", "edit"], "{list}");
    }
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
        "tools: {forbidden: [bash]}",
        "tools: {except: [bash]}",
        "approvalRequired: true",
        "readonly: true",
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
        r#""approval_required": true"#,
        r#""must_approve": true"#,
        r#""requiresReview": true"#,
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

/// What is told of one template of The Chronicle with this state.
fn of_state(root: &Path, state: &str) -> (bool, String) {
    let text = format!("{{\"name\": \"t\", \"states\": {{\"a\": {state}}}}}");
    let files = [
        ("proj/.pi/chronicle/workflows/t.json", text.as_str()),
        ("proj/.pi/agents/scout.md", "---\nname: scout\ntools: read\n---\nLook.\n"),
    ];
    let catalog = discover::find_in(&lay_out(root, &files));
    (catalog.workflows[0].is_usable, told(&catalog, root))
}

#[test]
fn a_slip_in_a_field_that_decides_is_an_error_in_the_chronicles_files() {
    for (field, meant) in [
        (r#""agnet": "scout""#, "`agent`"),
        (r#""Agent": "scout""#, "`agent`"),
        (r#""agents": "scout""#, "`agent`"),
        (r#""persna": "scout""#, "`persona`"),
        (r#""agent": "scout", "requires_aproval": true"#, "`requires_approval`"),
        (r#""agent": "scout", "aproval_mode": "post""#, "`approval_mode`"),
        (r#""agent": "scout", "timeout_minuets": 5"#, "`timeout_minutes`"),
        (r#""agent": "scout", "timeout": 5"#, "write it as this format has it"),
        (r#""agent": "scout", "limts": {"tries": 1}"#, "`limits`"),
        (r#""agent": "scout", "folowups": ["x"]"#, "`followups`"),
        (r#""agent": "scout", "Next": ["done"]"#, "`next`"),
        (r#""agent": "scout", "extra_skils": ["x"]"#, "`extra_skills`"),
    ] {
        let (is_usable, told) =
            of_state(tempfile::tempdir().unwrap().path(), &format!("{{{field}}}"));
        assert!(!is_usable, "{field}: {told}");
        assert!(told.contains("error[unknown-field] proj/.pi/chronicle/workflows/t.json:1:"));
        assert!(told.contains(meant), "{field}: {told}");
    }
    for field in [r#""Name": "x""#, r#""notes": "x""#, r#""text": "x""#, r#""colour": "red""#] {
        let (is_usable, told) = of_state(
            tempfile::tempdir().unwrap().path(),
            &format!("{{\"agent\": \"scout\", {field}}}"),
        );
        assert!(is_usable && told.contains("it is ignored"), "{field}: {told}");
    }
}

#[test]
fn an_empty_agent_is_told_as_the_file_has_it() {
    for (field, said) in [
        (
            r#""agent": """#,
            "error[empty-value] proj/.pi/chronicle/workflows/t.json:1:41: `agent` is empty",
        ),
        (r#""agent": ["scout"]"#, "`agent` must be a text, not a list"),
    ] {
        let (is_usable, told) =
            of_state(tempfile::tempdir().unwrap().path(), &format!("{{{field}}}"));
        assert!(!is_usable && told.contains(said), "{told}");
        assert!(!told.contains("`persona`"), "{told}");
    }
}

#[test]
fn a_state_without_agent_may_only_read() {
    let root = tempfile::tempdir().unwrap();
    let text = r#"{"states": {
        "a": {"description": "Look.", "next": ["b"]},
        "b": {"agent": null, "persona": "You build it.", "next": ["c"]},
        "c": {"tools": "read, bash", "next": ["d"]},
        "d": {"commands": ["true"], "next": ["done"]},
        "done": {"description": "The end."}
    }}"#;
    let places = lay_out(root.path(), &[("proj/.pi/chronicle/workflows/t.json", text)]);
    let catalog = discover::find_in(&places);
    expect![[r#"
        t < proj/.pi/chronicle/workflows/t.json
          warning[missing-field] proj/.pi/chronicle/workflows/t.json:2:9: a state without `agent` and `persona`: the worker may only read (hint: add `agent`, the name of a persona file)
    "#]].assert_eq(&told(&catalog, root.path()));
    let workflow = catalog.named(&places, "t").unwrap().workflows.remove(0);
    let allow = |at: usize| workflow.phases[at].tools.allow.clone().unwrap_or_default();
    assert_eq!(allow(0), ["read", "grep", "find", "ls", "glob"]);
    assert_eq!(workflow.phases[1].tools.allow, None, "the text of its persona is its own");
    assert_eq!(allow(2), ["read", "bash"], "a list holds");
    assert_eq!(workflow.phases[3].tools.allow, None);
}

#[test]
fn a_word_of_a_chain_that_nothing_replaces_is_refused() {
    for (word, meant) in [
        ("$INPUT_1", "$INPUT"),
        ("$INPUT2", "$INPUT"),
        ("$INPUTS", "$INPUT"),
        ("$ORIGINAL_TASK", "$ORIGINAL"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let chain =
            format!("c:\n  steps:\n    - agent: scout\n      prompt: look at {word}, and\n");
        let files = [
            ("proj/.pi/agents/agent-chain.yaml", chain.as_str()),
            ("proj/.pi/agents/scout.md", "---\nname: scout\n---\nLook.\n"),
        ];
        let catalog = discover::find_in(&lay_out(root.path(), &files));
        let told = told(&catalog, root.path());
        assert!(!catalog.workflows[0].is_usable, "{told}");
        let said = format!(
            "agent-chain.yaml:4:15: nothing replaces `{word}` here (hint: did you mean `{meant}`?)"
        );
        assert!(told.contains(&said), "{told}");
    }
}

#[test]
fn a_word_of_a_chain_in_another_spelling_is_told_to_stay_as_it_is() {
    for (word, meant) in [
        ("${INPUT}", "$INPUT"),
        ("${input}", "$INPUT"),
        ("$input", "$INPUT"),
        ("$Original", "$ORIGINAL"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let chain = format!(
            "c:\n  steps:\n    - agent: scout\n      prompt: look at {word}, $INPUT, ${{inputs}} and $HOME\n"
        );
        let files = [
            ("proj/.pi/agents/agent-chain.yaml", chain.as_str()),
            ("proj/.pi/agents/scout.md", "---\nname: scout\n---\nLook.\n"),
        ];
        let catalog = discover::find_in(&lay_out(root.path(), &files));
        let told = told(&catalog, root.path());
        assert!(catalog.workflows[0].is_usable, "{told}");
        let said = format!(
            "agent-chain.yaml:4:15: nothing replaces `{word}` here (hint: did you mean `{meant}`?)"
        );
        assert!(told.contains(&said), "{told}");
        assert_eq!(told.matches("unknown-word").count(), 1, "{told}");
    }
}

#[test]
fn a_restriction_in_a_chain_is_not_ignored() {
    for field in ["tools: read", "timeout: 5", "agnet: scout", "requires_approval: true"] {
        let root = tempfile::tempdir().unwrap();
        let chain =
            format!("c:\n  steps:\n    - agent: scout\n      prompt: look\n      {field}\n");
        let files = [
            ("proj/.pi/agents/agent-chain.yaml", chain.as_str()),
            ("proj/.pi/agents/scout.md", "---\nname: scout\n---\nLook.\n"),
        ];
        let catalog = discover::find_in(&lay_out(root.path(), &files));
        let told = told(&catalog, root.path());
        assert!(!catalog.workflows[0].is_usable, "{told}");
        assert!(told.contains("error[unknown-field]"), "{told}");
    }
}
