//! The two locks before a tool of Claude Code: a hook of ours, and its question for leave. Both are asked over its standard input and
//! output, and both are answered by the same judge.
//!
//! The question alone is not enough: hooks for `PermissionRequest`, which its user or the project may have, answer it too, and whoever
//! answers first decides. No hook can take back what a `PreToolUse` hook denies, so a call is judged there first.
//!
//! A hook that is never called denies nothing. So a second one, for prompts, has to be called with the handover, which is sent once
//! Claude Code has agreed to both. Its name has the attempt's nonce in it. It is asked before the model is, and waits for our answer:
//! whatever comes from the model before that shows that hooks are not called. (Its `SessionStart` would come earlier, but Claude Code
//! does not call it over standard input.)
//!
//! A third one is called after each call, and after all calls of a message (`after.rs`). It decides nothing, and is answered at once.

use std::collections::VecDeque;

use chronicle_core::base::quote::quoted;
use chronicle_core::event::CrashClass;
use chronicle_core::event::Verdict;
use chronicle_core::event::input::Answer;
use serde_json::{Value, json};

use super::after;
use crate::agents::line::{alive, fits, keep, text};
use crate::agents::{MissingProof, Seen};

/// The id of our request for the hook.
const REQUEST: &str = "chronicle-lock";
/// The name that its calls of the hook have.
const HOOK: &str = "chronicle";
/// How long it waits for the hook, in seconds. It runs the tool if no answer comes in time, so this is longer than any attempt.
const PATIENCE: u64 = 30 * 24 * 60 * 60;

/// How long it waits for the hook that comes after a call, in seconds. Nothing is decided there: an answer that it never gets may not
/// hold it up for long.
const PATIENCE_AFTER: u64 = 60;

/// How the name of the hook for prompts begins; the nonce follows.
const PROOF: &str = "chronicle-proof-";

/// The line that sets the hooks up; it comes before the first prompt.
pub(super) fn request(nonce: &str) -> String {
    // No matcher: every tool, of servers and of sub-agents too.
    let hook = |id: &str, patience: u64| json!([{"matcher": null, "hookCallbackIds": [id], "timeout": patience}]);
    let mut hooks = json!({
        "PreToolUse": hook(HOOK, PATIENCE),
        "UserPromptSubmit": hook(&format!("{PROOF}{nonce}"), PATIENCE),
    });
    for event in after::EVENTS {
        hooks[event] = hook(after::HOOK, PATIENCE_AFTER);
    }
    let request = json!({"subtype": "initialize", "hooks": hooks});
    json!({"type": "control_request", "request_id": REQUEST, "request": request}).to_string()
}

/// What is said of a Claude Code whose guard is not proven.
fn unguarded(why: &str) -> Seen {
    Seen::Unguarded { why: unguarded_text(why) }
}

fn unguarded_text(why: &str) -> String {
    format!("Claude Code does not let Chronicle judge its tools: {why}")
}

/// It asks for leave without having asked the hook: whatever is answered, a hook of its user may answer first.
pub(super) fn is_open() -> Vec<Seen> {
    let text =
        "it called a tool without asking Chronicle's hook first; update Claude Code".to_owned();
    vec![Seen::Error { class: CrashClass::Protocol, text }]
}

/// How far the proof is that the hooks are called.
#[derive(Default, PartialEq, Eq)]
enum Proof {
    /// It was given, or nobody asked for one because only one line is looked at.
    #[default]
    Settled,
    /// Its user does without.
    Waived,
    /// It has not agreed to the hooks.
    Asked,
    /// It has agreed, and was given the handover.
    Agreed,
    /// It was found that there will be none.
    Failed,
}

/// Calls that wait for a verdict, those that the hook was asked about, and those that were allowed.
#[derive(Default)]
pub(super) struct Waiting {
    asked: VecDeque<Asked>,
    /// Each with the folder that it begins in, which only the hook is told.
    hooked: VecDeque<(String, Option<String>)>,
    /// It has agreed to ask the hook, so that every question must have been there first.
    has_hook: bool,
    allowed: VecDeque<String>,
    proof: Proof,
    nonce: String,
    /// What is not sent without the proof: the handover first of all.
    held: Vec<String>,
    has_begun: bool,
    /// Lines that are to be sent next.
    lines: Vec<String>,
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

    /// Where its shell is, which stays where the call before has left it. Only the hook is told.
    fn folder(self, request: &Value) -> Option<&str> {
        match self {
            Self::Hook => text(&request["input"], "cwd"),
            Self::Question => None,
        }
    }

    /// Whether what it asks about is what will run: hooks of its user's own may change a call that our hook was asked about.
    pub(super) fn is_last(self) -> bool {
        self == Self::Question
    }
}

/// The proof that hooks are called.
impl Waiting {
    /// Waits for the proof, and holds the handover back.
    pub(super) fn of(nonce: String, handover: Vec<String>) -> Self {
        Self { nonce, held: handover, proof: Proof::Asked, ..Self::default() }
    }

    /// True once the handover was sent.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// What is missing, if somebody waits for it.
    pub(super) fn unproven(&self) -> Option<MissingProof> {
        let (why, is_due) = match self.proof {
            Proof::Settled | Proof::Waived => return None,
            // Its answer waits for the hooks that its user has for the start of a session.
            Proof::Asked => ("it did not answer when it was asked to call its hook", false),
            // All hooks for a prompt are called at once.
            Proof::Agreed | Proof::Failed => ("it did not call its hook", true),
        };
        Some(MissingProof { why: unguarded_text(why), is_due })
    }

    /// Nobody waits for the proof any more: what has to be sent, if the handover was not.
    pub(super) fn waive(&mut self) -> Vec<String> {
        self.proof = Proof::Waived;
        // Its question for leave is the only lock then, and must do without the other.
        (self.has_hook, self.has_begun) = (false, true);
        std::mem::take(&mut self.held)
    }

    pub(super) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// Found if a line shows that the model works, or has a tool called, although no hook was called with the handover.
    pub(super) fn begins_unproven(&mut self, message: &Value) -> Vec<Seen> {
        // Before it has the handover, lines of a model say nothing about it; a tool is not to be called then either.
        let is_given = self.proof == Proof::Agreed;
        let works = match text(message, "type") {
            Some("stream_event") => is_given,
            Some("system") => is_given && message["status"] == "requesting",
            Some("control_request") => {
                let is_open = is_given || self.proof == Proof::Asked;
                let request = &message["request"];
                is_open && (Lock::of(request).is_some() || after::is_after(request))
            }
            _ => false,
        };
        if works { self.fails("it went to work without calling its hook") } else { Vec::new() }
    }

    /// A hook that is no lock: ours for prompts, with the nonce that is our own, is the proof.
    pub(super) fn proves(&mut self, message: &Value) -> Vec<Seen> {
        let id = text(&message["request"], "callback_id").unwrap_or_default();
        let Some(nonce) = id.strip_prefix(PROOF) else { return alive() };
        // It asks before every prompt, also before those that it gives to itself.
        let request = text(message, "request_id").filter(|it| fits(it));
        let answer = request.map(|request| response(request, &json!({})));
        if nonce != self.nonce && self.proof != Proof::Waived {
            self.held.extend(answer);
            return self.fails("its hook was called with the nonce of another attempt");
        }
        self.lines.extend(answer);
        if matches!(self.proof, Proof::Asked | Proof::Agreed) {
            self.proof = Proof::Settled;
        }
        alive()
    }

    /// A hook that decides nothing: it is not kept waiting.
    pub(super) fn pass(&mut self, request: &str) {
        if fits(request) {
            self.lines.push(response(request, &json!({})));
        }
    }

    fn fails(&mut self, why: &str) -> Vec<Seen> {
        self.proof = Proof::Failed;
        vec![unguarded(why)]
    }
}

impl Waiting {
    /// What its answer to the request for the hook means; `None` if it answers another.
    pub(super) fn answered(&mut self, message: &Value) -> Option<Vec<Seen>> {
        let response = &message["response"];
        if text(response, "request_id") != Some(REQUEST) {
            return None;
        }
        if matches!(self.proof, Proof::Waived | Proof::Failed) {
            // It comes too late to matter.
            return Some(alive());
        }
        self.has_hook = text(response, "subtype") == Some("success");
        if self.has_hook {
            if self.proof == Proof::Asked {
                self.proof = Proof::Agreed;
            }
            self.has_begun = true;
            self.lines.append(&mut self.held);
            return Some(alive());
        }
        // Without the hook a forbidden call might run, so nothing may begin.
        let why = text(response, "error").unwrap_or("it does not say why");
        Some(self.fails(&format!("it refuses to call its hook ({})", quoted(why))))
    }

    /// False if the second lock asks and the first never did.
    #[must_use]
    pub(super) fn add(&mut self, call: &str, id: &str, by: Lock, request: &Value) -> bool {
        if by == Lock::Hook {
            let folder = by.folder(request).map(str::to_owned);
            keep(&mut self.hooked, (call.to_owned(), folder));
        } else if self.has_hook && !self.hooked.iter().any(|(hooked, _)| hooked == call) {
            return false;
        }
        keep(&mut self.asked, Asked { call: call.to_owned(), request: id.to_owned(), by });
        true
    }

    /// The folder that a call begins in, if the hook was told.
    pub(super) fn folder(&self, call: &str) -> Option<&str> {
        let (_, folder) = self.hooked.iter().rfind(|(hooked, _)| hooked == call)?;
        folder.as_deref()
    }

    /// Whether we have allowed that call.
    pub(super) fn allowed(&self, call: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed == call)
    }

    /// It no longer waits for this answer; the call that it was about.
    pub(super) fn forget(&mut self, request: &str) -> Option<String> {
        let at = self.asked.iter().position(|asked| asked.request == request)?;
        self.asked.remove(at).map(|asked| asked.call)
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
        Some(self::response(&request, &response))
    }
}

/// The line that answers a request of its.
fn response(request: &str, response: &Value) -> String {
    let inner = json!({"subtype": "success", "request_id": request, "response": response});
    json!({"type": "control_response", "response": inner}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDOVER: &str = "the handover";

    fn asked() -> Waiting {
        Waiting::of("n1".to_owned(), vec![HANDOVER.to_owned()])
    }

    fn agreed() -> Waiting {
        let mut waiting = asked();
        let agreed = json!({"response": {"subtype": "success", "request_id": REQUEST}});
        assert_eq!(waiting.answered(&agreed), Some(alive()));
        waiting
    }

    fn called(id: &str) -> Value {
        let request = json!({"subtype": "hook_callback", "callback_id": id});
        json!({"type": "control_request", "request_id": "r1", "request": request})
    }

    fn is_unguarded(seen: &[Seen]) -> bool {
        matches!(seen, [Seen::Unguarded { .. }])
    }

    #[test]
    fn the_handover_waits_until_it_agrees_and_its_hook_until_the_nonce_is_seen() {
        let mut waiting = asked();
        assert!(waiting.take_lines().is_empty() && !waiting.has_begun());
        assert!(
            waiting.unproven().is_some_and(|it| it.why.contains("did not answer") && !it.is_due)
        );
        let mut waiting = agreed();
        assert_eq!(waiting.take_lines(), [HANDOVER]);
        assert!(waiting.has_begun() && waiting.unproven().is_some_and(|it| it.is_due));
        assert_eq!(waiting.proves(&called("chronicle-proof-n1")), alive());
        assert_eq!(waiting.unproven(), None);
        let lines = waiting.take_lines();
        assert!(matches!(&lines[..], [line] if line.contains("\"r1\"")), "{lines:?}");
        let works = json!({"type": "system", "subtype": "status", "status": "requesting"});
        assert_eq!(waiting.begins_unproven(&works), []);
    }

    #[test]
    fn another_nonce_proves_nothing() {
        let mut waiting = agreed();
        waiting.take_lines();
        assert!(is_unguarded(&waiting.proves(&called("chronicle-proof-n2"))));
        assert!(waiting.take_lines().is_empty(), "it is not let on");
        assert!(waiting.unproven().is_some());
    }

    #[test]
    fn whatever_comes_of_the_model_before_the_proof_shows_that_no_hook_is_called() {
        let question = json!({"type": "control_request", "request": {"subtype": "can_use_tool"}});
        let requesting = json!({"type": "system", "subtype": "status", "status": "requesting"});
        for (works, is_tool) in [
            (question, true),
            (called(HOOK), true),
            (called(after::HOOK), true),
            (requesting, false),
            (json!({"type": "stream_event"}), false),
        ] {
            let mut waiting = agreed();
            assert!(is_unguarded(&waiting.begins_unproven(&works)), "{works}");
            assert_eq!(waiting.begins_unproven(&works), [], "it is told once");
            let early = asked().begins_unproven(&works);
            assert_eq!(is_unguarded(&early), is_tool, "before it has the handover: {works}");
            assert_eq!(Waiting::default().begins_unproven(&works), [], "one line alone");
        }
        let init = json!({"type": "system", "subtype": "init"});
        assert_eq!(agreed().begins_unproven(&init), []);
    }

    #[test]
    fn without_a_proof_the_second_lock_is_asked_alone() {
        let mut waiting = asked();
        assert_eq!(waiting.waive(), [HANDOVER]);
        assert_eq!(waiting.unproven(), None);
        let agreed = json!({"response": {"subtype": "success", "request_id": REQUEST}});
        assert_eq!(waiting.answered(&agreed), Some(alive()));
        assert!(waiting.take_lines().is_empty(), "the handover is sent once");
        assert!(waiting.add("c1", "q1", Lock::Question, &Value::Null));
    }

    #[test]
    fn a_question_must_have_been_at_the_hook_first() {
        let mut waiting = agreed();
        assert!(!waiting.add("c1", "q1", Lock::Question, &Value::Null), "it never asked the hook");
        assert!(waiting.add("c2", "h2", Lock::Hook, &Value::Null));
        let allowed = Answer::Verdict(Verdict::Allowed);
        assert!(waiting.answer("c2", &allowed).is_some_and(|line| line.contains("\"h2\"")));
        assert!(waiting.add("c2", "q2", Lock::Question, &Value::Null));
        assert!(waiting.answer("c2", &allowed).is_some_and(|line| line.contains("\"q2\"")));
        assert!(waiting.allowed("c2") && !waiting.allowed("c1"));
    }

    #[test]
    fn who_refuses_the_hook_is_given_nothing_to_do() {
        let refused =
            json!({"response": {"subtype": "error", "request_id": REQUEST, "error": "what?"}});
        let mut waiting = asked();
        assert!(is_unguarded(&waiting.answered(&refused).unwrap_or_default()));
        assert!(waiting.take_lines().is_empty() && !waiting.has_begun());
    }
}
