//! Writes down what is found, each thing once, and counts the steps.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::containers::Container;
use super::state::State;
use super::value::{Field, Piece};
use super::walk::{Walker, address};
use super::{ByteSpan, CommandWord, Doubt, DoubtKind, ProgramRun, Put, Touch, TouchKind};
use crate::base::bash::tree::Command;
use crate::guard::processes::stream;

/// Most commands and words that are looked at; loops and functions count each time.
const STEPS_MAX: usize = 20_000;

/// What was written down already.
#[derive(Default)]
pub(super) struct Seen {
    runs: BTreeSet<ProgramRun>,
    touches: BTreeSet<Touch>,
    doubts: BTreeSet<Doubt>,
}

impl Walker<'_> {
    /// Counts one step; whether there is none left.
    pub(super) fn is_spent(&mut self, span: ByteSpan) -> bool {
        self.steps += 1;
        if self.steps >= STEPS_MAX && !self.is_stopped {
            self.is_stopped = true;
            self.doubt(DoubtKind::TooLarge, "the command does more than is looked at", span);
        }
        self.steps >= STEPS_MAX
    }

    pub(super) fn doubt(&mut self, kind: DoubtKind, why: &str, span: ByteSpan) {
        let span = self.place.unwrap_or(span);
        let doubt = Doubt { kind, why: why.to_owned(), span };
        if self.seen.doubts.insert(doubt.clone()) {
            self.acts.unknown.push(doubt);
        }
    }

    /// Forgets doubts about options where it is not certain that there is a command: a task may have the name of a program.
    pub(super) fn without_options(&mut self, before: usize) {
        let new = self.acts.unknown.split_off(before.min(self.acts.unknown.len()));
        for doubt in new {
            if doubt.kind == DoubtKind::Option {
                self.seen.doubts.remove(&doubt);
            } else {
                self.acts.unknown.push(doubt);
            }
        }
    }

    /// Takes back every doubt that came up since, where it is not certain that anything of it happens.
    pub(super) fn without_doubts(&mut self, before: usize) {
        let new = self.acts.unknown.split_off(before.min(self.acts.unknown.len()));
        for doubt in &new {
            self.seen.doubts.remove(doubt);
        }
    }

    pub(super) fn touch(
        &mut self,
        kind: TouchKind,
        path: &Field,
        state: &State,
        by: &str,
        span: ByteSpan,
    ) {
        self.touch_put(kind, path, state, by, span, &Put::default());
    }

    /// A touch of which more is known.
    pub(super) fn touch_put(
        &mut self,
        kind: TouchKind,
        path: &Field,
        state: &State,
        by: &str,
        span: ByteSpan,
        put: &Put,
    ) {
        // A name that a program makes up is no path that anybody could mean.
        let is_name = matches!(path.pieces.first(), Some(Piece::Name));
        let is_mild = matches!(
            kind,
            TouchKind::Read | TouchKind::List | TouchKind::Maybe | TouchKind::Likely
        );
        // What a list of the project names is like what a script of it names.
        let is_line = matches!(path.pieces.first(), Some(Piece::Line)) && kind == TouchKind::Read;
        // Git takes it for a branch or a revision.
        let is_branch = matches!(path.pieces.as_slice(), [Piece::Name]) && by == "git";
        if is_name && is_mild || is_line || is_branch {
            return;
        }
        if kind == TouchKind::Read
            && let Some(ends) = super::meant::ordinary_ends(path)
        {
            for end in ends {
                let name = super::invoke::base(end);
                self.touch_anywhere(kind, name, by, span);
                // Where that is nobody knows, so that it may be what is kept.
                if name.len() < end.len() {
                    self.touch_anywhere(TouchKind::Maybe, end, by, span);
                }
            }
            return;
        }
        match path.listing() {
            Some(listing) => self.touch_listed(kind, &listing.clone(), state, by, span),
            None => self.touch_exactly(kind, path, state, by, span, false, put),
        }
    }

    pub(super) fn touch_at(
        &mut self,
        kind: TouchKind,
        path: &Field,
        state: &State,
        by: &str,
        span: ByteSpan,
        is_within: bool,
    ) {
        self.touch_exactly(kind, path, state, by, span, is_within, &Put::default());
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one touch")]
    fn touch_exactly(
        &mut self,
        kind: TouchKind,
        path: &Field,
        state: &State,
        by: &str,
        span: ByteSpan,
        is_within: bool,
        put: &Put,
    ) {
        const STREAMS: &[&str] =
            &["/dev/null", "/dev/tty", "/dev/zero", "/dev/urandom", "/dev/random"];
        // To most programs a dash is what they read from or write to.
        let is_program = by.starts_with(|it: char| it.is_ascii_alphanumeric());
        let is_stream = path.known().is_some_and(|it| {
            let is_own = stream(it).is_some_and(|it| !self.is_reopened(it, kind));
            STREAMS.contains(&it) || is_own || it == "-" && is_program
        });
        let is_other = matches!(kind, TouchKind::List | TouchKind::Delete | TouchKind::Meta);
        if is_stream && !is_other {
            return;
        }
        if let Some(container) = state.container.clone() {
            return self.touch_in_container(&container, kind, path, state, by, span, is_within);
        }
        if kind == TouchKind::Write {
            self.rewritten(path, by, state);
        }
        self.used(kind, path, by, state);
        let span = self.place.unwrap_or(span);
        let words = path.meant(kind, state.has_dotglob);
        let made_of = super::cut::made_of(path, &state.folders);
        for folder in &state.folders {
            for word in &words {
                let (folder, by) = (folder.clone(), by.to_owned());
                let (put, made_of) = (put.clone(), made_of.clone());
                let path = word.clone();
                let touch = Touch { kind, path, folder, by, span, is_within, put, made_of };
                if self.seen.touches.insert(touch.clone()) {
                    self.has_changed |= !matches!(kind, TouchKind::Read | TouchKind::List);
                    self.acts.touches.push(touch);
                }
            }
            // An absolute path is the same from everywhere.
            if path.begins().starts_with('/') {
                break;
            }
        }
    }

    /// Touches what a path in a container is on this machine.
    #[expect(clippy::too_many_arguments, reason = "the parts of one touch")]
    fn touch_in_container(
        &mut self,
        container: &Container,
        kind: TouchKind,
        path: &Field,
        state: &State,
        by: &str,
        span: ByteSpan,
        is_within: bool,
    ) {
        let all = state.folders.iter().flat_map(|folder| container.places(path, folder));
        let all: Vec<_> = all.collect();
        let mut own = state.clone();
        (own.container, own.folders) = (None, vec![super::CommandFolder::Unknown]);
        for placed in all {
            let put = Put { is_elsewhere: placed.is_elsewhere, ..Put::default() };
            // A name that is not of this machine begins nowhere.
            let begins = placed.path.begins();
            let start =
                if begins.starts_with('/') { "/" } else { self.setting.folder.unwrap_or("") };
            own.folders = vec![super::CommandFolder::Known(start.to_owned())];
            self.touch_exactly(kind, &placed.path, &own, by, span, is_within, &put);
        }
    }

    /// Touches whatever has a name, in a folder that is not known.
    pub(super) fn touch_anywhere(&mut self, kind: TouchKind, name: &str, by: &str, span: ByteSpan) {
        let touch = Touch {
            kind,
            path: CommandWord::Glob(format!("**/{name}")),
            folder: super::CommandFolder::Unknown,
            by: by.to_owned(),
            span: self.place.unwrap_or(span),
            is_within: false,
            put: Put::default(),
            made_of: None,
        };
        if self.seen.touches.insert(touch.clone()) {
            self.acts.touches.push(touch);
        }
    }

    pub(super) fn run(&mut self, fields: &[Field], state: &State, span: ByteSpan) {
        let written = fields.first().and_then(Field::known).unwrap_or_default();
        let program = super::invoke::base(written).to_owned();
        // Programs that start each other again and again hand all of their words on.
        self.steps += fields.len() / 4;
        let placed = state.container.as_ref().map(|container| in_container(container, fields));
        let fields = placed.as_deref().unwrap_or(fields);
        let words: Vec<CommandWord> = fields.iter().map(Field::to_word).collect();
        let text = super::value::line(fields);
        let sets = state.sets();
        let span = self.place.unwrap_or(span);
        let folders = match &state.container {
            Some(container) => state.folders.iter().map(|it| container.folder(it)).collect(),
            None => state.folders.clone(),
        };
        for folder in &folders {
            let run = ProgramRun {
                program: program.clone(),
                words: words.clone(),
                sets: sets.clone(),
                folder: folder.clone(),
                text: text.clone(),
                span,
            };
            if self.seen.runs.insert(run.clone()) {
                self.acts.runs.push(run);
            }
        }
    }

    /// Remembers that a function was called.
    pub(super) fn was_called(&mut self, body: &Rc<Command>) {
        self.called.insert(address(body));
    }
}

/// The words of a command that runs in a container, as they would be on this machine.
fn in_container(container: &Container, fields: &[Field]) -> Vec<Field> {
    let (program, words) = fields.split_at(1.min(fields.len()));
    let words = words.iter().map(|it| container.word(it));
    program.iter().cloned().chain(words).collect()
}
