//! Trouble that a worker names beside its yes: `PASS (2 critical issues)`, `PASS, all tests skipped`.
//!
//! Judged clause by clause. What is counted as none (`no known bugs`) or is mended (`the regression is fixed`) is no trouble, nor
//! is a single thing that is only the topic (`matches the issue`).

use super::clear::NONE;

/// Things that are wrong, each in the singular and the plural.
const THINGS: [(&str, &str); 8] = [
    ("issue", "issues"),
    ("problem", "problems"),
    ("concern", "concerns"),
    ("bug", "bugs"),
    ("defect", "defects"),
    ("error", "errors"),
    ("regression", "regressions"),
    ("crash", "crashes"),
];
/// Things that are nobody's topic beside a yes, however they are described.
const GRAVE: [&str; 10] = [
    "vulnerability",
    "vulnerabilities",
    "leak",
    "leaks",
    "loss",
    "losses",
    "injection",
    "injections",
    "overflow",
    "deadlock",
];
/// Words that say of one thing that it is there: `a bug`, `known issue`. Numbers do too.
const THERE: [&str; 21] = [
    "a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "another", "some", "several", "few", "many", "known", "critical", "serious", "major",
];
/// Numbers as words: `two major ones`.
const COUNTS: [&str; 13] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several",
    "some", "many",
];
const SEVERE: [&str; 4] = ["critical", "major", "serious", "severe"];
/// Words after one thing that make it a part of another word: `error handling`.
const PARTS: [&str; 14] = [
    "handling", "handler", "message", "messages", "path", "paths", "case", "cases", "code",
    "codes", "report", "reports", "tracker", "type",
];
/// A state of the work that is no good: after `is` or the like, or as the last word.
const BAD: [&str; 8] =
    ["broken", "red", "missing", "skipped", "incomplete", "unfinished", "untested", "unverified"];
const BE: [&str; 6] = ["is", "are", "was", "were", "still", "all"];
/// Words of a clause that says that something wrong is put right, or is dealt with.
const MENDED: [&str; 34] = [
    "fix",
    "fixes",
    "fixed",
    "resolve",
    "resolves",
    "resolved",
    "address",
    "addresses",
    "addressed",
    "close",
    "closes",
    "closed",
    "solve",
    "solves",
    "solved",
    "mended",
    "gone",
    "handled",
    "handles",
    "covered",
    "covers",
    "tested",
    "reviewed",
    "checked",
    "caught",
    "catches",
    "reported",
    "reports",
    "prevents",
    "prevented",
    "removed",
    "corrected",
    "longer",
    "nits",
];
/// Words that put it off: `to be fixed`, `needs a fix`.
const PUT_OFF: [&str; 9] =
    ["be", "need", "needs", "must", "should", "not", "will", "later", "cannot"];
/// What is said to be missing in `none of the tests pass`, `nothing works`, `no tests exist`.
const GOOD: [&str; 18] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "work",
    "works",
    "worked",
    "run",
    "runs",
    "ran",
    "exist",
    "exists",
    "green",
    "succeed",
    "succeeds",
    "succeeded",
    "compiles",
    "builds",
];
const CHECKS: [&str; 2] = ["tests", "checks"];

/// True if the words of a clause name trouble.
pub(super) fn names_trouble(said: &[&str]) -> bool {
    let is_named = (0..said.len()).any(|at| is_trouble(said, at) && !is_none(said, at));
    // `PASS, no` takes everything back.
    is_named && !is_mended(said) || lacks_good(said) || is_part(said) || *said == ["no"]
}

/// `12 of 13 tests`: not all of them.
fn is_part(said: &[&str]) -> bool {
    let number = |word: &str| word.parse::<u32>().ok();
    let is_less = |some: &str, all: &str| Some(number(some)? < number(all)?);
    said.windows(3).any(|words| words[1] == "of" && is_less(words[0], words[2]) == Some(true))
}

fn is_trouble(said: &[&str], at: usize) -> bool {
    let word = said[at];
    let before = said[..at].last().copied().unwrap_or_default();
    let next = said.get(at + 1).copied().unwrap_or_default();
    if BAD.contains(&word) {
        // `4 skipped` belongs to the usual count of a test run.
        let is_counted = word == "skipped" && is_number(before);
        return (next.is_empty() || BE.contains(&before)) && !is_counted;
    }
    if SEVERE.contains(&word) {
        return is_count(before) && (next.is_empty() || next == "ones");
    }
    let is_thing = THINGS.iter().any(|(one, many)| {
        word == *many || word == *one && !PARTS.contains(&next) && is_there(&said[..at])
    });
    is_thing || GRAVE.contains(&word)
}

/// True if one thing is not only the topic: it begins its clause, or is counted or described as being there.
fn is_there(before: &[&str]) -> bool {
    let near = &before[before.len().saturating_sub(2)..];
    before.is_empty() || near.iter().any(|word| THERE.contains(word) || is_number(word))
}

/// True if it is counted as none: a word such as `no` comes before it, and no number in between.
fn is_none(said: &[&str], at: usize) -> bool {
    let none = said[..at].iter().rposition(|word| NONE.contains(word));
    let is_none_before = none.is_some_and(|none| !said[none + 1..at].iter().any(|it| is_count(it)));
    is_none_before || matches!(said[at + 1..], ["0" | "none" | "zero"])
}

fn is_mended(said: &[&str]) -> bool {
    said.iter().any(|word| MENDED.contains(word))
        && !said.iter().any(|word| PUT_OFF.contains(word) || word.ends_with("n't"))
}

/// True for `nothing works` and `no tests`, and not for `no tests failed`.
fn lacks_good(said: &[&str]) -> bool {
    let Some(none) = said.iter().position(|word| NONE.contains(word)) else { return false };
    let behind = &said[none + 1..];
    let is_good = behind.iter().take(5).any(|word| GOOD.contains(word));
    // `no tests` and nothing more, or `no tests were added`: what did not run cannot have passed.
    let is_of_checks = behind.iter().take(3).any(|word| CHECKS.contains(word));
    let is_about_bad = (none..said.len()).any(|at| is_bad(said[at]));
    (is_good || is_of_checks) && !is_about_bad
}

/// `no tests failed`, `none of the tests is broken`, `no errors when it runs`.
fn is_bad(word: &str) -> bool {
    super::NO.contains(&word)
        || BAD.contains(&word)
        || THINGS.iter().any(|(one, many)| [*one, *many].contains(&word))
}

fn is_count(word: &str) -> bool {
    is_number(word) || COUNTS.contains(&word)
}

fn is_number(word: &str) -> bool {
    word != "0" && word.starts_with(|it: char| it.is_ascii_digit())
}
