//! What a workflow leaves open for the run: the project's commands, the agent, the budget.

use super::model::{Budget, Phase, Workflow};
use super::pool::Judge;

/// Placeholder in `commands` and `verify` for the project's own checks.
pub const VERIFY: &str = "{verify}";

impl Workflow {
    /// Every command that Chronicle itself runs for this workflow.
    pub fn all_commands(&self) -> impl Iterator<Item = &String> {
        let of_phases = self.phases.iter().flat_map(|it| {
            let judge = it.judge.as_ref().and_then(Judge::commands);
            [&it.commands, &it.verify, &it.cleanup, &it.worktree.setup].into_iter().chain(judge)
        });
        of_phases.chain([&self.verify, &self.cleanup]).flatten()
    }

    /// The first phase that uses the project's commands.
    pub fn wants_verify(&self) -> Option<&Phase> {
        let wants = |commands: &[String]| commands.iter().any(|command| command == VERIFY);
        let is_one = |phase: &&Phase| {
            let judge = phase.judge.as_ref().and_then(Judge::commands);
            wants(&phase.commands) || wants(&phase.verify) || judge.is_some_and(|it| wants(it))
        };
        let of_phase = self.phases.iter().find(is_one);
        // The workflow's own runs when its last phase is left, so that phase is the one to name.
        of_phase.or_else(|| self.phases.last().filter(|_| wants(&self.verify)))
    }

    /// Replaces the placeholder with the project's commands.
    pub fn fill_verify(&mut self, verify: &[String]) {
        let of_phases = self.phases.iter_mut();
        // Not in `cleanup`, which puts things away and checks nothing.
        let lists = of_phases.flat_map(|phase| {
            let judge = phase.judge.as_mut().and_then(Judge::commands_mut);
            [&mut phase.commands, &mut phase.verify].into_iter().chain(judge)
        });
        for commands in lists.chain([&mut self.verify]) {
            *commands = std::mem::take(commands)
                .into_iter()
                .flat_map(|said| if said == VERIFY { verify.to_vec() } else { vec![said] })
                .collect();
        }
    }

    /// Removes all agents, so that the run's agent is used everywhere. Who takes part in a race by name keeps it: otherwise all would be the
    /// same.
    pub fn leave_agent_to_run(&mut self) {
        self.agent = None;
        for phase in &mut self.phases {
            phase.agent = None;
        }
    }

    /// Forgets the agents that racers name and that cost something, for a trial.
    pub fn keep_scripted_racers(&mut self) {
        for racer in self.phases.iter_mut().flat_map(|phase| &mut phase.workers) {
            racer.agent = racer.agent.take().filter(|agent| agent.starts_with("scripted:"));
        }
    }

    /// Removes all models, so that the run's model is used everywhere but by racers that name their own.
    pub fn leave_model_to_run(&mut self) {
        self.model = None;
        for phase in &mut self.phases {
            phase.model = None;
        }
    }

    /// Forgets the agents that would take over and cost something, so that a trial costs nothing. Whether there were any.
    pub fn keep_scripted_fallbacks(&mut self) -> bool {
        let mut had_any = false;
        for phase in &mut self.phases {
            let named = phase.fallback.len();
            phase.fallback.retain(|agent| agent.starts_with("scripted:"));
            had_any |= phase.fallback.len() < named;
        }
        had_any
    }

    /// Sets a budget unless the workflow has one.
    pub fn fill_budget(&mut self, budget: &Budget) {
        self.budget.get_or_insert_with(|| budget.clone());
    }

    /// Replaces every agent name by what `find` returns for it.
    pub fn rename_agents(&mut self, mut find: impl FnMut(&str) -> Option<String>) {
        let of_phases = self.phases.iter_mut();
        let of_phases = of_phases.flat_map(|phase| {
            let racers = phase.workers.iter_mut().filter_map(|racer| racer.agent.as_mut());
            phase.agent.iter_mut().chain(&mut phase.fallback).chain(racers)
        });
        for agent in of_phases.chain(&mut self.agent) {
            if let Some(found) = find(agent) {
                *agent = found;
            }
        }
    }
}
