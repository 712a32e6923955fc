//! The two locks before a tool of Claude Code: a hook of ours, and its question for leave. Both are asked over its standard input and
//! output, and both are answered by the same judge.
//!
//! The question alone is not enough: hooks for `PermissionRequest`, which its user or the project may have, answer it too, and whoever
//! answers first decides. No hook can take back what a `PreToolUse` hook denies, so a call is judged there first.

use std::collections::VecDeque;

use chronicle_core::event::CrashClass;
use chronicle_core::event::Verdict;
use chronicle_core::event::input::Answer;
use serde_json::{Value, json};

use crate::agents::Seen;
use crate::agents::line::{alive, keep, text};

/// The id of our request for the hook.
const REQUEST: &str = "chronicle-lock";
/// The name that its calls of the hook have.
const HOOK: &str = "chronicle";
/// How long it waits for the hook, in seconds. It runs the tool if no answer comes in time, so this is longer than any attempt.
const PATIENCE: u64 = 30 * 24 * 60 * 60;

/// The line that sets the hook up; it comes before the first prompt.
pub(super) fn request() -> String {
    // No matcher: every tool, of servers and of sub-agents too.
    let hook = json!({"matcher": null, "hookCallbackIds": [HOOK], "timeout": PATIENCE});
    let request = json!({"subtype": "initialize", "hooks": {"PreToolUse": [hook]}});
    json!({"type": "control_request", "request_id": REQUEST, "request": request}).to_string()
}

/// It asks for leave without having asked the hook: whatever is answered, a hook of its user may answer first.
pub(super) fn is_open() -> Vec<Seen> {
    let text =
        "it called a tool without asking Chronicle's hook first; update Claude Code".to_owned();
    vec![Seen::Error { class: CrashClass::Protocol, text }]
}

/// Calls that wait for a verdict, those that the hook was asked about, and those that were allowed.
#[derive(Default)]
pub(super) struct Waiting {
    asked: VecDeque<Asked>,
    hooked: VecDeque<String>,
    /// It has agreed to ask the hook, so that every question must have been there first.
    has_hook: bool,
    allowed: VecDeque<String>,
}

struct Asked {
    call: String,
    request: String,
    by: Lock,
}

/// Which of the two asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// Our hook, before anything else is asked.
    Hook,
    /// Its question for leave.
    Question,
}

impl Lock {
    /// Which of them a request of its comes from; `None` if it is about something else.
    pub(super) fn of(request: &Value) -> Option<Self> {
        match text(request, "subtype") {
            Some("can_use_tool") => Some(Self::Question),
            Some("hook_callback") if text(request, "callback_id") == Some(HOOK) => Some(Self::Hook),
            _ => None,
        }
    }

    /// The call in a request: its tool, its input, and whether a sub-agent makes it.
    pub(super) fn call(self, request: &Value) -> (&str, &Value, bool) {
        let (call, input) = match self {
            Self::Hook => (&request["input"], "tool_input"),
            Self::Question => (request, "input"),
        };
        let tool = text(call, "tool_name").unwrap_or_default();
        (tool, &call[input], !call["agent_id"].is_null())
    }
}

impl Waiting {
    /// What its answer to the request for the hook means; `None` if it answers another.
    pub(super) fn answered(&mut self, message: &Value) -> Option<Vec<Seen>> {
        let response = &message["response"];
        if text(response, "request_id") != Some(REQUEST) {
            return None;
        }
        self.has_hook = text(response, "subtype") == Some("success");
        if self.has_hook {
            return Some(alive());
        }
        // Without the hook a forbidden call might run, so nothing may begin.
        let why = text(response, "error").unwrap_or("it does not say why");
        let text = format!("it does not let Chronicle judge its tools ({why}); update Claude Code");
        Some(vec![Seen::Error { class: CrashClass::Protocol, text }])
    }

    /// False if the second lock asks and the first never did.
    #[must_use]
    pub(super) fn add(&mut self, call: &str, request: &str, by: Lock) -> bool {
        if by == Lock::Hook {
            keep(&mut self.hooked, call.to_owned());
        } else if self.has_hook && !self.hooked.iter().any(|hooked| hooked == call) {
            return false;
        }
        keep(&mut self.asked, Asked { call: call.to_owned(), request: request.to_owned(), by });
        true
    }

    /// Whether we have allowed that call.
    pub(super) fn allowed(&self, call: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed == call)
    }

    /// It no longer waits for this answer.
    pub(super) fn forget(&mut self, request: &str) {
        self.asked.retain(|asked| asked.request != request);
    }

    /// The line that answers for a call; it can be answered once.
    pub(super) fn answer(&mut self, call: &str, answer: &Answer) -> Option<String> {
        let at = self.asked.iter().position(|asked| asked.call == call)?;
        let Asked { request, by, .. } = self.asked.remove(at)?;
        let why = match answer {
            Answer::Verdict(Verdict::Allowed) => None,
            Answer::Verdict(Verdict::Denied(why)) | Answer::Refused(why) => Some(why.as_str()),
            _ => Some("the attempt is over: end your turn now"),
        };
        // The last answer counts: the attempt may be stopping by the time that the second lock asks.
        self.allowed.retain(|allowed| allowed != call);
        if why.is_none() {
            keep(&mut self.allowed, call.to_owned());
        }
        let response = match (by, why) {
            // The hook lets it pass to the question, so that what the user's own rules and hooks say still holds.
            (Lock::Hook, None) => json!({}),
            (Lock::Hook, Some(why)) => json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": why,
            }}),
            // The input stays its own: ours was redacted.
            (Lock::Question, None) => json!({"behavior": "allow"}),
            (Lock::Question, Some(why)) => json!({"behavior": "deny", "message": why}),
        };
        let inner = json!({"subtype": "success", "request_id": request, "response": response});
        Some(json!({"type": "control_response", "response": inner}).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_must_have_been_at_the_hook_first() {
        let mut waiting = Waiting::default();
        let agreed = json!({"response": {"subtype": "success", "request_id": REQUEST}});
        assert_eq!(waiting.answered(&agreed), Some(alive()));
        assert!(!waiting.add("c1", "q1", Lock::Question), "it never asked the hook");
        assert!(waiting.add("c2", "h2", Lock::Hook));
        let allowed = Answer::Verdict(Verdict::Allowed);
        assert!(waiting.answer("c2", &allowed).is_some_and(|line| line.contains("\"h2\"")));
        assert!(waiting.add("c2", "q2", Lock::Question));
        assert!(waiting.answer("c2", &allowed).is_some_and(|line| line.contains("\"q2\"")));
        assert!(waiting.allowed("c2") && !waiting.allowed("c1"));
    }

    #[test]
    fn who_refuses_the_hook_is_stopped() {
        let refused =
            json!({"response": {"subtype": "error", "request_id": REQUEST, "error": "what?"}});
        let seen = Waiting::default().answered(&refused).unwrap_or_default();
        assert!(matches!(&seen[..], [Seen::Error { class: CrashClass::Protocol, .. }]), "{seen:?}");
    }
}
