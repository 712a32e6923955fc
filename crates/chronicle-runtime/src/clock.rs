//! The wall clock of this machine, and the time in which this process did not run.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chronicle_core::base::time::Millis;

/// The current wall-clock time.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// How often whoever uses [`Ticks`] looks, at least.
pub(crate) const TICK: Duration = Duration::from_secs(2);
/// A longer time between two looks did not pass for this process: it was stopped by a signal. Much longer than a tick, so that a
/// busy machine is not taken for it.
const MISSED: Duration = Duration::from_secs(10);

/// Notices that this process did not run for a while.
#[derive(Debug)]
pub(crate) struct Ticks {
    last: Instant,
}

impl Ticks {
    pub(crate) fn from(now: Instant) -> Self {
        Self { last: now }
    }

    /// The time since the last look, if this process cannot have run in it; otherwise zero.
    pub(crate) fn missed(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.last);
        self.last = now;
        if passed > MISSED { passed } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_silence_is_missed() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut ticks = Ticks::from(began);
        let missed: Vec<u64> =
            [2, 4, 13, 3_613, 3_615].map(|at| ticks.missed(after(at)).as_secs()).to_vec();
        assert_eq!(missed, [0, 0, 0, 3_600, 0]);
        assert!(MISSED > TICK * 3);
    }
}
