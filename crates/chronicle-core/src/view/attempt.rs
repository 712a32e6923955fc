//! An attempt that works now.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, Place};
use crate::base::time::Millis;
use crate::state::{Attempt, State};
use crate::words;

/// One attempt that works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRow {
    /// Its id.
    pub attempt: AttemptId,
    /// Where.
    pub place: Place,
    /// Which logical try.
    #[serde(rename = "try")]
    pub try_number: u32,
    /// The agent.
    pub agent: String,
    /// Since when.
    pub started_at: Millis,
    /// How many tools it called.
    pub tools: u32,
    /// Who helps, where it is help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// Whether it waits for a person's answer.
    pub asks: bool,
    /// Whether it is being stopped: nothing that it still asks for is allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopping: bool,
}

pub(super) fn attempt_row(state: &State, attempt: &Attempt) -> AttemptRow {
    AttemptRow {
        attempt: attempt.intent.attempt,
        place: attempt.intent.place.clone(),
        try_number: attempt.intent.try_number,
        agent: words::performer(&attempt.intent).to_owned(),
        started_at: attempt.started_at,
        tools: attempt.tools,
        persona: attempt.intent.persona.clone(),
        asks: state.is_asking(attempt),
        stopping: state.stopping(attempt).is_some(),
    }
}
