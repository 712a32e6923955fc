//! Possible targets of a phase.

use super::Phase;
use crate::base::ids::{DONE, PhaseId};

/// Every target that a worker of this phase may name: `next`, the targets of `on`, and `done` at an end.
pub fn allowed_targets(phase: &Phase) -> Vec<PhaseId> {
    let mut targets: Vec<PhaseId> = Vec::new();
    // Behind the edges that are written: a worker is shown first what its author had in mind.
    let end = phase.next.is_empty().then(|| PhaseId::from(DONE));
    for target in phase.next.iter().chain(phase.on.values()).chain(end.iter()) {
        if !targets.contains(target) {
            targets.push(target.clone());
        }
    }
    targets
}
