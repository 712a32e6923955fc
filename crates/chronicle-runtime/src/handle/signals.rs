//! A worker's calls of Chronicle's tools, handed on to the supervisor of its run.

use std::path::Path;

use chronicle_core::event::input::Answer;
use serde_json::Value;

use crate::link::{Ask, Client, LinkError};

pub use crate::agents::{RUN_FOLDER, SECRET, signal_tools};
pub use crate::link::LINE_MAX;

/// A call of a tool by a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Its id: the same call repeated bears it again, and gets the same answer.
    pub request: String,
    /// The tool's name.
    pub tool: String,
    /// The tool's input.
    pub arguments: Value,
    /// The secret of the worker's attempt.
    pub secret: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handed {
    /// It was taken.
    Accepted(String),
    /// It was not, and why.
    Refused(String),
    /// Nobody drives the run, so nothing was done.
    Gone,
}

/// Hands a call on to the supervisor of the run in that folder, and waits for its answer: days, if a person is asked.
pub fn hand_on(run_folder: &Path, call: ToolCall) -> Handed {
    match ask(run_folder, call) {
        Ok(Some(Answer::Accepted(text))) => Handed::Accepted(text),
        Ok(Some(Answer::Noted | Answer::Verdict(_))) => Handed::Accepted("noted".to_owned()),
        Ok(Some(Answer::Refused(text) | Answer::Stopped(text))) => Handed::Refused(text),
        Ok(Some(Answer::Waits) | None) | Err(LinkError::Broken(_)) => Handed::Gone,
        Err(error) => Handed::Refused(error.to_string()),
    }
}

fn ask(run_folder: &Path, call: ToolCall) -> Result<Option<Answer>, LinkError> {
    let Some(mut client) = Client::connect_as_worker(run_folder)? else { return Ok(None) };
    let ToolCall { request, tool, arguments, secret } = call;
    client.ask(Ask::Signal { request, tool, arguments, secret })
}
