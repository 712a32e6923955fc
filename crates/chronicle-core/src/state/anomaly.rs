//! Anomalies: events that cannot have happened.
//!
//! `decide` makes no such event, so one in a ledger means a defect or a forged line. The fold skips it and records it, so that
//! tests fail and an audit can report it.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, FolderId, FramePath, GateId, Place, StepId};

/// Most anomalies that are kept: one is enough to know.
pub(super) const ANOMALIES_MAX: usize = 8;

/// An event that cannot have happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    /// The line that has it.
    pub seq: u64,
    /// What it refers to that was not so.
    pub what: Impossible,
}

/// A reference to something that does not exist, or that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Impossible {
    /// An attempt that was never started, or ended and was dropped.
    Attempt(AttemptId),
    /// A frame that was never entered, or has ended.
    Frame(FramePath),
    /// A gate that was never opened.
    Gate(GateId),
    /// A workflow that was not frozen at the start.
    Workflow(String),
    /// A follow-up that nobody asked for.
    Help(FramePath),
    /// A gate that was answered before.
    AnsweredGate(GateId),
    /// An attempt that ended before.
    EndedAttempt(AttemptId),
    /// The end of a wait at a place where nothing waits.
    Wait(Place),
    /// The end of an undo in a folder where none was begun.
    Undo(FolderId),
    /// A phase that is left although its frame is at another one.
    Left(Place),
    /// A pool that was never entered, or was left.
    Pool(Place),
    /// A step that its pool does not have.
    Step(Place, StepId),
    /// A work folder that the run does not have.
    Folder(u32),
}
