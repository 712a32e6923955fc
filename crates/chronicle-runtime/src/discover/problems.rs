//! Problems of files that define nothing, with the texts that they are about.

use std::path::Path;

use chronicle_core::definition::workflow::{Problem, Severity, Source, Trouble};

use super::places::Places;

/// Problems of files, and the texts of these files, so that the lines can be shown.
#[derive(Debug, Clone, Default)]
pub struct FileProblems {
    /// The problems, in the order of the search.
    pub list: Vec<Problem>,
    /// The text of each file that could be read and has problems.
    pub sources: Vec<Source>,
}

impl FileProblems {
    /// Adds what is wrong with a text.
    pub(super) fn add(&mut self, source: &Source, problems: Vec<Problem>) {
        // Most files have none, and then nobody needs their text.
        if !problems.is_empty() {
            self.sources.push(source.clone());
        }
        self.list.extend(problems);
    }

    /// Adds an error of a whole file or folder.
    pub(super) fn add_file(&mut self, path: &Path, trouble: Trouble) {
        self.list.push(Problem::of_file(Places::shown(path), Severity::Error, trouble));
    }

    /// Adds a note about a whole file or folder.
    pub(super) fn add_note(&mut self, path: &Path, trouble: Trouble) {
        self.list.push(Problem::of_file(Places::shown(path), Severity::Note, trouble));
    }

    /// Adds all of another collection.
    pub(super) fn absorb(&mut self, other: Self) {
        self.list.extend(other.list);
        self.sources.extend(other.sources);
    }
}
