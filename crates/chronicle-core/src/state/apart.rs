//! A run that works apart: its own folder, which stands for the project in all that it does, and the merge of that folder once the run
//! is over.
//!
//! Everything inside such a run calls its folder the project (`FolderId::Project`), so that pools, undo and trees are the same there.
//! Only here, and where the folder is made, merged and removed, it has a number of its own: [`OWN_FOLDER`].

use serde::{Deserialize, Serialize};

use super::work::FolderStage;
use super::{Facts, Impossible, MergeStage, Merging};
use crate::base::ids::{AttemptId, Cause, FolderId, GateId, TreeId};
use crate::event::apart::RunMergeBegan;
use crate::event::pool::{FolderMade, MergePlanned, MergeWritten};
use crate::event::trees::Moment;
use crate::event::{GateKind, GateOpened};
use crate::state::effect::{Action, Effect};

/// Number of the folder of a run that works apart; those of steps count from 1.
pub const OWN_FOLDER: u32 = 0;

/// What attempts call the folder of that number.
pub(crate) fn worked_in(folder: u32) -> FolderId {
    if folder == OWN_FOLDER { FolderId::Project } else { FolderId::Work(folder) }
}

/// The folder of a run that works apart, and what becomes of its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// The event that wanted the next act with the folder.
    pub cause: Cause,
    /// How far the folder is; `None` once it is removed.
    pub folder: Option<FolderStage>,
    /// The files that its work is compared with when it is merged; `None` before it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<TreeId>,
    /// Why it is a plain copy, if the project has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// Files in it that cannot be recorded: it is not removed by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
    /// Its merge, from the wish for it until the project has the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merging: Option<Box<Merging>>,
    /// Base and files of the work before marks of a conflict were written into its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmarked: Option<(TreeId, TreeId)>,
    /// The gate at which the merge waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    /// True if the folder stays after the merge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
    /// What became of the work; `None` while it is neither merged nor dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<WorkFate>,
}

/// What became of the work of a run that worked apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkFate {
    /// It is in the project.
    Merged,
    /// A person gave it up.
    Dropped,
}

impl Apart {
    pub(super) fn new(cause: Cause) -> Self {
        Self {
            cause,
            folder: Some(FolderStage::Wanted),
            base: None,
            plain: None,
            unrecorded: Vec::new(),
            merging: None,
            unmarked: None,
            gate: None,
            keep: false,
            fate: None,
        }
    }

    /// True if a worker may work in the folder.
    pub fn is_made(&self) -> bool {
        self.folder == Some(FolderStage::Made)
    }

    /// True if there is work that is neither merged nor dropped.
    pub fn is_unmerged(&self) -> bool {
        self.fate.is_none() && self.base.is_some()
    }

    /// What is to be done with the folder. Nothing is made for a run that rests, unless its work is to be merged.
    fn due(&self, rests: bool) -> Option<(Cause, Action)> {
        let at = self.merging.as_ref().map(|merging| (merging.cause, merging.at));
        match (&self.folder, at) {
            // What is half written is finished, whatever became of the folder.
            (_, Some((cause, MergeStage::Writing)))
            | (Some(FolderStage::Made), Some((cause, MergeStage::Filling))) => {
                Some((cause, Action::WriteMerge(OWN_FOLDER)))
            }
            (Some(FolderStage::Wanted), at) if !rests || at.is_some() => {
                Some((self.cause, Action::MakeFolder(OWN_FOLDER)))
            }
            (Some(FolderStage::Leaving), _) => Some((self.cause, Action::DropFolder(OWN_FOLDER))),
            (Some(FolderStage::Made), Some((cause, MergeStage::Planning))) => {
                Some((cause, Action::PlanMerge(OWN_FOLDER)))
            }
            _ => None,
        }
    }

    /// The folder goes, unless somebody wants to keep it or would lose what is in it.
    fn leave(&mut self, cause: Cause, keep: bool) {
        let stays = keep || !self.unrecorded.is_empty();
        self.cause = cause;
        self.folder = match self.folder.take() {
            None | Some(FolderStage::Failed(_) | FolderStage::Wanted) => None,
            Some(_) if stays => Some(FolderStage::Kept),
            Some(_) => Some(FolderStage::Leaving),
        };
    }
}

impl Facts {
    /// How far a work folder is, that of a step or the run's own; `None` if there is none.
    pub(crate) fn folder_stage(&self, folder: u32) -> Option<&FolderStage> {
        if folder == OWN_FOLDER {
            return self.apart.as_ref()?.folder.as_ref();
        }
        Some(&self.works.get(&folder)?.at)
    }

    /// The merge of a work folder, that of a step or the run's own.
    pub fn merging_of(&self, folder: u32) -> Option<&Merging> {
        if folder == OWN_FOLDER {
            return self.apart.as_ref()?.merging.as_deref();
        }
        self.step_in(folder).and_then(|(_, step)| step.merging())
    }

    /// True if a gate is about the merge of the run's own folder. It is answered after the end of the run.
    pub fn is_about_own(&self, gate: GateId) -> bool {
        self.apart.as_ref().is_some_and(|apart| apart.gate == Some(gate))
    }

    /// True if people may answer gates: also after the end of a run, that about its own folder.
    pub fn can_answer(&self, gate: GateId) -> bool {
        !self.is_given_up() || self.is_about_own(gate)
    }

    /// True if the project's files are being written by the merge of the whole run.
    pub fn is_writing_own(&self) -> bool {
        self.merging_of(OWN_FOLDER).is_some_and(|merging| merging.at == MergeStage::Writing)
    }

    /// What is due with the folder of a run that works apart.
    pub(super) fn due_apart(&self, rests: bool) -> Option<Effect> {
        let rests = rests && !self.is_worked_in(FolderId::Project);
        let (cause, action) = self.apart.as_ref()?.due(rests)?;
        Some(Effect::of_run(cause, action))
    }

    pub(super) fn is_own_wanted(&self) -> bool {
        self.folder_stage(OWN_FOLDER) == Some(&FolderStage::Wanted)
    }

    pub(super) fn change_apart(&mut self, with: impl FnOnce(&mut Apart)) {
        match &mut self.apart {
            Some(apart) => with(apart),
            None => self.impossible(Impossible::Folder(OWN_FOLDER)),
        }
    }

    pub(super) fn make_own(&mut self, made: &FolderMade) {
        self.change_apart(|apart| {
            apart.folder = Some(FolderStage::Made);
            apart.plain.clone_from(&made.plain);
            // Made again after it was lost: the work is still compared with what it began from.
            apart.base.get_or_insert_with(|| made.tree.clone());
        });
    }

    pub(super) fn fail_own(&mut self, why: &str) {
        self.change_apart(|apart| {
            apart.folder = Some(FolderStage::Failed(why.to_owned()));
            // A merge that lacks its folder asks a person.
            if let Some(merging) = &mut apart.merging {
                (merging.at, merging.error) = (MergeStage::Stuck, Some(why.to_owned()));
            }
        });
    }

    /// Somebody removed a folder that is still needed. It is made again from the files that were recorded last.
    pub(super) fn lose_folder(&mut self, cause: Cause, folder: u32) {
        let of = worked_in(folder);
        let working = self.live_attempts().filter(|attempt| !attempt.awaits_room());
        let working = working.map(|attempt| attempt.intent.attempt);
        let working: Vec<AttemptId> = working.chain(self.trees.after.keys().copied()).collect();
        let there = working.into_iter().filter(|id| self.folder_of(Moment::After(*id)) == of);
        let there: Vec<AttemptId> = there.collect();
        self.trees.lose(there);
        if folder == OWN_FOLDER {
            return self.want_own(cause);
        }
        match self.works.get_mut(&folder) {
            Some(work) => (work.at, work.cause) = (FolderStage::Wanted, cause),
            None => return self.impossible(Impossible::Folder(folder)),
        }
        // What its commands had made there is gone with it.
        self.change_step_in(folder, |step| step.is_set_up = false);
    }

    fn want_own(&mut self, cause: Cause) {
        self.change_apart(|apart| {
            (apart.folder, apart.cause) = (Some(FolderStage::Wanted), cause);
        });
    }

    /// A person wants a folder that could not be made tried again.
    pub(super) fn try_own_again(&mut self, cause: Cause) {
        if matches!(self.folder_stage(OWN_FOLDER), Some(FolderStage::Failed(_))) {
            self.want_own(cause);
        }
    }

    pub(super) fn drop_own(&mut self, error: Option<&String>) {
        self.change_apart(|apart| {
            apart.folder = error.map(|_| FolderStage::Kept);
        });
    }

    pub(super) fn begin_own_merge(&mut self, cause: Cause, began: &RunMergeBegan) {
        let RunMergeBegan { base, theirs, favour, keep, .. } = began.clone();
        let merging = Merging::begun(cause, OWN_FOLDER, 1, base, theirs, favour);
        self.change_apart(|apart| {
            (apart.merging, apart.gate) = (Some(Box::new(merging)), None);
            apart.keep = keep;
        });
        self.try_own_again(cause);
    }

    pub(super) fn plan_own_merge(&mut self, cause: Cause, planned: &MergePlanned) {
        self.change_apart(|apart| {
            // Where one side wins, the folder is not looked at again.
            if !planned.unrecorded.is_empty()
                || apart.merging.as_ref().is_some_and(|it| it.theirs.is_none())
            {
                apart.unrecorded.clone_from(&planned.unrecorded);
            }
            if planned.conflicts == 0 {
                apart.unmarked = None;
            }
            if let Some(merging) = &mut apart.merging {
                merging.plan(cause, planned, false);
            }
        });
    }

    pub(super) fn write_own_merge(&mut self, cause: Cause, written: &MergeWritten) {
        let is_whole = written.late.is_empty() && written.error.is_none();
        self.change_apart(|apart| {
            if written.into.is_project() && is_whole {
                (apart.merging, apart.fate) = (None, Some(WorkFate::Merged));
                return apart.leave(cause, apart.keep);
            }
            let unmarked = apart.merging.as_ref().and_then(|it| it.unmarked());
            let filled = apart.merging.as_mut().and_then(|it| it.write(cause, written));
            // The folder has the project's side in it by now, so its work is compared with that from here on.
            if let Some((ours, _)) = filled {
                apart.base = Some(ours);
                apart.unmarked = unmarked.or_else(|| apart.unmarked.take());
            }
        });
    }

    pub(super) fn drop_work(&mut self, cause: Cause) {
        self.change_apart(|apart| {
            (apart.merging, apart.gate) = (None, None);
            // What was merged stays merged: only what is left of its folder goes.
            apart.fate.get_or_insert(WorkFate::Dropped);
            apart.unrecorded.clear();
            apart.leave(cause, false);
        });
    }

    /// Whether a gate that opens or is answered is about the run's own folder.
    pub(super) fn concerns_own(&self, gate: &GateOpened) -> bool {
        gate.gate_kind == GateKind::Conflict && gate.step.is_none() && self.apart.is_some()
    }

    pub(super) fn ask_at_own(&mut self, gate: Option<GateId>) {
        self.change_apart(|apart| apart.gate = gate);
    }
}
