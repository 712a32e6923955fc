//! How long a run waits for what comes by itself. Each wait has an end that is known when it begins.

use crate::base::limits::{BACKOFF_FIRST_MS, BACKOFF_MAX_MS, QUOTA_WAIT_MAX_MS};
use crate::base::time::Millis;
use crate::event::wait::WaitKind;

/// What is waited for after a crash that only time mends, and until when. A time that has passed, or none, is not believed: then the
/// waits grow, but none is shorter than what the service asked for. One that is far away is asked about again before.
pub(super) fn after(
    named: Option<Millis>,
    asked_ms: u64,
    number: u32,
    now: Millis,
) -> (WaitKind, Millis) {
    if let Some(until) = named.filter(|until| *until > now) {
        return (WaitKind::Quota, until.min(now.after(QUOTA_WAIT_MAX_MS)));
    }
    let asked_ms = asked_ms.min(QUOTA_WAIT_MAX_MS);
    (WaitKind::Retry, now.after(backoff_ms(number).max(asked_ms)))
}

fn backoff_ms(number: u32) -> u64 {
    let doubled = 1u64.checked_shl(number.saturating_sub(1)).unwrap_or(u64::MAX);
    BACKOFF_FIRST_MS.saturating_mul(doubled).min(BACKOFF_MAX_MS)
}
