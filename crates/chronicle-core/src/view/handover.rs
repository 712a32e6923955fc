//! The handover of one worker, past or predicted.

use serde::{Deserialize, Serialize};

use super::VIEW_VERSION;
use crate::base::ids::{AttemptId, Place, RunId};
use crate::event::{AttemptStarted, Why};
use crate::handover::{Told, artifact};

/// The handover of one worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoverView {
    /// `VIEW_VERSION` of the writer.
    pub version: u32,
    /// The run's full id.
    pub run: String,
    /// The attempt that got it, or would get it.
    pub attempt: AttemptId,
    /// The phase it works on.
    pub place: Place,
    /// Number of the logical try at this place.
    #[serde(rename = "try")]
    pub try_number: u32,
    /// Name of the agent, as workflows write it.
    pub agent: String,
    /// Why the attempt exists.
    pub why: Why,
    /// True if the texts are the stored ones; otherwise they were derived from the ledger.
    pub kept: bool,
    /// Assumptions, if the attempt has not started yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// System prompt of its persona.
    pub persona: Option<String>,
    /// The handover text itself.
    pub text: String,
    /// File with what did not fit.
    pub rest_file: Option<String>,
    /// Content of that file.
    pub rest: Option<String>,
}

/// Builds the view of a handover.
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
