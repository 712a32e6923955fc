//! What may not stay in a finished change.

use super::links::without_code;
use super::{Finding, Repo};
use crate::code::functions::closing_brace;
use crate::code::source::{find_words, line_of};

/// Marks of unfinished work, in comments and prose. In backticks they are only spoken of.
const MARKS: &[&str] = &["TODO", "FIXME", "XXX"];
const MACROS: &[&str] = &["todo!", "unimplemented!"];

/// Marks and macros of work that was put off.
pub(super) fn unfinished_work(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let comments = repo.rust().map(|file| (file, without_spans(&file.source.comments)));
    let prose = repo.prose().map(|file| (file, without_code(&file.text)));
    for (file, text) in comments.chain(prose) {
        for mark in MARKS {
            for at in find_words(&text, mark) {
                let fix = "do it now, or say in docs/design what is left out and why";
                let line = line_of(&text, at);
                findings.push(Finding::new(&file.path, line, format!("says `{mark}`"), fix));
            }
        }
    }
    for file in repo.rust() {
        let code = &file.source.code;
        for name in MACROS {
            for at in find_words(code, name.trim_end_matches('!')) {
                if code[at..].starts_with(name) {
                    let what = format!("calls `{name}`");
                    let fix = "write it, or refuse with an error that names it";
                    findings.push(Finding::new(&file.path, line_of(code, at), what, fix));
                }
            }
        }
    }
    findings
}

/// Attributes that hide a warning for good, or a test.
pub(super) fn attributes(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let code = &file.source.code;
        for (at, _) in code.match_indices('#') {
            let Some(attribute) = attribute(code, at) else { continue };
            let Some((what, fix)) = judge(attribute) else { continue };
            findings.push(Finding::new(&file.path, line_of(code, at), what, fix));
        }
    }
    findings
}

/// What stands between the brackets of an attribute.
fn attribute(code: &str, at: usize) -> Option<&str> {
    let after = &code[at + 1..];
    let inside = after.strip_prefix('!').unwrap_or(after).strip_prefix('[')?;
    let mut depth = 1_i32;
    let end = inside.find(|letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        depth == 0
    })?;
    Some(inside[..end].trim())
}

fn judge(attribute: &str) -> Option<(&'static str, &'static str)> {
    let has = |word: &str| {
        let is_used = attribute.starts_with(word) || attribute.starts_with("cfg_attr");
        is_used && find_words(attribute, word).next().is_some()
    };
    if has("allow") {
        Some(("uses `allow`", "use `expect` with a `reason`, which fails once it is not needed"))
    } else if has("expect") && find_words(attribute, "reason").next().is_none() {
        Some(("uses `expect` without a reason", "add `reason = \"…\"`"))
    } else if has("ignore") {
        Some(("ignores a test", "make it run, or delete it"))
    } else {
        None
    }
}

/// A sleeping test is slow on a fast machine and wrong on a slow one.
pub(super) fn sleeping_tests(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let code = &file.source.code;
        for at in find_words(code, "thread::sleep").chain(grouped_sleep(code)) {
            let line = line_of(code, at);
            if file.is_test_line(line) {
                let fix = "wait for the event that you expect";
                findings.push(Finding::new(&file.path, line, "sleeps in a test", fix));
            }
        }
    }
    findings
}

/// Offsets of `sleep` in `use std::thread::{…, sleep}`.
fn grouped_sleep(code: &str) -> impl Iterator<Item = usize> + '_ {
    code.match_indices("thread::{").map(|(at, _)| at).filter(|at| {
        let open = at + "thread::".len();
        let close = closing_brace(code, open).unwrap_or(open);
        find_words(&code[open..close], "sleep").next().is_some()
    })
}

/// A comment without what stands in backticks.
fn without_spans(comments: &str) -> String {
    comments.lines().map(|line| without_code(line).replace('\n', "") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(check: fn(&Repo) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        check(&Repo::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = "// TODO: more\nlet a = \"TODO\";\n/// Says `TODO` to people.\ntodo!()\n";
        assert_eq!(lines(unfinished_work, "a.rs", text), [1, 4]);
        let text = "a\n```\nTODO\n```\n`FIXME`\nFIXME\n";
        assert_eq!(lines(unfinished_work, "docs/a.md", text), [6]);
    }

    #[test]
    fn hidden_warnings_are_found() {
        let text = "#![allow(a)]\n#[cfg_attr(test, allow(b))]\n#[expect(c)]\n\
            #[expect(\n    d,\n    reason = \"why\"\n)]\n#[ignore = \"slow\"]\n#[clap(allow_x)]\n";
        assert_eq!(lines(attributes, "a.rs", text), [1, 2, 3, 8]);
    }

    #[test]
    fn sleeping_tests_are_found() {
        let text = "fn a() { std::thread::sleep(b); }\n";
        assert_eq!(lines(sleeping_tests, "crates/a/tests/it/a.rs", text), [1]);
        assert_eq!(lines(sleeping_tests, "crates/a/src/a.rs", text), []);
        let text = "use std::thread::{self, sleep};\n";
        assert_eq!(lines(sleeping_tests, "crates/a/tests/it/a.rs", text), [1]);
    }
}
