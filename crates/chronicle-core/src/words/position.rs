//! Where a run is, on one line: every frame it is inside of, and how far each is.

use serde::{Deserialize, Serialize};

use crate::base::ids::{DONE, FramePath, Outcome, Place, REWOUND, SKIPPED};
use crate::definition::workflow::{Phase, WORK, Workflow};
use crate::event::carried::{Carried, CarriedFrame};
use crate::state::{Frame, Stage, State, Status};

/// Where a frame is among its phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breadcrumb {
    /// The frame, empty for the outermost.
    pub frame: String,
    /// `Planning [✓] -> Implementation [●] -> Verification [ ]`
    pub text: String,
}

/// How far a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Its work is done.
    Done,
    /// It was left with an outcome that is not good.
    Failed,
    /// A person went on without it.
    Skipped,
    /// The run is there.
    Current,
    /// The run was there when it was cancelled or failed.
    Stopped,
    /// It was left for a person: whether its work is done is for them to say.
    ForPerson,
    /// It was not entered.
    Pending,
}

/// `Release > Review [2/3] > 🔍 Analysis [1/2]`: the workflow, then for each frame the phase it is at, of how many.
pub(crate) fn status_line(state: &State) -> String {
    let main = state.run.as_ref().and_then(|run| run.workflows.first());
    let name = main.map_or_else(String::new, |main| main.name.clone());
    let frames = state.frames.values().filter(|frame| !matches!(frame.stage, Stage::Ended(_)));
    // The steps of a pool are in many places at once: they are counted, and have rows of their own.
    let frames = frames.filter(|frame| state.step_at(&frame.path).is_none());
    let parts = frames.flat_map(|frame| {
        let pool = state.pools.get(&frame.place()).filter(|pool| !pool.left);
        let steps =
            pool.filter(|pool| !pool.steps.is_empty()).map(|pool| super::pool::done_of(pool));
        part(state, frame).into_iter().chain(steps)
    });
    std::iter::once(name).chain(parts).collect::<Vec<_>>().join(" > ")
}

/// Where the workers of a step are: its frames, outermost first. Empty where that says no more than that it is worked on.
pub(crate) fn step_line(state: &State, step: &FramePath) -> String {
    let inside = state
        .frames
        .values()
        .filter(|frame| frame.path.is_within(step) && !matches!(frame.stage, Stage::Ended(_)));
    let parts = inside.filter_map(|frame| {
        let workflow = state.workflow(&frame.workflow)?;
        let phases = workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE).count();
        if phases > 1 { part(state, frame) } else { Some(frame.phase.to_string()) }
    });
    let line = parts.collect::<Vec<_>>().join(" > ");
    if line == WORK { String::new() } else { line }
}

fn part(state: &State, frame: &Frame) -> Option<String> {
    let workflow = state.workflow(&frame.workflow)?;
    let phases = || workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE);
    let at = phases().position(|phase| phase.id == frame.phase)?;
    let name = name(state, phases().nth(at)?);
    Some(format!("{name} [{}/{}]", at + 1, phases().count()))
}

/// A phase that holds a workflow goes by that workflow's name.
fn name(state: &State, phase: &Phase) -> String {
    let inner = phase.workflow.as_deref().and_then(|key| state.workflow(key));
    match (inner, &phase.emoji) {
        (Some(Workflow { name, .. }), _) => name.clone(),
        (None, Some(emoji)) => format!("{emoji} {}", phase.name),
        (None, None) => phase.name.clone(),
    }
}

/// One line per frame, outermost first. Steps of pools have rows of their own.
pub(crate) fn breadcrumbs(state: &State) -> Vec<Breadcrumb> {
    crumbs(state, |path| state.step_at(path).is_none())
}

/// One line per frame on the way to a place, outermost first.
pub(crate) fn breadcrumbs_to(state: &State, place: &Place) -> Vec<Breadcrumb> {
    crumbs(state, |path| place.frame().is_within(path))
}

fn crumbs(state: &State, counts: impl Fn(&FramePath) -> bool) -> Vec<Breadcrumb> {
    state
        .frames
        .values()
        .filter(|frame| counts(&frame.path))
        .filter_map(|frame| {
            let workflow = state.workflow(&frame.workflow)?;
            Some(Breadcrumb {
                frame: frame.path.as_str().to_owned(),
                text: breadcrumb(state, &frame.path, workflow),
            })
        })
        .collect()
}

fn breadcrumb(state: &State, path: &FramePath, workflow: &Workflow) -> String {
    let shown = workflow.phases.iter().filter(|phase| phase.id.as_str() != DONE);
    let parts: Vec<String> = shown
        .map(|phase| {
            let sign = match mark(state, &path.place(&phase.id)) {
                Mark::Done => "✓",
                Mark::Failed => "✗",
                Mark::Skipped => "-",
                Mark::Current => "●",
                Mark::Stopped => "×",
                Mark::ForPerson => "?",
                Mark::Pending => " ",
            };
            format!("{} [{sign}]", phase.name)
        })
        .collect();
    parts.join(" -> ")
}

/// How a phase was left: never one way as another.
fn left(outcome: &Outcome) -> Mark {
    match outcome.as_str() {
        SKIPPED => Mark::Skipped,
        REWOUND => Mark::Pending,
        _ if outcome.is_failure() => Mark::Failed,
        _ => Mark::Done,
    }
}

/// How far the phase at a place is.
pub(crate) fn mark(state: &State, place: &Place) -> Mark {
    let known = state.tally(place).filter(|tally| tally.visits > 0);
    let here = state.frames.get(&place.frame()).is_some_and(|frame| {
        // A frame that is on its way to a phase has not entered it, and one that has ended works nowhere.
        frame.place() == *place && !matches!(frame.stage, Stage::Bound | Stage::Ended(_))
    });
    match known {
        Some(_) if here && matches!(state.status(), Status::Cancelled | Status::Failed) => {
            Mark::Stopped
        }
        Some(_) if here => Mark::Current,
        // Not done: what becomes of it is still open.
        Some(tally) if tally.is_left && tally.for_person => Mark::ForPerson,
        Some(tally) if tally.is_left => left(&tally.outcome),
        Some(_) | None => Mark::Pending,
    }
}

/// Where a run is carried to, behind a verb.
pub(super) fn at(carried: &Carried) -> String {
    let place = |frame: &CarriedFrame| format!(" at `{}`", frame.frame.place(&frame.phase));
    carried.innermost().map_or_else(String::new, place)
}

/// A run was taken back.
pub(super) fn rewound(to: u64, carried: &Carried) -> String {
    format!("taken back to line {to}{}", at(carried))
}
