//! Text that means no good: nothing panics, nothing grows without bound, everything is told.

#![expect(clippy::expect_used, reason = "a helper of a test may fail it")]

use std::fmt::Write as _;

use chronicle_core::definition::workflow::{FILE_MAX, Loaded, Severity, Source, Workflow, load};
use proptest::prelude::*;

fn load_text(text: &str) -> Loaded {
    let main = Source {
        file: None,
        name: "w.yaml".to_owned(),
        key: "w".to_owned(),
        text: text.to_owned(),
    };
    load(main, &mut |_| None)
}

fn problems(text: &str) -> String {
    load_text(text).problems.iter().fold(String::new(), |mut all, problem| {
        writeln!(all, "{problem}").expect("a string takes it");
        all
    })
}

#[test]
fn files_with_nothing_to_read() {
    insta::assert_snapshot!(problems(""), @"error[empty-file] w.yaml: nothing in it");
    insta::assert_snapshot!(problems("# later\n"), @"error[empty-file] w.yaml: nothing in it");
    insta::assert_snapshot!(problems("just a word"), @"error[not-a-workflow] w.yaml:1:1: not a map of fields (hint: begin with `name:` and `phases:`)");
    insta::assert_snapshot!(problems("- a\n- b\n"), @"error[not-a-workflow] w.yaml:1:1: not a map of fields (hint: begin with `name:` and `phases:`)");
    insta::assert_snapshot!(problems("\0\u{1}\u{2}ELF"), @r"
    error[syntax] w.yaml:1:1: not readable as YAML: unexpected character: `\u{0}'
    ");
    insta::assert_snapshot!(problems(&" ".repeat(FILE_MAX + 1)), @"error[too-large] w.yaml: larger than 1048576 bytes");
}

#[test]
fn a_mark_of_byte_order_and_windows_lines_change_nothing() {
    let plain = "name: é\nphases:\n  - id: a\n  - id: b\n    nxet: a\n";
    let windows = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    assert_eq!(problems(plain), problems(&windows));
    insta::assert_snapshot!(problems(&windows), @"error[unknown-field] w.yaml:5:5: a phase has no field `nxet` (hint: did you mean `next`?)");
    let span = load_text(&windows).problems[0].span.clone().expect("a place");
    assert_eq!(&windows[span], "nxet");
}

#[test]
fn syntax_is_told_with_its_place() {
    insta::assert_snapshot!(problems("phases:\n\t- id: a\n"), @"error[syntax] w.yaml:2:2: not readable as YAML: tabs disallowed within this context (block indentation) (hint: indent with spaces)");
    insta::assert_snapshot!(problems("phases: [{id: a}\nname: b\n"), @"error[syntax] w.yaml:2:5: not readable as YAML: illegal placement of ':' indicator");
    insta::assert_snapshot!(problems("{\"phases\": [{\"id\": \"a\"}"), @"error[syntax] w.yaml:1:12: not readable as YAML: unclosed bracket '['");
    insta::assert_snapshot!(problems("name: *nobody\n"), @"error[syntax] w.yaml:1:7: not readable as YAML: while parsing node, found unknown anchor");
    insta::assert_snapshot!(problems("phases: {a: }\n---\nphases: {b: }\n"), @"error[several-documents] w.yaml:2:1: a second document begins here; a workflow file holds one");
    insta::assert_snapshot!(problems("phases: !include other.yaml\n"), @r"
    error[unknown-tag] w.yaml:1:18: the tag `!include` means nothing here
    error[wrong-type] w.yaml:1:18: `phases` must be a list or a map
    ");
}

#[test]
fn keys_that_are_none_and_keys_said_twice() {
    let text = "phases:\n  a: {next: b, next: c}\n  b:\n  a:\n? [x]\n: y\n? ~\n: z\n";
    insta::assert_snapshot!(problems(text), @r"
    error[duplicate-key] w.yaml:2:16: `next` is said twice
    error[duplicate-key] w.yaml:4:3: `a` is said twice
    error[bad-key] w.yaml:5:3: a key must be a text
    error[bad-key] w.yaml:7:3: a key must be a text
    ");
    let numbers = load_text("phases: {1: {next: 2}, 2: }");
    assert!(numbers.is_usable());
}

#[test]
fn depth_is_bounded() {
    let flow = "[".repeat(10_000);
    let block = "- ".repeat(10_000);
    let maps =
        (0..10_000).fold(String::new(), |text, level| text + &" ".repeat(level % 90) + "a:\n");
    insta::assert_snapshot!(problems(&flow), @"error[too-deep] w.yaml:1:65: nested deeper than 64 levels");
    insta::assert_snapshot!(problems(&block), @"error[too-deep] w.yaml:1:129: nested deeper than 64 levels");
    assert!(!load_text(&maps).is_usable());
}

#[test]
fn aliases_are_bounded() {
    insta::assert_snapshot!(problems("a: &a [*a]\n"), @"error[alias-loop] w.yaml:1:8: an alias inside its own anchor");
    let mut bomb = "l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..30 {
        let below = vec![format!("*l{}", level - 1); 9].join(", ");
        writeln!(bomb, "l{level}: &l{level} [{below}]").expect("a string takes it");
    }
    insta::assert_snapshot!(problems(&bomb), @"error[too-many-aliases] w.yaml:5:35: anchors and aliases copy more than 1048576 bytes");
    let deep = (1..20_000).fold("l0: &l0 x\n".to_owned(), |mut text, level| {
        writeln!(text, "l{level}: &l{level} [*l{}]", level - 1).expect("a string takes it");
        text
    });
    assert!(problems(&deep).contains("too-many-aliases"));
    let big = format!("a: &a {}\nb: [{}]\n", "x".repeat(200_000), "*a, ".repeat(50_000));
    assert!(problems(&big).contains("too-many-aliases"));
    let shared = "phases:\n  a: &a {nxet: b}\n  b: *a\n";
    insta::assert_snapshot!(problems(shared), @r"
    error[unknown-field] w.yaml:2:10: a phase has no field `nxet` (hint: did you mean `next`?)
    warning[unreachable-phase] w.yaml:3:3: no edge leads to `b`
    ");
}

#[test]
fn many_warnings_stay_warnings() {
    let names: Vec<String> = (0..150).map(|index| format!("n{index}: done")).collect();
    let text = format!("phases:\n  a: {{next: [done], on: {{{}}}}}\n", names.join(", "));
    let loaded = load_text(&text);
    assert_eq!(loaded.problems.len(), 101);
    assert!(loaded.problems.iter().all(|problem| problem.severity < Severity::Error));
    assert!(loaded.is_usable());
}

#[test]
fn many_problems_are_counted_and_stay_errors() {
    let names: Vec<String> = (0..150).map(|index| format!("n{index}: done")).collect();
    let loaded = load_text(&format!(
        "phases:\n  a: {{next: [b], on: {{{}}}}}\n  b: {{commands: make, next: [a, done]}}\n",
        names.join(", ")
    ));
    assert!(loaded.problems[..100].iter().all(|problem| problem.severity == Severity::Warning));
    assert_eq!(loaded.problems.len(), 101);
    assert!(!loaded.is_usable());
    insta::assert_snapshot!(loaded.problems[100], @"error[too-many-problems] w.yaml:3:3: 51 more problems are not shown");
}

#[test]
fn many_phases_are_refused() {
    let names: Vec<String> = (0..100_000).map(|index| format!("n{index}")).collect();
    let told = problems(&format!("phases: [{{id: a, next: [{}]}}]", names.join(",")));
    assert!(told.contains("more problems are not shown"), "{told}");
    let entries = (0..60_000).map(|index| format!("p{index}: ")).collect::<Vec<_>>().join(",");
    let loaded = load_text(&format!("phases: {{{entries}}}"));
    assert!(loaded.problems.iter().any(|problem| problem.code == "too-many-phases"));
    assert_eq!(loaded.workflows[0].phases.len(), 500);
}

#[test]
fn a_chain_of_workflows_ends() {
    let main = Source {
        file: None,
        name: String::new(),
        key: "w".to_owned(),
        text: "phases: [{subworkflow: x}]".to_owned(),
    };
    let mut asked = 0;
    let loaded = load(main, &mut |key| {
        asked += 1;
        let text = format!("phases: [{{id: a, workflow: {key}x}}]");
        Some(Source { file: None, name: key.to_owned(), key: key.to_owned(), text })
    });
    assert!(asked < 200);
    assert!(loaded.problems.iter().any(|problem| problem.code == "too-many-workflows"));
}

#[test]
fn messages_hold_no_control_characters() {
    let told = problems("\"a\\e[31m\": 1\nphases: {a: {run: \"\\a\", next: \"x\\n\"}}\n");
    assert!(!told.replace('\n', "").chars().any(char::is_control), "{told:?}");
}

/// Whatever comes in, what comes out holds together.
fn check_whatever(text: &str) -> Result<(), TestCaseError> {
    let loaded = load_text(text);
    for problem in &loaded.problems {
        prop_assert!(problem.line >= 1 && problem.column >= 1);
        let cut = problem.span.clone().map(|span| text.get(span).is_some());
        prop_assert!(cut != Some(false), "{problem:?}");
    }
    if loaded.is_usable() {
        let workflow = &loaded.workflows[0];
        prop_assert!(workflow.phase(&workflow.initial).is_some());
        for target in
            workflow.phases.iter().flat_map(|phase| phase.next.iter().chain(phase.on.values()))
        {
            let is_end = ["done", "human_intervention"].contains(&target.as_str());
            prop_assert!(is_end || workflow.phase(target).is_some(), "{target}");
        }
        let json = serde_json::to_string(workflow).expect("it is JSON");
        let read: Workflow = serde_json::from_str(&json).expect("it is read");
        prop_assert_eq!(&read, workflow);
    } else {
        prop_assert!(!loaded.problems.is_empty());
    }
    Ok(())
}

const FULL: &str = include_str!("data/workflows/native/full.yaml");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_survived(text in any::<String>()) {
        check_whatever(&text)?;
    }

    #[test]
    fn arbitrary_signs_are_survived(text in "[-:?&*!|>'\"%@`{}\\[\\],# \n\ta-cé0-9~<]{0,80}") {
        check_whatever(&text)?;
    }

    #[test]
    fn a_changed_file_is_survived(
        at in 0..FULL.len(),
        length in 0..40_usize,
        put in "[-:?&*!|>'\"{}\\[\\],# \n\ta-z0]{0,12}",
    ) {
        let start = FULL.floor_char_boundary(at);
        let end = FULL.floor_char_boundary((at + length).min(FULL.len())).max(start);
        check_whatever(&format!("{}{put}{}", &FULL[..start], &FULL[end..]))?;
    }

    #[test]
    fn a_file_with_fields_moved_is_survived(picks in prop::collection::vec(0..60_usize, 0..60)) {
        let lines: Vec<&str> = FULL.lines().collect();
        let text: Vec<&str> = picks.iter().filter_map(|pick| lines.get(*pick).copied()).collect();
        check_whatever(&text.join("\n"))?;
    }
}
