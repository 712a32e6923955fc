//! Words about runs that work apart: their folder, and the merge of the whole run.

use super::pool::{in_conflict, not_merged};
use super::quote::because;
use crate::base::ids::GateId;
use crate::event::apart::RunMergeBegan;
use crate::event::pool::Side;
use crate::state::{Apart, FolderStage, MergeStage, Merging, OWN_FOLDER, WorkFate};

/// A run that has nothing to merge.
pub(crate) const NOT_APART: &str = "this run works in the project itself: its work is there already, and there is nothing to merge or to drop";
/// A run whose work may still change.
pub(crate) const NOT_OVER: &str = "the run is not over, and what it does next would not be merged: let it end, or `chronicle cancel` it";
/// A run that ended before it had a folder.
pub(crate) const NEVER_MADE: &str =
    "the run ended before its folder was made: there is nothing to merge";

/// A work folder as people name it.
pub(super) fn folder(number: u32) -> String {
    if number == OWN_FOLDER {
        "the run's own folder".to_owned()
    } else {
        format!("work folder {number}")
    }
}

/// The same in a few letters.
pub(super) fn folder_short(number: u32) -> String {
    if number == OWN_FOLDER { folder(number) } else { format!("folder {number}") }
}

/// The work in a folder, as people name it.
pub(super) fn work_in(number: u32) -> String {
    if number == OWN_FOLDER {
        "the work of the run".to_owned()
    } else {
        format!("the work in folder {number}")
    }
}

pub(super) fn folder_lost(number: u32) -> String {
    let folder = folder(number);
    format!("{folder} is gone, and is made again from the files that were recorded last")
}

pub(super) fn merge_began(began: &RunMergeBegan) -> String {
    let side = match began.favour {
        None => "",
        Some(Side::Ours) => "; where both changed the same lines the project's stay",
        Some(Side::Theirs) => "; where both changed the same lines the run's win",
    };
    format!("{} merges the work of the run into the project{side}", began.who)
}

pub(super) fn work_dropped(who: &str) -> String {
    format!("{who} drops the run's own folder")
}

/// A run that cannot begin, or go on.
pub(crate) fn no_own_folder(why: &str) -> String {
    format!("the run's own folder could not be made{}", because(why))
}

/// What a person is asked about the merge of a run.
pub(crate) fn own_merge_asks(merging: &Merging) -> String {
    match merging.at {
        MergeStage::Stuck => not_merged("the work of the run", merging),
        MergeStage::Planning
        | MergeStage::Filling
        | MergeStage::Verifying
        | MergeStage::Writing
        | MergeStage::Conflict
        | MergeStage::Resolving => {
            in_conflict("the work of the run", "the run's own folder", "the run", merging)
        }
    }
}

/// A merge that waits for an answer.
pub(crate) fn own_merge_is_asked(gate: GateId) -> String {
    format!("{gate} asks about the merge: `chronicle answer` it")
}

/// What becomes of the folder of a run that works apart, in a few words.
pub(crate) fn apart_word(apart: &Apart, is_over: bool) -> &'static str {
    let merging = apart.merging.as_ref().map(|merging| merging.at);
    match (apart.fate, merging, &apart.folder) {
        (Some(WorkFate::Merged), _, None) => "merged",
        (Some(WorkFate::Merged), _, Some(FolderStage::Leaving)) => {
            "merged, its folder is being removed"
        }
        (Some(WorkFate::Merged), _, Some(_)) => "merged, its folder is kept",
        (Some(WorkFate::Dropped), _, None) => "dropped",
        (Some(WorkFate::Dropped), _, Some(_)) => "dropped, its folder is still there",
        (None, Some(MergeStage::Conflict), _) => "in conflict with the project",
        (None, Some(MergeStage::Stuck), _) => "could not be merged",
        (None, Some(_), _) => "is being merged",
        (None, None, Some(FolderStage::Wanted)) => "its folder is being made",
        (None, None, Some(FolderStage::Failed(_))) => "its folder could not be made",
        (None, None, _) if is_over => "not merged yet",
        (None, None, _) => "in use",
    }
}

/// Why nothing of the work of a run that works apart can be undone; `None` if it can, or if it works in the project.
pub fn own_work_stays(apart: Option<&Apart>) -> Option<&'static str> {
    let apart = apart?;
    match (apart.fate, &apart.merging) {
        (Some(WorkFate::Merged), _) => Some(
            "the work of this run was merged, and is in the project together with other work: nothing of it is undone. \
             `chronicle diff` shows what it was",
        ),
        (Some(WorkFate::Dropped), _) => {
            Some("the work of this run was dropped: there is nothing to undo")
        }
        (None, Some(_)) => Some(
            "the work of this run is being merged: finish that first, or `drop` the work at its gate",
        ),
        (None, None) if !apart.is_made() => Some("the run's own folder is not there"),
        (None, None) => None,
    }
}
