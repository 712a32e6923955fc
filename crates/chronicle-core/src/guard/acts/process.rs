//! Commands behind a path, as in `<(…)`: what they print, where that can be known.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::TouchKind;
use super::state::State;
use super::value::Field;
use super::walk::{Input, Walker};
use crate::base::bash::tree::{Redirection, Script};

/// Where such paths lie, and the one of all commands of which nobody knows what they print.
const FOLDER: &str = "/dev/fd/";
const UNKNOWN: usize = 63;

/// What commands behind paths print: their numbers by where they stand, and the texts in the order of these.
#[derive(Default)]
pub(super) struct Processes {
    numbers: BTreeMap<usize, usize>,
    printed: Vec<String>,
    /// Streams that files were opened as to be read.
    opened: BTreeSet<u32>,
}

impl Walker<'_> {
    /// The path that stands for what commands print.
    pub(super) fn process(&mut self, script: &Rc<Script>, state: &State) -> Field {
        self.script(script, &mut state.clone(), &Input::Piped);
        let printed = match self.handed_on_by(script, state) {
            Input::Text(text) => text.known().map(str::to_owned),
            Input::Given | Input::Piped | Input::File | Input::Listed(_) => None,
        };
        let number = printed.map_or(UNKNOWN, |text| self.number_of(script, text));
        Field::text(&format!("{FOLDER}{number}"))
    }

    /// The number of commands whose output is known. The same ones may print something else the next time.
    fn number_of(&mut self, script: &Rc<Script>, text: String) -> usize {
        let Processes { numbers, printed, .. } = &mut self.processes;
        let at = *numbers.entry(Rc::as_ptr(script).addr()).or_insert(printed.len());
        match printed.get_mut(at) {
            Some(before) => *before = text,
            None => printed.push(text),
        }
        UNKNOWN + 1 + at
    }

    /// Remembers that a file is opened to be read.
    pub(super) fn opened(&mut self, redirection: &Redirection) {
        if redirection.operator == "<" {
            self.processes.opened.insert(redirection.number.unwrap_or(0));
        }
    }

    /// True if a stream is the file that it was opened from to be read: whoever opens it again to write writes to that.
    pub(super) fn is_reopened(&self, stream: u32, kind: TouchKind) -> bool {
        kind == TouchKind::Write && self.processes.opened.contains(&stream)
    }

    /// The text behind a path, if it is all known.
    pub(super) fn printed_at(&self, path: &Field) -> Option<String> {
        let number: usize = path.known()?.strip_prefix(FOLDER)?.parse().ok()?;
        self.processes.printed.get(number.checked_sub(UNKNOWN + 1)?).cloned()
    }
}
