//! Stores handovers: their sums are part of the event that starts an attempt, the texts are in its line or artifacts.

use super::{Told, told_to};
use crate::base::ids::{AttemptId, SHELL};
use crate::event::handover::Handed;
use crate::state::State;

/// The handover of an attempt that just started: sums for the event, and texts, which must be on disk before the event is. `None`
/// for commands.
pub(crate) fn handed(begun: &State, id: AttemptId) -> Option<(Handed, Told)> {
    let attempt = begun.attempt(id).filter(|attempt| attempt.intent.agent != SHELL)?;
    // Only its sum goes into the event. The text is kept beside the ledger, since it repeats much of what the ledger already
    // has.
    let told = told_to(begun, attempt);
    let sum = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    Some((Handed { text: sum(&told.text), rest: told.rest.as_deref().map(sum) }, told))
}
