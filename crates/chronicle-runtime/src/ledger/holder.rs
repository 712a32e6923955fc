//! The holder of a ledger's lock.

use std::fmt;

use chronicle_core::base::time::Millis;
use serde::{Deserialize, Serialize};

/// The process that writes a ledger, so that people can find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id of the writer.
    pub pid: u32,
    /// Name of the machine it runs on.
    pub host: String,
    /// Start time of the process in kernel ticks, which distinguishes it from a later one with the same id; 0 if unknown.
    #[serde(default)]
    pub started: u64,
    /// Command line it was started with, shortened.
    pub command: String,
    /// When it took the lock.
    pub since: Millis,
}

impl Holder {
    /// Describes the current process.
    pub fn current(command: impl Into<String>, since: Millis) -> Self {
        let name = rustix::system::uname();
        Self {
            pid: std::process::id(),
            host: name.nodename().to_string_lossy().into_owned(),
            started: started(std::process::id()).unwrap_or(0),
            command: command.into(),
            since,
        }
    }
}

impl Holder {
    /// True if it runs on this machine, where the system knows whether it lives.
    pub fn is_here(&self) -> bool {
        self.host == rustix::system::uname().nodename().to_string_lossy()
    }
}

impl Holder {
    /// True if a signal has stopped it, so that it answers nobody. False where this machine cannot tell.
    pub fn is_stopped(&self) -> bool {
        // `T` is stopped by a signal, `t` by a debugger.
        self.is_here()
            && stat(self.pid).is_some_and(|fields| fields.trim_start().starts_with(['T', 't']))
    }

    /// True if that exact process lives, as far as this machine can tell. A killed process may seem to hold its lock for a
    /// moment: a child between fork and exec still has the file open.
    pub(crate) fn lives(&self) -> bool {
        // Without a start time, or without `/proc`, nothing can be known, and the holder counts as alive: two writers are worse
        // than a run that a person has to release.
        let is_known = self.is_here() && self.started > 0 && started(std::process::id()).is_some();
        !is_known || started(self.pid) == Some(self.started)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, host, command, since, .. } = self;
        write!(f, "`{command}` (process {pid} on `{host}`, since {since})")
    }
}

/// The fields of `/proc/PID/stat` from the third on. The name in field 2 may contain any character.
fn stat(pid: u32) -> Option<String> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// Field 22 of `/proc/PID/stat`; `None` if the process does not live.
fn started(pid: u32) -> Option<u64> {
    let stat = stat(pid)?;
    let fields: Vec<&str> = stat.split_ascii_whitespace().collect();
    // A zombie holds no lock any more, although its process id still exists.
    let is_over = matches!(*fields.first()?, "Z" | "X");
    fields.get(19)?.parse().ok().filter(|_| !is_over)
}
