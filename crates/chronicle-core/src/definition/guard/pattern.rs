//! Patterns of rules: JavaScript's regular expressions, which these files were made for, with bounded work per match.

use std::fmt::Write as _;
use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};

use super::relaxed::relaxed;

/// Most steps back of one match, enough for a few by each letter of a long command. A pattern that needs more counts as one that may
/// match: what cannot be decided is not let through.
const STEPS_MAX: usize = 400_000;
/// Most memory of one compiled pattern, in bytes.
const SIZE_MAX: usize = 1 << 20;

/// A pattern whose work on a text is bounded.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Made when it is first needed; `None` if it does not compile.
    regex: OnceLock<Option<Regex>>,
    source: String,
    /// A part of every text that it matches, by which most texts are passed over quickly; empty if there is none.
    needs: String,
    /// What matches at least the same texts, and quickly; `None` if the pattern itself is quick.
    quick: OnceLock<Option<Regex>>,
}

/// Where a pattern was found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Somewhere in these bytes.
    At(std::ops::Range<usize>),
    /// It took too many steps to find out.
    TooHard,
}

impl Pattern {
    /// Compiles a pattern, or tells what is wrong with it.
    pub fn compile(source: &str) -> Result<Self, String> {
        let regex = build(source)?;
        let pattern = Self::lazy(source);
        Ok(Self { regex: OnceLock::from(Some(regex)), ..pattern })
    }

    /// A pattern that is compiled once a text may match it. One that does not compile counts as found wherever it may match.
    pub fn lazy(source: &str) -> Self {
        let (regex, quick) = (OnceLock::new(), OnceLock::new());
        Self { regex, source: source.to_owned(), needs: needed(source), quick }
    }

    /// False if it surely does not match: told by what takes few steps, however long the text is.
    fn may_be_in(&self, text: &str) -> bool {
        if !text.contains(&self.needs) {
            return false;
        }
        let quick = || relaxed(&translated(&self.source)).and_then(|it| compiled(&it).ok());
        let quick = self.quick.get_or_init(quick).as_ref();
        quick.is_none_or(|quick| quick.is_match(text).unwrap_or(true))
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| build(&self.source).ok()).as_ref()
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every place where it matches, from left to right.
    pub fn find_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Found> + 't {
        // What it needs is not there: most patterns are never compiled.
        let regex = self.may_be_in(text).then(|| self.regex());
        let mut is_over = false;
        let broken = matches!(regex, Some(None)).then_some(Found::TooHard);
        let found = regex.flatten().into_iter().flat_map(|regex| regex.find_iter(text));
        let found = found.map_while(move |found| match found {
            _ if is_over => None,
            Ok(found) => Some(Found::At(found.start()..found.end())),
            // Too many steps. No other error is known to happen while matching; if one does, it decides the same.
            Err(_) => {
                is_over = true;
                Some(Found::TooHard)
            }
        });
        broken.into_iter().chain(found)
    }

    /// True if it matches, or nobody can tell.
    pub fn is_in(&self, text: &str) -> bool {
        let matches = |regex: &Regex| regex.is_match(text).unwrap_or(true);
        self.may_be_in(text) && self.regex().is_none_or(matches)
    }

    /// True if it names an operator or a quote of the shell, so that it means a whole command line and not one command.
    pub fn names_operators(&self) -> bool {
        let mut letters = self.source.chars().peekable();
        let mut in_class = false;
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => {
                    let next = letters.next();
                    if !in_class && next.is_some_and(|it| "|&;<>(){}$`'\"n".contains(it)) {
                        return true;
                    }
                }
                '[' if !in_class => in_class = true,
                ']' => in_class = false,
                // A group: what follows belongs to it.
                '(' if letters.peek() == Some(&'?') => {
                    letters.next();
                    let is_named = letters.next_if_eq(&'<').is_some();
                    let looks = letters.next_if(|it| "=!:>".contains(*it)).is_some();
                    if is_named && !looks {
                        letters.by_ref().find(|it| *it == '>');
                    }
                }
                '&' | ';' | '<' | '>' | '`' | '\'' | '"' if !in_class => return true,
                _ => {}
            }
        }
        false
    }
}

fn build(source: &str) -> Result<Regex, String> {
    // Told about what the person wrote where possible: positions in the translation would mislead.
    let wrong = |error| Regex::new(source).err().unwrap_or(error).to_string();
    compiled(&translated(source)).map_err(wrong)
}

/// Compiles what is already in the words of our engine.
fn compiled(source: &str) -> Result<Regex, fancy_regex::Error> {
    let mut builder = RegexBuilder::new(source);
    builder
        .backtrack_limit(STEPS_MAX)
        .delegate_size_limit(SIZE_MAX)
        .delegate_dfa_size_limit(SIZE_MAX);
    builder.build()
}

/// Letters that stand in every match: the first ones that the pattern spells out, on its top level and not optional.
fn needed(source: &str) -> String {
    let letters: Vec<char> = source.chars().collect();
    // A choice on the top level, or an option such as `(?i)`, makes every letter doubtful.
    if source.contains("(?i")
        || source.contains("(?m")
        || source.contains("(?x")
        || source.contains("(?s")
    {
        return String::new();
    }
    let (mut best, mut run, mut depth, mut at) = (String::new(), String::new(), 0_usize, 0);
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied().unwrap_or(' ');
        let is_plain = depth == 0 && (letter.is_ascii_alphanumeric() || "-_ /:=".contains(letter));
        at += 1;
        match letter {
            '|' if depth == 0 => return String::new(),
            // Letters and numbers after these belong to the escape.
            '\\' if "xuckpP0123456789".contains(next) => return String::new(),
            '\\' => at += 1,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '[' => {
                // A `]` that comes first belongs to the class, or ends an empty one: then nothing is taken for sure.
                let first = at + usize::from(letters.get(at) == Some(&'^'));
                if letters.get(first) == Some(&']') {
                    return String::new();
                }
                while letters.get(at).is_some_and(|it| *it != ']') {
                    at += if letters.get(at) == Some(&'\\') { 2 } else { 1 };
                }
                at += 1;
            }
            '{' => {
                while letters.get(at).is_some_and(|it| *it != '}') {
                    at += 1;
                }
                at += 1;
            }
            // The letter before these may be missing, so it is not part of the run.
            _ if is_plain && !"?*{".contains(next) => {
                run.push(letter);
                // It may come again, so the run ends with it.
                if next != '+' {
                    continue;
                }
            }
            _ => {}
        }
        if run.len() > best.len() {
            best.clone_from(&run);
        }
        run.clear();
    }
    if run.len() > best.len() { run } else { best }
}

/// The same pattern in the words of our engine.
fn translated(source: &str) -> String {
    let letters: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len() + 8);
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        at += match letter {
            '\\' => escape(&letters[at..], false, &mut out),
            '[' => class(&letters[at..], &mut out),
            '{' if !is_count(&letters[at..]) => push(&mut out, "\\{"),
            '{' => {
                // Written out up to its end, which would otherwise be taken for a letter.
                let end = letters[at..].iter().position(|it| *it == '}').unwrap_or(0);
                out.extend(&letters[at..=at + end]);
                end + 1
            }
            '}' => push(&mut out, "\\}"),
            ']' => push(&mut out, "\\]"),
            other => {
                out.push(other);
                1
            }
        };
    }
    out
}

fn push(out: &mut String, text: &str) -> usize {
    out.push_str(text);
    1
}

/// True for `{2}`, `{2,}` and `{2,3}`. Anything else in braces is what it says.
fn is_count(rest: &[char]) -> bool {
    let Some(end) = rest.iter().position(|it| *it == '}') else { return false };
    let inner: String = rest.get(1..end).unwrap_or_default().iter().collect();
    let (least, most) = inner.split_once(',').unwrap_or((&inner, ""));
    let is_number = |text: &str| text.chars().all(|it| it.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

/// Writes an escape and gives its length.
fn escape(rest: &[char], in_class: bool, out: &mut String) -> usize {
    let Some(&letter) = rest.get(1) else {
        // Left as it is: the compiler tells that it is incomplete.
        out.push('\\');
        return 1;
    };
    let hex = |from: usize, count: usize| -> Option<u32> {
        let digits: String = rest.get(from..from + count)?.iter().collect();
        u32::from_str_radix(&digits, 16).ok()
    };
    let code = |out: &mut String, code: u32, length: usize| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\x{{{code:X}}}");
        length
    };
    match letter {
        'b' if in_class => code(out, 8, 2),
        'v' => code(out, 0x0B, 2),
        'f' => code(out, 0x0C, 2),
        '0' if !rest.get(2).is_some_and(char::is_ascii_digit) => code(out, 0, 2),
        'c' if rest.get(2).is_some_and(char::is_ascii_alphabetic) => {
            let control = rest.get(2).map_or(0, |it| u32::from(*it) % 32);
            code(out, control, 3)
        }
        'x' => match hex(2, 2) {
            Some(number) => code(out, number, 4),
            None => push(out, "x") + 1,
        },
        'u' => match hex(2, 4) {
            Some(number) => code(out, number, 6),
            None => push(out, "u") + 1,
        },
        'd'
        | 'D'
        | 'w'
        | 'W'
        | 's'
        | 'S'
        | 'n'
        | 'r'
        | 't'
        | 'b'
        | 'B'
        | 'k'
        | 'p'
        | 'P'
        | '0'..='9' => {
            out.push('\\');
            out.push(letter);
            2
        }
        // Any other letter is itself there; here it could mean anything.
        letter if ".^$*+?()[]{}|\\".contains(letter) || in_class && "-&~".contains(letter) => {
            out.push('\\');
            out.push(letter);
            2
        }
        letter => {
            out.push(letter);
            2
        }
    }
}

/// Writes a class and gives its length. There are no classes in classes and no operations on them there.
fn class(rest: &[char], out: &mut String) -> usize {
    match rest {
        ['[', '^', ']', ..] => return push(out, "(?s:.)") + 2,
        ['[', ']', ..] => return push(out, "(?!)") + 1,
        _ => {}
    }
    out.push('[');
    let mut at = 1;
    if rest.get(at) == Some(&'^') {
        out.push('^');
        at += 1;
    }
    // True where a `-` would make a range of the letter before it.
    let mut ranges = false;
    while let Some(&letter) = rest.get(at) {
        let is_range = letter == '-' && ranges && rest.get(at + 1).is_some_and(|it| *it != ']');
        if is_range {
            out.push('-');
            at += 1;
        }
        at += match rest.get(at) {
            Some(']') => {
                out.push(']');
                return at + 1;
            }
            Some('\\') => escape(&rest[at..], true, out),
            Some(letter @ ('[' | '&' | '~' | '-')) => {
                out.push('\\');
                out.push(*letter);
                1
            }
            Some(other) => {
                out.push(*other);
                1
            }
            None => break,
        };
        ranges = !is_range;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(pattern: &str, text: &str) -> bool {
        Pattern::compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}")).is_in(text)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_javascript() {
        for (pattern, text) in [
            (r":\(\)\s*\{.*\}\s*;\s*:", ":(){ :|:& };:"),
            (r":\(\){ :", ":(){ :"),
            (r"a{,3}", "a{,3}"),
            (r"a{2,3}b", "aaab"),
            (r"[^]x", "\nx"),
            (r"[a-z&&b]", "&"),
            (r"[[]", "["),
            (r"[\w-]+x", "a-bx"),
            (r"[+--]", ","),
            (r"\/etc\/", "/etc/"),
            (r"\x72m", "rm"),
            (r"\u0072m", "rm"),
            (r"\e\h\z", "ehz"),
            (r"[\b]", "\u{8}"),
            (r"a\<b\>", "a<b>"),
            (r"x]y}", "x]y}"),
            (r"(?<word>a)\k<word>", "aa"),
            (r"(a)\1", "aa"),
            (r"(?<=a)b", "ab"),
            (r"--force(?!-with-lease)", "--force x"),
            (r"é+", "éé"),
        ] {
            assert!(is_in(pattern, text), "{pattern} in {text:?}");
        }
        for (pattern, text) in [
            (r"[]", "a"),
            (r"--force(?!-with-lease)", "--force-with-lease"),
            (r"\h", "a"),
            (r"a$", "a\n"),
            (r"[a-c--b]", "x"),
        ] {
            assert!(!is_in(pattern, text), "{pattern} in {text:?}");
        }
        for wrong in ["a(", "*", "(?<x", "a\\"] {
            assert!(Pattern::compile(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_takes_too_long_counts_as_found() {
        let hard = Pattern::compile(r"^(?:(a|aa)+)+(?=b)\1$").unwrap();
        let text = "a".repeat(40);
        assert!(hard.is_in(&text));
        assert_eq!(hard.find_in(&text).collect::<Vec<_>>(), [Found::TooHard]);
    }

    #[test]
    fn a_long_text_is_no_hard_one() {
        let pattern = Pattern::compile(r"^git\s+push\b.*\s--force(?!-with-lease)").unwrap();
        let words = "src/some/file.rs ".repeat(4_000);
        for (text, is_found) in [
            (format!("git push {words}"), false),
            (format!("git add {words}--force"), false),
            (format!("git push --force-with-lease {words}"), false),
            (format!("git push --force {words}"), true),
            (format!("git push {words}--force"), true),
        ] {
            let found: Vec<Found> = pattern.find_in(&text).collect();
            assert!(!found.contains(&Found::TooHard), "{}", &text[..40]);
            assert_eq!(!found.is_empty(), is_found, "{}", &text[..40]);
        }
    }

    #[test]
    fn what_a_pattern_needs_is_in_everything_that_it_matches() {
        for (pattern, expected) in [
            (r"\bgit\s+push\b.*--force(?!-with-lease)", "--force"),
            (r"\bsudo\b", "sudo"),
            (r"a|b", ""),
            (r"(?:ab|cd)ef", "ef"),
            (r"abc?d", "ab"),
            (r"abc*", "ab"),
            (r"abc+d", "abc"),
            (r"ab{0,2}c", "a"),
            (r"[abc]de", "de"),
            (r"(?i)abc", ""),
            (r"\x72m", ""),
            (r"(a)bc\1", ""),
            (r"[]a]b", ""),
            (r"x(y(z))w", "x"),
        ] {
            assert_eq!(needed(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_with_an_operator_means_the_whole_line() {
        for pattern in [r"curl.*\|\s*sh", r">\s*/dev/", ":;:", r"\$\(", r"\brm\b.*&&", "a\"b"] {
            assert!(Pattern::compile(pattern).unwrap().names_operators(), "{pattern}");
        }
        for pattern in [
            r"\brm\s+(?:-r|--recursive)\b",
            "a|b",
            "[^|;]*x",
            "--force(?!-with)",
            "(?<=a)b",
            "(?<n>a)",
        ] {
            assert!(!Pattern::compile(pattern).unwrap().names_operators(), "{pattern}");
        }
    }
}
