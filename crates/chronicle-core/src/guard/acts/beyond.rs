//! What programs do besides what their arguments name.

use super::invoke::Call;
use super::options::Read;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use super::{DoubtKind, Put, TouchKind};

impl Walker<'_> {
    /// Flags that make more of an option than its name says.
    pub(super) fn after_options(
        &mut self,
        name: &str,
        found: &Read,
        state: &State,
        call: Call<'_>,
    ) {
        if super::editors::is_editor(name) {
            return self.edited(name, found, state, call);
        }
        // `less +!command`.
        if matches!(name, "less" | "more" | "emacs") {
            for operand in &found.operands {
                // `+G` goes to the end, and `+F` stays there.
                let is_place = matches!(operand.known(), Some("+G" | "+F" | "+g"));
                if operand.begins().starts_with('+') && !is_place {
                    self.doubt(
                        DoubtKind::Code,
                        &format!("`{name}` is given commands of its own"),
                        call.span,
                    );
                }
            }
        }
    }

    /// Variables and files that are given to `make`, whose values may be commands.
    fn given_to_build(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        if !matches!(name, "make" | "gmake" | "just" | "ninja") {
            return;
        }
        self.recipes(name, found, state, call);
        let is_read = super::shells::is_stream;
        if found.values(&["f", "file", "makefile"]).any(is_read) {
            self.doubt(DoubtKind::Text, &format!("`{name}` runs rules that it reads"), call.span);
        }
        // What `-j` takes is a number, and anything else the next word.
        let behind = found.values(&["j", "l", "jobs"]).filter(|it| it.begins().contains('='));
        for operand in found.operands.iter().chain(behind) {
            let Some((variable, _)) = operand.begins().split_once('=') else { continue };
            let variable = variable.trim_end_matches([':', '+', '?', '!']).trim();
            let value = operand.after(operand.begins().find('=').map_or(0, |at| at + 1));
            let runs = value.known().is_none_or(|text| text.contains(['$', '`']));
            let is_usual =
                variable == "SHELL" && value.known().is_some_and(super::variables::is_usual_shell);
            if runs || variable.contains("SHELL") && !is_usual {
                let why = format!("a variable of `{name}` may hold commands");
                self.doubt(DoubtKind::Text, &why, call.span);
            } else {
                self.started_by_build(variable, &value, found, state, call);
                self.watched(variable, &super::value::Value::One(value), state, call.span);
            }
        }
    }

    /// A variable of `make` that holds a program, which recipes start with the words of others.
    fn started_by_build(
        &mut self,
        variable: &str,
        value: &Field,
        found: &Read,
        state: &State,
        call: Call<'_>,
    ) {
        const PROGRAMS: [&str; 20] = [
            "CC", "CXX", "CPP", "LD", "AR", "AS", "RM", "CP", "MV", "LN", "INSTALL", "MKDIR", "GO",
            "CARGO", "PYTHON", "NODE", "NPM", "STRIP", "RANLIB", "FC",
        ];
        let Some(program) = value.known().filter(|_| PROGRAMS.contains(&variable)) else { return };
        let flags = found.operands.iter().filter_map(|it| it.known()?.split_once('='));
        let flags = flags.filter(|(name, _)| name.ends_with("FLAGS")).map(|(_, value)| value);
        let line: Vec<&str> = std::iter::once(program).chain(flags).collect();
        // Recipes say what it reads.
        self.run_value_with(&line.join(" "), &Input::Given, state, call.span);
    }

    /// Files in addresses, and the command with which `zip` tests its work.
    fn hidden_paths(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        if matches!(name, "curl" | "wget") {
            let sent: Vec<Field> = found.values(&["T", "upload-file"]).cloned().collect();
            for path in found.operands.iter().filter_map(Field::known) {
                let Some(path) = path.strip_prefix("file://") else { continue };
                for path in spelled_out(path) {
                    let path = Field::text(&path);
                    let is_sent = name == "curl" && !sent.is_empty();
                    let kind = if is_sent { TouchKind::Write } else { TouchKind::Read };
                    self.touch(kind, &path, state, name, call.span);
                    if is_sent {
                        self.landed(name, &sent, &path, state, call, &Put::default());
                    }
                }
            }
        }
        if name == "curl" {
            self.settings_of_curl(found, state, call);
        }
        let tests = found.options.iter().filter(|(option, _)| option == "T").count();
        if name == "zip" && tests > 1 {
            self.doubt(DoubtKind::Text, "`zip` tests its work with a command", call.span);
        }
    }

    /// Options that `curl` reads from a text that is known here.
    fn settings_of_curl(&mut self, found: &Read, state: &State, call: Call<'_>) {
        for file in found.values(&["K", "config"]) {
            let Some(text) = self.code_in(file, state, call) else { continue };
            let Some(text) = text.known() else {
                self.doubt(DoubtKind::Option, "`curl` reads options that are not known", call.span);
                continue;
            };
            let mut words = vec![Field::text("curl")];
            for line in text.lines().map(str::trim).filter(|it| !it.starts_with('#')) {
                let (option, value) = line
                    .split_once(|it: char| it.is_whitespace() || "=:".contains(it))
                    .unwrap_or((line, ""));
                let value =
                    value.trim_matches(|it: char| it.is_whitespace() || "=:\"".contains(it));
                if option == "url" {
                    words.push(Field::text(value));
                    continue;
                }
                let dashes = if option.starts_with('-') { "" } else { "--" };
                words.push(Field::text(&format!("{dashes}{option}")));
                words.extend(Some(value).filter(|it| !it.is_empty()).map(Field::text));
            }
            self.start(&words, state, call);
        }
    }

    /// Files that are called as their addresses end, unless the other side names them.
    fn downloads(&mut self, found: &Read, state: &State, name: &str, call: Call<'_>) {
        let given = [
            "J",
            "remote-header-name",
            "content-disposition",
            "P",
            "directory-prefix",
            "i",
            "r",
            "m",
        ];
        for address in &found.operands {
            let last =
                address.known().and_then(|it| it.split(['?', '#']).next()?.rsplit('/').next());
            let is_name = |it: &&str| !it.is_empty() && !found.has(&given);
            let file = last.filter(is_name).map_or_else(Field::unknown, Field::text);
            self.touch(TouchKind::Write, &file, state, name, call.span);
        }
    }

    /// Commands of `sftp`, which it reads: what they do to another machine is looked at only where they are known to get something.
    fn transferred(&mut self, found: &Read, call: Call<'_>) {
        const MILD: [&str; 13] = [
            "get", "mget", "reget", "ls", "lls", "cd", "lcd", "pwd", "lpwd", "bye", "exit", "quit",
            "version",
        ];
        let is_mild = |line: &str| {
            let word = line.split_whitespace().next().unwrap_or("#");
            word.starts_with('#') || MILD.contains(&word.trim_start_matches(['-', '@']))
        };
        let reads_file = found.has(&["b"]);
        let is_known = match call.input {
            Input::Given => !reads_file,
            Input::Text(text) => {
                text.known().is_some_and(|text| text.lines().all(is_mild)) && !reads_file
            }
            Input::Piped | Input::File | Input::Listed(_) => false,
        };
        if !is_known {
            let why = "`sftp` reads commands for another machine that are not looked at";
            self.doubt(DoubtKind::Text, why, call.span);
        }
    }

    fn settings_in_file(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        for file in found.values(&["F"]) {
            self.settings_of_ssh(name, file, state, call);
        }
    }

    /// What is taken out of an archive: anything, and what is named for certain.
    fn taken_out(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        let is_zip = name == "unzip";
        let takes_out = |it: &Field| matches!(it.known(), Some("x" | "e"));
        let does = if is_zip {
            !found.has(&["d", "l", "t", "v", "p", "Z"])
        } else {
            self.changed(name, &found.operands, state, call.span);
            found.operands.first().is_some_and(takes_out)
        };
        if does && is_zip {
            self.touch(TouchKind::Write, &Field::text("."), state, name, call.span);
        }
        // The archive itself stands before.
        let before = if is_zip { 1 } else { 2 };
        for path in found.operands.iter().skip(before).filter(|_| does && !found.has(&["j"])) {
            self.written_to(path, state, name, call.span);
        }
    }

    /// What `rsync` removes where it copies to, and where it copies from.
    fn emptied_by_rsync(&mut self, found: &Read, state: &State, call: Call<'_>) {
        let Some((last, before)) = found.operands.split_last() else { return };
        if found.options.iter().any(|(option, _)| option.starts_with("del")) {
            self.touch(TouchKind::Delete, last, state, "rsync", call.span);
        }
        for path in before.iter().filter(|_| found.has(&["remove-source-files"])) {
            self.touch(TouchKind::Delete, path, state, "rsync", call.span);
        }
    }

    /// What programs touch besides their arguments.
    pub(super) fn beyond(&mut self, name: &str, found: &Read, state: &State, call: Call<'_>) {
        let here = Field::text(".");
        self.given_to_build(name, found, state, call);
        self.hidden_paths(name, found, state, call);
        match name {
            "sftp" => {
                self.transferred(found, call);
                self.settings_in_file(name, found, state, call);
            }
            "scp" => self.settings_in_file(name, found, state, call),
            "ptx" if found.has(&["G", "traditional"]) => {
                for path in found.operands.iter().skip(1) {
                    self.touch(TouchKind::Write, path, state, name, call.span);
                }
            }
            "7z" | "7za" | "7zr" | "unzip" => self.taken_out(name, found, state, call),
            "rsync" => self.emptied_by_rsync(found, state, call),
            "curl" if found.has(&["O", "remote-name", "remote-name-all", "J"]) => {
                self.downloads(found, state, name, call);
            }
            "wget" if !found.has(&["O", "output-document", "spider"]) => {
                self.downloads(found, state, name, call);
            }
            "patch" if found.operands.is_empty() && !found.has(&["d", "directory", "dry-run"]) => {
                self.touch(TouchKind::Write, &here, state, name, call.span);
            }
            "zip" if found.has(&["m", "move"]) => {
                for path in found.operands.iter().skip(1) {
                    self.touch(TouchKind::Delete, path, state, name, call.span);
                }
            }
            "ln" | "link" | "install" if found.operands.len() == 1 => {
                let kind = if name == "install" { TouchKind::Write } else { TouchKind::Likely };
                for path in &found.operands {
                    self.touch(kind, path, state, name, call.span);
                }
                if name != "install" {
                    self.touch(TouchKind::Write, &here, state, name, call.span);
                }
            }
            "install" if found.has(&["d", "directory"]) => {
                for path in &found.operands {
                    self.touch(TouchKind::Write, path, state, name, call.span);
                }
            }
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ugrep" => {
                let is_recursive = !name.ends_with("grep")
                    || matches!(name, "ugrep")
                    || found.has(&["r", "R", "recursive"]);
                if found.operands.len() < 2 && is_recursive {
                    self.touch(TouchKind::Read, &here, state, name, call.span);
                }
            }
            "ls" | "tree" | "du" | "dir" | "exa" | "eza" if found.operands.is_empty() => {
                self.touch(TouchKind::List, &here, state, name, call.span);
            }
            _ => {}
        }
    }
}

/// Every path that an address with lists in braces stands for.
fn spelled_out(path: &str) -> Vec<String> {
    const PATHS_MAX: usize = 64;
    let mut all = vec![path.to_owned()];
    while let Some(at) =
        all.iter().position(|it| it.contains('{')).filter(|_| all.len() < PATHS_MAX)
    {
        let path = all.remove(at);
        let Some((before, rest)) = path.split_once('{') else { break };
        let Some((list, after)) = rest.split_once('}') else { return vec![path] };
        all.extend(list.split(',').map(|name| format!("{before}{name}{after}")));
    }
    all
}
