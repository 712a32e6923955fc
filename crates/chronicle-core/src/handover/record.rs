//! What was told, kept for good: the sums of the texts stand in the event that starts an attempt, the texts beside the ledger.

use serde::{Deserialize, Serialize};

use super::{Told, told_to};
use crate::event::{AttemptStarted, Event};
use crate::ids::Cause;
use crate::record::Line;
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

/// What the worker of an attempt that is about to start will be told, by its sums.
pub(crate) fn handed(state: &State, intent: &AttemptStarted) -> Option<Handed> {
    let told = told_at_start(state, intent)?;
    let sum = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    Some(Handed { text: sum(&told.text), rest: told.rest.as_deref().map(sum) })
}

fn told_at_start(state: &State, intent: &AttemptStarted) -> Option<Told> {
    let mut begun = state.clone();
    let cause = Cause { seq: state.seq + 1, index: 0 };
    begun.apply_event(cause, state.updated_at, &Event::AttemptStarted(intent.clone()));
    begun.attempt(intent.attempt).map(|attempt| told_to(&begun, attempt))
}

/// The texts whose sums a line names. They must be on disk before the line is.
pub fn bodies(before: &State, line: &Line) -> Vec<String> {
    let names_any =
        |event: &Event| matches!(event, Event::AttemptStarted(it) if it.handover.is_some());
    if !line.events.iter().any(names_any) {
        return Vec::new();
    }
    let mut state = before.clone();
    let mut bodies = Vec::new();
    for (index, event) in (0u32..).zip(&line.events) {
        if let Event::AttemptStarted(intent) = event
            && intent.handover.is_some()
            && let Some(told) = told_at_start(&state, intent)
        {
            bodies.push(told.text);
            bodies.extend(told.rest);
        }
        state.apply_event(Cause { seq: line.seq, index }, line.at, event);
    }
    bodies
}
