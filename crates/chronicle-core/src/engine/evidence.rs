//! Evidence: the `requires` of a phase are checked against the record, never against what a worker says.

use super::attempt::attempt;
use super::gate::intervene;
use crate::base::ids::{HUMAN_INTERVENTION, Outcome, PhaseId, SKIPPED};
use crate::definition::workflow::Phase;
use crate::event::{Event, Why};
use crate::state::{Frame, State, WayOut};
use crate::words;

/// Requirements that the record does not show, in words. None if the worker reports a failure or asks for a person.
pub(super) fn lacks(
    state: &State,
    frame: &Frame,
    phase: &Phase,
    target: Option<&PhaseId>,
    outcome: &Outcome,
) -> Vec<String> {
    if claims_nothing(target, outcome) {
        return Vec::new();
    }
    let lacks = frame.evidence.lacks(&phase.requires);
    lacks.iter().map(|lack| words::lack(lack, state.project())).collect()
}

/// True for a worker that reports a failure or asks for a person: nothing needs proof.
fn claims_nothing(target: Option<&PhaseId>, outcome: &Outcome) -> bool {
    let asks = target.is_some_and(|target| target.as_str() == HUMAN_INTERVENTION);
    outcome.is_failure() || outcome.as_str() == SKIPPED || asks
}

/// One step of the exit. The worker was believed when it left; now the files are recorded. It is sent back as often as reminders
/// allow, then a person is asked.
pub(super) fn demand(state: &State, frame: &Frame, phase: &Phase, way: &WayOut) -> Option<Event> {
    let lost = frame.evidence.lost && !claims_nothing(way.target.as_ref(), &way.outcome);
    // A person who approved has seen the work, but not what went with its folder after that.
    let shown = if way.approved {
        Vec::new()
    } else {
        lacks(state, frame, phase, way.target.as_ref(), &way.outcome)
    };
    // Only here and not at its signal: whether its files are there is known once they are recorded.
    let lost = lost.then(|| words::work_is_gone().to_owned());
    let missing: Vec<String> = lost.into_iter().chain(shown).collect();
    if missing.is_empty() {
        return None;
    }
    // Counted by itself and never reset by progress: files changed without end must not keep a person from being asked.
    if frame.worker.counters.lacking >= phase.limits.nudges {
        return Some(intervene(state, frame, words::never_proven(phase, &missing)));
    }
    Some(attempt(state, frame, Why::Lacking { missing: missing.join(", ") }))
}
