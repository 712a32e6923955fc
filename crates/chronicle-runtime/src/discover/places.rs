//! Where definitions are looked for.

use std::env;
use std::path::{Path, PathBuf};

use chronicle_core::base::limits::Limits;

use super::builtin::{self, Builtin};
use crate::project::Project;

/// The folders and the built-in definitions that are looked through.
#[derive(Debug, Clone)]
pub struct Places {
    /// The project's root.
    pub project: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's settings of every program: `~/.config`.
    pub config: Option<PathBuf>,
    /// Pi's own folder of the user: `~/.pi/agent`.
    pub pi: Option<PathBuf>,
    /// Workflows that are compiled in.
    pub workflows: &'static [Builtin],
    /// Personas that are compiled in.
    pub personas: &'static [Builtin],
    /// What holds where a workflow sets no limits.
    pub limits: Limits,
}

impl Places {
    /// Those of this user, as the environment says.
    pub fn of(project: &Project) -> Self {
        let folder = |name: &str| env::var_os(name).map(PathBuf::from);
        let home = folder("HOME").filter(|path| path.is_absolute());
        let below = |rest: &str| home.as_ref().map(|home| home.join(rest));
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

    /// A project alone: nothing of a user, nothing built in.
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

    /// A folder of the user's settings of ours.
    pub(super) fn ours(&self, rest: &str) -> Option<PathBuf> {
        self.config.as_ref().map(|config| config.join("chronicle").join(rest))
    }

    /// A folder of the user's.
    pub(super) fn of_home(&self, rest: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(rest))
    }

    /// A folder of Pi's.
    pub(super) fn of_pi(&self, rest: &str) -> Option<PathBuf> {
        self.pi.as_ref().map(|pi| pi.join(rest))
    }

    /// A path as people are shown it: harmless to a terminal.
    pub(super) fn shown(path: &Path) -> String {
        harmless(&path.display().to_string())
    }
}

/// A name that may be printed: control characters are replaced.
pub(super) fn harmless(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
