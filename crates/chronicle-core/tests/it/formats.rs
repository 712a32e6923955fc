//! Personas, teams, rules and chains: text in, text out.

use std::fmt::Write as _;

use chronicle_core::definition::guard::read_rules;
use chronicle_core::definition::persona::{self, read_teams};
use chronicle_core::definition::workflow::{
    Format, Problem, Severity, Source, Tools, is_denied, is_named, read_chains,
};
use expect_test::{Expect, expect};

fn source(text: &str) -> Source {
    Source { file: None, name: "f".to_owned(), key: "stem".to_owned(), text: text.to_owned() }
}

fn with(mut text: String, problems: &[Problem]) -> String {
    for problem in problems {
        let _ = writeln!(text, "{problem}");
    }
    text
}

fn check_persona(text: &str, expected: &Expect) {
    let read = persona::read(&source(text), Format::Template);
    let json = read.persona.map_or_else(String::new, |persona| {
        serde_json::to_string(&persona).unwrap_or_default() + "\n"
    });
    expected.assert_eq(&with(json, &read.problems));
}

#[test]
fn tools_that_nobody_has_are_told_of_a_persona_as_of_a_workflow() {
    let text = "---\nname: p\ntools: Reed, Bash(git log), read\ndisallowedTools: [mcp__mine, mine]\n---\nHi.\n";
    check_persona(
        text,
        &expect![[r#"
            {"name":"p","prompt":"Hi.","tools":{"allow":["Reed","Bash(git log)","read"],"deny":["mcp__mine","mine"]}}
            warning[unknown-tool] f:3:8: no agent that Chronicle knows has a tool `Reed` (hint: did you mean `read`?)
            warning[tool-with-arguments] f:3:8: `Bash(git log)` names some calls, not a tool: it allows nothing (hint: write `Bash`)
        "#]],
    );
    let own = persona::read(&source(text), Format::Native);
    let codes = |problems: &[Problem]| -> Vec<(Severity, &'static str)> {
        problems.iter().map(|it| (it.severity, it.code)).collect()
    };
    let errors = [(Severity::Error, "unknown-tool"), (Severity::Error, "tool-with-arguments")];
    assert_eq!(codes(&own.unsupported), errors, "a run with it is refused");
    assert_eq!(codes(&own.problems)[..2], errors);
    assert_eq!(codes(&own.problems)[2..], [(Severity::Warning, "unknown-tool")]);
}

#[test]
fn a_server_without_a_tool_is_every_tool_of_that_server() {
    let list = ["mcp__mine".to_owned()];
    for (tool, is_meant) in [
        ("mcp__mine__read", true),
        ("MCP__Mine__read", true),
        ("mcp__mine", true),
        ("mcp__mineral__read", false),
        ("read", false),
    ] {
        assert_eq!(is_named(&list, tool), is_meant, "{tool}");
    }
    let tools = Tools { allow: Some(list.to_vec()), ..Tools::default() };
    assert_eq!(tools.exactly(), None, "it is no list of single tools");
}

#[test]
fn personas_as_people_write_them() {
    check_persona(
        "---\nname: Scout\ndescription: looks around\ntools: read, grep , ls\nmodel: m\nskills: [a, b]\nthinking: high\nmax_turns: 20\nisolated: true\ncolor: blue\nextensions: x\n---\n\nYou look.\n",
        &expect![[r#"
            {"name":"Scout","description":"looks around","prompt":"You look.","tools":{"allow":["read","grep","ls"]},"model":"m","thinking":"high","skills":["a","b"],"extensions":["x"],"max_turns":20,"isolated":true,"color":"blue"}
            note[not-supported-yet] f:6:1: `skills` is not supported yet: a workflow with this persona is refused
            note[not-supported-yet] f:8:1: `max_turns` is not supported yet: a workflow with this persona is refused
            note[not-supported-yet] f:11:1: `extensions` is not supported yet: a workflow with this persona is refused
        "#]],
    );
    check_persona(
        "---\r\ndescription: no name\r\ntools:\r\n  - Read\r\n  - Grep\r\n---\r\nA.\r\nB.\r\n",
        &expect![[r#"
            {"name":"stem","description":"no name","prompt":"A.\nB.","tools":{"allow":["Read","Grep"]}}
        "#]],
    );
    // A plain description with colons is no YAML, and common.
    check_persona(
        "---\nname: helper\ndescription: Use it when: user: 'Help' <example>: x\nmodel: inherit\ntools: *\n---\nHi.\n",
        &expect![[r#"
            {"name":"helper","description":"Use it when: user: 'Help' <example>: x","prompt":"Hi."}
        "#]],
    );
    check_persona(
        "---\nname: p\nprovider: openai\nmodel: gpt\nthinkingLevel: low\ndisallowedTools: Bash\npermissionMode: plan\nshoes: 9\n---\n",
        &expect![[r#"
            {"name":"p","tools":{"allow":["read","grep","find","ls","glob"],"deny":["Bash"]},"model":"openai/gpt","thinking":"low"}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[permission-mode] f:7:1: `permissionMode: plan` leaves only tools that read: `read`, `grep`, `find`, `ls`, `glob`
            note[unknown-field] f:8:1: a persona has no field `shoes`: it is ignored
        "#]],
    );
    check_persona(
        "---\nname: p\neffort: ultra\n---\n",
        &expect![[r#"
            {"name":"p"}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            warning[wrong-type] f:3:9: `effort` must be one of off, minimal, low, medium, high, xhigh, max: it is ignored
        "#]],
    );
}

#[test]
fn calls_that_are_denied_deny_the_tool_and_calls_that_are_allowed_allow_nothing() {
    check_persona(
        "---\nname: p\ndisallowedTools: Bash(rm *, mv *), Edit\ntools: Bash(git *), Read\n---\n",
        &expect![[r#"
            {"name":"p","tools":{"allow":["Bash(git *)","Read"],"deny":["Bash","Edit"]}}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            warning[tool-with-arguments] f:3:18: `Bash(rm *, mv *)` names some calls: `Bash` is denied as a whole (hint: write `Bash`)
            warning[tool-with-arguments] f:4:8: `Bash(git *)` names some calls, not a tool: it allows nothing (hint: write `Bash`)
        "#]],
    );
    let tools = |text: &str| persona::read(&source(text), Format::Template).persona.unwrap().tools;
    let denied = tools("---\ndisallowedTools:\n  - Bash(rm *)\n---\n").deny;
    assert!(is_denied(&denied, "Bash") && is_denied(&denied, "exec_command"), "{denied:?}");
}

#[test]
fn a_permission_mode_is_enforced_or_answered() {
    let check = |head: &str, expected: &Expect| {
        let read = persona::read(&source(&format!("---\n{head}\n---\n")), Format::Template);
        let tools = serde_json::to_string(&read.persona.unwrap().tools).unwrap() + "\n";
        let problems: Vec<Problem> = read.problems.into_iter().chain(read.unsupported).collect();
        expected.assert_eq(&with(tools, &problems));
    };
    check(
        "permissionMode: plan",
        &expect![[r#"
            {"allow":["read","grep","find","ls","glob"]}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[permission-mode] f:2:1: `permissionMode: plan` leaves only tools that read: `read`, `grep`, `find`, `ls`, `glob`
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
        "#]],
    );
    check(
        "permission-mode: Plan\ntools: Read, Edit, Bash, mcp__x\ndisallowedTools: Grep",
        &expect![[r#"
            {"allow":["Read"],"deny":["Grep"]}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[permission-mode] f:2:1: `permission-mode: Plan` leaves only tools that read: `read`, `grep`, `find`, `ls`, `glob`
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
        "#]],
    );
    check(
        "permissionMode: acceptEdits",
        &expect![[r#"
            {}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[permission-mode] f:2:1: `permissionMode: acceptEdits` has no effect: in a run, calls are allowed by the lists of tools, and nobody is asked
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
        "#]],
    );
    check(
        "permissionMode: bypassPermissions",
        &expect![[r#"
            {}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[permission-mode] f:2:1: `permissionMode: bypassPermissions` has no effect: in a run, calls are allowed by the lists of tools, and nobody is asked
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
        "#]],
    );
    check(
        "permissionMode: default",
        &expect![[r#"
            {}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[permission-mode] f:2:1: `permissionMode: default` has no effect: in a run, calls are allowed by the lists of tools, and nobody is asked
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
        "#]],
    );
    check(
        "permissionMode: dontAsk",
        &expect![[r#"
            {}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[not-supported-yet] f:2:1: `permissionMode: dontAsk` is not supported yet: a workflow with this persona is refused
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[not-supported-yet] f:2:1: this version cannot enforce `permissionMode: dontAsk`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
        "#]],
    );
    check(
        "permissionMode: [plan]",
        &expect![[r#"
            {}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[not-supported-yet] f:2:1: `permissionMode` is not supported yet: a workflow with this persona is refused
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[not-supported-yet] f:2:1: this version cannot enforce `permissionMode`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
        "#]],
    );
    check(
        "hooks:\n  PreToolUse:\n    - matcher: Bash\nmemory: user",
        &expect![[r#"
            {}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            note[not-supported-yet] f:2:1: `hooks` is not supported yet: a workflow with this persona is refused
            note[unused-field] f:5:1: `memory` is another program's: it has no effect here
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[not-supported-yet] f:2:1: this version cannot enforce `hooks`, and will not ignore it (hint: take it out, or accept that with `--accept-unenforced`)
        "#]],
    );
}

/// A list of tools that is overlooked allows every tool, so each must be an error for a run.
#[test]
fn a_list_of_tools_that_is_not_read_refuses_the_persona() {
    let wrong = [
        "name: scout\ntools = read",
        "name: scout\n tools: read",
        "name: scout\n\ttools: read",
        "description: scout\n  tools = read",
        "description: a: b\n disallowedTools: bash",
        "description: a: b\ntools read",
        "tools: bash\ntools: read",
        "description: a: b\ntools: bash\ntools: read",
        "disallowedTools: read\ndisallowed_tools: bash",
        "Tools: read",
        "tool: read",
        "TOOLS: read",
        "'tools ': read",
        "allowed-tools: read",
        "allowed_tools: read",
        "allowedTools: read",
        "disallowed-tools: bash",
        "DisallowedTools: bash",
        "denied tools: bash",
        "tools-allowed: read",
        "tolls: read",
        "dissalowedTools: bash",
        "{name: scout, Tools: read}",
        "description: a: b\n\"tools\": read",
        "limits:\n  tools: read",
        "tools: {allow: [read]}",
        "tools:\n  allow: [read]",
        "disallowedTools: [[bash]]",
        "description: a: b\ndisallowedTools: bash,\n  write",
        "description: a: b\ndisallowedTools:\nbash",
        "description: a: b\ndisallowedTools: read\n- bash",
        "deny: [bash]",
        "allow: [read]",
        "blacklist: [bash]",
        "whitelist: read",
        "forbidden: bash",
        "builtin-tools: read",
        "tools:",
        "tools: null",
        "tools:\n# - read",
        "x: &a {tools: read}\n<<: *a",
    ];
    for format in [Format::Native, Format::Template] {
        for head in wrong {
            for text in [format!("---\n{head}\n---\nHi.\n"), format!("---\r{head}\r---\rHi.\r")] {
                let read = persona::read(&source(&text), format);
                let is_error = |it: &Problem| it.severity == Severity::Error && it.span.is_some();
                let is_refused = read.unsupported.iter().any(is_error);
                assert!(is_refused, "{text:?}: {:?} {:?}", read.persona, read.problems);
                assert!(read.problems.iter().any(is_error), "{text:?}");
            }
        }
        for text in [
            "# Scout\n\n---\nname: scout\ntools: read\n---\nHi.",
            "name: scout\ntools: read\n---\nHi.",
            "+++\ntools = read\n+++\n",
            "---\nname: scout\n---\ntools: read\n\nHi.",
            "---\nname: scout\n---\n\n---\nTools: read\n---\nHi.",
        ] {
            let read = persona::read(&source(text), format);
            assert!(read.unsupported.iter().any(|it| it.code == "unread-tools"), "{text:?}");
        }
    }
}

#[test]
fn a_list_of_tools_that_is_not_read_is_told_with_its_place() {
    check_persona(
        "---\nname: scout\nTools: read\n---\n",
        &expect![[r#"
            {"name":"scout"}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[unread-tools] f:3:1: `Tools` looks like a list of tools and is not read as one (hint: did you mean `tools`?)
        "#]],
    );
    check_persona(
        "---\nname: scout\n disallowedTools: bash\n---\n",
        &expect![[r#"
            {"name":"scout"}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[unread-tools] f:3:1: `disallowedTools` looks like a list of tools and is not read as one (hint: begin a line with `disallowedTools:`, without blanks before it)
        "#]],
    );
    check_persona(
        "---\nname: scout\ntools: bash\ntools: read\nname: two\n---\n",
        &expect![[r#"
            {"name":"scout","tools":{"allow":["bash"]}}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[duplicate-key] f:4:1: `tools` is said twice (hint: write one list)
            note[duplicate-key] f:5:1: `name` is said twice: the first one counts
        "#]],
    );
    check_persona(
        "---\nname: scout\ntools: {allow: [read]}\n---\n",
        &expect![[r#"
            {"name":"scout"}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[wrong-type] f:3:8: `tools` must be a list of names (hint: write `tools: read, grep` for what is allowed, `disallowedTools: bash` for what is denied)
        "#]],
    );
    check_persona(
        "# Scout\n---\ntools: read\n---\n",
        &expect![[r##"
        {"name":"stem","prompt":"# Scout\n---\ntools: read\n---"}
        note[plain-persona] f: no fields before the text: every tool is allowed, and it helps only where `followups` names it
        error[unread-tools] f:3:1: `tools` is not read: the file does not begin with `---` (hint: begin the file with a line `---`, then the fields, then another line `---`)
    "##]],
    );
    check_persona(
        "---\ndescription: a: b\ndisallowedTools: bash,\n  write\n---\n",
        &expect![[r#"
            {"name":"stem","description":"a: b","tools":{"deny":["bash"]}}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[unread-tools] f:4:1: this line of `disallowedTools` is not read (hint: write all names on one line, separated by commas)
        "#]],
    );
}

#[test]
fn lists_of_tools_as_people_write_them_are_read() {
    let reads = |head: &str, begin: &str| {
        let read =
            persona::read(&source(&format!("{begin}---\n{head}\n---\nHi.\n")), Format::Native);
        let is_good = read.problems.iter().all(|it| it.severity == Severity::Note);
        assert!(is_good && read.unsupported.is_empty(), "{head}: {:?}", read.problems);
        let tools = read.persona.unwrap().tools;
        (tools.allow.unwrap_or_default().join(" "), tools.deny.join(" "))
    };
    let is = |allow: &str, deny: &str| (allow.to_owned(), deny.to_owned());
    assert_eq!(reads("tools: read, grep", ""), is("read grep", ""));
    assert_eq!(reads("tools: read", "\n \r\n\u{feff}"), is("read", ""));
    assert_eq!(reads("  name: a\n  tools: [read]", ""), is("read", ""));
    assert_eq!(reads("\"tools\": read", ""), is("read", ""));
    assert_eq!(reads("# tools: bash\ntools: read # tools: bash", ""), is("read", ""));
    assert_eq!(reads("description: a: b\ntools: read # only", ""), is("read", ""));
    assert_eq!(
        reads("description: a: b\ndisallowedTools:\n  - bash\n  - write", ""),
        is("", "bash write")
    );
    assert_eq!(reads("disallowed_tools: bash", ""), is("", "bash"));
    let plan = "description: a: b\npermissionMode:\n  plan";
    assert_eq!(reads(plan, ""), is("read grep find ls glob", ""));
    assert_eq!(reads("description: |\n  Use it.\n  Tools: all of them", ""), is("", ""));
    assert_eq!(
        reads("description: \"Use it.\n  Tools: all of them\"\ntools: read", ""),
        is("read", "")
    );
    assert_eq!(reads("mcpServers:\n  x:\n    tools: [a]\ntools: read", ""), is("read", ""));
}

#[test]
fn a_text_without_fields_is_a_persona_that_is_called_as_its_file() {
    check_persona(
        "You look around.\n",
        &expect![[r#"
        {"name":"stem","prompt":"You look around."}
        note[plain-persona] f: no fields before the text: every tool is allowed, and it helps only where `followups` names it
    "#]],
    );
}

#[test]
fn files_that_are_no_personas() {
    check_persona(
        "\n",
        &expect![[r#"
            {"name":"stem"}
            error[empty-file] f: the persona is empty
        "#]],
    );
    check_persona(
        "---\nname: a\n",
        &expect![[r#"
            {"name":"a"}
            error[bad-frontmatter] f:1:1: the fields begun with `---` have no end (hint: end them with a line `---`)
        "#]],
    );
    check_persona(
        "",
        &expect![[r#"
            {"name":"stem"}
            error[empty-file] f: the persona is empty
        "#]],
    );
    check_persona(
        "---\nname: \"a\\u0007b\"\n---\n",
        &expect![[r#"
            {"name":"a\\u0007b"}
            warning[no-instructions] f: no text below the fields: its workers are told nothing but their phase (hint: say below the second `---` who they are)
            error[bad-name] f:1:1: the name `a�b` contains a control character
        "#]],
    );
}

#[test]
fn teams_in_three_dialects() {
    let check = |text: &str, expected: &Expect| {
        let (teams, problems) = read_teams(&source(text), &["a", "b", "c"]);
        let teams = teams.iter().fold(String::new(), |mut all, team| {
            let _ = writeln!(all, "{}: {:?} not {:?}", team.name, team.members, team.not_covered);
            all
        });
        expected.assert_eq(&with(teams, &problems));
    };
    check(
        "# first:\none:\n  - a\n  - b\ntwo: [c] # note\n",
        &expect![[r#"
        one: ["a", "b"] not []
        two: ["c"] not []
    "#]],
    );
    check(
        "one: {agents: [a], not_covered: [tea]}\ntwo: {agents: b, shoes: 1}\n",
        &expect![[r#"
            one: ["a"] not ["tea"]
            two: ["b"] not []
            warning[unknown-field] f:2:18: a team has no field `shoes`: it is ignored
        "#]],
    );
    check(
        "one: {agents: [a], tools: [read]}\ntwo: {agents: [b], readonly: true}\n",
        &expect![[r#"
            error[unknown-field] f:1:20: a team has no field `tools`, which would restrict the worker (hint: write it as this format has it, or take it out)
            error[unknown-field] f:2:20: a team has no field `readonly`, which would restrict the worker (hint: write it as this format has it, or take it out)
        "#]],
    );
    check(
        "teams: {one: [a], two: []}\n",
        &expect![[r#"
        one: ["a"] not []
        two: [] not []
    "#]],
    );
    check(
        "- a\n",
        &expect![[r#"
        error[not-teams] f:1:1: not a map of teams (hint: write `team: [persona, persona]`)
    "#]],
    );
    check(
        "one: [[a], b]\n",
        &expect![[r#"
        one: ["b"] not []
        error[wrong-type] f:1:7: must be a name
    "#]],
    );
}

#[test]
fn rules_in_both_dialects() {
    let check = |text: &str, expected: &Expect| {
        let read = read_rules(&source(text));
        let count = format!("{} rules, usable: {}\n", read.rules.count(), read.is_usable());
        expected.assert_eq(&with(count, &read.problems));
    };
    check(
        "bashToolPatterns:\n  - {pattern: '--force(?!-with-lease)', reason: r}\n  - {pattern: 'rm', ask: true}\nzeroAccessPaths: [.env]\nreadOnlyPaths: [x/]\nnoDeletePaths:\n",
        &expect![[r#"
            4 rules, usable: true
        "#]],
    );
    check(
        "zeroAccessPaths: [.env, '', ' ', null]\nsensitivePaths: ['']\n",
        &expect![[r#"
            1 rules, usable: true
            warning[empty-value] f:1:25: an empty item: it forbids nothing
            warning[empty-value] f:1:29: an empty item: it forbids nothing
            warning[empty-value] f:1:34: an empty item: it forbids nothing
            warning[empty-value] f:2:18: an empty item: it forbids nothing
        "#]],
    );
    check(
        "destructiveCommands: ['rm', '(?<=a)b']\nsensitivePaths: ['\\.pem$']\n",
        &expect![[r#"
            3 rules, usable: true
        "#]],
    );
    check(
        "bashToolPatterns:\n  - {pattern: 'a(', reason: r}\n  - {reason: r}\n  - rm\n  - {pattern: a, ask: maybe}\nzeroAccesPaths: [a]\nreadOnlyPaths: a\n",
        &expect![[r#"
            1 rules, usable: false
            error[bad-pattern] f:2:15: the pattern `a(` does not compile: Parsing error at position 2: Opening parenthesis without closing parenthesis
            error[missing-field] f:3:5: a rule needs `pattern` (hint: add `pattern:`)
            error[wrong-type] f:4:5: must be a map of `pattern`, `reason` and `ask`
            error[wrong-type] f:5:23: `ask` must be `true` or `false`
            error[unknown-field] f:6:1: no kind of rule is called `zeroAccesPaths` (hint: did you mean `zeroAccessPaths`?)
            error[wrong-type] f:7:16: `readOnlyPaths` must be a list
        "#]],
    );
    check(
        "",
        &expect![[r#"
        0 rules, usable: true
    "#]],
    );
    check(
        "just text",
        &expect![[r#"
        0 rules, usable: false
        error[not-rules] f:1:1: not a map of rules (hint: begin with `bashToolPatterns:`)
    "#]],
    );
}

#[test]
fn chains_become_linear_workflows() {
    let text = "full:\n  description: all of it\n  steps:\n    - agent: scout\n      prompt: 'look: $INPUT\\nthen $ORIGINAL'\n    - agent: scout\n      prompt: |\n        again\n        \\n stays\n    - {agent: a/b, prompt: c, shoes: 1}\nbad: {steps: [{agent: x}, 5]}\nworse: 3\n";
    let (units, problems) = read_chains(&source(text));
    let mut shown = String::new();
    for unit in &units {
        let _ = writeln!(shown, "{} sound: {}", unit.key, unit.is_sound());
        for phase in unit.workflow.iter().flat_map(|workflow| &workflow.phases) {
            let next: Vec<&str> =
                phase.next.iter().map(chronicle_core::base::ids::PhaseId::as_str).collect();
            let _ = writeln!(
                shown,
                "  {} {:?} {:?} -> {next:?} retries {} chained {}",
                phase.id, phase.persona, phase.instructions, phase.limits.retries, phase.chained
            );
        }
        shown = with(shown, &unit.problems());
    }
    expect![[r#"
        full sound: true
          scout Some("scout") "look: $INPUT\nthen $ORIGINAL" -> ["scout-2"] retries 0 chained true
          scout-2 Some("scout") "again\n\\n stays\n" -> ["a-b"] retries 0 chained true
          a-b Some("a/b") "c" -> ["done"] retries 0 chained true
        warning[unknown-field] f:10:31: a step has no field `shoes`: it is ignored
        bad sound: false
          x Some("x") "" -> [] retries 0 chained true
        error[missing-field] f:11:15: a step needs `prompt` (hint: add `prompt:`)
        error[wrong-type] f:11:27: a step must be a map of `agent` and `prompt`
        worse sound: false
        error[wrong-type] f:12:8: the chain `worse` must be a map
    "#]]
    .assert_eq(&with(shown, &problems));
}
