//! Putting files back as a tree has them. What is not in our trees, above all what is ignored, is never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::trees::TREE_UNREADABLE_MAX;

use super::diff::{Entry, NO_MODE};
use super::git::{Git, ask_theirs};
use super::names::{below, joined, parts, shown};
use super::{Trees, TreesError};
use crate::fail::{self, Point};

/// How git writes the mode of a program.
const PROGRAM: &str = "100755";
/// Who may run a file.
const MAY_RUN: u32 = 0o111;

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// How many files were written or removed.
    pub files: u32,
    /// Files that could not be put back since something is in their place that is not ours to touch.
    pub kept: Vec<String>,
}

impl Trees {
    /// Makes the project's files those of a tree. To be done again after a crash: what is done already differs no more.
    pub fn restore(&self, to: &TreeId, keep: &str) -> Result<Restored, TreesError> {
        let lock = self.lock()?;
        let now = self.record_locked(&lock, Some(keep))?.tree;
        let entries = self.entries(&now, to)?;
        let work = &self.git.work;
        let (gone, back): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|entry| entry.after.0 == NO_MODE);
        for entry in &gone {
            remove(work, &entry.name);
        }
        fail::at(Point::InRestore);
        let (back, kept): (Vec<Entry>, Vec<Entry>) =
            back.into_iter().partition(|entry| is_free(work, entry));
        self.write_back(to, &back)?;
        Ok(Restored {
            files: u32::try_from(gone.len() + back.len()).unwrap_or(u32::MAX),
            kept: kept.iter().take(TREE_UNREADABLE_MAX).map(|entry| shown(&entry.name)).collect(),
        })
    }

    /// The files as they are, but where they changed between other trees: there as `to` has them. Kept for that run: it may
    /// be needed again after a crash, and to compare with.
    pub(crate) fn blend(
        &self,
        run: &str,
        (now, to): (&TreeId, &TreeId),
        worked: &[(TreeId, TreeId)],
    ) -> Result<TreeId, TreesError> {
        let touched = self.touched(worked)?;
        let back = self.entries(now, to)?.into_iter().filter(|entry| touched.contains(&entry.name));
        let lines = back.map(|entry| {
            let (mode, id) = &entry.after;
            let mode = if mode == NO_MODE { "0" } else { mode };
            [format!("{mode} {id}\t").as_bytes(), &entry.name].concat()
        });
        let lines: Vec<Vec<u8>> = lines.collect();
        let _lock = self.lock()?;
        let index = self.half_index("blend");
        Git::run("read a tree", self.git.call(&index, &[], &["read-tree", now.as_str()]))?;
        if !lines.is_empty() {
            self.index_info(&index, &lines)?;
        }
        let ran = Git::run("write a tree", self.git.call(&index, &[], &["write-tree"]))?;
        let _ = fs::remove_file(&index);
        let tree = TreeId::new(String::from_utf8_lossy(&ran.stdout).trim());
        self.keep(&format!("{run}/to-{tree}"), &tree)?;
        Ok(tree)
    }

    /// Which of the files that would be put back hold somebody's work: they changed between two other trees, and the
    /// person's repository does not have them as they are.
    pub(crate) fn at_stake(
        &self,
        (now, to): (&TreeId, &TreeId),
        edited: &[(TreeId, TreeId)],
    ) -> Result<Vec<String>, TreesError> {
        let edited = self.touched(edited)?;
        let mut theirs = self.entries(now, to)?;
        theirs.retain(|entry| edited.contains(&entry.name) && entry.before.0 != NO_MODE);
        let committed = if theirs.is_empty() { Vec::new() } else { committed(&self.git.work) };
        let committed: BTreeMap<&[u8], &str> = listed(&committed).collect();
        let is_lost =
            |entry: &&Entry| committed.get(entry.name.as_slice()) != Some(&entry.before.1.as_str());
        Ok(theirs.iter().filter(is_lost).map(|entry| shown(&entry.name)).collect())
    }

    /// Every name that differs between two of these trees.
    fn touched(&self, spans: &[(TreeId, TreeId)]) -> Result<BTreeSet<Vec<u8>>, TreesError> {
        let mut names = BTreeSet::new();
        for (before, after) in spans {
            names.extend(self.entries(before, after)?.into_iter().map(|entry| entry.name));
        }
        Ok(names)
    }

    fn write_back(&self, to: &TreeId, entries: &[Entry]) -> Result<(), TreesError> {
        if entries.is_empty() {
            return Ok(());
        }
        let work = &self.git.work;
        let modes: Vec<Option<u32>> = entries.iter().map(|entry| mode(work, entry)).collect();
        let index = self.half_index("restore");
        Git::run("read a tree", self.git.call(&index, &[], &["read-tree", to.as_str()]))?;
        let args = ["checkout-index", "--force", "--quiet", "-z", "--stdin"];
        let input = joined(entries.iter().map(|entry| entry.name.as_slice()));
        Git::run("write files", self.git.call(&index, &[], &args).input(input))?;
        let _ = fs::remove_file(&index);
        for (entry, mode) in entries.iter().zip(modes) {
            if let Some(mode) = mode {
                let path = below(work, &entry.name);
                let set = fs::set_permissions(&path, Permissions::from_mode(mode));
                set.map_err(TreesError::io(&path))?;
            }
        }
        Ok(())
    }
}

/// What the person's last commit has, as a list of ids and names.
fn committed(work: &Path) -> Vec<u8> {
    ask_theirs(work, &["ls-tree", "-r", "-z", "HEAD"]).unwrap_or_default()
}

/// `100644 blob oid<TAB>name`
fn listed(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &str)> {
    parts(bytes).filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b'\t')?;
        let id = std::str::from_utf8(&line[..at]).ok()?.rsplit(' ').next()?;
        Some((&line[at + 1..], id))
    })
}

/// Removes a file and the folders that become empty with it.
fn remove(work: &Path, name: &[u8]) {
    let path = below(work, name);
    if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_dir()) {
        let _ = fs::remove_file(&path);
    }
    let above = path.ancestors().skip(1).take_while(|folder| *folder != work);
    for folder in above {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Whether a file can be written without touching what is not in our trees.
fn is_free(work: &Path, entry: &Entry) -> bool {
    let path = below(work, &entry.name);
    let mut above = path.ancestors().skip(1).take_while(|folder| *folder != work);
    let blocked = above.any(|folder| fs::symlink_metadata(folder).is_ok_and(|it| !it.is_dir()));
    match fs::symlink_metadata(&path) {
        _ if blocked => false,
        Ok(meta) if meta.is_dir() => fs::remove_dir(&path).is_ok(),
        Ok(_) => entry.before.0 != NO_MODE,
        Err(_) => true,
    }
}

/// The mode that a file keeps, but for whether it is a program: git knows no more of it.
fn mode(work: &Path, entry: &Entry) -> Option<u32> {
    let meta = fs::symlink_metadata(below(work, &entry.name)).ok()?;
    let is_file = meta.is_file() && entry.after.0.starts_with("100");
    let mode = meta.permissions().mode();
    let readers = (mode & 0o444) >> 2;
    is_file.then(|| if entry.after.0 == PROGRAM { mode | readers } else { mode & !MAY_RUN })
}
