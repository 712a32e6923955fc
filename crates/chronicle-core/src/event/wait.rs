//! The words of waits that end by themselves: for a quota, for room at a model's service.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, Place};
use crate::base::time::Millis;

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
