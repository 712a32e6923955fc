//! Recording: finds what changed since the last tree, reads it, and writes a new tree.
//!
//! Two questions are asked in parallel: which known files changed, and which are new. Only those files are read. If there are
//! none, the last tree is the answer.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;

use super::excludes::{Excludes, OURS};
use super::found::Found;
use super::git;
use super::ignored::Ignored;
use super::names::{Name, joined, parts};
use super::repository::TreesLock;
use super::rules::IgnoreRules;
use super::unrecorded::{MARK_ID, Unrecorded};
use super::{OWN_MAX, Trees, TreesError};
use crate::fail::{self, Point};
use crate::ledger::atomic_write;
use crate::process::Tool;
use crate::regular::{self, Links};
use crate::threads;

/// Number of changed files from which on their contents go into one pack instead of one file each.
const PACK_FROM: usize = 500;
/// Depth of nested repositories that is followed.
const NESTED_MAX: usize = 16;
/// How often a list of files that git refuses is halved to find the failing ones.
const TRIES_MAX: u32 = 200;
/// Placeholder in a nested repository until its files are known, so that git looks inside.
pub(super) const STAND_IN: &str = ".chronicle-stand-in";
/// What git says if there is no room for what it writes.
const FULL: [&str; 2] = ["No space left on device", "Disk quota exceeded"];
/// Git's id of the empty file.
const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/// A recorded state of the project's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Id of the recorded tree.
    pub tree: TreeId,
    /// Number of files and folders that could not be read: the tree has a mark in their place.
    pub unreadable: u32,
    /// The first of them.
    pub unreadable_files: Vec<String>,
    /// Number of files above the size limit: the tree has a mark in their place.
    pub too_large: u32,
    /// The first of them.
    pub too_large_files: Vec<String>,
    /// Everything of both kinds: its current content is in no tree, so it must not be replaced.
    pub(super) unrecorded: Unrecorded,
}

impl Trees {
    /// Records the project's files as they are now. The tree is kept under that name: a run and the event that made it due.
    pub fn record(&self, keep: Option<&str>) -> Result<Recorded, TreesError> {
        // Runs of the same project, `diff` and `undo` share one index.
        let lock = self.lock()?;
        self.record_locked(&lock, keep)
    }

    pub(super) fn record_locked(
        &self,
        _lock: &TreesLock,
        keep: Option<&str>,
    ) -> Result<Recorded, TreesError> {
        self.sweep()?;
        // What was ended before is not this recording's concern.
        let _ = self.git.leash.take();
        match self.try_kept(keep) {
            Err(error @ (TreesError::Git { .. } | TreesError::Damaged { .. })) => {
                // A git that was killed, or an index that it cannot use, costs one slow recording and nothing else. Where
                // contents are gone that the index names, they are written anew.
                let _ = fs::remove_file(self.index());
                self.sweep()?;
                self.try_kept(keep).map_err(|_| error)
            }
            other => other,
        }
    }

    fn try_kept(&self, keep: Option<&str>) -> Result<Recorded, TreesError> {
        let recorded = self.try_record()?;
        fail::at(Point::InTree);
        if let Some(name) = keep {
            self.keep(name, &recorded.tree)?;
        }
        Ok(recorded)
    }

    fn try_record(&self) -> Result<Recorded, TreesError> {
        let ignored = self.ignored();
        let is_begun = ignored.is_some();
        let ignored = ignored.unwrap_or_default();
        let told = self.instruct(&ignored)?;
        // On a copy: a recording that is killed halfway leaves the index of the last complete one.
        let half = self.half_index("record");
        let is_known = self.copy_index(&half)?;
        let is_first = !is_known && !self.begin_from_base(&half)?;
        let mut found = self.find(&half, is_first, ignored)?;
        let mut rules = IgnoreRules::new(&self.git, &told, is_begun && !is_first);
        rules.see(&found);
        self.find_hidden(&mut rules, &mut found, is_first);
        let mut changed = !found.present.is_empty() || !found.gone.is_empty();
        if changed {
            self.take_in(&half, &mut found)?;
        }
        self.note_missing(&mut rules, &found)?;
        changed |= self.mark(&half, &found)?;
        // An index that began empty has nothing in it that was ignored.
        changed |= !is_first && self.follow(&half, &mut rules, &found.ignored)?;
        self.note_ignored(&half)?;
        // A question to the person's git that stayed without an answer would give a tree of other files.
        self.git.ended_early()?;
        let tree = self.tree_of(&half, changed)?;
        let base = || self.base.as_ref().and_then(|base| self.modes_of(base));
        let modes = found.modes(if is_known { self.last_modes() } else { base() });
        // Before the index: an index without its modes is not used again, modes without their index do no harm.
        self.keep_last_modes(&modes)?;
        // The tree's objects are on disk by now, so the index may name them.
        self.settle(&half, &tree)?;
        self.keep_modes(&tree, &modes)?;
        Ok(found.recorded(tree))
    }

    /// Copies the last index; false if there is none, or if it is not the one that was written, which git would not notice. Its
    /// time is preserved: git uses it to decide which files may have changed.
    fn copy_index(&self, to: &Path) -> Result<bool, TreesError> {
        let from = self.index();
        let (Ok(meta), Some(hash)) = (fs::metadata(&from), hash_of(&from)) else {
            return Ok(false);
        };
        // Somebody else has changed the index, or it is from an older version. Beginning anew is slower, and always right.
        if self.remembered(&hash).is_none() || self.last_modes().is_none() {
            return Ok(false);
        }
        let copied = fs::copy(&from, to).and_then(|_| {
            // Git compares the index's time with those of the files to know which it must read again. A newer time would hide
            // changes that were made within the same moment.
            let time = meta.modified()?;
            File::options().write(true).open(to)?.set_modified(time)
        });
        copied.map(|()| true).map_err(TreesError::io(to))
    }

    /// Begins the index of a work folder with what the folder was made from; false for the project's own folder. Files that are
    /// recorded though they are ignored would not be found there otherwise, and look as if the worker had removed them.
    fn begin_from_base(&self, index: &Path) -> Result<bool, TreesError> {
        let Some(base) = &self.base else { return Ok(false) };
        let read = self.git.call(index, &[], &["read-tree", base.as_str()]);
        self.git.run("read a tree", read)?;
        // Compares all files once, so that only those that differ are read in. It fails for these, which is no error.
        let compare = self.git.call(index, &[], &["update-index", "-q", "--refresh"]);
        compare.run().map_err(|error| self.git.failed("compare files", error))?;
        let _ = fs::remove_file(lock_of(index));
        Ok(true)
    }

    fn find(&self, index: &Path, is_first: bool, ignored: Ignored) -> Result<Found, TreesError> {
        // Where nothing is known, nothing known has changed; what is theirs though ignored is new as well.
        let kept_anyway = || Ok(Excludes::kept_anyway(&self.git.work, &self.git.leash));
        let changed = || if is_first { kept_anyway() } else { self.changed(index) };
        let (known, new) = threads::both("changed", changed, || self.others(index));
        let known = known.unwrap_or_else(|_| {
            Err(TreesError::Git { what: "compare files", why: "it broke".to_owned() })
        })?;
        let mut found = Found::new(&self.git.work, self.max_bytes, ignored);
        let (mut others, mut said) = new?;
        for _ in 0..NESTED_MAX {
            let mut nested: Vec<Name> = nested(&others);
            nested.retain(|folder| !found.ignored.has(folder));
            if nested.is_empty() {
                break;
            }
            // Git does not look into a repository inside the repository. An entry of ours below it makes it an ordinary folder
            // to git, whose files are then listed. The entry is removed with `found.gone`.
            self.stand_in(index, &nested, true)?;
            found.gone.extend(nested.iter().map(|folder| within(folder)));
            (others, said) = self.others(index)?;
        }
        if is_first {
            found.sort(parts(&known));
        } else {
            found.marked = marked(&known);
            found.sort(parts(&known).skip(1).step_by(2));
        }
        found.sort(parts(&others).filter(|name| !name.ends_with(b"/")));
        found.close(closed_folders(&said));
        Ok(found)
    }

    /// Known files whose content, mode or type may have changed: their old entry, then their name.
    fn changed(&self, index: &Path) -> Result<Vec<u8>, TreesError> {
        let args = ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"];
        let call = self.git.call(index, &[], &args);
        Ok(self.git.run("compare files", call)?.stdout)
    }

    /// New files that are not ignored, with nested repositories as folders, and git's messages about unreadable folders.
    fn others(&self, index: &Path) -> Result<(Vec<u8>, String), TreesError> {
        let rules = self.excludes.rule();
        let args = ["ls-files", "-z", "--others", "--exclude-standard"];
        let ran = self.git.run("look for new files", self.git.call(index, &[rules], &args))?;
        Ok((ran.stdout, ran.stderr))
    }

    /// Adds or removes the placeholder that makes git look inside nested repositories.
    fn stand_in(&self, index: &Path, folders: &[Name], there: bool) -> Result<(), TreesError> {
        let mode = if there { "100644" } else { "0" };
        let entries = folders.iter().map(|folder| {
            let mut entry = format!("{mode} {EMPTY}\t").into_bytes();
            entry.extend(within(folder));
            entry
        });
        let entries: Vec<Name> = entries.collect();
        self.index_info(index, &entries)
    }

    pub(super) fn index_info(&self, index: &Path, entries: &[Name]) -> Result<(), TreesError> {
        let call = self.git.call(index, &[], &["update-index", "-z", "--index-info"]);
        let input = joined(entries.iter().map(Vec::as_slice));
        self.git.run("note files", call.input(input)).map(drop)
    }

    /// Adds what changed to the index.
    fn take_in(&self, index: &Path, found: &mut Found) -> Result<(), TreesError> {
        if !found.gone.is_empty() {
            let entries: Vec<Name> = found.gone.iter().map(removal).collect();
            self.index_info(index, &entries)?;
        }
        let present: Vec<Name> = found.present.iter().cloned().collect();
        let mut tries = TRIES_MAX;
        self.read_in(index, &present, &mut tries, &mut found.unreadable)
    }

    /// Adds files to the index. A list with a file that cannot be read, or that changes meanwhile, is halved until that file is
    /// alone.
    fn read_in(
        &self,
        index: &Path,
        names: &[Name],
        tries: &mut u32,
        unreadable: &mut BTreeSet<Name>,
    ) -> Result<(), TreesError> {
        if names.is_empty() {
            return Ok(());
        }
        let mut settings: Vec<OsString> = vec!["pack.compression=1".into()];
        if names.len() >= PACK_FROM {
            // Files above the threshold go straight into one pack. Thousands of loose objects would each need a file and a
            // sync.
            settings.push("core.bigFileThreshold=1".into());
        }
        let args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        let input = joined(names.iter().map(Vec::as_slice));
        let call = self.git.call(index, &settings, &args).input(input);
        let read = |call: Tool| {
            let ran = call.run().map_err(|error| self.git.failed("read files", error))?;
            if !ran.status.success() {
                let _ = fs::remove_file(lock_of(index));
            }
            Ok(ran)
        };
        let mut ran = read(call.clone())?;
        if git::is_killed(&ran) {
            // That need not be a file's fault.
            ran = read(call)?;
        }
        if ran.status.success() {
            return Ok(());
        }
        if is_disk_full(&ran.stderr) {
            // No file's fault either, and a tree that lacks it would look as if there were nothing to record.
            return Err(self.git.refused("read files", &ran));
        }
        *tries = tries.saturating_sub(1);
        // Git stops at the first file that it cannot read, and does not reliably name it. Halving finds it; the number of tries
        // is limited so that many unreadable files do not cost a call each.
        if names.len() == 1 || *tries == 0 {
            unreadable.extend(names.iter().cloned());
            return Ok(());
        }
        let (one, two) = names.split_at(names.len() / 2);
        self.read_in(index, one, tries, unreadable)?;
        self.read_in(index, two, tries, unreadable)
    }

    /// The tree of an index: the last one if nothing changed, otherwise a new one.
    fn tree_of(&self, index: &Path, changed: bool) -> Result<TreeId, TreesError> {
        let known = || hash_of(index).and_then(|hash| self.remembered(&hash));
        if let Some(tree) = (!changed).then(known).flatten() {
            return Ok(tree);
        }
        let ran = self.git.run("write a tree", self.git.call(index, &[], &["write-tree"]))?;
        Ok(TreeId::new(String::from_utf8_lossy(&ran.stdout).trim()))
    }

    fn memory(&self) -> PathBuf {
        self.index().with_extension("tree")
    }

    /// The tree of an index with this hash.
    fn remembered(&self, hash: &str) -> Option<TreeId> {
        let text = regular::read(&self.memory(), OWN_MAX, Links::Refused).ok()?;
        let text = String::from_utf8(text).ok()?;
        let tree = text.lines().find_map(|line| line.strip_prefix(hash)?.strip_prefix(' '))?;
        Some(TreeId::new(tree))
    }

    /// Moves a complete index to its place. Its tree is written down first, beside the last one, so that whichever index a crash
    /// leaves is known.
    fn settle(&self, half: &Path, tree: &TreeId) -> Result<(), TreesError> {
        let (new, old) = (hash_of(half), hash_of(&self.index()));
        if let Some(new) = new.filter(|new| old.as_ref() != Some(new)) {
            // The entry of the old index stays until the rename below: a crash in between must not make it unknown.
            let before = old.and_then(|old| Some(format!("{old} {}\n", self.remembered(&old)?)));
            let text = format!("{new} {tree}\n{}", before.unwrap_or_default());
            let written = atomic_write(&self.memory(), text.as_bytes());
            written.map_err(std::io::Error::other).map_err(TreesError::io(&self.memory()))?;
        }
        fs::rename(half, self.index()).map_err(TreesError::io(half))
    }

    /// Protects a tree from garbage collection. Only under the lock, so that locks of a killed git can be removed.
    pub(super) fn keep(&self, name: &str, tree: &TreeId) -> Result<(), TreesError> {
        let name = format!("refs/runs/{name}");
        let path = self.git.dir.join(&name);
        let free = || fs::remove_file(lock_of(&path));
        let _ = free();
        // Without a start of git. Only for a loose object: an object in a pack is not looked for here.
        if self.is_loose(tree) && write_ref(&path, tree).is_ok() {
            return Ok(());
        }
        let args = ["update-ref", name.as_str(), tree.as_str()];
        let call = self.git.call(&self.index(), &[], &args);
        self.git.run("keep a tree", call.clone()).map(drop).or_else(|_| {
            let _ = free();
            self.git.run("keep a tree", call).map(drop)
        })
    }

    /// True if a tree is a loose object, as each is until trees are packed: then git need not be asked whether it exists.
    fn is_loose(&self, tree: &TreeId) -> bool {
        let place = tree.as_str().split_at_checked(2);
        place.is_some_and(|(fan, rest)| self.git.dir.join("objects").join(fan).join(rest).is_file())
    }
}

/// Writes a reference as git does, to a temporary file first: a git process for one line took longer than finding out that
/// nothing changed.
fn write_ref(path: &Path, tree: &TreeId) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let half = lock_of(path);
    fs::write(&half, format!("{tree}\n"))?;
    fs::rename(half, path)
}

/// Changed files that the index has a mark for.
fn marked(known: &[u8]) -> BTreeSet<Name> {
    let fields: Vec<&[u8]> = parts(known).collect();
    let is_marked = |raw: &[u8]| raw.split(|byte| *byte == b' ').nth(2) == Some(MARK_ID.as_bytes());
    let marked = fields.chunks_exact(2).filter(|pair| is_marked(pair[0]));
    marked.map(|pair| pair[1].to_vec()).collect()
}

fn nested(others: &[u8]) -> Vec<Name> {
    let ours = |name: &[u8]| OURS.iter().any(|ours| name.starts_with(ours.as_bytes()));
    parts(others).filter(|name| name.ends_with(b"/") && !ours(name)).map(<[u8]>::to_vec).collect()
}

/// The line that removes a file from an index.
pub(super) fn removal(name: impl AsRef<[u8]>) -> Name {
    [format!("0 {EMPTY}\t").as_bytes(), name.as_ref()].concat()
}

fn within(folder: &[u8]) -> Name {
    [folder, STAND_IN.as_bytes()].concat()
}

pub(super) fn lock_of(index: &Path) -> PathBuf {
    let mut name = index.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Folders that git could not read, from its messages.
fn closed_folders(said: &str) -> impl Iterator<Item = Name> {
    let folders = said.lines().filter_map(|line| {
        line.split_once("could not open directory '")?.1.rsplit_once("': ").map(|(name, _)| name)
    });
    folders.map(|name| name.as_bytes().to_vec())
}

/// A short hash of a file's content; `None` if it cannot be read.
fn hash_of(path: &Path) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    let file = regular::open(path, File::options().read(true), Links::Refused).ok()?;
    hasher.update_reader(file).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

/// True if git says that there is no room for what it writes.
fn is_disk_full(said: &str) -> bool {
    FULL.iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::super::names::below;
    use super::*;

    #[test]
    fn needs_git_what_git_refuses_among_many_is_found_and_the_rest_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let trees = Trees::open(folder.path()).unwrap();
        let mut names: Vec<Name> =
            (0..40).map(|number| format!("f{number}").into_bytes()).collect();
        for name in &names {
            fs::write(below(folder.path(), name), name).unwrap();
        }
        // Folders are no files: git takes none of the list that has one.
        for name in ["bad", "worse"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            names.insert(7, name.as_bytes().to_vec());
        }
        let index = trees.half_index("test");
        let (mut left, mut unreadable) = (TRIES_MAX, BTreeSet::new());
        trees.read_in(&index, &names, &mut left, &mut unreadable).unwrap();
        assert_eq!(unreadable, BTreeSet::from([b"bad".to_vec(), b"worse".to_vec()]));
        let listed =
            trees.git.run("list", trees.git.call(&index, &[], &["ls-files", "-z"])).unwrap();
        assert_eq!(parts(&listed.stdout).count(), 40);
        assert!(!lock_of(&index).exists());
        // Without tries left, what is not taken is named.
        let (mut left, mut unreadable) = (1, BTreeSet::new());
        trees.read_in(&index, &names, &mut left, &mut unreadable).unwrap();
        assert_eq!(unreadable.len(), 42);
    }

    #[test]
    fn a_full_disk_is_no_fault_of_a_file() {
        assert!(is_disk_full(
            "error: unable to write loose object file: No space left on device\nfatal: updating files failed"
        ));
        assert!(!is_disk_full("error: open(\"f1\"): Permission denied"));
    }

    #[test]
    fn folders_that_git_could_not_read_are_understood() {
        let said = "warning: could not open directory 'a b/': Permission denied\nother\n";
        let found: Vec<Name> = closed_folders(said).collect();
        assert_eq!(found, [b"a b/".to_vec()]);
    }
}
