//! Finds the agents' programs that are installed. Nothing is run.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chronicle_core::settings::Settings;

use crate::agents;

/// The agents that are looked for, by the names of their programs.
pub const AGENT_PROGRAMS: [&str; 5] = ["claude", "pi", "codex", "gemini", "opencode"];

/// An agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledAgent {
    /// Its name.
    pub name: &'static str,
    /// Its program.
    pub program: PathBuf,
}

/// The agents there are: where a setting says, else on the path.
pub fn installed_agents(settings: &Settings) -> Vec<InstalledAgent> {
    let found = |name: &'static str| {
        let said = settings.agent_command(name).and_then(first_word);
        let program = program(said.as_deref().unwrap_or(name))?;
        Some(InstalledAgent { name, program })
    };
    AGENT_PROGRAMS.into_iter().filter_map(found).collect()
}

fn first_word(line: &str) -> Option<String> {
    agents::command_words(line).ok()?.into_iter().next()
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
