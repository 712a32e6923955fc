//! Kills what a dead keeper or a dead supervisor left behind, found by its cookie.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use thiserror::Error;

use super::lock::{self, LockEntry};
pub use super::table::Process;
use super::table::{self, ProcessRow};
use super::wall::Group;
use crate::regular::{self, Links};

/// How long killed processes may need to go; longer means that the kernel holds them.
pub const SWEEP_PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two scans for killed processes that are still there.
pub(super) const ROUND: Duration = Duration::from_millis(20);
/// Scans in a row that must find nothing: during an exec, a process has no readable environment.
pub(super) const CLEAN_SCANS: u32 = 2;
/// Polling interval for a lock: the system has no lock with a time limit.
const LOCK_LOOK: Duration = Duration::from_millis(10);

/// The result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were killed.
    pub ended: u32,
    /// Processes that did not die within [`SWEEP_PATIENCE`], or are another user's.
    pub survivors: u32,
}

/// Why it is uncertain whether a keeper has ended.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The lock file could not be opened or locked.
    #[error("cannot lock `{path}`")]
    Lock {
        /// Path of the attempt's lock file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The lock is held by a process that is not the keeper named in the file.
    #[error("`{path}` is still locked, and not by the keeper that it names")]
    StillHeld {
        /// Path of the attempt's lock file.
        path: PathBuf,
    },
}

/// Every live process with the cookie, except our own.
pub fn by_cookie(cookie: &str) -> Vec<Process> {
    marked(&others(), cookie)
}

/// Ends what a dead keeper left: everything behind its wall at once, then what has the cookie.
pub(super) fn after_keeper(lock_file: &Path, cookie: &str) -> Swept {
    let behind = end_wall(lock_file, cookie);
    let rest = sweep(cookie);
    // A first process that would not go may have the cookie too.
    let survivors = behind.survivors.max(rest.survivors);
    Swept { ended: behind.ended + rest.ended, survivors }
}

/// Kills PID 1 of the wall that the file names, and waits until it is gone: the kernel lets it go last. Then the group that counted them is
/// removed. That the lock is free says nothing about what is behind the wall.
fn end_wall(lock_file: &Path, cookie: &str) -> Swept {
    let entries = lock::entries(lock_file);
    let is_ours =
        |entry: &LockEntry| matches!(entry, LockEntry::Keeper { cookie: its, .. } if its == cookie);
    let init = entries.iter().find_map(|entry| match entry {
        LockEntry::Init { pid, started, boot } if *boot == table::boot() => {
            Some(Process { pid: *pid, started: *started })
        }
        _ => None,
    });
    if !entries.iter().any(is_ours) {
        return Swept::default();
    }
    let now = |init: Process| table::read(init.pid).filter(|now| *now == init);
    let ended =
        init.map_or_else(Swept::default, |init| end_all(|| now(init).into_iter().collect()));
    let group = entries.iter().find_map(|entry| match entry {
        LockEntry::Group { folder, boot } if *boot == table::boot() => Group::at(folder),
        _ => None,
    });
    let left = group.map_or_else(Swept::default, |group| end_group(&group));
    Swept { ended: ended.ended + left.ended, survivors: ended.survivors.max(left.survivors) }
}

/// Ends who is still in a group, waits until they are gone, and removes it.
pub(super) fn end_group(group: &Group) -> Swept {
    let swept = end_all(|| group.members());
    group.remove();
    swept
}

/// Kills every process with the cookie and those below it, and waits until they are gone.
pub fn sweep(cookie: &str) -> Swept {
    end_all(|| {
        let all = others();
        let mut found = marked(&all, cookie);
        for root in found.clone() {
            // Descendants count even without the cookie: a shell may have started them with a cleared environment.
            for process in table::below(root.pid, &all) {
                if !found.contains(&process) {
                    found.push(process);
                }
            }
        }
        found
    })
}

/// Makes sure that the keeper of an earlier supervisor and all its processes are gone.
///
/// A keeper whose supervisor died kills everything by itself: this waits for it for `patience`, then kills it, and finally sweeps
/// by the cookie.
pub fn await_keeper(
    lock_file: &Path,
    cookie: &str,
    patience: Duration,
) -> Result<Swept, SweepError> {
    let failed = |source| SweepError::Lock { path: lock_file.to_owned(), source };
    let mut options = OpenOptions::new();
    let file = match regular::open(lock_file, options.read(true).write(true), Links::Refused) {
        Ok(file) => file,
        // No keeper got as far as taking its lock. One may be starting right now; it already has the cookie.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sweep(cookie)),
        Err(error) => return Err(failed(error)),
    };
    let mut swept = Swept::default();
    // The lock is free as soon as the keeper's process is gone, however it ended.
    if !lock_within(&file, patience).map_err(failed)? {
        let killed = kill_holder(lock_file, cookie);
        // If the named keeper does not live, something else holds the lock and waiting would not help.
        let patience = killed.map_or(Duration::ZERO, |_| SWEEP_PATIENCE);
        swept = killed.unwrap_or_default();
        if !lock_within(&file, patience).map_err(failed)? {
            return Err(SweepError::StillHeld { path: lock_file.to_owned() });
        }
    }
    // Even after a clean exit: a process that the keeper could not kill still has the cookie.
    let rest = after_keeper(lock_file, cookie);
    Ok(Swept { ended: swept.ended + rest.ended, survivors: rest.survivors })
}

fn lock_within(file: &File, patience: Duration) -> io::Result<bool> {
    let deadline = Instant::now().checked_add(patience);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // After the lock was tried, so that it is tried once even without any patience.
        if deadline.is_some_and(|at| Instant::now() >= at) {
            return Ok(false);
        }
        std::thread::sleep(LOCK_LOOK);
    }
}

/// Kills the keeper named in the file, if that exact process still lives. Processes below it are killed first: once the keeper is
/// dead, those that cleared their environment cannot be found.
fn kill_holder(lock_file: &Path, cookie: &str) -> Option<Swept> {
    let (pid, started) = lock::entries(lock_file).into_iter().find_map(|entry| match entry {
        LockEntry::Keeper { pid, started, cookie: its } if its == cookie => Some((pid, started)),
        _ => None,
    })?;
    // Compare the start time: the process id may belong to another process by now.
    let keeper = table::read(pid).filter(|process| process.started == started)?;
    // What is below it first. Once the keeper is dead its children belong to init, and only the cookie would find them.
    let swept = end_all(|| table::below(keeper.pid, &others()));
    let killed = u32::from(table::signal(keeper, Signal::KILL));
    Some(Swept { ended: swept.ended + killed, survivors: swept.survivors })
}

/// Kills what is below a keeper once, without waiting.
pub(super) fn kill_below(keeper: u32) {
    for process in table::below(keeper, &others()).into_iter().rev() {
        table::signal(process, Signal::KILL);
    }
}

/// Kills what `scan` finds until it finds nothing, children before parents.
fn end_all(scan: impl Fn() -> Vec<Process>) -> Swept {
    let deadline = Instant::now() + SWEEP_PATIENCE;
    let mut ended: BTreeSet<Process> = BTreeSet::new();
    let mut clean_scans = 0;
    loop {
        let mut found = scan();
        // A killed process may have no readable cookie any more and still need a moment to go.
        let going = ended.iter().filter(|one| table::read(one.pid) == Some(**one));
        let going: Vec<Process> = going.copied().filter(|one| !found.contains(one)).collect();
        found.extend(going);
        clean_scans = if found.is_empty() { clean_scans + 1 } else { 0 };
        // Even at the deadline, one clean scan is confirmed by another before nothing counts as left.
        if clean_scans >= CLEAN_SCANS || (Instant::now() >= deadline && !found.is_empty()) {
            return Swept { ended: count(ended.len()), survivors: count(found.len()) };
        }
        ended.extend(found.iter().rev().filter(|found| table::signal(**found, Signal::KILL)));
        let until = Instant::now() + ROUND;
        for process in found {
            table::wait_gone(process, until);
        }
    }
}

fn others() -> Vec<ProcessRow> {
    let own = std::process::id();
    table::all().into_iter().filter(|row| row.process.pid != own).collect()
}

fn marked(all: &[ProcessRow], cookie: &str) -> Vec<Process> {
    let processes = all.iter().map(|row| row.process);
    processes.filter(|process| table::has_cookie(*process, cookie)).collect()
}

pub(super) fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
