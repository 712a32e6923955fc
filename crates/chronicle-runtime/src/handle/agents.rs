//! The agents that can work here: which are known, which are installed, and what they say about themselves.

use std::ffi::OsString;
use std::time::Duration;

use chronicle_core::definition::settings::Settings;

use crate::process;
use crate::project::Project;

pub use crate::agents::{PublishedAgent, UnknownAgent, about};
pub use crate::discover::{
    AGENT_PROGRAMS, InstalledAgent, SignedIn, installed_agents as installed, is_missing, signed_in,
};

/// How long an agent may take to say its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(5);

/// Whether Chronicle can drive the agent of that name.
pub fn check(name: &str, project: &Project, settings: &Settings) -> Result<(), UnknownAgent> {
    crate::agents::find(name, project.root(), settings).map(drop)
}

/// What an agent prints when asked for its version, started the same way as for work.
pub fn version(agent: &InstalledAgent, project: &Project) -> Option<String> {
    let mut argv: Vec<OsString> = vec![agent.program.clone().into()];
    argv.extend(agent.first.iter().map(OsString::from));
    argv.push("--version".into());
    process::tool_within(&argv, project.root(), VERSION_PATIENCE)
}
