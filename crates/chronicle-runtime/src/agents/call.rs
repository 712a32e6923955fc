//! Tool calls as adapters parse them: complete, before anything is cut.

use chronicle_core::event::{Call, Caller, ToolKind};
use serde_json::Value;

/// A call that an agent asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct RawCall {
    /// The call as it is reported and recorded.
    pub call: Call,
    /// The complete input: a guard must not judge a part of it.
    pub input: Value,
    /// The folder that it begins in, if the agent says so: a shell may be elsewhere than where its worker was started.
    pub folder: Option<String>,
    /// True if it runs instead of whatever was asked for under its id before.
    pub is_final: bool,
    /// The length of its line, if that was too long to be read: then the input is only a part of what there is, and nobody can judge it.
    pub too_large: Option<u64>,
}

/// What an adapter knows about a tool for certain.
pub(super) struct KnownTool {
    pub(super) kind: ToolKind,
    /// Input fields that do not change what the call does: calls that differ only in these are the same call.
    pub(super) volatile: &'static [&'static str],
}

impl From<ToolKind> for KnownTool {
    fn from(kind: ToolKind) -> Self {
        Self { kind, volatile: &[] }
    }
}

impl RawCall {
    pub(super) fn new(id: &str, tool: &str, input: Value, known: &KnownTool, by: Caller) -> Self {
        let call = Call::new(id, tool, &input, known.volatile);
        let call = Call { kind: known.kind, by, ..call };
        Self { call, input, folder: None, is_final: false, too_large: None }
    }

    /// The same call, if it is the one that runs, whatever was asked for under its id before.
    pub(super) fn finally(self, is_final: bool) -> Self {
        Self { is_final, ..self }
    }

    /// The same call, made in that folder.
    pub(super) fn at(self, folder: Option<&str>) -> Self {
        Self { folder: folder.map(str::to_owned), ..self }
    }
}
