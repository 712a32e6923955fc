//! How the judge weighs what it knows: in which order, and what is stricter.

use chronicle_core::base::tools::{Patched, ToolKind};
use chronicle_core::definition::guard::{Rules, built_in, read_rules};
use chronicle_core::definition::workflow::{Source, Tools};
use chronicle_core::guard::{
    AskedCall, CallFacts, Compiled, Judgement, KnownToGit, RuleKind, Whereabouts, WholeFolder,
    judge, look,
};
use serde_json::{Value, json};

fn place() -> Whereabouts {
    Whereabouts {
        project: "/p".to_owned(),
        folder: "/p".to_owned(),
        homes: vec!["/h".to_owned()],
        own: vec!["/h/.config/chronicle".to_owned()],
        ..Whereabouts::default()
    }
}

fn rules(name: &str, text: &str) -> Rules {
    let source =
        Source { file: None, name: name.to_owned(), key: String::new(), text: text.to_owned() };
    let read = read_rules(&source);
    assert_eq!(read.problems, [], "{text}");
    read.rules
}

fn compiled(all: &[Rules]) -> Compiled {
    Compiled::new(all, &place()).unwrap()
}

fn call<'c>(tool: &'c str, input: &'c Value) -> AskedCall<'c> {
    AskedCall { tool, kind: ToolKind::Unknown, input, by_sub_agent: false, is_signal: false }
}

fn judged(rules: &Compiled, lists: Option<&Tools>, asked: &AskedCall<'_>) -> Judgement {
    judge(rules, lists, asked, &CallFacts::as_written(look(asked, rules.place())))
}

fn on_command(rules: &Compiled, command: &str) -> Judgement {
    judged(rules, None, &call("bash", &json!({ "command": command })))
}

fn kind(judged: &Judgement) -> Option<RuleKind> {
    match judged {
        Judgement::Clear => None,
        Judgement::Deny { rule, .. } | Judgement::Ask { rule, .. } => Some(rule.kind),
    }
}

fn denies(names: &[&str]) -> Tools {
    Tools { deny: names.iter().map(|it| (*it).to_owned()).collect(), ..Tools::default() }
}

#[test]
fn what_no_worker_may_do_comes_before_lists_and_rules() {
    let none = compiled(&[]);
    let input = json!({"command": "chronicle approve g1"});
    let asked = call("bash", &input);
    assert_eq!(kind(&judged(&none, Some(&denies(&["bash"])), &asked)), Some(RuleKind::Protected));
    let input = json!({"command": "ls"});
    let asked = call("bash", &input);
    assert_eq!(kind(&judged(&none, Some(&denies(&["bash"])), &asked)), Some(RuleKind::Tools));
    assert_eq!(judged(&none, None, &asked), Judgement::Clear);
}

#[test]
fn the_protected_things_stay_without_any_rules() {
    let none = compiled(&[]);
    for command in [
        "rm -rf .chronicle",
        "echo x > .claude/settings.json",
        "rm -rf /p",
        "chronicle go done",
        "cp x /h/.config/chronicle/config.toml",
    ] {
        let judged = on_command(&none, command);
        assert!(matches!(judged, Judgement::Deny { .. }), "{command}: {judged:?}");
        assert_eq!(kind(&judged), Some(RuleKind::Protected), "{command}");
    }
    assert_eq!(on_command(&none, "cat .env"), Judgement::Clear);
    assert_eq!(on_command(&none, "cat .claude/settings.json"), Judgement::Clear);
}

#[test]
fn signals_pass_whatever_they_say() {
    let rules = compiled(&[built_in()]);
    let input = json!({"signal": "complete", "summary": "cat .env", "path": ".env"});
    let asked = AskedCall { is_signal: true, ..call("signal_back", &input) };
    assert_eq!(judged(&rules, Some(&denies(&["*"])), &asked), Judgement::Clear);
}

#[test]
fn lists_name_kinds_and_spare_sub_agents_if_they_say_so() {
    let none = compiled(&[]);
    let input = json!({});
    let is_denied = |lists: &Tools, tool: &str, by_sub_agent: bool| {
        let asked = AskedCall { by_sub_agent, ..call(tool, &input) };
        kind(&judged(&none, Some(lists), &asked)) == Some(RuleKind::Tools)
    };
    for (deny, tool) in [
        ("bash", "Monitor"),
        ("bash", "exec_command"),
        ("bash", "no_such_tool"),
        ("edit", "MultiEdit"),
        ("edit", "NotebookEdit"),
        ("edit", "no_such_tool"),
        ("write", "apply_patch"),
        ("read", "NotebookRead"),
        ("fetch", "WebSearch"),
        ("mcp", "mcp__a__b"),
        ("mcp__*", "mcp__a__b"),
        ("agent", "Workflow"),
        ("agent", "SlashCommand"),
        ("bash", "functions.exec"),
        ("edit", "functions.no_such_tool"),
    ] {
        assert!(is_denied(&denies(&[deny]), tool, false), "{deny} {tool}");
    }
    for (deny, tool) in [
        ("bash", "BashOutput"),
        ("bash", "mcp__a__b"),
        ("bash", "Read"),
        ("edit", "Write"),
        ("monitor", "no_such_tool"),
        ("bash", "Skill"),
        ("bash", "EnterWorktree"),
        ("bash", "Workflow"),
        ("bash", "functions.read"),
    ] {
        assert!(!is_denied(&denies(&[deny]), tool, false), "{deny} {tool}");
    }
    // Who is denied for what nobody knows hears so.
    let refusal = |tool: &str| denies(&["edit"]).refusal(tool, ToolKind::Unknown).unwrap();
    assert_eq!(refusal("MultiEdit"), "this phase denies the tool `MultiEdit`");
    assert_eq!(
        refusal("no_such_tool"),
        "this phase denies `edit`, and Chronicle does not know what the tool `no_such_tool` does: it may do that too"
    );
    let own = Tools { own_only: true, ..denies(&["edit"]) };
    assert!(is_denied(&own, "Edit", false) && !is_denied(&own, "Edit", true));
    // Names alone, as in files of pi-workflows.
    let names = Tools { names_only: true, ..denies(&["bash"]) };
    assert!(is_denied(&names, "bash", false) && !is_denied(&names, "no_such_tool", false));
    let allow = |names: &[&str]| Tools {
        allow: Some(names.iter().map(|it| (*it).to_owned()).collect()),
        ..Tools::default()
    };
    assert!(!is_denied(&allow(&["edit"]), "MultiEdit", false));
    assert!(!is_denied(&allow(&["bash"]), "exec_command", false));
    assert!(is_denied(&allow(&["bash"]), "no_such_tool", false));
    assert!(is_denied(&allow(&["bash"]), "functions__bash", false), "it allows only what it names");
    // What models put before each name says nothing; what others put there may be a server.
    assert!(!is_denied(&allow(&["bash"]), "functions.bash", false));
    assert!(!is_denied(&allow(&["edit"]), "functions.MultiEdit", false));
    assert!(is_denied(&allow(&["bash"]), "other.bash", false));
    assert!(is_denied(&allow(&["bash"]), "functions.read", false));
    assert!(!is_denied(&allow(&["no_such_tool"]), "no_such_tool", false));
    assert!(is_denied(&allow(&[]), "Read", false));
    let exact = Tools { names_only: true, ..allow(&["edit"]) };
    assert!(is_denied(&exact, "MultiEdit", false) && !is_denied(&exact, "edit", false));
}

#[test]
fn a_patch_makes_and_removes_files_only_where_that_is_allowed() {
    let none = compiled(&[]);
    let allow = |names: &[&str]| Tools {
        allow: Some(names.iter().map(|it| (*it).to_owned()).collect()),
        ..Tools::default()
    };
    let patch = |body: &str| json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let change = patch("*** Update File: a.rs\n-a\n+b");
    let new = patch("*** Add File: b.rs\n+b");
    let renamed = patch("*** Update File: a.rs\n*** Move to: b.rs\n-a\n+b");
    let gone = patch("*** Delete File: a.rs");
    let unified = json!({"patch": "--- /dev/null\n+++ b/b.rs\n@@ -0,0 +1 @@\n+b\n"});
    let is_denied = |lists: &Tools, input: &Value| {
        let asked = call("apply_patch", input);
        kind(&judged(&none, Some(lists), &asked)) == Some(RuleKind::Tools)
    };
    let edit = allow(&["edit"]);
    assert!(!is_denied(&edit, &change));
    for input in [&new, &renamed, &gone, &unified] {
        assert!(is_denied(&edit, input), "{input}");
        assert!(!is_denied(&allow(&["edit", "write"]), input), "{input}");
        assert!(!is_denied(&allow(&["apply_patch"]), input), "{input}");
        assert!(!is_denied(&Tools::default(), input), "{input}");
    }
    assert!(!is_denied(&allow(&["edit", "delete"]), &gone));
    let why = edit.refusal_of_patch("apply_patch", Patched { adds: true, removes: false }).unwrap();
    assert_eq!(
        why,
        "this phase does not allow `write`, and this patch of `apply_patch` makes a file: let it change files that are there only"
    );
}

/// What a search hands to a formatter is found on the disk, and a person is asked about what the rules keep of it.
#[test]
fn formatters_are_asked_about_for_what_they_are_handed() {
    let text = "readOnlyPaths: [locked.txt]\n";
    let rules = compiled(&[rules("my/rules.yaml", text), built_in()]);
    for command in [
        "find . -name '*.txt' -exec prettier --write {} +",
        "find . -name '*.txt' | xargs prettier --write",
        "git ls-files | xargs prettier --write",
    ] {
        let input = json!({ "command": command });
        let asked = call("bash", &input);
        let mut facts = CallFacts::as_written(look(&asked, rules.place()));
        assert_eq!(judge(&rules, None, &asked, &facts), Judgement::Clear, "{command}");
        let folders = facts.looked.folders().to_vec();
        let at = folders.iter().position(WholeFolder::is_changed).unwrap();
        assert!(rules.keeps(&folders[at], "/p/locked.txt", "locked.txt"), "{command}");
        assert!(!rules.keeps(&folders[at], "/p/a.txt", "a.txt"), "{command}");
        facts.folders_seen[at].kept = vec![("/p/locked.txt".to_owned(), "locked.txt".to_owned())];
        let judged = judge(&rules, None, &asked, &facts);
        assert!(matches!(judged, Judgement::Ask { .. }), "{command}: {judged:?}");
    }
}

/// An archive leaves out what git ignores only where `tar` is told that, not by options whose names begin the same.
#[test]
fn archives_hold_what_git_ignores() {
    let rules = compiled(&[built_in()]);
    for (options, known_to_git) in [
        ("", KnownToGit::Any),
        ("--exclude=x", KnownToGit::Any),
        ("--exclude x", KnownToGit::Any),
        ("--exclude-vcs", KnownToGit::Any),
        ("--exclude-vcs-ignores", KnownToGit::NotIgnored),
    ] {
        for command in
            [format!("tar {options} -cf - ."), format!("tar {options} -czf /tmp/o.tgz .")]
        {
            let input = json!({ "command": command });
            let looked = look(&call("bash", &input), rules.place());
            let sieves: Vec<_> = looked.folders().iter().map(|it| it.sieve.known_to_git).collect();
            assert_eq!(sieves, [known_to_git], "{command}");
        }
    }
}

/// What one `tar` hands to another one lands where that one is.
#[test]
fn archives_in_pipes_are_copies() {
    let text = "readOnlyPaths: [locked.txt]\n";
    let rules = compiled(&[rules("my/rules.yaml", text), built_in()]);
    let is_kept = |command: &str, below: &str| {
        let input = json!({ "command": command });
        let looked = look(&call("bash", &input), rules.place());
        looked.folders().iter().any(|it| rules.keeps(it, &format!("/p/x/{below}"), below))
    };
    for command in [
        "(cd x && tar cf - .) | tar xf -",
        "tar c -C x . | tar x",
        "tar -C x -czf - . | tar -xz -C /p",
        "(cd x; tar cf - *) | tar xf -",
    ] {
        for below in [".chronicle/rules.yaml", "locked.txt"] {
            assert!(is_kept(command, below), "{command}: {below}");
        }
        assert!(!is_kept(command, "a.txt"), "{command}");
    }
    for command in
        ["tar c -C x . | tar x -C /tmp/o", "tar c -C x . | tar t", "tar c -C x . > o.tar"]
    {
        assert!(!is_kept(command, "locked.txt"), "{command}");
    }
}

#[test]
fn the_first_rule_of_a_file_decides_about_a_command_and_the_strictest_of_all_decides_about_a_call()
{
    let lenient = "bashToolPatterns:\n  - {pattern: 'make x', ask: true, reason: a}\n  - {pattern: make, reason: b}\n";
    let one = compiled(&[rules("one", lenient)]);
    assert!(matches!(on_command(&one, "make x"), Judgement::Ask { .. }));
    assert!(matches!(on_command(&one, "make y"), Judgement::Deny { .. }));
    assert!(matches!(on_command(&one, "make x; make y"), Judgement::Deny { .. }), "two commands");
    let strict = rules("two", "destructiveCommands: ['make x']");
    let both = compiled(&[rules("one", lenient), strict]);
    assert!(matches!(on_command(&both, "make x"), Judgement::Deny { .. }), "two files");
    // No file of a project makes the built-in rules milder.
    let mild = rules("mild", "bashToolPatterns: [{pattern: 'git push', ask: true, reason: a}]");
    let all = compiled(&[mild, built_in()]);
    assert!(matches!(on_command(&all, "git push --force"), Judgement::Deny { .. }));
}

#[test]
fn a_verdict_names_the_rule_its_file_and_its_line() {
    let text =
        "zeroAccessPaths:\n  - a\n  - .env\nbashToolPatterns:\n  - {pattern: rm, reason: no}\n";
    let all = compiled(&[rules("my/rules.yaml", text)]);
    let Judgement::Deny { rule, why } = on_command(&all, "cat .env") else { panic!() };
    assert_eq!(rule.to_string(), "zeroAccessPaths `.env` (my/rules.yaml:3)");
    assert_eq!(why, "`.env` may not be used: the rules name `.env`");
    let Judgement::Deny { rule, why } = on_command(&all, "rm x") else { panic!() };
    assert_eq!(rule.to_string(), "command rule `rm` (my/rules.yaml:5)");
    assert_eq!(why, "no: `rm x`");
    let json = serde_json::to_string(&on_command(&all, "rm x")).unwrap();
    let again: Judgement = serde_json::from_str(&json).unwrap();
    assert_eq!(again, on_command(&all, "rm x"));
}

#[test]
fn what_nobody_looked_up_is_asked_about() {
    let rules = compiled(&[built_in()]);
    let input = json!({"path": "src/main.rs"});
    let asked = call("read", &input);
    let blind = CallFacts { looked: look(&asked, rules.place()), ..CallFacts::default() };
    assert_eq!(kind(&judge(&rules, None, &asked, &blind)), Some(RuleKind::Unclear));
    assert_eq!(judged(&rules, None, &asked), Judgement::Clear);
}

#[test]
fn a_pattern_that_takes_too_long_counts_as_found() {
    let all = compiled(&[rules("r", r"destructiveCommands: ['^(?:(a|aa)+)+(?=b)\1$']")]);
    let hard = on_command(&all, &"a".repeat(60));
    assert_eq!(kind(&hard), Some(RuleKind::Command), "{hard:?}");
    assert_eq!(on_command(&all, "make"), Judgement::Clear);
}

#[test]
fn a_call_without_a_command_where_one_must_be_is_asked_about() {
    let none = compiled(&[]);
    for input in [json!({}), json!(null), json!({"command": {"x": 1}}), json!(3)] {
        let judged = judged(&none, None, &call("bash", &input));
        assert!(matches!(judged, Judgement::Ask { .. }), "{input}: {judged:?}");
    }
}

#[test]
fn without_hidden_paths_an_unknown_read_is_no_question() {
    assert_eq!(on_command(&compiled(&[]), "cat \"$FILE\""), Judgement::Clear);
    let hides = compiled(&[rules("r", "zeroAccessPaths: [.env]")]);
    assert!(matches!(on_command(&hides, "cat \"$FILE\""), Judgement::Ask { .. }));
    assert!(matches!(on_command(&compiled(&[]), "rm \"$FILE\""), Judgement::Ask { .. }));
}

/// The reader of commands need not know every option of every program.
#[test]
fn a_word_that_names_a_hidden_path_is_seen_wherever_it_stands() {
    let hides = compiled(&[rules("r", "zeroAccessPaths: [.env, ~/.ssh/]")]);
    for command in
        ["od -c .env", "sort -T .env x", "tool -x y -z .env", "tool /h/.ssh/config", "tool ~/.ssh"]
    {
        assert_ne!(on_command(&hides, command), Judgement::Clear, "{command}");
    }
    for command in ["echo .env", "git commit -m .env", "grep -rn .env src"] {
        assert_eq!(on_command(&hides, command), Judgement::Clear, "{command}");
    }
}

/// The project's own secrets: a person decides about what is in them, and nobody about their names or their examples.
#[test]
fn a_person_is_asked_about_the_secrets_of_the_project() {
    let all = compiled(&[built_in()]);
    for command in ["cat .env", "cp .env.example .env", "echo A=1 >> a/.env.local", "rm .env"] {
        let judged = on_command(&all, command);
        assert!(matches!(judged, Judgement::Ask { .. }), "{command}: {judged:?}");
        assert_eq!(kind(&judged), Some(RuleKind::AskPath), "{command}");
    }
    for name in ["example", "sample", "template", "dist"] {
        let command = format!("cat .env.{name} && cp .env.{name} b/.env.{name}");
        assert_eq!(on_command(&all, &command), Judgement::Clear);
    }
    assert_eq!(on_command(&all, "test -f .env && ls -la .env"), Judgement::Clear);
    let own = compiled(&[rules("r", "zeroAccessPaths: [.env]"), built_in()]);
    assert!(
        matches!(on_command(&own, "cat .env"), Judgement::Deny { .. }),
        "a rule of the project"
    );
}

#[test]
fn a_word_that_nobody_knows_may_be_what_a_rule_of_a_person_means() {
    let text = "bashToolPatterns:\n  - {pattern: '\\bfrob\\s+--boom\\b', reason: x}\n  - {pattern: '^tool\\s+(?:drop|burn)\\b', reason: y}\n  - {pattern: '\\bgit\\s+push\\b', reason: z}\n";
    let rules = compiled(&[rules("own.yaml", text)]);
    for command in [
        "frob $BOOM",
        "frob \"$1\"",
        "frob a; frob $X b",
        "tool $VERB now",
        "git $CMD",
        "tool $A",
        "tool d*",
        "tool d?op x",
        "tool *",
        "tool d$X",
        "tool $(git branch --show-current)",
        "tool $(ls | head -1)",
        "frob --b*",
        "frob $(cat x)",
        "git p*",
    ] {
        let judged = on_command(&rules, command);
        assert!(matches!(judged, Judgement::Ask { .. }), "{command}: {judged:?}");
        assert_eq!(kind(&judged), Some(RuleKind::Command), "{command}");
    }
    // What a program prints that the call itself tells it is known.
    for command in ["tool $(date +drop)", "tool $(date +dr)op"] {
        assert!(matches!(on_command(&rules, command), Judgement::Deny { .. }), "{command}");
    }
    for command in [
        "frob x",
        "frob x $BOOM",
        "tool list $X",
        "git add $FILE",
        "other $BOOM",
        "echo frob $X",
        "tool $(date +%s)",
        "tool x*",
        "tool list d*",
        "frob $(git branch --show-current)",
        "git add *",
        "git commit -m \"$(cat x)\"",
    ] {
        assert_eq!(on_command(&rules, command), Judgement::Clear, "{command}");
    }
}

#[test]
fn an_option_that_is_cut_short_is_what_a_rule_names() {
    let text = "bashToolPatterns:\n  - {pattern: '\\bgit\\b.*--no-verify\\b', reason: x}\n";
    let rules = compiled(&[rules("own.yaml", text)]);
    for command in ["git commit --no-verif -m a", "git push --no-ver", "git commit --no-verify"] {
        assert!(matches!(on_command(&rules, command), Judgement::Deny { .. }), "{command}");
    }
    for command in ["git commit -m 'about --no-ver'", "git log --no-merges", "cargo test --no-ver"]
    {
        assert_eq!(on_command(&rules, command), Judgement::Clear, "{command}");
    }
}

/// The guide shows a rule with the line that it is written on.
#[test]
fn the_guide_quotes_a_built_in_rule_as_it_is() {
    let guide = include_str!("../../../../docs/guide/guards.md");
    let quoted = guide.lines().find_map(|line| line.trim().strip_prefix("rule: ")).unwrap();
    let why = guide.lines().find_map(|line| line.trim().strip_prefix("why: ")).unwrap();
    let told =
        on_command(&compiled(&[built_in()]), "timeout 60 sh -c \"git push --force origin main\"");
    let Judgement::Deny { rule, why: reason } = told else { panic!("{told:?}") };
    assert_eq!((rule.to_string().as_str(), reason.as_str()), (quoted, why));
}

/// Pages show how many rules there are.
#[test]
fn pages_count_the_built_in_rules_as_they_are() {
    let count = format!("({} built in)", built_in().count());
    for page in [
        include_str!("../../../../README.md"),
        include_str!("../../../../docs/guide/people.md"),
        include_str!("../../../../docs/guide/trees.md"),
        include_str!("../../../../docs/guide/workflows.md"),
    ] {
        let shown: Vec<&str> = page.lines().filter(|line| line.contains(" built in)")).collect();
        assert!(!shown.is_empty() && shown.iter().all(|line| line.contains(&count)), "{shown:?}");
    }
}
