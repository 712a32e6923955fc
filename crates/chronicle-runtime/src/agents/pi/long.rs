//! Lines of Pi that are too long to be kept, such as that of a large file that is written. Each piece of the model's answer repeats all that
//! came before it, so that there are many of them.

use chronicle_core::event::signal::Signal;
use serde_json::Value;

use super::reading::{PiReader, names};
use crate::agents::Seen;
use crate::agents::line::{alive, text, unanswerable};
use crate::agents::long::{LongLine, begun, long};

impl PiReader {
    /// What is known of such a line; `None` if it says nothing, or is none. Whatever waits for an answer gets one.
    pub(super) fn long(&mut self, line: &str) -> Option<Vec<Seen>> {
        let LongLine { bytes, message } = long(line)?;
        Some(match text(&message, "type")? {
            "extension_ui_request" => self.long_dialog(&message, bytes),
            "tool_execution_start" => self.tool_start(&message),
            // One that was kept from running has a short one.
            "tool_execution_end" => self.tool_end(&message),
            "message_end" if message["message"]["role"] == "assistant" => {
                vec![Seen::Remark("what a message cost is not known: it was too long".to_owned())]
            }
            _ => alive(),
        })
    }

    fn long_dialog(&mut self, message: &Value, bytes: u64) -> Vec<Seen> {
        let title = text(message, "title").unwrap_or_default();
        if !["chronicle:permission", "chronicle:signal"].contains(&title) {
            return self.dialog(message);
        }
        // The extension writes the names before the input.
        let asked = text(message, "placeholder").and_then(begun).unwrap_or_default();
        let request = text(message, "id").unwrap_or_default();
        if names(&asked).is_none() {
            return unanswerable();
        }
        let mut seen = if title == "chronicle:signal" {
            self.signal(request, &asked)
        } else {
            self.permission(request, &asked)
        };
        for one in &mut seen {
            match one {
                Seen::Permission(raw) => raw.too_large = Some(bytes),
                Seen::Signal { signal, .. } => {
                    *signal = Signal::Malformed(format!(
                        "its input is too large ({bytes} bytes): say it shorter"
                    ));
                }
                _ => {}
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agents::long::not_kept;

    const BYTES: u64 = 5_000_000;

    /// A dialog of the extension, broken off in the middle of the input.
    fn dialog(title: &str) -> String {
        let asked = json!({"id": "c1", "tool": "write"}).to_string();
        let asked = asked.trim_end_matches('}').replace('"', "\\\"");
        not_kept(
            BYTES,
            &format!(
                r#"{{"type":"extension_ui_request","id":"r1","method":"input","title":"{title}","placeholder":"{asked},\"input\":{{\"path\":\"a\",\"content\":\"xx\\"#
            ),
        )
    }

    #[test]
    fn a_call_that_is_too_large_is_asked_about_as_one_that_is() {
        let mut reader = PiReader::default();
        let seen = reader.read(&dialog("chronicle:permission"));
        let [Seen::Permission(raw)] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!((raw.call.id.as_str(), raw.call.tool.as_str()), ("c1", "write"));
        assert_eq!(raw.too_large, Some(BYTES));
        assert_eq!(reader.take_dialog("c1").map(|(_, request)| request).as_deref(), Some("r1"));
        let seen = reader.read(&dialog("chronicle:signal"));
        let [Seen::Signal { request, signal: Signal::Malformed(why) }] = &seen[..] else {
            panic!("{seen:?}")
        };
        assert!(request == "c1" && why.contains("5000000"), "{why}");
        assert!(matches!(reader.read(&dialog("Which?"))[..], [Seen::Question { .. }]));
    }

    #[test]
    fn a_long_message_is_no_nonsense_and_a_long_end_is_one() {
        let mut reader = PiReader::default();
        let piece = r#"{"type":"message_update","assistantMessageEvent":{"type":"toolcall_delta","delta":"x"#;
        assert_eq!(reader.read(&not_kept(BYTES, piece)), alive());
        let message =
            r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"x"#;
        assert!(matches!(reader.read(&not_kept(BYTES, message))[..], [Seen::Remark(_)]));
        reader.read(&dialog("chronicle:permission"));
        let end = r#"{"type":"tool_execution_end","toolCallId":"c1","toolName":"read","result":{"content":[{"text":"x"#;
        let seen = reader.read(&not_kept(BYTES, end));
        assert!(matches!(&seen[..], [Seen::ToolEnd { ok: true, .. }, ..]), "{seen:?}");
    }
}
