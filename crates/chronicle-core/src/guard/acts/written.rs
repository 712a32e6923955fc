//! Files that a text writes and then runs: what it puts into them is a text of it as well.

use super::invoke::{Call, base};
use super::shells::SHELLS;
use super::state::{State, below};
use super::value::{Field, Piece};
use super::walk::{Dialect, Input, Walker};
use super::{ByteSpan, CommandFolder, DoubtKind, TouchKind, WrittenScript};
use crate::base::bash::tree::{Redirection, Target};

/// Most files whose content is remembered.
pub(super) const FILES_MAX: usize = 32;
/// Most bytes of one file that are remembered.
pub(super) const CONTENT_MAX: usize = 64 * 1024;

impl Walker<'_> {
    /// Remembers what a command puts into files.
    pub(super) fn wrote(
        &mut self,
        fields: &[Field],
        redirections: &[Redirection],
        state: &mut State,
        input: &Input,
        span: ByteSpan,
    ) {
        let Some(name) = fields.first().and_then(Field::known).map(base) else { return };
        let words = fields.get(1..).unwrap_or_default();
        self.wrote_list(name, words, redirections, state);
        self.forgets_others(redirections, state);
        if name == "cat" && !words.is_empty() {
            for file in self.outputs(redirections, state) {
                self.copied(words, &file, state, span);
            }
        }
        let read = || match input {
            Input::Text(text) => Some(text.clone()),
            Input::Given | Input::Piped | Input::File | Input::Listed(_) => None,
        };
        let content = match name {
            "dd" => read().filter(|_| !words.iter().any(|it| it.begins().starts_with("if="))),
            "cat" if words.iter().all(|it| it.known() == Some("-")) => read(),
            "tee" | "sponge" => read(),
            "sort" if super::started::sorts_input(words) => read(),
            "echo" | "printf" => super::output::said(name, words).or_else(|| printed(name, words)),
            _ => None,
        };
        let mut files = named_outputs(name, words);
        let own = self.outputs(redirections, state);
        let is_gathered = own.is_empty();
        files.extend(own);
        self.changed_by_pattern(&files, state, true);
        let mut places = places_of(&files, state);
        if is_gathered {
            places.extend(self.sinks.last().cloned().unwrap_or_default());
        }
        let Some(content) = content.as_ref().map(script_of) else {
            let is_called = state.functions.contains_key(name);
            if !is_called && !prints_nothing_new(name, words) {
                self.forgotten.extend(places);
            }
            return;
        };
        for place in places {
            // What follows on the same line is another text.
            let goes_on = self.unended.contains(&place);
            if ends_line(name, words) {
                self.unended.remove(&place);
            } else {
                self.unended.insert(place.clone());
            }
            self.keep(place, &content, goes_on);
        }
    }

    /// Remembers a text that is put into a file. More may be added to it later.
    pub(super) fn keep(&mut self, place: String, content: &str, goes_on: bool) {
        let before = self.written.iter().rev().find(|(other, _)| *other == place);
        let whole = before.map(|(_, before)| format!("{before}\n{content}"));
        let is_small = whole.as_ref().is_none_or(|whole| whole.len() < CONTENT_MAX);
        let goes_on = goes_on && whole.is_some();
        if self.written.len() < FILES_MAX && is_small && !goes_on {
            self.written.push((place, whole.unwrap_or_else(|| content.to_owned())));
        } else {
            self.forgotten.insert(place);
        }
    }

    /// What this text wrote to a file is also in a copy of it, and behind a link to it.
    pub(super) fn copied_text(&mut self, source: &str, targets: &[&str], state: &State) {
        self.copied_folder(source, targets, state);
        let source = Field::text(source);
        let content = match source.known() {
            // What it reads is not followed here.
            Some("/dev/stdin" | "/proc/self/fd/0") => Some(Field::unknown()),
            Some(path) if path.starts_with("/dev/fd/") => {
                let printed = self.printed_at(&source);
                Some(printed.map_or_else(Field::unknown, |text| Field::text(&text)))
            }
            _ => self.code_at(&source, state),
        };
        let Some(content) = content else { return };
        for path in targets {
            let places = places_of(&[Field::text(path)], state);
            match content.known() {
                Some(text) => {
                    for place in places {
                        self.keep(place, text, false);
                    }
                }
                None => self.forgotten.extend(places),
            }
        }
    }

    /// Nobody knows what a program writes to a file.
    pub(super) fn wrote_unknown(&mut self, file: &Field, state: &State) {
        self.forgotten.extend(places_of(std::slice::from_ref(file), state));
    }

    /// The files that redirections lead output to.
    fn outputs(&mut self, redirections: &[Redirection], state: &State) -> Vec<Field> {
        let mut files = Vec::new();
        for redirection in redirections.iter().filter(|it| it.number.is_none_or(|it| it == 1)) {
            if let Target::Word(word) = &redirection.target
                && ([">", ">|", ">>", "&>", "&>>", ">&"].contains(&redirection.operator)
                    || redirection.operator == "<>" && redirection.number == Some(1))
            {
                let led = self.words(std::slice::from_ref(word), &mut state.clone());
                let is_file = |it: &Field| redirection.operator != ">&" || !is_number(it);
                files.extend(led.into_iter().filter(is_file));
            }
        }
        files
    }

    /// Nobody follows what goes to files by other numbers than that of the output.
    fn forgets_others(&mut self, redirections: &[Redirection], state: &State) {
        for redirection in redirections {
            let is_other =
                redirection.number.is_some_and(|it| it > 1) || redirection.variable.is_some();
            if let Target::Word(word) = &redirection.target
                && is_other
                && redirection.operator.contains('>')
            {
                let files = self.words(std::slice::from_ref(word), &mut state.clone());
                self.forgotten.extend(places_of(&files, state));
            }
        }
    }

    /// From here on, what commands print goes to the files that redirections name.
    pub(super) fn gathers(&mut self, redirections: &[Redirection], state: &State) {
        self.forgets_others(redirections, state);
        let files = self.outputs(redirections, state);
        if !files.is_empty() {
            self.sinks.push(places_of(&files, state));
        }
    }

    /// The files that all commands inside of this one read from.
    pub(super) fn read_by_all(
        &mut self,
        redirections: &[Redirection],
        state: &State,
    ) -> Option<Vec<String>> {
        let files = self.inputs(redirections, state);
        (!files.is_empty()).then(|| places_of(&files, state))
    }

    /// True if the commands around read from a file that was there before, and that nothing has changed.
    pub(super) fn is_old_source(&self) -> bool {
        self.sources.last().is_some_and(|places| self.reads_old_list(&Input::File, places))
    }

    /// Forgets what this text wrote to a file that a program then changes.
    pub(super) fn rewritten(&mut self, path: &Field, by: &str, state: &State) {
        if !super::renamed::changes_scripts(by) {
            return;
        }
        let places = places_of(std::slice::from_ref(path), state);
        if self.changed.len() < FILES_MAX * FILES_MAX {
            self.changed.extend(places.iter().cloned());
        }
        self.changed_by_pattern(std::slice::from_ref(path), state, false);
        let is_there = |file: &str| {
            // `patch` may be told a folder only.
            let is_in = |place: &String| {
                place.is_empty()
                    || file
                        .strip_prefix(place.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            places.iter().any(is_in) || !path.is_known()
        };
        let files = self.written.iter().map(|(file, _)| file).filter(|file| is_there(file));
        let files: Vec<String> = files.cloned().collect();
        self.forgotten.extend(files);
    }

    /// Walks what was written to a file that a program reads its commands from.
    pub(super) fn run_read(&mut self, name: &str, state: &State, call: Call<'_>) {
        let is_input =
            |it: &&Redirection| it.operator == "<" && it.number.is_none_or(|number| number == 0);
        for redirection in call.redirections.iter().filter(is_input) {
            let Target::Word(word) = &redirection.target else { continue };
            for file in self.words(std::slice::from_ref(word), &mut state.clone()) {
                self.touch(TouchKind::Read, &file, state, name, call.span);
                self.run_written(&file, Some(name), state, call);
                let word = file.to_word();
                let is_pipe = |touch: &super::Touch| touch.by == "mkfifo" && touch.path == word;
                if self.acts.touches.iter().any(is_pipe) {
                    let why = format!("`{name}` runs what somebody writes to a pipe");
                    self.doubt(DoubtKind::Text, &why, call.span);
                }
            }
        }
    }

    /// What a program reads its words from: a list that this text made is known.
    pub(super) fn listed_in(
        &mut self,
        list: Option<&Field>,
        state: &State,
        call: Call<'_>,
    ) -> Input {
        let files = match (list, call.input) {
            (Some(list), _) => vec![list.clone()],
            (None, Input::File) => self.inputs(call.redirections, state),
            (None, input) => return input.clone(),
        };
        let [file] = files.as_slice() else { return Input::File };
        let places = places_of(files.as_slice(), state);
        self.steps += self.acts.touches.len() / 16;
        if !self.is_made_here(&places) {
            return Input::File;
        }
        if let Some((_, listing)) = self.lists.iter().rev().find(|(it, _)| places.contains(it)) {
            return Input::Listed(listing.clone());
        }
        self.content_of(file, state).map_or(Input::File, |text| Input::Text(Field::text(&text)))
    }

    /// Where the list lies that a program reads its words from.
    pub(super) fn list_places(
        &mut self,
        list: Option<&Field>,
        state: &State,
        call: Call<'_>,
    ) -> Vec<String> {
        match list {
            Some(list) => places_of(std::slice::from_ref(list), state),
            None => places_of(&self.inputs(call.redirections, state), state),
        }
    }

    /// True if all that is in a file was put there by one redirection of this text.
    fn is_made_here(&self, places: &[String]) -> bool {
        let is_mild = |kind: TouchKind| matches!(kind, TouchKind::Read | TouchKind::List);
        let is_there = |touch: &&super::Touch| {
            let path = touch.path.known().and_then(|path| place(&touch.folder, path));
            // One that is not known may be this one.
            !is_mild(touch.kind) && path.is_none_or(|path| places.contains(&path))
        };
        let mut changes = self.acts.touches.iter().filter(is_there);
        matches!((changes.next(), changes.next()), (Some(touch), None) if touch.by == ">")
    }

    /// The files that redirections lead input from.
    fn inputs(&mut self, redirections: &[Redirection], state: &State) -> Vec<Field> {
        let is_input =
            |it: &&Redirection| it.operator == "<" && it.number.is_none_or(|number| number == 0);
        let mut files = Vec::new();
        for redirection in redirections.iter().filter(is_input) {
            if let Target::Word(word) = &redirection.target {
                files.extend(self.words(std::slice::from_ref(word), &mut state.clone()));
            }
        }
        files
    }

    /// Remembers the names of files that a command writes to another one.
    fn wrote_list(
        &mut self,
        name: &str,
        words: &[Field],
        redirections: &[Redirection],
        state: &State,
    ) {
        let files = self.outputs(redirections, state);
        let is_added = redirections.iter().any(|it| it.operator.ends_with(">>"));
        let listing = super::listings::listed(name, words).filter(|_| !is_added);
        for place in places_of(&files, state) {
            self.lists.retain(|(it, _)| *it != place);
            if let Some(listing) = listing.clone().filter(|_| self.lists.len() < FILES_MAX) {
                self.lists.push((place, listing));
            }
        }
    }

    /// Code that a program is told to read from a file, if this text says what is in it: it wrote that, or leads it there.
    pub(super) fn code_in(&mut self, file: &Field, state: &State, call: Call<'_>) -> Option<Field> {
        match file.known() {
            Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => match call.input {
                Input::Text(text) => Some(text.clone()),
                Input::Piped | Input::Listed(_) => Some(Field::unknown()),
                Input::File => {
                    let files = self.inputs(call.redirections, state);
                    files.iter().find_map(|file| self.code_at(file, state))
                }
                Input::Given => None,
            },
            Some(path) if path.starts_with("/dev/fd/") => {
                let printed = self.printed_at(file);
                Some(printed.map_or_else(Field::unknown, |text| Field::text(&text)))
            }
            _ => self.code_at(file, state),
        }
    }

    /// What this text wrote to a file, as far as that is known; `None` if it wrote nothing there.
    pub(super) fn code_at(&self, file: &Field, state: &State) -> Option<Field> {
        let places = places_of(std::slice::from_ref(file), state);
        if places.iter().any(|it| self.is_forgotten(it) || self.is_changed(it)) {
            return Some(Field::unknown());
        }
        self.content_of(file, state).map(|text| Field::text(&text))
    }

    /// What this text wrote to a file.
    pub(super) fn content_of(&self, file: &Field, state: &State) -> Option<String> {
        self.content_at(&places_of(std::slice::from_ref(file), state))
    }

    fn content_at(&self, places: &[String]) -> Option<String> {
        let found = self.written.iter().rev().find(|(place, _)| places.contains(place));
        found.map(|(_, content)| content.clone())
    }

    /// Walks what was written to a file that is run now, by itself or by a program, or to one that this one stands for.
    pub(super) fn run_written(
        &mut self,
        file: &Field,
        by: Option<&str>,
        state: &State,
        call: Call<'_>,
    ) {
        self.run_file(file, by, state, call);
        if self.written.is_empty() && self.forgotten.is_empty() {
            return;
        }
        let mut others = super::started::meant_by(by.unwrap_or_default(), file);
        others.extend(self.made_into(by.unwrap_or_default(), file));
        for other in others {
            self.run_file(&Field::text(&other), by, state, call);
        }
    }

    fn run_file(&mut self, file: &Field, by: Option<&str>, state: &State, call: Call<'_>) {
        let places = self.under_other_names(places_of(std::slice::from_ref(file), state));
        let is_shell = by.is_none_or(|by| SHELLS.contains(&by));
        if is_shell && places.iter().any(|place| self.is_changed(place)) {
            let why = "it runs a script that it changes before";
            self.doubt(DoubtKind::Text, why, call.span);
        }
        if places.iter().any(|place| self.is_forgotten(place)) {
            let why = "it runs a file into which it writes what is not all looked at";
            self.doubt(DoubtKind::TooLarge, why, call.span);
        }
        let Some(content) = self.content_at(&places) else { return };
        let runner = by.map_or_else(|| named_by(&content), str::to_owned);
        let folders = state.folders.clone();
        let script = WrittenScript { by: runner.clone(), text: content.clone(), folders };
        if self.acts.scripts.contains(&script) {
            return;
        }
        self.acts.scripts.push(script);
        if SHELLS.contains(&runner.as_str()) {
            let mut own = super::shells::child(state);
            self.text(&content, &mut own, &Input::Piped, Dialect::Bash, call.span);
        } else {
            self.loaded_by(&runner, &content, places.first().map(String::as_str), state, call);
        }
    }
}

/// True for the number of a stream, and for a dash, which closes one.
fn is_number(field: &Field) -> bool {
    field.is_number()
        || field
            .known()
            .is_some_and(|it| it.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()))
}

/// The files that programs write which they are given to write.
fn named_outputs(name: &str, words: &[Field]) -> Vec<Field> {
    match name {
        "tee" | "sponge" => {
            words.iter().filter(|it| !it.begins().starts_with('-')).cloned().collect()
        }
        "dd" => {
            let is_output = |it: &&Field| it.begins().starts_with("of=");
            words.iter().filter(is_output).map(|it| it.after(3)).collect()
        }
        "sort" | "split" => super::started::put_out_by(name, words),
        _ => Vec::new(),
    }
}

/// True for commands that print nothing, or what lies in files or in git: who runs that could run it there.
fn prints_nothing_new(name: &str, words: &[Field]) -> bool {
    const SILENT: [&str; 24] = [
        ":", "true", "false", "cd", "mkdir", "set", "export", "[", "[[", "test", "local", "read",
        "rm", "cp", "mv", "touch", "chmod", "exit", "return", "shift", "unset", "wait", "sleep",
        "exec",
    ];
    let first = words.first().and_then(Field::known);
    // One that reads what another command prints is no copy of a file.
    let copies = !words.is_empty() && !words.iter().any(|it| it.known() == Some("-"));
    match name {
        "cat" => copies,
        "dd" => words.iter().any(|it| it.begins().starts_with("if=")),
        "git" => matches!(first, Some("show" | "cat-file")),
        _ => SILENT.contains(&name),
    }
}

/// False for a command that prints a text without the end of a line after it.
fn ends_line(name: &str, words: &[Field]) -> bool {
    let first = words.first().map_or("", Field::begins);
    match name {
        "printf" => first.ends_with("\\n") || first.ends_with('\n') || first == "%b",
        "echo" => !(first.starts_with("-n") || first.starts_with("-en")),
        _ => true,
    }
}

/// Where files lie, from each folder that the text may be in.
pub(super) fn places_of(files: &[Field], state: &State) -> Vec<String> {
    let known = files.iter().filter_map(Field::known);
    let places = known.flat_map(|path| state.folders.iter().filter_map(|it| place(it, path)));
    match &state.container {
        Some(container) => places.map(|it| container.place(&it)).collect(),
        None => places.collect(),
    }
}

/// The program that the first line of a script names.
fn named_by(content: &str) -> String {
    let line = content.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or("sh");
    let mut words = line.split_whitespace().map(base).filter(|it| *it != "env" && *it != "-S");
    words.next().unwrap_or("sh").to_owned()
}

/// A text with a variable that nobody knows in the place of what is not known.
fn script_of(content: &Field) -> String {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Glob(_)
        | Piece::Number
        | Piece::Given
        | Piece::Unknown
        | Piece::Listed(_)
        | Piece::Temp
        | Piece::Name
        | Piece::Part
        | Piece::Line
        | Piece::Read
        | Piece::Cut(_) => "$_".to_owned(),
    };
    content.pieces.iter().map(part).collect()
}

/// What `printf` and `echo -e` make of escapes; `None` if there is more to it.
fn printed(name: &str, words: &[Field]) -> Option<Field> {
    let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
    let known = known?;
    let text = match (name, known.as_slice()) {
        ("echo", [option, rest @ ..]) if ["-e", "-ne", "-en", "-n"].contains(option) => {
            rest.join(" ")
        }
        ("echo", words) => words.join(" "),
        ("printf", ["%b" | "%b\\n" | "%s\\n" | "%s", rest @ ..]) => rest.join("\n"),
        ("printf", [format, rest @ ..]) => formatted(format, rest)?,
        _ => return None,
    };
    Some(Field::text(&text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")))
}

/// What `printf` makes of a format with words in it; `None` if it does more than to put them there.
pub(super) fn formatted(format: &str, words: &[&str]) -> Option<String> {
    let mut left = words.iter();
    let mut text = String::new();
    loop {
        let before = left.len();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '%' => match letters.next()? {
                    '%' => text.push('%'),
                    's' | 'b' | 'd' | 'i' | 'u' => text.push_str(left.next().unwrap_or(&"")),
                    _ => return None,
                },
                _ => text.push(letter),
            }
        }
        // The format is used again for the words that are left.
        if left.len() == 0 || left.len() == before || text.len() > CONTENT_MAX {
            return Some(text);
        }
    }
}

/// A path from the root on, if it is known where it begins.
pub(super) fn place(folder: &CommandFolder, path: &str) -> Option<String> {
    let whole = match folder {
        CommandFolder::Known(folder) => below(folder, path),
        CommandFolder::Unknown if path.starts_with('/') => path.to_owned(),
        CommandFolder::Unknown => return None,
    };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    Some(names.join("/"))
}
