//! `find` and `fd`, whose arguments are a language of their own.

use super::invoke::Call;
use super::state::State;
use super::value::{Field, Piece};
use super::walk::{Input, Walker};
use super::{DoubtKind, TouchKind};

/// Tests of `find` that take a word.
const VALUED: &[&str] = &[
    "name",
    "iname",
    "path",
    "ipath",
    "wholename",
    "iwholename",
    "regex",
    "iregex",
    "type",
    "xtype",
    "maxdepth",
    "mindepth",
    "size",
    "mtime",
    "ctime",
    "atime",
    "mmin",
    "cmin",
    "amin",
    "user",
    "group",
    "uid",
    "gid",
    "perm",
    "links",
    "inum",
    "lname",
    "ilname",
    "fstype",
    "printf",
    "regextype",
    "used",
    "context",
    "Bmin",
    "Btime",
    "flags",
];

impl Walker<'_> {
    pub(super) fn find(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let mut rest = words;
        while let Some((first, more)) = rest.split_first() {
            match first.known() {
                Some("-H" | "-L" | "-P" | "-E" | "-X" | "-x" | "-s" | "-d") => rest = more,
                Some("-D") => rest = more.get(1..).unwrap_or_default(),
                Some(text) if text.starts_with("-O") => rest = more,
                _ => break,
            }
        }
        let is_path = |field: &&Field| !field.begins().starts_with(['-', '(', '!', ',', ')']);
        let count = rest.iter().take_while(is_path).count();
        let mut roots: Vec<Field> = rest.get(..count).unwrap_or_default().to_vec();
        for root in roots.iter().filter(|root| root.begins().is_empty()) {
            self.option_doubt(root, call);
        }
        if roots.is_empty() {
            roots.push(Field::text("."));
        }
        for root in &roots {
            self.touch(TouchKind::List, root, state, "find", call.span);
        }
        self.expression_of_find(rest.get(count..).unwrap_or_default(), &roots, state, call);
    }

    fn option_doubt(&mut self, field: &Field, call: Call<'_>) {
        if !field.is_known() {
            self.doubt(
                DoubtKind::Option,
                "an argument of `find` is not known, and may be an option",
                call.span,
            );
        }
    }

    fn expression_of_find(
        &mut self,
        words: &[Field],
        roots: &[Field],
        state: &State,
        call: Call<'_>,
    ) {
        let mut rest = words;
        while let Some((first, more)) = rest.split_first() {
            rest = more;
            self.steps += 1;
            let Some(text) = first.known() else {
                self.option_doubt(first, call);
                continue;
            };
            let Some(name) = text.strip_prefix('-') else { continue };
            match name {
                "delete" => {
                    for root in roots {
                        self.touch(TouchKind::Delete, root, state, "find", call.span);
                    }
                }
                "exec" | "execdir" | "ok" | "okdir" => {
                    let is_end = |field: &Field| matches!(field.known(), Some(";" | "+"));
                    let end = rest.iter().position(is_end).unwrap_or(rest.len());
                    let command = rest.get(..end).unwrap_or_default();
                    let tests: Vec<&str> =
                        words.iter().map(|it| it.known().unwrap_or_default()).collect();
                    let is_picky = !tests.iter().any(|it| ["-o", "-or", ","].contains(it));
                    self.picking = Some(super::sieve_of_find(&tests, is_picky));
                    self.executed(command, roots, name.ends_with("dir"), state, call);
                    self.picking = None;
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                "fprint" | "fprint0" | "fls" => {
                    self.file_of_test(&mut rest, TouchKind::Write, state, call);
                }
                "fprintf" => {
                    if let Some(file) = rest.first().cloned() {
                        self.wrote_unknown(&file, state);
                    }
                    self.file_of_test(&mut rest, TouchKind::Write, state, call);
                    rest = rest.get(1..).unwrap_or_default();
                }
                "files0-from" | "samefile" => {
                    self.file_of_test(&mut rest, TouchKind::Read, state, call);
                }
                _ if name.starts_with("newer")
                    || matches!(name, "anewer" | "cnewer" | "mnewer") =>
                {
                    self.file_of_test(&mut rest, TouchKind::List, state, call);
                }
                _ if VALUED.contains(&name) => rest = rest.get(1..).unwrap_or_default(),
                _ => {}
            }
        }
    }

    fn file_of_test(
        &mut self,
        rest: &mut &[Field],
        kind: TouchKind,
        state: &State,
        call: Call<'_>,
    ) {
        if let Some((file, more)) = rest.split_first() {
            self.touch(kind, file, state, "find", call.span);
            *rest = more;
        }
    }

    /// The command of `-exec`, once for each place that is searched.
    fn executed(
        &mut self,
        command: &[Field],
        roots: &[Field],
        is_beside: bool,
        state: &State,
        call: Call<'_>,
    ) {
        let call = Call { input: &Input::Given, ..call };
        let mut own = state.clone();
        if is_beside {
            own.folders = vec![super::CommandFolder::Unknown];
        }
        for root in roots.iter().take(8) {
            let fields: Vec<Field> = command
                .iter()
                .map(|field| match field.known() {
                    Some("{}") if !is_beside => found_below(root),
                    Some(text) if text.contains("{}") => {
                        let begins = text.split("{}").next().unwrap_or_default();
                        let mut filled = Field::text(begins);
                        filled.push(Piece::Unknown);
                        filled
                    }
                    _ => field.clone(),
                })
                .collect();
            self.start(&fields, &own, call);
        }
        if roots.len() > 8 {
            self.doubt(DoubtKind::TooLarge, "`find` searches too many places", call.span);
        }
    }

    /// `fd`: like `find`, with `-x command`.
    pub(super) fn fd(&mut self, words: &[Field], state: &State, call: Call<'_>) {
        let is_exec = |field: &Field| {
            matches!(field.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"))
                || field.begins().starts_with("--exec")
        };
        let at = words.iter().position(is_exec).unwrap_or(words.len());
        let before = words.get(..at).unwrap_or_default();
        for word in before {
            if !word.begins().starts_with('-') {
                self.touch(TouchKind::List, word, state, "fd", call.span);
            }
            if !word.is_known() {
                self.option_doubt(word, call);
            }
        }
        let Some(option) = words.get(at) else { return };
        let mut command: Vec<Field> = Vec::new();
        if let Some((name, _)) = option.begins().split_once('=') {
            command.push(option.after(name.len() + 1));
        }
        let inner = words.get(at + 1..).unwrap_or_default();
        command.extend(inner.iter().take_while(|it| it.known() != Some(";")).cloned());
        let has_mark = command.iter().any(|it| it.known().is_some_and(|it| it.contains('{')));
        let found = super::listings::listed("fd", before)
            .map_or_else(Field::unknown, |it| Field::of(Piece::Listed(it)));
        for field in &mut command {
            let Some(text) = field.known().filter(|text| text.contains('{')) else { continue };
            *field = match text {
                "{}" | "{.}" | "{//}" => found.clone(),
                _ => Field::unknown(),
            };
        }
        if !has_mark {
            command.push(found);
        }
        self.start(&command, state, Call { input: &Input::Given, ..call });
    }
}

/// True if tests go round what they find: `-prune -o`, before anything is done.
pub(in crate::guard) fn is_pruned(tests: &[&str]) -> bool {
    let acts = |word: &&str| {
        ["-exec", "-ok", "-delete", "-print", "-fprint", "-ls"]
            .iter()
            .any(|act| word.starts_with(act))
    };
    let end = tests.iter().position(acts).unwrap_or(tests.len());
    let before = tests.get(..end).unwrap_or_default();
    before.windows(2).any(|pair| pair[0] == "-prune" && ["-o", "-or"].contains(&pair[1]))
}

/// Anything below a place.
fn found_below(root: &Field) -> Field {
    let mut field = root.clone();
    field.is_bare = false;
    if !root.begins().ends_with('/') || !root.is_known() {
        field.push_text("/");
    }
    field.push(Piece::Glob("**".to_owned()));
    field
}
