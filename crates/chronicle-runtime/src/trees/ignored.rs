//! What was ignored when a run began: it does not belong to the run, however the rules change.
//!
//! A worker that removes a rule from `.gitignore` does not make the file its own: a file that was ignored at the first tree of a
//! run is never recorded, changed or removed for that run. A folder that was ignored as a whole stays ignored, with everything
//! that is added to it.

use std::collections::BTreeSet;
use std::path::Path;

use chronicle_core::base::time::Millis;

use super::names::{Name, below, parts};
use super::unrecorded::is_changed_since;
use super::{Trees, TreesError};
use crate::ledger::atomic_write;
use crate::regular::{self, Links};

/// No list of ignored names is longer.
const IGNORED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Names of files; folders end with a slash.
#[derive(Debug, Clone, Default)]
pub(super) struct Ignored(BTreeSet<Vec<u8>>);

impl Ignored {
    /// True if a file was ignored, or is in an ignored folder.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        let is_slash = |(_, byte): &(usize, &u8)| **byte == b'/';
        !self.0.is_empty()
            && (self.0.contains(name)
                || name
                    .iter()
                    .enumerate()
                    .filter(is_slash)
                    // Git lists an ignored folder as one name with a slash at its end, so each folder above the file is looked
                    // up too.
                    .any(|(at, _)| self.0.contains(&name[..=at])))
    }

    /// A short hash of the whole list; `None` if it is empty.
    pub(super) fn mark(&self) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        for name in &self.0 {
            hasher.update(name).update(&[0]);
        }
        (!self.0.is_empty()).then(|| hasher.finalize().to_hex()[..16].to_owned())
    }
}

impl Trees {
    /// What was ignored when the run began; `None` before its first tree.
    pub(super) fn ignored(&self) -> Option<Ignored> {
        // A worker can put anything in its place: reading a pipe would wait for ever.
        let bytes =
            regular::read(self.ignored.as_ref()?, IGNORED_BYTES_MAX, Links::Refused).ok()?;
        Some(Ignored(parts(&bytes).map(<[u8]>::to_vec).collect()))
    }

    /// Files that were ignored when the run began and are not any more, as far as somebody has written them since: they are never
    /// recorded, and would be lost with a work folder.
    pub(crate) fn unignored(&self, since: Millis) -> Result<BTreeSet<Name>, TreesError> {
        let ignored = self.ignored().unwrap_or_default();
        if ignored.0.is_empty() {
            return Ok(BTreeSet::new());
        }
        // Not the rules of our own repository, which ignore them still.
        let from = self.excludes.files().filter(|path| path.is_file());
        let from: Vec<String> =
            from.filter_map(|path| Some(format!("--exclude-from={}", path.to_str()?))).collect();
        let fixed =
            ["ls-files", "-z", "--others", "--directory", "--exclude-per-directory=.gitignore"];
        let args: Vec<&str> = fixed.into_iter().chain(from.iter().map(String::as_str)).collect();
        let call = self.git.call(&self.index(), &[], &args);
        let ran = self.git.run("look for ignored files", call)?;
        let is_new = |name: &&[u8]| {
            let plain = name.strip_suffix(b"/").unwrap_or(name);
            is_changed_since(&below(&self.git.work, plain), since)
        };
        let names = parts(&ran.stdout).filter(|name| ignored.has(name)).filter(is_new);
        Ok(names.map(<[u8]>::to_vec).collect())
    }

    /// Saves what is ignored now, once: the index has everything else.
    pub(super) fn note_ignored(&self, index: &Path) -> Result<(), TreesError> {
        // Written once, at the beginning of the run. A worker that changes `.gitignore` later must not make files of the person
        // fair game.
        let Some(path) = self.ignored.as_ref().filter(|path| !path.exists()) else { return Ok(()) };
        let rules = self.excludes.rule();
        let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let ran = self.git.run("look for ignored files", self.git.call(index, &[rules], &args))?;
        let written = atomic_write(path, &ran.stdout);
        written.map_err(std::io::Error::other).map_err(TreesError::io(path))?;
        // From now on the index is this run's, so that its next tree keeps all that this one has.
        self.instruct(&self.ignored().unwrap_or_default()).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_ignored_stays_so_with_all_that_comes_into_it() {
        let ignored = Ignored([b".env".to_vec(), b"a/target/".to_vec()].into());
        for name in [".env", "a/target/x", "a/target/deep/y"] {
            assert!(ignored.has(name.as_bytes()), "{name}");
        }
        for name in [".env2", "x/.env", "a/target", "a/targets/x", "target/x"] {
            assert!(!ignored.has(name.as_bytes()), "{name}");
        }
        assert!(ignored.mark().is_some() && Ignored::default().mark().is_none());
    }
}
