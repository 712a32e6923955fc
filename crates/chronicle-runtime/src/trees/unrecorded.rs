//! Files whose content is in no tree: too large, or unreadable.
//!
//! A tree has a mark in their place, a content of its own. So it is known of each tree, and not only of the last one, that it
//! cannot restore such a file, and neither its coming nor its going is overlooked. A folder that cannot be read is marked as a
//! whole, like a file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use chronicle_core::base::ids::TreeId;
use chronicle_core::base::time::Millis;

use super::diff::DiffEntry;
use super::found::Found;
use super::names::{Name, below, parts};
use super::{Trees, TreesError};

/// Content of the mark. The zero byte makes it binary, so that it has no lines to show or to count.
const MARK: &[u8] = b"\0chronicle: the content of this file was not recorded\n";
/// Git's id of the mark.
pub(super) const MARK_ID: &str = "28f05a9d82f0d2ea845958b8390353dd4d064866";

/// Names of files and folders whose content was not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unrecorded(BTreeSet<Vec<u8>>);

impl Unrecorded {
    /// True if a file was not recorded, or is in a folder that was not.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.0.contains(name) || self.has_above(name)
    }

    fn has_above(&self, name: &[u8]) -> bool {
        let mut slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        !self.0.is_empty() && slashes.any(|(at, _)| self.0.contains(&name[..at]))
    }
}

impl FromIterator<Vec<u8>> for Unrecorded {
    /// What is in an unrecorded folder needs no mention of its own.
    fn from_iter<I: IntoIterator<Item = Vec<u8>>>(names: I) -> Self {
        let plain = |name: Vec<u8>| name.strip_suffix(b"/").map(<[u8]>::to_vec).unwrap_or(name);
        let mut all = Self(names.into_iter().map(plain).collect());
        let inner: BTreeSet<Vec<u8>> =
            all.0.iter().filter(|name| all.has_above(name)).cloned().collect();
        all.0.retain(|name| !inner.contains(name));
        all
    }
}

impl DiffEntry {
    /// True if either side is a file whose content is unknown.
    pub(super) fn is_unrecorded(&self) -> bool {
        self.before.1 == MARK_ID || self.after.1 == MARK_ID
    }
}

impl Trees {
    /// Puts marks into an index where there are none yet; true if there were such places.
    pub(super) fn mark(&self, index: &Path, found: &Found) -> Result<bool, TreesError> {
        let unrecorded = found.unrecorded();
        let new = unrecorded.0.iter().filter(|name| !found.marked.contains(*name));
        // Git takes no such name into a tree.
        let new = new.filter(|name| !is_refused(name));
        let entry = |name: &Vec<u8>| [format!("100644 {MARK_ID}\t").as_bytes(), name].concat();
        let entries: Vec<Vec<u8>> = new.map(entry).collect();
        if entries.is_empty() {
            return Ok(false);
        }
        let write = self.git.call(index, &[], &["hash-object", "-w", "--stdin"]);
        self.git.run("mark files", write.input(MARK.to_vec()))?;
        self.index_info(index, &entries)?;
        Ok(true)
    }

    /// Files that a tree has not recorded, and that somebody has written to since. Two trees have the same mark for such a file, so
    /// that they do not show it.
    pub(crate) fn written_since(
        &self,
        tree: &TreeId,
        since: Millis,
    ) -> Result<BTreeSet<Name>, TreesError> {
        let args = ["ls-tree", "-r", "-z", tree.as_str()];
        let ran = self.git.run("list a tree", self.git.call(&self.index(), &[], &args))?;
        let mut names = BTreeSet::new();
        for entry in parts(&ran.stdout) {
            let Some(at) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (about, name) = (&entry[..at], &entry[at + 1..]);
            let is_marked = about.ends_with(MARK_ID.as_bytes());
            if is_marked && is_changed_since(&below(&self.git.work, name), since) {
                names.insert(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Files that either of two trees has not recorded, as far as they differ there.
    pub(crate) fn unrecorded(
        &self,
        one: &TreeId,
        other: &TreeId,
    ) -> Result<Unrecorded, TreesError> {
        let entries = self.entries(one, other)?.into_iter();
        Ok(entries.filter(DiffEntry::is_unrecorded).map(|entry| entry.name).collect())
    }
}

/// True if a file was written since then, or its mode: programs cannot set that time back.
pub(super) fn is_changed_since(path: &Path, since: Millis) -> bool {
    let changed = |meta: fs::Metadata| {
        let ms = meta.ctime().saturating_mul(1_000).saturating_add(meta.ctime_nsec() / 1_000_000);
        u64::try_from(ms).is_ok_and(|ms| ms >= since.0)
    };
    fs::symlink_metadata(path).is_ok_and(changed)
}

/// True for `.git` in any spelling, which no tree may contain.
pub(super) fn is_refused(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/').any(|part| part.eq_ignore_ascii_case(b".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_an_unrecorded_folder_is_unrecorded() {
        let names = ["d/", "d/in", "file", "e/f"].map(|name| name.as_bytes().to_vec());
        let unrecorded: Unrecorded = names.into_iter().collect();
        assert_eq!(unrecorded.0.len(), 3);
        for name in ["d", "d/in", "d/deep/er", "file", "e/f", "e/f/g"] {
            assert!(unrecorded.has(name.as_bytes()), "{name}");
        }
        for name in ["dd", "e", "e/ff", "fil"] {
            assert!(!unrecorded.has(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn needs_git_the_id_of_the_mark_is_gits() {
        let folder = tempfile::tempdir().unwrap();
        let trees = Trees::open(folder.path()).unwrap();
        let index = trees.half_index("test");
        let call = trees.git.call(&index, &[], &["hash-object", "--stdin"]);
        let ran = trees.git.run("hash", call.input(MARK.to_vec())).unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), MARK_ID);
    }
}
