//! Trees: recorded states of the project's files, and what differs between two of them.
//!
//! A tree's content is kept by the runtime, in a repository of its own. Here is what the ledger says about it, so that
//! views, handovers and decisions need nothing else.

use serde::{Deserialize, Serialize};

use crate::event::Change;
use crate::ids::{AttemptId, TreeId};

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
    /// Its id.
    pub tree: TreeId,
    /// What differs from the tree before it: of the same attempt, else of the run.
    #[serde(default)]
    pub changes: Changes,
    /// How many files could not be read; the tree has them as they were known before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_files: Vec<String>,
}

/// What differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// How many files.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
