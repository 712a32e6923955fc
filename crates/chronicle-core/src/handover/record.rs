//! What was told, kept for good: the sums of the texts stand in the event that starts an attempt, the texts beside the ledger.

use serde::{Deserialize, Serialize};

use super::{Told, told_to};
use crate::engine::SHELL;
use crate::ids::AttemptId;
use crate::state::State;

/// What a worker is told at its start: artifacts, by the sums of their content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// The text itself.
    pub text: String,
    /// What did not fit into it: a file that the text names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}

/// What the worker of an attempt that just started is told: by its sums for the event, and the texts, which must be on disk
/// before the event is. None for one that runs commands.
pub(crate) fn handed(begun: &State, id: AttemptId) -> Option<(Handed, Told)> {
    let attempt = begun.attempt(id).filter(|attempt| attempt.intent.agent != SHELL)?;
    let told = told_to(begun, attempt);
    let sum = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    Some((Handed { text: sum(&told.text), rest: told.rest.as_deref().map(sum) }, told))
}
