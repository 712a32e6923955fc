//! Programs that keep shells, and hand texts to them: `tmux` and `screen`.

use super::invoke::Call;
use super::options::{Valued, read};
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::{CommandFolder, DoubtKind};

/// Options of `tmux` itself.
const TMUX: &str = "L S:w c:x f:r T -:2CDlNuvV";
/// Options of those of its commands that start a program.
const STARTING: &str = "c:C e F f l n p s t x y -:AdDEPXbdfhvIZkSa";
/// Options of `screen` before a program.
const SCREEN: &str = "S h T t p e s:x c:r Logfile:w -:dDmLUaAOqlfi";
/// Commands of `tmux` that run nothing.
const SHOWING: [&str; 27] = [
    "ls",
    "list-sessions",
    "list-windows",
    "lsw",
    "list-panes",
    "lsp",
    "list-clients",
    "list-commands",
    "capture-pane",
    "capturep",
    "has-session",
    "has",
    "kill-session",
    "kill-window",
    "killw",
    "kill-pane",
    "killp",
    "kill-server",
    "show-options",
    "show-buffer",
    "select-window",
    "select-pane",
    "select-layout",
    "resize-pane",
    "rename-window",
    "rename-session",
    "clear-history",
];

impl Walker<'_> {
    pub(super) fn multiplexer(
        &mut self,
        name: &str,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let is_understood = match name {
            "tmux" => words
                .split(|word| word.known() == Some(";"))
                .all(|words| self.tmux(words, state, call)),
            "screen" => self.screen(words, state, call),
            _ => words.is_empty(),
        };
        if !is_understood {
            self.maybe(words, state, name, call.span);
            self.doubt(DoubtKind::Text, &format!("`{name}` may run a text"), call.span);
        }
    }

    /// One command of `tmux`; whether it is known what it runs.
    fn tmux(&mut self, words: &[Field], state: &State, call: Call<'_>) -> bool {
        let (own, end) = read(words, Valued(TMUX), true);
        if own.has_unknown || own.has(&["f", "c"]) {
            return false;
        }
        let Some((command, rest)) = words.get(end..).unwrap_or_default().split_first() else {
            return true;
        };
        match command.known() {
            Some(
                "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw"
                | "respawn-pane" | "respawnp" | "respawn-window" | "respawnw",
            ) => self.started_in_tmux(rest, state, call),
            Some("send-keys" | "send") => self.keys_of_tmux(rest, state, call),
            Some(name) if SHOWING.contains(&name) => {
                self.maybe(rest, state, "tmux", call.span);
                true
            }
            Some(_) | None => false,
        }
    }

    fn started_in_tmux(&mut self, words: &[Field], state: &State, call: Call<'_>) -> bool {
        let (options, end) = read(words, Valued(STARTING), true);
        if options.has_unknown || options.has(&["e"]) {
            return false;
        }
        let mut own = super::shells::child(state);
        for folder in options.values(&["c"]) {
            own.folders = match folder.known() {
                Some(path) => {
                    own.folders.iter().map(|it| super::wrappers::beside(it, path)).collect()
                }
                None => vec![CommandFolder::Unknown],
            };
        }
        let text = words.get(end..).unwrap_or_default();
        match text {
            [] => {}
            // One word is a text for a shell, several are a program with its arguments.
            [text] => self.joined_text(std::slice::from_ref(text), &own, call),
            _ => self.start(text, &own, call),
        }
        true
    }

    /// Keys that a shell gets which was started before, and stands wherever it stands.
    fn keys_of_tmux(&mut self, words: &[Field], state: &State, call: Call<'_>) -> bool {
        let (options, end) = read(words, Valued("t N c -:lRXHFKM"), true);
        let keys = words.get(end..).unwrap_or_default();
        let known: Option<Vec<&str>> = keys.iter().map(Field::known).collect();
        let Some(known) = known.filter(|_| !options.has_unknown && !options.has(&["H", "X"]))
        else {
            return false;
        };
        let is_key = |text: &&str| {
            let has_prefix = text.len() == 3 && (text.starts_with("C-") || text.starts_with("M-"));
            has_prefix || ["Enter", "Escape", "Up", "Down"].contains(text)
        };
        let is_end = |text: &&str| ["Enter", "C-m", "C-j"].contains(text);
        let typed: Vec<&str> = known.iter().copied().filter(|it| !is_key(it)).collect();
        if typed.is_empty() {
            return known.iter().all(|it| !is_end(it)) || known.len() == 1;
        }
        // What is typed without an end is only a part of a text.
        if !known.last().is_some_and(is_end) || typed.len() + 1 < known.len() {
            return false;
        }
        let mut own = super::shells::child(state);
        own.folders = vec![CommandFolder::Unknown];
        self.joined_text(&[Field::text(&typed.concat())], &own, call);
        true
    }

    fn screen(&mut self, words: &[Field], state: &State, call: Call<'_>) -> bool {
        if matches!(words.first().and_then(Field::known), Some("-ls" | "-list" | "-v")) {
            return true;
        }
        let (options, end) = read(words, Valued(SCREEN), true);
        let is_listed = |(name, _): &(String, Option<Field>)| {
            Valued(SCREEN).kind(name).is_some() || Valued(SCREEN).is_flag(name)
        };
        if options.has_unknown || options.has(&["c"]) || !options.options.iter().all(is_listed) {
            return false;
        }
        self.start(words.get(end..).unwrap_or_default(), &super::shells::child(state), call);
        true
    }
}
