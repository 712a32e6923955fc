//! Finds definitions: workflows, personas, teams and rules, of the project, of the user, and built in.
//!
//! `find` reads and checks everything (`Catalog`); a problem in one file does not keep another from being found. Problems *in* a
//! file are part of the catalog, never an error. Reading is bounded, including links and pipes: a project's files are untrusted.
//!
//! Start reading at `places.rs` (where), then `workflows.rs` and `choice.rs` (which of several).

pub mod builtin;
mod choice;
mod files;
mod monorepo;
mod people;
mod personas;
mod places;
mod problems;
mod programs;
mod rules;
mod session_file;
mod sessions;
mod settings;
mod verify;
pub(crate) mod versions;
mod workflows;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chronicle_core::base::limits::Limits;
use chronicle_core::definition::persona::{Persona, TEAM_OF_ALL, Team};
use chronicle_core::definition::workflow::{
    Format, Known, KnownPersonas, Loaded, Problem, Severity, Show, Source, Trouble, Unit, assemble,
    read_upon,
};
use thiserror::Error;

pub use builtin::Builtin;
pub use choice::FoundWorkflow;
pub use monorepo::verify_commands;
pub use personas::FoundPersona;
pub use places::Places;
pub use problems::FileProblems;
pub(crate) use programs::has_program;
pub use programs::{
    AGENT_PROGRAMS, InstalledAgent, SignedIn, installed_agents, is_missing, signed_in,
};
pub(crate) use sessions::older_runs;
pub use sessions::{BrokenRun, OlderRun};
pub use settings::{FoundSettings, save_settings, settings, settings_files};

use crate::project::Project;
use personas::FoundTeam;
pub use rules::FoundRules;

/// Who a definition belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The project: shared with everybody who has it.
    Project,
    /// The user: only on this machine.
    User,
    /// Chronicle itself: built in.
    Builtin,
}

/// Where a definition is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Project, user or built in.
    pub level: Level,
    /// Its path, as people see it.
    pub path: String,
    /// The file itself, byte for byte; `None` if it is built in.
    pub file: Option<PathBuf>,
    /// The format of a workflow.
    pub format: Option<Format>,
}

impl Origin {
    /// A file that is no workflow.
    fn of(level: Level, path: &Path) -> Self {
        Self { level, path: Places::shown(path), file: Some(path.to_owned()), format: None }
    }
}

/// Everything that was found.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Workflows and chains, one of each key.
    pub workflows: Vec<FoundWorkflow>,
    /// Personas, one of each name.
    pub personas: Vec<FoundPersona>,
    /// Teams, one of each name.
    pub teams: Vec<FoundTeam>,
    /// Files of rules that hold here.
    pub rules: Vec<FoundRules>,
    /// Files of rules that workflows may name, each with its name.
    pub named_rules: Vec<(String, FoundRules)>,
    /// Problems of files and folders that define nothing.
    pub problems: FileProblems,
    /// True if a person accepts that some fields are not enforced.
    pub accepts_unenforced: bool,
}

/// Why a workflow could not be read at all. Problems *in* a file are part of `Loaded`.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// No workflow has that name.
    #[error("no workflow `{name}` in {}{}", folder_list(looked), broken_list(broken))]
    Unknown {
        /// The name as it was typed.
        name: String,
        /// Searched files and folders that cannot be read, as people see them: it may be in one of them.
        broken: Vec<String>,
        /// Folders that were searched.
        looked: Vec<PathBuf>,
        /// Keys of existing workflows.
        known: Vec<String>,
    },
    /// A chain file has several chains, and one must be named.
    #[error("`{}` holds several chains: {}", path.display(), chain_list(chains))]
    Several {
        /// Path of the chain file.
        path: PathBuf,
        /// Names of its chains.
        chains: Vec<String>,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn folder_list(folders: &[PathBuf]) -> String {
    let names: Vec<String> =
        folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
    names.join(" or ")
}

fn broken_list(broken: &[String]) -> String {
    let names: Vec<String> = broken.iter().map(|path| format!("`{path}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("; it may be in {}, which cannot be read", names.join(" or ")),
    }
}

fn chain_list(chains: &[String]) -> String {
    chains.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Everything that is here for this user.
pub fn find(project: &Project) -> Catalog {
    find_in(&Places::of(project))
}

/// Everything that is in some places.
pub fn find_in(places: &Places) -> Catalog {
    let (personas, of_personas) = personas::find(places);
    // Personas first: whether a workflow can be used depends on which of them there are.
    let (written, builtin) = personas::names(&personas);
    let names = KnownPersonas { written: &written, builtin: &builtin };
    let (mut workflows, mut problems) = workflows::find(places, names);
    let (teams, wrong) = personas::teams(places, names);
    problems.absorb(of_personas);
    problems.absorb(wrong);
    tell_commands(&mut workflows);
    let rules = rules::find(places);
    let named_rules = rules::find_named(places);
    Catalog { workflows, personas, teams, rules, named_rules, problems, accepts_unenforced: false }
}

/// Reports two workflows with the same command: the first one gets it.
fn tell_commands(workflows: &mut [FoundWorkflow]) {
    let mut first: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    for found in workflows {
        let Some(command) = found.command().map(str::to_owned) else { continue };
        if let Some(other) = first.get(&command) {
            let message = format!("the command `{command}` starts `{other}`, which comes first");
            let trouble = Trouble::new("duplicate-command", message);
            let path = found.origin.path.clone();
            found.problems.push(Problem::of_file(path, Severity::Warning, trouble));
        } else {
            first.insert(command, found.key.clone());
        }
    }
}

impl FoundWorkflow {
    /// Its alternative name to start it by.
    pub fn command(&self) -> Option<&str> {
        self.unit.workflow.as_ref()?.command_name.as_deref()
    }
}

impl Catalog {
    /// The workflow with that key, otherwise the first with that command.
    pub fn workflow(&self, name: &str) -> Option<&FoundWorkflow> {
        // The key before any `commandName`: another workflow must not be able to take over a name.
        let by_key = self.workflows.iter().find(|found| found.key == name);
        by_key.or_else(|| self.workflows.iter().find(|found| found.command() == Some(name)))
    }

    /// Loads a workflow with all of its sub-workflows.
    pub(crate) fn load(&self, found: &FoundWorkflow) -> Loaded {
        let mut loaded = self.assemble(&found.unit);
        loaded.problems.extend(found.hidden.clone());
        loaded
    }

    fn assemble(&self, unit: &Arc<Unit>) -> Loaded {
        let (written, builtin) = personas::names(&self.personas);
        let workflows: Vec<&str> = self.workflows.iter().map(|it| it.key.as_str()).collect();
        let known = Known {
            personas: Some(KnownPersonas { written: &written, builtin: &builtin }),
            workflows: &workflows,
            accepts_unenforced: self.accepts_unenforced,
        };
        let mut hidden = Vec::new();
        let mut loaded = assemble(unit, known, &mut |key| {
            let found = self.workflows.iter().find(|found| found.key == key)?;
            // That a part of it may be the wrong file is an error of the whole, not only of that part.
            hidden.extend(found.hidden.clone());
            Some(Arc::clone(&found.unit))
        });
        loaded.problems.extend(hidden);
        self.judge_personas(&mut loaded);
        self.judge_rules(&mut loaded);
        loaded
    }

    /// Keys of all workflows, including those that cannot run.
    pub fn keys(&self) -> Vec<String> {
        self.workflows.iter().map(|found| found.key.clone()).collect()
    }

    /// Names of the workflows that a person can start.
    fn startable(&self) -> Vec<String> {
        let is_inner = |found: &FoundWorkflow| {
            found.unit.workflow.as_ref().is_some_and(|it| it.show == Show::Workflows)
        };
        let found = self.workflows.iter().filter(|found| !is_inner(found));
        found.map(|found| found.key.clone()).collect()
    }

    /// The team of that name, case-insensitively; the team of all always exists.
    pub fn team(&self, name: &str) -> Option<Team> {
        let found = self.teams.iter().find(|found| found.team.name.eq_ignore_ascii_case(name));
        let all = || Team {
            name: TEAM_OF_ALL.to_owned(),
            members: self.personas.iter().map(|found| found.persona.name.clone()).collect(),
            not_covered: Vec::new(),
        };
        let found = found.map(|found| found.team.clone());
        found.or_else(|| name.eq_ignore_ascii_case(TEAM_OF_ALL).then(all))
    }

    /// The persona of that name, case-insensitively.
    pub fn persona(&self, name: &str) -> Option<&Persona> {
        let found = self.personas.iter().find(|found| found.persona.is_called(name))?;
        Some(&found.persona)
    }
}

/// Loads a workflow by its name or path, with all of its sub-workflows.
pub fn workflow(project: &Project, name: &str) -> Result<Loaded, DiscoverError> {
    workflow_upon(&Limits::default(), project, name)
}

/// The same, with these limits as defaults.
pub(crate) fn workflow_upon(
    limits: &Limits,
    project: &Project,
    name: &str,
) -> Result<Loaded, DiscoverError> {
    let places = Places { limits: limits.clone(), ..Places::of(project) };
    find_in(&places).named(&places, name)
}

impl Catalog {
    /// The workflow of that name or path, with all of its sub-workflows.
    pub fn named(&self, places: &Places, name: &str) -> Result<Loaded, DiscoverError> {
        if let Some(path) = as_path(name) {
            return self.at_path(&places.limits, &path, name);
        }
        match self.workflow(name).filter(|_| workflows::is_key(name)) {
            Some(found) => Ok(self.load(found)),
            None => Err(DiscoverError::Unknown {
                name: name.to_owned(),
                broken: self.unread(places),
                looked: workflows::searched(places),
                known: self.startable(),
            }),
        }
    }

    /// The searched files and folders that have an error as a whole.
    fn unread(&self, places: &Places) -> Vec<String> {
        let searched = workflows::searched(places).into_iter();
        // A chain file may have the other ending, too.
        let paths = searched.flat_map(|path| [path.with_extension("yml"), path]);
        let shown: Vec<String> = paths.map(|path| Places::shown(&path)).collect();
        let errors = self.problems.list.iter().filter(|it| it.severity == Severity::Error);
        let mut broken: Vec<String> = errors.map(|problem| problem.file.clone()).collect();
        broken.retain(|file| shown.contains(file));
        broken.dedup();
        broken
    }

    fn at_path(&self, limits: &Limits, path: &Path, name: &str) -> Result<Loaded, DiscoverError> {
        let unreadable = |source| DiscoverError::Unreadable { path: path.to_owned(), source };
        // A path that was typed and does not exist is an error of its own, not an unknown workflow.
        std::fs::metadata(path).map_err(unreadable)?;
        if workflows::is_chains(path) {
            return self.only_chain(limits, path);
        }
        let key = key_of(path).unwrap_or(name);
        let folder = path.parent().unwrap_or(path);
        let (format, root) = format_of(path);
        let mut roots = workflows::roots(root.unwrap_or(folder));
        roots.extend(workflows::roots(folder));
        Ok(self.assemble(&Arc::new(workflows::unit(limits, path, key, format, &roots))))
    }
}

impl Catalog {
    /// Every chain of a chain file, and problems of the file; `None` if the name is not the path of such a file.
    pub fn chains_at(&self, places: &Places, name: &str) -> Option<(Vec<Loaded>, FileProblems)> {
        let path = as_path(name).filter(|path| workflows::is_chains(path) && path.is_file())?;
        let (units, problems) = workflows::chains_of(&places.limits, &path);
        let loaded = units.into_iter().map(|unit| self.assemble(&Arc::new(unit))).collect();
        Some((loaded, problems))
    }

    /// A definition that has no file of its own.
    pub fn of_text(&self, places: &Places, source: Source, format: Format) -> Loaded {
        let mut no_files = |file: &str| {
            let message = format!("there is no phase file `{}` here", places::harmless(file));
            Err(Trouble::new("phase-file", message))
        };
        self.assemble(&Arc::new(read_upon(&places.limits, source, format, &mut no_files)))
    }

    fn only_chain(&self, limits: &Limits, path: &Path) -> Result<Loaded, DiscoverError> {
        let (mut units, problems) = workflows::chains_of(limits, path);
        if units.len() > 1 {
            let chains = units.into_iter().map(|unit| unit.key).collect();
            return Err(DiscoverError::Several { path: path.to_owned(), chains });
        }
        let unit = units.pop().unwrap_or_else(|| {
            let unread = || Source {
                file: Some(path.to_owned()),
                name: Places::shown(path),
                key: String::new(),
                text: String::new(),
            };
            let source = problems.sources.first().cloned().unwrap_or_else(unread);
            Unit::broken(source, Trouble::new("not-a-chain", "no chain in it"))
        });
        let mut loaded = self.assemble(&Arc::new(unit));
        loaded.problems.extend(problems.list);
        Ok(loaded)
    }
}

/// A file in a folder of one format is read in that format, and may use what is shared there.
fn format_of(path: &Path) -> (Format, Option<&Path>) {
    // From the file upwards: the nearest such folder decides, also inside of another project.
    for folder in path.ancestors().skip(1) {
        if folder.ends_with(".pi/workflows") || folder.ends_with(".pi/agent/workflows") {
            return (Format::Phased, Some(folder));
        }
        if folder.ends_with(".pi/chronicle/workflows") {
            return (Format::Template, Some(folder));
        }
        if folder.ends_with(".chronicle/workflows") {
            return (Format::Native, Some(folder));
        }
    }
    (Format::Native, None)
}

/// Keys of all workflows, sorted.
pub fn known(project: &Project) -> Vec<String> {
    let mut keys = find(project).keys();
    keys.sort_unstable();
    keys
}

/// A name with a slash or a known extension is a path.
fn as_path(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let ending = path.extension().and_then(|ending| ending.to_str());
    // A key never has a slash or such an ending, so nothing can be both.
    let is_path = name.contains('/') || ending.is_some_and(|it| workflows::ENDINGS.contains(&it));
    is_path.then(|| workflows::folder_file(path).unwrap_or_else(|| path.to_owned()))
}

/// The key of a workflow given by path: the name of the file or of its folder.
fn key_of(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    Some(if stem == "workflow" { folder.unwrap_or(stem) } else { stem })
}
