//! `fallback`: an agent that could not go on is not tried again, so each may stand there once.

use super::super::draft::Draft;
use super::super::fallback::agent_and_model;
use super::super::model::{Phase, Workflow};
use super::super::problem::{Finding, Problems, quoted};

/// Tells every agent that a phase names twice.
pub(crate) fn judge(workflow: &Workflow, draft: &Draft, problems: &mut Problems) {
    for phase in &workflow.phases {
        let at = draft.locate(Some(phase.id.as_str()), "fallback");
        for (index, agent) in phase.fallback.iter().enumerate() {
            if phase.fallback[..index].contains(agent) {
                let message = format!("{} stands in `fallback` twice", quoted(agent));
                problems.push(Finding::error("repeated-agent", at, message).hint("name it once"));
            } else if is_first(workflow, phase, agent) {
                let message =
                    format!("{} is the agent that works first in this phase", quoted(agent));
                let hint = "name another agent, or another model of it, such as `claude:MODEL`";
                problems.push(Finding::error("repeated-agent", at, message).hint(hint));
            }
        }
    }
}

/// Whether an entry is what the phase begins with, as far as the file says so.
fn is_first(workflow: &Workflow, phase: &Phase, named: &str) -> bool {
    let (agent, model) = agent_and_model(named);
    let first = phase.agent.as_deref().or(workflow.agent.as_deref());
    let of_first = phase.model.as_deref().or(workflow.model.as_deref());
    // Another model of the same program is another agent here: it may have a quota of its own.
    let is_it = |first: Option<&str>, of_first: Option<&str>| {
        first == Some(agent) && (model.is_none() || model == of_first)
    };
    if phase.workers.is_empty() {
        return is_it(first, of_first);
    }
    // In a race each worker begins with its own.
    phase
        .workers
        .iter()
        .any(|racer| is_it(racer.agent.as_deref().or(first), racer.model.as_deref().or(of_first)))
}
