//! Verdicts in what a worker says, where a phase asks for one: exactly one clear PASS is a PASS, all else is a FAIL.
//!
//! A wrong FAIL costs another round, a wrong PASS lets unfinished work through. So in doubt it is a FAIL.
//!
//! - **Where.** A line gives a verdict if it begins with a label: `Verdict`, `Verification`, `Result` or `Decision`, perhaps with
//!   `Final`, `Overall`, `Review` or `Verification` before it. Markers of headings, lists and quotes, numbers, bold, backticks
//!   and emoji do not matter. `Verdict` alone on its line speaks for the line below it, as a heading for each line of its section that
//!   begins with a verdict; another label alone only for a line of nothing but a verdict. Code blocks are examples and are not read, nor is a line that begins with a quotation mark.
//! - **What.** The first word behind the label decides: `PASS`, `PASSED`, `APPROVE`, `APPROVED` and `LGTM` are a yes. `OK` is not:
//!   it opens sentences of any kind. A label other than `Verdict` opens other sentences too, so it counts only if a verdict follows.
//! - **How clear.** The yes must stand alone: nothing may be offered beside it (`PASS/FAIL`), no later word on the line may be a
//!   no (unless it is counted as none: `0 failed`), a condition or a reservation (`if`, `unless`, `but`), no part of the line may
//!   name trouble (`2 issues`, `all red`, `nothing works`) that is neither counted as none nor mended, and its sentence may neither
//!   deny (`not`) nor ask. What stands in other lines is prose, unless the next one begins with `but`,
//!   `however` or the like, or one refuses the work in so many words: `Do not merge this.`
//! - **All of them.** Every verdict must be a yes. A line of nothing but `FAIL`, wherever it stands, is one too.

mod clear;
mod trouble;

/// The verdict that a worker gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// Every verdict in the text is a clear yes.
    Pass,
    /// A no, contradicting verdicts, or no verdict at all.
    Fail,
}

const YES: [&str; 5] = ["pass", "passed", "approve", "approved", "lgtm"];
const NO: [&str; 16] = [
    "fail", "failed", "fails", "failing", "failure", "failures", "reject", "rejected", "rejects",
    "block", "blocked", "blocks", "blocker", "blockers", "blocking", "rework",
];
/// Two-word phrases that mean no.
const NO_PAIRS: [(&str, &str); 8] = [
    ("changes", "requested"),
    ("changes", "required"),
    ("request", "changes"),
    ("requests", "changes"),
    ("needs", "work"),
    ("needs", "changes"),
    ("needs", "revision"),
    ("no", "go"),
];
const QUALIFIERS: [&str; 5] = ["final", "overall", "code", "review", "verification"];
const VERDICT: &str = "verdict";
const LABELS: [&str; 4] = [VERDICT, "verification", "result", "decision"];
/// Words that take a yes back if the next line starts with them.
const TAKES_BACK: [&str; 6] = ["but", "however", "although", "except", "unless", "unfortunately"];
/// Sentences that refuse the work, wherever they stand beside a yes.
const REFUSALS: [&[&str]; 14] = [
    &["do", "not", "merge"],
    &["don't", "merge"],
    &["do", "not", "ship"],
    &["don't", "ship"],
    &["not", "ready", "to", "merge"],
    &["not", "ready", "to", "ship"],
    &["i", "reject"],
    &["i", "do", "not", "approve"],
    &["i", "don't", "approve"],
    &["i", "cannot", "approve"],
    &["i", "can't", "approve"],
    &["should", "not", "be", "merged"],
    &["must", "not", "be", "merged"],
    &["shouldn't", "be", "merged"],
];
const NO_SIGNS: [&str; 9] = ["❌", "✗", "✘", "🚫", "⛔", "👎", "🔴", "⚠", "~~"];

/// Reads the verdict of a text by the rules of this module. A missing verdict counts as a FAIL.
pub fn judged(text: &str) -> Judged {
    verdict(text).unwrap_or(Judged::Fail)
}

/// The same, for people: none if the text gives no verdict at all.
pub fn verdict(text: &str) -> Option<Judged> {
    let mut all = Vec::new();
    let mut below = Below::Prose;
    let mut fence = None;
    // Whether the line before gave a verdict.
    let mut is_behind = false;
    // Lines of prose that take a yes back. By themselves they are no verdict.
    let mut refusals = 0;
    for line in text.lines() {
        if let Some(mark) = fence_mark(line) {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
        // Code is quoted, not said: the output of a test may contain `PASS` or `FAIL`.
        } else if fence.is_none() && !line.trim().is_empty() {
            let count = all.len();
            below = read(line, below, &mut all);
            // "Verdict: PASS" and on the next line "However, the tests still fail" is not a pass.
            let is_prose = all.len() == count;
            if is_prose && (is_behind && takes_back(line) || refuses(line)) {
                refusals += 1;
            }
            is_behind = all.len() > count;
        }
    }
    // Every verdict must agree. A worker that says both has not decided.
    let is_pass = refusals == 0 && all.iter().all(|one| *one == Judged::Pass);
    let joined = if is_pass { Judged::Pass } else { Judged::Fail };
    (!all.is_empty()).then_some(joined)
}

fn takes_back(line: &str) -> bool {
    words(&plain(line)).first().is_some_and(|first| TAKES_BACK.contains(first))
}

/// True if a line of prose refuses the work in so many words, wherever it stands: `Do not merge this yet.`
fn refuses(line: &str) -> bool {
    // What somebody else said is no refusal of the worker's own.
    if line.trim_start().starts_with(['>', '"', '“', '|']) {
        return false;
    }
    let plain = plain(line);
    let said = words(&plain);
    REFUSALS.iter().any(|phrase| said.windows(phrase.len()).any(|words| words == *phrase))
}

/// What precedes a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// No label above: prose.
    Prose,
    /// `Verdict` alone on the line before.
    Verdict,
    /// Another label alone on the line before.
    Label,
    /// A heading named `Verdict`.
    Heading,
}

fn fence_mark(line: &str) -> Option<char> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    ['`', '~'].into_iter().find(|mark| line.starts_with(&mark.to_string().repeat(3)))
}

/// Adds the verdict of a line, if any. Returns what the next line is below.
fn read(line: &str, below: Below, all: &mut Vec<Judged>) -> Below {
    // A heading ends the section of the heading before it, so nothing of that section counts for the lines below.
    let is_heading = line.trim_start().starts_with('#');
    let below = if is_heading { Below::Prose } else { below };
    let next = if below == Below::Heading { below } else { Below::Prose };
    let plain = plain(line);
    let Some((label, value)) = labelled(&plain) else {
        all.extend(opens(&plain).filter(|said| counts(&plain, *said, below)));
        return next;
    };
    let is_verdict = label == VERDICT;
    if words(value).is_empty() {
        return match (is_verdict, is_heading) {
            (true, true) => Below::Heading,
            (true, false) => Below::Verdict,
            (false, _) => Below::Label,
        };
    }
    // `Verdict: almost there` decides nothing, and what decides nothing is no pass. Other labels open ordinary sentences:
    // `Result: 3 files`.
    all.extend(opens(value).or(is_verdict.then_some(Judged::Fail)));
    next
}

/// True if a line without a label counts although it starts with a verdict: prose and lists start with such words too.
fn counts(line: &str, said: Judged, below: Below) -> bool {
    match below {
        Below::Verdict | Below::Heading => true,
        Below::Label => is_bare(line),
        // In prose only a no counts: "PASS" alone on a line may be a heading or a list of tests, and a no is never ignored.
        Below::Prose => is_bare(line) && said == Judged::Fail,
    }
}

/// A line in lower case, without emphasis.
fn plain(line: &str) -> String {
    // Models write typographic apostrophes: `doesn’t` must be found as the word that it is.
    let line = line.replace('’', "'");
    let line: String =
        line.chars().filter(|it| !matches!(it, '*' | '_' | '`' | '\u{fe0f}')).collect();
    line.to_lowercase()
}

/// The label at the start of a line, and the text after it. A line such as `Verdict of round 1: FAIL` may only refuse.
fn labelled(line: &str) -> Option<(&'static str, &str)> {
    let is_marker =
        |it: char| !it.is_alphanumeric() && !matches!(it, '"' | '\'' | '“' | '‘' | '«' | '<');
    let line = line.trim_start_matches(is_marker);
    let number = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let line = if number.starts_with(['.', ')']) { number[1..].trim_start() } else { line };
    let (label, rest) = label(line)?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((_, behind)) => behind.trim_start(),
        None => rest,
    };
    if let Some(value) = rest.strip_prefix([':', '：', '=', '-', '–', '—', '→']) {
        return Some((label, value.trim_start_matches(['>', ' '])));
    }
    if rest.is_empty() || label == VERDICT && opens(rest).is_some() {
        return Some((label, rest));
    }
    let (_, value) = rest.split_once(':').filter(|_| label == VERDICT)?;
    // `Verdict of round 1: PASS` is about the past, or about a part. Only a no is taken from such a line.
    (opens(value) == Some(Judged::Fail)).then_some((label, value))
}

/// A label such as `review verdict` at the start of a line.
fn label(line: &str) -> Option<(&'static str, &str)> {
    let mut rest = line;
    let mut found = None;
    loop {
        let word: &str = rest.split(|it: char| !it.is_alphanumeric()).next()?;
        let behind = &rest[word.len()..];
        if let Some(label) = LABELS.into_iter().find(|label| *label == word) {
            found = Some((label, behind));
        } else if !QUALIFIERS.contains(&word) {
            return found;
        }
        rest = behind.trim_start_matches(' ');
    }
}

/// The words of a text. A hyphen is part of a word: `pass-through` is not a verdict.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '\'' && it != '-');
    words.map(|word| word.trim_matches(['\'', '-'])).filter(|word| !word.is_empty()).collect()
}

/// True if a text is a verdict and nothing else.
fn is_bare(text: &str) -> bool {
    words(text).len() == 1
        || matches!(words(text)[..], [one, two] if NO_PAIRS.contains(&(one, two)))
}

/// The verdict at the start of a text, if any.
fn opens(text: &str) -> Option<Judged> {
    let said = words(text);
    let first = *said.first()?;
    let second = said.get(1).copied().unwrap_or_default();
    // `not approved` begins with no word of either list.
    let is_denied = ["not", "no", "never"].contains(&first) && YES.contains(&second);
    if is_denied || NO.contains(&first) || NO_PAIRS.contains(&(first, second)) || first == "no-go" {
        return Some(Judged::Fail);
    }
    if !YES.contains(&first) {
        return None;
    }
    let rest = text.split_once(first).map_or("", |(_, rest)| rest);
    let is_signed_no = NO_SIGNS.iter().any(|sign| text.contains(sign));
    let is_clear = !is_signed_no && clear::is_clear(rest);
    Some(if is_clear { Judged::Pass } else { Judged::Fail })
}
