//! Finds the agents' programs that are installed. Nothing is run.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chronicle_core::definition::settings::Settings;

use crate::agents::{self, About};

/// The agents that are looked for, by the names of their programs.
pub const AGENT_PROGRAMS: [&str; 5] = ["claude", "pi", "codex", "gemini", "opencode"];

/// As long as a file that says of nobody that they are signed in: `{}` and a line end.
const EMPTY_LOGIN: u64 = 4;

/// An agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledAgent {
    /// Its name.
    pub name: &'static str,
    /// Its program.
    pub program: PathBuf,
    /// What the program is given before anything else, where a setting says so.
    pub first: Vec<String>,
}

/// What is known of a login without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedIn {
    /// A key is in this variable.
    Key(&'static str),
    /// Its own file is there.
    Login(PathBuf),
    /// It may be all the same: some keep it where nobody can look.
    Unknown,
}

/// The agents there are: where a setting says, else on the path.
pub fn installed_agents(settings: &Settings) -> Vec<InstalledAgent> {
    let found = |name: &'static str| {
        let said = settings.agent_command(name).and_then(|line| agents::command_words(line).ok());
        let mut words = said.unwrap_or_default().into_iter();
        let program = program(words.next().as_deref().unwrap_or(name))?;
        Some(InstalledAgent { name, program, first: words.collect() })
    };
    AGENT_PROGRAMS.into_iter().filter_map(found).collect()
}

/// Whether somebody seems to be signed in. Nothing is read but that a file is there, and that it is not empty.
pub fn signed_in(agent: &About) -> SignedIn {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = agent.keys.iter().copied().find(|name| is_set(name)) {
        return SignedIn::Key(variable);
    }
    let own = std::env::var_os(agent.login.variable).map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(agent.login.folder));
    let file = own.or_else(home).map(|folder| folder.join(agent.login.file));
    let is_there = |file: &PathBuf| file.metadata().is_ok_and(|it| it.len() > EMPTY_LOGIN);
    file.filter(is_there).map_or(SignedIn::Unknown, SignedIn::Login)
}

/// Whether an agent is one of these programs, and nowhere to be found.
pub fn is_missing(agent: &str, settings: &Settings) -> bool {
    let is_program = AGENT_PROGRAMS.contains(&agent);
    is_program && !installed_agents(settings).iter().any(|installed| installed.name == agent)
}

/// A program by its path, or by its name on the path.
fn program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
