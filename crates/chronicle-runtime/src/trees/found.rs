//! Files found while recording a tree: present, gone, unreadable, or too large.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::trees::TREE_UNREADABLE_MAX;
use chronicle_core::words;

use super::excludes::OURS;
use super::ignored::Ignored;
use super::modes::{BITS, Modes};
use super::names::{Name, below, obstacle, shown};
use super::record::Recorded;
use super::unrecorded::{Unrecorded, is_refused};
use crate::regular::{self, Links};

/// Files that may have changed since the last tree.
pub(super) struct Found {
    work: PathBuf,
    max_bytes: u64,
    /// What was ignored when the run began: it is not looked at.
    pub(super) ignored: Ignored,
    pub(super) present: BTreeSet<Name>,
    pub(super) gone: BTreeSet<Name>,
    pub(super) unreadable: BTreeSet<Name>,
    /// Names that the index has a mark for: their content was not recorded last time.
    pub(super) marked: BTreeSet<Name>,
    too_large: BTreeMap<Name, u64>,
    modes: BTreeMap<Name, u32>,
}

impl Found {
    pub(super) fn new(work: &Path, max_bytes: u64, ignored: Ignored) -> Self {
        Self {
            work: work.to_owned(),
            max_bytes,
            ignored,
            present: BTreeSet::new(),
            gone: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            marked: BTreeSet::new(),
            too_large: BTreeMap::new(),
            modes: BTreeMap::new(),
        }
    }

    /// Looks at each file and sorts it into a list.
    pub(super) fn sort<'a>(&mut self, names: impl Iterator<Item = &'a [u8]>) {
        // Names come in the order of their folders, so that the way to each folder is looked at once.
        let mut way: (Option<&[u8]>, bool) = (None, true);
        for name in names {
            let is_ours = OURS.iter().any(|ours| name.starts_with(ours.as_bytes()));
            if is_ours || self.ignored.has(name) {
                continue;
            }
            let folder = &name[..name.iter().rposition(|byte| *byte == b'/').unwrap_or(0)];
            if way.0 != Some(folder) {
                let is_clear = obstacle(&self.work, &below(&self.work, name)).is_none();
                way = (Some(folder), is_clear);
            }
            if is_refused(name) {
                self.unreadable.insert(name.to_owned());
            } else if way.1 {
                self.look_at(name);
            } else {
                // What is behind a link is another file.
                self.gone.insert(name.to_owned());
            }
        }
    }

    fn look_at(&mut self, name: &[u8]) {
        let path = below(&self.work, name);
        let bucket = match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() => &mut self.present,
            Ok(meta) if meta.is_file() => return self.look_into(name, &path, &meta),
            // A pipe, a device or a folder has come in its place.
            Ok(_) => &mut self.gone,
            Err(error) if is_gone(&error) => &mut self.gone,
            Err(_) => &mut self.unreadable,
        };
        bucket.insert(name.to_owned());
    }

    fn look_into(&mut self, name: &[u8], path: &Path, meta: &Metadata) {
        if meta.len() > self.max_bytes {
            self.too_large.insert(name.to_owned(), meta.len());
        // Opened to know whether it can be read. One unreadable file among those given to git makes the whole call fail.
        } else if regular::open(path, File::options().read(true), Links::Refused).is_ok() {
            self.present.insert(name.to_owned());
            self.modes.insert(name.to_owned(), meta.mode() & BITS);
        } else {
            self.unreadable.insert(name.to_owned());
        }
    }

    /// Notes folders that cannot be read. One that has a mark is no file any more, but is not gone either.
    pub(super) fn close(&mut self, folders: impl Iterator<Item = Name>) {
        for folder in folders {
            self.gone.remove(folder.strip_suffix(b"/").unwrap_or(&folder));
            self.unreadable.insert(folder);
        }
    }

    /// Everything whose content is not recorded.
    pub(super) fn unrecorded(&self) -> Unrecorded {
        self.unreadable.iter().chain(self.too_large.keys()).cloned().collect()
    }

    /// Modes of all files: those of the last tree, updated with what was seen.
    pub(super) fn modes(&self, last: Option<Modes>) -> Modes {
        // Only files that git found new or changed were looked at; all others still have the modes of the last tree.
        let Some(mut modes) = last else { return Modes::first(&self.modes) };
        self.gone.iter().for_each(|name| modes.forget(name));
        modes.see(&self.modes);
        modes
    }

    /// The result for the recorded tree.
    pub(super) fn recorded(&self, tree: TreeId) -> Recorded {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let unreadable = self.unreadable.iter().take(TREE_UNREADABLE_MAX);
        let too_large = self.too_large.iter().take(TREE_UNREADABLE_MAX);
        let size =
            |(name, bytes): (&Name, &u64)| format!("{} ({})", shown(name), words::bytes(*bytes));
        Recorded {
            tree,
            unrecorded: self.unrecorded(),
            unreadable: count(self.unreadable.len()),
            unreadable_files: unreadable.map(|name| shown(name)).collect(),
            too_large: count(self.too_large.len()),
            too_large_files: too_large.map(size).collect(),
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}
