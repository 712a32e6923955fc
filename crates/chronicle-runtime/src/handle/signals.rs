//! Relays a worker's calls of Chronicle's tools to the supervisor of its run.

use std::path::Path;

use chronicle_core::event::input::Answer;
use serde_json::Value;

use crate::link::{Ask, Client, LinkError};

pub use crate::agents::{RUN_FOLDER, SECRET, signal_tools};
pub use crate::link::LINE_MAX;

/// A tool call of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Id of the call. The same call sent again has the same id and gets the same answer.
    pub request: String,
    /// Name of the signal tool.
    pub tool: String,
    /// Arguments, as the agent sent them.
    pub arguments: Value,
    /// The secret of the worker's attempt.
    pub secret: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// Accepted; the text is the answer to the worker.
    Accepted(String),
    /// Refused; the text says what would be accepted.
    Refused(String),
    /// The run is not driven, so nothing was done.
    Gone,
}

/// Relays a call to the supervisor of the run in that folder, and waits for its answer: days, if a person is asked.
pub fn hand_on(run_folder: &Path, call: ToolCall) -> CallOutcome {
    match ask(run_folder, call) {
        Ok(Some(Answer::Accepted(text))) => CallOutcome::Accepted(text),
        Ok(Some(Answer::Noted | Answer::Verdict(_))) => CallOutcome::Accepted("noted".to_owned()),
        Ok(Some(Answer::Refused(text) | Answer::Stopped(text))) => CallOutcome::Refused(text),
        Ok(Some(Answer::Waits) | None) | Err(LinkError::Broken(_)) => CallOutcome::Gone,
        Err(error) => CallOutcome::Refused(error.to_string()),
    }
}

fn ask(run_folder: &Path, call: ToolCall) -> Result<Option<Answer>, LinkError> {
    // A connection for each call: a question may wait for days, and must not hold up the calls after it.
    let Some(mut client) = Client::connect_as_worker(run_folder)? else { return Ok(None) };
    let ToolCall { request, tool, arguments, secret } = call;
    client.ask(Ask::Signal { request, tool, arguments, secret })
}
