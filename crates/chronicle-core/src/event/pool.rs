//! Pools: steps that several workers do at once, each in a folder of its own, and how their work comes together.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, FolderId, PhaseId, Place, StepId, TreeId};
use crate::base::redact::Redactor;
use crate::definition::workflow::StepItem;
use crate::event::trees::Changes;

/// Most files in conflict that an event names; the others are only counted.
pub const CONFLICT_FILES_MAX: usize = 100;

/// A pool has its steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolPlanned {
    /// The phase that is the pool.
    pub place: Place,
    /// Number of the plan, from 1; each re-plan has the next one.
    pub version: u32,
    /// The steps, in the order in which slots take them.
    pub steps: Vec<StepItem>,
    /// Who made the plan.
    pub from: PlanOrigin,
    /// True if the steps are the workers of a race.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub race: bool,
}

/// Where the steps of a pool come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum PlanOrigin {
    /// They stand in the workflow.
    Workflow,
    /// A worker of an earlier phase planned them.
    Worker,
    /// A file of the project, by its path.
    File(String),
}

/// Steps that a worker planned for the pool that comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its number, from 1.
    pub version: u32,
    /// The steps, in order.
    pub steps: Vec<StepItem>,
}

impl Plan {
    /// Removes secrets from what somebody wrote freely: ids stay, because they are looked up. Returns true if there were any.
    pub fn redact(&mut self, redactor: &Redactor) -> bool {
        self.steps.iter_mut().fold(false, |any, step| {
            let texts = step.name.iter_mut().chain(&mut step.description);
            let files = step.files.create.iter_mut().chain(&mut step.files.change);
            let in_texts = redactor.redact_each(texts.chain(files));
            let more = step.more.iter_mut();
            more.fold(in_texts, |any, (name, value)| redactor.named_value(name, value) || any)
                || any
        })
    }
}

/// A worker planned steps, or changed those that have not begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMade {
    /// The attempt that called.
    pub attempt: AttemptId,
    /// Id of the call, so that a repeated call gets the same answer.
    pub request: String,
    /// The pool whose pending steps are replaced. `None`: the plan is for the pool that comes next in the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Place>,
    /// Number of the plan, from 1.
    pub version: u32,
    /// All steps of the plan. In a pool, those that have begun are the ones that it has already.
    pub steps: Vec<StepItem>,
    /// The answer, repeated word for word to a repeated call.
    pub answer: String,
}

/// A step has a slot: it begins, or goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotTaken {
    /// The phase that is the pool.
    pub place: Place,
    /// The step that works in it.
    pub step: StepId,
    /// Number of the slot, from 1.
    pub slot: u32,
    /// The folder that the step works in.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
}

/// A step gave its slot to others, since it waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotFreed {
    /// The phase that is the pool.
    pub place: Place,
    /// The step that waits.
    pub step: StepId,
}

/// A work folder is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderMade {
    /// Number of the folder in this run.
    pub folder: u32,
    /// The files that it was made from.
    pub tree: TreeId,
    /// Why it is a plain copy without a repository, if it is one and the project has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// Where it was made on that machine; lines of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A person wants a step skipped, given up or done again. It happens once nobody works there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAsked {
    /// The phase that is the pool.
    pub place: Place,
    /// The step that is meant.
    pub step: StepId,
    /// What is to become of it.
    pub how: StepEnd,
    /// User name of the person.
    pub who: String,
    /// The person's note; may be empty.
    pub note: String,
}

/// A step ended without work to merge: it failed, or a person gave it up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSettled {
    /// The phase that is the pool.
    pub place: Place,
    /// The step that is over.
    pub step: StepId,
    /// How it ended, without a merge.
    pub how: StepEnd,
    /// Why, in a sentence for people.
    pub why: String,
    /// User name of the person, if one decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Its work, which was not merged, if it lost a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// True if a person ended it and it worked on the project's own files: what it changed stays there. Lines of earlier versions do not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_project: bool,
}

/// How a step ended without a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// It failed. What depends on it cannot begin.
    Failed,
    /// A person skipped it: it counts as done, and nothing more of its work is merged.
    Skipped,
    /// A person gave it up. What depends on it cannot begin.
    Dropped,
    /// Its files need no merge: it worked in the project itself, or changed nothing.
    Done,
    /// A person wants it done again.
    Again,
    /// Another one of its race was taken, and its work is not merged.
    Lost,
}

/// A race is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceDecided {
    /// The phase that is the race.
    pub place: Place,
    /// The racer whose work is merged; `None` if nobody's is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<StepId>,
    /// A person, commands, a worker, or nobody since one was left.
    pub by: RaceJudge,
    /// Why, as whoever decided it says; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Who decided a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum RaceJudge {
    /// A person, by their user name.
    Person(String),
    /// Commands that passed in the racer's folder.
    Commands,
    /// The worker of a phase.
    Phase(PhaseId),
    /// Nobody: there was one result.
    Alone,
}

/// The merge of a step's work begins, or begins again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeBegan {
    /// The phase that is the pool.
    pub place: Place,
    /// The step whose work is merged.
    pub step: StepId,
    /// The folder of that work.
    pub folder: u32,
    /// How often it was planned, from 1.
    pub round: u32,
    /// The files that both sides started from.
    pub base: TreeId,
    /// The step's files. `None`: as its folder is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theirs: Option<TreeId>,
    /// Which side wins where both changed the same lines; `None` asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub favour: Option<Side>,
}

/// One side of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What the project has.
    Ours,
    /// What the step made.
    Theirs,
}

/// What a merge would do. Written before the first file is touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergePlanned {
    /// The folder of the work that is merged.
    pub folder: u32,
    /// The project's files as they were found.
    pub ours: TreeId,
    /// The step's files as they were recorded.
    pub theirs: TreeId,
    /// The files as they should be; with conflicts, the files with marks.
    pub result: TreeId,
    /// What the merge changes in the project.
    #[serde(default)]
    pub changes: Changes,
    /// Number of files in conflict; 0 for a clean merge.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conflicts: u32,
    /// The first of them, each with what is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflict_files: Vec<ConflictFile>,
    /// Files of the step that cannot be recorded, so that its folder is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

/// A file that both sides changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictFile {
    /// Its path in the project.
    pub path: String,
    /// What is wrong, in a few words.
    pub what: String,
    /// True if its content is in no tree, so that no side of it can be taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unrecorded: bool,
}

/// Files of a merge were written: the result into the project, or marks into the step's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeWritten {
    /// The folder of the work that is merged.
    pub folder: u32,
    /// Where the files were written.
    pub into: FolderId,
    /// Number of files that were written or removed.
    pub files: u32,
    /// Files that were no longer as recorded, and were left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// Why it stopped before all files were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
