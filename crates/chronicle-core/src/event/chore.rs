//! Chores: commands that run on the way out of a phase, decided by their exit codes and not by the worker.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;

/// Commands that run on the way out of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chore {
    /// Which of the phase's lists they come from.
    pub duty: Duty,
    /// Shell commands, run in order.
    pub commands: Vec<String>,
    /// The phase that they clean up, if it is not the one at the attempt's place. The attempt belongs to the frame that waits for
    /// it: the frame of this phase may be gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<LeftPhase>,
    /// Key of the workflow inside of the phase whose `verify` this is: it runs with that workflow's `env`. `None` for the phase's
    /// own commands, and for both together if their `env` is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
}

/// A phase that was left from outside of its frame, together with its workflow: its frame no longer says which one that was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftPhase {
    /// Where it was, also if its frame is gone.
    pub place: Place,
    /// Key of its workflow.
    pub workflow: String,
}

/// What a chore is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// Commands that must pass before the phase may be left.
    Verify,
    /// Commands that clean up after the phase; their failure does not stop the run.
    Cleanup,
}
