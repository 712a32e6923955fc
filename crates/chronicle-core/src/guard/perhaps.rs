//! Rules about a program, one of whose words only the running shell knows: that word may be just what the rule means.
//!
//! The words that a rule spells are tried in its place. The built-in rules are about programs of many commands, so that there only
//! a word counts that may be the command, or an option of which the beginning is known: nobody could work otherwise.

use super::compiled::{Command, RuleSet};
use super::facts::{Run, Word};
use super::globs::fits;
use super::judge::is_in;
use super::judgement::Judgement;
use super::texts::of_run;

/// Most unknown words of a command, and most words of a pattern, that are tried.
const UNKNOWN_MAX: usize = 32;
const WORDS_MAX: usize = 48;

/// Programs whose commands have commands of their own: `gh repo delete`.
const TWO_LEVELS: [&str; 9] =
    ["git", "gh", "docker", "podman", "nerdctl", "aws", "npm", "pnpm", "yarn"];
/// Options before a command of a program that take the next word.
const VALUED: [&str; 20] = [
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "-R",
    "--repo",
    "--profile",
    "--region",
    "--cwd",
    "--prefix",
    "--dir",
    "--filter",
    "-w",
    "--workspace",
    "-H",
    "--host",
];

/// Asks if a rule about the program may mean a word that is not known.
pub(super) fn by_unknown(set: &RuleSet, run: &Run, homes: &[String]) -> Judgement {
    let program = run.program();
    let places = places(run, set.is_built_in());
    if program.is_empty() || places.is_empty() {
        return Judgement::Clear;
    }
    let is_theirs = !set.is_built_in();
    let is_about = |command: &&Command| {
        let source = command.pattern.source();
        names(source, program)
            && (is_theirs && begins_so(run, source) || may_be_meant(run, &places, command, homes))
    };
    let Some(command) = set.commands.iter().find(is_about) else { return Judgement::Clear };
    let why = format!("an argument of `{program}` is not known, and a rule is about `{program}`");
    Judgement::Ask { rule: command.reference(), why }
}

/// A word that is not known, and what it may be.
struct Place<'w> {
    at: usize,
    word: &'w Word,
    /// True if it can only be a command of the program, or an option.
    is_command: bool,
}

impl Place<'_> {
    /// What the word may be, if it is about this word of a rule.
    fn filled(&self, own: &str) -> Vec<String> {
        let is_option = own.starts_with('-');
        let all = match self.word {
            Word::Glob(glob) if glob.contains('(') || fits(glob, own) => vec![own.to_owned()],
            Word::Known(_) | Word::Glob(_) => Vec::new(),
            // No program makes up an option.
            Word::Unknown { is_name: true, .. } if is_option => Vec::new(),
            Word::Unknown { is_name: true, .. } => vec![own.to_owned()],
            Word::Unknown { begins, .. } if own.starts_with(begins.as_str()) => {
                vec![own.to_owned(), format!("{begins}{own}")]
            }
            Word::Unknown { .. } if self.is_command => Vec::new(),
            Word::Unknown { begins, .. } => vec![format!("{begins}{own}")],
        };
        let is_usual = |text: &String| match (self.is_command, text.strip_prefix('-')) {
            (false, _) => true,
            (true, Some(_)) => self.begins_option(),
            (true, None) => is_verb(text) && !self.begins_option(),
        };
        all.into_iter().filter(is_usual).collect()
    }

    /// True if it surely begins as an option does.
    fn begins_option(&self) -> bool {
        match self.word {
            Word::Known(text) | Word::Glob(text) | Word::Unknown { begins: text, .. } => {
                text.starts_with('-')
            }
        }
    }

    /// True if it may be several words.
    fn may_be_more(&self) -> bool {
        matches!(self.word, Word::Unknown { begins, is_name: false } if begins.is_empty())
            && !self.is_command
    }
}

/// True for a word that may be a command of a program.
fn is_verb(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    text.len() > 1
        && text.starts_with(|it: char| it.is_ascii_lowercase())
        && text.chars().all(is_letter)
}

/// The words that may be what a rule names.
fn places(run: &Run, is_built_in: bool) -> Vec<Place<'_>> {
    let is_open = |word: &Word| match word {
        Word::Known(_) => false,
        Word::Glob(_) => true,
        // A number, or a path for a while, is no word of a rule.
        Word::Unknown { begins, is_name } => *is_name || begins != "0",
    };
    let all = run.words.iter().enumerate().skip(1).filter(|(_, word)| is_open(word));
    let all = all.map(|(at, word)| Place { at, word, is_command: is_built_in });
    let counts =
        |place: &Place<'_>| !is_built_in || place.begins_option() || may_be_command(run, place.at);
    all.filter(counts).take(UNKNOWN_MAX).collect()
}

/// True if the word at a place may say which command of its program is meant.
fn may_be_command(run: &Run, at: usize) -> bool {
    let levels = if TWO_LEVELS.contains(&run.program()) { 2 } else { 1 };
    let mut operands = 0;
    let mut before = run.words.get(1..at).unwrap_or_default().iter().peekable();
    while let Some(word) = before.next() {
        let Word::Known(text) = word else {
            operands += 1;
            continue;
        };
        if !text.starts_with('-') {
            operands += 1;
        } else if VALUED.contains(&text.as_str()) {
            // What follows is its value.
            if before.next().is_none() {
                return false;
            }
        } else if before.peek().is_none() && !text.contains('=') {
            return false;
        }
    }
    operands < levels
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
        Word::Unknown { begins, .. } => begins.len() > 1 && source.contains(begins.as_str()),
        Word::Known(_) | Word::Glob(_) => false,
    };
    run.words.iter().skip(1).any(begun)
}

/// True if the rule matches with words of its own in the place of those that are not known.
fn may_be_meant(run: &Run, places: &[Place<'_>], command: &Command, homes: &[String]) -> bool {
    let own = words_of(command.pattern.source(), run.program());
    let is_it = |put: &[(usize, Vec<String>)]| {
        let texts = of_run(&with(run, put), homes);
        texts.iter().any(|text| is_in(command, text))
    };
    let one = places.iter().any(|place| {
        let mut tried: Vec<Vec<String>> =
            own.iter().flat_map(|word| place.filled(word)).map(|word| vec![word]).collect();
        if place.may_be_more() {
            tried.push(own.clone());
        }
        tried.into_iter().any(|words| is_it(&[(place.at, words)]))
    });
    one || places.len() > 1 && is_it(&in_order(places, &own))
}

/// The words of a rule in the places of those that are not known, one after the other.
fn in_order(places: &[Place<'_>], own: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut left = own.iter();
    let mut put = Vec::new();
    for place in places {
        let before = left.clone();
        match left.find_map(|word| place.filled(word).into_iter().next()) {
            Some(word) => put.push((place.at, vec![word])),
            None => left = before,
        }
    }
    put
}

/// The run with other words in some places.
fn with(run: &Run, put: &[(usize, Vec<String>)]) -> Run {
    let words = run.words.iter().enumerate().flat_map(|(at, word)| {
        match put.iter().find(|(place, _)| *place == at) {
            Some((_, words)) => words.iter().cloned().map(Word::Known).collect(),
            None => vec![word.clone()],
        }
    });
    run.with(words.collect())
}

/// The words that a pattern spells, in order, without the program's name, and those that it spells in two parts.
fn words_of(source: &str, program: &str) -> Vec<String> {
    let found = spelled(source, program);
    let joins = |pair: &&[String]| pair[1].starts_with(char::is_alphanumeric);
    let pairs = found.windows(2).filter(joins).map(<[String]>::concat);
    let mut all = found.clone();
    all.extend(pairs.filter(|pair| !found.contains(pair)));
    all.truncate(WORDS_MAX);
    all
}

fn spelled(source: &str, program: &str) -> Vec<String> {
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
                let class: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                let first = class.chars().next().filter(|it| !"^\\".contains(*it));
                let is_needed = !letters.peek().is_some_and(|it| "*?{".contains(*it));
                match first.filter(|_| is_needed) {
                    Some(first) => word.push(first),
                    None => end(&mut word),
                }
            }
            '(' => {
                if letters.next_if_eq(&'?').is_some() {
                    // `(?:`, `(?=`, `(?<!`, `(?i:`, `(?i)`.
                    while letters.next_if(|it| it.is_ascii_lowercase() || *it == '-').is_some() {}
                    while letters.next_if(|it| ":=!<>".contains(*it)).is_some() {}
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
            (r"(?i:\bfrob\s+[Aa]pply)", &["Apply"]),
            (r"\bfrob\b", &[]),
            (r"frob .*\.env[a-z]*", &[".env"]),
            (r"frob a\.b", &["a.b"]),
        ] {
            let program = if source.contains("frob") { "frob" } else { "terraform" };
            assert_eq!(spelled(source, program), expected, "{source}");
        }
        assert_eq!(words_of("frob app(?:ly)", "frob"), ["app", "ly", "apply"]);
    }

    #[test]
    fn a_command_stands_before_all_that_is_no_option() {
        let is_it = |words: &[&str]| {
            let words: Vec<Word> = words.iter().map(|it| Word::Known((*it).to_owned())).collect();
            let at = words.len() - 1;
            may_be_command(&Run::of(words), at)
        };
        for words in [&["kubectl", "?"][..], &["kubectl", "-n", "x", "?"], &["gh", "repo", "?"]] {
            assert!(is_it(words), "{words:?}");
        }
        for words in [&["kubectl", "get", "?"][..], &["kubectl", "-n", "?"], &["docker", "-l", "?"]]
        {
            assert!(!is_it(words), "{words:?}");
        }
    }
}
