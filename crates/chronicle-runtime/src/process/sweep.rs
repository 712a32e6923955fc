//! Ends what a dead keeper or a dead supervisor left behind, by its cookie.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use thiserror::Error;

use super::lock::{self, Entry};
pub use super::table::Process;
use super::table::{self, Row};
use crate::regular::{self, Links};

/// How long killed processes may need to go; longer means that the kernel holds them.
pub const SWEEP_PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two looks at processes that were killed but are still there.
pub(super) const ROUND: Duration = Duration::from_millis(20);
/// Scans in a row that must find nothing: in the middle of an exec a process shows no environment.
pub(super) const CLEAN_SCANS: u32 = 2;
/// Pause between two looks at a lock: the system has no lock with a time limit.
const LOCK_LOOK: Duration = Duration::from_millis(10);

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were killed.
    pub ended: u32,
    /// Processes that would not go within [`SWEEP_PATIENCE`], or are another user's.
    pub survivors: u32,
}

/// Why a keeper's end could not be made sure of.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The lock file could not be opened or locked.
    #[error("cannot lock `{path}`")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Somebody holds the lock who is not the keeper that the file names.
    #[error("`{path}` is still locked, and not by the keeper that it names")]
    StillHeld {
        /// The lock file.
        path: PathBuf,
    },
}

/// Every living process that carries the cookie, but never our own.
pub fn by_cookie(cookie: &str) -> Vec<Process> {
    marked(&others(), cookie)
}

/// Kills everything that carries the cookie, and what is below it, and waits until it is gone.
pub fn sweep(cookie: &str) -> Swept {
    end_all(|| {
        let all = others();
        let mut found = marked(&all, cookie);
        for root in found.clone() {
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
/// A keeper whose supervisor died ends everything by itself: this waits for it for as long as
/// `patience`, then kills it, and in the end sweeps by the cookie.
pub fn await_keeper(
    lock_file: &Path,
    cookie: &str,
    patience: Duration,
) -> Result<Swept, SweepError> {
    let failed = |source| SweepError::Lock { path: lock_file.to_owned(), source };
    let mut options = OpenOptions::new();
    let file = match regular::open(lock_file, options.read(true).write(true), Links::Refused) {
        Ok(file) => file,
        // No keeper ever got so far as to take its lock; it may be on its way, with the cookie.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(sweep(cookie)),
        Err(error) => return Err(failed(error)),
    };
    let mut swept = Swept::default();
    if !lock_within(&file, patience).map_err(failed)? {
        let killed = kill_holder(lock_file, cookie);
        let patience = killed.map_or(Duration::ZERO, |_| SWEEP_PATIENCE);
        swept = killed.unwrap_or_default();
        if !lock_within(&file, patience).map_err(failed)? {
            return Err(SweepError::StillHeld { path: lock_file.to_owned() });
        }
    }
    let rest = sweep(cookie);
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
        if deadline.is_some_and(|at| Instant::now() >= at) {
            return Ok(false);
        }
        std::thread::sleep(LOCK_LOOK);
    }
}

/// Kills the keeper that the file names, if that very process still lives, and first all below it:
/// once the keeper is dead nobody finds what cleared its environment.
fn kill_holder(lock_file: &Path, cookie: &str) -> Option<Swept> {
    let (pid, started) = lock::entries(lock_file).into_iter().find_map(|entry| match entry {
        Entry::Keeper { pid, started, cookie: its } if its == cookie => Some((pid, started)),
        Entry::Keeper { .. } | Entry::Agent { .. } | Entry::CannotStart { .. } => None,
    })?;
    let keeper = table::read(pid).filter(|process| process.started == started)?;
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

/// Kills what `scan` finds until it finds nothing more, children before their parents.
fn end_all(scan: impl Fn() -> Vec<Process>) -> Swept {
    let deadline = Instant::now() + SWEEP_PATIENCE;
    let mut ended: BTreeSet<Process> = BTreeSet::new();
    let mut clean_scans = 0;
    loop {
        let mut found = scan();
        // What was killed may show no cookie any more, and yet need a moment to go.
        let going = ended.iter().filter(|one| table::read(one.pid) == Some(**one));
        let going: Vec<Process> = going.copied().filter(|one| !found.contains(one)).collect();
        found.extend(going);
        clean_scans = if found.is_empty() { clean_scans + 1 } else { 0 };
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

fn others() -> Vec<Row> {
    let own = std::process::id();
    table::all().into_iter().filter(|row| row.process.pid != own).collect()
}

fn marked(all: &[Row], cookie: &str) -> Vec<Process> {
    let processes = all.iter().map(|row| row.process);
    processes.filter(|process| table::has_cookie(*process, cookie)).collect()
}

pub(super) fn count(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
