//! The view of attempts whose guard was not proven.

use serde::{Deserialize, Serialize};

use crate::base::ids::AttemptId;
use crate::state::State;
use crate::words;

/// Attempts that worked although their agent did not prove that it has its tools judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnprovenRow {
    /// The latest of them.
    pub attempt: AttemptId,
    /// How many there are.
    pub attempts: u32,
    /// The same in words, for people.
    pub text: String,
}

pub(super) fn unproven(state: &State) -> Option<UnprovenRow> {
    let unproven = state.unproven.as_ref()?;
    let text = words::unproven_guard(unproven);
    Some(UnprovenRow { attempt: unproven.attempt, attempts: unproven.attempts, text })
}
