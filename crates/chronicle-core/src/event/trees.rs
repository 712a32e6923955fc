//! Trees: recorded states of the project's files, and what differs between two of them.
//!
//! A tree's content is kept by the runtime, in a repository of its own. Here is what the ledger says about it, so that
//! views, handovers and decisions need nothing else.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, FolderId, TreeId};
use crate::event::Change;

/// Most changed files that an event names; the rest is counted.
pub const TREE_FILES_MAX: usize = 100;
/// Most files that could not be read and are named in an event; the rest is counted.
pub const TREE_UNREADABLE_MAX: usize = 20;
/// Longest path kept in an event.
pub const TREE_PATH_MAX: usize = 400;

/// What a tree was recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum Moment {
    /// An attempt is about to begin.
    Before(AttemptId),
    /// An attempt has ended, with everything that it had started.
    After(AttemptId),
    /// A person is about to put files back: what they undo is kept.
    Undo,
}

/// A tree as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRecorded {
    /// What for.
    pub moment: Moment,
    /// Which folder.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Its id. After an attempt: the files with what the attempt changed, and without what is unclear.
    pub tree: TreeId,
    /// What differs from the tree before it: of the same attempt, else of the run.
    #[serde(default)]
    pub changes: Changes,
    /// What changed during or after an attempt and is not known to be its work; none if there is nothing of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<Box<Unclear>>,
    /// How many files could not be read; the tree has them as they were known before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_files: Vec<String>,
    /// How many files are larger than what is recorded; the tree has them as they were known before, or not at all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub too_large: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_large_files: Vec<String>,
    /// Where the person's own repository stood; none if there is none, or it has no commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<RepositoryHead>,
    /// How that moved while the attempt worked; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Box<HeadMoved>>,
}

impl TreeRecorded {
    /// The tree of a moment in the project's own folder, with what differs, and nothing else to tell.
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
            head: None,
            moved: None,
        }
    }

    /// The files as they were on disk: with everything that is unclear.
    pub fn found(&self) -> &TreeId {
        self.unclear.as_ref().map_or(&self.tree, |unclear| &unclear.tree)
    }
}

/// What changed, and nobody can tell who did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unclear {
    /// The files as they were on disk.
    pub tree: TreeId,
    /// How they differ from what the attempt left.
    pub changes: Changes,
}

/// Where a repository stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryHead {
    /// The commit.
    pub commit: String,
    /// The branch; none if it is on no branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// How a repository's head moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadMoved {
    /// Where it stood before.
    pub from: RepositoryHead,
    /// The first commits that it did not have before, the newest first: short id and subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
}

/// A person puts files back: the intent, written before the first file is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoStarted {
    /// Whose work is undone, as a person says it: a place, an attempt, the run, or an undo before.
    pub what: String,
    /// In which folder.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// The files as they were found, to be had again.
    pub from: TreeId,
    /// The files as they are to be.
    pub to: TreeId,
    /// The line of the undo that is taken back, with every later one. Absent in lines of older versions, where an undo called
    /// `undo` takes back the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<u64>,
}

/// What became of files that were to be put back. Each list has the first so many names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Restored {
    /// In which folder.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// How many were written or removed.
    pub files: u32,
    /// Which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    /// Files that stayed, since something that no tree has is in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Files that stayed, since somebody changed them after the undo began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// Files that could not be written or removed, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// What the undo left, where that is not all that it was to be: files that stayed or failed are as they were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<TreeId>,
    /// Why it came to an end before all were back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Restored {
    /// Nothing was put back.
    pub fn none(error: &str) -> Self {
        Self { error: Some(error.to_owned()), ..Self::default() }
    }
}

/// What differs between two trees, or what several pieces of work changed one after the other (`then`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// How many files; of several pieces of work, at least so many.
    pub files: u32,
    /// Lines that came, binary files not counted.
    pub added: u64,
    /// Lines that went.
    pub removed: u64,
    /// The first of the files, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<FileChange>,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Its path in the project.
    pub path: String,
    /// How.
    pub change: Change,
    /// What it was called before, if it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Lines that came; none for a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines that went; none for a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

impl Changes {
    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        self.files == 0
    }

    /// Adds what differs in one more file.
    pub fn add(&mut self, file: FileChange) {
        self.files = self.files.saturating_add(1);
        self.added = self.added.saturating_add(file.added.unwrap_or(0));
        self.removed = self.removed.saturating_add(file.removed.unwrap_or(0));
        if self.list.len() < TREE_FILES_MAX {
            self.list.push(file);
        }
    }
}

impl Changes {
    /// Takes in what was changed afterwards: each file once, lines summed. Of files beyond the list the most that one
    /// piece of work changed are counted, since they may be the same ones.
    pub fn then(&mut self, later: &Self) {
        let unnamed = self.unnamed();
        let mut left_out = 0_u32;
        for file in &later.list {
            left_out = left_out.saturating_add(u32::from(!self.then_file(file)));
        }
        let named = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let rest = unnamed.max(left_out.saturating_add(later.unnamed()));
        self.files = named.saturating_add(rest);
        self.added = self.added.saturating_add(later.added);
        self.removed = self.removed.saturating_add(later.removed);
    }

    /// Whether some of the files are not in the list.
    pub fn is_cut(&self) -> bool {
        self.unnamed() > 0
    }

    fn unnamed(&self) -> u32 {
        self.files.saturating_sub(u32::try_from(self.list.len()).unwrap_or(u32::MAX))
    }

    /// Whether there was room for it.
    fn then_file(&mut self, file: &FileChange) -> bool {
        let moved = file.from.as_ref().and_then(|from| self.take(from));
        let here = self.take(&file.path);
        let known = moved.is_some() || here.is_some();
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
    /// What both did to one file.
    fn then(self, later: Self) -> Self {
        let change = match (self.change, later.change) {
            (Change::Created, Change::Changed) => Change::Created,
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
    fn the_list_is_bounded_and_what_is_beyond_it_counted() {
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
