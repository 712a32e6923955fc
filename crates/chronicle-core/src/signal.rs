//! What workers tell the supervisor, and how their tools' arguments are read.
//!
//! The names, arguments and aliases are those of the design; every agent adapter and the MCP server come through `parse`.

use serde_json::{Map, Value};

use crate::ids::{Outcome, PhaseId};
use crate::limits::{TEXT_MAX, bounded};

/// A worker's call, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// It wants to leave its phase.
    Leave {
        /// Where to; none = as the workflow says.
        target: Option<PhaseId>,
        /// How; none = complete.
        outcome: Option<Outcome>,
        /// What it says of its work.
        summary: String,
    },
    /// It wants to know where it is.
    Status,
    /// The arguments make no sense; the text says which would.
    Malformed(String),
}

/// The tool that a worker of the phased format leaves a phase with.
pub const STEP_TOOL: &str = "workflow_step";
/// The tools that a worker has, as their names are known here.
pub const TOOLS: [&str; 4] = ["workflow_transition", "signal_back", STEP_TOOL, "workflow_status"];

/// Reads a tool call. Never fails: what makes no sense becomes an answer that the worker can act on.
pub fn parse(tool: &str, arguments: &Value) -> Signal {
    let empty = Map::new();
    let arguments = arguments.as_object().unwrap_or(&empty);
    match tool {
        "workflow_transition" => transition(arguments),
        "signal_back" | "signal-back" => signal_back(arguments),
        STEP_TOOL => step(arguments),
        "workflow_status" => Signal::Status,
        other => Signal::Malformed(format!(
            "there is no tool `{other}`; the tools are {}",
            TOOLS.map(|tool| format!("`{tool}`")).join(", ")
        )),
    }
}

fn transition(arguments: &Map<String, Value>) -> Signal {
    let Some(target) = text(arguments, &["target_state", "to_state"]) else {
        return Signal::Malformed(
            "`workflow_transition` needs `target_state`, the phase to go to".to_owned(),
        );
    };
    Signal::Leave {
        target: Some(PhaseId::new(target)),
        outcome: text(arguments, &["outcome"]).map(Outcome::new),
        summary: summary(arguments),
    }
}

fn signal_back(arguments: &Map<String, Value>) -> Signal {
    match text(arguments, &["signal", "type"]) {
        Some("complete") => Signal::Leave {
            target: None,
            outcome: text(arguments, &["outcome"]).map(Outcome::new),
            summary: summary(arguments),
        },
        Some(other) => Signal::Malformed(format!(
            "`signal_back` takes the signal `complete` here, not `{other}`"
        )),
        None => Signal::Malformed("`signal_back` needs `signal`: `complete`".to_owned()),
    }
}

fn step(arguments: &Map<String, Value>) -> Signal {
    match text(arguments, &["action"]) {
        Some("next") => Signal::Leave { target: None, outcome: None, summary: summary(arguments) },
        Some("status") => Signal::Status,
        Some(other) => Signal::Malformed(format!(
            "`workflow_step` takes the action `next` or `status` here, not `{other}`"
        )),
        None => Signal::Malformed("`workflow_step` needs `action`: `next` or `status`".to_owned()),
    }
}

fn summary(arguments: &Map<String, Value>) -> String {
    bounded(text(arguments, &["summary"]).unwrap_or_default(), TEXT_MAX)
}

fn text<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .find_map(|name| arguments.get(*name)?.as_str())
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn aliases_mean_the_same() {
        let plain = json!({"target_state": "review", "summary": "built"});
        let alias = json!({"to_state": " review ", "summary": "built"});
        assert_eq!(parse("workflow_transition", &plain), parse("workflow_transition", &alias));
        let plain = parse("signal_back", &json!({"signal": "complete", "summary": "x"}));
        assert_eq!(plain, parse("signal-back", &json!({"type": "complete", "summary": "x"})));
    }

    #[test]
    fn nonsense_is_answered_with_what_would_make_sense() {
        for (tool, arguments) in [
            ("workflow_transition", json!({})),
            ("workflow_transition", json!("review")),
            ("workflow_transition", json!({"target_state": ""})),
            ("signal_back", json!({"signal": "shrug"})),
            ("workflow_step", json!({"action": null})),
            ("workflow_fly", json!({})),
        ] {
            assert!(matches!(parse(tool, &arguments), Signal::Malformed(_)), "{tool} {arguments}");
        }
    }
}
