//! When repeated transitions count as a loop, and what a person can do about it.
//!
//! An edge for an outcome (`on`) and starting over (`loop`) are counted by themselves. The edges that lead back to them are not
//! counted, so that every repair can be checked. Only cycles of plain `next` edges are counted, as pairs or per direction. So
//! every cycle has an edge that is counted.
//!
//! A workflow may have its loops judged by the issues that they resolve instead: then a loop continues while issues are opened or
//! resolved, up to a hard cap.

use std::collections::BTreeSet;

use super::follow::next_of;
use super::gate::opened;
use super::people::{emit_answer, refuse_over, who};
use super::scratch::Scratch;
use crate::base::ids::{DONE, GateId, HUMAN_INTERVENTION, PhaseId, Place};
use crate::base::limits::{LoopCount, LoopProgress};
use crate::definition::workflow::{Phase, Workflow, allowed_targets};
use crate::event::budget::Lack;
use crate::event::input::{Answer, By};
use crate::event::{Event, GateAnswer, GateKind, GateOpened, Issues};
use crate::state::{Frame, Stage, State};
use crate::words;

/// How an edge is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopWay {
    /// By itself: the workflow has it for an outcome.
    Outcome,
    /// Together with every other restart of the workflow.
    Over,
    /// As the limit says: it is part of a cycle of plain edges.
    Plain,
    /// Not at all: every cycle through it has an edge that is counted by itself.
    Free,
}

/// Opens a gate if a frame has taken this edge as often as it may.
pub(super) fn too_often(
    state: &State,
    frame: &Frame,
    to: &PhaseId,
    issues: &Issues,
) -> Option<Event> {
    let workflow = state.workflow(&frame.workflow)?;
    let phase = workflow.phase(&frame.phase)?;
    // Leaving the workflow can never be a loop.
    if [DONE, HUMAN_INTERVENTION].contains(&to.as_str()) {
        return None;
    }
    // The limit is that of the phase being left: it is the one that chooses the edge.
    let limit = phase.limits.loops;
    // With the `progress` policy, counts do not apply, except for its own cap.
    if let Some(progress) = limit.progress {
        let said = stagnates(frame, to, issues, progress);
        return said.map(|said| ask(state, frame, said));
    }
    let (taken, said) = match way(workflow, phase, to) {
        LoopWay::Free => return None,
        LoopWay::Outcome => one_way(frame, to),
        LoopWay::Over => {
            let taken = started_over(workflow, frame);
            (taken, words::started_over(&workflow.name, taken))
        }
        // An edge to itself has no opposite direction; counted as a pair it would count twice.
        LoopWay::Plain if limit.count == LoopCount::Edge || *to == frame.phase => {
            one_way(frame, to)
        }
        LoopWay::Plain => {
            let (there, back) = (frame.taken(&frame.phase, to), frame.taken(to, &frame.phase));
            let taken = there.saturating_add(back);
            // In a wider circle nobody went back the same way.
            let said = match (there, back) {
                (_, 0) => words::one_way(&frame.phase, to, there),
                (0, _) => words::one_way(to, &frame.phase, back),
                (_, _) => words::back_and_forth(&frame.phase, to, taken),
            };
            (taken, said)
        }
    };
    // `>=`, because `taken` does not include the transition at hand.
    let is_too_often = taken >= limit.max.saturating_add(frame.more_rounds);
    is_too_often.then(|| ask(state, frame, said))
}

/// Why a loop that is judged by issues must stop; `None` while it may continue. The transition at hand counts too.
fn stagnates(frame: &Frame, to: &PhaseId, issues: &Issues, limit: LoopProgress) -> Option<String> {
    let (from, more) = (&frame.phase, frame.more_rounds);
    let taken = frame.taken(from, to);
    if taken >= limit.cap.saturating_add(more) {
        return Some(words::one_way(from, to, taken));
    }
    // Judged as if the transition had happened, since the worker's issues come with it.
    let mut after = frame.rounds.clone();
    after.take(from, to, issues);
    let is_stuck = after.between(from, to) >= limit.bounce.saturating_add(more)
        && after.stagnant >= limit.stagnation
        && !after.issues.is_empty();
    is_stuck.then(|| words::stagnates(from, to, &after))
}

fn ask(state: &State, frame: &Frame, said: String) -> Event {
    let gate = opened(state, frame, GateKind::Intervention, said);
    Event::GateOpened(GateOpened { lack: Some(Lack::Rounds), ..gate })
}

fn one_way(frame: &Frame, to: &PhaseId) -> (u32, String) {
    let taken = frame.taken(&frame.phase, to);
    (taken, words::one_way(&frame.phase, to, taken))
}

fn way(workflow: &Workflow, phase: &Phase, to: &PhaseId) -> LoopWay {
    // Decided by the edge's target, not by how the worker left: a worker that names the target of `on` itself takes the same
    // edge.
    if phase.on.values().any(|target| target == to) {
        return LoopWay::Outcome;
    }
    if is_over(workflow, phase, to) {
        return LoopWay::Over;
    }
    if leads_back(workflow, to, &phase.id) { LoopWay::Plain } else { LoopWay::Free }
}

/// True if an edge can only come from a worker that starts the workflow over.
fn is_over(workflow: &Workflow, phase: &Phase, to: &PhaseId) -> bool {
    // An edge of the workflow to its first phase is an ordinary edge. Only a way that no edge allows is starting over.
    *to == workflow.initial && !allowed_targets(phase).contains(to)
}

/// True if plain edges lead from one phase to another.
fn leads_back(workflow: &Workflow, from: &PhaseId, to: &PhaseId) -> bool {
    let (mut known, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        let Some(phase) = workflow.phase(at) else { continue };
        // Edges of `on` are counted by themselves. If they took part here, the way from a repair back to its test would count
        // too.
        let is_plain = |target: &&PhaseId| !phase.on.values().any(|on| on == *target);
        // Each phase once: `insert` is false for what is known, so a circle comes to an end.
        open.extend(phase.next.iter().filter(is_plain).filter(|target| known.insert(target)));
    }
    false
}

/// How often workers have started the workflow of a frame over, from any phase.
fn started_over(workflow: &Workflow, frame: &Frame) -> u32 {
    let is_over = |from: &PhaseId, to: &PhaseId| {
        workflow.phase(from).is_some_and(|phase| is_over(workflow, phase, to))
    };
    let over = frame.edges.iter().filter(|edge| is_over(&edge.from, &edge.to));
    over.fold(0, |sum, edge| sum.saturating_add(edge.taken))
}

/// Allows more rounds. The run does not move: frames that wait for it continue as they would have.
pub(super) fn allow(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    more: u32,
) -> Answer {
    let place = match refuse_over(scratch.state())
        .and_then(|()| meant(scratch.state(), place, more).map_err(Answer::Refused))
    {
        Ok(place) => place,
        Err(refusal) => return refusal,
    };
    let text = words::rounds_allowed(&place, more);
    let waits = waits_for_rounds(scratch.state(), &place);
    scratch.emit(Event::LoopsAllowed { place: place.clone(), more, who: who(by) });
    // Too few rounds leave the gate open. Answering it would only open the same gate again.
    if let Some(gate) = waits.filter(|_| goes_on(scratch.state(), &place)) {
        emit_answer(scratch, by, gate, GateAnswer::Raised, "");
    }
    Answer::Accepted(text)
}

/// The place that a person means: the one named, otherwise the only one that waits for more rounds.
fn meant(state: &State, place: Option<&Place>, more: u32) -> Result<Place, String> {
    if more == 0 {
        return Err("say how many more rounds: `--loops +3`".to_owned());
    }
    if let Some(place) = place {
        let is_there = state.phase_at(place).is_some();
        return if is_there {
            Ok(place.clone())
        } else {
            Err(format!("the run is in no workflow with a phase `{place}`"))
        };
    }
    let mut waiting = state.frames.values().map(Frame::place);
    let mut waiting = waiting.by_ref().filter(|place| waits_for_rounds(state, place).is_some());
    match (waiting.next(), waiting.next()) {
        (Some(place), None) => Ok(place),
        (Some(one), Some(two)) => {
            Err(format!("several places wait for more rounds, name one: `{one}`, `{two}`"))
        }
        (None, _) => Err("no place waits for more rounds: name one".to_owned()),
    }
}

/// The gate that holds a place because it looped too often.
fn waits_for_rounds(state: &State, place: &Place) -> Option<GateId> {
    let frame = state.frames.get(&place.frame())?;
    let Stage::Gated { gate, .. } = &frame.stage else { return None };
    let opened = &state.gate(*gate)?.opened;
    (opened.lack == Some(Lack::Rounds)).then_some(*gate)
}

/// True if what is held there could continue now.
fn goes_on(state: &State, place: &Place) -> bool {
    let Some(frame) = state.frames.get(&place.frame()) else { return false };
    let Stage::Gated { held, .. } = &frame.stage else { return false };
    // Tries the held stage on a copy: the same table as in `follow.rs` decides.
    let freed = Frame { stage: (**held).clone(), ..frame.clone() };
    let next = next_of(state, &freed);
    !matches!(next, Some(Event::GateOpened(GateOpened { lack: Some(Lack::Rounds), .. })))
}
