//! Restores files. What is not in our trees, above all ignored files, is never touched, nor is what somebody changed after the
//! files were looked at.
//!
//! Git writes every file to a temporary folder first, and this process moves it into place, so each file is complete at any time:
//! as found, or as it should be. A killed undo is repeated by comparing each file with both. A file that matches neither was
//! changed by somebody since: it stays and is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::trees::{Restored, TREE_FILES_MAX, TREE_UNREADABLE_MAX};

use super::diff::{DiffEntry, NO_MODE};
use super::git::ask_theirs;
use super::modes::{Modes, PROGRAM};
use super::names::{Name, below, joined, obstacle, parts, shown};
use super::record::Recorded;
use super::{Trees, TreesError};
use crate::fail::{self, Point};

const MAY_RUN: u32 = 0o111;
/// Suffix of files with ignore rules.
const RULES: &[u8] = b".gitignore";

/// The result for one file.
enum FileOutcome {
    Done,
    /// Something that is in no tree is in its place.
    Kept,
    /// Somebody changed it since.
    Edited,
    Failed(io::Error),
}

/// A file that the undo is about: its metadata before it was read, or what became of it already.
type Todo<'e> = (&'e DiffEntry, Result<FileStamp, FileOutcome>);

impl Trees {
    /// Turns files that differ between two trees into those of the second, where they match the first. Can be repeated after a
    /// crash: finished files are left alone.
    pub fn restore(&self, from: &TreeId, to: &TreeId, keep: &str) -> Result<Restored, TreesError> {
        let lock = self.lock()?;
        let mut wanted = self.entries(from, to)?;
        // Files that go make room for those that come. As long as rules for what is ignored stand, a killed undo still sees the
        // files that they are about.
        wanted.sort_by_key(|entry| (entry.name.ends_with(RULES), entry.after.0 != NO_MODE));
        // Looked at before the files are recorded: what changes after this moment is somebody's edit, even if it is in the
        // recording.
        let seen: Vec<FileStamp> = wanted.iter().map(|entry| self.see(entry)).collect();
        // What is on disk now is kept first, so that this undo can be undone.
        let now = self.record_locked(&lock, Some(keep))?;
        let todo = self.sort_out(&wanted, seen, from, to, &now)?;
        // All files are written to a folder of our own before the first one is moved: a full disk fails here, with nothing changed.
        let staged = match self.stage(to, &todo) {
            Ok(staged) => staged,
            Err(error) => {
                // What a killed undo restored before is restored.
                let (done, others): (Vec<_>, Vec<_>) =
                    todo.iter().partition(|it| matches!(it.1, Err(FileOutcome::Done)));
                let mut restored = Restored::none(&error.told());
                for (entry, _) in done {
                    note(&mut restored, entry, &FileOutcome::Done);
                }
                let others = others.into_iter().map(|(entry, _)| *entry);
                restored.left = self.compose_left(from, to, others, keep).ok();
                return Ok(restored);
            }
        };
        let mut left = Vec::new();
        let mut restored = Restored::default();
        for (entry, outcome) in todo {
            let outcome = match outcome {
                Ok(seen) => {
                    fail::at(Point::InRestore);
                    self.put_back(entry, &seen, &staged)
                }
                Err(outcome) => outcome,
            };
            // What somebody changed meanwhile is theirs too: it is no part of what this undo did, and taking the undo back must not
            // ask about it.
            if !matches!(outcome, FileOutcome::Done) {
                left.push(entry);
            }
            note(&mut restored, entry, &outcome);
        }
        let _ = fs::remove_dir_all(&staged.folder);
        restored.list.sort_unstable();
        if !left.is_empty() {
            // The files are in place by now: what cannot be noted of them must not make that untold.
            match self.compose_left(from, to, left.into_iter(), keep) {
                Ok(tree) => restored.left = Some(tree),
                Err(error) => restored.error = Some(error.told()),
            }
        }
        Ok(restored)
    }

    /// The tree that an undo leaves if these files stay as they were found.
    fn compose_left<'e>(
        &self,
        from: &TreeId,
        to: &TreeId,
        left: impl Iterator<Item = &'e DiffEntry>,
        keep: &str,
    ) -> Result<TreeId, TreesError> {
        let as_found = left.map(|entry| (entry.name.as_slice(), &entry.before));
        self.compose_locked(to, from, as_found, &format!("{keep}-left"))
    }

    /// Decides for each file what to do, or what became of it.
    fn sort_out<'e>(
        &self,
        wanted: &'e [DiffEntry],
        seen: Vec<FileStamp>,
        from: &TreeId,
        to: &TreeId,
        now: &Recorded,
    ) -> Result<Vec<Todo<'e>>, TreesError> {
        let not_done = self.touched(&[(now.tree.clone(), to.clone())])?;
        let not_found = self.touched(&[(now.tree.clone(), from.clone())])?;
        let sorted = wanted.iter().zip(seen).map(|(entry, seen)| {
            let name = &entry.name;
            let next = match () {
                // What is in it is in no tree: it would be gone.
                () if entry.is_unrecorded() || now.unrecorded.has(name) => Err(FileOutcome::Kept),
                // Already as it shall be, by this undo before it was killed: it counts once, as if nothing had happened.
                () if !not_done.contains(name) => Err(FileOutcome::Done),
                () if not_found.contains(name) => Err(FileOutcome::Edited),
                () => Ok(seen),
            };
            (entry, next)
        });
        Ok(sorted.collect())
    }

    /// Writes the new files into a temporary folder.
    fn stage(&self, to: &TreeId, todo: &[Todo<'_>]) -> Result<Staged, TreesError> {
        let folder = self.half_index("files");
        let staged = Staged { folder, modes: self.modes_of(to) };
        let come = todo.iter().filter(|(entry, next)| entry.after.0 != NO_MODE && next.is_ok());
        let input = joined(come.map(|(entry, _)| entry.name.as_slice()));
        if input.is_empty() {
            return Ok(staged);
        }
        fs::create_dir_all(&staged.folder).map_err(TreesError::io(&staged.folder))?;
        let index = self.half_index("restore");
        self.git.run("read a tree", self.git.call(&index, &[], &["read-tree", to.as_str()]))?;
        let mut prefix = OsString::from("--prefix=");
        // The empty name at the end adds the slash.
        prefix.push(staged.folder.join(""));
        let args = ["checkout-index", "--force", "--quiet", "-z", "--stdin"].map(OsString::from);
        let args: Vec<OsString> = args.into_iter().chain([prefix]).collect();
        self.git.run("write files", self.git.call(&index, &[], &args).input(input))?;
        let _ = fs::remove_file(&index);
        Ok(staged)
    }

    fn put_back(&self, entry: &DiffEntry, seen: &FileStamp, staged: &Staged) -> FileOutcome {
        let path = self.place(entry);
        // Looked at again right before it is replaced. The person may be editing while the undo runs.
        if !self.see(entry).is_still(seen) {
            return FileOutcome::Edited;
        }
        let done = if entry.after.0 == NO_MODE {
            self.remove(&path)
        } else {
            // A file that is ignored or in no tree has come to the same place. It would be lost.
            if !is_free(&self.git.work, entry) {
                return FileOutcome::Kept;
            }
            staged.move_to(&path, entry)
        };
        done.map_or_else(FileOutcome::Failed, |()| FileOutcome::Done)
    }

    /// Removes a file and the folders that become empty.
    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let above = path.ancestors().skip(1).take_while(|folder| *folder != self.git.work);
        for folder in above {
            // Fails for a folder that is not empty, which is where to stop.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// What is in a file's place. Behind a link there is nothing of it: that is a file elsewhere.
    fn see(&self, entry: &DiffEntry) -> FileStamp {
        let path = self.place(entry);
        let is_behind = obstacle(&self.git.work, &path).is_some();
        if is_behind { FileStamp(None) } else { FileStamp::at(&path) }
    }

    fn place(&self, entry: &DiffEntry) -> PathBuf {
        below(&self.git.work, &entry.name)
    }

    /// The current files, but `names` as in `to`. Kept for that run: it may be needed again after a crash, and for comparison.
    pub(crate) fn blend(
        &self,
        run: &str,
        now: &TreeId,
        to: &TreeId,
        names: &BTreeSet<Name>,
    ) -> Result<TreeId, TreesError> {
        let entries = self.entries(now, to)?;
        let back = entries.iter().filter(|entry| names.contains(&entry.name));
        let back = back.map(|entry| (entry.name.as_slice(), &entry.after));
        self.compose(now, to, back, &format!("{run}/to-{}-{}", short(now), short(to)))
    }

    /// A tree with some files of another one.
    pub(super) fn compose<'e>(
        &self,
        base: &TreeId,
        other: &TreeId,
        files: impl Iterator<Item = (&'e [u8], &'e (String, String))>,
        keep: &str,
    ) -> Result<TreeId, TreesError> {
        // Composing uses an index of its own, but its objects must not be pruned before they are referred to.
        let _lock = self.lock()?;
        self.compose_locked(base, other, files, keep)
    }

    fn compose_locked<'e>(
        &self,
        base: &TreeId,
        other: &TreeId,
        files: impl Iterator<Item = (&'e [u8], &'e (String, String))>,
        keep: &str,
    ) -> Result<TreeId, TreesError> {
        let mut modes = self.modes_of(base).unwrap_or_default();
        let theirs = self.modes_of(other).unwrap_or_default();
        let mut lines: Vec<Name> = Vec::new();
        for (name, (mode, id)) in files {
            modes.set(name, theirs.of(name, mode));
            let mode = if mode == NO_MODE { "0" } else { mode };
            lines.push([format!("{mode} {id}\t").as_bytes(), name].concat());
        }
        let index = self.half_index("compose");
        self.git.run("read a tree", self.git.call(&index, &[], &["read-tree", base.as_str()]))?;
        if !lines.is_empty() {
            self.index_info(&index, &lines)?;
        }
        let ran = self.git.run("write a tree", self.git.call(&index, &[], &["write-tree"]))?;
        let _ = fs::remove_file(&index);
        let tree = TreeId::new(String::from_utf8_lossy(&ran.stdout).trim());
        self.keep(keep, &tree)?;
        self.keep_modes(&tree, &modes)?;
        Ok(tree)
    }

    /// Which of the files to restore contain somebody's work: they changed between two other trees, and the person's repository
    /// does not have their current content.
    pub(crate) fn at_stake(
        &self,
        now: &TreeId,
        to: &TreeId,
        edited: &BTreeSet<Name>,
    ) -> Result<Vec<String>, TreesError> {
        let mut theirs = self.entries(now, to)?;
        theirs.retain(|entry| edited.contains(&entry.name) && entry.before.0 != NO_MODE);
        let committed = if theirs.is_empty() { Vec::new() } else { self.committed()? };
        let committed: BTreeMap<&[u8], &str> = listed(&committed).collect();
        let is_lost = |entry: &&DiffEntry| {
            committed.get(entry.name.as_slice()) != Some(&entry.before.1.as_str())
        };
        Ok(theirs.iter().filter(is_lost).map(|entry| shown(&entry.name)).collect())
    }

    /// Content of the person's last commit, as a list of ids and names.
    fn committed(&self) -> Result<Vec<u8>, TreesError> {
        let args = ["ls-tree", "-r", "-z", "HEAD"];
        let listed = ask_theirs(&self.git.work, &self.git.leash, &args);
        self.git.ended_early()?;
        Ok(listed.unwrap_or_default())
    }

    /// Every name that differs between the trees of any pair.
    pub(crate) fn touched(&self, spans: &[(TreeId, TreeId)]) -> Result<BTreeSet<Name>, TreesError> {
        let mut names = BTreeSet::new();
        for (before, after) in spans {
            names.extend(self.entries(before, after)?.into_iter().map(|entry| entry.name));
        }
        Ok(names)
    }
}

/// A prefix of a tree's id, enough to distinguish two.
fn short(tree: &TreeId) -> &str {
    tree.as_str().get(..16).unwrap_or(tree.as_str())
}

/// Records the result for a file.
fn note(restored: &mut Restored, entry: &DiffEntry, outcome: &FileOutcome) {
    let name = shown(&entry.name);
    let (list, name, most) = match outcome {
        FileOutcome::Done => {
            restored.files = restored.files.saturating_add(1);
            (&mut restored.list, name, TREE_FILES_MAX)
        }
        FileOutcome::Kept => (&mut restored.kept, name, TREE_UNREADABLE_MAX),
        FileOutcome::Edited => (&mut restored.edited, name, TREE_UNREADABLE_MAX),
        FileOutcome::Failed(error) => {
            (&mut restored.failed, format!("{name}: {error}"), TREE_UNREADABLE_MAX)
        }
    };
    if list.len() < most {
        list.push(name);
    }
}

/// A file's metadata without its content: it changes with the content.
#[derive(Debug)]
struct FileStamp(Option<fs::Metadata>);

impl FileStamp {
    fn at(path: &Path) -> Self {
        Self(fs::symlink_metadata(path).ok().filter(|meta| !meta.is_dir()))
    }

    /// True if nobody changed the file since it was seen before.
    fn is_still(&self, before: &Self) -> bool {
        let (now, before) = match (&self.0, &before.0) {
            (Some(now), Some(before)) => (now, before),
            (now, before) => return now.is_none() && before.is_none(),
        };
        let what = |it: &fs::Metadata| (it.ino(), it.len(), it.mtime(), it.mtime_nsec(), it.mode());
        let changed = |it: &fs::Metadata| (it.ctime(), it.ctime_nsec());
        // Replacing one name of a file changes the times of its other names.
        what(now) == what(before) && (changed(now) == changed(before) || before.nlink() > 1)
    }
}

/// New files in a temporary folder.
struct Staged {
    folder: PathBuf,
    /// `None` for a tree that an older version recorded.
    modes: Option<Modes>,
}

impl Staged {
    /// Moves a file into place, with the mode that it had.
    fn move_to(&self, path: &Path, entry: &DiffEntry) -> io::Result<()> {
        let staged = below(&self.folder, &entry.name);
        if entry.after.0.starts_with("100") {
            let mode = self.modes.as_ref().map(|modes| modes.of(&entry.name, &entry.after.0));
            if let Some(mode) = mode.or_else(|| kept_mode(path, entry)) {
                // Before it is moved: a private file must not be readable by others for even a moment.
                fs::set_permissions(&staged, Permissions::from_mode(mode))?;
            }
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        match fs::rename(&staged, path) {
            // The project's folders may be on several disks.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(&staged, path),
            moved => moved,
        }
    }
}

/// Across file systems: copies beside the target first, so that the file is complete at any time.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut beside = to.as_os_str().to_owned();
    beside.push(".chronicle-half");
    if fs::symlink_metadata(from)?.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, &beside)?;
    } else {
        fs::copy(from, &beside)?;
    }
    fs::rename(&beside, to)
}

/// The mode that a file keeps, except for its execute bits.
fn kept_mode(path: &Path, entry: &DiffEntry) -> Option<u32> {
    let meta = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mode = meta.permissions().mode();
    let readers = (mode & 0o444) >> 2;
    Some(if entry.after.0 == PROGRAM { mode | readers } else { mode & !MAY_RUN })
}

/// Parses lines of the form `100644 blob oid<TAB>name`.
fn listed(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &str)> {
    parts(bytes).filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b'\t')?;
        let id = std::str::from_utf8(&line[..at]).ok()?.rsplit(' ').next()?;
        Some((&line[at + 1..], id))
    })
}

/// True if a file can be written without touching anything that is in no tree.
fn is_free(work: &Path, entry: &DiffEntry) -> bool {
    let path = below(work, &entry.name);
    match fs::symlink_metadata(&path) {
        _ if obstacle(work, &path).is_some() => false,
        Ok(meta) if meta.is_dir() => fs::remove_dir(&path).is_ok(),
        Ok(_) => entry.before.0 != NO_MODE,
        Err(_) => true,
    }
}
