//! Payloads of waits that end by themselves: for a quota reset, or for an overloaded service.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, Place};
use crate::base::time::Millis;

/// What the run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// A quota reset, at a time that the agent named.
    Quota,
    /// A retry after a back-off, because the service did not say when it has room again.
    Retry,
}

/// A wait that ends by itself began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitBegan {
    /// The phase that waits.
    pub place: Place,
    /// The attempt that ended with the quota or overload error.
    pub attempt: AttemptId,
    /// Quota reset or retry.
    pub wait_kind: WaitKind,
    /// End of the wait, in wall-clock time.
    pub until: Millis,
    /// Counts waits in a row without progress, from 1.
    pub number: u32,
}

/// A wait ended by itself or by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitEnded {
    /// The phase that waited.
    pub place: Place,
    /// The attempt that had ended with the quota or overload error.
    pub attempt: AttemptId,
    /// Who cut it short; `None` if its time was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The agent that works from now on, if the person chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The person's note for the worker; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}
