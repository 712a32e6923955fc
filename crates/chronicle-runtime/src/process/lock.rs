//! The lock file of an attempt: locked while its keeper lives, with the keeper's name.
//!
//! It has one JSON object per line, appended, because both the keeper and `keeper-exec` write it.

use std::fs::{File, FileTimes, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::table;
use crate::regular::{self, Links};

/// Most of a lock file that is read; a keeper writes five short lines.
const LOCK_FILE_MAX: u64 = 64 * 1024;

/// One line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LockEntry {
    Keeper {
        pid: u32,
        started: u64,
        cookie: String,
    },
    Agent {
        pid: u32,
    },
    /// PID 1 of the wall around the agent. The boot, since all start times begin anew with it.
    Init {
        pid: u32,
        started: u64,
        boot: String,
    },
    /// The group that limits the agent's processes.
    Group {
        folder: PathBuf,
        boot: String,
    },
    CannotStart {
        text: String,
    },
}

/// Takes the lock and writes the holder. The lock lasts as long as the file stays open. The file's name is synced before this
/// returns: after a power cut, an attempt without a lock file counts as never started.
pub(super) fn take(path: &Path, cookie: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A worker can write to this folder. A link here would let it choose which file is emptied below.
    let file = regular::open(path, options.create(true).append(true), Links::Refused)?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("another keeper holds it"),
        TryLockError::Error(error) => error,
    })?;
    // Emptied only under the lock: until then the content belongs to the keeper that holds it.
    file.set_len(0)?;
    let pid = std::process::id();
    // With its start time, since a process id alone may belong to another process when somebody comes to kill it.
    let started = table::read(pid).map_or(0, |process| process.started);
    add(&file, &LockEntry::Keeper { pid, started, cookie: cookie.to_owned() })?;
    if let Some(folder) = path.parent() {
        // The name must survive a power cut: a missing lock file means that no agent was ever started.
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

/// Appends one line in one write, so that two writers cannot interleave.
pub(super) fn add(mut file: &File, entry: &LockEntry) -> io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Sets the modification time: changes after it were not made by this keeper's processes.
pub(super) fn touch(file: &File) {
    let now = FileTimes::new().set_modified(SystemTime::now());
    // If this fails, later changes of files count as unclear; nothing else depends on it.
    let _ = file.set_times(now);
}

/// All readable lines; a torn one is skipped.
pub(super) fn entries(path: &Path) -> Vec<LockEntry> {
    let bytes = regular::read(path, LOCK_FILE_MAX, Links::Refused).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
