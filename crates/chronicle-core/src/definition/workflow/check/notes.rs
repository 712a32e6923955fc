//! Notes about workflows that are valid.

use super::super::model::{Phase, PhaseKind, Workflow};
use crate::base::ids::{DONE, HUMAN_INTERVENTION, PhaseId};

/// Phases in which an agent may work without end: neither time, progress nor spending is limited.
pub fn unbounded(workflow: &Workflow) -> Vec<&PhaseId> {
    // What the run may spend bounds each of its phases.
    if workflow.budget.is_some() {
        return Vec::new();
    }
    let works = workflow.phases.iter().filter(|phase| {
        let is_end = [DONE, HUMAN_INTERVENTION].contains(&phase.id.as_str());
        // The phases of a workflow inside are judged by themselves.
        let is_pool =
            phase.run == PhaseKind::Pool && phase.workflow.is_none() && phase.commands.is_empty();
        !is_end && (is_pool || matches!(phase.run, PhaseKind::Worker | PhaseKind::Race))
    });
    let is_unbounded = |phase: &&Phase| {
        let limits = &phase.limits;
        limits.timeout_ms.is_none() && limits.standstill_ms.is_none() && phase.budget.is_none()
    };
    works.filter(is_unbounded).map(|phase| &phase.id).collect()
}
