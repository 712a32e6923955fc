//! What Claude Code tells a hook of ours after a call: which one ran, with what input, and how it ended.
//!
//! Its other lines have no results of sub-agents that a sub-agent has started, nor of those that its `Workflow` tool starts. A call of
//! theirs that ran although it was denied would go unseen, and one that has ended would seem to run on.

use chronicle_core::event::Caller;
use serde_json::Value;

use crate::agents::line::{fits, text};

/// The name that its calls of the hook have.
pub(super) const HOOK: &str = "chronicle-after";
/// What the hook is called for. The last one comes once all calls of a message are over, and has those in it that never ran.
pub(super) const EVENTS: [&str; 3] = ["PostToolUse", "PostToolUseFailure", "PostToolBatch"];

/// What the hook was called for.
#[derive(Debug, PartialEq)]
pub(super) enum After<'a> {
    /// A call has run.
    Call(Returned<'a>),
    /// The calls of one message of a sub-agent are over.
    Batch(Vec<&'a str>),
}

/// A call that has run.
#[derive(Debug, PartialEq)]
pub(super) struct Returned<'a> {
    pub(super) call: &'a str,
    pub(super) tool: &'a str,
    /// As it ran, whatever hooks have made of it.
    pub(super) input: &'a Value,
    pub(super) by: Caller,
    pub(super) ok: bool,
    pub(super) is_interrupted: bool,
    /// What else its result would tell, such as the file that it changed.
    pub(super) response: &'a Value,
}

/// Whether a request of its calls the hook.
pub(super) fn is_after(request: &Value) -> bool {
    text(request, "subtype") == Some("hook_callback") && text(request, "callback_id") == Some(HOOK)
}

impl<'a> After<'a> {
    /// What the hook is told; `None` if it cannot be read which call has run.
    pub(super) fn of(told: &'a Value) -> Option<Self> {
        let is_sub_agent = !told["agent_id"].is_null();
        let event = text(told, "hook_event_name")?;
        if event == "PostToolBatch" {
            // The worker's own have results.
            let calls = told["tool_calls"].as_array().filter(|_| is_sub_agent);
            let calls = calls.into_iter().flatten().filter_map(|call| text(call, "tool_use_id"));
            return Some(Self::Batch(calls.filter(|call| fits(call)).collect()));
        }
        let named = |field| text(told, field).filter(|name| fits(name));
        Some(Self::Call(Returned {
            call: named("tool_use_id")?,
            tool: named("tool_name")?,
            input: &told["tool_input"],
            by: if is_sub_agent { Caller::SubAgent } else { Caller::Worker },
            ok: event == "PostToolUse",
            is_interrupted: told["is_interrupt"] == true,
            response: &told["tool_response"],
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_as_it_ran() {
        let told = json!({
            "agent_id": "a1", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "c1",
            "tool_input": {"command": "false"}, "error": "Exit code 1", "is_interrupt": false,
        });
        let Some(After::Call(ran)) = After::of(&told) else { panic!("{told}") };
        assert_eq!((ran.call, ran.tool, ran.by), ("c1", "Bash", Caller::SubAgent));
        assert!(!ran.ok && !ran.is_interrupted && ran.input["command"] == "false");
    }

    #[test]
    fn only_batches_of_sub_agents_count() {
        let mut told = json!({"hook_event_name": "PostToolBatch", "tool_calls": [{"tool_use_id": "c1"}, {"tool_use_id": ""}]});
        assert_eq!(After::of(&told), Some(After::Batch(Vec::new())));
        told["agent_id"] = json!("a1");
        assert_eq!(After::of(&told), Some(After::Batch(vec!["c1"])));
    }
}
