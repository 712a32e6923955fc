//! README and guide quote only what is produced by a run in the tests.
//!
//! Each line of an output must be in what a scenario, a table of statuses or a test expects, or in what `chronicle demo` prints
//! here; ids, times, durations, sizes and sums may differ. Each file that is shown must be accepted. Each flag must exist.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::session::{Session, redact_any};

/// Lines that people type and that nothing prints.
const TYPED: &[&str] = &["cargo run --release -- demo", "cargo xtask test", "jq -r "];
/// Where what the tests expect is written down.
const EXPECTED: &[&str] = &[
    "crates/chronicle/tests",
    "crates/chronicle-core/tests/it",
    "crates/chronicle-runtime/tests/it",
    "workflows",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    pages.extend(guide.map(|entry| entry.unwrap().path()));
    pages.sort();
    pages
}

/// Every text below a folder.
fn texts(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, all);
        } else if let Ok(text) = fs::read_to_string(&path) {
            all.push_str(&text);
            all.push('\n');
        }
    }
}

/// A line without what differs from one run to the next, or is there only for the eye.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches("! ").replace("\\\"", "\"");
    let redacted = redact_any(&line);
    let words: Vec<&str> = redacted.split_whitespace().collect();
    let counted = ["lines,", "events,", "kB", "MB", "kB;", "MB;"];
    let word = |(index, word): (usize, &&str)| {
        let is_number = word.chars().all(|c| c.is_ascii_digit() || "$.,".contains(c));
        let is_counted = words.get(index + 1).is_some_and(|next| counted.contains(next));
        // Tokens, dollars, sizes and lengths of a ledger.
        if is_number && (word.len() > 3 || is_counted) {
            "<n>".to_owned()
        } else {
            (*word).to_owned()
        }
    };
    words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Whether a line quotes nothing that could be wrong: cuts, frames, what people type.
fn says_nothing(line: &str) -> bool {
    line.is_empty() || line == "…" || TYPED.iter().any(|typed| line.starts_with(typed))
}

/// A block of a page: what it holds (`yaml`, …), the number of its first line, its lines.
struct Block<'a> {
    kind: &'a str,
    first: usize,
    lines: Vec<&'a str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (index, line) in page.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open.as_mut()) {
            (Some(kind), None) => open = Some(Block { kind, first: index + 2, lines: Vec::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    blocks
}

/// All that the tests expect, and what the demo prints.
fn produced() -> BTreeSet<String> {
    let mut text = String::new();
    for folder in EXPECTED {
        texts(&root().join(folder), &mut text);
    }
    let demo = Session::new().chronicle(&["demo"]).exits(0);
    text.push_str(&demo.stdout);
    text.push_str(&demo.stderr);
    // A text of Rust that goes on in the next line.
    let mut whole = String::new();
    for line in text.lines() {
        match line.strip_suffix('\\') {
            Some(part) => whole.push_str(part.trim_start()),
            None => whole.extend([line.trim_start(), "\n"]),
        }
    }
    whole.lines().map(plain).collect()
}

/// Whether a line of a page is produced; what stands for something cut out may be anything.
fn is_produced(line: &str, produced: &BTreeSet<String>, joined: &str) -> bool {
    // A quotation may be a part of a line, but not of a short one.
    let found = |part: &str| produced.contains(part) || part.len() > 20 && joined.contains(part);
    found(line) || line.contains('…') && line.split('…').all(|part| joined.contains(part.trim()))
}

#[test]
fn every_quoted_line_is_produced_by_a_run() {
    let produced = produced();
    let joined = produced.iter().fold(String::new(), |all, line| all + line + "\n");
    let mut missing = String::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        // Settings and workflows are tried below.
        for block in blocks(&text).iter().filter(|block| block.kind.is_empty()) {
            for (index, line) in block.lines.iter().enumerate() {
                let line = plain(line);
                if !says_nothing(&line) && !is_produced(&line, &produced, &joined) {
                    let number = block.first + index;
                    writeln!(missing, "{}:{number}: {line}", page.display()).unwrap();
                }
            }
        }
    }
    assert!(missing.is_empty(), "no test produces:\n{missing}");
}

#[test]
fn every_example_of_a_file_is_accepted() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for block in blocks(&text) {
            let (session, file) = (Session::new(), block.lines.join("\n"));
            let said = match block.kind {
                "toml" => {
                    fs::write(session.user().join("config.toml"), &file).unwrap();
                    session.chronicle(&["config"])
                }
                "yaml" if file.contains("bashToolPatterns:") => {
                    session.write(".chronicle/rules.yaml", &file);
                    session.chronicle(&["guard", "list"])
                }
                "yaml" => {
                    session.write(".chronicle/workflows/example.yaml", workflow(&file));
                    session.chronicle(&["check", "example"])
                }
                _ => continue,
            };
            assert_eq!(said.code, Some(0), "{}:{}\n{}", page.display(), block.first, said.stdout);
            count += 1;
        }
    }
    assert!(count > 5, "the pages are not read: {count}");
}

/// A whole workflow of what may be one phase, or some fields of it. Phases that it names and does not have are added.
fn workflow(example: &str) -> String {
    let is_phase = example.starts_with("build:");
    let whole = match example {
        _ if ["phases:", "states:"].iter().any(|it| example.contains(it)) => example.to_owned(),
        _ if is_phase => format!("phases:\n  {}", example.replace('\n', "\n  ")),
        _ => format!("{example}\nphases:\n  work: {{}}"),
    };
    let ships = whole.contains("[ship]") && !whole.contains("ship:");
    if ships { format!("{whole}\n  ship: {{}}\n") } else { whole }
}

/// `chronicle COMMAND … --flag` in code: the command, and the flag.
fn flags(page: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let code = page.split('`').skip(1).step_by(2).flat_map(str::lines);
    // One line may name several commands, as the way on from a gate does.
    for typed in code.flat_map(|code| code.split("chronicle ").skip(1)) {
        let Some(command) = typed.split_whitespace().next() else { continue };
        let words =
            typed.split_whitespace().map(|word| word.trim_matches(['[', ']', ',', '.', ')']));
        let flags = words.filter(|word| word.starts_with("--") && word.len() > 2);
        let named = flags.map(|flag| flag.split('=').next().unwrap_or(flag).to_owned());
        found.extend(named.map(|flag| (command.to_owned(), flag)));
    }
    found
}

#[test]
fn every_flag_that_is_named_exists() {
    let session = Session::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (command, flag) in flags(&text) {
            let help = session.chronicle(&[&command, "--help"]).exits(0).stdout;
            let is_end = |c: char| c.is_whitespace() || ",=[]<>`.;:)('".contains(c);
            let has = help.split(is_end).any(|word| word == flag);
            assert!(has, "{}: `chronicle {command}` has no {flag}", page.display());
            count += 1;
        }
    }
    assert!(count > 20, "the pages are not read: {count}");
}

#[test]
fn the_exit_codes_of_the_readme_are_those_that_runs_end_with() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let said = readme.split_once("Exit codes:").unwrap().1.split_once(".\n").unwrap().0;
    let said: BTreeSet<i32> = said
        .split(',')
        .filter_map(|part| part.split_whitespace().next().and_then(|word| word.parse().ok()))
        .collect();
    let mut text = String::new();
    texts(&root().join("crates/chronicle/tests"), &mut text);
    let code = |code: &i32| {
        ["[exit N]", "exit N;", ".exits(N)", "code, Some(N)"]
            .iter()
            .any(|shape| text.contains(&shape.replace('N', &code.to_string())))
    };
    let unseen: Vec<&i32> = said.iter().filter(|it| !code(it)).collect();
    assert!(said.len() >= 8 && unseen.is_empty(), "{said:?}, of which no test sees {unseen:?}");
}
