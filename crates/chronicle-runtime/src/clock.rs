//! The wall clock of this machine.

use std::time::{SystemTime, UNIX_EPOCH};

use chronicle_core::base::time::Millis;

/// The current wall-clock time.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
