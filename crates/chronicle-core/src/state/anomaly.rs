//! What a ledger says and cannot have happened.
//!
//! `decide` makes no such event, so one in a ledger means a defect or a forged line. The fold goes on without it and takes it
//! down, so that tests fail and an audit can tell.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, FramePath, GateId};

/// Most that are kept: one is enough to know.
pub(super) const ANOMALIES_MAX: usize = 8;

/// An event that cannot have happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    /// The line that has it.
    pub seq: u64,
    /// What it names that is not there.
    pub what: Impossible,
}

/// What is named and is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Impossible {
    /// An attempt that was never started, or ended long ago.
    Attempt(AttemptId),
    /// A frame that was never entered, or has ended.
    Frame(FramePath),
    /// A gate that was never opened.
    Gate(GateId),
    /// A workflow that was not frozen at the start.
    Workflow(String),
    /// Help that nobody asked for.
    Help(FramePath),
}
