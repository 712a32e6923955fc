//! What a workflow leaves to whoever runs it: the project's own commands, the agent, the budget.

use super::model::{Budget, Phase, Workflow};

/// Stands among a phase's `commands` and in `verify` for those by which the project tells whether it is well.
pub const VERIFY: &str = "{verify}";

impl Workflow {
    /// Every command that it runs by itself, beside what its agents do.
    pub fn all_commands(&self) -> impl Iterator<Item = &String> {
        let of_phases = self.phases.iter().flat_map(|it| [&it.commands, &it.verify, &it.cleanup]);
        of_phases.chain([&self.verify, &self.cleanup]).flatten()
    }

    /// The first phase that leaves its commands to the project.
    pub fn wants_verify(&self) -> Option<&Phase> {
        let wants = |commands: &[String]| commands.iter().any(|command| command == VERIFY);
        let is_one = |phase: &&Phase| wants(&phase.commands) || wants(&phase.verify);
        let of_phase = self.phases.iter().find(is_one);
        of_phase.or_else(|| self.phases.last().filter(|_| wants(&self.verify)))
    }

    /// Puts the project's commands where they are wanted.
    pub fn fill_verify(&mut self, verify: &[String]) {
        let of_phases = self.phases.iter_mut();
        let lists = of_phases.flat_map(|phase| [&mut phase.commands, &mut phase.verify]);
        for commands in lists.chain([&mut self.verify]) {
            *commands = std::mem::take(commands)
                .into_iter()
                .flat_map(|said| if said == VERIFY { verify.to_vec() } else { vec![said] })
                .collect();
        }
    }

    /// Forgets the agents that it names, so that the one of the run holds everywhere.
    pub fn leave_agent_to_run(&mut self) {
        self.agent = None;
        self.phases.iter_mut().for_each(|phase| phase.agent = None);
    }

    /// Forgets the models that it names, so that the one of the run holds everywhere.
    pub fn leave_model_to_run(&mut self) {
        self.model = None;
        self.phases.iter_mut().for_each(|phase| phase.model = None);
    }

    /// Takes a budget, unless it has its own.
    pub fn fill_budget(&mut self, budget: &Budget) {
        self.budget.get_or_insert_with(|| budget.clone());
    }

    /// Replaces every agent's name that it has by what is found for it.
    pub fn rename_agents(&mut self, mut find: impl FnMut(&str) -> Option<String>) {
        let of_phases = self.phases.iter_mut().map(|phase| &mut phase.agent);
        for agent in of_phases.chain([&mut self.agent]).flatten() {
            if let Some(found) = find(agent) {
                *agent = found;
            }
        }
    }
}
