//! From a workflow as it was found to one that can run here: the project's commands, the agent, the budget, and trust.
//!
//! Who has the first word: a flag, then the phase, the workflow, the project's settings, the user's, the default.

use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::walls::{Walls, leads_outside};
use chronicle_core::definition::workflow::{
    Loaded, PhaseKind, Source, VERIFY, Workflow, offline, racers_with,
};
use chronicle_core::guard::GUARDS;
use chronicle_runtime::handle::agents::{self, AGENT_PROGRAMS};
use chronicle_runtime::handle::definitions::{self, Catalog};
use chronicle_runtime::handle::trust::{self, Item, Unknown};

use super::trust::{Brought, confirm};
use super::{Setting, walls};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// What a person says about one run.
#[derive(Debug, Default)]
pub(super) struct Wishes<'a> {
    pub(super) agent: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    /// Trust the project for this run.
    pub(super) trust: bool,
    /// Nothing will start, so nothing is asked.
    pub(super) dry_run: bool,
}

/// The agent and the model of phases that name none.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) agent: String,
    pub(super) model: Option<String>,
    /// What a run would first ask to be trusted; a run that is not dry has asked.
    pub(super) untrusted: Unknown,
}

/// Fills in what the workflows leave open, and asks for what only a person may say.
pub(super) fn prepare(
    setting: &Setting,
    settings: &Settings,
    catalog: &Catalog,
    loaded: &mut Loaded,
    wishes: &Wishes<'_>,
) -> Result<Chosen, Failure> {
    // Filled in before the question of trust: the person must be shown the commands that will run, not a placeholder.
    let found = fill_verify(setting, settings, &mut loaded.workflows)?;
    fill_budget(settings, &mut loaded.workflows);
    let mut untrusted = Unknown::default();
    if wishes.trust {
        // `--trust` skips the question, so it must itself be a person's word.
        super::only_for_people()?;
    } else {
        let used = used(setting, catalog, loaded, &found)?;
        if wishes.dry_run {
            untrusted = trust::judge(&setting.project, &used, settings);
        } else {
            confirm(&setting.project, &used, &brought(&loaded.workflows), settings)?;
        }
    }
    if is_trial(wishes) {
        loaded.workflows.iter_mut().for_each(Workflow::keep_scripted_racers);
    }
    // Who takes part in a race by name stays: otherwise all would be the same.
    let by_name = racers_with(&loaded.workflows, |racer| racer.agent.is_some());
    let with_model = racers_with(&loaded.workflows, |racer| racer.model.is_some());
    for workflow in &mut loaded.workflows {
        if wishes.agent.is_some() && !by_name.contains(&workflow.key) {
            workflow.leave_agent_to_run();
        }
        if wishes.model.is_some() && !with_model.contains(&workflow.key) {
            workflow.leave_model_to_run();
        }
        // Resolved now and frozen into the first event: a setting that changes later does not change a run that has begun.
        workflow.rename_agents(|name| own_agent(settings, name));
    }
    keep_trial_free(wishes, &mut loaded.workflows);
    let agent = match wishes.agent.or_else(|| settings.text("agent")) {
        Some(agent) => agent.to_owned(),
        None if wishes.dry_run => String::new(),
        None if loaded.workflows.iter().any(lacks_agent) => only_agent(setting, settings)?,
        None => String::new(),
    };
    let model = wishes.model.or_else(|| settings.text("model")).map(str::to_owned);
    let agent = own_agent(settings, &agent).unwrap_or(agent);
    refuse_offline(settings, &loaded.workflows, &agent)?;
    if let Some(wide) = walls::too_wide(setting, settings, &loaded.workflows).first() {
        return Err(wide.failure());
    }
    Ok(Chosen { agent, model, untrusted })
}

/// Refuses a run with an agent that could not reach its model: only now it is known who works where no file says it.
fn refuse_offline(settings: &Settings, workflows: &[Workflow], agent: &str) -> Result<(), Failure> {
    let walls = settings.walls();
    let found = workflows.iter().find_map(|workflow| {
        Some((workflow, offline(workflow, &walls, agent).into_iter().next()?))
    });
    let Some((workflow, found)) = found else { return Ok(()) };
    let what = format!("workflow `{}`: {}", workflow.key, found.sentence());
    Err(Failure::new(Exit::Definition, what).hint(found.hint()))
}

fn is_trial(wishes: &Wishes<'_>) -> bool {
    wishes.agent.is_some_and(|agent| agent.starts_with("scripted:"))
}

/// Whoever plays a script tries a workflow out, and has not agreed to spend anything.
fn keep_trial_free(wishes: &Wishes<'_>, workflows: &mut [Workflow]) {
    if !is_trial(wishes) {
        return;
    }
    let left_out = workflows.iter_mut().filter_map(|it| it.keep_scripted_fallbacks().then_some(()));
    if left_out.count() > 0 {
        terminal::talk("Agents of `fallback` are left out: a run with a script costs nothing.");
    }
}

/// Puts the project's check commands where they are wanted; returns those that nobody set. Nothing passes by being empty.
fn fill_verify(
    setting: &Setting,
    settings: &Settings,
    workflows: &mut [Workflow],
) -> Result<Vec<String>, Failure> {
    let wanting =
        workflows.iter().find_map(|workflow| Some((&workflow.key, workflow.wants_verify()?)));
    let Some((key, phase)) = wanting else { return Ok(Vec::new()) };
    let said = settings.texts("verify");
    let found: Vec<String> = if said.is_empty() {
        definitions::verify_commands(setting.project.root())
            .into_iter()
            .map(|one| one.command)
            .collect()
    } else {
        Vec::new()
    };
    let commands = if said.is_empty() { found.as_slice() } else { said };
    // A phase that checks nothing would pass.
    if commands.is_empty() {
        let what = format!(
            "phase `{}` of workflow `{key}` runs the project's own checks (`{VERIFY}`), and none are known",
            phase.id
        );
        return Err(Failure::new(Exit::Definition, what).hint(
            "`chronicle init` asks for them; or set `verify = [\"COMMAND\"]` in `.chronicle/config.toml`",
        ));
    }
    for workflow in workflows {
        workflow.fill_verify(commands);
    }
    Ok(found)
}

/// The run's budget, where its workflow says nothing of it.
fn fill_budget(settings: &Settings, workflows: &mut [Workflow]) {
    if let (Some(budget), Some(main)) = (settings.budget(), workflows.first_mut()) {
        main.fill_budget(&budget);
    }
}

/// What this run would use of the project: it must be trusted.
fn used(
    setting: &Setting,
    catalog: &Catalog,
    loaded: &Loaded,
    found: &[String],
) -> Result<Vec<Item>, Failure> {
    let config = setting.project.definitions().join("config.toml");
    // Settings decide which programs agents are and what `{verify}` runs, so they need the same trust as workflows.
    let config = Some(config).filter(|config| config.is_file());
    let sources = loaded.sources.iter().filter(|source| !definitions::is_builtin(source));
    let named = |source: &Source| source.file.clone().unwrap_or_else(|| (&source.name).into());
    let sources = sources.map(named);
    let files = config.into_iter().chain(sources).chain(catalog.brought(&loaded.workflows));
    Ok(trust::used(&setting.project, files, found)?)
}

/// Every command and agent that the workflows name, and what they pass and open, each once.
fn brought(workflows: &[Workflow]) -> Brought {
    let agents = workflows.iter().flat_map(|workflow| {
        let of_phases = workflow.phases.iter();
        let named = of_phases.flat_map(|phase| phase.agent.iter().chain(&phase.fallback));
        workflow.agent.iter().chain(named)
    });
    let passed = workflows.iter().flat_map(|workflow| {
        let of_phases = workflow.phases.iter().flat_map(|phase| &phase.env_names.pass);
        workflow.env_names.pass.iter().chain(of_phases)
    });
    let commands = once_each(workflows.iter().flat_map(Workflow::all_commands));
    let walls: Vec<&Walls> = workflows
        .iter()
        .flat_map(|it| std::iter::once(&it.walls).chain(it.phases.iter().map(|it| &it.walls)))
        .collect();
    let written = walls.iter().flat_map(|walls| &walls.paths).filter(|path| opens_more(path));
    Brought {
        commands,
        agents: once_each(agents),
        passed: once_each(passed),
        opened: once_each(walls.iter().flat_map(|walls| &walls.open)),
        written: once_each(written),
        own_sandbox: walls.iter().any(|walls| walls.own_sandbox == Some(true)),
    }
}

/// Whether a path lets workers change more than the project's ordinary files: something outside, or beside what guards a run.
fn opens_more(path: &str) -> bool {
    let first = GUARDS.iter().filter_map(|guard| guard.first());
    let is_guard = |name: &str| first.clone().any(|guard| guard.eq_ignore_ascii_case(name));
    leads_outside(path) || path.split('/').any(is_guard)
}

fn once_each<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<String> {
    let mut each: Vec<String> = Vec::new();
    for text in texts {
        if !each.contains(text) {
            each.push(text.clone());
        }
    }
    each
}

/// An agent under a name of the person's own is a program that speaks the agent protocol.
pub(super) fn own_agent(settings: &Settings, name: &str) -> Option<String> {
    let command = settings.agent_command(name).filter(|_| !AGENT_PROGRAMS.contains(&name))?;
    Some(format!("command:{command}"))
}

fn lacks_agent(workflow: &Workflow) -> bool {
    let is_worker = |phase: &&chronicle_core::definition::workflow::Phase| {
        phase.run == PhaseKind::Worker && phase.id.as_str() != chronicle_core::base::ids::DONE
    };
    let named = workflow.agent.is_some();
    workflow.phases.iter().filter(is_worker).any(|phase| !named && phase.agent.is_none())
}

/// The only agent there is. Two, and none chosen, is a question and not a guess.
fn only_agent(setting: &Setting, settings: &Settings) -> Result<String, Failure> {
    let installed = agents::installed(settings);
    let works = |name: &&str| agents::check(name, &setting.project, settings).is_ok();
    let programs = installed.iter().map(|agent| agent.name).filter(works);
    let own = settings.agents().filter(|name| !AGENT_PROGRAMS.contains(name));
    let names: Vec<&str> = own.chain(programs).collect();
    match names.as_slice() {
        [] => Ok(String::new()),
        [only] => {
            terminal::talk(&format!("Agent: `{only}`, the only one there is."));
            Ok((*only).to_owned())
        }
        [first, ..] => ask_agent(&names).ok_or_else(|| {
            let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            Failure::usage(format!(
                "there are several agents, and none is chosen: {}",
                all.join(", ")
            ))
            .hint(format!("say `--agent {first}`, or set `agent = \"{first}\"` in your settings"))
        }),
    }
}

fn ask_agent(names: &[&str]) -> Option<String> {
    if !terminal::can_ask() {
        return None;
    }
    let answer = terminal::ask(&format!("Which agent? [{}] ", names.join(", ")))?;
    names.iter().find(|name| **name == answer.trim()).map(|name| (*name).to_owned())
}
