//! Notices to people that a run needs them or has ended.

use serde::{Deserialize, Serialize};

use super::VIEW_VERSION;
use super::gate::{GateRow, gate_row};
use crate::base::limits::{TEXT_MAX, bounded};
use crate::event::notice::About;
use crate::state::State;
use crate::words;

/// A notice, as a command or webhook receives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoticeView {
    /// `VIEW_VERSION` of the writer.
    pub version: u32,
    /// `needs_you`, `done`, `failed` or `cancelled`.
    pub event: String,
    /// The whole notice in one sentence.
    pub text: String,
    /// The run's full id.
    pub run: String,
    /// Its last eight digits, which people type.
    pub short: String,
    /// The workflow's name, for people.
    pub workflow: String,
    /// The task of the run.
    pub task: String,
    /// Absolute path of the project's folder.
    pub project: String,
    /// The gate that opened, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateRow>,
    /// The command to type next.
    pub next: String,
}

/// The notice about a gate or the end; `None` if there is nothing to tell.
pub fn notice(state: &State, about: About) -> Option<NoticeView> {
    let run = state.run.as_ref()?;
    let short = run.run.short();
    let gate = match about {
        About::Gate(gate) => Some(gate_row(state, state.gate(gate)?, short)),
        About::End => None,
    };
    let next = gate.as_ref().map(|gate| gate.next.clone());
    Some(NoticeView {
        version: VIEW_VERSION,
        event: match about {
            About::Gate(_) => "needs_you",
            About::End if state.failed.is_some() => "failed",
            About::End if state.cancelled.is_some() => "cancelled",
            About::End => "done",
        }
        .to_owned(),
        text: words::notice_text(state, about)?,
        run: run.run.to_string(),
        short: short.to_owned(),
        workflow: run.workflows.first().map_or_else(String::new, |main| main.name.clone()),
        task: bounded(&run.task, TEXT_MAX),
        project: run.project.clone(),
        next: next.unwrap_or_else(|| format!("chronicle status {short}")),
        gate,
    })
}
