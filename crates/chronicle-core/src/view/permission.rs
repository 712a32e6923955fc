//! Calls that need a person's leave, and those that people allowed.

use serde::{Deserialize, Serialize};

use crate::base::ids::{GateId, Place};
use crate::event::{GrantScope, PermissionCall};
use crate::state::{Grant, State};

/// The call that a gate is about, as it would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRow {
    /// The tool as the agent calls it.
    pub tool: String,
    /// What it is given, bounded.
    pub input: String,
    /// The shell command, if the tool runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the command is longer than what is shown of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command_cut: bool,
    /// The rule that wants a person asked, and where it is written.
    pub rule: String,
    /// Why that rule does.
    pub why: String,
}

/// A call that a person allowed for more than the one that waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRow {
    /// The gate at which they did.
    pub gate: GateId,
    /// Where it was asked for.
    pub place: Place,
    /// How far it reaches.
    pub scope: GrantScope,
    /// The tool as the agent calls it.
    pub tool: String,
    /// What it is given, bounded.
    pub input: String,
    /// User name of the person.
    pub who: String,
}

pub(super) fn call_row(asks: &PermissionCall) -> CallRow {
    CallRow {
        tool: asks.call.tool.clone(),
        input: asks.call.shown.clone(),
        command: asks.call.command.clone(),
        command_cut: asks.call.command_cut,
        rule: asks.rule.to_string(),
        why: asks.why.clone(),
    }
}

/// Every yes that is in force, that of the run first.
pub(super) fn grants(state: &State) -> Vec<GrantRow> {
    let visits = state.frames.values().flat_map(|frame| &frame.permissions.grants);
    let row = |grant: &Grant| GrantRow {
        gate: grant.gate,
        place: grant.place.clone(),
        scope: grant.scope,
        tool: grant.tool.clone(),
        input: grant.input.clone(),
        who: grant.who.clone(),
    };
    if state.is_given_up() {
        Vec::new()
    } else {
        state.grants.iter().chain(visits).map(row).collect()
    }
}
