//! Out of a phase, in this order and no other:
//!
//! signal accepted → every tool but status denied → the turn ends, or grace → strays stopped (`due.rs`, `world.rs`)
//! → tree → **evidence** → verify → **claims, approval after, loop counted** → cleanup → **edge taken** (here)
//! → approval before the target → budget → tree → attempt (`enter.rs`, `attempt.rs`).

use super::chore::{cleanup, verify};
use super::evidence::demand;
use super::gate::{intervene, opened};
use super::loops::too_often;
use super::target::resolve;
use crate::base::ids::{COMPLETE, DONE, Outcome, PhaseId, REJECTED, SKIPPED};
use crate::base::verdict::{Judged, verdict};
use crate::definition::workflow::{Phase, PhaseKind};
use crate::event::claims::Unproven;
use crate::event::{EdgeTaken, Event, GateKind, GateOpened, Mover};
use crate::state::claims;
use crate::state::{Frame, State, WayOut};
use crate::words;

/// One step of the exit: returns what follows, or `None` so that the next step is tried.
type ExitStep = fn(&State, &Frame, &Phase, &WayOut) -> Option<Event>;

/// Steps between the end of the work and the next phase. Each is asked again after every event, so it must derive from the state
/// whether it is done.
const WAY_OUT: [ExitStep; 5] = [
    // The tree after the worker is recorded by now (`follow.rs`). Cheap checks come first, a person is asked last.
    demand, verify, doubt, approve, edge,
];

pub(super) fn leave(state: &State, frame: &Frame, way: &WayOut) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    // Asked from the start after each event: a step that is satisfied answers `None` and costs nothing, so where the way out
    // stands needs no state of its own.
    let next = WAY_OUT.iter().find_map(|step| step(state, frame, phase, way));
    next.unwrap_or_else(|| intervene(state, frame, words::no_such_phase(&place)))
}

/// Compares the worker's claims with the record. Reported once, and again only if they change.
fn doubt(state: &State, frame: &Frame, _: &Phase, way: &WayOut) -> Option<Event> {
    let place = frame.place();
    let known = state.visit_at(&place).map_or(&[][..], |visit| visit.unproven.as_slice());
    let claims = claims::unproven(state, frame, &way.summary);
    // Compared with what was reported before, because every step is asked again after each event.
    (!way.approved && claims != known).then_some(Event::ClaimsUnproven(Unproven { place, claims }))
}

fn approve(state: &State, frame: &Frame, phase: &Phase, way: &WayOut) -> Option<Event> {
    let is_asked = phase.approval.is_after() && !way.approved;
    let shown = if phase.shows_verdict { words::verdict(verdict_of(frame, way)) } else { "" };
    let about = || words::may_leave(phase, way, target(phase, way).ok().as_ref(), shown);
    let unproven = || state.visit_at(&frame.place()).map(|visit| words::unproven(&visit.unproven));
    is_asked.then(|| {
        let gate = opened(state, frame, GateKind::ApprovalAfter, about());
        Event::GateOpened(GateOpened { context: unproven().unwrap_or_default(), ..gate })
    })
}

/// What the worker decided, in its summary or behind it. Whatever it is, a person is asked.
fn verdict_of(frame: &Frame, way: &WayOut) -> Option<Judged> {
    // A worker may state its verdict in its last message instead of the summary.
    verdict(&format!("{}\n\n{}", way.summary, frame.said_here))
}

#[expect(clippy::unnecessary_wraps, reason = "a step like the others, and the last")]
fn edge(state: &State, frame: &Frame, phase: &Phase, way: &WayOut) -> Option<Event> {
    Some(match target(phase, way) {
        Ok(to) => take(state, frame, &to, way),
        Err(why) => intervene(state, frame, why),
    })
}

/// The target of an exit.
fn target(phase: &Phase, way: &WayOut) -> Result<PhaseId, String> {
    match &way.target {
        Some(target) => Ok(target.clone()),
        // A skipped phase continues where `complete` would have led.
        None if way.outcome.as_str() == SKIPPED => resolve(phase, None, &Outcome::from(COMPLETE)),
        // A sub-workflow failed, and the outer one has no edge for that: it has failed too.
        None if is_failed_inside(phase, way) => Ok(PhaseId::from(DONE)),
        None => resolve(phase, None, &way.outcome),
    }
}

fn is_failed_inside(phase: &Phase, way: &WayOut) -> bool {
    let is_inside = phase.run == PhaseKind::Workflow;
    is_inside && way.outcome.is_failure() && !phase.on.contains_key(&way.outcome)
}

pub(super) fn refused(state: &State, frame: &Frame, note: &str) -> Event {
    let rejected = Outcome::from(REJECTED);
    let on = state.phase_at(&frame.place()).and_then(|phase| phase.on.get(&rejected));
    match on {
        Some(to) => take(state, frame, to, &WayOut::new(rejected, note.to_owned())),
        None => intervene(state, frame, words::rejected_before(note)),
    }
}

/// Takes an edge, unless it was taken too often. Cleanup runs first, whoever moves the frame.
pub(super) fn take(state: &State, frame: &Frame, to: &PhaseId, way: &WayOut) -> Event {
    // Before cleanup: a loop that a person has to judge should be seen with everything still in place.
    if let Some(asked) = too_often(state, frame, to, &way.issues) {
        return asked;
    }
    // Right before the edge, and nowhere earlier: until then the worker's session may have to continue in this place.
    if let Some(first) = cleanup(state, frame) {
        return first;
    }
    Event::EdgeTaken(EdgeTaken {
        frame: frame.path.clone(),
        from: frame.phase.clone(),
        to: to.clone(),
        outcome: way.outcome.clone(),
        summary: way.summary.clone(),
        by: Mover::Run,
        task: way.task.clone(),
        issues: way.issues.clone(),
    })
}
