//! Payloads about permissions: which call a person is asked about, and how far their yes reaches.

use serde::{Deserialize, Serialize};

use super::{Call, Caller};
use crate::base::ids::{AttemptId, GateId};
use crate::guard::{Judgement, RuleRef};

/// The call that a gate is about, exactly as it would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionCall {
    /// The call. Its id is that of the first time it was made.
    pub call: Call,
    /// The rule that wants a person asked.
    pub rule: RuleRef,
    /// Why that rule does.
    pub why: String,
}

/// A tool call waits for a person's leave. Its gate has the call itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallHeld {
    /// The attempt that wants to make it.
    pub attempt: AttemptId,
    /// The agent's id of the call.
    pub call: String,
    /// The worker itself, or one of its sub-agents.
    #[serde(default, skip_serializing_if = "Caller::is_worker")]
    pub by: Caller,
    /// The gate that it waits at: its own, or one that an earlier attempt left open for the same call.
    pub gate: GateId,
    /// Active time of the attempt so far.
    pub active_ms: u64,
}

/// How far a person's yes to a call reaches. It is always for that exact call: the tool, its whole input and its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// For one call: the one that waits or, if nobody waits any more, the next one like it at this visit.
    #[default]
    Once,
    /// For every such call at this visit of the phase.
    Phase,
    /// For every such call of the run.
    Run,
}

impl GrantScope {
    /// The word that people type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Phase => "phase",
            Self::Run => "run",
        }
    }
}

/// What the rules say in lines and inputs of versions without rules.
pub(crate) fn clear() -> Judgement {
    Judgement::Clear
}

/// True if no rule is against the call.
pub(crate) fn is_clear(judged: &Judgement) -> bool {
    *judged == Judgement::Clear
}
