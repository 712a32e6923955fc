//! Work folders: where the steps of pools work, from the wish for one until it is removed.

use serde::{Deserialize, Serialize};

use super::apart::OWN_FOLDER;
use super::{Facts, Impossible, StepStage};
use crate::base::ids::{Cause, FolderId, Place, StepId};
use crate::definition::workflow::{Isolation, Phase, PhaseKind};
use crate::event::pool::FolderMade;
use crate::state::effect::Action;

/// A work folder of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkFolder {
    /// The event that wanted its next act.
    pub cause: Cause,
    /// The pool that it belongs to.
    pub place: Place,
    /// The step that works in it.
    pub step: StepId,
    /// How far it is.
    pub at: FolderStage,
    /// Why it is a plain copy, if the project has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// Where it was made on that machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Files in it that cannot be recorded: it is not removed by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

/// How far a work folder is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "why", rename_all = "snake_case")]
pub enum FolderStage {
    /// It is to be made.
    Wanted,
    /// It is there, and its step may work in it.
    Made,
    /// Nobody works in it any more, and it is to be removed.
    Leaving,
    /// Nobody works in it any more, and it stays.
    Kept,
    /// It could not be made.
    Failed(String),
}

impl Facts {
    /// The number of the next work folder.
    pub(crate) fn next_folder(&self) -> u32 {
        self.folders.saturating_add(1)
    }

    /// True if a folder is there. The project's own always is, unless the run works apart.
    pub fn is_made(&self, folder: FolderId) -> bool {
        match folder {
            // That of a run that works apart is one that is made.
            FolderId::Project => self.apart.as_ref().is_none_or(|apart| apart.is_made()),
            FolderId::Work(number) => {
                self.works.get(&number).is_some_and(|work| work.at == FolderStage::Made)
            }
        }
    }

    /// True if a folder is to be made before anybody works in it. One that nobody will make is none to wait for: who is to work there
    /// cannot start, and a person is asked.
    pub(crate) fn awaits_folder(&self, folder: FolderId) -> bool {
        match folder {
            FolderId::Project => !self.is_made(folder),
            FolderId::Work(number) => {
                self.works.get(&number).is_some_and(|work| work.at == FolderStage::Wanted)
            }
        }
    }

    /// True if folders that nobody needs any more are still to be removed.
    pub(super) fn is_leaving_folders(&self) -> bool {
        self.works.values().any(|work| work.at == FolderStage::Leaving)
    }

    /// True if somebody works in a folder. What a run that rests still does, such as putting away, needs its folder too.
    pub(super) fn is_worked_in(&self, folder: FolderId) -> bool {
        self.live_attempts().any(|attempt| attempt.intent.folder == folder)
    }

    /// Folders that are to be made or removed. Nothing is made for a run that rests, nor from a project that a merge is being written
    /// into: it would have half of that.
    pub(super) fn due_folders(&self, rests: bool) -> impl Iterator<Item = (Cause, Action)> {
        self.works.iter().filter_map(move |(number, work)| match work.at {
            FolderStage::Wanted
                if (!rests || self.is_worked_in(FolderId::Work(*number))) && !self.is_writing() =>
            {
                Some((work.cause, Action::MakeFolder(*number)))
            }
            FolderStage::Leaving => Some((work.cause, Action::DropFolder(*number))),
            FolderStage::Wanted
            | FolderStage::Made
            | FolderStage::Kept
            | FolderStage::Failed(_) => None,
        })
    }

    /// A step is to work in that folder. One that could not be made is tried again. One that was made is looked for when its step begins
    /// again: somebody may have removed it.
    pub(super) fn want_folder(&mut self, cause: Cause, folder: FolderId, of: (&Place, &StepId)) {
        let FolderId::Work(number) = folder else { return };
        self.folders = self.folders.max(number);
        let known = self.pools.get(of.0).and_then(|pool| pool.step(of.1));
        let begins = known.is_some_and(|step| step.stage == StepStage::Pending);
        let (place, step) = (of.0.clone(), of.1.clone());
        let (plain, path, unrecorded) = (None, None, Vec::new());
        let work = self.works.entry(number).or_insert_with(|| WorkFolder {
            cause,
            place,
            step,
            at: FolderStage::Wanted,
            plain,
            path,
            unrecorded,
        });
        if work.at != FolderStage::Made || begins {
            (work.at, work.cause) = (FolderStage::Wanted, cause);
        }
    }

    /// Whether a folder that stayed has what nothing else has: its files that are in no tree, by name, or all that was done there, without
    /// names.
    pub fn only_in(&self, folder: u32) -> Option<&[String]> {
        if folder == OWN_FOLDER {
            let own = self.apart.as_deref().map(|apart| apart.unrecorded.as_slice());
            return own.filter(|files| !files.is_empty());
        }
        let work = self.works.get(&folder)?;
        let is_all = || self.is_only_there(&work.place, &work.step);
        (!work.unrecorded.is_empty() || is_all()).then_some(work.unrecorded.as_slice())
    }

    /// The folders of a pool that is left go, unless somebody wants to keep them.
    pub(super) fn leave_folders(&mut self, cause: Cause, place: &Place) {
        let keeps = self.run.as_ref().is_some_and(|run| run.keep_folders);
        let is_used = |work: &WorkFolder| match work.at {
            FolderStage::Wanted | FolderStage::Made | FolderStage::Failed(_) => true,
            FolderStage::Leaving | FolderStage::Kept => false,
        };
        let of_pool = self.works.iter().filter(|(_, work)| work.place == *place);
        let only_there: Vec<u32> = of_pool
            .filter(|(_, work)| self.is_only_there(place, &work.step))
            .map(|(number, _)| *number)
            .collect();
        let of_pool = self.works.iter_mut().filter(|(_, work)| work.place == *place);
        for (number, work) in of_pool.filter(|(_, work)| is_used(work)) {
            work.cause = cause;
            // What cannot be recorded would be lost with the folder.
            let stays = keeps || !work.unrecorded.is_empty() || only_there.contains(number);
            work.at = if stays { FolderStage::Kept } else { FolderStage::Leaving };
        }
    }

    pub(super) fn make_folder(&mut self, made: &FolderMade) {
        let FolderMade { folder, tree, plain, path } = made;
        if *folder == OWN_FOLDER {
            return self.make_own(made);
        }
        let folder = *folder;
        let Some(work) = self.works.get_mut(&folder) else {
            return self.impossible(Impossible::Folder(folder));
        };
        work.at = FolderStage::Made;
        work.plain.clone_from(plain);
        work.path.clone_from(path);
        self.change_step_in(folder, |step| {
            // Made again after it was lost: the work is still compared with what it began from.
            step.base.get_or_insert_with(|| tree.clone());
        });
    }

    pub(super) fn fail_folder(&mut self, folder: u32, why: &str) {
        if folder == OWN_FOLDER {
            return self.fail_own(why);
        }
        match self.works.get_mut(&folder) {
            Some(work) => work.at = FolderStage::Failed(why.to_owned()),
            None => self.impossible(Impossible::Folder(folder)),
        }
    }

    pub(super) fn drop_folder(&mut self, folder: u32, error: Option<&String>) {
        if folder == OWN_FOLDER {
            return self.drop_own(error);
        }
        match (self.works.get_mut(&folder), error) {
            // It stays in the list, so that people see it.
            (Some(work), Some(_)) => work.at = FolderStage::Kept,
            (Some(_), None) => {
                self.works.remove(&folder);
                self.trees.forget(FolderId::Work(folder));
            }
            (None, _) => self.impossible(Impossible::Folder(folder)),
        }
    }
}

/// Whether steps of a phase work in folders of their own.
pub(crate) fn works_apart(phase: &Phase) -> bool {
    matches!(phase.run, PhaseKind::Pool | PhaseKind::Race) && phase.isolation == Isolation::Worktree
}
