//! What performers say about pools: steps that were read, folders that were made, merges that were planned and written.

use super::super::scratch::Scratch;
use crate::base::ids::{FolderId, Place};
use crate::definition::workflow::{StepItem, judge_steps};
use crate::event::Event;
use crate::event::input::Report;
use crate::event::pool::{MergePlanned, MergeWritten, PlanOrigin, PoolPlanned};
use crate::event::trees::Moment;
use crate::state::{FolderStage, MergeStage, State, worked_in};
use crate::words;

/// Reports about pools. One that nobody waits for any more is ignored.
pub(in crate::engine) fn report(scratch: &mut Scratch<'_>, report: &Report) {
    let state = scratch.state();
    let event = match report {
        Report::StepsRead { place, steps } => read(state, place, steps),
        Report::StepsUnread { place, why } => is_read(state, place)
            .then(|| Event::StepsUnread { place: place.clone(), why: why.clone() }),
        Report::FolderMade(made) => is_wanted(state, made.folder, &FolderStage::Wanted)
            .then(|| Event::FolderMade(made.clone())),
        Report::FolderFailed { folder, why } => is_wanted(state, *folder, &FolderStage::Wanted)
            .then(|| Event::FolderFailed { folder: *folder, why: why.clone() }),
        Report::FolderLost { folder } => return lost(scratch, *folder),
        Report::FolderDropped { folder, error } => is_wanted(state, *folder, &FolderStage::Leaving)
            .then(|| Event::FolderDropped { folder: *folder, error: error.clone() }),
        Report::MergePlanned(planned) => planned_event(state, planned),
        Report::MergeMissed { folder, why } => missed(state, *folder, why),
        Report::MergeWritten(written) => written_event(state, written),
        Report::SupervisorStarted { .. }
        | Report::NoticeGiven(_)
        | Report::TailSetAside { .. }
        | Report::SupervisorLeaves
        | Report::Attempt { .. }
        | Report::TreeRecorded(_)
        | Report::TreeMissed { .. }
        | Report::TreeRestored(_)
        | Report::TimerFired { .. } => None,
    };
    if let Some(event) = event {
        scratch.emit(event);
    }
}

/// A folder is gone. What its workers left since files were last recorded is gone with it, so nothing is recorded of that: the folder that
/// is made again would only show that they did nothing.
fn lost(scratch: &mut Scratch<'_>, folder: u32) {
    let state = scratch.state();
    // Whoever waits for files that nobody can record must not wait for ever, whatever is known of the folder.
    let is_made = is_wanted(state, folder, &FolderStage::Made);
    let of = worked_in(folder);
    let after = state.trees.after.keys().map(|id| Moment::After(*id));
    let missed: Vec<Moment> = after.filter(|moment| state.folder_of(*moment) == of).collect();
    if is_made {
        scratch.emit(Event::FolderLost { folder });
    }
    for moment in missed {
        let why = words::folder_gone().to_owned();
        scratch.emit(Event::TreeMissed { moment, folder: of, why });
    }
}

fn is_read(state: &State, place: &Place) -> bool {
    state.pools.get(place).is_some_and(|pool| state.wants_steps(place, pool))
}

/// Steps are judged here too: a plan that could never be done must not become one, whoever read it.
fn read(state: &State, place: &Place, steps: &[StepItem]) -> Option<Event> {
    let file = state.phase_at(place)?.steps_from.clone().filter(|_| is_read(state, place))?;
    let empty = || steps.is_empty().then(|| "there are no steps".to_owned());
    if let Some(why) = judge_steps(steps, &|_| false).into_iter().next().or_else(empty) {
        return Some(Event::StepsUnread { place: place.clone(), why });
    }
    let (place, steps, from) = (place.clone(), steps.to_vec(), PlanOrigin::File(file));
    Some(Event::PoolPlanned(PoolPlanned { place, version: 1, steps, from, race: false }))
}

fn is_wanted(state: &State, folder: u32, at: &FolderStage) -> bool {
    state.folder_stage(folder) == Some(at)
}

fn planned_event(state: &State, planned: &MergePlanned) -> Option<Event> {
    let merging = state.merging_of(planned.folder)?;
    // What is listed counts, whatever the number says: a file in conflict must not pass for a clean one.
    let listed = u32::try_from(planned.conflict_files.len()).unwrap_or(u32::MAX);
    let planned = MergePlanned { conflicts: planned.conflicts.max(listed), ..planned.clone() };
    (merging.at == MergeStage::Planning).then(|| Event::MergePlanned(Box::new(planned)))
}

/// What could not be worked out is told like files that could not be written: a person decides.
fn missed(state: &State, folder: u32, why: &str) -> Option<Event> {
    let merging = state.merging_of(folder)?;
    let (late, error) = (Vec::new(), Some(why.to_owned()));
    let written = MergeWritten { folder, into: FolderId::Project, files: 0, late, error };
    (merging.at == MergeStage::Planning).then_some(Event::MergeWritten(written))
}

fn written_event(state: &State, written: &MergeWritten) -> Option<Event> {
    let merging = state.merging_of(written.folder)?;
    let is_meant = match written.into {
        FolderId::Project => merging.at == MergeStage::Writing,
        FolderId::Work(number) => merging.at == MergeStage::Filling && number == written.folder,
    };
    is_meant.then(|| Event::MergeWritten(written.clone()))
}
