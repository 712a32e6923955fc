//! What follows without any input: one table over the stages of frames.
//!
//! What each stage leads to has a file of its own: `enter.rs` (into a phase), `attempt.rs` (starts), `mend.rs` (after an attempt
//! that failed), `parting.rs` (after one that needs something first), `out.rs` (out of a phase).

use super::gate::intervene;
use super::scratch::Scratch;
use super::{apart, attempt, budget, chore, enter, mend, out, parting, permission, pool, sent};
use crate::base::ids::{FramePath, Outcome};
use crate::base::limits::DECISION_EVENTS_MAX;
use crate::event::{Event, OnGate};
use crate::state::{Frame, Stage, State};
use crate::words;

/// Adds consequences until there are none. A workflow that loops without any work is held for a person.
pub(super) fn advance(scratch: &mut Scratch<'_>) {
    // A refusal, or an event without consequences: nothing can follow that did not follow before.
    if !scratch.is_changed() {
        return;
    }
    while let Some(event) = follows(scratch.state()) {
        // A decision is one line and must end. Only a cycle of phases without any work can get here.
        if scratch.count() >= DECISION_EVENTS_MAX {
            hold_all(scratch);
            return;
        }
        scratch.emit(event);
    }
}

fn hold_all(scratch: &mut Scratch<'_>) {
    // Every frame that would still move is held by a gate of its own, so that a person sees where it turns.
    let turning: Vec<FramePath> = scratch.state().frames.keys().cloned().collect();
    for path in turning {
        let state = scratch.state();
        if let Some(frame) = state.frames.get(&path)
            && next_of(state, frame).is_some()
        {
            let event = intervene(state, frame, words::TURNS_WITHOUT_WORK.to_owned());
            scratch.emit(event);
        }
    }
}

/// The next event that needs no input; `None` if the run waits for the world or for a person.
fn follows(state: &State) -> Option<Event> {
    // After the end too: that is when a run that worked apart is merged.
    if let Some(asks) = apart::asks(state) {
        return Some(asks);
    }
    if state.cancelled.is_some() || state.failed.is_some() {
        // What is given up puts away what it has begun, and nothing else follows.
        return chore::given_up(state);
    }
    // While files are being restored nothing may start on them; the end of the undo is an input and leads back here.
    if state.done || state.trees.undo().is_some() {
        return None;
    }
    // Also while the run is paused: a person's `go` takes effect at once, and the run continues from there when it is
    // resumed.
    if let Some(step) = sent::follow(state) {
        return Some(step);
    }
    if state.paused.is_some() {
        return None;
    }
    if apart::is_without_folder(state) {
        return apart::without_folder(state);
    }
    if let Stage::Ended(outcome) = &state.frames.get(&FramePath::root())?.stage {
        return Some(end_of_run(state, outcome));
    }
    // `on_gate: fail` comes first, and an attempt over its budget is stopped before any frame moves on.
    // Exactly one event per call, in a fixed order: the same state must lead to the same events, on any machine and when the
    // line is decided again.
    let spent = || budget::follow(state);
    fails(state)
        .or_else(|| permission::follow(state))
        .or_else(spent)
        .or_else(|| state.frames.values().find_map(|frame| next_of(state, frame)))
}

/// A workflow that ended with a failure outcome has failed.
fn end_of_run(state: &State, outcome: &Outcome) -> Event {
    let root = state.frames.get(&FramePath::root()).filter(|_| outcome.is_failure());
    root.map_or(Event::RunDone, |root| Event::RunFailed { reason: words::ended_badly(root) })
}

/// A run with `on_gate: fail` fails at its first gate.
fn fails(state: &State) -> Option<Event> {
    let is_so = state.run.as_ref().is_some_and(|run| run.on_gate == Some(OnGate::Fail));
    let gate = state.open_gates().next().filter(|_| is_so)?;
    Some(Event::RunFailed { reason: words::nobody_stays(&gate.opened) })
}

pub(super) fn next_of(state: &State, frame: &Frame) -> Option<Event> {
    // A step without a slot waits for one, whatever it could do.
    if state.lacks_slot(&frame.path) { None } else { moves(state, frame) }
}

/// What a frame would do next if it had a slot.
pub(super) fn moves(state: &State, frame: &Frame) -> Option<Event> {
    // Nothing follows until the files of the last attempt are recorded. Otherwise its changes would be attributed to the
    // next one.
    if state.trees.is_awaited_at(&frame.path) || state.is_sent(&frame.path) {
        return None;
    }
    let event = stage_follows(state, frame)?;
    // One gate for each account: all who lack the same wait for the same answer.
    if budget::is_asked_elsewhere(state, frame, &event) { None } else { Some(event) }
}

/// What its stage leads to, whatever else the frame waits for.
pub(super) fn stage_follows(state: &State, frame: &Frame) -> Option<Event> {
    match &frame.stage {
        Stage::Bound => chore::behind(state, frame).or_else(|| Some(enter::enter(state, frame))),
        Stage::Entered { approved } => Some(enter::begin(state, frame, *approved)),
        Stage::Ready { why } => Some(attempt::start(state, frame, why.clone())),
        // A worker is not restarted just to wait for the same answer.
        Stage::Broken { .. } if state.has_question(&frame.path) => None,
        Stage::Broken { attempt, end } => Some(mend::mend(state, frame, *attempt, end)),
        Stage::BrokeOff { parting } => Some(parting::follow(state, frame, parting)),
        Stage::Left(way) => Some(out::leave(state, frame, way)),
        Stage::Refused { note } => Some(out::refused(state, frame, note)),
        Stage::Inside => pool::follow(state, frame),
        Stage::Working { .. }
        | Stage::Chore { .. }
        | Stage::Gated { .. }
        | Stage::Waiting { .. }
        | Stage::Ended(_) => None,
    }
}
