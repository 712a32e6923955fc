//! Commands that print what is in files that were there before, and nothing that the text chose: `cat VERSION`, `grep -n x a | cut -d: -f1`.

use super::invoke::base;
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use crate::base::bash::tree::{Command, Redirection, Script, Target, What};

/// Programs that print lines of files, or parts of lines, as they are.
const READERS: [&str; 12] =
    ["cat", "head", "tail", "grep", "egrep", "fgrep", "cut", "sort", "uniq", "wc", "jq", "tac"];

impl Walker<'_> {
    /// True if commands print nothing but what is in files that the text did not write.
    pub(super) fn only_reads(&mut self, script: &Script, state: &State) -> bool {
        let [item] = script.items.as_slice() else { return false };
        let commands = item.first.commands.as_slice();
        let is_one = item.rest.is_empty() && !item.is_background;
        let mut all = commands.iter().enumerate();
        is_one && !commands.is_empty() && all.all(|(at, it)| self.reads_on(it, at == 0, state))
    }

    /// One of them: the first reads files, the others what that prints.
    fn reads_on(&mut self, command: &Command, is_first: bool, state: &State) -> bool {
        let What::Simple { words, sets, .. } = &command.what else { return false };
        let fields = self.words(words, &mut state.clone());
        let known: Option<Vec<&str>> = fields.iter().map(Field::known).collect();
        let Some((first, words)) = known.as_deref().and_then(<[&str]>::split_first) else {
            return false;
        };
        let is_theirs = state.functions.contains_key(*first) || state.aliases.contains_key(*first);
        if is_theirs || !sets.is_empty() || !is_plain(base(first), words) {
            return false;
        }
        let mut files: Vec<Field> = Vec::new();
        let mut named = command.redirections.iter().filter(|it| !is_error(it));
        let is_read = named.all(|it| match (&it.target, it.operator) {
            (Target::Word(word), "<") => {
                files.extend(self.words(std::slice::from_ref(word), &mut state.clone()));
                true
            }
            _ => false,
        });
        let operands = words.iter().filter(|it| !it.starts_with('-'));
        files.extend(operands.map(|it| Field::text(it)));
        let is_old = |file: &Field| {
            let is_stream = ["/dev/", "/proc/"].iter().any(|it| file.begins().starts_with(it));
            file.is_known() && !is_stream && self.code_at(file, state).is_none()
        };
        is_read && (!is_first || !files.is_empty()) && files.iter().all(is_old)
    }
}

/// True if a program prints only what it reads, whatever its words say.
fn is_plain(name: &str, words: &[&str]) -> bool {
    match name {
        "tr" => matches!(words, ["-d", _]),
        "xargs" => words.is_empty(),
        // A filter with a text of its own could print that.
        "jq" => {
            words.iter().any(|it| !it.starts_with('-') && it.starts_with('.') && !it.contains('"'))
        }
        "cut" => !words.iter().any(|it| it.starts_with("--o")),
        name => READERS.contains(&name),
    }
}

/// True for a redirection of what goes wrong.
fn is_error(redirection: &Redirection) -> bool {
    redirection.number == Some(2)
}
