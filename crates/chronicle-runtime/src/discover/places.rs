//! Where definitions are looked for.

use std::env;
use std::path::{Path, PathBuf};

use chronicle_core::base::limits::Limits;
use chronicle_core::base::quote::is_deceptive;

use super::builtin::{self, Builtin};
use crate::project::Project;

/// Folders and built-in definitions that are searched.
#[derive(Debug, Clone)]
pub struct Places {
    /// Root of the project.
    pub project: PathBuf,
    /// Home folder of the user.
    pub home: Option<PathBuf>,
    /// The user's configuration folder: `~/.config`.
    pub config: Option<PathBuf>,
    /// Pi's folder of the user: `~/.pi/agent`.
    pub pi: Option<PathBuf>,
    /// Workflows that are built into the program.
    pub workflows: &'static [Builtin],
    /// Personas that are built into the program.
    pub personas: &'static [Builtin],
    /// Default limits of workflows.
    pub limits: Limits,
}

impl Places {
    /// The places of this user, from the environment.
    pub fn of(project: &Project) -> Self {
        let folder = |name: &str| env::var_os(name).map(PathBuf::from);
        let home = folder("HOME").filter(|path| path.is_absolute());
        let below = |rest: &str| home.as_ref().map(|home| home.join(rest));
        // The specification tells to ignore a relative one: it would mean another folder in each directory.
        let config = folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        let pi = folder("PI_CODING_AGENT_DIR").filter(|path| !path.as_os_str().is_empty());
        Self {
            project: project.root().to_owned(),
            config: config.or_else(|| below(".config")),
            pi: pi.or_else(|| below(".pi/agent")),
            home,
            workflows: builtin::WORKFLOWS,
            personas: builtin::PERSONAS,
            limits: Limits::default(),
        }
    }

    /// Only a project: nothing of a user, nothing built in.
    pub fn only(project: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            home: None,
            config: None,
            pi: None,
            workflows: &[],
            personas: &[],
            limits: Limits::default(),
        }
    }

    /// A folder of the project.
    pub(super) fn own(&self, rest: &str) -> PathBuf {
        self.project.join(rest)
    }

    /// A folder in the user's Chronicle configuration.
    pub(super) fn ours(&self, rest: &str) -> Option<PathBuf> {
        self.config.as_ref().map(|config| config.join("chronicle").join(rest))
    }

    /// A folder in the user's home.
    pub(super) fn of_home(&self, rest: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(rest))
    }

    /// A folder in Pi's configuration.
    pub(super) fn of_pi(&self, rest: &str) -> Option<PathBuf> {
        self.pi.as_ref().map(|pi| pi.join(rest))
    }

    /// A path as people see it: safe for a terminal.
    pub(super) fn shown(path: &Path) -> String {
        harmless(&path.display().to_string())
    }
}

/// A printable name: control characters are replaced.
pub(super) fn harmless(name: &str) -> String {
    name.chars().map(|letter| if is_deceptive(letter) { '\u{fffd}' } else { letter }).collect()
}
