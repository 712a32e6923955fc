//! What a keeper is asked to do, and how it ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::wall::Wall;

/// Environment variable that marks an agent and everything it starts.
pub(crate) const COOKIE_VARIABLE: &str = "CHRONICLE_COOKIE";
/// How long a supervisor may be frozen before its keepers kill their agents.
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
    /// How long the keeper continues without hearing from the supervisor.
    pub lease: Duration,
    /// Working folder of the agent.
    pub cwd: PathBuf,
    /// The agent's program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables of this process that neither the keeper nor the agent has.
    pub env_remove: Vec<OsString>,
    /// Additional variables for the agent.
    pub env_set: BTreeMap<String, String>,
    /// The wall that it is started behind; `None` for none.
    pub wall: Option<Wall>,
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
            wall: None,
        }
    }
}

/// Arguments for a command phase: one line for the shell.
pub fn shell_argv(command: &str) -> Vec<OsString> {
    vec!["/bin/sh".into(), "-c".into(), command.into()]
}

/// The running image itself, so that an upgrade during a run cannot mix two versions.
#[cfg(target_os = "linux")]
pub fn own_executable() -> PathBuf {
    // Still the running binary after it was replaced or removed on disk, for example by an update during a run.
    PathBuf::from("/proc/self/exe")
}

/// Other systems have no name for the running image, so this is the path it was started from.
#[cfg(not(target_os = "linux"))]
pub fn own_executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("chronicle"))
}

/// The binary, by a path that other processes can start while this one lives.
pub(crate) fn executable_for_others(chronicle: &Path) -> PathBuf {
    if chronicle == Path::new("/proc/self/exe") {
        // `/proc/self/exe` would be the other program when somebody else opens it.
        PathBuf::from(format!("/proc/{}/exe", std::process::id()))
    } else {
        chronicle.to_owned()
    }
}

/// How an agent under a keeper ended. Nothing of it is left, except for `survivors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperEnd {
    /// The agent ran and ended.
    Ended {
        /// Its exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
        /// Processes besides the agent that had to be killed.
        strays: u32,
        /// Processes that could not be killed: another user's, or stuck in the kernel.
        survivors: u32,
        /// True if it was told to stop, by [`super::Control::stop`] or by a signal to the keeper.
        stopped: bool,
    },
    /// The supervisor was silent for the length of the lease; everything was killed.
    LeaseRanOut {
        /// Processes besides the agent that had to be killed.
        strays: u32,
        /// Processes that could not be killed.
        survivors: u32,
    },
    /// The agent's program could not be started.
    CannotStart {
        /// Why, naming the program.
        text: String,
    },
    /// The keeper was killed; everything with its cookie has been killed since.
    KeeperDied,
}
