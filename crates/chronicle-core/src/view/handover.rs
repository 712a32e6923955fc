//! What one worker was told, or would be.

use serde::{Deserialize, Serialize};

use super::VIEW_VERSION;
use crate::base::ids::{AttemptId, Place, RunId};
use crate::event::{AttemptStarted, Why};
use crate::handover::{Told, artifact};

/// What one worker was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoverView {
    /// The version of this shape.
    pub version: u32,
    /// The run's whole id.
    pub run: String,
    /// Which attempt.
    pub attempt: AttemptId,
    /// Where.
    pub place: Place,
    /// Which logical try.
    #[serde(rename = "try")]
    pub try_number: u32,
    /// The agent.
    pub agent: String,
    /// Why the attempt exists.
    pub why: Why,
    /// Whether the texts are those that were kept; else they were worked out from the ledger.
    pub kept: bool,
    /// What was taken for granted, of one that is yet to come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// Who the worker is: its system prompt.
    pub persona: Option<String>,
    /// The handover.
    pub text: String,
    /// The file with what did not fit.
    pub rest_file: Option<String>,
    /// What is in it.
    pub rest: Option<String>,
}

/// The view of a handover.
pub fn handover(
    run: &RunId,
    intent: &AttemptStarted,
    persona: Option<String>,
    told: Told,
    kept: bool,
) -> HandoverView {
    HandoverView {
        version: VIEW_VERSION,
        run: run.to_string(),
        attempt: intent.attempt,
        place: intent.place.clone(),
        try_number: intent.try_number,
        agent: crate::words::agent_name(&intent.agent).to_owned(),
        why: intent.why.clone(),
        kept,
        assumed: Vec::new(),
        persona,
        rest_file: told.rest.as_deref().map(|rest| artifact(run, rest)),
        text: told.text,
        rest: told.rest,
    }
}
