//! A position that can be carried: where a run stood, without anything that belongs to that run alone.
//!
//! Attempts, sessions, gates, visits and what was spent stay where they are. A position is told by the beginning of a ledger
//! (`State::carried`), checked when it is asked for, and stands in the event that goes there, which needs nothing else then.

use serde::{Deserialize, Serialize};

use crate::base::ids::{FramePath, PhaseId, Place, StepId};
use crate::event::snapshot::Snapshot;

/// Where a run stood.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Carried {
    /// Its frames, each before those inside of it.
    pub frames: Vec<CarriedFrame>,
    /// What was carried from phase to phase.
    #[serde(default, skip_serializing_if = "Snapshot::is_empty")]
    pub snapshot: Snapshot,
    /// How often each edge had been taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<CarriedEdge>,
}

/// A frame at a point of rest: its phase is entered anew, or the workflow inside of it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedFrame {
    /// Its place in the tree.
    pub frame: FramePath,
    /// The phase that it does, in the frame around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The step that it walks, in a phase that has steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Its workflow's key.
    pub workflow: String,
    /// The phase that it was at, or bound for.
    pub phase: PhaseId,
    /// Whether a workflow inside of that phase was being walked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside: bool,
    /// What the phase before wants done there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The summary of the phase before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// What the worker of the phase before said last, in a chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
}

/// How often an edge had been taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedEdge {
    /// In which frame.
    pub frame: FramePath,
    /// The phase left.
    pub from: PhaseId,
    /// Where to.
    pub to: PhaseId,
    /// How often.
    pub taken: u32,
}

impl Carried {
    /// Where the run's own workflow stood.
    pub fn phase(&self) -> Option<&PhaseId> {
        self.frames.first().map(|root| &root.phase)
    }

    /// The innermost frame: where work goes on.
    pub fn innermost(&self) -> Option<&CarriedFrame> {
        self.frames.iter().find(|frame| !frame.inside)
    }
}
