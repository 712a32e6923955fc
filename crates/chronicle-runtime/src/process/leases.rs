//! Renews the leases of all live keepers, on one permanent thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::control::{KeeperLine, lock};
use super::spawn::SpawnError;
use crate::threads;

/// Most live keepers of one supervisor.
pub(crate) const KEEPERS_MAX: usize = 1024;
/// A lease is renewed this often before it would run out.
const RENEWALS_PER_LEASE: u32 = 4;
/// Longest pause between two rounds, so that a keeper that did not stop in time is noticed soon.
const ROUND_MAX: Duration = Duration::from_secs(1);
/// Shortest pause, so that a zero lease does not keep a core busy.
const ROUND_MIN: Duration = Duration::from_millis(5);

static LEASES: Leases = Leases { live: Mutex::new(Live::new()), added: Condvar::new() };

struct Leases {
    live: Mutex<Live>,
    added: Condvar,
}

struct Live {
    lines: Vec<Weak<KeeperLine>>,
    /// Counts additions, so that one during a round is not missed.
    additions: u64,
    has_thread: bool,
}

impl Live {
    const fn new() -> Self {
        Self { lines: Vec::new(), additions: 0, has_thread: false }
    }
}

/// Refuses a new keeper before anything of it exists, if there are too many or its lease could not be renewed.
pub(super) fn make_room() -> Result<(), SpawnError> {
    let mut live = lock(&LEASES.live);
    // Under the lock, so that two keepers that start at once do not start two threads.
    if !live.has_thread {
        threads::spawn("leases", renew_for_ever).map_err(SpawnError::Leases)?;
        live.has_thread = true;
    }
    // Ended keepers do not count against the limit.
    live.lines.retain(|line| line.strong_count() > 0);
    if live.lines.len() >= KEEPERS_MAX {
        return Err(SpawnError::TooMany(KEEPERS_MAX));
    }
    Ok(())
}

/// Renews the lease of this keeper until its last [`super::Control`] is dropped.
pub(super) fn add(line: &Arc<KeeperLine>) {
    let mut leases = lock(&LEASES.live);
    leases.lines.push(Arc::downgrade(line));
    // Counted, so that an addition between two looks of the thread is never missed.
    leases.additions += 1;
    LEASES.added.notify_one();
}

fn renew_for_ever() {
    let mut live = lock(&LEASES.live);
    loop {
        live.lines.retain(|line| line.strong_count() > 0);
        let lines: Vec<Arc<KeeperLine>> = live.lines.iter().filter_map(Weak::upgrade).collect();
        let additions = live.additions;
        // Not held while writing: adding a keeper must not wait for a slow socket.
        drop(live);
        for line in &lines {
            line.renew();
            line.kill_if_overdue();
            line.wake_if_still();
        }
        // The shortest lease sets the pace of all: a renewal too many costs next to nothing.
        let pause = lines.iter().map(|line| line.lease / RENEWALS_PER_LEASE).min();
        // These are strong references; holding them while sleeping would keep the sockets of ended keepers open.
        drop(lines);
        live = pause_for(pause, additions);
    }
}

/// Waits for the next round or a new keeper; without keepers, only for a new one.
fn pause_for(pause: Option<Duration>, additions: u64) -> MutexGuard<'static, Live> {
    let live = lock(&LEASES.live);
    let nothing_new = |live: &mut Live| live.additions == additions;
    match pause {
        None => {
            let waited = LEASES.added.wait_while(live, nothing_new);
            waited.unwrap_or_else(PoisonError::into_inner)
        }
        Some(pause) => {
            let pause = pause.clamp(ROUND_MIN, ROUND_MAX);
            let waited = LEASES.added.wait_timeout_while(live, pause, nothing_new);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
