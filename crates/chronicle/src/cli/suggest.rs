//! Which command was meant by a word that is none.

use chronicle_core::definition::workflow::closest;
use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;

/// Typed most, so they come first where several are equally near.
const COMMON: &[&str] = &["run", "status", "resume", "runs", "log", "approve"];

/// Words of other programs, with ours.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("abort", "cancel"),
    ("continue", "resume"),
    ("history", "log"),
    ("kill", "cancel"),
    ("lint", "check"),
    ("logs", "log"),
    ("ls", "list"),
    ("ps", "runs"),
    ("show", "status"),
    ("start", "run"),
    ("stop", "pause"),
    ("validate", "check"),
];

/// Fewest letters that a command is completed from.
const BEGINNING_MIN: usize = 2;

/// The error with our suggestion in the place of clap's, which ranks by similar letters and takes `rn` for `runs`.
pub(super) fn suggesting(mut error: clap::Error) -> clap::Error {
    let word = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::InvalidSubcommand => word,
        _ => return error,
    };
    let meant = meant(word);
    error.remove(ContextKind::SuggestedSubcommand);
    if let Some(meant) = meant {
        let meant = ContextValue::Strings(vec![meant]);
        error.insert(ContextKind::SuggestedSubcommand, meant);
    }
    error
}

/// The command that was meant: one of another program, the nearest one, or the first that begins so.
fn meant(word: &str) -> Option<String> {
    let cli = Cli::command();
    let all = cli.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
    let rest = all.filter(|name| !COMMON.contains(name));
    let names: Vec<&str> = COMMON.iter().copied().chain(rest).collect();
    let other = OTHER_WORDS.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    let begins = || {
        let mut names = names.iter().copied();
        names.find(|name| word.len() >= BEGINNING_MIN && name.starts_with(word))
    };
    let found = other.or_else(|| closest(word, names.iter().copied())).or_else(begins);
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn typical_mistakes_find_the_command_that_was_meant() {
        for (typed, expected) in [
            ("rn", "run"),
            ("ru", "run"),
            ("rnu", "run"),
            ("rnus", "runs"),
            ("stauts", "status"),
            ("stat", "status"),
            ("resum", "resume"),
            ("continue", "resume"),
            ("aprove", "approve"),
            ("cancle", "cancel"),
            ("lgo", "log"),
            ("ls", "list"),
            ("start", "run"),
            ("conf", "config"),
        ] {
            assert_eq!(meant(typed).as_deref(), Some(expected), "{typed}");
        }
        for typed in ["x", "frobnicate", ""] {
            assert_eq!(meant(typed), None, "{typed}");
        }
    }
}
