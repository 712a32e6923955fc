//! Chores: commands that run on the way out of a phase, decided by their exit codes and not by the worker.

use serde::{Deserialize, Serialize};

/// Commands that run on the way out of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chore {
    /// Which of the phase's lists they come from.
    pub duty: Duty,
    /// Shell commands, run in order.
    pub commands: Vec<String>,
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
