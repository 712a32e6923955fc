//! A worker's calls of Chronicle's tools, handed on to the supervisor of its run.

use std::path::Path;

use serde_json::Value;

use crate::link::{Ask, Client, LinkError, Reply};

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
        Ok(Some(Reply::Accepted { text, .. })) => Handed::Accepted(text),
        Ok(Some(Reply::Refused { text, .. })) => Handed::Refused(text),
        Ok(Some(Reply::Rests { .. } | Reply::View { .. }) | None) | Err(LinkError::Broken(_)) => {
            Handed::Gone
        }
        Err(error) => Handed::Refused(error.to_string()),
    }
}

fn ask(run_folder: &Path, call: ToolCall) -> Result<Option<Reply>, LinkError> {
    let Some(mut client) = Client::connect(run_folder, "worker")? else { return Ok(None) };
    let ToolCall { request, tool, arguments, secret } = call;
    client.ask(Ask::Signal { request, tool, arguments, secret }).map(Some)
}
