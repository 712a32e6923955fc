//! What is good to know about a workflow that is sound.

use super::super::model::{PhaseKind, Workflow};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, PhaseId};

/// Phases in which an agent may work for ever: nothing limits its time, and nothing what is spent.
pub fn unbounded(workflow: &Workflow) -> Vec<&PhaseId> {
    if workflow.budget.is_some() {
        return Vec::new();
    }
    let works = workflow.phases.iter().filter(|phase| {
        let is_end = [DONE, HUMAN_INTERVENTION].contains(&phase.id.as_str());
        !is_end && phase.run == PhaseKind::Worker
    });
    works
        .filter(|phase| phase.limits.timeout_ms.is_none() && phase.budget.is_none())
        .map(|phase| &phase.id)
        .collect()
}
