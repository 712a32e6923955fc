//! Payloads of attempts that wait until fewer agents work on the machine.

use serde::{Deserialize, Serialize};

use crate::base::ids::AttemptId;

/// How many agents may work at once on one machine, over all runs of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomLimit {
    /// The agent that is limited, by the name that settings give it; `None` for all agents together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How many may work at once.
    pub most: u32,
}

/// An attempt does not begin before others end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomAwaited {
    /// The attempt that waits.
    pub attempt: AttemptId,
    /// The limit that is reached.
    pub limit: RoomLimit,
}
