//! Whether a yes is clear: nothing on its line makes it doubtful.

use super::trouble::names_trouble;
use super::{Judged, NO, NO_PAIRS, opens, words};

/// Words that may directly follow a yes: `PASS for all`, but not `pass rate`.
const JOINS: [&str; 16] = [
    "with", "without", "on", "for", "by", "as", "because", "since", "and", "all", "no", "every",
    "in", "at", "the", "this",
];
/// Words that make a yes conditional, anywhere on the line.
const HEDGES: [&str; 47] = [
    "if",
    "unless",
    "but",
    "however",
    "except",
    "provided",
    "assuming",
    "pending",
    "until",
    "conditional",
    "conditionally",
    "tentative",
    "tentatively",
    "partial",
    "partially",
    "subject",
    "reservation",
    "reservations",
    "caveat",
    "caveats",
    "although",
    "though",
    "unfortunately",
    "mostly",
    "unable",
    "remain",
    "remains",
    "remaining",
    "crashes",
    "left",
    "outstanding",
    "unresolved",
    "unfixed",
    "example",
    "wrong",
    "incorrect",
    "guess",
    "ignoring",
    "false",
    "unsafe",
    "hang",
    "hangs",
    "todo",
    "wip",
    "tbd",
    "draft",
    "unclear",
];
/// Two-word conditions, anywhere on the line.
const HEDGE_PAIRS: [(&str, &str); 12] = [
    ("for", "now"),
    ("in", "theory"),
    ("in", "principle"),
    ("to", "do"),
    ("must", "fix"),
    ("must", "be"),
    ("should", "be"),
    ("fix", "first"),
    ("needs", "to"),
    ("to", "be"),
    ("will", "be"),
    ("not", "yet"),
];
/// Conditions only directly after the yes: `PASS, once CI is green`.
const FIRST_HEDGES: [&str; 7] = ["after", "once", "only", "when", "or", "minus", "modulo"];
/// Words after `with` that make a yes reserved.
const RESERVED: [&str; 4] = ["conditions", "exceptions", "changes", "fixes"];
pub(super) const NONE: [&str; 7] = ["0", "no", "none", "nothing", "zero", "without", "never"];
/// How many words before a no may negate it: `no tests failed`.
const NONE_BEFORE: usize = 3;

/// True if nothing that follows a yes on its line takes it back.
pub(super) fn is_clear(rest: &str) -> bool {
    stands_alone(rest)
        && !is_hedged(rest)
        && !is_contradicted(rest)
        && !is_fraction(rest)
        && !clauses(rest).any(|said| names_trouble(&said))
}

/// `3/5 tests`: not all of them. Read before the clauses, which end at a slash.
fn is_fraction(rest: &str) -> bool {
    let parts: Vec<&str> = rest.split('/').collect();
    parts.windows(2).any(|sides| {
        let number = |text: &str| text.parse::<u32>().ok();
        let some = sides[0].trim_end().rsplit(|it: char| !it.is_ascii_digit()).next();
        let all = sides[1].trim_start().split(|it: char| !it.is_ascii_digit()).next();
        let (some, all) = (some.and_then(number), all.and_then(number));
        matches!((some, all), (Some(some), Some(all)) if some < all)
    })
}

/// The words between commas, points, brackets and dashes.
fn clauses(rest: &str) -> impl Iterator<Item = Vec<&str>> {
    rest.split([',', '.', ';', '!', '(', ')', '|', '/', '—', '–', '→']).map(words)
}

/// True if a yes has no alternative beside it and does not belong to the words after it.
fn stands_alone(rest: &str) -> bool {
    let next = rest.trim_start();
    let is_offered = next.starts_with(['/', '|', '\\', ',']) && is_choice(next);
    let is_joined = next.starts_with(char::is_alphanumeric)
        && words(next).first().is_some_and(|word| !JOINS.contains(word));
    let counted = next.strip_prefix([':', '=']).map(str::trim_start);
    // `Passed: 12` counts tests, and says nothing of those that failed.
    let is_count = counted.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    !is_offered && !is_joined && !is_count && !rest.starts_with('\'')
}

/// `/ FAIL`, `| ANYTHING`, `, FAIL`: a slash or a bar always offers an alternative.
fn is_choice(next: &str) -> bool {
    let behind = next.trim_start_matches(|it: char| !it.is_alphanumeric());
    !next.starts_with(',') && !behind.is_empty() || opens(behind) == Some(Judged::Fail)
}

/// True if a condition, a reservation, a negation or a question takes a yes back.
fn is_hedged(rest: &str) -> bool {
    let said = words(rest);
    let none_before = |at: usize| said[at.saturating_sub(2)..at].iter().any(|it| NONE.contains(it));
    let pair = |at: usize| (said[at], said.get(at + 1).copied().unwrap_or_default());
    let is_hedge = |at: usize| HEDGES.contains(&said[at]) || HEDGE_PAIRS.contains(&pair(at));
    let hedged = |at: usize| is_hedge(at) && !none_before(at);
    let reserved = |at: usize| {
        said[at] == "with"
            && said[at..].iter().take(4).any(|it| RESERVED.contains(it))
            && !with_none(&said[at..])
    };
    let sentence = rest.split_inclusive(['.', '!', ';']).next().unwrap_or_default();
    let is_denial = |word: &&str| ["not", "cannot"].contains(word) || word.ends_with("n't");
    said.first().is_some_and(|first| FIRST_HEDGES.contains(first))
        || (0..said.len()).any(|at| hedged(at) || reserved(at))
        || sentence.contains('?')
        || words(sentence).iter().any(is_denial)
}

fn with_none(said: &[&str]) -> bool {
    said.get(1).is_some_and(|word| NONE.contains(word))
}

/// True if a no follows a yes on the same line. A negated one does not count: `0 failed`, `no tests failed`, `failed: 0`.
fn is_contradicted(rest: &str) -> bool {
    clauses(rest).any(|said| {
        let is_no = |at: usize| {
            let pair = (said[at], said.get(at + 1).copied().unwrap_or_default());
            NO.contains(&said[at]) || NO_PAIRS.contains(&pair)
        };
        let is_none = |at: usize| {
            said[at.saturating_sub(NONE_BEFORE)..at].iter().any(|it| NONE.contains(it))
                || matches!(said[at + 1..], ["0" | "none" | "zero"])
        };
        (0..said.len()).any(|at| is_no(at) && !is_none(at))
    })
}
