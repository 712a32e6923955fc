//! Wakes waiting threads without a queue: they look themselves at what is new. So ringing never waits for a listener.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A bell; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell {
    shared: Arc<(Mutex<Rung>, Condvar)>,
}

#[derive(Debug, Default)]
struct Rung {
    count: u64,
    /// Number of waiting threads: an agent's reader rings for every line, and usually nobody waits.
    waiting: usize,
}

impl Bell {
    /// Wakes all waiting threads.
    pub(crate) fn ring(&self) {
        let mut rung = self.rung();
        rung.count += 1;
        // Most rings have no listener. Without this check each would be a system call of the driver.
        if rung.waiting > 0 {
            self.shared.1.notify_all();
        }
    }

    /// How often it was rung. Asking before looking makes sure that nothing is missed.
    pub(crate) fn count(&self) -> u64 {
        self.rung().count
    }

    /// Waits until it has been rung since that count, but no longer than `most`.
    pub(crate) fn wait(&self, since: u64, most: Duration) {
        let mut rung = self.rung();
        rung.waiting += 1;
        // The count is compared under the lock before the thread sleeps, so a ring between `count` and this line is not lost.
        let waited = self.shared.1.wait_timeout_while(rung, most, |rung| rung.count == since);
        waited.unwrap_or_else(PoisonError::into_inner).0.waiting -= 1;
    }

    fn rung(&self) -> MutexGuard<'_, Rung> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_rung_before_the_wait_is_not_waited_for() {
        let bell = Bell::default();
        let before = bell.count();
        bell.ring();
        bell.wait(before, Duration::from_hours(1));
        let other = bell.clone();
        let before = bell.count();
        let rings = std::thread::spawn(move || other.ring());
        bell.wait(before, Duration::from_hours(1));
        assert!(rings.join().is_ok());
    }
}
