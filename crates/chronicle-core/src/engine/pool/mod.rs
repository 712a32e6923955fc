//! Pools: which step begins, whose work is merged next, and when the phase is over.
//!
//! Everything here is one question, asked again after each event: what follows in this pool? A step that waits for a person, or for
//! anything else, never keeps another one waiting. `merge.rs` has how work comes into the project, `report.rs` what performers say.

mod merge;
mod race;
mod report;

use std::collections::BTreeSet;

use super::chore;
use super::follow::moves;
use super::gate::{intervene, opened};
use super::{budget, sent};
use crate::base::ids::{COMPLETE, FolderId, FramePath, GateId, Outcome, Place, StepId};
use crate::definition::workflow::{Phase, PhaseKind, SETUP};
use crate::event::pool::{PlanOrigin, PoolPlanned, SlotFreed, SlotTaken, StepEnd, StepSettled};
use crate::event::{Event, FrameEntered, GateKind, GateOpened};
use crate::state::{
    FolderStage, Frame, MergeStage, Pool, PoolStep, Stage, State, StepStage, works_apart,
};
use crate::words;

pub(super) use race::too_late;
pub(super) use report::report;

/// Most steps of a pool that wait for people at once: as long as nobody answers, no more of them begin.
const WAITING_MAX: usize = 64;

/// Enters a pool, or enters it again after a person asked for another try.
pub(super) fn begin(state: &State, frame: &Frame) -> Event {
    if state.step_at(&frame.path).is_some() {
        return intervene(state, frame, words::pool_in_pool(&frame.place()));
    }
    let place = frame.place();
    let race = state.phase_at(&place).is_some_and(|phase| phase.run == PhaseKind::Race);
    Event::PoolEntered { place, race }
}

/// A pool, where it is and what the workflow says of it.
struct Here<'s> {
    state: &'s State,
    frame: &'s Frame,
    place: Place,
    phase: &'s Phase,
    pool: &'s Pool,
    /// Steps that others may build on.
    done: BTreeSet<&'s str>,
}

/// What follows in the pool that a frame is in; `None` if it waits, or if there is no pool.
pub(super) fn follow(state: &State, frame: &Frame) -> Option<Event> {
    let place = frame.place();
    let (phase, pool) = (state.phase_at(&place)?, state.pools.get(&place).filter(|it| !it.left)?);
    let here = Here { state, frame, place, phase, pool, done: pool.done() };
    if pool.version == 0 {
        return if here.is_race() { Some(here.plan_race()) } else { here.plan() };
    }
    let steps = || pool.steps.iter();
    // What has ended comes first, then what can be merged: both make room and let other steps begin.
    steps()
        .find_map(|step| here.settle(step))
        .or_else(|| steps().find_map(|step| here.go_on_merging(step)))
        .or_else(|| if here.is_race() { here.race() } else { here.merge_next() })
        .or_else(|| steps().find_map(|step| here.free(step)))
        .or_else(|| steps().find_map(|step| here.enter(step)))
        .or_else(|| here.fill())
        .or_else(|| here.end())
}

impl Here<'_> {
    fn plan(&self) -> Option<Event> {
        let (steps, version, from) = if !self.phase.steps.is_empty() {
            (self.phase.steps.clone(), 1, PlanOrigin::Workflow)
        } else if let Some(file) = &self.phase.steps_from {
            // Until then the file is being read.
            let why = self.pool.unread.as_ref()?;
            return Some(intervene(self.state, self.frame, words::steps_unread(file, why)));
        } else if let Some(plan) = &self.frame.plan {
            (plan.steps.clone(), plan.version, PlanOrigin::Worker)
        } else {
            return Some(intervene(self.state, self.frame, words::no_plan(&self.place)));
        };
        let place = self.place.clone();
        Some(Event::PoolPlanned(PoolPlanned { place, version, steps, from, race: false }))
    }

    /// A step whose folder could not be made has failed, and so has one that was sent back too often; one that a person gave up ends
    /// once nobody works there and it is put away.
    fn settle(&self, step: &PoolStep) -> Option<Event> {
        let (state, path) = (self.state, self.path(step));
        if let Some(asked) = &step.leaving {
            if sent::is_busy(state, &path).is_some() {
                return None;
            }
            // A worker that judges ends before a racer is changed, and what it has begun is put away.
            if self.is_judging() {
                return None;
            }
            if let Some(cleanup) = self.clean_judge() {
                return Some(cleanup);
            }
            if let Some(cleanup) = chore::of_steps(state, &path) {
                return Some(cleanup);
            }
            let event = self.settled(step, asked.how, asked.note.clone());
            return Some(Event::StepSettled(StepSettled { who: Some(asked.who.clone()), ..event }));
        }
        let failed = |why| Some(Event::StepSettled(self.settled(step, StepEnd::Failed, why)));
        if step.stage == StepStage::Pending && step.sent_back > self.phase.limits.loops.max {
            let said = step.task.as_deref().unwrap_or_default();
            return failed(words::never_fits(self.phase.limits.loops.max, said));
        }
        let number = step.folder.and_then(FolderId::number)?;
        match (&step.stage, &self.state.works.get(&number)?.at) {
            (StepStage::Making, FolderStage::Failed(why)) => failed(words::no_folder(why)),
            _ => None,
        }
    }

    fn settled(&self, step: &PoolStep, how: StepEnd, why: String) -> StepSettled {
        let is_ended = matches!(how, StepEnd::Skipped | StepEnd::Dropped);
        let in_project = is_ended && step.is_in_project();
        let (place, step) = (self.place.clone(), step.id.clone());
        StepSettled { place, step, how, why, who: None, tree: None, in_project }
    }

    fn path(&self, step: &PoolStep) -> FramePath {
        self.place.step_frame(&step.id)
    }

    fn is_open(&self, step: &PoolStep) -> bool {
        self.state.frames.contains_key(&self.path(step))
    }

    fn open(&self, step: &PoolStep, workflow: String) -> Event {
        let (frame, at) = (self.path(step), Some(self.place.clone()));
        Event::FrameEntered(FrameEntered { frame, workflow, at, step: Some(step.id.clone()) })
    }

    fn is_ready(&self, step: &PoolStep) -> bool {
        step.item.depends_on.iter().all(|id| self.done.contains(id.as_str()))
    }

    /// True if nothing happens in a step before a person has said something.
    fn rests(&self, step: &PoolStep) -> bool {
        let (state, path) = (self.state, self.path(step));
        let is_inside = |frame: &FramePath| frame.is_within(&path);
        let mut live = state.live_attempts().filter(|it| is_inside(&it.intent.place.frame()));
        let mut recorded = state.trees.after.values().map(|(_, place)| place.frame());
        if live.any(|attempt| !state.asks_person(attempt)) || recorded.any(|it| is_inside(&it)) {
            return false;
        }
        let mut frames = state.frames.values().filter(|frame| is_inside(&frame.path));
        !frames.any(|frame| {
            // A wait for a quota keeps its slot, and so does one for a budget that others share: another worker would only run into
            // the same limit.
            matches!(frame.stage, Stage::Waiting { .. })
                || budget::lacks_around(state, frame, &path)
                || moves(state, frame).is_some()
        })
    }

    /// A step that waits for a person lets another one work.
    fn free(&self, step: &PoolStep) -> Option<Event> {
        let is_resting = step.slot.is_some() && self.is_open(step) && self.rests(step);
        is_resting.then(|| {
            Event::SlotFreed(SlotFreed { place: self.place.clone(), step: step.id.clone() })
        })
    }

    /// The frame of a step that has a slot and a folder.
    fn enter(&self, step: &PoolStep) -> Option<Event> {
        if step.slot.is_none() || self.is_open(step) || step.leaving.is_some() {
            return None;
        }
        if let Some(merging) = step.merging() {
            let workflow =
                self.resolver(step, merging).filter(|_| merging.at == MergeStage::Conflict)?;
            return Some(self.open(step, workflow));
        }
        if step.stage != StepStage::Making || !self.state.is_made(step.folder?) {
            return None;
        }
        let setup = || self.state.derived_workflow(&self.place, SETUP);
        let workflow = if step.is_set_up { None } else { setup() };
        // A pool without a workflow of its steps is refused when it is loaded.
        let of_racer = || self.state.derived_workflow(&self.place, step.id.as_str());
        let own = || if self.is_race() { of_racer() } else { self.phase.workflow.clone() };
        let workflow = workflow.or_else(own);
        let workflow = workflow.filter(|key| self.state.workflow(key).is_some());
        Some(workflow.map_or_else(
            || {
                let why = words::no_step_workflow(&self.place);
                Event::StepSettled(self.settled(step, StepEnd::Failed, why))
            },
            |workflow| self.open(step, workflow),
        ))
    }

    /// Gives the lowest free slot to the first step that can use it.
    fn fill(&self) -> Option<Event> {
        let slot = self.free_slot()?;
        let steps = self.pool.steps.iter().filter(|step| step.leaving.is_none());
        let mut steps = steps.filter(|step| self.wants_slot(step));
        steps.find_map(|step| {
            if self.asks_before(step) {
                return self.may_begin(step);
            }
            let folder = step.folder.unwrap_or_else(|| {
                if works_apart(self.phase) {
                    FolderId::Work(self.state.next_folder())
                } else {
                    self.frame.folder
                }
            });
            let (place, step) = (self.place.clone(), step.id.clone());
            Some(Event::SlotTaken(SlotTaken { place, step, slot, folder }))
        })
    }

    fn free_slot(&self) -> Option<u32> {
        let is_taken = |slot: &u32| self.pool.steps.iter().any(|step| step.slot == Some(*slot));
        (1..=self.phase.slots()).find(|slot| !is_taken(slot))
    }

    fn wants_slot(&self, step: &PoolStep) -> bool {
        if step.slot.is_some() {
            return false;
        }
        match &step.stage {
            StepStage::Pending => self.is_ready(step) && !self.is_crowded(),
            StepStage::Working => !self.rests(step),
            StepStage::Merging(merging) => match merging.at {
                MergeStage::Conflict => {
                    step.gate.is_none() && self.resolver(step, merging).is_some()
                }
                MergeStage::Resolving => self.is_open(step) && !self.rests(step),
                MergeStage::Planning
                | MergeStage::Filling
                | MergeStage::Verifying
                | MergeStage::Writing
                | MergeStage::Stuck => false,
            },
            // Its folder was made in the slot that it has.
            StepStage::Making
            | StepStage::Finished
            | StepStage::Judging
            | StepStage::Done
            | StepStage::Failed(_)
            | StepStage::Skipped
            | StepStage::Dropped
            | StepStage::Lost => false,
        }
    }

    /// True if so many steps wait for people that no further one begins.
    fn is_crowded(&self) -> bool {
        let waits = |step: &&PoolStep| step.slot.is_none() && step.stage == StepStage::Working;
        self.pool.steps.iter().filter(waits).count() >= WAITING_MAX
    }

    /// True if a person is asked before a step begins: before each but the first.
    fn asks_before(&self, step: &PoolStep) -> bool {
        self.phase.pause_between
            && !step.has_begun()
            && !step.approved
            && self.pool.steps.iter().any(PoolStep::has_begun)
    }

    /// Asks about one step at a time.
    fn may_begin(&self, step: &PoolStep) -> Option<Event> {
        let asks = |other: &PoolStep| other.gate.is_some() && other.stage == StepStage::Pending;
        if self.pool.steps.iter().any(asks) {
            return None;
        }
        let about = words::may_begin_step(&self.place.of_step(&step.id), &step.item);
        let gate = opened(self.state, self.frame, GateKind::ApprovalBefore, about);
        Some(Event::GateOpened(GateOpened { step: Some(step.id.clone()), ..gate }))
    }

    /// The pool is over when every step is done. If nothing can go on before that, the gaps are named.
    fn end(&self) -> Option<Event> {
        let steps = &self.pool.steps;
        let goes_on = |step: &PoolStep| match &step.stage {
            StepStage::Making
            | StepStage::Working
            | StepStage::Finished
            | StepStage::Judging
            | StepStage::Merging(_) => true,
            // A pool without slots would wait for ever.
            StepStage::Pending => {
                step.gate.is_some() || (self.is_ready(step) && self.phase.slots() > 0)
            }
            StepStage::Done
            | StepStage::Failed(_)
            | StepStage::Skipped
            | StepStage::Dropped
            | StepStage::Lost => false,
        };
        if steps.iter().any(goes_on) {
            return None;
        }
        let (place, race) = (self.place.clone(), self.is_race());
        let is_won = self.pool.winner().is_some();
        if is_won || (!self.is_race() && steps.iter().all(|step| step.stage.is_done())) {
            let told = if is_won { words::race_done } else { words::pool_done };
            let (outcome, summary) = (Outcome::from(COMPLETE), told(self.pool));
            return Some(Event::PoolEnded { place, outcome, summary, race });
        }
        let (gaps, summary) = (Outcome::from("gaps"), words::gaps(&self.place, self.pool));
        if self.phase.on.contains_key(&gaps) {
            return Some(Event::PoolEnded { place, outcome: gaps, summary, race });
        }
        Some(intervene(self.state, self.frame, summary))
    }
}

/// What follows from a person's answer at a pool or in one: to a conflict, or to whose work is taken.
pub(super) fn answered(state: &State, gate: &GateOpened, said: &str, who: &str) -> Option<Event> {
    merge::answered(state, gate, said, who).or_else(|| race::chosen(state, gate, said, who))
}

/// Every gate that waits at whoever judges a race.
pub(super) fn gates_of_judge(state: &State, place: &Place) -> impl Iterator<Item = GateId> {
    let judge = state.judge_of(place).map(|frame| frame.path.clone());
    let open = state.open_gates().map(|gate| &gate.opened);
    let of_judge = move |gate: &&GateOpened| judge.as_ref() == Some(&gate.place.frame());
    open.filter(of_judge).map(|gate| gate.gate)
}

/// Every gate that waits in a step.
pub(super) fn gates_of<'s>(
    state: &'s State,
    place: &'s Place,
    step: &'s StepId,
) -> impl Iterator<Item = &'s GateOpened> {
    let path = place.step_frame(step);
    state.open_gates().map(|gate| &gate.opened).filter(move |gate| {
        let is_own = gate.place == *place && gate.step.as_ref() == Some(step);
        is_own || gate.place.frame().is_within(&path)
    })
}
