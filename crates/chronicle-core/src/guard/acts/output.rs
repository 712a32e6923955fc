//! What commands print, where that can be known: texts, numbers, folders, and names of files below places that the command names.

use super::invoke::base;
use super::listings::{is_telling, listed, narrowed, shown};
use super::state::State;
use super::value::{Field, Listing, Piece, Value};
use super::walk::{Input, Walker};
use super::{Sieve, TouchKind};
use crate::base::bash::tree::{Command, Redirection, Script, What};

/// Where `mktemp` and others put files for a while.
pub(super) const TEMP: &str = "/tmp";

/// Tests of `find` by names.
pub(super) const NAME_TESTS: [&str; 8] =
    ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"];

impl Walker<'_> {
    /// What commands between `$(` and `)` print.
    pub(super) fn output(&mut self, script: &Script, state: &State) -> Field {
        let mut own = state.clone();
        // What they print goes nowhere else.
        let sinks = std::mem::take(&mut self.sinks);
        self.script(script, &mut own, &Input::Given);
        self.sinks = sinks;
        match self.handed_on_by(script, state) {
            Input::Listed(listing) => Field::of(Piece::Listed(listing)),
            Input::Text(field) => without_line_ends(field),
            Input::Given | Input::Piped | Input::File if self.only_reads(script, state) => {
                Field::of(Piece::Read)
            }
            Input::Given | Input::Piped | Input::File => Field::unknown(),
        }
    }

    /// What a script with one pipeline prints.
    pub(super) fn handed_on_by(&mut self, script: &Script, state: &State) -> Input {
        if let Some(folder) = self.gone_to(script, state) {
            return Input::Text(folder);
        }
        if script.items.len() > 1 {
            return self.lines_of_all(script, state);
        }
        // `$()` is nothing.
        if script.items.is_empty() {
            return Input::Text(Field::default());
        }
        let [item] = script.items.as_slice() else { return Input::Piped };
        if !item.rest.is_empty() || item.is_background {
            return Input::Piped;
        }
        let mut input = Input::Given;
        for command in &item.first.commands {
            input = self.handed_on(command, state, &input);
        }
        input
    }

    /// What several commands print that each print a line.
    fn lines_of_all(&mut self, script: &Script, state: &State) -> Input {
        let mut all = Field::default();
        for item in &script.items {
            let [command] = item.first.commands.as_slice() else { return Input::Piped };
            if !item.rest.is_empty() || item.is_background || !is_plain_echo(command) {
                return Input::Piped;
            }
            let Input::Text(line) = self.handed_on(command, state, &Input::Given) else {
                return Input::Piped;
            };
            all.extend(&line);
            all.push_text("\n");
        }
        Input::Text(all)
    }

    /// What the next command of a pipeline reads.
    pub(super) fn handed_on(&mut self, command: &Command, state: &State, input: &Input) -> Input {
        if let What::Group(script) | What::Subshell(script) = &command.what
            && command.redirections.is_empty()
        {
            return self.handed_on_by(script, state);
        }
        let What::Simple { words, sets, .. } = &command.what else { return Input::Piped };
        if !sets.is_empty() || command.redirections.iter().any(takes_output) {
            return Input::Piped;
        }
        let fields = self.words(words, &mut state.clone());
        let Some(first) = fields.first().and_then(Field::known) else { return Input::Piped };
        if state.functions.contains_key(first) || state.aliases.contains_key(first) {
            return Input::Piped;
        }
        let rest = fields.get(1..).unwrap_or_default();
        if matches!(input, Input::Listed(_)) && passes(base(first), rest) {
            return narrowed(input, base(first), rest);
        }
        if base(first) == "cat" && rest.iter().all(|it| it.known() == Some("-")) {
            let read = self.redirections(&command.redirections, &mut state.clone(), input);
            if matches!(read, Input::Text(_)) {
                return read;
            }
        }
        if let Some(listing) = shown(base(first), rest) {
            return Input::Listed(listing);
        }
        if let Some(folder) = super::folders::named(base(first), rest, state) {
            return Input::Text(folder);
        }
        if base(first) == "basename" {
            let name = super::cut::base_name(rest, state.has_dotglob);
            return Input::Text(name.unwrap_or_else(|| Field::of(Piece::Part)));
        }
        let printed = said(base(first), rest).or_else(|| self.told(base(first), rest, state));
        if let Some(field) = printed {
            return Input::Text(field);
        }
        listed(base(first), rest).map_or(Input::Piped, Input::Listed)
    }

    /// Commands that print something about where they run.
    fn told(&self, name: &str, words: &[Field], state: &State) -> Option<Field> {
        let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
        let known = known?;
        if name == "date"
            && let Some(field) = super::dates::printed(&known)
        {
            return Some(field);
        }
        if let Some(folder) = self.installed(name, &known, state) {
            return Some(folder);
        }
        match (name, known.as_slice()) {
            (":" | "true" | "false", _) => Some(Field::default()),
            ("pwd", []) => state.folder().map(Field::text),
            ("git", ["rev-parse", "--show-toplevel"]) => {
                // Elsewhere it may be another project's.
                let project = self.setting.project?;
                let is_here = state.folder().is_some_and(|folder| {
                    let rest = folder.strip_prefix(project);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                });
                is_here.then(|| Field::text(project))
            }
            ("which" | "command" | "type", ["-v" | "-p" | "-P", name]) | ("which", [name]) => {
                let is_name = !name.contains('/') && !name.starts_with('-');
                is_name.then(|| Field::text(&format!("/usr/bin/{name}")))
            }
            // Names of branches and revisions cannot begin with a dash.
            (
                "git",
                ["branch", "--show-current"]
                | ["rev-parse" | "symbolic-ref" | "describe" | "merge-base" | "rev-list", ..],
            )
            | ("date" | "hostname" | "whoami" | "uname", _)
                if known.iter().all(|it| !it.contains("path") && !it.contains("dir"))
                    && prints_no_path(name, &known) =>
            {
                let is_plain = |it: &&str| !it.starts_with("--show-") || *it == "--show-current";
                known.iter().all(is_plain).then(|| Field::of(Piece::Name))
            }
            // A format could print anything.
            ("seq", words) if words.iter().all(|it| it.parse::<i64>().is_ok()) => {
                Some(Field::of(Piece::Number))
            }
            ("grep" | "egrep" | "fgrep", words) if counts_lines(words) => {
                Some(Field::of(Piece::Number))
            }
            ("mktemp", words) => {
                let path = temporary(words)?;
                let below =
                    path.strip_prefix(TEMP).filter(|_| state.variables.contains_key("TMPDIR"));
                match (below, self.value("TMPDIR", state)) {
                    (None, _) => Some(Field::text(&path)),
                    (Some(below), Value::One(mut folder)) => {
                        folder.push_text(below);
                        Some(folder)
                    }
                    (Some(_), Value::List(_) | Value::Unset) => None,
                }
            }
            ("wc", ["-l" | "-c" | "-w" | "-m"])
            | ("nproc", [])
            | ("date", ["+%s" | "+%s%N" | "+%Y" | "+%N"])
            | ("id", ["-u" | "-g"]) => Some(Field::of(Piece::Number)),
            _ => None,
        }
    }

    /// Touches what was found by its name, somewhere below known places.
    pub(super) fn touch_listed(
        &mut self,
        kind: TouchKind,
        listing: &Listing,
        state: &State,
        by: &str,
        span: super::ByteSpan,
    ) {
        if kind == TouchKind::Write {
            self.changed_in(listing, by, state);
        }
        // Whoever removes all that is found below a place removes the place.
        let is_whole = matches!(kind, TouchKind::Delete | TouchKind::Meta) && !listing.is_picky;
        for root in &listing.roots {
            self.touch_at(kind, &Field::text(root), state, by, span, !is_whole);
        }
        for path in &listing.picked {
            self.touch_at(kind, path, state, by, span, true);
        }
        let changes = matches!(kind, TouchKind::Delete | TouchKind::Write | TouchKind::Meta);
        // What git is told to put back is what it says was changed.
        let is_put_back = by == "git" && kind == TouchKind::Write && listing.is_picky;
        // What git names is what was changed before: a formatter may have it.
        let is_known_change = listing.is_picky && listing.names.is_empty();
        let is_formatted = kind == TouchKind::Likely && !is_known_change;
        let is_used = kind == TouchKind::Read || is_formatted || changes;
        if is_used && !is_put_back {
            self.deep_listed(kind, listing, state, by);
        }
        for name in listing.names.iter().filter(|_| changes || kind == TouchKind::Likely) {
            self.touch_anywhere(kind, name, by, span);
        }
    }
}

/// True for an `echo` that ends its line.
fn is_plain_echo(command: &Command) -> bool {
    let What::Simple { words, .. } = &command.what else { return false };
    let mut words = words.iter();
    let is_echo = words.next().and_then(|it| it.plain()) == Some("echo");
    let is_option = |text: &str| text.starts_with('-');
    is_echo && words.next().is_none_or(|it| !it.plain().is_some_and(is_option))
}

/// Whether `grep` prints nothing but how many lines fit: with `-c` and at most one file, before whose name it would say it.
fn counts_lines(words: &[&str]) -> bool {
    let (options, operands): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    let is_plain = |option: &&str| option[1..].chars().all(|it| "cEFGPivwxhs".contains(it));
    let counts = options.iter().any(|option| option.contains('c'));
    counts && options.iter().all(is_plain) && operands.len() <= 2
}

/// False if what a program prints could be made a path that leads elsewhere, or a hidden name.
fn prints_no_path(name: &str, words: &[&str]) -> bool {
    let leads = |word: &&str| match name {
        "git" => word.starts_with(['.', '/']) || word.contains("../"),
        _ => word.starts_with("+.") || word.contains('/'),
    };
    !words.iter().any(leads)
}

/// `echo` and `printf`, if they print what they are given as it is.
pub(super) fn said(name: &str, words: &[Field]) -> Option<Field> {
    // `printf` says its format again for each further word.
    let between = match (name, words.first().and_then(Field::known)) {
        ("printf", Some("%s")) => "",
        ("printf", Some("%s\\n")) => "\n",
        _ => " ",
    };
    if let ("printf", [mark, format]) = (name, words)
        && mark.known() == Some("--")
    {
        // Nothing in it is an option any more.
        let lines = format.known()?.replace("\\n", "\n");
        return (!lines.contains(['%', '\\'])).then(|| Field::text(&lines));
    }
    let words = match (name, words) {
        ("echo", [first, rest @ ..]) if first.known() == Some("-n") => rest,
        ("echo", words) if words.first().is_none_or(|it| !it.begins().starts_with('-')) => words,
        ("printf", [format, rest @ ..]) => match format.known()? {
            text if is_number_format(text) => return Some(Field::of(Piece::Number)),
            "%s\\n" | "%s" | "%s " | "%s\\0" if !rest.is_empty() => rest,
            text if !text.contains(['%', '\\', '-']) && rest.is_empty() => {
                std::slice::from_ref(format)
            }
            text if !text.contains(['%', '-']) && rest.is_empty() => {
                // Only line ends are spelled out.
                let lines = text.replace("\\n", "\n");
                return (!lines.contains('\\')).then(|| Field::text(&lines));
            }
            _ => return None,
        },
        _ => return None,
    };
    let mut all = Field::default();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            all.push_text(between);
        }
        all.extend(word);
    }
    // What a backslash means depends on the shell, and names of files are not known here.
    let is_plain = |piece: &Piece| match piece {
        Piece::Text(text) => !text.contains('\\'),
        Piece::Number
        | Piece::Given
        | Piece::Unknown
        | Piece::Temp
        | Piece::Name
        | Piece::Part
        | Piece::Line
        | Piece::Read => true,
        Piece::Glob(_) | Piece::Listed(_) | Piece::Cut(_) => false,
    };
    all.pieces.iter().all(is_plain).then_some(all)
}

/// `%d` and `%04d`, whatever is to be printed so.
fn is_number_format(text: &str) -> bool {
    let digits = text.strip_prefix('%').and_then(|rest| rest.strip_suffix('d'));
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The path that `mktemp` makes, with its letters to be filled in.
fn temporary(words: &[&str]) -> Option<String> {
    let is_flag =
        |word: &&&str| ["-d", "-q", "-u", "-t", "-dt", "--directory", "--tmpdir"].contains(*word);
    let in_temp = words.iter().any(|word| ["-t", "-dt", "--tmpdir"].contains(word));
    let others: Vec<&&str> = words.iter().filter(|word| !is_flag(word)).collect();
    match others.as_slice() {
        [] => Some(format!("{TEMP}/tmp.XXXXXXXXXX")),
        [template] if template.starts_with('-') => None,
        [template] if in_temp => Some(format!("{TEMP}/{template}")),
        [template] => Some((**template).to_owned()),
        _ => None,
    }
}

fn without_line_ends(mut field: Field) -> Field {
    if let Some(Piece::Text(text)) = field.pieces.last_mut() {
        text.truncate(text.trim_end_matches('\n').len());
        if text.is_empty() {
            field.pieces.pop();
        }
    }
    field
}

/// True if what a command prints goes elsewhere.
fn takes_output(redirection: &Redirection) -> bool {
    let is_output = redirection.operator.contains('>');
    is_output && redirection.number != Some(2)
}

/// True for a program that hands on some lines as they are.
fn passes(name: &str, words: &[Field]) -> bool {
    let known: Option<Vec<&str>> = words.iter().map(Field::known).collect();
    let Some(known) = known else { return false };
    let operands =
        known.iter().filter(|word| !word.starts_with('-') && word.parse::<u32>().is_err());
    let has = |letters: &str| {
        let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
        known.iter().filter(short).any(|word| word.contains(|it: char| letters.contains(it)))
    };
    match name {
        "sort" => operands.count() == 0 && !has("oT"),
        "uniq" => operands.count() == 0 && !has("c"),
        "head" | "tail" | "shuf" | "cat" => operands.count() == 0,
        "grep" | "egrep" | "fgrep" | "rg" => operands.count() == 1 && !has("ocnbHfr"),
        "sed" => {
            matches!(known.as_slice(), ["-n", lines] if lines.trim_end_matches('p').chars().all(|it| it.is_ascii_digit() || it == ',' || it == '$'))
        }
        "tr" => matches!(known.as_slice(), ["\\n", " " | "\\0"] | ["\\0", "\\n" | " "]),
        _ => false,
    }
}

/// The names that tests of `find` look for, without those that they go round.
pub(super) fn wanted(tests: &[&str]) -> Vec<String> {
    let found = tests.windows(2).enumerate().filter(|(at, pair)| {
        NAME_TESTS[..6].contains(&pair[0]) && is_telling(pair[1]) && !is_left_out(tests, *at)
    });
    found.map(|(_, pair)| base(pair[1]).to_owned()).collect()
}

/// What tests of `find` leave of all that lies below its roots.
pub(in crate::guard) fn sieve_of_find(tests: &[&str], is_picky: bool) -> Sieve {
    let follows_links = tests.iter().any(|it| ["-L", "-follow"].contains(it));
    let mut sieve = Sieve::default();
    sieve.follows_links = follows_links;
    for (at, pair) in tests.windows(2).enumerate() {
        let is_path = match pair[0] {
            "-name" | "-iname" => false,
            "-path" | "-ipath" | "-wholename" | "-iwholename" => true,
            _ => continue,
        };
        if is_left_out(tests, at) {
            sieve.leave_out(pair[1]);
        } else if is_picky {
            // A pattern of paths may mean folders that stand anywhere in it.
            sieve.take_only(if is_path { "*" } else { pair[1] });
        }
    }
    sieve
}

/// True if the test at a place goes round what it finds.
fn is_left_out(tests: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tests.get(at));
    let is_not = before.is_some_and(|it| ["!", "-not"].contains(it));
    is_not || super::find::is_pruned(tests.get(at + 2..).unwrap_or_default())
}
