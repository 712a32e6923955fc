//! What a keeper is asked to do, and how it ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that marks an agent and everything it starts.
pub(crate) const COOKIE_VARIABLE: &str = "CHRONICLE_COOKIE";
/// How long a supervisor may be frozen before its keepers end their agents.
pub(crate) const LEASE: Duration = Duration::from_mins(1);

/// One agent to start under a keeper of its own.
#[derive(Debug, Clone)]
pub struct KeeperOrder {
    /// Our own executable, which has the `keeper` command.
    pub chronicle: PathBuf,
    /// Marks every process of this attempt; unique to it.
    pub cookie: String,
    /// Locked by the keeper while it lives; its folder must exist.
    pub lock_file: PathBuf,
    /// How long the keeper goes on without a sign of life from the supervisor.
    pub lease: Duration,
    /// The folder that the agent works in.
    pub cwd: PathBuf,
    /// The agent's program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables of ours that the agent must not see.
    pub env_remove: Vec<String>,
    /// Variables that the agent gets besides.
    pub env_set: BTreeMap<String, String>,
}

impl KeeperOrder {
    /// An order with our own executable, the usual lease and our own environment.
    pub fn new(cookie: String, lock_file: PathBuf, cwd: PathBuf, argv: Vec<OsString>) -> Self {
        Self {
            chronicle: own_executable(),
            cookie,
            lock_file,
            lease: LEASE,
            cwd,
            argv,
            env_remove: Vec::new(),
            env_set: BTreeMap::new(),
        }
    }
}

/// The arguments of a command phase: one line for the shell.
pub fn shell_argv(command: &str) -> Vec<OsString> {
    vec!["/bin/sh".into(), "-c".into(), command.into()]
}

/// The running image itself, so that an upgrade in mid-run cannot mix two versions.
#[cfg(target_os = "linux")]
pub fn own_executable() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// Other systems have no name for the running image: the path it was started from must do.
#[cfg(not(target_os = "linux"))]
pub fn own_executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("chronicle"))
}

/// That binary, by a name under which another process can start it while we live.
pub(crate) fn executable_for_others(chronicle: &Path) -> PathBuf {
    if chronicle == Path::new("/proc/self/exe") {
        PathBuf::from(format!("/proc/{}/exe", std::process::id()))
    } else {
        chronicle.to_owned()
    }
}

/// How an agent under a keeper came to its end. Nothing of it is left, but for `survivors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperEnd {
    /// The agent ran and ended.
    Ended {
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Processes besides the agent that had to be ended.
        strays: u32,
        /// Processes that could not be ended: another user's, or stuck in the kernel.
        survivors: u32,
        /// Whether it was told to stop, by [`super::Control::stop`] or by a signal to the keeper.
        stopped: bool,
    },
    /// The supervisor gave no sign of life for the length of the lease; everything was ended.
    LeaseRanOut {
        /// Processes besides the agent that had to be ended.
        strays: u32,
        /// Processes that could not be ended.
        survivors: u32,
    },
    /// The agent's program could not be started.
    CannotStart {
        /// Why, naming the program.
        text: String,
    },
    /// The keeper was killed; everything with its cookie has been ended since.
    KeeperDied,
}
