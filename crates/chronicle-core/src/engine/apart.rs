//! Runs that work apart: nothing begins before their folder is there, and people merge or drop their work once they are over.

use super::gate::opened;
use super::people::who;
use super::scratch::Scratch;
use crate::base::ids::{FramePath, TreeId};
use crate::event::apart::RunMergeBegan;
use crate::event::input::{Answer, By};
use crate::event::pool::Side;
use crate::event::{Event, GateAnswer, GateKind, GateOpened, OnGate};
use crate::state::{Apart, FolderStage, MergeStage, Merging, OWN_FOLDER, State, WorkFate};
use crate::words;

/// Answers to a conflict.
const RESOLVED: &str = "resolved";
const OURS: &str = "ours";
const THEIRS: &str = "theirs";
const DROP: &str = "drop";
/// Answer to a merge that could not be written.
const AGAIN: &str = "again";

/// True if nothing may begin yet, since the run's own folder is not there.
pub(super) fn is_without_folder(state: &State) -> bool {
    state.apart.as_ref().is_some_and(|apart| !apart.is_made())
}

/// What follows while there is no folder: if it could not be made, the run rests, whatever it was at. `resume` tries again.
pub(super) fn without_folder(state: &State) -> Option<Event> {
    let Some(FolderStage::Failed(why)) = state.folder_stage(OWN_FOLDER) else { return None };
    let reason = words::no_own_folder(why);
    let fails = state.run.as_ref().is_some_and(|run| run.on_gate == Some(OnGate::Fail));
    Some(if fails { Event::RunFailed { reason } } else { Event::RunPaused { reason } })
}

/// The question that the merge of the run's own folder waits for.
pub(super) fn asks(state: &State) -> Option<Event> {
    let apart = state.apart.as_ref().filter(|apart| apart.gate.is_none())?;
    let merging = apart.merging.as_ref()?;
    let answers: &[&str] = match merging.at {
        MergeStage::Stuck => &[AGAIN, DROP],
        // No tree has what the run wrote there.
        MergeStage::Conflict if merging.has_unrecorded() => &[RESOLVED, OURS, DROP],
        MergeStage::Conflict => &[RESOLVED, OURS, THEIRS, DROP],
        MergeStage::Planning
        | MergeStage::Filling
        | MergeStage::Verifying
        | MergeStage::Writing
        | MergeStage::Resolving => return None,
    };
    let options = answers.iter().map(ToString::to_string).collect();
    // The root frame stays after the end of a run.
    let root = state.frames.get(&FramePath::root())?;
    let gate = opened(state, root, GateKind::Conflict, words::own_merge_asks(merging));
    let context = words::conflict_files(merging);
    Some(Event::GateOpened(GateOpened { options, closed: true, context, ..gate }))
}

/// Merges the work of a run that is over. Said again, it goes on where it was.
pub(super) fn merge(scratch: &mut Scratch<'_>, by: &By, keep: bool) -> Answer {
    let state = scratch.state();
    let apart = match work_of(state) {
        Ok(apart) => apart,
        Err(why) => return Answer::Refused(why),
    };
    if let Some(gate) = apart.gate {
        return Answer::Refused(words::own_merge_is_asked(gate));
    }
    if apart.merging.is_some() {
        return Answer::Accepted("the merge goes on".to_owned());
    }
    let base = match (apart.fate, &apart.base) {
        (Some(WorkFate::Merged), _) => {
            return Answer::Accepted("its work is merged already".to_owned());
        }
        (Some(WorkFate::Dropped), _) => {
            return Answer::Refused("its work was dropped".to_owned());
        }
        (None, None) => return Answer::Refused(words::NEVER_MADE.to_owned()),
        (None, Some(base)) => base.clone(),
    };
    let began = began(who(by), base, keep);
    scratch.emit(Event::RunMergeBegan(began));
    Answer::Accepted("merging".to_owned())
}

/// Drops the work of a run that is over, or what is left of the folder of one that is merged.
pub(super) fn drop_work(scratch: &mut Scratch<'_>, by: &By) -> Answer {
    let state = scratch.state();
    let apart = match work_of(state) {
        Ok(apart) => apart,
        Err(why) => return Answer::Refused(why),
    };
    if apart.merging.as_ref().is_some_and(|merging| merging.at == MergeStage::Writing) {
        let why = "its work is being merged: `chronicle merge` finishes that";
        return Answer::Refused(why.to_owned());
    }
    if apart.folder.is_none() {
        return Answer::Accepted("its folder is gone already".to_owned());
    }
    if apart.gate.is_some() {
        // Nobody can answer for work that is gone.
        withdraw(scratch, by);
    }
    scratch.emit(Event::WorkDropped { who: who(by) });
    Answer::Accepted("dropped".to_owned())
}

fn withdraw(scratch: &mut Scratch<'_>, by: &By) {
    let gate = scratch.state().apart.as_ref().and_then(|apart| apart.gate);
    if let Some(gate) = gate {
        super::people::emit_answer(scratch, by, gate, GateAnswer::Withdrawn, "");
    }
}

/// The work of a run, if it worked apart and is over.
fn work_of(state: &State) -> Result<&Apart, String> {
    if state.run.is_none() {
        return Err("the run has not started".to_owned());
    }
    let apart = state.apart.as_deref().ok_or(words::NOT_APART)?;
    if !state.is_over() {
        return Err(words::NOT_OVER.to_owned());
    }
    Ok(apart)
}

fn began(who: String, base: TreeId, keep: bool) -> RunMergeBegan {
    RunMergeBegan { who, base, theirs: None, favour: None, keep }
}

/// What follows from a person's answer about the merge of the run's own folder.
pub(super) fn answered(state: &State, gate: &GateOpened, said: &str, who: &str) -> Option<Event> {
    let apart = state.apart.as_ref().filter(|apart| apart.gate == Some(gate.gate))?;
    let merging: &Merging = apart.merging.as_deref()?;
    let favour = match said {
        OURS => Some(Side::Ours),
        THEIRS => Some(Side::Theirs),
        AGAIN => merging.favour,
        DROP => return Some(Event::WorkDropped { who: who.to_owned() }),
        _ => None,
    };
    if said == RESOLVED {
        // With marks in it, the folder is compared with what they were made from.
        let base = apart.base.clone().unwrap_or_else(|| merging.base.clone());
        return Some(Event::RunMergeBegan(began(who.to_owned(), base, apart.keep)));
    }
    // What was recorded before the marks, or before files were half written, is still the run's side.
    let (base, theirs) = merging.side(apart.unmarked.as_ref());
    let again = began(who.to_owned(), base, apart.keep);
    Some(Event::RunMergeBegan(RunMergeBegan { theirs, favour, ..again }))
}
