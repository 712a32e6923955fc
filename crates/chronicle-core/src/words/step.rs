//! How far the step of a pool is, in the words that people read in `status`: who works there, or what nobody works for.

use super::gate::asked_for;
use super::pool::step_word;
use super::room::waits_for_room;
use super::wait::wait;
use crate::base::ids::{FramePath, Place};
use crate::event::GateKind;
use crate::state::{MergeStage, Pool, PoolStep, Stage, State, StepStage};

/// How far a step is. Where nothing works in it, what it waits for.
pub(crate) fn step_state(state: &State, at: &Place, pool: &Pool, step: &PoolStep) -> String {
    let path = at.step_frame(&step.id);
    waits_for(state, &path, step).unwrap_or_else(|| step_word(pool, step).to_owned())
}

/// What a step waits for that is worked on, as far as the ledger says; `None` if somebody works, or if it waits for its turn.
fn waits_for(state: &State, path: &FramePath, step: &PoolStep) -> Option<String> {
    let is_worked_on = match &step.stage {
        StepStage::Making | StepStage::Working | StepStage::Judging => true,
        StepStage::Merging(merging) => {
            matches!(merging.at, MergeStage::Verifying | MergeStage::Resolving)
        }
        StepStage::Pending
        | StepStage::Finished
        | StepStage::Done
        | StepStage::Failed(_)
        | StepStage::Skipped
        | StepStage::Dropped
        | StepStage::Lost => false,
    };
    if !is_worked_on {
        return None;
    }
    let inside = |place: &Place| place.frame().is_within(path);
    let live = || state.live_attempts().filter(|attempt| inside(&attempt.intent.place));
    // One that waits for room waits for nobody of this run.
    if let Some(limit) = live().find_map(|attempt| attempt.room.as_ref()) {
        return Some(waits_for_room(limit));
    }
    if live().any(|attempt| !state.is_asking(attempt)) {
        let folder = step.folder.filter(|folder| state.awaits_folder(*folder));
        return folder.map(|_| "waits for its folder".to_owned());
    }
    if state.trees.after.values().any(|(_, place)| inside(place)) {
        return Some("its files are being recorded".to_owned());
    }
    let mut gates = state.open_gates().map(|gate| &gate.opened);
    if let Some(gate) = gates.find(|gate| inside(&gate.place)) {
        return Some(format!("waits for {}", asked_for(gate.gate_kind)));
    }
    // Only now: an answer counts more than a pause, since it can be given meanwhile.
    if state.paused.is_some() {
        return Some("paused".to_owned());
    }
    let frames = || state.frames.values().filter(|frame| frame.path.is_within(path));
    let waiting = frames().find_map(|frame| {
        if let Stage::Waiting { wait } = &frame.stage { Some(&wait.began) } else { None }
    });
    if let Some(began) = waiting {
        return Some(format!("waits for {}", wait(began)));
    }
    if state.lacks_slot(path) {
        return Some("waits for a slot".to_owned());
    }
    // Steps that lack the same budget wait for one answer, at whichever of them was first.
    let is_ready = frames().any(|frame| matches!(frame.stage, Stage::Ready { .. }));
    let mut gates = state.open_gates().map(|gate| &gate.opened);
    let budget = gates.find(|gate| is_ready && gate.gate_kind == GateKind::Budget);
    budget.map(|gate| format!("waits for a budget ({})", gate.gate))
}
