//! Paths that are made of what a pattern finds: `"${f%.c}"` of every `*.c`. They are as many as it finds, and called after that.

use std::collections::BTreeMap;

use super::acts::FoundName;
use super::facts::{CallFacts, PathSeen, Whereabouts};
use super::paths::{Names, joined, named, pattern, picked};

/// A pattern, and what a path takes of each name that it finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MadeOf {
    /// The pattern, as an absolute path.
    pub(super) glob: String,
    /// Where the path begins if it is relative.
    folder: String,
    name: FoundName,
}

impl MadeOf {
    pub(super) fn new(name: &FoundName, folder: &str, place: &Whereabouts) -> Option<Self> {
        let glob = joined(&name.glob, Some(folder), place)?;
        let folder = joined("", Some(folder), place)?.trim_end_matches('/').to_owned();
        Some(Self { glob, folder, name: name.clone() })
    }

    /// Every place that such a path leads to; `None` if nobody looked. `whole` is the pattern that all of them fit.
    pub(super) fn names(&self, whole: &str, facts: &CallFacts) -> Option<Vec<Names>> {
        let (seen, there) = (facts.seen.get(&self.glob)?, facts.seen.get(whole)?);
        if seen.found.is_empty() {
            // What it may find later is not known, so that only what it spells out counts.
            return Some(picked(whole).into_iter().chain([pattern(whole)]).collect());
        }
        let real: BTreeMap<Vec<String>, &String> = there
            .found
            .iter()
            .map(|path| named(path, there).names().to_vec())
            .zip(&there.real)
            .collect();
        let mut all = Vec::new();
        for path in self.paths(seen) {
            let names = named(&path, there);
            let real = real.get(names.names()).map(|real| named(real, there));
            all.extend([Some(names), real].into_iter().flatten());
        }
        Some(all)
    }

    /// The absolute paths, one for each name that was found.
    fn paths(&self, seen: &PathSeen) -> impl Iterator<Item = String> {
        seen.found.iter().map(|found| {
            let made = self.name.of(&self.as_found(found));
            if made.starts_with('/') { made } else { format!("{}/{made}", self.folder) }
        })
    }

    /// A path as its pattern says it: from where that begins.
    fn as_found(&self, found: &str) -> String {
        let names = |path: &'_ str| -> Vec<String> {
            let names = path.split('/').filter(|name| !name.is_empty() && *name != ".");
            names.map(str::to_owned).collect()
        };
        let glob = &self.name.glob;
        if glob.starts_with('/') {
            return found.to_owned();
        }
        let all = names(found);
        let own = all[all.len().saturating_sub(names(glob).len())..].join("/");
        if glob.starts_with("./") { format!("./{own}") } else { own }
    }
}
