//! Entering a phase: approval first, then the worker.

use super::gate::{gate, intervene, question};
use super::{attempt, pool};
use crate::base::ids::{COMPLETE, DONE, HUMAN_INTERVENTION, Outcome, SKIPPED};
use crate::definition::workflow::allowed_targets;
use crate::definition::workflow::{Phase, PhaseKind};
use crate::event::{Event, FrameEntered, GateKind, Question, Why};
use crate::state::{Frame, State};
use crate::words;

pub(super) fn enter(state: &State, frame: &Frame) -> Event {
    match frame.phase.as_str() {
        DONE => {
            let (path, summary) = (frame.path.clone(), frame.summary.clone());
            Event::FrameEnded { frame: path, outcome: outcome_of(state, frame), summary }
        }
        // A word of every workflow: a phase of that name never works, in whatever file it stands.
        HUMAN_INTERVENTION => {
            let outcome = frame.left.as_ref().map(|(_, outcome)| outcome);
            intervene(state, frame, words::bound_for_person(outcome, &frame.summary))
        }
        _ => Event::PhaseEntered { place: frame.place() },
    }
}

/// Outcome of a frame: that of its last phase if it failed, unless the workflow itself declares it an end.
fn outcome_of(state: &State, frame: &Frame) -> Outcome {
    let complete = || Outcome::from(COMPLETE);
    let Some((from, outcome)) = &frame.left else { return complete() };
    let phase = state.workflow(&frame.workflow).and_then(|workflow| workflow.phase(from));
    let way = phase.and_then(|phase| phase.on.get(outcome));
    let is_meant = way.is_some_and(|to| to.as_str() == DONE);
    // A failure stays one at the end of the workflow, unless the workflow says that this outcome leads to `done`: then it is an
    // end that its author meant.
    let is_open = outcome.is_failure() || outcome.as_str() == SKIPPED;
    if is_open && !is_meant { outcome.clone() } else { complete() }
}

pub(super) fn begin(state: &State, frame: &Frame, approved: bool) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    // Before anything else of the phase: no process may start before a person has agreed.
    if phase.approval.is_before() && !approved {
        return gate(state, frame, GateKind::ApprovalBefore, words::may_begin(phase));
    }
    match (phase.run, &phase.workflow) {
        (PhaseKind::Worker | PhaseKind::Command, _) => attempt::attempt(state, frame, Why::First),
        (PhaseKind::Workflow, Some(key)) if state.workflow(key).is_some() => {
            Event::FrameEntered(FrameEntered {
                frame: place.frame_below(),
                workflow: key.clone(),
                at: Some(place),
                step: None,
            })
        }
        (PhaseKind::Human, _) => by_hand(state, frame, phase),
        (PhaseKind::Pool | PhaseKind::Race, _) => pool::begin(state, frame),
        // Refused when the workflow is loaded, unless a person has accepted what this version cannot do.
        (PhaseKind::Workflow | PhaseKind::Inline, _) => {
            intervene(state, frame, words::cannot_run(phase))
        }
    }
}

/// A person does the phase and says when it is done; with several possible targets, they choose one.
fn by_hand(state: &State, frame: &Frame, phase: &Phase) -> Event {
    let about = words::by_hand(phase);
    let targets = allowed_targets(phase);
    // One way out: a yes is enough. Several: the person has to choose.
    if targets.len() == 1 {
        return gate(state, frame, GateKind::ApprovalAfter, about);
    }
    let options = targets.iter().map(ToString::to_string).collect();
    let asked = Question { question: about, options, context: String::new(), closed: true };
    question(state, frame, &asked)
}
