//! What a command does to those after it in the same line.

use super::command::is_variable;
use super::line::LineWalk;
use super::tokens::Word;

/// Commands after which others may mean something else, or not run at all.
const CHANGING: [&str; 12] = [
    "trap", "alias", "unalias", "eval", "exec", "exit", "return", "logout", "shopt", "enable",
    "hash", "builtin",
];
/// Files that set up an environment, by name; others that are sourced may define anything.
const SETTINGS: [&str; 8] =
    ["activate", "env", ".env", ".envrc", "nvm.sh", ".bashrc", ".zshrc", ".profile"];

impl LineWalk {
    /// Remembers what a command does to those after it.
    pub(super) fn note(&mut self, words: &[Word], is_sure: bool) {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let begins = super::begins(&texts);
        // A variable that is set for one command ends with it. Alone, or with `export`, it stays.
        let own = begins.last().map_or(&texts[..], |at| &texts[*at..]);
        let own = if own.first().is_some_and(|word| is_variable(word)) { &texts[..] } else { own };
        if let Some(why) = self.ground.set_by(own) {
            self.changed = Some(why);
        }
        let at = begins.into_iter().find(|at| {
            texts.get(*at).is_some_and(|word| CHANGING.contains(word) || is_setting(word))
        });
        let Some(at) = at else { return };
        let (program, rest) = (texts[at], &texts[at + 1..]);
        let is_harmless = match program {
            "set" => self.set(rest, is_sure),
            "exit" | "return" => {
                // `exit 1` before the command can only make the line fail. `exit 0` would let it succeed without having run it.
                matches!(rest, [code] if code.parse::<u8>().is_ok_and(|it| it > 0))
            }
            "source" | "." => rest
                .first()
                .is_some_and(|file| SETTINGS.contains(&file.rsplit('/').next().unwrap_or(file))),
            _ => false,
        };
        if !is_harmless {
            self.changed = Some(format!("`{program}` before it may change what it does"));
        }
    }

    /// Reads `set`. False if it has an option that may keep commands from running.
    fn set(&mut self, rest: &[&str], is_sure: bool) -> bool {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let Some((sign, letters)) = word.split_at_checked(1) else { return false };
            // Only letters that are known to let commands run. `-n` reads a script without running it.
            if !["-", "+"].contains(&sign) || !letters.chars().all(|it| "euxvfEo".contains(it)) {
                return false;
            }
            if !letters.contains('o') {
                continue;
            }
            match words.next() {
                // Weaker takes effect even if it may not run; stronger only if it surely ran.
                Some(&"pipefail") => self.pipefail = sign == "-" && (is_sure || self.pipefail),
                Some(&("errexit" | "nounset" | "xtrace" | "verbose")) => {}
                Some(_) | None => return false,
            }
        }
        true
    }
}

fn is_setting(word: &str) -> bool {
    ["set", "source", "."].contains(&word)
}
