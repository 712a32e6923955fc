//! The steps of pools, a row each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::run::Spent;
use crate::base::ids::{FolderId, FramePath, GateId, Place, TreeId};
use crate::base::usage::Usage;
use crate::definition::workflow::{Judge, Phase};
use crate::event::trees::Changes;
use crate::state::{Attempt, FolderStage, Pool, PoolStep, State, StepStage, WorkFolder};
use crate::words;

/// A pool with its steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRow {
    /// The phase that is the pool.
    pub place: Place,
    /// Number of the plan; 0 before there is one.
    pub plan: u32,
    /// How many steps may work at once.
    pub slots: u32,
    /// The choice among its steps, if it is a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceRow>,
    /// True once its phase was left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
    /// The steps, in the order of the plan.
    pub steps: Vec<StepRow>,
}

/// How far a race is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceRow {
    /// Who chooses: `person`, `commands`, or a phase.
    pub judge: String,
    /// Who judges now: attempt and agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// What a judge that is a worker spent.
    pub spent: Spent,
    /// The racer that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// Who took it, or took nobody, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// One step of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// Its place, as people name it: `build/step-2`.
    pub place: Place,
    /// The name that the plan gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How far it is, in a few words.
    pub state: String,
    /// True if something happens with it now, it waits for a person, or it was stopped before its end in a run that is not over.
    pub live: bool,
    /// True if its work is done.
    pub done: bool,
    /// True if it failed or was given up.
    pub failed: bool,
    /// Its slot, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// Steps that must be done before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Number of the work folder that it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<u32>,
    /// Where its workers are: `Review [2/3] > Analysis [1/2]`; empty for a step of a single phase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line: String,
    /// Who works on it: attempt and agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The gate that it waits at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    /// What its attempts spent.
    pub spent: Spent,
    /// Active time of its attempts.
    pub active_ms: u64,
    /// What it changed, if it takes part in a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Its files as its worker left them, if it takes part in a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeId>,
    /// Summary of its last worker, or why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

/// A work folder that is there, or is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderRow {
    /// Its number in the run.
    pub number: u32,
    /// The step that works in it.
    pub place: Place,
    /// How far it is, in a word.
    pub state: String,
    /// Where it is on this machine; set by whoever knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Files in it that cannot be recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
}

pub(super) fn pools(state: &State, supervised: bool) -> Vec<PoolRow> {
    let row = |(place, pool): (&Place, &Arc<Pool>)| pool_row(state, place, pool, supervised);
    state.pools.iter().map(row).collect()
}

fn pool_row(state: &State, place: &Place, pool: &Pool, supervised: bool) -> PoolRow {
    let phase = super::phase::definition(state, place);
    PoolRow {
        place: place.clone(),
        plan: pool.version,
        slots: phase.map_or(0, Phase::slots),
        race: pool.race.as_ref().map(|_| race_row(state, place, phase, pool)),
        left: pool.left,
        steps: pool
            .steps
            .iter()
            .map(|step| step_row(state, (place, pool), step, supervised))
            .collect(),
    }
}

fn race_row(state: &State, place: &Place, phase: Option<&Phase>, pool: &Pool) -> RaceRow {
    let judge = match phase.and_then(|phase| phase.judge.as_ref()) {
        Some(Judge::Phase(phase)) => phase.to_string(),
        Some(Judge::Commands(_)) => "commands".to_owned(),
        Some(Judge::Person) | None => "person".to_owned(),
    };
    let decided = pool.decided();
    // At the place of the race itself, beside the frames of the racers.
    let path = place.frame_below();
    let of_judge = state.places.iter().filter(|(place, _)| place.frame() == path);
    let usage = of_judge.fold(Usage::default(), |usage, (_, tally)| usage.plus(&tally.usage));
    let mut live = state.live_attempts().filter(|it| it.intent.place.frame() == path);
    RaceRow {
        judge,
        worker: live.next().map(worker),
        spent: Spent::from(&usage),
        winner: pool.winner().map(|step| step.id.to_string()),
        by: decided.map(|it| words::decided_by(&it.by)).unwrap_or_default(),
    }
}

fn step_row(
    state: &State,
    (at, pool): (&Place, &Pool),
    step: &PoolStep,
    supervised: bool,
) -> StepRow {
    let path = at.step_frame(&step.id);
    let inside = |place: &Place| place.frame().is_within(&path);
    let tallies = state.places.iter().filter(|(place, _)| inside(place));
    let (usage, active_ms) = tallies.fold((Usage::default(), 0_u64), |(usage, ms), (_, tally)| {
        (usage.plus(&tally.usage), ms.saturating_add(tally.active_ms))
    });
    let mut gates = state.open_gates().map(|gate| &gate.opened);
    let asked =
        gates.find(|gate| gate.gate == step.gate.unwrap_or(GateId(0)) || inside(&gate.place));
    // Gates of a run that was given up stay open in the record, but nobody is asked any more.
    let gate = asked.filter(|gate| state.can_answer(gate.gate));
    let asked_in_vain = asked.is_some() && gate.is_none();
    // Nothing goes on without a supervisor, whatever the ledger says last.
    let goes_on = is_live(&step.stage) && step.stage != StepStage::Finished;
    let is_stopped = (!supervised || state.is_over()) && gate.is_none() && goes_on;
    let failure = if let StepStage::Failed(why) = &step.stage { Some(why) } else { None };
    StepRow {
        place: at.of_step(&step.id),
        name: step.item.name.clone(),
        // Whoever paused it knows why nobody works there.
        state: if asked_in_vain && step.stage == StepStage::Pending {
            "not begun".to_owned()
        } else if asked_in_vain
            || is_stopped && (state.paused.is_none() || worker_of(state, &path).is_some())
        {
            "stopped".to_owned()
        } else {
            words::step_state(state, at, pool, step)
        },
        live: gate.is_some() || is_live(&step.stage) && !state.is_over(),
        done: step.stage.is_done(),
        failed: matches!(step.stage, StepStage::Failed(_) | StepStage::Dropped),
        slot: step.slot,
        depends_on: step.item.depends_on.clone(),
        folder: step.folder.and_then(FolderId::number),
        line: words::step_line(state, &path),
        worker: worker_of(state, &path).filter(|_| supervised).map(worker),
        gate: gate.map(|gate| gate.gate),
        spent: Spent::from(&usage),
        active_ms,
        changes: pool.race.as_ref().and_then(|_| state.raced(at, &step.id)).cloned(),
        tree: pool.race.as_ref().and_then(|_| step.tree.clone()),
        summary: failure.unwrap_or(&step.summary).clone(),
    }
}

fn worker_of<'s>(state: &'s State, step: &FramePath) -> Option<&'s Attempt> {
    state.live_attempts().find(|attempt| attempt.intent.place.frame().is_within(step))
}

fn worker(attempt: &Attempt) -> String {
    format!("{} {}", attempt.intent.attempt, words::agent_name(&attempt.intent.agent))
}

fn is_live(stage: &StepStage) -> bool {
    match stage {
        StepStage::Making
        | StepStage::Working
        | StepStage::Finished
        | StepStage::Judging
        | StepStage::Merging(_) => true,
        StepStage::Pending
        | StepStage::Done
        | StepStage::Failed(_)
        | StepStage::Skipped
        | StepStage::Dropped
        | StepStage::Lost => false,
    }
}

/// True if somebody works in a folder now, or is about to.
fn is_used(state: &State, number: u32) -> bool {
    state.live_attempts().any(|attempt| attempt.intent.folder.number() == Some(number))
}

pub(super) fn folders(state: &State) -> Vec<FolderRow> {
    let row = |(number, work): (&u32, &WorkFolder)| FolderRow {
        number: *number,
        place: work.place.of_step(&work.step),
        state: match &work.at {
            FolderStage::Wanted => "is being made".to_owned(),
            FolderStage::Made if is_used(state, *number) => "in use".to_owned(),
            FolderStage::Made => "nobody works there".to_owned(),
            FolderStage::Leaving => "is being removed".to_owned(),
            FolderStage::Kept => "kept".to_owned(),
            FolderStage::Failed(_) => "could not be made".to_owned(),
        },
        path: None,
        unrecorded: work.unrecorded.clone(),
    };
    state.works.iter().map(row).collect()
}
