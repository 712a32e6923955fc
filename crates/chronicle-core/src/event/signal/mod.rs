//! What workers tell the supervisor, and how their tools' arguments are read.
//!
//! The names, arguments and aliases are those of the design; every agent adapter and the MCP server come through `parse`.
//! What cannot be read, or is longer than what is kept, is answered with what would be right: nothing is cut in silence.

mod arguments;
mod back;
mod snapshot;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::ids::{Outcome, PhaseId};
use crate::base::limits::TEXT_MAX;
use crate::base::quote::quoted;
use crate::event::{Break, Issues, Question, SnapshotUpdate};
use arguments::Arguments;

/// A worker's call, read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Signal {
    /// It wants to leave its phase.
    Leave {
        /// Where to; none = as the workflow says.
        target: Option<PhaseId>,
        /// How; none = complete.
        outcome: Option<Outcome>,
        /// What it says of its work.
        summary: String,
        /// What the next phase is to do, in its words.
        task: Option<String>,
        /// The issues that it names.
        #[serde(default, skip_serializing_if = "Issues::is_none")]
        issues: Issues,
    },
    /// It ends its turn, and its phase is not done.
    Break(Break),
    /// It wants to begin its workflow anew.
    Loop {
        /// What it says of its work.
        summary: String,
    },
    /// It wants to give the run up.
    Cancel {
        /// Why.
        summary: String,
    },
    /// Something is to be carried on to later phases.
    Snapshot(SnapshotUpdate),
    /// It asks a person and waits, without leaving.
    Ask(Question),
    /// It says for which step it signals; another worker's signal must not count as its own.
    OfStep {
        /// The step, as the worker names it.
        step: String,
        /// What it signals.
        signal: Box<Signal>,
    },
    /// It wants to know where it is.
    Status,
    /// The arguments make no sense; the text says which would.
    Malformed(String),
}

impl Signal {
    /// What is signalled, for whichever step.
    pub fn meant(&self) -> &Self {
        match self {
            Self::OfStep { signal, .. } => signal,
            Self::Leave { .. }
            | Self::Break(_)
            | Self::Loop { .. }
            | Self::Cancel { .. }
            | Self::Snapshot(_)
            | Self::Ask(_)
            | Self::Status
            | Self::Malformed(_) => self,
        }
    }
}

/// The answer to a call that ended an earlier turn of the same session, and was sent again.
pub const ALREADY: &str = "done already: what you asked for has come. Go on where you were.";
/// The tool that a worker of the phased format leaves a phase with.
pub const STEP_TOOL: &str = "workflow_step";
/// What The Chronicle's workers call `workflow_ask`.
pub const ASK_SUPERVISOR: &str = "ask_supervisor";
/// The tools that a worker has, as their names are known here.
pub const TOOLS: [&str; 7] = [
    "workflow_transition",
    "workflow_update_snapshot",
    STEP_TOOL,
    "signal_back",
    "workflow_ask",
    "workflow_plan",
    "workflow_status",
];

/// Whether a tool of that name is one of ours.
pub fn is_ours(tool: &str) -> bool {
    TOOLS.contains(&tool) || tool == "signal-back"
}

/// Reads a tool call. Never fails: what makes no sense becomes an answer that the worker can act on.
pub fn parse(tool: &str, arguments: &Value) -> Signal {
    let arguments = Arguments::new(tool, arguments);
    let read = match tool {
        "workflow_transition" => transition(&arguments),
        "signal_back" | "signal-back" => back::signal_back(&arguments),
        STEP_TOOL => step(&arguments),
        "workflow_update_snapshot" => snapshot::update(&arguments).map(Signal::Snapshot),
        "workflow_ask" | ASK_SUPERVISOR => question(&arguments).map(Signal::Ask),
        "workflow_plan" => Err("`workflow_plan` is for phases that produce steps, and this one \
            does not: do the work here, or leave with `workflow_transition`"
            .to_owned()),
        "workflow_status" => Ok(Signal::Status),
        other => Err(format!(
            "there is no tool `{}`; the tools are {}",
            quoted(other),
            TOOLS.map(|tool| format!("`{tool}`")).join(", ")
        )),
    };
    read.unwrap_or_else(Signal::Malformed)
}

fn transition(arguments: &Arguments<'_>) -> Result<Signal, String> {
    let target = arguments.need(&["target_state", "to_state"], "the phase to go to")?;
    let mut summary = arguments.need(&["summary"], "what you did and found")?;
    if let Some(reason) = arguments.text(&["assist_reason"])? {
        summary = format!("{summary}\n\nAssistance is needed: {reason}");
        arguments::within("summary", &summary, TEXT_MAX)?;
    }
    Ok(Signal::Leave {
        target: Some(PhaseId::new(target)),
        outcome: arguments.text(&["outcome"])?.map(Outcome::new),
        summary,
        task: arguments.text(&["task"])?,
        issues: arguments.issues()?,
    })
}

fn step(arguments: &Arguments<'_>) -> Result<Signal, String> {
    const ACTIONS: &str = "`next`, `status`, `loop` or `cancel`";
    let summary = arguments.text(&["summary"])?.unwrap_or_default();
    match arguments.need(&["action"], ACTIONS)?.as_str() {
        "next" => {
            let issues = arguments.issues()?;
            Ok(Signal::Leave { target: None, outcome: None, summary, task: None, issues })
        }
        "status" => Ok(Signal::Status),
        "loop" => Ok(Signal::Loop { summary }),
        "cancel" => Ok(Signal::Cancel { summary }),
        other => {
            Err(format!("`workflow_step` takes the action {ACTIONS}, not `{}`", quoted(other)))
        }
    }
}

/// A question with its options, as `workflow_ask` has it.
fn question(arguments: &Arguments<'_>) -> Result<Question, String> {
    let options = arguments.options()?;
    let closed = arguments.flag("allow_free_text")? == Some(false);
    if closed && options.is_empty() {
        return Err(
            "`allow_free_text: false` needs `options`: nothing could be the answer".to_owned()
        );
    }
    Ok(Question {
        question: arguments.need(&["question"], "what you want to know")?,
        options,
        context: arguments.text(&["context"])?.unwrap_or_default(),
        closed,
    })
}

/// A question that an agent asks in words of its own protocol.
pub fn ask(question: &str, options: &[String]) -> Signal {
    parse("workflow_ask", &serde_json::json!({"question": question, "options": options}))
}
