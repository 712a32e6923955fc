//! Finds installed agents. Nothing is run.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chronicle_core::definition::settings::Settings;

use crate::agents::{self, PublishedAgent};

/// Agents that are looked for, by the names of their programs.
pub const AGENT_PROGRAMS: [&str; 5] = ["claude", "pi", "codex", "gemini", "opencode"];

/// Size of a login file without a login: `{}` and a line end.
const EMPTY_LOGIN: u64 = 4;

/// An agent that is installed on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledAgent {
    /// Name of the agent, as in settings and workflows.
    pub name: &'static str,
    /// Absolute path of its program.
    pub program: PathBuf,
    /// Arguments before all others, from a setting.
    pub first: Vec<String>,
}

/// What is known about a login without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedIn {
    /// A key is in this environment variable.
    Key(&'static str),
    /// Its login file exists.
    Login(PathBuf),
    /// Unknown: some agents store logins where they cannot be seen.
    Unknown,
}

/// Installed agents: from a setting, otherwise from the path.
pub fn installed_agents(settings: &Settings) -> Vec<InstalledAgent> {
    let found = |name: &'static str| {
        let said = settings.agent_command(name).and_then(|line| agents::command_words(line).ok());
        let mut words = said.unwrap_or_default().into_iter();
        let program = program(words.next().as_deref().unwrap_or(name))?;
        Some(InstalledAgent { name, program, first: words.collect() })
    };
    AGENT_PROGRAMS.into_iter().filter_map(found).collect()
}

/// Whether somebody seems to be signed in. Only the existence and size of a file are checked.
pub fn signed_in(agent: &PublishedAgent) -> SignedIn {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = agent.keys.iter().copied().find(|name| is_set(name)) {
        return SignedIn::Key(variable);
    }
    let own = std::env::var_os(agent.login.variable).map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(agent.login.folder));
    let file = own.or_else(home).map(|folder| folder.join(agent.login.file));
    // After a logout some agents leave a file with `{}` behind.
    let is_there = |file: &PathBuf| file.metadata().is_ok_and(|it| it.len() > EMPTY_LOGIN);
    file.filter(is_there).map_or(SignedIn::Unknown, SignedIn::Login)
}

/// True if an agent is one of these programs and is not installed.
pub fn is_missing(agent: &str, settings: &Settings) -> bool {
    let is_program = AGENT_PROGRAMS.contains(&agent);
    is_program && !installed_agents(settings).iter().any(|installed| installed.name == agent)
}

/// True if a program can be started by this name from a folder.
pub(crate) fn has_program(name: &str, from: &Path) -> bool {
    if name.contains('/') { is_program(&from.join(name)) } else { program(name).is_some() }
}

/// A program by its path, or by its name on the path.
fn program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        // As `execvp` does: a name with a slash is a path, and the search path plays no part.
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let folders = std::env::var_os("PATH")?;
    // As `process` looks for it: what is in a relative folder may be a worker's.
    let mut whole = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
    whole.find_map(|folder| Some(folder.join(name)).filter(|path| is_program(path)))
}

fn is_program(path: &Path) -> bool {
    // As a shell looks it up: a file of that name which may not be executed does not hide one further down the path.
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
