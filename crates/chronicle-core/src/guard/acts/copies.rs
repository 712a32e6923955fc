//! Programs under other names: what is linked to one or copied from one in the same text is that program.

use super::invoke::base;
use super::state::State;
use super::value::Field;
use super::walk::Walker;
use super::written::place;
use super::{ByteSpan, DoubtKind};

/// Most links and copies of programs that are remembered.
const COPIES_MAX: usize = 64;
/// Where programs are installed.
const INSTALLED: [&str; 6] =
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];

/// True for the path of a program that is installed where all of them are.
pub(super) fn is_installed(path: &str) -> bool {
    let is_there = |folder: &&str| path.strip_prefix(*folder).is_some_and(|it| !it.contains('/'));
    INSTALLED.iter().any(is_there)
}

/// True for what lies in a folder of programs, whoever installed it there: it is what it is called.
fn is_among_programs(path: &str) -> bool {
    const FOLDERS: [&str; 6] = ["bin", "sbin", ".bin", "libexec", "git-core", "shims"];
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    FOLDERS.contains(&base(folder))
}

impl Walker<'_> {
    /// Remembers where links to programs and copies of programs are put: at the target, or below it if that is a folder.
    pub(super) fn copied(
        &mut self,
        sources: &[Field],
        target: &Field,
        state: &State,
        span: ByteSpan,
    ) {
        let Some(target) = target.known() else { return };
        for source in sources.iter().filter_map(Field::known) {
            let inside = format!("{}/{}", target.trim_end_matches('/'), base(source));
            self.copied_text(source, &[target, &inside], state);
            let Some(program) = self.program_at(source, state) else { continue };
            for path in [target, &inside] {
                let places = state.folders.iter().filter_map(|folder| place(folder, path));
                self.copies.extend(places.map(|place| (place, program.clone())));
            }
            if self.copies.len() > COPIES_MAX {
                self.copies.truncate(COPIES_MAX);
                self.doubt(DoubtKind::TooLarge, "too many programs are copied", span);
            }
        }
    }

    /// The program at a path: an installed one, or one that was put there.
    fn program_at(&self, path: &str, state: &State) -> Option<String> {
        let whole = state.folders.iter().filter_map(|folder| place(folder, path));
        let mut whole = whole.map(|place| format!("/{place}"));
        let installed = whole.find(|path| is_installed(path) || is_among_programs(path));
        installed.or_else(|| self.copies_of(path, state).pop())
    }

    /// The programs of which a path is a link or a copy: which of them came to lie there is not certain.
    pub(super) fn copies_of(&self, path: &str, state: &State) -> Vec<String> {
        let places: Vec<String> =
            state.folders.iter().filter_map(|folder| place(folder, path)).collect();
        let mut found: Vec<String> = Vec::new();
        for (_, program) in self.copies.iter().filter(|(place, _)| places.contains(place)) {
            if !found.contains(program) {
                found.push(program.clone());
            }
        }
        found
    }
}
