//! Merges: whose work comes next, and what a person says where it cannot come by itself.

use super::super::gate::opened;
use super::Here;
use crate::base::ids::{Outcome, Place, TreeId};
use crate::definition::workflow::{MERGE_VERIFY, MergeOrder, derived_key};
use crate::event::pool::{MergeBegan, Side, StepEnd, StepSettled};
use crate::event::{Event, GateKind, GateOpened};
use crate::state::{MergeStage, Merging, PoolStep, State, StepStage, works_apart};
use crate::words;

/// Answers to a conflict.
const RESOLVED: &str = "resolved";
const OURS: &str = "ours";
const THEIRS: &str = "theirs";
const DROP: &str = "drop";
/// Answer to a merge that could not be written.
const AGAIN: &str = "again";

impl Here<'_> {
    /// The next act of a merge that has begun, as far as no performer is at it.
    pub(super) fn go_on_merging(&self, step: &PoolStep) -> Option<Event> {
        let merging = step.merging()?;
        if step.leaving.is_some() || step.gate.is_some() {
            return None;
        }
        match merging.at {
            MergeStage::Verifying if !self.is_open(step) => {
                // Without the commands nothing can be verified, so nothing is merged.
                let workflow = self.state.derived_workflow(&self.place, MERGE_VERIFY);
                Some(workflow.map_or_else(
                    || self.conflict_gate(step, merging),
                    |workflow| self.open(step, workflow),
                ))
            }
            MergeStage::Conflict if self.resolver(step, merging).is_none() => {
                Some(self.conflict_gate(step, merging))
            }
            MergeStage::Stuck => Some(self.conflict_gate(step, merging)),
            MergeStage::Planning
            | MergeStage::Filling
            | MergeStage::Verifying
            | MergeStage::Writing
            | MergeStage::Conflict
            | MergeStage::Resolving => None,
        }
    }

    /// The workflow of the phase that resolves conflicts, unless it has failed to, or has done so again and again.
    pub(super) fn resolver(&self, step: &PoolStep, merging: &Merging) -> Option<String> {
        let may_try = !merging.is_tried && step.resolved < self.phase.limits.loops.max;
        let to = self.phase.on.get(&Outcome::from("conflict")).filter(|_| may_try)?;
        let key = derived_key(&self.frame.workflow, to, None);
        self.state.workflow(&key).map(|workflow| workflow.key.clone())
    }

    fn conflict_gate(&self, step: &PoolStep, merging: &Merging) -> Event {
        let about = words::merge_asks(&self.place.of_step(&step.id), merging);
        let answers: &[&str] = match merging.at {
            MergeStage::Stuck | MergeStage::Verifying => &[AGAIN, DROP],
            // No tree has what the step wrote there.
            MergeStage::Conflict if merging.has_unrecorded() => &[RESOLVED, OURS, DROP],
            MergeStage::Planning
            | MergeStage::Filling
            | MergeStage::Writing
            | MergeStage::Conflict
            | MergeStage::Resolving => &[RESOLVED, OURS, THEIRS, DROP],
        };
        let options = answers.iter().map(ToString::to_string).collect();
        let gate = opened(self.state, self.frame, GateKind::Conflict, about);
        let (step, context) = (Some(step.id.clone()), words::conflict_files(merging));
        Event::GateOpened(GateOpened { options, closed: true, step, context, ..gate })
    }

    /// Begins the next merge. One at a time: each starts from what the one before it left.
    pub(super) fn merge_next(&self) -> Option<Event> {
        let is_finished = |step: &&PoolStep| step.stage == StepStage::Finished;
        if !works_apart(self.phase) {
            let step = self.pool.steps.iter().find(is_finished)?;
            let event = self.settled(step, StepEnd::Done, String::new());
            return Some(Event::StepSettled(event));
        }
        let is_free = !self.state.is_merging() && self.state.trees.undo().is_none();
        if !is_free || !self.pool.steps.iter().any(|step| is_finished(&step)) {
            return None;
        }
        let next =
            if self.is_race() { self.pool.winner().filter(is_finished)? } else { self.turn()? };
        let (Some(folder), Some(base)) = (next.folder?.number(), next.base.clone()) else {
            let event = self.settled(next, StepEnd::Done, String::new());
            return Some(Event::StepSettled(event));
        };
        // What was judged is merged, and nothing that a judge wrote beside it.
        let theirs = next.tree.clone().filter(|_| self.is_race());
        let began = began(&self.place, next, folder, base);
        Some(Event::MergeBegan(MergeBegan { theirs, ..began }))
    }

    fn turn(&self) -> Option<&PoolStep> {
        let is_finished = |step: &&PoolStep| step.stage == StepStage::Finished;
        match self.phase.merge.order {
            MergeOrder::InOrder => self.next_in_order().filter(is_finished),
            MergeOrder::Completion => {
                self.pool.steps.iter().filter(is_finished).min_by_key(|step| step.ended)
            }
        }
    }

    /// The step whose turn it is. Who failed, waits for a person or was given up is passed over, with all that wait for it: they must
    /// not hold up the others.
    fn next_in_order(&self) -> Option<&PoolStep> {
        let is_stuck = |step: &PoolStep| match step.stage {
            StepStage::Pending => step.gate.is_some(),
            StepStage::Working => step.slot.is_none() && self.rests(step),
            StepStage::Merging(_) | StepStage::Failed(_) | StepStage::Dropped => true,
            StepStage::Making
            | StepStage::Finished
            | StepStage::Judging
            | StepStage::Done
            | StepStage::Skipped
            | StepStage::Lost => false,
        };
        let passed = self.pool.behind(is_stuck);
        let is_awaited =
            |step: &&PoolStep| !step.stage.is_settled() && !passed.contains(step.item.id.as_str());
        self.pool.in_order().into_iter().find(is_awaited)
    }
}

/// The start of a merge of a step's folder as it is.
fn began(place: &Place, step: &PoolStep, folder: u32, base: TreeId) -> MergeBegan {
    let (place, step) = (place.clone(), step.id.clone());
    MergeBegan { place, step, folder, round: 1, base, theirs: None, favour: None }
}

/// What follows from a person's answer to a conflict.
pub(super) fn answered(state: &State, gate: &GateOpened, said: &str, who: &str) -> Option<Event> {
    let id = gate.step.as_ref()?;
    let step = state.pools.get(&gate.place)?.step(id)?;
    let merging = step.merging()?;
    let favour = match said {
        OURS => Some(Side::Ours),
        THEIRS => Some(Side::Theirs),
        AGAIN => merging.favour,
        DROP => {
            let (place, step, why) = (gate.place.clone(), id.clone(), String::new());
            let (how, who) = (StepEnd::Dropped, Some(who.to_owned()));
            // Only what a work folder has is merged.
            let (tree, in_project) = (None, false);
            let settled = StepSettled { place, step, how, why, who, tree, in_project };
            return Some(Event::StepSettled(settled));
        }
        _ => None,
    };
    let folder = merging.folder;
    if said == RESOLVED {
        // With marks in it, the folder is compared with what they were made from.
        let base = step.base.clone().unwrap_or_else(|| merging.base.clone());
        return Some(Event::MergeBegan(began(&gate.place, step, folder, base)));
    }
    // What was recorded before the marks, or before files were half written, is still the step's side.
    let (base, theirs) = merging.side(step.unmarked.as_ref());
    let again = began(&gate.place, step, folder, base);
    Some(Event::MergeBegan(MergeBegan { theirs, favour, ..again }))
}
