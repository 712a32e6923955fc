//! Programs that hand a command to another machine, a container or a process: the command is told as if it ran here.

use super::invoke::{Call, base};
use super::options::{Valued, read};
use super::shells::{child, lookup_name};
use super::state::State;
use super::value::Field;
use super::walk::{Dialect, Input, Walker};
use super::{CommandFolder, DoubtKind, TouchKind};

const SSH: &str = "b c D E:w e F:r I:r i:r J L l m O o:o p Q R S W w B P";
/// Clients of databases, whose statements are judged wherever they run.
const CLIENTS: &[&str] =
    &["psql", "mysql", "mariadb", "sqlite3", "mongosh", "mongo", "redis-cli", "clickhouse-client"];
/// Shells that a container is told to start.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// Commands of a debugger that start something else or load code.
const DEBUGGER_RUNS: &[&str] = &[
    "shell",
    "!",
    "pipe",
    "|",
    "python",
    "py",
    "guile",
    "source",
    "make",
    "compile",
    "script",
    "platform shell",
    "command script",
    "expression",
    "call",
    "print system",
];

impl Walker<'_> {
    /// `ssh host command`: what it does there may be done to this machine as well.
    pub(super) fn ssh(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        let (found, end) = read(words, Valued(SSH), true);
        for (option, value) in &found.options {
            let Some(value) = value else { continue };
            match Valued(SSH).kind(option) {
                Some("o") => self.option_of_ssh(value, state, call),
                Some("r") if option == "F" => {
                    self.touches("r", value, state, name, call);
                    self.settings_of_ssh(name, value, state, call);
                }
                Some(kinds @ ("r" | "w")) => self.touches(kinds, value, state, name, call),
                _ => {}
            }
        }
        if found.has_unknown {
            let why = format!("an argument of `{name}` is not known, and may be an option");
            self.doubt(DoubtKind::Option, &why, call.span);
        }
        // After the host, options may follow once more.
        let rest = words.get(end + 1..).unwrap_or_default();
        let (_, skipped) = read(rest, Valued(SSH), true);
        let command = rest.get(skipped..).unwrap_or_default();
        let mut there = child(state);
        there.folders = match self.home(state).known() {
            Some(home) => vec![CommandFolder::Known(home.to_owned())],
            None => vec![CommandFolder::Unknown],
        };
        let is_shell = |field: &Field| SHELLS.contains(&base(field.known().unwrap_or_default()));
        // A shell there reads what comes in here.
        let reads = command.first().is_none_or(is_shell);
        if reads && matches!(call.input, Input::Piped | Input::File | Input::Listed(_)) {
            let why = "another machine runs what it is sent";
            self.doubt(DoubtKind::Text, why, call.span);
        }
        let sent = match call.input {
            Input::Text(text) if command.is_empty() => std::slice::from_ref(text),
            Input::Text(_) | Input::Given | Input::Piped | Input::File | Input::Listed(_) => {
                command
            }
        };
        let known: Option<Vec<&str>> = sent.iter().map(Field::known).collect();
        match known {
            Some(known) => {
                self.text(&known.join(" "), &mut there, call.input, Dialect::Other, call.span);
            }
            None => {
                self.doubt(
                    DoubtKind::Text,
                    "another machine runs a text that is not known",
                    call.span,
                );
            }
        }
    }

    /// A file of settings that this text wrote: some of them are commands.
    pub(super) fn settings_of_ssh(
        &mut self,
        name: &str,
        file: &Field,
        state: &State,
        call: Call<'_>,
    ) {
        let Some(content) = self.code_in(file, state, call) else { return };
        let Some(content) = content.known() else {
            let why =
                format!("`{name}` is given settings that are not known, and some are commands");
            self.doubt(DoubtKind::Text, &why, call.span);
            return;
        };
        for line in content.lines().map(str::trim) {
            let small = line.to_ascii_lowercase();
            if let Some(at) = small.find("exec ").filter(|_| small.starts_with("match")) {
                let command = line.get(at + 5..).unwrap_or_default().trim_matches('"');
                self.joined_text(&[Field::text(command)], state, call);
            } else {
                self.option_of_ssh(&Field::text(line), state, call);
            }
        }
    }

    /// A text that a container reads whose own program is not told: it may well be a shell.
    pub(super) fn read_in_container(&mut self, state: &State, call: Call<'_>) {
        const USUAL: [&str; 18] = [
            "rm", "mv", "cp", "dd", "sh", "bash", "git", "chmod", "chown", "find", "curl", "wget",
            "kill", "truncate", "shred", "cd", "set", "export",
        ];
        let Input::Text(text) = call.input else { return };
        let Some(text) = text.known() else { return };
        let first = text.split_whitespace().next().unwrap_or_default();
        if USUAL.contains(&base(first)) {
            let mut own = child(state);
            own.folders = vec![CommandFolder::Unknown];
            self.text(text, &mut own, &Input::Piped, Dialect::Other, call.span);
        }
    }

    /// Commands that are handed to a container of a cluster: rules about commands hold there, paths are its own.
    pub(super) fn contained(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let known = |field: &Field| field.known().unwrap_or_default().to_owned();
        let verb = words.iter().position(|it| matches!(it.known(), Some("exec" | "run")));
        let Some(verb) = verb else { return };
        let is_shell = |field: &Field| SHELLS.contains(&base(&known(field)));
        let is_client = |field: &Field| CLIENTS.contains(&base(&known(field)));
        let rest = words.get(verb + 1..).unwrap_or_default();
        let Some(at) = rest.iter().skip(1).position(|it| is_shell(it) || is_client(it)) else {
            return self.read_in_container(state, call);
        };
        let inner = rest.get(at + 1..).unwrap_or_default();
        if inner.first().is_some_and(is_client) {
            self.start(inner, state, call);
            return;
        }
        let is_text = |field: &Field| field.begins().starts_with('-') && known(field).contains('c');
        let text = inner.iter().skip_while(|it| !is_text(it)).nth(1);
        let reads = !inner.iter().any(is_text) && inner.len() == 1;
        if reads && !matches!(call.input, Input::Given) {
            match call.input {
                Input::Text(text) if text.is_known() => {
                    let mut own = child(state);
                    own.folders = vec![CommandFolder::Unknown];
                    let text = text.known().unwrap_or_default().to_owned();
                    self.text(&text, &mut own, &Input::Piped, Dialect::Other, call.span);
                }
                Input::Given | Input::Piped | Input::Text(_) | Input::File | Input::Listed(_) => {
                    let why = "a shell in a container runs what another command prints";
                    self.doubt(DoubtKind::Text, why, call.span);
                }
            }
        }
        if text.is_some_and(|text| !text.is_known()) {
            self.doubt(
                DoubtKind::Text,
                "a shell in a container runs a text that is not known",
                call.span,
            );
        }
    }

    /// Commands of a debugger are its own, and some start other programs.
    pub(super) fn debugger(&mut self, name: &str, words: &[Field], state: &State, call: Call<'_>) {
        self.maybe(words, state, name, call.span);
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = word.known().unwrap_or_default();
            match text.trim_start_matches('-') {
                "args" => {
                    let program: Vec<Field> = rest.cloned().collect();
                    self.start(program.as_slice(), state, call);
                    return;
                }
                "ex" | "eval-command" | "iex" | "o" | "one-line" | "O" | "k" => {
                    let command = rest.next().and_then(Field::known);
                    let runs = command.is_none_or(|it| {
                        DEBUGGER_RUNS.iter().any(|word| it.trim_start().starts_with(word))
                    });
                    if runs {
                        let why = format!("`{name}` is given a command that may start others");
                        self.doubt(DoubtKind::Code, &why, call.span);
                    }
                }
                "x" | "command" | "ix" | "init-command" | "s" | "source"
                    if text.starts_with('-') =>
                {
                    if let Some(file) = rest.next() {
                        self.touch(TouchKind::Read, file, state, name, call.span);
                    }
                    let why = format!("`{name}` runs commands of a file");
                    self.doubt(DoubtKind::Code, &why, call.span);
                }
                _ if !word.is_known() => {
                    let why = format!("an argument of `{name}` is not known, and may be an option");
                    self.doubt(DoubtKind::Option, &why, call.span);
                }
                _ => {}
            }
        }
    }

    /// A program by its path that is given `-c` and a text: it may be a shell under another name.
    pub(super) fn perhaps_shell(&mut self, fields: &[Field], state: &State, call: Call<'_>) {
        let is_known = fields.first().and_then(Field::known).is_some_and(|written| {
            let name = lookup_name(written);
            ["python", "pypy", "node", "perl", "ruby", "php"].iter().any(|it| name.starts_with(it))
        });
        let mut words = fields.iter().skip(1);
        if is_known || words.next().and_then(Field::known) != Some("-c") {
            return;
        }
        match words.next().map(Field::known) {
            Some(Some(text)) if text.contains(char::is_whitespace) => {
                let mut own = child(state);
                self.text(text, &mut own, call.input, Dialect::Other, call.span);
                self.doubt(DoubtKind::Text, "a program may run a text as a shell does", call.span);
            }
            Some(None) => {
                self.doubt(
                    DoubtKind::Text,
                    "a program may run a text that is not known",
                    call.span,
                );
            }
            Some(Some(_)) | None => {}
        }
    }
}

/// True if no option of `nc` starts a program.
pub(super) fn runs_nothing(words: &[Field]) -> bool {
    words.iter().all(|word| {
        word.known().is_some_and(|text| {
            let is_short = text.starts_with('-') && !text.starts_with("--");
            let starts = is_short && text.contains(['e', 'c']) || text.contains("exec");
            !(starts || text.starts_with("--lua"))
        })
    })
}
