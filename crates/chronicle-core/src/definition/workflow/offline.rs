//! Phases without a network whose agent could not reach its model.

use super::expand::derived_key;
use super::fallback::agent_and_model;
use super::model::{Phase, PhaseKind, Workflow};
use crate::base::ids::{DONE, PhaseId};
use crate::definition::walls::{WallNetwork, Walls};

/// A phase without a network, and an agent of it that needs one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offline<'w> {
    /// The phase that the agent would work at.
    pub phase: &'w PhaseId,
    /// The agent, as a file or a person named it.
    pub agent: String,
    /// The phase that turns the network off; `None` if its workflow or the settings do.
    pub said_by: Option<&'w PhaseId>,
    /// True if neither the phase nor the workflow says it: the settings do.
    pub by_settings: bool,
}

impl Offline<'_> {
    /// What is wrong, for people.
    pub fn sentence(&self) -> String {
        let (phase, agent) = (self.phase, &self.agent);
        format!("`{phase}` has no network, and the agent `{agent}` cannot work without its model")
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let phase = self.phase;
        let instead = "keep `network: off` for phases that run commands";
        if self.said_by.is_some() {
            return format!("take `network: off` out of `{phase}`, or have it done by commands");
        }
        format!("say `walls: {{network: on}}` at `{phase}`, and {instead}")
    }
}

/// Every phase whose walls leave it no network although one of its agents needs it. `settings` are the walls around the workflow, `agent`
/// is who works where neither phase nor workflow names somebody, and empty if that is not known. Names of a person's own must have
/// become `command:…` before.
pub fn offline<'w>(workflow: &'w Workflow, settings: &Walls, agent: &str) -> Vec<Offline<'w>> {
    let around = settings.clone().and(&workflow.walls);
    let is_off = |phase: &&Phase| {
        let network = phase.walls.network.or(around.network);
        is_worked_at(workflow, phase) && network == Some(WallNetwork::Off)
    };
    let found = |phase: &'w Phase| {
        let named = phase.agent.as_deref().or(workflow.agent.as_deref()).unwrap_or(agent);
        let others = phase.fallback.iter().map(|other| agent_and_model(other).0);
        // In a race, the phase's agent works only for those that name none.
        let racers = phase.workers.iter().map(|racer| racer.agent.as_deref().unwrap_or(named));
        let first = Some(named).filter(|_| phase.workers.is_empty());
        let mut agents = first.into_iter().chain(racers).chain(others);
        let agent = agents.find(|agent| needs_model(agent))?;
        Some(Offline {
            phase: &phase.id,
            agent: agent.to_owned(),
            said_by: phase.walls.network.map(|_| &phase.id),
            by_settings: phase.walls.network.or(workflow.walls.network).is_none(),
        })
    };
    workflow.phases.iter().filter(is_off).filter_map(found).collect()
}

fn is_worked_at(workflow: &Workflow, phase: &Phase) -> bool {
    let by_agents = match phase.run {
        PhaseKind::Worker | PhaseKind::Inline | PhaseKind::Race => true,
        // A workflow inside is judged by itself, unless it is only how a pool's own worker is run.
        PhaseKind::Pool => {
            let own = derived_key(&workflow.key, &phase.id, None);
            phase.commands.is_empty() && phase.workflow.as_ref().is_none_or(|key| *key == own)
        }
        PhaseKind::Command | PhaseKind::Workflow | PhaseKind::Human => false,
    };
    by_agents && phase.id.as_str() != DONE
}

/// Whether an agent asks a model elsewhere. Only what is known to need none is believed to work without.
fn needs_model(agent: &str) -> bool {
    let kind = agent.split(':').next().unwrap_or_default().trim();
    !["", "command", "scripted"].contains(&kind)
}
