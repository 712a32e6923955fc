//! Commands and texts for a shell among the words of programs that nothing is known of: `tool name rm -rf x`, `tool --command 'rm -rf x'`.

use super::handed::is_in;
use super::invoke::{Call, base};
use super::state::State;
use super::value::Field;
use super::walk::Walker;

/// Programs whose words are names, sentences, or commands that run elsewhere.
const NAMING: &str = "apt apt-get aptitude dnf yum zypper pacman yay paru apk emerge brew port choco scoop winget snap pip pip3 conda mamba asdf \
    tldr cheat cht.sh explainshell howdoi apropos whatis info help say espeak cowsay figlet toilet banner lolcat notify-send logger \
    osascript terminal-notifier wall write mail mailx mutt slack jira linear todo task-warrior gum dialog whiptail zenity \
    pdsh pssh parallel-ssh clush ansible salt salt-ssh tsh teleport boundary fab sshpass-remote svn jj";
/// Programs that hardly stand there unless they are to be started.
const TELLING: &str = "rm rmdir unlink shred truncate find xargs git sudo doas env dd mv chmod chown tee docker podman nerdctl";
/// Shells and languages, which are told by an option that code follows.
const CODED: &str = "sh bash zsh dash ksh ash fish python python3 node ruby perl php";
/// Words of sentences: what follows them is told about, and not started.
const SENTENCES: &str = "the an to of and or is are was be with that this from for not no never please don't use using used via like it by";
/// Words of options whose value is a text for a shell.
const COMMANDS: [&str; 9] =
    ["command", "commands", "cmd", "exec", "execute", "eval", "run", "shell", "script"];

/// True for a word that most likely begins a command: what follows it fits.
fn begins_command(words: &[Field]) -> bool {
    let Some(first) = words.first().and_then(Field::known) else { return false };
    let Some(next) = words.get(1) else { return false };
    let name = base(first);
    if first.contains('/') && !super::copies::is_installed(first) {
        return false;
    }
    let has_code = |it: &Field| {
        let text = it.begins();
        text.starts_with('-') && !text.starts_with("--") && text.contains(['c', 'e'])
    };
    is_in(TELLING, name) || is_in(CODED, name) && (has_code(next) || words.iter().any(has_code))
}

/// True for a text that most likely is a command.
fn is_command(text: &str) -> bool {
    let words: Vec<Field> = text.split_whitespace().map(Field::text).collect();
    begins_command(&words)
}

/// True for the name of an option that holds a text for a shell: `--command`, `--post-run-command`, `-c`.
fn holds_command(option: &str) -> bool {
    let long = option.trim_start_matches('-');
    let words = || long.split(['-', '_', '.']).map(str::to_ascii_lowercase);
    option.starts_with('-') && (long == "c" || words().any(|it| COMMANDS.contains(&it.as_str())))
}

impl Walker<'_> {
    /// The first word that begins a command, and texts that are one. What is not known in them is no question, but for what a shell
    /// surely runs.
    pub(super) fn perhaps_among(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        if is_in(NAMING, name) {
            return;
        }
        let at = (0..words.len()).find(|at| begins_command(words.get(*at..).unwrap_or_default()));
        // `remove the rm -rf / from the script`.
        let is_told_about = |at: &usize| {
            let before = words.get(..*at).unwrap_or_default();
            is_in(SENTENCES, name) || before.iter().any(|it| is_in(SENTENCES, it.begins()))
        };
        if let Some(at) = at.filter(|at| !is_told_about(at)) {
            let before = self.acts.unknown.len();
            self.start(words.get(at..).unwrap_or_default(), state, call);
            self.without_options(before);
        }
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", Field::begins);
            let text = word.begins();
            let (value, is_told) = match text.split_once('=') {
                Some((option, _)) if text.starts_with('-') => {
                    (word.after(option.len() + 1), holds_command(option))
                }
                // `name.commands=text`.
                Some((key, _)) if !key.contains(char::is_whitespace) => {
                    (word.after(key.len() + 1), holds_command(&format!("-{key}")))
                }
                _ => (word.clone(), holds_command(before)),
            };
            let is_other = before.starts_with('-') && !before.contains('=') && before != "--";
            let is_meant = value.known().is_some_and(|it| {
                it.contains(char::is_whitespace) && (is_told || !is_other && is_command(it))
            });
            if is_meant {
                let before = self.acts.unknown.len();
                self.joined_text(&[value], state, call);
                self.without_doubts(before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_hold_commands_are_told_by_their_words() {
        for option in ["-c", "--command", "--post-run-command", "--exec", "--on_change.cmd"] {
            assert!(holds_command(option), "{option}");
        }
        for option in ["command", "--commit", "--recommended", "-C", "--message"] {
            assert!(!holds_command(option), "{option}");
        }
    }

    #[test]
    fn a_command_is_told_by_what_follows_its_name() {
        for text in ["rm -rf x", "sh -c x", "/bin/rm x", "bash -lc x", "git push"] {
            assert!(is_command(text), "{text}");
        }
        for text in ["rm", "bash script", "format -c x", "./rm x"] {
            assert!(!is_command(text), "{text}");
        }
    }
}
