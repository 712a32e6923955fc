//! Waits that end by themselves: for a quota, for room at a model's service. Each has an end that is known when it begins.

use serde::{Deserialize, Serialize};

use crate::ids::{AttemptId, Cause, FramePath, Place};
use crate::limits::{BACKOFF_FIRST_MS, BACKOFF_MAX_MS, QUOTA_WAIT_MAX_MS};
use crate::state::{Frame, Stage, State};
use crate::time::Millis;

/// What comes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// A new quota, at a time that the agent named.
    Quota,
    /// Another try, after a while: nobody knows when there is room again.
    Retry,
}

/// The run waits for something that comes by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitBegan {
    /// Where.
    pub place: Place,
    /// The attempt whose end it follows.
    pub attempt: AttemptId,
    /// What for.
    pub wait_kind: WaitKind,
    /// Until when, on the wall's clock.
    pub until: Millis,
    /// Which wait in a row without progress.
    pub number: u32,
}

/// The wait is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitEnded {
    /// Where.
    pub place: Place,
    /// The attempt whose end it followed.
    pub attempt: AttemptId,
    /// Who cut it short; none = its time has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Who is to work from now on, if they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What they said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A wait that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// What began.
    pub began: WaitBegan,
    /// The event that did so.
    pub cause: Cause,
}

/// What is waited for after a crash that only time mends, and until when. A time that has passed, or none, is not believed: then the
/// waits grow. One that is far away is asked about again before.
pub(crate) fn after(named: Option<Millis>, number: u32, now: Millis) -> (WaitKind, Millis) {
    match named.filter(|until| *until > now) {
        Some(until) => (WaitKind::Quota, until.min(now.after(QUOTA_WAIT_MAX_MS))),
        None => (WaitKind::Retry, now.after(backoff_ms(number))),
    }
}

fn backoff_ms(number: u32) -> u64 {
    let doubled = 1u64.checked_shl(number.saturating_sub(1)).unwrap_or(u64::MAX);
    BACKOFF_FIRST_MS.saturating_mul(doubled).min(BACKOFF_MAX_MS)
}

impl State {
    /// The waits that go on, with their frames.
    pub fn waits(&self) -> impl Iterator<Item = (&Frame, &Waited)> {
        self.frames.values().filter_map(|frame| match &frame.stage {
            Stage::Waiting { wait } => Some((frame, &**wait)),
            _ => None,
        })
    }

    /// The frame that waits after that attempt.
    pub(crate) fn waits_after(&self, attempt: AttemptId) -> Option<(&Frame, &Waited)> {
        self.waits().find(|(_, wait)| wait.began.attempt == attempt)
    }

    /// Whether a frame in there waits for what comes by itself.
    pub(crate) fn waits_within(&self, path: &FramePath) -> bool {
        self.waits().any(|(frame, _)| frame.path.is_within(path))
    }
}
