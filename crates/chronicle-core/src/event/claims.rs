//! Payloads of claims: what a worker says it did and the record does not show.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;

/// Something that a worker says it did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "is", content = "what", rename_all = "snake_case")]
pub enum Claim {
    /// It changed this file, or files below this folder.
    Changed(String),
    /// It ran this command.
    Ran(String),
    /// This command exited with code 0.
    Passed(String),
    /// Tests pass; it did not say which.
    TestsPass,
}

/// Claims of one worker that the record does not support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unproven {
    /// The phase that the worker left.
    pub place: Place,
    /// Only those without support; supported claims are not recorded.
    pub claims: Vec<Claim>,
}
