//! Signals: what workers tell the supervisor, and how tool arguments are parsed.
//!
//! Every adapter and the MCP server come through `parse`. Arguments that cannot be read, or are too long to keep, are answered
//! with what would be valid. Nothing is cut silently.

mod arguments;
mod back;
mod snapshot;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::ids::{Outcome, PhaseId};
use crate::base::limits::TEXT_MAX;
use crate::base::quote::quoted;
use crate::definition::workflow::{StepItem, parse_steps};
use crate::event::{Break, Issues, Question, SnapshotUpdate};
use arguments::Arguments;

/// A parsed tool call of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Signal {
    /// It wants to leave its phase.
    Leave {
        /// The target phase; `None` lets the workflow decide.
        target: Option<PhaseId>,
        /// How the phase went; `None` means `complete`.
        outcome: Option<Outcome>,
        /// What the worker says about its work.
        summary: String,
        /// The task for the next phase, in the worker's words.
        task: Option<String>,
        /// The issues that it names.
        #[serde(default, skip_serializing_if = "Issues::is_none")]
        issues: Issues,
    },
    /// It ends its turn before its phase is done.
    Break(Break),
    /// It wants to start its workflow over.
    Loop {
        /// What the worker says about its work.
        summary: String,
    },
    /// It wants to cancel the run.
    Cancel {
        /// Why the run should be cancelled.
        summary: String,
    },
    /// It adds to what later phases are told.
    Snapshot(SnapshotUpdate),
    /// It asks a person and waits for the answer within its turn.
    Ask(Question),
    /// It names the step that it signals for. A signal for another step must not count as its own.
    OfStep {
        /// The step, as the worker names it.
        step: String,
        /// The signal itself, without the step.
        signal: Box<Signal>,
    },
    /// It plans the steps of a pool.
    Plan {
        /// The plan that it knows, by its number; `None` if it does not say.
        version: Option<u32>,
        /// The steps, in order.
        steps: Vec<StepItem>,
    },
    /// It asks for its phase, task and possible targets.
    Status,
    /// The arguments are invalid; the text says what would be valid.
    Malformed(String),
}

impl Signal {
    /// The signal without its step.
    pub fn meant(&self) -> &Self {
        match self {
            Self::OfStep { signal, .. } => signal,
            Self::Leave { .. }
            | Self::Break(_)
            | Self::Loop { .. }
            | Self::Cancel { .. }
            | Self::Snapshot(_)
            | Self::Ask(_)
            | Self::Plan { .. }
            | Self::Status
            | Self::Malformed(_) => self,
        }
    }
}

/// The answer to a repeated call that already ended an earlier turn of the same session.
pub const ALREADY: &str = "done already: what you asked for has come. Go on where you were.";
/// The tool that leaves a phase in the phased format.
pub const STEP_TOOL: &str = "workflow_step";
/// The Chronicle's name for `workflow_ask`.
pub const ASK_SUPERVISOR: &str = "ask_supervisor";
/// Names of all signal tools.
pub const TOOLS: [&str; 7] = [
    "workflow_transition",
    "workflow_update_snapshot",
    STEP_TOOL,
    "signal_back",
    "workflow_ask",
    "workflow_plan",
    "workflow_status",
];

/// True if Chronicle handles a tool of this name.
pub fn is_ours(tool: &str) -> bool {
    TOOLS.contains(&tool) || tool == "signal-back"
}

/// True for one of these tools under the name that agents give it which know it as one of a server: `mcp__chronicle__signal_back`.
pub fn is_ours_of_server(tool: &str) -> bool {
    tool.strip_prefix("mcp__chronicle__").is_some_and(is_ours)
}

/// Parses a tool call. Never fails: invalid arguments become an answer that the worker can act on.
pub fn parse(tool: &str, given: &Value) -> Signal {
    let arguments = Arguments::new(tool, given);
    let read = match tool {
        "workflow_transition" => transition(&arguments),
        "signal_back" | "signal-back" => back::signal_back(&arguments),
        STEP_TOOL => step(&arguments),
        "workflow_update_snapshot" => snapshot::update(&arguments).map(Signal::Snapshot),
        "workflow_ask" | ASK_SUPERVISOR => question(&arguments).map(Signal::Ask),
        "workflow_plan" => plan(&arguments, given),
        "workflow_status" => Ok(Signal::Status),
        other => Err(format!(
            "there is no tool `{}`; the tools are {}",
            quoted(other),
            TOOLS.map(|tool| format!("`{tool}`")).join(", ")
        )),
    };
    // Every tool takes a step: a worker that names another one must not be believed, whatever it asks for.
    let step = arguments.text(&["stepId", "step_id"]);
    match (read, step) {
        (Err(why), _) | (Ok(_), Err(why)) => Signal::Malformed(why),
        (Ok(signal), Ok(None)) => signal,
        (Ok(signal), Ok(Some(step))) => Signal::OfStep { step, signal: Box::new(signal) },
    }
}

/// The steps of a plan. What is wrong with them is told by name, all at once.
fn plan(arguments: &Arguments<'_>, given: &Value) -> Result<Signal, String> {
    let version = match arguments.value(&["version"])? {
        None => None,
        Some(value) => {
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
            let number = number.and_then(|number| u32::try_from(number).ok());
            Some(number.ok_or("`version` of `workflow_plan` must be the number of a plan")?)
        }
    };
    if arguments.value(&["steps"])?.is_none() {
        return Err(
            "`workflow_plan` needs `steps`: a list of `{id, name, description, depends_on}`"
                .to_owned(),
        );
    }
    let steps = parse_steps(given).map_err(|problems| problems.join("; "))?;
    Ok(Signal::Plan { version, steps })
}

fn transition(arguments: &Arguments<'_>) -> Result<Signal, String> {
    // A field of `signal_back`. Leaving a phase while saying that it is not finished would count as finished.
    if let Some(status) = arguments.text(&["operationStatus", "operation_status"])?
        && status != "done"
    {
        return Err(format!(
            "`operationStatus` is `{}`, and `workflow_transition` leaves a phase that is done: use \
             `signal_back`",
            quoted(&status)
        ));
    }
    let target = arguments.need(&["target_state", "to_state"], "the phase to go to")?;
    let mut summary = arguments.need(&["summary"], "what you did and found")?;
    if let Some(reason) = arguments.text(&["assist_reason"])? {
        summary = format!("{summary}\n\nAssistance is needed: {reason}");
        // Each part fits by itself. Joined they may be too long, and a summary is never cut in silence.
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
            let outcome = arguments.text(&["outcome"])?.map(Outcome::new);
            Ok(Signal::Leave { target: None, outcome, summary, task: None, issues })
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
    // A question that nothing can answer would hold its worker for ever.
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

/// Builds a question that an agent asked in its own protocol. `closed`: only one of the options can be the answer.
pub fn ask(question: &str, options: &[String], closed: bool) -> Signal {
    let asked =
        serde_json::json!({"question": question, "options": options, "allow_free_text": !closed});
    parse("workflow_ask", &asked)
}
