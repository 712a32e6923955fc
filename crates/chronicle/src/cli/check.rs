//! `chronicle check`: reports problems of definitions.

use std::collections::BTreeMap;

use chronicle_core::definition::settings::Settings;
use chronicle_core::definition::workflow::{
    FieldAt, Loaded, Offline, Problem, Severity, Source, Workflow, agent_and_model, closest,
    offline, unbounded,
};
use chronicle_runtime::handle::agents::{self, UnknownAgent};
use chronicle_runtime::handle::definitions::{
    self, Catalog, DiscoverError, FileProblems, Level, Places,
};
use clap::Args;
use serde::Serialize;

use super::environment::{self, PhaseEnvironment};
use super::json::ProblemRow;
use super::prepare::own_agent;
use super::problems::{self, counted};
use super::{Setting, config, json, walls};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Report all problems of workflows, with their position
///
/// Beyond syntax: unreachable phases, phases that never end, outcomes that are never sent, unknown agents, workflows that would
/// run themselves, and phases without any limit.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle check                   every workflow there is
  chronicle check feature ./x.yaml  by name, or by path
  chronicle check --strict --json   for a build: warnings are errors")]
pub(super) struct CheckArgs {
    /// Names of workflows, or paths of their files; if omitted, all of the project and the user
    names: Vec<String>,

    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

pub(super) fn cmd_check(setting: &Setting, args: &CheckArgs) -> Result<Exit, Failure> {
    let found = config::load(setting)?;
    let places = Places { limits: found.settings.limits(), ..Places::of(&setting.project) };
    let catalog = definitions::find_in(&places);
    // What is built in is ours to mend; asked for by name it is checked all the same.
    let own = catalog.workflows.iter().filter(|found| found.origin.level != Level::Builtin);
    let all = || own.map(|found| found.key.clone()).collect();
    let names: Vec<String> = if args.names.is_empty() { all() } else { args.names.clone() };
    let mut report = CheckReport::default();
    for name in &names {
        if let Some((chains, problems)) = catalog.chains_at(&places, name) {
            for loaded in &chains {
                report.add(setting, &found.settings, loaded);
            }
            report.add_files(&problems);
            continue;
        }
        match catalog.named(&places, name) {
            Ok(loaded) => report.add(setting, &found.settings, &loaded),
            // A name that does not exist is a mistake on the command line. A file that cannot be read is a result like any
            // other.
            Err(error @ DiscoverError::Unknown { .. }) => return Err(unknown(error, name)),
            Err(error) => report.unreadable(name, &error),
        }
    }
    report.find_same_commands();
    if args.names.is_empty() {
        report.add_rest(&catalog);
    }
    if args.strict {
        report.tighten();
    }
    if setting.json {
        json::say_document(&report.json())?;
    } else {
        report.say();
    }
    Ok(if report.is_good() { Exit::Done } else { Exit::Definition })
}

fn unknown(error: DiscoverError, name: &str) -> Failure {
    let meant = match &error {
        DiscoverError::Unknown { known, .. } => {
            closest(name, known.iter().map(String::as_str)).map(str::to_owned)
        }
        DiscoverError::Unreadable { .. } | DiscoverError::Several { .. } => None,
    };
    let failure = Failure::from(error);
    match meant {
        Some(meant) => failure.hint(format!("did you mean `{meant}`?")),
        None => failure,
    }
}

/// The results of all checked workflows.
#[derive(Default)]
struct CheckReport {
    workflows: Vec<CheckedWorkflow>,
    problems: Vec<Problem>,
    sources: Vec<Source>,
    /// `commandName`, each with whose it is and where the second one would be told.
    commands: Vec<(String, String, Problem)>,
}

/// The result for one workflow.
#[derive(Debug, Serialize)]
struct CheckedWorkflow {
    key: String,
    name: String,
    file: String,
    phases: usize,
    usable: bool,
    /// What workers get otherwise than the whole environment of this process.
    environment: Vec<PhaseEnvironment>,
    /// Whether it would be, if warnings were errors.
    #[serde(skip)]
    is_clean: bool,
}

impl CheckReport {
    fn add(&mut self, setting: &Setting, settings: &Settings, loaded: &Loaded) {
        let main = loaded.workflows.first();
        let source = loaded.sources.first();
        let file = source.map_or_else(String::new, |source| source.name.clone());
        let key = source.map_or_else(String::new, |source| source.key.clone());
        let agents =
            loaded.workflows.iter().flat_map(|it| unknown_agents(setting, settings, loaded, it));
        let offline = loaded.workflows.iter().flat_map(|it| offline_agents(settings, loaded, it));
        let wide = walls::too_wide(setting, settings, &loaded.workflows);
        let wide = wide.iter().map(|it| it.problem(settings, loaded));
        let notes = main.and_then(|main| unbounded_note(loaded, main));
        let problems: Vec<Problem> = loaded
            .problems
            .iter()
            .cloned()
            .chain(agents)
            .chain(offline)
            .chain(wide)
            .chain(notes)
            .collect();
        self.workflows.push(CheckedWorkflow {
            name: main.map_or_else(|| key.clone(), |main| main.name.clone()),
            phases: main.map_or(0, |main| main.phases.len()),
            environment: main.map_or_else(Vec::new, |it| environment::of_phases(settings, it)),
            usable: !problems.iter().any(|it| it.severity == Severity::Error),
            is_clean: !problems.iter().any(|it| it.severity >= Severity::Warning),
            key,
            file,
        });
        self.add_texts(&loaded.sources, &problems);
        if let Some((main, command)) = main.and_then(|it| Some((it, it.command_name.clone()?))) {
            let told = same_command(loaded, main, &command);
            self.commands.push((command, main.key.clone(), told));
        }
    }

    /// A workflow that others run is read with each of them: what is wrong with it is told once.
    fn push(&mut self, problem: Problem) {
        // A workflow that several others run is loaded with each of them.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn unreadable(&mut self, name: &str, error: &DiscoverError) {
        let DiscoverError::Unreadable { path, .. } = error else { return };
        let file = path.display().to_string();
        let source = std::error::Error::source(error);
        let cause = source.map_or_else(String::new, |source| format!(": {source}"));
        self.problems.push(Problem {
            code: "unreadable",
            severity: Severity::Error,
            file: file.clone(),
            span: None,
            line: 1,
            column: 1,
            message: format!("{error}{cause}"),
            hint: Some("make it a file that you may read".to_owned()),
        });
        let (key, name) = (name.to_owned(), name.to_owned());
        self.workflows.push(CheckedWorkflow {
            key,
            name,
            file,
            phases: 0,
            environment: Vec::new(),
            usable: false,
            is_clean: false,
        });
    }

    /// Two workflows that one word starts: the first one found would be used.
    fn find_same_commands(&mut self) {
        let mut owners: BTreeMap<String, String> = BTreeMap::new();
        for (command, key, mut told) in std::mem::take(&mut self.commands) {
            match owners.get(&command) {
                Some(owner) if *owner != key => {
                    told.message = format!("{} as `{owner}` does", told.message);
                    self.push(told);
                }
                Some(_) => {}
                None => drop(owners.insert(command, key)),
            }
        }
    }

    /// What is wrong with everything that is no workflow: personas, rules, files that define nothing.
    fn add_rest(&mut self, catalog: &Catalog) {
        self.add_files(&catalog.problems);
        for found in &catalog.personas {
            self.add_texts([&found.source], &found.problems);
        }
        let named = catalog.named_rules.iter().map(|(_, found)| found);
        for found in catalog.rules.iter().chain(named) {
            self.add_texts(&found.source, &found.read.problems);
        }
    }

    fn add_files(&mut self, files: &FileProblems) {
        self.add_texts(&files.sources, &files.list);
    }

    fn add_texts<'a>(
        &mut self,
        sources: impl IntoIterator<Item = &'a Source>,
        problems: &[Problem],
    ) {
        for problem in problems {
            self.push(problem.clone());
        }
        for source in sources {
            if self.sources.iter().all(|known| known.name != source.name) {
                self.sources.push(source.clone());
            }
        }
    }

    fn tighten(&mut self) {
        for row in &mut self.workflows {
            // Before the severities change: afterwards a warning could not be told from an error.
            row.usable &= row.is_clean;
        }
        for problem in &mut self.problems {
            if problem.severity == Severity::Warning {
                problem.severity = Severity::Error;
            }
        }
    }

    fn is_good(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    fn count(&self, severity: Severity) -> usize {
        self.problems.iter().filter(|problem| problem.severity == severity).count()
    }

    fn say(&self) {
        let paint = Paint::stdout();
        let colours = terminal::is_result_watched() && terminal::has_colours();
        for problem in &self.problems {
            terminal::say(&problems::render(&self.sources, problem, colours));
            terminal::say("");
        }
        for row in &self.workflows {
            let is_good = row.usable;
            let sign =
                if is_good { paint.ink(Ink::Good, "✓") } else { paint.ink(Ink::Bad, "✗") };
            let phases = counted(row.phases, "phase");
            terminal::say(&format!("{sign} {}  {phases}  {}", row.key, row.file));
            for environment in &row.environment {
                terminal::say_wrapped(&format!("    {}", environment.sentence()));
            }
        }
        if self.workflows.is_empty() {
            terminal::talk("No workflows here. `chronicle init` writes one.");
            return;
        }
        terminal::say(&format!(
            "\n{}: {}, {}, {}",
            counted(self.workflows.len(), "workflow"),
            counted(self.count(Severity::Error), "error"),
            counted(self.count(Severity::Warning), "warning"),
            counted(self.count(Severity::Note), "note"),
        ));
    }

    fn json(&self) -> CheckDocument<'_> {
        let problems = self.problems.iter().map(ProblemRow::from).collect();
        CheckDocument { workflows: &self.workflows, problems }
    }
}

/// The JSON output of this command.
#[derive(Serialize)]
struct CheckDocument<'a> {
    workflows: &'a [CheckedWorkflow],
    problems: Vec<ProblemRow<'a>>,
}

/// Agents that a file names and nobody knows.
fn unknown_agents(
    setting: &Setting,
    settings: &Settings,
    loaded: &Loaded,
    workflow: &Workflow,
) -> Vec<Problem> {
    let own = workflow.agent.iter().map(|agent| (None, "agent", agent));
    let phases = workflow.phases.iter();
    let of_phases = phases.flat_map(|phase| {
        let first = phase.agent.iter().map(move |agent| (Some(&phase.id), "agent", agent));
        let racers = phase.workers.iter().filter_map(|racer| racer.agent.as_ref());
        first
            .chain(phase.fallback.iter().map(move |agent| (Some(&phase.id), "fallback", agent)))
            .chain(racers.map(move |agent| (Some(&phase.id), "workers", agent)))
    });
    own.chain(of_phases)
        .filter(|(.., agent)| settings.agent_command(agent).is_none())
        .filter_map(|(phase, field, agent)| {
            let agent = if field == "fallback" { agent_and_model(agent).0 } else { agent };
            let error = agents::check(agent, &setting.project, settings).err()?;
            Some(agent_problem(loaded, &FieldAt { workflow: &workflow.key, phase, field }, &error))
        })
        .collect()
}

fn agent_problem(loaded: &Loaded, at: &FieldAt<'_>, error: &UnknownAgent) -> Problem {
    let hint = Some(error.hint.clone());
    loaded.problem(at, Severity::Error, "unknown-agent", error.to_string(), hint)
}

/// Agents that a file or the settings name, at phases where they could not reach their model.
fn offline_agents(settings: &Settings, loaded: &Loaded, workflow: &Workflow) -> Vec<Problem> {
    let mut named = workflow.clone();
    named.rename_agents(|name| own_agent(settings, name));
    let agent = settings.text("agent").unwrap_or_default();
    let agent = own_agent(settings, agent).unwrap_or_else(|| agent.to_owned());
    let told = |found: &Offline<'_>| {
        // Where nothing in the file turns it off, the phase is all that there is to point at.
        let (phase, field) =
            if found.by_settings { (Some(found.phase), "id") } else { (found.said_by, "walls") };
        let at = FieldAt { workflow: &workflow.key, phase, field };
        let hint = Some(found.hint());
        loaded.problem(&at, Severity::Error, "needs-network", found.sentence(), hint)
    };
    offline(&named, &settings.walls(), &agent).iter().map(told).collect()
}

fn unbounded_note(loaded: &Loaded, workflow: &Workflow) -> Option<Problem> {
    let phases = unbounded(workflow);
    let names: Vec<String> = phases.iter().take(5).map(|id| format!("`{id}`")).collect();
    let more = match phases.len().saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("nothing bounds how long {}{more} may work", names.join(", "));
    let hint = Some("set `limits: {timeout: 1h}`".to_owned());
    let at = FieldAt { workflow: &workflow.key, phase: None, field: "limits" };
    (!phases.is_empty()).then(|| loaded.problem(&at, Severity::Note, "unbounded", message, hint))
}

fn same_command(loaded: &Loaded, workflow: &Workflow, command: &str) -> Problem {
    let message = format!("`{command}` starts this workflow");
    let hint = Some("the first one found is used: choose another word".to_owned());
    let at = FieldAt { workflow: &workflow.key, phase: None, field: "commandName" };
    loaded.problem(&at, Severity::Warning, "duplicate-command", message, hint)
}
