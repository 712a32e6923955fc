//! What of a person's environment workers get otherwise than everybody else, for `check` and `doctor`. Names only, never values.

use chronicle_core::base::ids::SHELL;
use chronicle_core::base::quote;
use chronicle_core::definition::environment::EnvList;
use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::{Phase, PhaseKind, Workflow};
use chronicle_runtime::handle::agents::{self, EnvReport};
use serde::Serialize;

use super::prepare::own_agent;

/// Most names in a line for people.
const SHOWN_MAX: usize = 8;

/// What the workers of some phases lose, and what they are passed.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct PhaseEnvironment {
    phases: Vec<String>,
    /// The agent; `shell` for commands.
    agent: String,
    /// Variables of this environment that they do not get.
    without: Vec<String>,
    /// Those that they get although they look like secrets.
    passed: Vec<String>,
}

impl PhaseEnvironment {
    pub(super) fn sentence(&self) -> String {
        let phases: Vec<String> = self.phases.iter().map(|it| format!("`{it}`")).collect();
        let said = [told("without", &self.without), told("with", &self.passed)];
        let said: Vec<String> = said.into_iter().flatten().collect();
        format!("environment of {} ({}): {}", phases.join(", "), self.agent, said.join("; "))
    }
}

/// Phases of a workflow whose workers have something else than the whole environment of this process; alike ones together.
pub(super) fn of_phases(settings: &Settings, workflow: &Workflow) -> Vec<PhaseEnvironment> {
    let mut rows: Vec<PhaseEnvironment> = Vec::new();
    for phase in &workflow.phases {
        let Some(agent) = agent(settings, workflow, phase) else { continue };
        let names = workflow.env_names.clone().and(&phase.env_names);
        let known = own_agent(settings, agent);
        let known = known.as_deref().unwrap_or(agent);
        let EnvReport { secrets, dropped, passed } = agents::environment(known, &names, settings);
        let mut without: Vec<String> = secrets.into_iter().chain(dropped).collect();
        without.sort();
        let id = phase.id.to_string();
        let alike = rows
            .iter_mut()
            .find(|row| row.agent == agent && row.without == without && row.passed == passed);
        match alike {
            Some(row) => row.phases.push(id),
            None if without.is_empty() && passed.is_empty() => {}
            None => {
                let agent = agent.to_owned();
                rows.push(PhaseEnvironment { phases: vec![id], agent, without, passed });
            }
        }
    }
    rows
}

/// What the workers of an agent lose and are passed, wherever they work.
pub(super) fn of_agent(settings: &Settings, agent: &str) -> Vec<String> {
    let report = agents::environment(agent, &EnvList::default(), settings);
    let lost = told("workers do not get", &report.secrets).map(|told| {
        format!("{told}, which look like secrets of other services; `agents.{agent}.env.pass` passes them")
    });
    let dropped = told("workers do not get", &report.dropped)
        .map(|told| format!("{told}, as `agents.{agent}.env.drop` says"));
    let passed = told("workers get", &report.passed);
    let all = [lost, dropped, passed.map(|told| format!("{told}, which look like secrets"))];
    all.into_iter().flatten().map(|told| format!("environment: {told}")).collect()
}

/// Who works at a phase; `None` if that is not known before a run, or nobody does.
fn agent<'a>(settings: &'a Settings, workflow: &'a Workflow, phase: &'a Phase) -> Option<&'a str> {
    match phase.run {
        PhaseKind::Command => Some(SHELL),
        PhaseKind::Worker | PhaseKind::Inline | PhaseKind::Pool | PhaseKind::Race => {
            let named = phase.agent.as_deref().or(workflow.agent.as_deref());
            named.or_else(|| settings.text("agent"))
        }
        PhaseKind::Workflow | PhaseKind::Human => None,
    }
}

fn told(how: &str, names: &[String]) -> Option<String> {
    let shown = names.iter().take(SHOWN_MAX).map(|name| format!("`{}`", quote::plain(name)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| format!("{how} {shown}{more}"))
}
