//! A gate that waits for a person.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::ids::{GateId, Place};
use crate::base::time::Millis;
use crate::state::{Gate, State};
use crate::words;

/// One open gate, as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRow {
    /// Numbered per run, from `g1`.
    pub gate: GateId,
    /// The phase that waits.
    pub place: Place,
    /// Decides which answers it takes.
    pub kind: crate::event::GateKind,
    /// What the person has to decide.
    pub about: String,
    /// Suggested answers; empty if any text is expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Background that the worker gave.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Time when it opened.
    pub since: Millis,
    /// The command that answers it.
    pub next: String,
}

pub(super) fn gates(state: &State, run: &str) -> Vec<GateRow> {
    let row = |gate: &Arc<Gate>| gate_row(gate, run);
    if state.is_given_up() { Vec::new() } else { state.open_gates().map(row).collect() }
}

pub(super) fn gate_row(gate: &Gate, run: &str) -> GateRow {
    GateRow {
        gate: gate.opened.gate,
        place: gate.opened.place.clone(),
        kind: gate.opened.gate_kind,
        about: gate.opened.about.clone(),
        options: gate.opened.options.clone(),
        context: gate.opened.context.clone(),
        since: gate.at,
        next: words::gate_next(&gate.opened, run),
    }
}
