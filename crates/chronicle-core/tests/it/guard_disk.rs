//! A disk for the tests of guards: what exists, and where links lead. It resolves paths as the runtime does.

use std::collections::BTreeMap;

use chronicle_core::guard::{CallFacts, FolderSeen, Looked, PathSeen};

/// Deepest chain of links.
const LINKS_MAX: usize = 20;

/// What exists, by absolute paths.
#[derive(Default)]
pub(crate) struct Disk(BTreeMap<String, Thing>);

#[derive(Clone, PartialEq)]
enum Thing {
    File,
    Folder,
    Link(String),
}

impl Disk {
    /// Adds a file, a folder (`a/`) or a link (`a -> b`), with the folders above it.
    pub(crate) fn add(&mut self, said: &str) {
        let (path, thing) = match said.split_once(" -> ") {
            Some((path, target)) => (path, Thing::Link(target.to_owned())),
            None if said.ends_with('/') => (said.trim_end_matches('/'), Thing::Folder),
            None => (said, Thing::File),
        };
        for (at, _) in path.match_indices('/').skip(1) {
            self.0.entry(path[..at].to_owned()).or_insert(Thing::Folder);
        }
        self.0.insert(path.to_owned(), thing);
    }

    /// Looks up everything that a call names.
    pub(crate) fn facts(&self, looked: Looked) -> CallFacts {
        let seen = looked.to_resolve().into_iter().map(|path| (path.to_owned(), self.see(path)));
        let folders_seen = looked.folders().iter().map(|_| FolderSeen::default()).collect();
        CallFacts { seen: seen.collect(), folders_seen, looked }
    }

    fn see(&self, path: &str) -> PathSeen {
        let mut found: Vec<String> = if path.contains(['*', '?', '[']) {
            self.found_by(path)
        } else {
            vec![path.to_owned()]
        };
        found.sort();
        let real: Vec<String> = found.iter().map(|path| self.real(path, LINKS_MAX)).collect();
        let first = real.first().and_then(|path| self.0.get(path));
        let (exists, is_dir) = (first.is_some(), first == Some(&Thing::Folder));
        PathSeen { real, found, exists, is_dir, case_insensitive: false }
    }

    /// Follows links name by name. What does not exist is kept as it is.
    fn real(&self, path: &str, left: usize) -> String {
        let mut done = String::new();
        let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".");
        while let Some(name) = names.next() {
            if name == ".." {
                done.truncate(done.rfind('/').unwrap_or(0));
                continue;
            }
            let next = format!("{done}/{name}");
            if let Some(Thing::Link(target)) = self.0.get(&next).filter(|_| left > 0) {
                let start = if target.starts_with('/') { "" } else { &done };
                let rest: Vec<&str> = names.collect();
                return self.real(&format!("{start}/{target}/{}", rest.join("/")), left - 1);
            }
            done = next;
        }
        if done.is_empty() { "/".to_owned() } else { done }
    }

    /// What a pattern finds, name by name. Hidden names are found by what begins with a dot only.
    fn found_by(&self, glob: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for part in glob.split('/').filter(|name| !name.is_empty() && *name != ".") {
            found = found.iter().flat_map(|folder| self.step(folder, part)).collect();
        }
        // Behind a pattern, a plain name was not looked for yet.
        found.retain(|path| self.0.contains_key(&self.real(path, LINKS_MAX)));
        found
    }

    fn step(&self, folder: &str, part: &str) -> Vec<String> {
        if !part.contains(['*', '?', '[']) {
            return vec![format!("{folder}/{part}")];
        }
        let real = self.real(folder, LINKS_MAX);
        let start = format!("{}/", real.trim_end_matches('/'));
        let names = self.0.keys().filter_map(|path| path.strip_prefix(&start));
        let names = names.filter(|name| !name.contains('/') && fits(part, name));
        names.map(|name| format!("{folder}/{name}")).collect()
    }
}

fn fits(glob: &str, name: &str) -> bool {
    if name.starts_with('.') && !glob.starts_with('.') {
        return false;
    }
    let pattern = regex::escape(glob).replace(r"\*", ".*").replace(r"\?", ".");
    regex::Regex::new(&format!("^{pattern}$")).is_ok_and(|pattern| pattern.is_match(name))
}
