//! What was told, kept for good: the sums of the texts stand in the event that starts an attempt, the texts beside the ledger.

use super::{Told, told_to};
use crate::base::ids::{AttemptId, SHELL};
use crate::event::handover::Handed;
use crate::state::State;

/// What the worker of an attempt that just started is told: by its sums for the event, and the texts, which must be on disk
/// before the event is. None for one that runs commands.
pub(crate) fn handed(begun: &State, id: AttemptId) -> Option<(Handed, Told)> {
    let attempt = begun.attempt(id).filter(|attempt| attempt.intent.agent != SHELL)?;
    let told = told_to(begun, attempt);
    let sum = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    Some((Handed { text: sum(&told.text), rest: told.rest.as_deref().map(sum) }, told))
}
