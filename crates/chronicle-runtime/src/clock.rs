//! The two clocks: the wall's, for people, and active time, which stands still while the machine sleeps.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use chronicle_core::base::time::Millis;

/// Now, on the wall.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Active milliseconds since then. `Instant` does not count suspended time on Linux.
pub fn active_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
