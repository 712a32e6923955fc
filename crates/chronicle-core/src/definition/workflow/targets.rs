//! Possible targets of a phase.

use super::{Phase, PhaseKind};
use crate::base::ids::{COMPLETE, DONE, Outcome, PhaseId};

/// Every target that a worker of this phase may name: `next`, the targets of `on`, and `done` at an end. Where a verdict decides, an
/// end is written down: a pass has its way, and a no must not end the workflow because nothing else is said.
pub fn allowed_targets(phase: &Phase) -> Vec<PhaseId> {
    let mut targets: Vec<PhaseId> = Vec::new();
    // Behind the edges that are written: a worker is shown first what its author had in mind.
    let is_decided =
        phase.run == PhaseKind::Worker && phase.on.contains_key(&Outcome::from("pass"));
    let end = (phase.next.is_empty() && !is_decided).then(|| PhaseId::from(DONE));
    for target in phase.next.iter().chain(phase.on.values()).chain(end.iter()) {
        if !targets.contains(target) {
            targets.push(target.clone());
        }
    }
    targets
}

/// Where a phase leads if nobody names a target: the edge of `on` for the outcome, the only `next`, or `done` at an end. `None` if
/// there are several ways on, or only a verdict leads on.
pub fn only_target(phase: &Phase, outcome: &Outcome) -> Option<PhaseId> {
    if let Some(target) = phase.on.get(outcome) {
        return Some(target.clone());
    }
    if is_left_by_verdict(phase, outcome) {
        return None;
    }
    match phase.next.as_slice() {
        [] => Some(PhaseId::from(DONE)),
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// True if this outcome leads nowhere because the worker's verdict decides.
pub fn is_left_by_verdict(phase: &Phase, outcome: &Outcome) -> bool {
    outcome.as_str() == COMPLETE && phase.run == PhaseKind::Worker && phase.asks_verdict()
}

/// True if a person may go on without the work of a phase: only one way leads on from it.
pub fn is_skippable(phase: &Phase) -> bool {
    only_target(phase, &Outcome::from(COMPLETE)).is_some()
}
