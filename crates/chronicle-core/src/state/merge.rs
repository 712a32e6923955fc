//! Merges: how the work of a step comes into the project.
//!
//! Each act is repeated safely: what was planned is written down before the first file is touched, and whatever changed meanwhile
//! leads to another plan.

use serde::{Deserialize, Serialize};

use super::apart::OWN_FOLDER;
use super::step::{PoolStep, StepStage};
use super::{Facts, Impossible, Stage};
use crate::base::ids::{Cause, FolderId, Outcome, Place, TreeId};
use crate::event::pool::{ConflictFile, MergeBegan, MergePlanned, MergeWritten, Side};
use crate::state::effect::Action;

/// How often a merge begins again because somebody edited the same files meanwhile.
const MERGE_ROUNDS_MAX: u32 = 5;

/// A merge in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merging {
    /// The event that made its next act due.
    pub cause: Cause,
    /// Number of the folder of the step's work.
    pub folder: u32,
    /// How often it was planned.
    pub round: u32,
    /// The files that both sides started from.
    pub base: TreeId,
    /// The step's files; `None` until they are recorded.
    pub theirs: Option<TreeId>,
    /// Which side wins where both changed the same lines.
    pub favour: Option<Side>,
    /// The project's files as they were found.
    pub ours: Option<TreeId>,
    /// The files as they should be, or with marks.
    pub result: Option<TreeId>,
    /// Number of files in conflict.
    #[serde(default)]
    pub conflicts: u32,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflict: Vec<ConflictFile>,
    /// Why it could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Files that were not as recorded when it was to be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// The project's files as they were recorded then: with the same ones it would end in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_with: Option<TreeId>,
    /// True if a worker has tried to resolve the conflict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_tried: bool,
    /// True if the step's folder has the result in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_filled: bool,
    /// True if the project changed since this was planned, so that it is planned again before anything is written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
    /// How far it is.
    pub at: MergeStage,
}

/// How far a merge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeStage {
    /// What it would do is worked out.
    Planning,
    /// The result, or the marks, are written into the step's folder.
    Filling,
    /// The step's folder has the result, and `verify` runs there.
    Verifying,
    /// The project's files are written.
    Writing,
    /// Somebody has to resolve a conflict in the step's folder.
    Conflict,
    /// A worker resolves it.
    Resolving,
    /// It was planned too often, or could not be written.
    Stuck,
}

impl Facts {
    /// Every merge that has begun.
    pub fn merges(&self) -> impl Iterator<Item = (&Place, &PoolStep, &Merging)> {
        self.pools.iter().filter(|(_, pool)| !pool.left).flat_map(|(place, pool)| {
            pool.steps.iter().filter_map(move |step| Some((place, step, step.merging()?)))
        })
    }

    /// True if a merge has the project to itself: nothing else may be merged, recorded or restored there.
    pub fn is_merging(&self) -> bool {
        self.merges().any(|(place, step, merging)| match merging.at {
            MergeStage::Planning | MergeStage::Filling | MergeStage::Writing => true,
            // A check that waits for a person must not keep the others waiting; its merge is planned again afterwards.
            MergeStage::Verifying => {
                let frame = self.frames.get(&place.step_frame(&step.id));
                !frame.is_some_and(|frame| matches!(frame.stage, Stage::Gated { .. }))
            }
            MergeStage::Conflict | MergeStage::Resolving | MergeStage::Stuck => false,
        })
    }

    /// True if files of the project are being written by a merge.
    pub fn is_writing(&self) -> bool {
        self.merges().any(|(.., merging)| merging.at == MergeStage::Writing)
    }

    /// True if a performer is at a merge: something goes on without any attempt.
    pub(super) fn is_merge_busy(&self) -> bool {
        self.merges().any(|(.., merging)| match merging.at {
            MergeStage::Planning | MergeStage::Filling | MergeStage::Writing => true,
            MergeStage::Verifying
            | MergeStage::Conflict
            | MergeStage::Resolving
            | MergeStage::Stuck => false,
        })
    }

    /// What merges need done. One whose files are being written is finished even while the run rests: half of it must not stay.
    pub(super) fn due_merges(&self, rests: bool) -> impl Iterator<Item = (Cause, Action)> {
        self.merges().filter_map(move |(.., merging)| {
            let number = merging.folder;
            let action = match merging.at {
                MergeStage::Planning if !rests => Action::PlanMerge(number),
                MergeStage::Filling if !rests => Action::WriteMerge(number),
                MergeStage::Writing => Action::WriteMerge(number),
                MergeStage::Planning
                | MergeStage::Filling
                | MergeStage::Verifying
                | MergeStage::Conflict
                | MergeStage::Resolving
                | MergeStage::Stuck => return None,
            };
            Some((merging.cause, action))
        })
    }

    pub(super) fn begin_merge(&mut self, cause: Cause, began: &MergeBegan) {
        let MergeBegan { place, step, folder, round, base, theirs, favour } = began.clone();
        let merging = Merging::begun(cause, folder, round, base, theirs, favour);
        self.change_step(&place, &step, |step| {
            step.gate = None;
            step.stage = StepStage::Merging(Box::new(merging));
        });
    }

    pub(super) fn plan_merge(&mut self, cause: Cause, planned: &MergePlanned) {
        if planned.folder == OWN_FOLDER {
            return self.plan_own_merge(cause, planned);
        }
        if let Some(work) = self.works.get_mut(&planned.folder)
            && !planned.unrecorded.is_empty()
        {
            work.unrecorded.clone_from(&planned.unrecorded);
        }
        let verifies = self.verifies(planned.folder);
        self.change_merge(planned.folder, |merging| merging.plan(cause, planned, verifies));
        self.change_step_in(planned.folder, |step| {
            // The folder was taken as it is, and has no conflict any more.
            if planned.conflicts == 0 {
                step.unmarked = None;
            }
            let is_as_found = step.merging().is_some_and(|merging| merging.favour.is_none());
            if planned.conflicts == 0 && is_as_found {
                step.marks.clear();
            }
        });
    }

    /// True if a merge is verified before it is written.
    fn verifies(&self, folder: u32) -> bool {
        let phase = self.step_in(folder).and_then(|(place, _)| self.phase_at(place));
        phase.is_some_and(|phase| phase.merge.verify)
    }

    pub(super) fn write_merge(&mut self, cause: Cause, written: &MergeWritten) {
        if written.folder == OWN_FOLDER {
            return self.write_own_merge(cause, written);
        }
        let is_whole = written.late.is_empty() && written.error.is_none();
        if written.into.is_project() && is_whole {
            return self.end_merge(written.folder);
        }
        let (mut filled, mut unmarked) = (None, None);
        self.change_merge(written.folder, |merging| {
            unmarked = merging.unmarked();
            filled = merging.write(cause, written);
        });
        // The folder has the project's side in it by now, so its work is compared with that from here on.
        if let Some((ours, marks)) = filled {
            self.change_step_in(written.folder, |step| {
                (step.base, step.marks) = (Some(ours), marks);
                step.unmarked = unmarked.or_else(|| step.unmarked.take());
            });
        }
    }

    /// The step's work is in the project.
    fn end_merge(&mut self, folder: u32) {
        let Some((place, _)) = self.step_in(folder) else {
            return self.impossible(Impossible::Folder(folder));
        };
        let place = place.clone();
        self.know_merged(folder);
        self.change_step_in(folder, |step| {
            // Work after a merge, if a person asks for more, is compared with what was merged.
            step.base = step.merging().and_then(|merging| {
                let found = if merging.is_filled { &merging.result } else { &merging.theirs };
                found.clone()
            });
            step.stage = StepStage::Done;
        });
        self.make_merges_stale();
        self.step_is_over(&place);
    }

    /// What a merge wrote is nobody's edit: the next look at the project compares with it, unless there was more than the merge.
    fn know_merged(&mut self, folder: u32) {
        let Some(merging) = self.merging_of(folder) else { return };
        if let (Some(ours), Some(result)) = (merging.ours.clone(), merging.result.clone()) {
            self.trees.merged(&ours, result);
        }
    }

    /// The project has other files now: what was planned before and is not written yet is planned again.
    pub(super) fn make_merges_stale(&mut self) {
        let planned = self.merges().filter(|(.., merging)| match merging.at {
            MergeStage::Filling | MergeStage::Verifying => true,
            MergeStage::Planning
            | MergeStage::Writing
            | MergeStage::Conflict
            | MergeStage::Resolving
            | MergeStage::Stuck => false,
        });
        let planned: Vec<u32> = planned.map(|(.., merging)| merging.folder).collect();
        for folder in planned {
            self.change_merge(folder, |merging| merging.is_stale = true);
        }
    }

    fn change_merge(&mut self, folder: u32, with: impl FnOnce(&mut Merging)) {
        self.change_step_in(folder, |step| {
            if let StepStage::Merging(merging) = &mut step.stage {
                with(merging);
            }
        });
    }
}

impl Merging {
    /// Base and files of the work for a side that wins, or for another try. Marks in the folder are nobody's side.
    pub(crate) fn side(&self, unmarked: Option<&(TreeId, TreeId)>) -> (TreeId, Option<TreeId>) {
        match unmarked.filter(|_| self.at == MergeStage::Conflict) {
            Some((base, theirs)) => (base.clone(), Some(theirs.clone())),
            None => (self.base.clone(), self.theirs.clone()),
        }
    }

    /// A merge whose first act is to work out what it would do.
    pub(super) fn begun(
        cause: Cause,
        folder: u32,
        round: u32,
        base: TreeId,
        theirs: Option<TreeId>,
        favour: Option<Side>,
    ) -> Self {
        Self {
            cause,
            folder,
            round,
            base,
            theirs,
            favour,
            ours: None,
            result: None,
            conflicts: 0,
            conflict: Vec::new(),
            error: None,
            late: Vec::new(),
            late_with: None,
            is_tried: false,
            is_filled: false,
            is_stale: false,
            at: MergeStage::Planning,
        }
    }

    /// What it would do is known.
    pub(super) fn plan(&mut self, cause: Cause, planned: &MergePlanned, verifies: bool) {
        self.cause = cause;
        self.ours = Some(planned.ours.clone());
        self.theirs = Some(planned.theirs.clone());
        self.result = Some(planned.result.clone());
        self.conflicts = planned.conflicts;
        self.conflict.clone_from(&planned.conflict_files);
        (self.is_filled, self.is_stale) = (false, false);
        self.at = match planned.conflicts {
            0 if verifies && planned.result != planned.ours => MergeStage::Filling,
            0 => MergeStage::Writing,
            _ => MergeStage::Filling,
        };
    }

    /// Base and files of the work before marks are written over them; `None` if there are none to write, or they are there already.
    pub(super) fn unmarked(&self) -> Option<(TreeId, TreeId)> {
        let is_new = self.conflicts > 0 && self.theirs != self.result;
        self.theirs.clone().filter(|_| is_new).map(|theirs| (self.base.clone(), theirs))
    }

    /// Files were written, but the merge is not done by that. Returns the project's files and the marks if the work folder has them now.
    pub(super) fn write(
        &mut self,
        cause: Cause,
        written: &MergeWritten,
    ) -> Option<(TreeId, Vec<ConflictFile>)> {
        self.cause = cause;
        self.error.clone_from(&written.error);
        match (written.into, &written.error) {
            (_, Some(_)) => self.at = MergeStage::Stuck,
            // Edited meanwhile: the edit becomes part of the next plan. What no recording sees stays in the way.
            (FolderId::Project, None) => {
                let is_same = self.late == written.late && self.late_with == self.ours;
                self.late.clone_from(&written.late);
                self.late_with.clone_from(&self.ours);
                self.replan();
                if is_same {
                    self.at = MergeStage::Stuck;
                }
            }
            (FolderId::Work(_), None) => {
                let filled = self.ours.clone().map(|ours| (ours, self.conflict.clone()));
                self.fill();
                return filled;
            }
        }
        None
    }

    /// The step's folder has the result in it, or marks.
    fn fill(&mut self) {
        if self.conflicts > 0 {
            self.at = MergeStage::Conflict;
            return;
        }
        self.is_filled = true;
        if self.is_stale { self.replan() } else { self.at = MergeStage::Verifying }
    }

    /// True if what is in the way is not an edit of files that are recorded.
    pub(crate) fn is_obstructed(&self) -> bool {
        self.at == MergeStage::Stuck && self.error.is_none() && self.late_with.is_some()
    }

    /// True if files are in its way that are in no tree: no side of it wins.
    pub(crate) fn has_unrecorded(&self) -> bool {
        self.conflict.iter().any(|file| file.is_unrecorded)
    }

    /// Begins again with what is there now. Too many rounds ask a person.
    fn replan(&mut self) {
        // The step's side is what its folder has: nothing that `verify` wrote there is merged.
        if let (true, Some(ours), Some(result)) = (self.is_filled, &self.ours, &self.result) {
            (self.base, self.theirs) = (ours.clone(), Some(result.clone()));
        }
        (self.ours, self.result) = (None, None);
        (self.is_filled, self.is_stale) = (false, false);
        if self.round >= MERGE_ROUNDS_MAX {
            self.at = MergeStage::Stuck;
            return;
        }
        self.round = self.round.saturating_add(1);
        self.at = MergeStage::Planning;
    }

    /// A frame ended: the check of the result, or the work on a conflict. Returns how far its step is with that.
    pub(super) fn after_frame(mut self: Box<Self>, cause: Cause, outcome: &Outcome) -> StepStage {
        self.cause = cause;
        match (self.at, outcome.is_failure()) {
            (MergeStage::Verifying, false) if self.is_stale => self.replan(),
            (MergeStage::Verifying, false) => self.at = MergeStage::Writing,
            // Its worker is told why.
            (MergeStage::Verifying, true) => return StepStage::Pending,
            // Somebody resolved it: the folder as it is now is the step's side.
            (MergeStage::Resolving, false) => return StepStage::Finished,
            (
                MergeStage::Resolving
                | MergeStage::Planning
                | MergeStage::Filling
                | MergeStage::Writing
                | MergeStage::Conflict
                | MergeStage::Stuck,
                _,
            ) => (self.at, self.is_tried) = (MergeStage::Conflict, true),
        }
        StepStage::Merging(self)
    }
}
