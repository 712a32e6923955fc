//! The words of gates: what a person is needed for, and what they answer.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, GateId, PhaseId, Place, SessionId};
use crate::event::budget::Lack;

/// A wait for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOpened {
    /// Its id.
    pub gate: GateId,
    /// Where.
    pub place: Place,
    /// What for.
    pub gate_kind: GateKind,
    /// What the person needs to know, in a sentence.
    pub about: String,
    /// Answers to choose from, of a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Whether only one of them can be the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Why it is asked, of a question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// What is lacking, of a budget or a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// The worker that waits for the answer; none = it has ended its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<GateAsker>,
}

/// The worker that waits at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateAsker {
    /// Who.
    pub attempt: AttemptId,
    /// Its session, in which the same request with the same words means the same question.
    pub session: SessionId,
    /// The call's id.
    pub request: String,
}

/// What a person is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// May this phase begin?
    ApprovalBefore,
    /// May this phase be left?
    ApprovalAfter,
    /// Something tripped a limit, or a worker asked for a person.
    Intervention,
    /// A worker, or the workflow, wants to know something.
    Question,
    /// May more be spent?
    Budget,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "to", rename_all = "snake_case")]
pub enum GateAnswer {
    /// Yes.
    Approved,
    /// No.
    Rejected,
    /// Try the phase again, afresh.
    Retry,
    /// Go to another phase instead.
    Go(PhaseId),
    /// The answer to a question.
    Said(String),
    /// Go on without what could not be done.
    Skip,
    /// More may be spent, or more rounds taken.
    Raised,
}
