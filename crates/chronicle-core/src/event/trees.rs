//! Trees: recorded states of the project's files, and what differs between them.
//!
//! The runtime keeps the content of trees in a git repository of its own. This is what the ledger says about them, so that views,
//! handovers and decisions need nothing else.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, FolderId, TreeId};
use crate::event::Change;

/// Most changed files that an event names; the others are only counted.
pub const TREE_FILES_MAX: usize = 100;
/// Most unreadable files that an event names; the others are only counted.
pub const TREE_UNREADABLE_MAX: usize = 20;
/// Longest path that an event keeps, in bytes.
pub const TREE_PATH_MAX: usize = 400;

/// What a tree was recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum Moment {
    /// An attempt is about to begin.
    Before(AttemptId),
    /// An attempt has ended, and so has every process that it started.
    After(AttemptId),
    /// A person is about to restore files; the current state is kept first.
    Undo,
}

/// A tree was recorded: its id and what changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRecorded {
    /// Why it was recorded.
    pub moment: Moment,
    /// The folder that it shows.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Its id. After an attempt: the files with the attempt's own changes, without unclear ones.
    pub tree: TreeId,
    /// Differences to the tree before it: of the same attempt, otherwise of the run.
    #[serde(default)]
    pub changes: Changes,
    /// Changes during or after an attempt that are not known to be its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<Box<Unclear>>,
    /// Number of files and folders that could not be read; the tree does not have their content.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_files: Vec<String>,
    /// Number of files above the size limit; the tree does not have their content.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub too_large: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_large_files: Vec<String>,
    /// Number of changes of an attempt that the rules forbid; somebody made them in a way that no guard saw.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forbidden: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden_files: Vec<ForbiddenChange>,
    /// Head of the project's own repository; `None` if there is no repository or no commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<RepositoryHead>,
    /// How that head moved while the attempt worked; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Box<HeadMoved>>,
}

impl TreeRecorded {
    /// True if it shows nothing that people look for: no changes, and nothing that was left out.
    pub(super) fn is_detail(&self) -> bool {
        let left_out = self.unreadable > 0 || self.too_large > 0;
        let also = self.unclear.is_some() || self.moved.is_some();
        // What changes in a work folder between attempts is what a merge wrote there, or a person who resolves a conflict.
        let is_between = matches!(self.moment, Moment::Before(_)) && !self.folder.is_project();
        let is_quiet = self.changes.is_none() || is_between;
        is_quiet && !left_out && !also && self.forbidden == 0
    }

    /// A tree of the project's own folder with its differences and nothing else.
    pub fn new(moment: Moment, tree: TreeId, changes: Changes) -> Self {
        Self {
            moment,
            folder: FolderId::Project,
            tree,
            changes,
            unclear: None,
            unreadable: 0,
            unreadable_files: Vec::new(),
            too_large: 0,
            too_large_files: Vec::new(),
            forbidden: 0,
            forbidden_files: Vec::new(),
            head: None,
            moved: None,
        }
    }

    /// The files as they were on disk, including unclear changes.
    pub fn found(&self) -> &TreeId {
        self.unclear.as_ref().map_or(&self.tree, |unclear| &unclear.tree)
    }
}

/// A change that a rule forbids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForbiddenChange {
    /// The file, in the project.
    pub path: String,
    /// The rule, and where it is written.
    pub rule: String,
    /// True if it is not known to be the attempt's work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unclear: bool,
}

/// Changes of unknown origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unclear {
    /// The files as they were on disk.
    pub tree: TreeId,
    /// Differences to what the attempt itself left.
    pub changes: Changes,
}

/// The head of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryHead {
    /// Full id of the commit.
    pub commit: String,
    /// Name of the branch; `None` if the head is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// How a repository's head moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadMoved {
    /// The head before the attempt.
    pub from: RepositoryHead,
    /// The first new commits, newest first: short id and subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
}

/// A person restores files. Written before the first file is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoStarted {
    /// Whose work is undone, as a person says it: a place, an attempt, the run, or an undo before.
    pub what: String,
    /// The folder whose files are restored.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// The files as they were found, so that the undo can be undone.
    pub from: TreeId,
    /// The files as they should be.
    pub to: TreeId,
    /// The line of the undo that is taken back, with every later one. Absent in lines of older versions, where an undo called
    /// `undo` takes back the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<u64>,
}

/// The result of an undo. Each list is bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Restored {
    /// The folder whose files were restored.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Number of files that were written or removed.
    pub files: u32,
    /// The first of those files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    /// Files left alone because something unrecorded is in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Files left alone because they changed after the undo began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// Files that could not be written or removed, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// The resulting tree, if it differs from the requested one: skipped and failed files are as they were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<TreeId>,
    /// What the rules forbid and it brought back, taking back the undo of it. Empty in lines of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden_files: Vec<ForbiddenChange>,
    /// Why it stopped before all files were restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Restored {
    /// Nothing was put back.
    pub fn none(error: &str) -> Self {
        Self { error: Some(error.to_owned()), ..Self::default() }
    }
}

/// Differences between two trees, or the changes of several pieces of work in a row (`then`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// Number of files; a lower bound if several pieces of work were added up.
    pub files: u32,
    /// Added lines, without binary files.
    pub added: u64,
    /// Removed lines, without binary files.
    pub removed: u64,
    /// The first of the files, sorted by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<FileChange>,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Its path in the project.
    pub path: String,
    /// Whether it was created, changed or deleted.
    pub change: Change,
    /// Its old path, if it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Added lines; `None` for a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Removed lines; `None` for a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

impl Changes {
    /// True if no file differs.
    pub fn is_none(&self) -> bool {
        self.files == 0
    }

    /// True if a file differs that is not in Chronicle's own folder: what is written there is no work on the project.
    pub fn has_work(&self) -> bool {
        let is_own = |path: &str| path.starts_with(".chronicle/");
        let is_work = |file: &FileChange| {
            !is_own(&file.path) || file.from.as_deref().is_some_and(|from| !is_own(from))
        };
        self.files > 0 && (self.list.is_empty() || self.list.iter().any(is_work))
    }

    /// Adds what differs in one more file.
    pub fn add(&mut self, file: FileChange) {
        self.files = self.files.saturating_add(1);
        self.added = self.added.saturating_add(file.added.unwrap_or(0));
        self.removed = self.removed.saturating_add(file.removed.unwrap_or(0));
        // Files beyond the list are counted all the same: that is how a cut list is known.
        if self.list.len() < TREE_FILES_MAX {
            self.list.push(file);
        }
    }
}

impl Changes {
    /// Adds later changes: each file counts once, lines are summed. Files beyond the list may be the same ones, so only the
    /// larger count of them is kept.
    pub fn then(&mut self, later: &Self) {
        let unnamed = self.unnamed();
        let mut left_out = 0_u32;
        for file in &later.list {
            left_out = left_out.saturating_add(u32::from(!self.then_file(file)));
        }
        let named = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        // The larger of the two and not their sum: files beyond the list may be the same ones in both.
        let rest = unnamed.max(left_out.saturating_add(later.unnamed()));
        self.files = named.saturating_add(rest);
        self.added = self.added.saturating_add(later.added);
        self.removed = self.removed.saturating_add(later.removed);
    }

    /// True if there are more files than the list names.
    pub fn is_cut(&self) -> bool {
        self.unnamed() > 0
    }

    fn unnamed(&self) -> u32 {
        self.files.saturating_sub(u32::try_from(self.list.len()).unwrap_or(u32::MAX))
    }

    /// Returns false if the list has no room for the file.
    fn then_file(&mut self, file: &FileChange) -> bool {
        // Both entries are taken out: a file that is moved over another one is one change afterwards.
        let moved = file.from.as_ref().and_then(|from| self.take(from));
        let here = self.take(&file.path);
        let known = moved.is_some() || here.is_some();
        // A file that the list has already is updated, however full the list is.
        if !known && self.list.len() >= TREE_FILES_MAX {
            return false;
        }
        let merged =
            [moved, here].into_iter().flatten().fold(file.clone(), |file, it| it.then(file));
        let at = self.list.partition_point(|it| it.path < merged.path);
        self.list.insert(at, merged);
        true
    }

    fn take(&mut self, path: &str) -> Option<FileChange> {
        let at = self.list.iter().position(|file| file.path == path)?;
        Some(self.list.remove(at))
    }
}

impl FileChange {
    /// Combines two changes of one file.
    fn then(self, later: Self) -> Self {
        let change = match (self.change, later.change) {
            (Change::Created, Change::Changed) => Change::Created,
            // Seen from before the work, a file that was removed and written anew is a changed one.
            (Change::Deleted, Change::Created) => Change::Changed,
            (_, last) => last,
        };
        // A file that came with this work was called nothing before it.
        let from = if self.change == Change::Created { None } else { self.from.or(later.from) };
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        Self {
            path: later.path,
            change,
            from,
            added: sum(self.added, later.added),
            removed: sum(self.removed, later.removed),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(change: Change, path: &str, from: Option<&str>, lines: (u64, u64)) -> FileChange {
        let from = from.map(str::to_owned);
        FileChange {
            path: path.to_owned(),
            change,
            from,
            added: Some(lines.0),
            removed: Some(lines.1),
        }
    }

    fn all(files: &[FileChange]) -> Changes {
        let mut changes = Changes::default();
        files.iter().cloned().for_each(|file| changes.add(file));
        changes
    }

    fn told(changes: &Changes) -> Vec<String> {
        let line = |file: &FileChange| {
            let from = file.from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
            format!("{:?} {}{from} {:?} {:?}", file.change, file.path, file.added, file.removed)
        };
        changes.list.iter().map(line).collect()
    }

    #[test]
    fn work_after_work_is_summed_file_by_file() {
        let mut sum = all(&[
            file(Change::Created, "new", None, (5, 0)),
            file(Change::Changed, "old", None, (1, 1)),
            file(Change::Deleted, "gone", None, (0, 9)),
            file(Change::Changed, "moved", Some("there"), (0, 0)),
        ]);
        sum.then(&all(&[
            file(Change::Changed, "new", None, (2, 1)),
            file(Change::Deleted, "old", None, (0, 7)),
            file(Change::Created, "gone", None, (3, 0)),
            file(Change::Changed, "again", Some("moved"), (1, 0)),
        ]));
        assert_eq!((sum.files, sum.added, sum.removed), (4, 12, 18));
        let expected = [
            "Changed again from there Some(1) Some(0)",
            "Changed gone Some(3) Some(9)",
            "Created new Some(7) Some(1)",
            "Deleted old Some(1) Some(8)",
        ];
        assert_eq!(told(&sum), expected);
        sum.then(&all(&[file(Change::Changed, "newer", Some("new"), (0, 0))]));
        assert!(told(&sum).contains(&"Created newer Some(7) Some(1)".to_owned()));
    }

    #[test]
    fn the_list_is_bounded_and_further_files_are_counted() {
        let many: Vec<FileChange> = (0..TREE_FILES_MAX + 3)
            .map(|number| file(Change::Created, &format!("{number:04}"), None, (1, 0)))
            .collect();
        let mut sum = Changes::default();
        sum.then(&all(&many));
        assert_eq!((sum.files, sum.list.len(), sum.is_cut()), (103, 100, true));
        sum.then(&all(&many));
        assert_eq!((sum.files, sum.added), (103, 206), "the same files");
        sum.then(&all(&[file(Change::Created, "z", None, (1, 0))]));
        assert_eq!((sum.files, sum.list.len()), (103, 100), "at least so many");
    }
}
