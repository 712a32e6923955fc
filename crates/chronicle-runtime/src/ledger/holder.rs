//! Who holds a ledger's lock.

use std::fmt;

use chronicle_core::base::time::Millis;
use serde::{Deserialize, Serialize};

/// The process that writes a ledger, for people to find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// When that process started, in the system's ticks: tells it from a later one of the same number; 0 when unknown.
    #[serde(default)]
    pub started: u64,
    /// What it was started as.
    pub command: String,
    /// Since when it holds the lock.
    pub since: Millis,
}

impl Holder {
    /// This process.
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
    /// Whether it is on this host, where the system knows if it lives.
    pub fn is_here(&self) -> bool {
        self.host == rustix::system::uname().nodename().to_string_lossy()
    }
}

impl Holder {
    /// Whether that very process lives, as far as this host can tell. One that was killed may seem to hold its lock for a moment:
    /// a child that it was just starting has the file open until it becomes another program.
    pub(crate) fn lives(&self) -> bool {
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

/// The 22nd field of a process's line; none when it does not live. Its name, the second, may hold spaces and parentheses.
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let is_over = matches!(*fields.first()?, "Z" | "X");
    fields.get(19)?.parse().ok().filter(|_| !is_over)
}
