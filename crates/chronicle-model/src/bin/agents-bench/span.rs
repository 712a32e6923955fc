//! Times of a run's log, as far as a measurement of some seconds needs them.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// When the first event of that kind was reported, in a log as JSON.
pub(crate) fn first(log: &str, kind: &str) -> Result<SystemTime, String> {
    let entries = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut wanted = entries.filter(|entry| entry["event"]["kind"] == kind);
    let at = wanted.next().and_then(|entry| time(entry["at"].as_str()?));
    at.ok_or_else(|| format!("the log has no time of `{kind}`"))
}

/// How long it was; nothing where the clock was set back.
pub(crate) fn between(from: SystemTime, to: SystemTime) -> Duration {
    to.duration_since(from).unwrap_or_default()
}

/// `2026-11-15T12:13:26.421Z`, taken for the one of today: what is measured is seconds old.
fn time(text: &str) -> Option<SystemTime> {
    const DAY_MS: u128 = 86_400_000;
    let clock = text.split_once('T')?.1.strip_suffix('Z')?;
    let mut parts = clock.split(':');
    let (hours, minutes): (u128, u128) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (seconds, thousandths) = parts.next()?.split_once('.')?;
    let (seconds, thousandths): (u128, u128) = (seconds.parse().ok()?, thousandths.parse().ok()?);
    let of_day = ((hours * 60 + minutes) * 60 + seconds) * 1_000 + thousandths;
    let now = between(SystemTime::UNIX_EPOCH, SystemTime::now()).as_millis();
    let since = u64::try_from(now - now % DAY_MS + of_day).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_millis(since))
}
