//! The words of claims: what a worker says that it did, and the record does not show.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;

/// What a worker says that it did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "is", content = "what", rename_all = "snake_case")]
pub enum Claim {
    /// It changed a file, or files below a folder.
    Changed(String),
    /// It ran a command.
    Ran(String),
    /// A command ended well.
    Passed(String),
    /// Tests pass, whichever.
    TestsPass,
}

/// What was said at a place and is not shown by the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unproven {
    /// Where.
    pub place: Place,
    /// What.
    pub claims: Vec<Claim>,
}
