//! The phases of a run, each with what came of it.

use serde::{Deserialize, Serialize};

use super::Mark;
use super::run::Spent;
use crate::base::ids::{DONE, FramePath, Place};
use crate::definition::workflow::{Phase, PhaseKind, RACE_JUDGE, Workflow, derived_key};
use crate::state::State;
use crate::words;

/// One phase at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The phase, with the path of its frame.
    pub place: Place,
    /// The name that people see.
    pub name: String,
    /// Name of the sub-workflow, if any. Once it is entered, its phases follow this row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Its mark in the breadcrumbs.
    pub mark: Mark,
    /// Number of times it was entered.
    pub visits: usize,
    /// Number of attempts that were started there.
    pub attempts: usize,
    /// What its attempts spent.
    pub spent: Spent,
    /// Active time of its attempts.
    pub active_ms: u64,
    /// Files that changed in its attempts, up to a limit. While one is live, also those that its tools report as changed.
    pub files: Vec<String>,
    /// True if there are more files.
    pub more_files: bool,
    /// Added lines, summed over its attempts.
    pub added: u64,
    /// Removed lines, summed over its attempts.
    pub removed: u64,
    /// Summary of its last worker.
    pub summary: String,
    /// Why its last cleanup did not succeed, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncleaned: Option<String>,
}

/// Every phase in the order of its workflow; phases of an entered sub-workflow follow the phase that runs it.
pub(super) fn phases(state: &State) -> Vec<PhaseRow> {
    let mut places = Vec::new();
    if let Some(main) = state.run.as_ref().and_then(|run| run.workflows.first()) {
        add(state, main, &FramePath::root(), &mut places);
    }
    let was_entered = |place: &Place| state.tally(place).is_some_and(|tally| tally.visits > 0);
    // A run can have visited places that no workflow defines any more.
    let elsewhere = state.places.keys().filter(|it| was_entered(it) && !places.contains(it));
    let mut elsewhere: Vec<Place> = elsewhere.cloned().collect();
    elsewhere.sort_by_key(|place| state.tally(place).map(|tally| tally.first_visit));
    places.extend(elsewhere);
    places.into_iter().map(|place| phase_row(state, place)).collect()
}

fn add(state: &State, workflow: &Workflow, frame: &FramePath, places: &mut Vec<Place>) {
    for phase in &workflow.phases {
        let place = frame.place(&phase.id);
        let is_known = |known: &Place| state.tally(known).is_some_and(|tally| tally.visits > 0);
        // Most workflows name `done` only as an end. It is a row of its own where somebody worked there.
        if phase.id.as_str() == DONE && !is_known(&place) {
            continue;
        }
        let below = place.frame_below();
        let inner = phase.workflow.as_ref().and_then(|key| state.workflow(key));
        let was_entered = || state.places.keys().any(|it| it.frame() == below && is_known(it));
        let inner = inner.filter(|_| was_entered());
        places.push(place);
        if let Some(inner) = inner {
            add(state, inner, &below, places);
        }
    }
}

fn phase_row(state: &State, place: Place) -> PhaseRow {
    let tally = state.tally(&place).cloned().unwrap_or_default();
    let phase = definition(state, &place);
    let inner = phase.and_then(|phase| state.workflow(phase.workflow.as_ref()?));
    let mut files: Vec<String> = tally.changes.list.iter().map(|file| file.path.clone()).collect();
    // Trees know what changed once an attempt has ended. Until then its own tools are all there is to go by.
    let told = written(state, &place).filter(|path| !files.contains(path));
    files.extend(told.collect::<Vec<_>>());
    PhaseRow {
        name: phase.map_or_else(|| place.phase().to_string(), |phase| phase.name.clone()),
        // One that follows from a pool has the pool's own name.
        workflow: inner
            .filter(|inner| {
                phase.is_none_or(|phase| phase.run != PhaseKind::Pool || inner.name != phase.name)
            })
            .map(|inner| inner.name.clone()),
        mark: words::mark(state, &place),
        visits: tally.visits,
        attempts: tally.attempts,
        spent: Spent::from(&tally.usage),
        active_ms: tally.active_ms,
        more_files: tally.changes.is_cut(),
        added: tally.changes.added,
        removed: tally.changes.removed,
        files,
        uncleaned: tally.uncleaned.as_deref().map(words::unverified),
        summary: tally.summary,
        place,
    }
}

/// Files that the tools of a live attempt report as changed. What really changed is known once the files are recorded.
fn written<'a>(state: &'a State, place: &Place) -> impl Iterator<Item = String> + use<'a> {
    let works = state.live_attempts().any(|attempt| attempt.intent.place == *place);
    let frame = state.frames.get(&place.frame()).filter(|_| works);
    frame.into_iter().flat_map(|frame| frame.evidence.files.iter().cloned())
}

/// The phase at a place, even if its frame has ended: found from the run's own workflow inwards.
pub(super) fn definition<'a>(state: &'a State, place: &Place) -> Option<&'a Phase> {
    walked(state, &place.frame())?.phase(&place.phase())
}

/// The workflow that a frame walks.
fn walked<'a>(state: &'a State, frame: &FramePath) -> Option<&'a Workflow> {
    if frame.is_root() {
        return state.run.as_ref()?.workflows.first();
    }
    let around = Place::new(frame.as_str());
    // The frame of a step is named after its pool and itself: no phase is called like the step.
    inside(state, &around, RACE_JUDGE).or_else(|| {
        let pool = Place::new(around.frame().as_str());
        let phase = definition(state, &pool)?;
        let is_pool = matches!(phase.run, PhaseKind::Pool | PhaseKind::Race);
        is_pool.then(|| inside(state, &pool, around.phase().as_str())).flatten()
    })
}

/// The workflow in a phase; that of a race is its judge's, or that of one of its racers.
fn inside<'a>(state: &'a State, place: &Place, part: &str) -> Option<&'a Workflow> {
    let outer = walked(state, &place.frame())?;
    let phase = outer.phase(&place.phase())?;
    if phase.run == PhaseKind::Race {
        return state.workflow(&derived_key(&outer.key, &phase.id, Some(part)));
    }
    state.workflow(phase.workflow.as_ref()?)
}
