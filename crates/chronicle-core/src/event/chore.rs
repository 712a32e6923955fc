//! Chores: what is done on the way out of a phase, by commands and by nobody's word.

use serde::{Deserialize, Serialize};

/// Commands on the way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chore {
    /// What for.
    pub duty: Duty,
    /// The commands.
    pub commands: Vec<String>,
}

/// What a chore is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// To find out whether the work is as the worker says.
    Verify,
    /// To put away what the phase leaves behind.
    Cleanup,
}
