//! Lines of Claude Code that are too long to be kept, such as that of a large file that is written, read or changed.

use serde_json::Value;

use super::after;
use super::lock::Lock;
use super::reading::ClaudeReader;
use crate::agents::Seen;
use crate::agents::line::{alive, fits, text};
use crate::agents::long::{LongLine, long};

/// The tool of a call whose line does not say it early enough.
const UNKNOWN: &str = "unknown";

impl ClaudeReader {
    /// What is known of such a line; `None` if it says nothing, or is none. Without it a call would stay open or a question
    /// unanswered, and the worker would be stopped for that.
    pub(super) fn long(&mut self, line: &str) -> Option<Vec<Seen>> {
        let LongLine { bytes, mut message } = long(line)?;
        let mut seen = self.lock_mut().begins_unproven(&message);
        seen.extend(match text(&message, "type") {
            Some("control_request") => {
                let request = &mut message["request"];
                text(request, "subtype")?;
                name_tool(request);
                if after::is_after(request) { self.pass(&message) } else { self.question(&message) }
            }
            Some("user") => self.long_result(&message)?,
            Some("assistant" | "stream_event") => alive(),
            None | Some("result") => self.long_end(&mut message)?,
            Some(_) => return None,
        });
        for asked in &mut seen {
            if let Seen::Permission(raw) = asked {
                raw.too_large = Some(bytes);
            }
        }
        Some(seen)
    }

    /// A hook that decides nothing is not kept waiting. What it would tell is not all there.
    fn pass(&mut self, message: &Value) -> Vec<Seen> {
        self.lock_mut().pass(text(message, "request_id").unwrap_or_default());
        alive()
    }

    /// The end of a turn, which repeats every call that was denied, after what it cost and before its type.
    fn long_end(&mut self, message: &mut Value) -> Option<Vec<Seen>> {
        let is_end = message["duration_api_ms"].is_number() && message.get("stop_reason").is_some();
        if !is_end {
            return None;
        }
        // A sum that is not all there would be too small.
        if message.get("permission_denials").is_none() {
            message["modelUsage"].take();
        }
        Some(self.result(message))
    }

    /// The end of a tool that worked: a result that failed is short.
    fn long_result(&self, message: &Value) -> Option<Vec<Seen>> {
        let block = &message["message"]["content"][0];
        let call = text(block, "tool_use_id").filter(|call| fits(call))?;
        let end = Seen::ToolEnd { call: call.to_owned(), ok: true };
        Some(if self.has_ended(call) { alive() } else { vec![end] })
    }
}

/// Gives the call in a question a name, so that it can be answered.
fn name_tool(request: &mut Value) {
    let call = match Lock::of(request) {
        Some(Lock::Hook) => &mut request["input"],
        Some(Lock::Question) => request,
        None => return,
    };
    if text(call, "tool_name").is_none() && (call.is_object() || call.is_null()) {
        call["tool_name"] = UNKNOWN.into();
    }
}

#[cfg(test)]
mod tests {
    use chronicle_core::event::Verdict;
    use chronicle_core::event::input::Answer;
    use serde_json::json;

    use super::*;
    use crate::agents::long::not_kept;

    const BYTES: u64 = 5_000_000;

    #[test]
    fn the_end_of_a_tool_is_known_from_the_start_of_a_long_line() {
        let long = r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"The fi"#;
        let end = Seen::ToolEnd { call: "toolu_1".to_owned(), ok: true };
        assert_eq!(ClaudeReader::default().read(&not_kept(BYTES, long)), vec![end]);
        let other = not_kept(BYTES, r#"{"type":"control_request","request_id":"q"#);
        assert!(matches!(&ClaudeReader::default().read(&other)[..], [Seen::NotUnderstood { .. }]));
    }

    #[test]
    fn a_long_line_of_a_hook_that_decides_nothing_is_answered() {
        let mut reader = ClaudeReader::default();
        let start = format!(
            r#"{{"type":"control_request","request_id":"r7","request":{{"subtype":"hook_callback","callback_id":"{}","input":{{"hook_event_name":"PostToolUse","tool_name":"Read","tool_use_id":"c1","tool_input":{{"se"#,
            after::HOOK
        );
        assert_eq!(reader.read(&not_kept(BYTES, &start)), alive());
        let lines = reader.lock_mut().take_lines();
        assert!(matches!(&lines[..], [line] if line.contains("\"r7\"")), "{lines:?}");
    }

    #[test]
    fn a_call_that_is_too_large_is_asked_about_as_one_that_is() {
        let hook = |begin: &str| {
            format!(
                r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"hook_callback","callback_id":"chronicle","input":{{{begin}"content":"xxx"#
            )
        };
        let question = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Write","input":{"content":"xxx"#;
        let named = hook(r#""agent_id":"a1","cwd":"/sub","tool_name":"Write","tool_input":{"#);
        let unnamed = hook(r#""tool_input":{"#);
        for (start, tool) in
            [(named.as_str(), "Write"), (unnamed.as_str(), UNKNOWN), (question, "Write")]
        {
            let mut reader = ClaudeReader::default();
            let seen = reader.read(&not_kept(BYTES, start));
            let [Seen::Permission(raw)] = &seen[..] else { panic!("{start}: {seen:?}") };
            assert_eq!((raw.call.tool.as_str(), raw.too_large), (tool, Some(BYTES)), "{start}");
            let denied = Answer::Verdict(Verdict::Denied("too large".to_owned()));
            let line = reader.answer(&raw.call.id, &denied).unwrap();
            assert!(line.contains("\"r1\"") && line.contains("deny"), "{line}");
        }
        let short = json!({"type": "control_request", "request_id": "r1", "request":
            {"subtype": "can_use_tool", "tool_name": "Write", "input": {"content": "x"}}});
        let seen = ClaudeReader::default().read(&short.to_string());
        assert!(matches!(&seen[..], [Seen::Permission(raw)] if raw.too_large.is_none()));
    }

    #[test]
    fn the_end_of_a_turn_is_one_however_much_was_denied_in_it() {
        let cost = r#"{"duration_api_ms":7,"stop_reason":"end_turn","session_id":"s","total_cost_usd":0.5,"modelUsage":{"m":{"inputTokens":2"#;
        let seen = ClaudeReader::default().read(&not_kept(BYTES, cost));
        assert_eq!(seen, [Seen::Finished], "a sum that is cut is no sum");
        let whole =
            format!("{cost},\"outputTokens\":1}}}},\"permission_denials\":[{{\"tool_input\":{{\"x");
        let seen = ClaudeReader::default().read(&not_kept(BYTES, &whole));
        assert!(matches!(seen[..], [Seen::Usage { .. }, Seen::Finished]), "{seen:?}");
        let other = not_kept(BYTES, r#"{"a":1,"b":"xx"#);
        assert!(matches!(&ClaudeReader::default().read(&other)[..], [Seen::NotUnderstood { .. }]));
    }

    #[test]
    fn a_long_message_of_the_model_is_no_nonsense() {
        let start =
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"x":"yyy"#;
        assert_eq!(ClaudeReader::default().read(&not_kept(BYTES, start)), alive());
    }
}
