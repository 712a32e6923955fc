//! Files that a text writes or changes under names that it does not spell: found by patterns, carried to other names, or behind links.

use super::state::State;
use super::value::{Field, Listing};
use super::walk::{Input, Walker};
use super::written::{FILES_MAX, place, places_of};
use super::{CommandWord, TouchKind};
use crate::guard::globs::fits;

/// Programs that are followed elsewhere, and those that only look at what they are given.
const FOLLOWED: &[&str] = &[
    "cat",
    "cp",
    "mv",
    "ln",
    "link",
    "install",
    "ditto",
    "dd",
    "tee",
    "sponge",
    "sort",
    "git",
    "sed",
    "ssed",
    "gsed",
    "perl",
    "patch",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "awk",
    "gawk",
    "sd",
    "echo",
    "printf",
    "chmod",
    "chown",
    "mkdir",
    "touch",
    "make",
    "just",
    "shellcheck",
    "bashate",
    "checkbashisms",
    "hadolint",
    "mypy",
    "flake8",
    "pylint",
    "pyflakes",
    "ruff",
    "eslint",
    "bats",
    "diff",
    "wc",
];
/// Programs that give files names which they make up.
const NAMING: &[&str] = &[
    "rename",
    "prename",
    "perl-rename",
    "file-rename",
    "rename.ul",
    "mmv",
    "zmv",
    "qmv",
    "imv",
    "vidir",
    "detox",
    "convmv",
];

/// Programs by which scripts that were there before are changed.
pub(super) fn changes_scripts(by: &str) -> bool {
    const CHANGING: [&str; 14] = [
        "sed", "ssed", "gsed", "perl", "ruby", "patch", "ed", "ex", "vi", "vim", "nvim", "awk",
        "gawk", "sd",
    ];
    CHANGING.contains(&by.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.'))
}

/// A pattern of files from the root on; whether what they hold now is all new.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pattern: String,
    is_new: bool,
}

impl Changed {
    fn is(&self, place: &str) -> bool {
        let depth = |path: &str| path.matches('/').count();
        let is_deep = self.pattern.contains("**") || depth(&self.pattern) == depth(place);
        is_deep && fits(&self.pattern, place)
    }
}

/// What is left of a path below another one; nothing of the path itself.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

impl Walker<'_> {
    /// Remembers files that a program changes, by patterns that find them.
    pub(super) fn changed_by_pattern(&mut self, files: &[Field], state: &State, is_new: bool) {
        for file in files {
            let CommandWord::Glob(glob) = file.to_word() else { continue };
            let places: Vec<String> =
                state.folders.iter().filter_map(|folder| place(folder, &glob)).collect();
            for pattern in places.into_iter().take(FILES_MAX) {
                match (&self.picking, pattern.strip_suffix("/**")) {
                    (Some(sieve), Some(root)) => {
                        let below = (root.to_owned(), sieve.clone());
                        self.changed_below.push(below);
                    }
                    _ => self.changed_patterns.push(Changed { pattern, is_new }),
                }
            }
        }
    }

    /// Remembers the files that a program changes which another one found. Who looks through all of a project looks for no script.
    pub(super) fn changed_in(&mut self, listing: &Listing, by: &str, state: &State) {
        let Some(sieve) = listing.sieve.as_ref().filter(|_| changes_scripts(by)) else { return };
        for root in &listing.roots {
            let is_all = matches!(root.trim_end_matches('/'), "." | "" | "..");
            if !is_all || sieve.is_picky() {
                let places = places_of(&[Field::text(root)], state).into_iter();
                self.changed_below.extend(places.map(|it| (it, sieve.clone())));
            }
        }
    }

    /// True if this text changes some of a file.
    pub(super) fn is_changed(&self, place: &str) -> bool {
        let is_below = |(root, sieve): &(String, super::Sieve)| {
            below(place, root).is_some_and(|rest| sieve.takes(rest))
        };
        self.changed.contains(place)
            || self.changed_patterns.iter().any(|it| it.is(place))
            || self.changed_below.iter().any(is_below)
    }

    /// True if nobody knows what this text writes to a file.
    pub(super) fn is_forgotten(&self, place: &str) -> bool {
        self.is_scattered
            || self.forgotten.contains(place)
            || self.changed_patterns.iter().any(|it| it.is_new && it.is(place))
    }

    /// What this text wrote below a folder is also in a copy of that.
    pub(super) fn copied_folder(&mut self, source: &str, targets: &[&str], state: &State) {
        let from = places_of(&[Field::text(source)], state);
        let is_inside = |path: &str| {
            from.iter()
                .find_map(|it| below(path, it))
                .filter(|rest| !rest.is_empty())
                .map(str::to_owned)
        };
        let all: Vec<(String, String)> = self
            .written
            .iter()
            .filter_map(|(path, text)| Some((is_inside(path)?, text.clone())))
            .collect();
        let lost: Vec<String> =
            self.forgotten.iter().chain(&self.changed).filter_map(|it| is_inside(it)).collect();
        for target in targets {
            for to in places_of(&[Field::text(target)], state) {
                for (rest, text) in &all {
                    self.keep(format!("{to}/{rest}"), text, false);
                }
                self.forgotten.extend(lost.iter().map(|rest| format!("{to}/{rest}")));
            }
        }
    }

    /// Remembers that files and folders have other names too.
    pub(super) fn named_again(&mut self, sources: &[Field], target: &Field, state: &State) {
        let Some(target) = target.known() else { return };
        for source in sources.iter().filter_map(Field::known) {
            let inside =
                format!("{}/{}", target.trim_end_matches('/'), super::invoke::base(source));
            for name in [target, &inside] {
                let names = places_of(&[Field::text(name)], state);
                let sources = places_of(&[Field::text(source)], state);
                self.other_names.extend(names.into_iter().zip(sources));
            }
        }
        self.other_names.truncate(FILES_MAX * 2);
    }

    /// Places, with those that they lead to by other names.
    pub(super) fn under_other_names(&self, mut places: Vec<String>) -> Vec<String> {
        let mut at = 0;
        while let Some(path) = places.get(at).cloned() {
            at += 1;
            for (name, source) in &self.other_names {
                let led = below(&path, name).map(|rest| match rest {
                    "" => source.clone(),
                    rest => format!("{source}/{rest}"),
                });
                if let Some(led) = led.filter(|it| !places.contains(it) && places.len() < FILES_MAX)
                {
                    places.push(led);
                }
            }
        }
        places
    }

    /// Remembers what a program uses that may carry a file of this text to another name.
    pub(super) fn used(&mut self, kind: TouchKind, path: &Field, by: &str, state: &State) {
        let is_program = by.starts_with(|it: char| it.is_ascii_alphanumeric());
        let program = by.split(' ').next().unwrap_or(by);
        // Of what is built the code is looked at, where it is built.
        let is_followed = FOLLOWED.contains(&program) || super::started::is_builder(program);
        if !is_program || is_followed || self.recent.len() > FILES_MAX {
            return;
        }
        let is_sure = matches!(kind, TouchKind::Write | TouchKind::Likely);
        let may_change = is_sure || kind == TouchKind::Maybe;
        for place in places_of(std::slice::from_ref(path), state) {
            // Of a file that it wrote itself it is known what is in it, unless that is surely changed.
            let is_own = self.written.iter().any(|(other, _)| *other == place);
            self.recent.push((place, may_change && (is_sure || !is_own)));
        }
    }

    /// Forgets what is in files that a program may have filled with what this text wrote.
    pub(super) fn carried(&mut self, fields: &[Field], state: &State, input: &Input) {
        let recent = std::mem::take(&mut self.recent);
        let name = fields.first().and_then(Field::known).map(super::invoke::base);
        if matches!(name, Some("split" | "csplit")) {
            self.scattered(fields, state);
        }
        let holds = |(path, _): &(String, bool)| {
            let is_it = |other: &str| below(other, path).is_some();
            self.written.iter().any(|(other, _)| is_it(other))
                || self.forgotten.iter().any(|it| is_it(it))
        };
        let is_given = matches!(input, Input::Text(_) | Input::Piped | Input::Listed(_));
        let has_own = recent.iter().any(holds);
        if !has_own && !is_given {
            return;
        }
        self.is_scattered |= has_own && name.is_some_and(|it| NAMING.contains(&it));
        let sources: Vec<&String> =
            recent.iter().filter(|it| !it.1).map(|(path, _)| path).collect();
        let targets: Vec<String> = recent
            .iter()
            .filter(|(path, may_change)| *may_change && !sources.contains(&path))
            .map(|(path, _)| path.clone())
            .collect();
        // One that is handed a single file changes that one at most.
        let is_alone = !is_given && sources.is_empty() && targets.len() < 2;
        if !is_alone {
            self.forgotten.extend(targets);
        }
    }

    /// The files of `split` have names that begin as it is told.
    fn scattered(&mut self, fields: &[Field], state: &State) {
        let words = fields.get(1..).unwrap_or_default();
        let prefix = words.iter().filter_map(Field::known).next_back().unwrap_or_default();
        for prefix in [prefix, "x"] {
            let mut file = Field::text(prefix);
            file.push(super::value::Piece::Glob("*".to_owned()));
            self.changed_by_pattern(&[file], state, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_files_of_their_depth() {
        let is = |pattern: &str, place: &str| {
            Changed { pattern: pattern.to_owned(), is_new: false }.is(place)
        };
        assert!(is("p/s/*.sh", "p/s/a.sh") && is("p/Make*", "p/Makefile"));
        assert!(!is("p/*", "p/s/a.sh") && !is("p/s/*.ts", "p/s/a.sh"));
        assert_eq!(
            (below("a/b", "a"), below("ab", "a"), below("a", "a")),
            (Some("b"), None, Some(""))
        );
    }
}
