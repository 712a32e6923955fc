//! Files that a text writes and then runs: what it puts into them is a text of it as well.

use super::invoke::{Call, base};
use super::shells::SHELLS;
use super::state::{State, below};
use super::value::{Field, Piece};
use super::walk::{Dialect, Input, Walker};
use super::{ByteSpan, CommandFolder, DoubtKind, TouchKind};
use crate::base::bash::tree::{Redirection, Target};

/// Most files whose content is remembered.
const FILES_MAX: usize = 32;
/// Most bytes of one file that are remembered.
const CONTENT_MAX: usize = 64 * 1024;

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
            "cat" if words.iter().all(|it| it.known() == Some("-")) => read(),
            "tee" => read(),
            "echo" | "printf" => super::output::said(name, words).or_else(|| printed(name, words)),
            _ => None,
        };
        let Some(content) = content.as_ref().map(script_of) else { return };
        let mut files = Vec::new();
        if name == "tee" {
            files.extend(words.iter().filter(|it| !it.begins().starts_with('-')).cloned());
        }
        let own = self.outputs(redirections, state);
        let is_gathered = own.is_empty();
        files.extend(own);
        let mut places = places_of(&files, state);
        if is_gathered {
            places.extend(self.sinks.last().cloned().unwrap_or_default());
        }
        for place in places {
            // More may be added to it later.
            let before = self.written.iter().rev().find(|(other, _)| *other == place);
            let whole = before.map(|(_, before)| format!("{before}\n{content}"));
            let is_small = whole.as_ref().is_none_or(|whole| whole.len() < CONTENT_MAX);
            // What follows on the same line is another text.
            let goes_on = whole.is_some() && self.unended.contains(&place);
            if ends_line(name, words) {
                self.unended.remove(&place);
            } else {
                self.unended.insert(place.clone());
            }
            if self.written.len() < FILES_MAX && is_small && !goes_on {
                self.written.push((place, whole.unwrap_or_else(|| content.clone())));
            } else {
                self.forgotten.insert(place);
            }
        }
    }

    /// The files that redirections lead output to.
    fn outputs(&mut self, redirections: &[Redirection], state: &State) -> Vec<Field> {
        let mut files = Vec::new();
        for redirection in redirections.iter().filter(|it| it.number.is_none_or(|it| it == 1)) {
            if let Target::Word(word) = &redirection.target
                && [">", ">|", ">>", "&>", "&>>"].contains(&redirection.operator)
            {
                files.extend(self.words(std::slice::from_ref(word), &mut state.clone()));
            }
        }
        files
    }

    /// From here on, what commands print goes to the files that redirections name.
    pub(super) fn gathers(&mut self, redirections: &[Redirection], state: &State) {
        let files = self.outputs(redirections, state);
        if !files.is_empty() {
            self.sinks.push(places_of(&files, state));
        }
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
        let listing = super::output::listed(name, words).filter(|_| !is_added);
        for place in places_of(&files, state) {
            self.lists.retain(|(it, _)| *it != place);
            if let Some(listing) = listing.clone().filter(|_| self.lists.len() < FILES_MAX) {
                self.lists.push((place, listing));
            }
        }
    }

    /// What this text wrote to a file.
    pub(super) fn content_of(&self, file: &Field, state: &State) -> Option<String> {
        let places = places_of(std::slice::from_ref(file), state);
        let found = self.written.iter().rev().find(|(place, _)| places.contains(place));
        found.map(|(_, content)| content.clone())
    }

    /// Walks what was written to a file that is run now, by itself or by a program.
    pub(super) fn run_written(
        &mut self,
        file: &Field,
        by: Option<&str>,
        state: &State,
        call: Call<'_>,
    ) {
        let places = places_of(std::slice::from_ref(file), state);
        if places.iter().any(|place| self.forgotten.contains(place)) {
            let why = "it runs a file into which it writes what is not all looked at";
            self.doubt(DoubtKind::TooLarge, why, call.span);
        }
        let Some(content) = self.content_of(file, state) else { return };
        let runner = by.map_or_else(|| named_by(&content), str::to_owned);
        let script = (runner.clone(), content.clone());
        if self.acts.scripts.contains(&script) {
            return;
        }
        self.acts.scripts.push(script);
        if SHELLS.contains(&runner.as_str()) {
            let mut own = super::shells::child(state);
            self.text(&content, &mut own, &Input::Piped, Dialect::Bash, call.span);
        }
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
fn places_of(files: &[Field], state: &State) -> Vec<String> {
    let known = files.iter().filter_map(Field::known);
    known.flat_map(|path| state.folders.iter().filter_map(|it| place(it, path))).collect()
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
        ("printf", [format]) if !format.replace("%%", "").contains('%') => {
            format.replace("%%", "%")
        }
        _ => return None,
    };
    Some(Field::text(&text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")))
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
