//! Rules of people about a program, one of whose words only the running shell knows: that word may be just what the rule means.
//!
//! The built-in rules are about what can be known.

use super::compiled::{Command, RuleSet};
use super::facts::{Run, Word};
use super::judge::is_in;
use super::judgement::Judgement;
use super::texts::of_run;
use crate::definition::guard::BUILT_IN_NAME;

/// Most unknown words of a command, and most words of a pattern, that are tried.
const UNKNOWN_MAX: usize = 4;
const WORDS_MAX: usize = 12;

/// Asks if a rule about the program may mean a word that is not known.
pub(super) fn by_unknown(set: &RuleSet, run: &Run, homes: &[String]) -> Judgement {
    let program = run.program();
    let is_unknown = |word: &Word| matches!(word, Word::Unknown { .. });
    if program.is_empty() || !run.words.iter().any(is_unknown) {
        return Judgement::Clear;
    }
    let is_about = |command: &&Command| {
        let source = command.pattern.source();
        let is_theirs = command.rule.at.file != BUILT_IN_NAME;
        is_theirs
            && names(source, program)
            && (begins_so(run, source) || may_be_meant(run, command, homes))
    };
    let Some(command) = set.commands.iter().find(is_about) else { return Judgement::Clear };
    let why = format!("an argument of `{program}` is not known, and a rule is about `{program}`");
    Judgement::Ask { rule: command.reference(), why }
}

/// True if a pattern has a name as a whole word: `sh` is not in `push`.
fn names(source: &str, program: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    source.match_indices(program).any(|(at, _)| {
        let mut before = source[..at].chars().rev();
        let (last, one_before) = (before.next(), before.next());
        // A letter after a backslash stands for a place, as in `\bfrob`.
        let begins = last.is_none_or(|it| !is_word(it)) || one_before == Some('\\');
        let ends = source[at + program.len()..].chars().next().is_none_or(|it| !is_word(it));
        begins && ends
    })
}

/// True if a word is known in part, and a pattern has that part.
fn begins_so(run: &Run, source: &str) -> bool {
    let begun = |word: &Word| match word {
        Word::Unknown { begins } => begins.len() > 1 && source.contains(begins.as_str()),
        Word::Known(_) | Word::Glob(_) => false,
    };
    run.words.iter().skip(1).any(begun)
}

/// True if the rule matches with words of its own in the place of one of which nothing is known.
fn may_be_meant(run: &Run, command: &Command, homes: &[String]) -> bool {
    let own = words_of(command.pattern.source(), run.program());
    let mut tried: Vec<Vec<&String>> = own.iter().map(|word| vec![word]).collect();
    // It may be several words.
    tried.push(own.iter().collect());
    let is_open = |word: &Word| matches!(word, Word::Unknown { begins } if begins.is_empty());
    let places = run.words.iter().enumerate().skip(1).filter(|(_, word)| is_open(word));
    places.take(UNKNOWN_MAX).any(|(at, _)| {
        tried.iter().any(|words| {
            let (before, after) = (&run.words[..at], &run.words[at + 1..]);
            let words = words.iter().map(|word| Word::Known((*word).clone()));
            let words = before.iter().cloned().chain(words).chain(after.iter().cloned());
            let texts = of_run(&Run { words: words.collect() }, homes);
            texts.iter().any(|text| is_in(command, text))
        })
    })
}

/// The words that a pattern spells, in order, without the program's name.
fn words_of(source: &str, program: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut letters = source.chars().peekable();
    let mut end = |word: &mut String| {
        let word = std::mem::take(word);
        let is_telling = word.chars().any(char::is_alphanumeric) && word != program;
        if is_telling && found.len() < WORDS_MAX && !found.contains(&word) {
            found.push(word);
        }
    };
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                // A letter after a backslash stands for a kind of letters, or for a place.
                Some(next) if !next.is_alphanumeric() => word.push(next),
                _ => end(&mut word),
            },
            '[' => {
                letters.by_ref().take_while(|letter| *letter != ']').for_each(drop);
                end(&mut word);
            }
            '(' => {
                if letters.next_if_eq(&'?').is_some() {
                    letters.next_if(|it| ":=!<>".contains(*it));
                }
                end(&mut word);
            }
            '^' | '$' | '.' | '|' | ')' | '?' | '*' | '+' | '{' | '}' => end(&mut word),
            _ if letter.is_whitespace() => end(&mut word),
            _ => word.push(letter),
        }
    }
    end(&mut word);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_whole_word_of_a_pattern() {
        assert!(
            names(r"\bfrob\s+x", "frob") && names("^frob", "frob") && names("(?:a|frob)", "frob")
        );
        assert!(!names(r"\bdocker\s+push\b", "sh") && !names("frob-all", "frob"));
    }

    #[test]
    fn the_words_of_a_pattern_are_found() {
        for (source, expected) in [
            (r"\bfrob\s+--boom\b", &["--boom"][..]),
            (r"^terraform\s+(?:apply|destroy)\b", &["apply", "destroy"]),
            (r"\bfrob\b", &[]),
            (r"frob .*\.env[a-z]*", &[".env"]),
            (r"frob a\.b", &["a.b"]),
        ] {
            let program = if source.contains("frob") { "frob" } else { "terraform" };
            assert_eq!(words_of(source, program), expected, "{source}");
        }
    }
}
