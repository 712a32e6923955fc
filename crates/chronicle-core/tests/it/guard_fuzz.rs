//! No input makes the judge panic or go on for ever, and no cut or padding of a forbidden command makes it harmless by accident.

use chronicle_core::base::tools::ToolKind;
use chronicle_core::definition::guard::{Pattern, built_in};
use chronicle_core::guard::{AskedCall, CallFacts, Compiled, Judgement, Whereabouts, judge, look};
use proptest::prelude::*;
use serde_json::{Value, json};

#[path = "../../../../fuzz/bodies/guard_call.rs"]
mod guard_call;

const CORPUS: &str = include_str!("data/guard/corpus.txt");

fn rules() -> Compiled {
    let place = Whereabouts {
        project: "/home/ann/proj".to_owned(),
        folder: "/home/ann/proj".to_owned(),
        homes: vec!["/home/ann".to_owned()],
        ..Whereabouts::default()
    };
    Compiled::new(&[built_in()], &place).unwrap()
}

fn judged(rules: &Compiled, tool: &str, input: &Value) -> Judgement {
    let call =
        AskedCall { tool, kind: ToolKind::Unknown, input, by_sub_agent: false, is_signal: false };
    judge(rules, None, &call, &CallFacts::as_written(look(&call, rules.place())))
}

fn commands() -> impl Iterator<Item = String> {
    let lines = CORPUS.lines().filter_map(|line| {
        let mut parts = line.split('‖').map(str::trim);
        let is_shell = parts.nth(1) == Some("bash");
        parts.next().filter(|_| is_shell).map(|text| text.replace('⏎', "\n"))
    });
    lines.collect::<Vec<_>>().into_iter()
}

#[test]
fn every_cut_of_a_command_is_judged() {
    let rules = rules();
    for (number, command) in commands().enumerate() {
        // Every place of some, and each place of the others some time.
        for (at, _) in command.char_indices().filter(|(at, _)| (at + number) % 5 == 0) {
            let (head, tail) = command.split_at(at);
            let _ = judged(&rules, "bash", &json!({ "command": head }));
            let _ = judged(&rules, "bash", &json!({ "command": tail }));
        }
    }
}

/// What surrounds a forbidden command does not make it harmless.
#[test]
fn a_forbidden_command_stays_forbidden_among_others() {
    let rules = rules();
    for inner in [
        "rm -rf /",
        "cat .env",
        "git push --force",
        "chronicle approve g1",
        "echo x > .chronicle/a",
    ] {
        for around in [
            "ls; {}",
            "{}; ls",
            "ls && {}",
            "ls || {}",
            "ls | {}",
            "{} | ls",
            "({})",
            "{ {}; }",
            "! {}",
            "if {}; then :; fi",
            "ls\n{}\nls",
            "x=$({}); echo $x",
            "bash -c '{}'",
            "env A=b {}",
            "timeout 3 {}",
            "for i in 1 2; do {}; done",
            "f() { {}; }; f",
            "echo 'a b' # c\n{}",
            "case x in x) {};; esac",
            "sleep 1 & {}",
            "time {}",
            "cat <<E\ntext\nE\n{}",
            "eval '{}'",
            "coproc {}",
        ] {
            let command = around.replace("{}", inner);
            let judged = judged(&rules, "bash", &json!({ "command": command }));
            assert_ne!(judged, Judgement::Clear, "{command}");
        }
    }
}

#[test]
fn large_inputs_are_bounded() {
    let rules = rules();
    for command in [
        "ls ".repeat(60_000),
        "a;".repeat(60_000),
        "(".repeat(20_000),
        "$(".repeat(20_000),
        "\"$(".repeat(20_000),
        "((".repeat(20_000),
        "cat <<E\n".repeat(30_000),
        "cat <<E1 <<E2\n".repeat(18_000),
        "cat <<E\nx\nE\n".repeat(18_000),
        "cat <<'E'\n$(\nE\n".repeat(15_000),
        "<<-".repeat(80_000),
        (0..20_000).map(|at| format!("a <<E{at}\n")).collect::<Vec<_>>().concat(),
        (0..10_000).map(|at| format!("x{at}=1;")).collect::<Vec<_>>().concat(),
        (0..10_000).map(|at| format!("x{at}=1&&")).collect::<Vec<_>>().concat() + "a",
        (0..6_000).map(|at| format!("f{at}() {{ a; }};")).collect::<Vec<_>>().concat(),
        "a | ".repeat(60_000),
        "if ".repeat(20_000),
        "{ ".repeat(20_000),
        "cat <(".repeat(20_000),
        "{ echo a;} >x;sh x;".repeat(5_000),
        "cp /bin/rm x;./x a;".repeat(5_000),
        "echo a|xargs -I{} echo {};".repeat(4_000),
        format!("echo {}", "{a,b}".repeat(200)),
        format!("git push {}", "a ".repeat(50_000)),
        format!("rm {}", "*/".repeat(50_000)),
        "'".repeat(100_001),
        "\\".repeat(100_001),
        "| ".repeat(50_000),
        format!("{}ls", "command ".repeat(12_000)),
    ] {
        let _ = judged(&rules, "bash", &json!({ "command": command }));
    }
    let many: Vec<Value> = (0..5_000).map(|at| json!({ "path": format!("a/{at}") })).collect();
    assert!(matches!(judged(&rules, "mcp__a__b", &json!(many)), Judgement::Ask { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_judged(text in "\\PC{0,80}", tool in "[a-z_]{0,12}|bash|Read|mcp__a__b") {
        let rules = rules_once();
        let _ = judged(rules, &tool, &json!({ "command": text, "path": text, "x": [text] }));
    }

    #[test]
    fn shell_like_text_is_judged(parts in prop::collection::vec(piece(), 0..14)) {
        judge_once().check(parts.concat().as_bytes());
    }

    #[test]
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        judge_once().check(&bytes);
    }

    #[test]
    fn any_pattern_compiles_or_is_refused(pattern in "\\PC{0,30}|[\\[\\](){}^$*+?|\\\\a-c&~-]{0,20}", text in "\\PC{0,40}") {
        if let Ok(pattern) = Pattern::compile(&pattern) {
            let _ = (pattern.is_in(&text), pattern.find_in(&text).count(), pattern.names_operators());
        }
    }
}

fn rules_once() -> &'static Compiled {
    static RULES: std::sync::OnceLock<Compiled> = std::sync::OnceLock::new();
    RULES.get_or_init(rules)
}

fn judge_once() -> &'static guard_call::Judge {
    static JUDGE: std::sync::OnceLock<guard_call::Judge> = std::sync::OnceLock::new();
    JUDGE.get_or_init(guard_call::Judge::new)
}

#[test]
fn the_cases_of_the_fuzzer_are_judged() {
    for case in [
        &include_bytes!("../../../../fuzz/corpus/guard_call/loop")[..],
        include_bytes!("../../../../fuzz/corpus/guard_call/document"),
        include_bytes!("../../../../fuzz/corpus/guard_call/tool.json"),
    ] {
        judge_once().check(case);
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "rm ",
        "-rf ",
        "/",
        "~",
        "$HOME",
        "$x",
        "${x}",
        "$(",
        ")",
        "`",
        "'",
        "\"",
        "\\",
        "\n",
        ";",
        "&",
        "&&",
        "|",
        "||",
        ">",
        "<",
        "<<E\n",
        "E\n",
        "{",
        "}",
        "{a,b}",
        "*",
        ".env",
        "cat ",
        "cd ",
        "git ",
        "push ",
        "--force ",
        "bash -c ",
        "eval ",
        "xargs ",
        "find . ",
        "-exec ",
        "# ",
        "é",
        " ",
        "chronicle ",
        "approve ",
        "(",
        "((",
        "))",
        "[[ ",
        " ]]",
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case ",
        " in ",
        "esac",
        "!",
    ])
}
