//! Commands of the shell itself that change where it is, what runs next, or how it goes on.

use super::invoke::Call;
use super::state::{State, below};
use super::value::{Field, Piece, Value};
use super::walk::{Dialect, Input, Trap, Walker, Ways, joined};
use super::{CommandFolder, DoubtKind, TouchKind};
use crate::guard::processes::leads_through_process;

/// Special ones, before which assignments stay in force in some shells.
pub(super) fn keeps_variables(name: &str) -> bool {
    matches!(
        name,
        ":" | "."
            | "source"
            | "eval"
            | "exec"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "times"
            | "trap"
            | "unset"
            | "break"
            | "continue"
            | "exit"
    )
}

impl Walker<'_> {
    /// What a command of the shell does; `None` if the name is none of them.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        fields: &[Field],
        state: &mut State,
        call: Call<'_>,
    ) -> Option<Ways> {
        let words = fields.get(1..).unwrap_or_default();
        match name {
            "cd" | "pushd" | "chdir" => return Some(self.change_folder(name, words, state, call)),
            "popd" => {
                self.doubt(DoubtKind::Folder, "which folder it goes to is not known", call.span);
                state.folders = vec![CommandFolder::Unknown];
            }
            "eval" => self.evaluate(words, state, call),
            "source" | "." => self.sourced(words, state, call),
            "exec" => self.exec(words, state, call),
            "command" | "builtin" => return Some(self.unwrapped(words, state, call)),
            "trap" => self.trap(words, state, call),
            "exit" | "return" | "break" | "continue" => self.leave(name, words, state, call),
            "set" => self.settings(words, state, call),
            "shopt" => self.switches(words, state, call),
            "shift" => shifted(words, state),
            "jobs" if words.first().and_then(Field::known) == Some("-x") => {
                self.start(words.get(1..).unwrap_or_default(), state, call);
            }
            "enable" | "hash" | "bind" | "complete" | "compgen" | "compopt" | "fc" | "history" => {
                let is_shown = words.is_empty()
                    || name == "hash" && words.iter().all(|it| it.known() == Some("-r"));
                if !is_shown {
                    self.doubt(
                        DoubtKind::Command,
                        &format!("`{name}` may change which commands run, or run some"),
                        call.span,
                    );
                }
            }
            "echo" | ":" | "true" | "false" | "pwd" | "times" | "type" | "umask" | "ulimit"
            | "dirs" | "jobs" | "help" | "disown" | "kill" | "bg" | "fg" | "logout" | "suspend"
            | "caller" => {}
            _ => return self.declared(name, words, state, call),
        }
        Some(Ways::same(state))
    }

    fn change_folder(
        &mut self,
        name: &str,
        words: &[Field],
        state: &mut State,
        call: Call<'_>,
    ) -> Ways {
        let is_option = |field: &&Field| {
            field.known().is_some_and(|text| {
                text.len() > 1
                    && text.starts_with('-')
                    && text.bytes().skip(1).all(|it| b"LPe@n-".contains(&it))
            })
        };
        let options = words.iter().take_while(is_option).count();
        let target = words.get(options).cloned();
        let target = match target {
            Some(target) => target,
            None if name == "pushd" => Field::unknown(),
            None => match self.value("HOME", state) {
                Value::One(home) => home,
                Value::List(_) | Value::Unset => Field::unknown(),
            },
        };
        let is_searched = (state.variables.contains_key("CDPATH") || state.is_lost)
            && !target.begins().starts_with(['/', '.']);
        let is_stacked = name == "pushd" && target.begins().starts_with(['+', '-']);
        // Where a process has its files is the same folder under a name that only that process can follow.
        let is_through = |folder: &CommandFolder, path: &str| match folder {
            CommandFolder::Known(folder) => leads_through_process(&below(folder, path)),
            CommandFolder::Unknown => leads_through_process(path),
        };
        let path = target.known().filter(|path| *path != "-" && !is_searched && !is_stacked);
        let path = path.filter(|path| !state.folders.iter().any(|it| is_through(it, path)));
        let failed = state.folders.clone();
        let done: Vec<CommandFolder> = match path {
            Some("") => failed.clone(),
            Some(path) => {
                self.touch(TouchKind::List, &target, state, name, call.span);
                state.folders.iter().map(|folder| moved(folder, path)).collect()
            }
            None => {
                self.doubt(DoubtKind::Folder, "which folder it goes to is not known", call.span);
                vec![CommandFolder::Unknown]
            }
        };
        state.variables.remove("PWD");
        state.folders.clone_from(&done);
        state.may_be_in(&failed);
        Ways { done, failed }
    }

    fn evaluate(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        let words = match words.split_first() {
            Some((first, rest)) if first.known() == Some("--") => rest,
            _ => words,
        };
        let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
        if let Some(known) = known {
            self.text(&known.join(" "), state, call.input, Dialect::Bash, call.span);
        } else {
            self.doubt(DoubtKind::Text, "`eval` runs a text that is not known", call.span);
            state.lose();
        }
    }

    /// `source file`: a script, as ordinary as starting it. Its variables and folders are taken to be as before.
    fn sourced(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        let words = match words.split_first() {
            Some((first, rest)) if first.known() == Some("--") => rest,
            _ => words,
        };
        let Some(file) = words.first() else { return };
        self.touch(TouchKind::Read, file, state, "source", call.span);
        self.run_written(file, Some("bash"), state, call);
        if let Some(text) = self.printed_at(file) {
            self.text(&text, state, &Input::Piped, Dialect::Bash, call.span);
            return;
        }
        if super::shells::is_stream(file) || !file.is_known() {
            if super::shells::is_stream(file)
                && let Input::Text(text) = call.input
                && let Some(text) = text.known()
                && !file.begins().starts_with("/dev/fd")
            {
                self.text(text, state, &Input::Piped, Dialect::Bash, call.span);
                return;
            }
            self.doubt(DoubtKind::Text, "`source` runs a text that is not known", call.span);
            state.lose();
        }
    }

    fn exec(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        let mut rest = words;
        while let Some((first, more)) = rest.split_first() {
            let Some(text) = first.known() else { break };
            if text == "-a" {
                rest = more.get(1..).unwrap_or_default();
            } else if text.len() > 1 && text.starts_with('-') {
                rest = more;
                if text.ends_with('a') {
                    rest = more.get(1..).unwrap_or_default();
                }
            } else {
                break;
            }
        }
        if rest.is_empty() {
            self.gathers(call.redirections, state);
        }
        if !rest.is_empty() {
            self.start(rest, state, call);
        } else if matches!(call.input, Input::Text(_) | Input::Piped | Input::Listed(_))
            || call.redirections.iter().any(|it| {
                it.operator.starts_with('<') && it.number.is_none_or(|number| number == 0)
            })
        {
            self.doubt(
                DoubtKind::Text,
                "`exec` changes what all later commands read from",
                call.span,
            );
        }
    }

    /// `command` and `builtin`, which go round functions.
    fn unwrapped(&mut self, words: &[Field], state: &mut State, call: Call<'_>) -> Ways {
        let mut rest = words;
        while let Some((first, more)) = rest.split_first() {
            match first.known() {
                // Again and again, they still start one program.
                Some("--" | "-p" | "command" | "builtin") => rest = more,
                Some(text) if text.len() > 1 && text.starts_with('-') => return Ways::same(state),
                _ => break,
            }
        }
        self.invoke(rest, state, call, false)
    }

    fn trap(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        let words = match words.split_first() {
            Some((first, rest)) if first.known() == Some("--") => rest,
            _ => words,
        };
        let Some(first) = words.first() else { return };
        match first.known() {
            Some("-" | "" | "-p" | "-l") => {}
            Some(text) => {
                // It runs at some later point, when variables may have other values.
                let span = self.place.unwrap_or(call.span);
                let (text, state, at) = (text.to_owned(), state.clone(), self.assigned.len());
                let known = state.variables.keys().cloned().collect();
                self.traps.push(Trap { text, state, at, known, span });
            }
            None => self.doubt(DoubtKind::Text, "`trap` runs a text that is not known", call.span),
        }
    }

    /// Ways to go on somewhere else. Only where it is certain does nothing follow.
    fn leave(&mut self, name: &str, words: &[Field], state: &mut State, call: Call<'_>) {
        let is_plain = match words {
            [] => true,
            [word] => {
                word.is_number() || matches!(word.pieces.as_slice(), [Piece::Given | Piece::Line])
            }
            _ => false,
        };
        match name {
            "exit" => {}
            "return" => match self.returns.last_mut() {
                Some(returned) => joined(returned, state),
                None => return,
            },
            _ => {
                if self.escapes.is_empty() {
                    return;
                }
                for escape in &mut self.escapes {
                    joined(escape, state);
                }
            }
        }
        if is_plain && call.redirections.is_empty() {
            state.is_over = true;
        }
    }

    fn settings(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        let mut rest = words;
        while let Some((first, more)) = rest.split_first() {
            let Some(text) = first.known() else {
                self.doubt(
                    DoubtKind::Command,
                    "`set` changes settings that are not known",
                    call.span,
                );
                state.arguments = None;
                return;
            };
            if text == "--" || text == "-" {
                state.arguments = Some(more.to_vec()).filter(|all| all.iter().all(Field::is_known));
                return;
            }
            let Some(letters) = text.strip_prefix(['-', '+']) else {
                state.arguments = Some(rest.to_vec()).filter(|all| all.iter().all(Field::is_known));
                return;
            };
            rest = more;
            if letters.bytes().any(|letter| !b"abefhmnuvxCETPot".contains(&letter)) {
                self.doubt(DoubtKind::Command, "`set` changes how commands are read", call.span);
            }
            if letters.contains('o') {
                let name = rest.first().and_then(Field::known);
                let is_harmless = name.is_none_or(|name| {
                    [
                        "pipefail",
                        "errexit",
                        "nounset",
                        "xtrace",
                        "noglob",
                        "noclobber",
                        "verbose",
                        "allexport",
                        "errtrace",
                        "functrace",
                        "monitor",
                        "notify",
                        "noexec",
                        "physical",
                        "vi",
                        "emacs",
                        "ignoreeof",
                        "nolog",
                    ]
                    .contains(&name)
                });
                if !is_harmless || rest.first().is_some_and(|it| !it.is_known()) {
                    self.doubt(
                        DoubtKind::Command,
                        "`set` changes how commands are read",
                        call.span,
                    );
                }
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }

    fn switches(&mut self, words: &[Field], state: &mut State, call: Call<'_>) {
        const HARMLESS: &[&str] = &[
            "-s",
            "-u",
            "-q",
            "-p",
            "nullglob",
            "failglob",
            "dotglob",
            "globstar",
            "extglob",
            "nocasematch",
            "inherit_errexit",
            "expand_aliases",
            "checkwinsize",
            "huponexit",
            "histappend",
            "cmdhist",
            "checkhash",
            "checkjobs",
            "lithist",
            "globasciiranges",
            "execfail",
            "cdspell",
            "dirspell",
            "progcomp",
            "sourcepath",
        ];
        let is = |name: &str| words.iter().any(|it| it.known() == Some(name));
        state.has_dotglob |= is("dotglob") && !is("-u");
        let is_harmless =
            |field: &Field| field.known().is_some_and(|text| HARMLESS.contains(&text));
        if !words.iter().all(is_harmless) {
            self.doubt(DoubtKind::Command, "`shopt` changes how commands are read", call.span);
        }
    }
}

fn shifted(words: &[Field], state: &mut State) {
    let count = match words {
        [] => Some(1),
        [word] => word.known().and_then(|text| text.parse::<usize>().ok()),
        _ => None,
    };
    state.arguments = match (state.arguments.take(), count) {
        (Some(fields), Some(count)) => {
            Some(fields.get(count..).map_or(fields.clone(), <[Field]>::to_vec))
        }
        _ => None,
    };
}

/// The folder after going from one to a path, without a look at links, as the shell itself counts.
fn moved(folder: &CommandFolder, path: &str) -> CommandFolder {
    let whole = match folder {
        _ if path.starts_with('/') => path.to_owned(),
        CommandFolder::Known(folder) => below(folder, path),
        CommandFolder::Unknown => return CommandFolder::Unknown,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    CommandFolder::Known(format!("/{}", parts.join("/")))
}
