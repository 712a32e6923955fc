//! Whether the agents of a run can work here, asked before anything of it is made.

use std::collections::BTreeSet;

use chronicle_core::base::ids::DONE;
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::{PhaseKind, Workflow, agent_and_model};
use chronicle_core::event::RunStarted;
use chronicle_runtime::handle::agents;

use super::Setting;
use crate::failure::Failure;

/// Every agent must be known before the first one starts; a run that cannot be finished is not begun.
pub(super) fn check(
    setting: &Setting,
    settings: &Settings,
    start: &RunStarted,
) -> Result<(), Failure> {
    let mut all = BTreeSet::new();
    for workflow in &start.workflows {
        for agent in agents_of(workflow, &start.agent) {
            check_agent(setting, settings, workflow, agent)?;
            all.insert(agent);
        }
    }
    // Last, since it starts programs: what can be known from names alone is told first.
    all.into_iter().try_for_each(|agent| check_program(setting, settings, agent))
}

fn agents_of<'a>(workflow: &'a Workflow, of_run: &'a str) -> impl Iterator<Item = &'a str> {
    let workers = workflow
        .phases
        .iter()
        .filter(|phase| phase.run == PhaseKind::Worker && phase.id.as_str() != DONE);
    let of_workflow = workflow.agent.as_deref();
    workers.flat_map(move |phase| {
        let first = phase.agent.as_deref().or(of_workflow).unwrap_or(of_run);
        std::iter::once(first).chain(phase.fallback.iter().map(|it| agent_and_model(it).0))
    })
}

fn check_agent(
    setting: &Setting,
    settings: &Settings,
    workflow: &Workflow,
    agent: &str,
) -> Result<(), Failure> {
    if agent.is_empty() {
        let what =
            format!("no agent is named for workflow `{}`, and none is installed", workflow.key);
        return Err(Failure::usage(what).hint(
            "install one (`chronicle doctor` says how), try `chronicle demo`, or say `--agent scripted:SCRIPT.yaml`",
        ));
    }
    agents::check(agent, &setting.project, settings)
        .and_then(|()| agents::check_there(agent, &setting.project))
        .map_err(|error| Failure::usage(error.to_string()).hint(error.hint))?;
    if agents::is_missing(agent, settings) {
        return Err(Failure::usage(format!("agent `{agent}` is not installed")).hint(format!(
            "install it, say where it is with `agents.{agent}.command`, or try `--agent \
             scripted:SCRIPT.yaml` or `chronicle demo`"
        )));
    }
    Ok(())
}

/// Looks whether an agent's program is what it is taken for, so that one message says it and not every attempt.
fn check_program(setting: &Setting, settings: &Settings, agent: &str) -> Result<(), Failure> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::internal("no temporary folder can be made", &error))?;
    agents::fit(agent, &setting.project, settings, folder.path())
        .map_err(|unfit| Failure::usage(unfit.what).hint(unfit.hint))
}
