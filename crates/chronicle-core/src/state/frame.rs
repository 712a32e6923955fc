//! Where a run is inside one workflow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{End, Why};
use crate::ids::{AttemptId, FramePath, GateId, Outcome, PhaseId, Place, SessionId};

/// One workflow being walked. Sub-workflows have frames of their own, named after the place that they stand at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Its place in the tree.
    pub path: FramePath,
    /// Its workflow's key.
    pub workflow: String,
    /// The phase it is at, or is bound for.
    pub phase: PhaseId,
    /// How far it is with that phase.
    pub stage: Stage,
    /// What went wrong at this visit of the phase.
    pub counters: Counters,
    /// The session of the visit's last attempt.
    pub session: Option<SessionId>,
    /// Whether an agent itself has named that session.
    pub session_seen: bool,
    /// How often each edge was taken, as `from->to`; a person's `go` clears it.
    pub edges: BTreeMap<String, u32>,
    /// The summary of the phase left last.
    pub summary: String,
    /// What the worker of the phase left last said last, in a chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// The same of this phase's worker, until the phase is left.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_here: String,
}

/// Counters of one visit. Reminders, fresh starts and losses return to zero on progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Reminders.
    pub nudges: u32,
    /// Fresh starts.
    pub retries: u32,
    /// Attempts lost with their supervisor or keeper.
    pub losses: u32,
    /// Commands of the phase done in this try.
    pub commands_done: u32,
    /// Active time of this try's attempts that have ended.
    pub active_ms: u64,
    /// How often changed files counted as progress.
    #[serde(default)]
    pub changes: u32,
}

/// How far a frame is with its phase. What follows from each is one table: `engine/follow.rs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Stage {
    /// An edge was taken; the phase is not yet entered.
    Bound,
    /// The phase was entered.
    Entered {
        /// Whether a person has agreed to begin.
        approved: bool,
    },
    /// An attempt is to be started.
    Ready {
        /// Why.
        why: Why,
    },
    /// An attempt works.
    Working {
        /// Which.
        attempt: AttemptId,
    },
    /// The attempt ended, and not by leaving.
    Broken {
        /// Which.
        attempt: AttemptId,
        /// How.
        end: End,
    },
    /// The work is done; the way out goes on.
    Left {
        /// Where to, if the worker said so.
        target: Option<PhaseId>,
        /// How.
        outcome: Outcome,
        /// What was said of it.
        summary: String,
        /// Whether a person has agreed to leave.
        approved: bool,
    },
    /// A person said that the phase may not begin.
    Refused {
        /// What they said.
        note: String,
    },
    /// A workflow inside this phase is being walked.
    Inside,
    /// A person is asked.
    Gated {
        /// Which gate.
        gate: GateId,
        /// What it holds up.
        held: Box<Stage>,
    },
    /// The root frame came to its end.
    Ended,
}

impl Frame {
    /// The phase as a path.
    pub fn place(&self) -> Place {
        self.path.place(&self.phase)
    }

    /// How often two phases were left for each other, either way or one way.
    pub fn taken(&self, from: &PhaseId, to: &PhaseId) -> u32 {
        self.edges.get(&edge(from, to)).copied().unwrap_or(0)
    }
}

/// How an edge is written.
pub(crate) fn edge(from: &PhaseId, to: &PhaseId) -> String {
    format!("{from}->{to}")
}
