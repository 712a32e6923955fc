//! The steps of a pool: how far each is, and what was said and done there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Note;
use super::merge::Merging;
use crate::base::ids::{FolderId, GateId, SessionId, StepId, TreeId};
use crate::definition::workflow::StepItem;
use crate::event::pool::{ConflictFile, StepEnd};
use crate::event::snapshot::SnapshotUpdate;

/// One step of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStep {
    /// Unique within the pool.
    pub id: StepId,
    /// What the plan says of it.
    pub item: Arc<StepItem>,
    /// How far it is.
    pub stage: StepStage,
    /// The slot that it has, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// The folder that it works in; `None` before its first slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<FolderId>,
    /// The files that its work is compared with when it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<TreeId>,
    /// The line in which its work ended: merges follow this order.
    #[serde(default)]
    pub ended: u64,
    /// How often its work was sent back because it failed together with the others.
    #[serde(default)]
    pub sent_back: u32,
    /// How often a worker has worked on a conflict of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resolved: u32,
    /// Files in its folder with marks of a conflict, the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<ConflictFile>,
    /// Base and files of its work before the marks: a side that wins is taken from here, and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmarked: Option<(TreeId, TreeId)>,
    /// What people said to its workers and none of them was told yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What its next worker must know, such as why it was sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Session and agent of its last worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<(SessionId, String)>,
    /// Summary of its last phase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What its workers wrote into the snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layer: Vec<SnapshotUpdate>,
    /// True if a person agreed that it begins, where the pool asks before each step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
    /// The gate that it waits at: a conflict, or whether it may begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    /// True if the `setup` commands have run in its folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_set_up: bool,
    /// Its files as its worker left them, for races: what judges write there is not its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// Whether the commands that judge its race passed; `None` until they have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// What they said, if they failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verdict: String,
    /// What a person wants of it, once nobody works there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaving: Option<Box<Leaving>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A person's order about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// How it is to end.
    pub how: StepEnd,
    /// User name of the person.
    pub who: String,
    /// The person's note; may be empty.
    pub note: String,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum StepStage {
    /// It waits for other steps, or for a slot.
    Pending,
    /// It has a slot, and its folder is being made.
    Making,
    /// Its frame is open.
    Working,
    /// Its work is done and waits to be merged, or in a race to be chosen.
    Finished,
    /// Commands judge its work.
    Judging,
    /// Its work is being merged.
    Merging(Box<Merging>),
    /// Its work is in the project.
    Done,
    /// It failed, for this reason.
    Failed(String),
    /// A person skipped it: it counts as done without work.
    Skipped,
    /// A person gave it up.
    Dropped,
    /// Another one of its race was taken.
    Lost,
}

impl StepStage {
    /// True if nothing more happens with it by itself.
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Done | Self::Failed(_) | Self::Skipped | Self::Dropped | Self::Lost => true,
            Self::Pending
            | Self::Making
            | Self::Working
            | Self::Finished
            | Self::Judging
            | Self::Merging(_) => false,
        }
    }

    /// True if steps that depend on it may begin.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }
}

impl PoolStep {
    pub(super) fn new(item: StepItem) -> Self {
        Self {
            id: StepId::new(item.id.clone()),
            item: Arc::new(item),
            stage: StepStage::Pending,
            slot: None,
            folder: None,
            base: None,
            ended: 0,
            sent_back: 0,
            resolved: 0,
            marks: Vec::new(),
            unmarked: None,
            notes: Vec::new(),
            task: None,
            before: None,
            summary: String::new(),
            layer: Vec::new(),
            approved: false,
            gate: None,
            is_set_up: false,
            tree: None,
            passed: None,
            verdict: String::new(),
            leaving: None,
        }
    }

    /// True if somebody has worked on it: a new plan cannot change it any more.
    pub fn has_begun(&self) -> bool {
        self.stage != StepStage::Pending || self.folder.is_some()
    }

    /// True if it works on the project's own files: nothing of it is merged, and nothing goes with it.
    pub fn is_in_project(&self) -> bool {
        self.folder.is_some_and(|folder| folder.is_project())
    }

    /// The merge in progress.
    pub fn merging(&self) -> Option<&Merging> {
        if let StepStage::Merging(merging) = &self.stage { Some(merging) } else { None }
    }
}
