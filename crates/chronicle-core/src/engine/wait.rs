//! How long a run waits for what comes by itself. Each wait has an end that is known when it begins.

use crate::base::limits::{BACKOFF_FIRST_MS, BACKOFF_MAX_MS, QUOTA_WAIT_MAX_MS};
use crate::base::time::Millis;
use crate::event::wait::WaitKind;

/// The wait after a quota or overload error, and its end. A reset time that is missing or has passed is not believed: then
/// back-offs grow, but never below what the service asked for. A far reset time is checked again earlier.
pub(super) fn after(
    named: Option<Millis>,
    asked_ms: u64,
    number: u32,
    now: Millis,
) -> (WaitKind, Millis) {
    // A reset time in the past would mean an endless loop of immediate retries.
    if let Some(until) = named.filter(|until| *until > now) {
        // Bounded, since the time comes from the agent: a wrong year must not put the run to sleep for good.
        return (WaitKind::Quota, until.min(now.after(QUOTA_WAIT_MAX_MS)));
    }
    let asked_ms = asked_ms.min(QUOTA_WAIT_MAX_MS);
    // Never sooner than the service asked for, and never sooner than our own back-off.
    (WaitKind::Retry, now.after(backoff_ms(number).max(asked_ms)))
}

fn backoff_ms(number: u32) -> u64 {
    // A shift by 64 or more has no result. The pause is bounded anyway.
    let doubled = 1u64.checked_shl(number.saturating_sub(1)).unwrap_or(u64::MAX);
    BACKOFF_FIRST_MS.saturating_mul(doubled).min(BACKOFF_MAX_MS)
}
