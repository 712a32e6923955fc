//! The view of a live attempt.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, Place};
use crate::base::time::Millis;
use crate::state::{Attempt, State};
use crate::words;

/// One live attempt, as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRow {
    /// Numbered per run, from `a1`.
    pub attempt: AttemptId,
    /// The phase it works on.
    pub place: Place,
    /// Number of the logical try at this place.
    #[serde(rename = "try")]
    pub try_number: u32,
    /// The agent's name, or `shell`.
    pub agent: String,
    /// Time of its start.
    pub started_at: Millis,
    /// Active time so far.
    #[serde(default)]
    pub active_ms: u64,
    /// Number of tool calls so far.
    pub tools: u32,
    /// Persona of a helper; `None` for the phase's own worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// True if it waits for a person's answer.
    pub asks: bool,
    /// What it waits for before it begins, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// True for `verify` and `cleanup`, whose time does not count as the phase's work.
    #[serde(default, rename = "chore", skip_serializing_if = "std::ops::Not::not")]
    pub is_chore: bool,
    /// True if it is being stopped: every call is denied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopping: bool,
}

pub(super) fn attempt_row(state: &State, attempt: &Attempt) -> AttemptRow {
    AttemptRow {
        attempt: attempt.intent.attempt,
        place: attempt.intent.shown_place().clone(),
        try_number: attempt.intent.try_number,
        agent: words::performer(&attempt.intent).to_owned(),
        started_at: attempt.started_at,
        active_ms: attempt.active_ms,
        tools: attempt.tools,
        persona: attempt.intent.persona.clone(),
        asks: state.is_asking(attempt),
        room: attempt.room.as_ref().map(words::waits_for_room),
        is_chore: attempt.intent.chore.is_some(),
        stopping: state.stopping(attempt).is_some(),
    }
}
