//! The words of a fallback: one agent cannot go on, and the next one takes over.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, Place};

/// Another agent takes over at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FellBack {
    /// The place whose worker is replaced.
    pub place: Place,
    /// The attempt that ended.
    pub attempt: AttemptId,
    /// The agent of that attempt, as the workflow, the settings or a person name it.
    pub from: String,
    /// The agent that takes over, as the phase's `fallback` names it: with its model, if it has one.
    pub to: String,
    /// How the attempt ended, in the words that people and the next worker read.
    pub said: String,
}
