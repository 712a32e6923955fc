//! Programs that start other programs, and the way from a name to what is known of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::invoke::Call;
use super::options::{Valued, read};
use super::runners::{GROUPS, RUNNERS, Runner, WRAPPERS, Wrapper};
use super::shells::lookup_name;
use super::state::State;
use super::table::by_names;
use super::value::{Field, Piece, line};
use super::walk::{Dialect, Input, Walker};
use super::{CommandFolder, CommandWord, DoubtKind, TouchKind};
use crate::guard::processes::{leads_through_process, stream};

static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Wrapper>> =
    LazyLock::new(|| by_names(WRAPPERS, |wrapper| wrapper.names));

impl Walker<'_> {
    /// What is known of a program by its name.
    pub(super) fn program(&mut self, fields: &[Field], state: &State, call: Call<'_>) {
        let Some(written) = fields.first().and_then(Field::known) else { return };
        let name = lookup_name(written);
        let name = super::outputs::plain_tool(&name).to_owned();
        // A script of its own may have the name of something well known.
        if written.contains('/') && !super::copies::is_installed(written) {
            if leads_through_process(written) || stream(written).is_some() {
                let why = "it starts what a process has open or is, and only that process knows what this is";
                self.doubt(DoubtKind::Command, why, call.span);
            }
            self.touch(TouchKind::Read, &Field::text(written), state, &name, call.span);
            self.maybe(fields.get(1..).unwrap_or_default(), state, &name, call.span);
            self.perhaps_shell(fields, state, call);
            self.run_written(&Field::text(written), None, state, call);
            for program in self.copies_of(written, state) {
                let words = fields.iter().skip(1).cloned();
                let own: Vec<Field> = std::iter::once(Field::text(&program)).chain(words).collect();
                self.start(&own, state, call);
            }
        }
        if let Some(command) = super::git::own_command(&name) {
            let git = [Field::text("git"), Field::text(command)];
            let words = fields.get(1..).unwrap_or_default();
            return self.start(&[&git, words].concat(), state, call);
        }
        let words = fields.get(1..).unwrap_or_default();
        if name == "sudoedit" {
            let sudo = [Field::text("sudo"), Field::text("-e")];
            return self.start(&[&sudo, words].concat(), state, call);
        }
        self.tasks(&name, words, state, call);
        self.unpacked(&name, words, state, call);
        self.moved_by_command(&name, words, state, call);
        self.fetched(&name, words, state, call);
        self.interpreted_elsewhere(&name, words, state, call);
        if name == "gh" {
            self.github(words, state, call);
        }
        self.started(&name, words, state, call);
        self.built_of_input(&name, words, state, call);
        self.found_by_name(written, words, state, call);
        self.settings_of_tool(&name, words, state, call);
        let led = super::behind::led_by(&name, words, state);
        let inside = led.as_ref().unwrap_or(state);
        self.handed(&name, words, inside, call);
        self.started_behind(&name, words, inside, call);
        self.cleaned(&name, words, state, call);
        // Known for something else, and told where to put something like the others.
        if matches!(name.as_str(), "bun" | "ghc" | "tree") {
            self.put_out(&name, words, state, call.span);
        }
        // Some systems install the same programs with a letter in front.
        let other = name.strip_prefix('g').unwrap_or(&name).to_owned();
        for name in [name.as_str(), other.as_str()] {
            let is_found = self.interpreted(name, fields, state, call)
                || self.wrapped(name, fields, inside, call)
                || self.particular(name, fields, state, call)
                || self.tabled(name, fields, state, call);
            if is_found {
                return;
            }
        }
        let is_of_project = written.contains('/') && !super::copies::is_installed(written);
        self.perhaps_behind((&name, is_of_project), words, inside, call);
        self.maybe(words, state, &name, call.span);
        // Those of languages put their own options below the folder too.
        let is_inside = matches!(name.as_str(), "go" | "cargo");
        self.put_out(&name, words, if is_inside { inside } else { state }, call.span);
    }

    fn wrapped(&mut self, name: &str, fields: &[Field], state: &State, call: Call<'_>) -> bool {
        let words = fields.get(1..).unwrap_or_default();
        if let Some(wrapper) = BY_NAME.get(name) {
            self.unwrap(name, wrapper, words, state, call);
            return true;
        }
        if name == "nix" {
            return self.wrapped_by_nix(words, state, call);
        }
        let mut runners = RUNNERS.iter().filter(|(program, ..)| *program == name);
        let found = runners.find_map(|runner| Some((runner, place_of(runner, words)?)));
        let Some(((program, _, valued), (at, is_sure))) = found else { return false };
        let skips = usize::from(matches!(*program, "rustup" | "direnv"));
        let inner = Wrapper { names: program, valued, skips, sets: false };
        let words = words.get(at + 1..).unwrap_or_default();
        self.unwrap(name, &inner, words, state, call);
        // `mise x node@20 -- command`.
        if name == "mise" {
            self.behind_mark(words, true, state, call);
        }
        is_sure
    }

    /// `nix develop -c command`, and `nix run flake#program -- words`.
    fn wrapped_by_nix(&mut self, words: &[Field], state: &State, call: Call<'_>) -> bool {
        let is_mark = |field: &Field| matches!(field.known(), Some("-c" | "--command" | "--"));
        let at = words.iter().position(is_mark).unwrap_or(words.len());
        let (before, rest) = words.split_at(at);
        let rest = rest.get(1..).unwrap_or_default();
        let mut operands = before.iter().filter(|it| !it.begins().starts_with('-'));
        if operands.next().and_then(Field::known) != Some("run") {
            self.start(rest, state, call);
            return at < words.len();
        }
        // Which of them are values of options is not known.
        for flake in operands.filter_map(Field::known).filter(|it| it.contains(['#', '/', ':'])) {
            let last = flake.rsplit(['#', '/', ':', '.']).next().unwrap_or(flake);
            self.start(&[&[Field::text(last)], rest].concat(), state, call);
        }
        at < words.len()
    }

    fn unwrap(
        &mut self,
        name: &str,
        wrapper: &Wrapper,
        words: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let mut own = state.clone();
        let mut rest = words;
        let valued = Valued(wrapper.valued);
        let mut has_text = false;
        // Assignments and options may alternate.
        loop {
            let (options, end) = read(rest, valued, wrapper.skips != usize::MAX);
            self.strange_options(name, &options, valued, call);
            for (option, value) in &options.options {
                let Some(value) = value else { continue };
                if name == "env" && matches!(option.as_str(), "S" | "split-string") {
                    continue;
                }
                has_text |= self.option_of_wrapper(name, option, valued, value, &mut own, call);
            }
            if name == "env" && options.has(&["S", "split-string"]) {
                let words = rest.get(end..).unwrap_or_default();
                self.split_by_env(&options, words, &own, call);
                return;
            }
            if name == "entr" && options.has(&["s"]) {
                let text = rest.get(end..).and_then(|it| it.first());
                return self.joined_text(text.map_or(&[], std::slice::from_ref), &own, call);
            }
            // An editor gets the files.
            if name == "sudo" && options.has(&["e", "edit"]) {
                for path in rest.get(end..).unwrap_or_default() {
                    self.touches("rw", path, &own, name, call);
                }
                return;
            }
            if name == "script" {
                self.recorded(&options.operands, &own, call);
            }
            self.replaced(name, &options, rest.get(end..).unwrap_or_default(), &own, call);
            if matches!(name, "xargs" | "parallel") {
                return;
            }
            rest = rest.get(end..).unwrap_or_default();
            let before = rest.len();
            // A lone dash is `-i`.
            if name == "env" && rest.first().and_then(Field::known) == Some("-") {
                rest = rest.get(1..).unwrap_or_default();
            }
            if wrapper.sets {
                rest = self.environment(rest, &mut own, call.span);
            }
            if rest.len() == before {
                break;
            }
        }
        if wrapper.skips == usize::MAX {
            let is_input = !has_text && name != "nix-shell" && !matches!(call.input, Input::Given);
            if is_input {
                self.doubt(DoubtKind::Text, "a shell runs what it reads", call.span);
            }
            self.maybe(words, &own, name, call.span);
            return;
        }
        self.begun(name, rest, wrapper.skips, &own, call);
    }

    /// `script file`, which some systems let a command follow.
    fn recorded(&mut self, operands: &[Field], own: &State, call: Call<'_>) {
        if let Some((file, command)) = operands.split_first() {
            self.written_to(file, own, "script", call.span);
            self.start(command, own, call);
        }
    }

    /// `env -S text words`: the text is split, and the words follow.
    fn split_by_env(
        &mut self,
        options: &super::options::Read,
        words: &[Field],
        own: &State,
        call: Call<'_>,
    ) {
        for text in options.values(&["S", "split-string"]) {
            match text.known() {
                Some(text) if words.iter().all(Field::is_known) => {
                    let whole = format!("{text} {}", line(words));
                    self.joined_text(&[Field::text(&whole)], own, call);
                }
                _ => self.doubt(
                    DoubtKind::Command,
                    "which program `env` starts is not known",
                    call.span,
                ),
            }
        }
    }

    /// Options of which it is not certain where the command begins after them.
    fn strange_options(
        &mut self,
        name: &str,
        options: &super::options::Read,
        valued: Valued,
        call: Call<'_>,
    ) {
        let is_listed = |name: &str| valued.kind(name).is_some() || valued.is_flag(name);
        for (option, value) in &options.options {
            // Values of `valgrind` follow a sign.
            let is_plain = matches!(name, "busybox" | "valgrind");
            if value.is_none() && !is_listed(option) && !is_plain {
                let why = format!("an option of `{name}` is not known, and may take the next word");
                self.doubt(DoubtKind::Option, &why, call.span);
            }
        }
        if options.has_unknown {
            self.doubt(
                DoubtKind::Command,
                &format!("which program `{name}` starts is not known"),
                call.span,
            );
        }
    }

    /// The command after the options.
    fn begun(&mut self, name: &str, rest: &[Field], skips: usize, own: &State, call: Call<'_>) {
        if name == "flock" || name == "chroot" {
            for path in rest.iter().take(1) {
                // A file to lock by is made if it is not there.
                let kind = if name == "flock" { TouchKind::Likely } else { TouchKind::Maybe };
                self.touch(kind, path, own, name, call.span);
            }
        }
        if name == "logsave" {
            for path in rest.iter().take(1) {
                self.touch(TouchKind::Write, path, own, name, call.span);
            }
        }
        let inner = rest.get(skips..).unwrap_or_default();
        match name {
            "watch" => self.joined_text(inner, own, call),
            "hyperfine" => {
                for text in inner {
                    self.joined_text(std::slice::from_ref(text), own, call);
                }
            }
            // Options may follow what was skipped.
            "flock" => {
                if let [option, text] = inner
                    && matches!(option.known(), Some("-c" | "--command"))
                {
                    self.joined_text(std::slice::from_ref(text), own, call);
                } else {
                    self.start(inner, own, call);
                }
            }
            _ => {
                let is_separated = inner.first().and_then(Field::known) == Some("--");
                let inner = if is_separated { inner.get(1..).unwrap_or_default() } else { inner };
                // `uv run -` is Python that reads its code.
                if name == "uv" && inner.first().is_some_and(super::shells::is_stream) {
                    return self.start(&[&[Field::text("python3")], inner].concat(), own, call);
                }
                self.start(inner, own, call);
            }
        }
    }

    /// What the value of an option means; whether it was a text that is run.
    fn option_of_wrapper(
        &mut self,
        name: &str,
        option: &str,
        valued: Valued,
        value: &Field,
        own: &mut State,
        call: Call<'_>,
    ) -> bool {
        match valued.kind(option) {
            Some("x") => {
                self.joined_text(std::slice::from_ref(value), own, call);
                return true;
            }
            Some("g") => {
                let mut command = Field::text("cargo ");
                command.extend(value);
                self.joined_text(&[command], own, call);
            }
            Some("C") => own.folders = led_to(own, value),
            Some("F") => own.may_be_in(&led_to(own, value)),
            // Only with a sign.
            None if name == "nsenter" && option == "wd" => own.folders = led_to(own, value),
            Some("r") => self.touch(TouchKind::Read, value, own, name, call.span),
            Some("w") => self.touch(TouchKind::Write, value, own, name, call.span),
            Some(_) => {}
            // `--option=value` of an option that is not listed.
            None => {
                self.maybe(std::slice::from_ref(value), own, name, call.span);
                self.put_by(name, option, value, own, call.span);
            }
        }
        false
    }

    /// `xargs` and `parallel`: the command gets words that only its input shows.
    fn replaced(
        &mut self,
        name: &str,
        options: &super::options::Read,
        inner: &[Field],
        own: &State,
        call: Call<'_>,
    ) {
        if !matches!(name, "xargs" | "parallel") {
            return;
        }
        let list = options.values(&["a", "arg-file"]).last();
        let given = self.listed_in(list, own, call);
        let call = Call { input: &given, ..call };
        let marks: Vec<String> = options
            .values(&["I", "J", "replace"])
            .map(|mark| mark.known().unwrap_or("{}").to_owned())
            .chain((name == "parallel" || options.has(&["i", "replace"])).then(|| "{}".to_owned()))
            .collect();
        let is_list = |it: &Field| it.known().is_some_and(|it| it.starts_with(":::"));
        let end = inner.iter().position(is_list).unwrap_or(inner.len());
        let (words, lists) = inner.split_at(end);
        let is_plain = !options.has(&["0", "null", "d", "delimiter", "E", "eof"]);
        let is_each = name == "parallel" || !marks.is_empty() && !options.has(&["J"]);
        let lines = if lists.is_empty() {
            lines_of(call.input).filter(|_| is_plain)
        } else {
            listed_words(lists)
        };
        let has_others = name == "parallel" && words.iter().any(has_other_mark);
        if let Some(lines) = lines.filter(|_| is_each && !has_others && !words.is_empty()) {
            self.put_in(name, words, &marks, &lines, own, call);
            return;
        }
        let command: Vec<Field> = words
            .iter()
            .map(|field| {
                let has_mark = field.known().is_some_and(|text| {
                    marks.iter().any(|mark| text.contains(mark.as_str()))
                        || name == "parallel" && text.contains('{')
                });
                if has_mark { filled(field, &marks, call.input) } else { field.clone() }
            })
            .collect();
        let mut with_more = command.clone();
        let places = self.list_places(list, own, call);
        let first = words.first().and_then(Field::known).unwrap_or_default();
        if READERS.contains(&first) && self.reads_old_list(call.input, &places) {
            // A list of the project is like a script of it.
            with_more.push(Field::of(Piece::Name));
        } else {
            with_more.extend(read_words(call.input, is_plain));
        }
        let piped = Call { input: &Input::Piped, ..call };
        if command.is_empty() {
            if name == "parallel" {
                self.doubt(DoubtKind::Text, "`parallel` runs lines that it reads", call.span);
            }
        } else if name == "xargs"
            || command.iter().all(|field| field.known().is_none_or(is_one_word))
        {
            self.start(&with_more, own, piped);
        } else {
            self.joined_text(&command, own, piped);
            self.doubt(DoubtKind::Text, "`parallel` adds words to a text that it runs", call.span);
        }
    }

    /// The command once for each line, which is put in the place of a mark.
    fn put_in(
        &mut self,
        name: &str,
        words: &[Field],
        marks: &[String],
        lines: &[String],
        own: &State,
        call: Call<'_>,
    ) {
        let piped = Call { input: &Input::Piped, ..call };
        let has_mark = |field: &Field| {
            let text = field.known().unwrap_or_default();
            marks.iter().any(|mark| text.contains(mark.as_str()))
        };
        for line in lines {
            let put = |field: &Field| match field.known() {
                Some(text) => {
                    let put = |text: String, mark: &String| text.replace(mark.as_str(), line);
                    Field::text(&marks.iter().fold(text.to_owned(), put))
                }
                None => field.clone(),
            };
            let mut command: Vec<Field> = words.iter().map(put).collect();
            if name == "parallel" && !words.iter().any(has_mark) {
                command.push(Field::text(line));
            }
            // `parallel` has a shell read the words, unless they mean nothing more to one. A pattern is found by a shell too.
            let is_plain = command.iter().all(|it| it.known().is_some_and(is_one_word));
            let is_text = name == "parallel" && (!is_plain || line.contains(['*', '?', '[']));
            if is_text {
                self.joined_text(&command, own, piped);
            } else {
                self.start(&command, own, piped);
            }
        }
    }

    /// Words that are joined to a text, which a shell then runs.
    pub(super) fn joined_text(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
        match known {
            Some(known) => {
                let mut own = super::shells::child(state);
                self.text(&known.join(" "), &mut own, call.input, Dialect::Other, call.span);
            }
            None => {
                self.doubt(
                    DoubtKind::Text,
                    &format!("a shell runs a text that is not known: {}", line(words)),
                    call.span,
                );
            }
        }
    }
}

/// Programs that only show files, whatever words they get.
const READERS: [&str; 9] =
    ["cat", "head", "tail", "wc", "ls", "stat", "file", "md5sum", "sha256sum"];

/// The words that `xargs` reads.
fn read_words(input: &Input, is_plain: bool) -> Vec<Field> {
    match input {
        Input::Listed(listing) => vec![Field::of(Piece::Listed(listing.clone()))],
        Input::Text(text) if is_plain => match text.known() {
            Some(text) if !text.contains(['\'', '"', '\\']) => {
                text.split_whitespace().map(Field::text).collect()
            }
            _ => vec![Field::unknown()],
        },
        Input::Text(_) | Input::Given | Input::Piped | Input::File => vec![Field::unknown()],
    }
}

/// Most lines that are put into a command one by one.
const LINES_MAX: usize = 32;

/// The lines of an input that `xargs` puts into a command, if they are known and mean themselves.
fn lines_of(input: &Input) -> Option<Vec<String>> {
    let Input::Text(text) = input else { return None };
    // Which number it is makes no difference.
    if text.is_number() {
        return Some(vec!["1".to_owned()]);
    }
    let text = text.known().filter(|text| !text.contains(['\'', '"', '\\']))?;
    let lines = text.lines().map(|line| line.trim_start().to_owned());
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).take(LINES_MAX + 1).collect();
    (lines.len() <= LINES_MAX).then_some(lines)
}

/// The words after the only `:::` of `parallel`.
fn listed_words(lists: &[Field]) -> Option<Vec<String>> {
    let (first, words) = lists.split_first()?;
    let text = |it: &Field| match it.to_word() {
        CommandWord::Known(text) | CommandWord::Glob(text) => Some(text),
        CommandWord::Unknown { .. } => None,
    };
    let known: Option<Vec<String>> = words.iter().map(text).collect();
    let is_one = |known: &Vec<String>| {
        first.known() == Some(":::")
            && known.len() <= LINES_MAX
            && !known.iter().any(|word| word.starts_with(":::"))
    };
    known.filter(is_one)
}

/// True for a word of `parallel` with a mark for a part of what is put in.
fn has_other_mark(field: &Field) -> bool {
    field.known().is_none_or(|text| text.replace("{}", "").contains('{'))
}

/// Where a program's word for starting others stands, and whether it is surely that: the first operand. Which words before it are values
/// of options is not always known, and some programs have words that hold others, as `uv tool run`.
fn place_of((program, word, valued): &Runner, words: &[Field]) -> Option<(usize, bool)> {
    let (_, first) = read(words, Valued(valued), true);
    if words.get(first).and_then(Field::known) == Some(*word) {
        return Some((first, true));
    }
    let (mut may_be_value, mut left) = (false, 0_usize);
    for (at, field) in words.iter().enumerate() {
        let text = field.begins();
        let group =
            GROUPS.iter().find(|(of, name, _)| of == program && field.known() == Some(*name));
        if field.known() == Some(*word) {
            return Some((at, false));
        }
        let is_option = text.starts_with(['-', '+']) || !field.is_known();
        if let Some((_, _, more)) = group {
            left += more + 1;
        }
        if !is_option && !may_be_value {
            left = left.checked_sub(1)?;
        }
        may_be_value = is_option && !text.contains('=') && text != "--";
    }
    None
}

/// A word into which something is put that is not known.
fn filled(field: &Field, marks: &[String], input: &Input) -> Field {
    let is_mark = field.known().is_some_and(|text| marks.iter().any(|mark| mark == text));
    if let Input::Listed(listing) = input
        && is_mark
    {
        return Field::of(Piece::Listed(listing.clone()));
    }
    let begins = field.begins().split('{').next().unwrap_or_default();
    let mut filled = Field::text(begins);
    filled.push(Piece::Unknown);
    filled
}

fn is_one_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte))
}

/// The folders in which something is that an option leads to a folder.
pub(super) fn led_to(state: &State, folder: &Field) -> Vec<CommandFolder> {
    match folder.known() {
        Some(path) => state.folders.iter().map(|it| beside(it, path)).collect(),
        None => vec![CommandFolder::Unknown],
    }
}

/// A folder that an option names, from another one.
pub(super) fn beside(folder: &CommandFolder, path: &str) -> CommandFolder {
    match folder {
        _ if path.starts_with('/') => CommandFolder::Known(path.to_owned()),
        CommandFolder::Known(folder) => CommandFolder::Known(super::state::below(folder, path)),
        CommandFolder::Unknown => CommandFolder::Unknown,
    }
}
