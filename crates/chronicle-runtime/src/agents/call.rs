//! Tool calls as adapters read them: whole, before anything is cut.

use chronicle_core::event::{Call, Caller, ToolKind};
use serde_json::Value;

/// A call that an agent asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct RawCall {
    /// What is reported of it.
    pub call: Call,
    /// All that the tool is given: a guard must not judge a part.
    pub input: Value,
}

/// What an adapter knows of a tool for sure.
pub(super) struct Known {
    /// What the tool does.
    pub(super) kind: ToolKind,
    /// Fields of its input that say nothing about what it does: calls that differ in these alone are the same call.
    pub(super) volatile: &'static [&'static str],
}

impl From<ToolKind> for Known {
    fn from(kind: ToolKind) -> Self {
        Self { kind, volatile: &[] }
    }
}

impl RawCall {
    pub(super) fn new(id: &str, tool: &str, input: Value, (known, by): (Known, Caller)) -> Self {
        let call = Call::new(id, tool, &input, known.volatile);
        Self { call: Call { kind: known.kind, by, ..call }, input }
    }
}
