//! Which calls of Claude Code run something in the background. Such a call returns at once, but it ends when its task does.

use std::collections::VecDeque;

use serde_json::Value;

use crate::agents::Seen;
use crate::agents::line::{fits, keep, text};

/// Tasks of calls that have not ended, the oldest first.
#[derive(Default)]
pub(super) struct Background(VecDeque<BackgroundTask>);

struct BackgroundTask {
    id: String,
    call: String,
    /// True if it outlives its call. Otherwise the call waits for it.
    in_background: bool,
    /// True once the call itself has returned.
    has_returned: bool,
    /// Whether the task succeeded, if it ended before its call returned.
    ended: Option<bool>,
}

impl Background {
    /// A task began. One in the foreground is remembered too: it may be moved to the background later.
    pub(super) fn begin(&mut self, message: &Value) {
        // A sub-agent is asked about each of its calls, so its changes are known by those. To keep the call open that started
        // it would attribute to the worker whatever changes while the sub-agent thinks.
        if message["task_type"] == "local_agent" {
            return;
        }
        let named = |field| text(message, field).filter(|name| fits(name)).map(str::to_owned);
        if let (Some(id), Some(call)) = (named("task_id"), named("tool_use_id")) {
            let in_background = message["is_backgrounded"] == true;
            keep(
                &mut self.0,
                BackgroundTask { id, call, in_background, has_returned: false, ended: None },
            );
        }
    }

    /// A task changed: a command that takes too long is moved to the background.
    pub(super) fn change(&mut self, message: &Value) {
        let is_moved = message["patch"]["is_backgrounded"] == true;
        let moved = self.0.iter_mut().filter(|task| is_moved && message["task_id"] == task.id[..]);
        moved.for_each(|task| task.in_background = true);
    }

    /// A call returned: what that means if it has a task in the background, and nothing otherwise.
    pub(super) fn returned(&mut self, call: &str, ok: bool) -> Option<Seen> {
        let at = self.0.iter().position(|task| task.call == call)?;
        let task = self.0.get_mut(at)?;
        if ok && task.in_background && task.ended.is_none() {
            task.has_returned = true;
            return Some(Seen::ToolGoesOn { call: task.call.clone() });
        }
        let task = self.0.remove(at).filter(|task| task.in_background)?;
        Some(Seen::ToolEnd { call: task.call, ok: ok && task.ended == Some(true) })
    }

    /// A task ended, and its call with it if that has returned.
    pub(super) fn end(&mut self, message: &Value) -> Option<Seen> {
        let at = self.0.iter().position(|task| message["task_id"] == task.id[..])?;
        let ok = message["status"] == "completed";
        let task = self.0.get_mut(at)?;
        if !task.has_returned {
            task.ended = Some(ok);
            return None;
        }
        self.0.remove(at).map(|task| Seen::ToolEnd { call: task.call, ok })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn begun(is_backgrounded: bool, task_type: &str) -> Background {
        let mut background = Background::default();
        background.begin(&json!({
            "task_id": "t",
            "tool_use_id": "c",
            "is_backgrounded": is_backgrounded,
            "task_type": task_type,
        }));
        background
    }

    fn ended(status: &str) -> Value {
        json!({"task_id": "t", "status": status})
    }

    fn end(ok: bool) -> Seen {
        Seen::ToolEnd { call: "c".to_owned(), ok }
    }

    fn goes_on() -> Seen {
        Seen::ToolGoesOn { call: "c".to_owned() }
    }

    #[test]
    fn a_call_ends_with_its_task() {
        for (status, ok) in [("completed", true), ("failed", false), ("stopped", false)] {
            let mut background = begun(true, "local_bash");
            assert_eq!(background.returned("c", true), Some(goes_on()));
            assert_eq!(background.end(&ended(status)), Some(end(ok)));
            assert_eq!(background.end(&ended(status)), None);
        }
    }

    #[test]
    fn a_task_may_end_before_its_call_returns() {
        let mut background = begun(true, "local_bash");
        assert_eq!(background.end(&ended("failed")), None);
        assert_eq!(background.returned("c", true), Some(end(false)));
        assert_eq!(background.returned("c", true), None);
    }

    #[test]
    fn a_call_that_waits_for_its_task_is_like_any_other() {
        assert_eq!(begun(false, "local_bash").returned("c", true), None);
        assert_eq!(
            begun(true, "local_bash").returned("c", false),
            Some(end(false)),
            "it did not start"
        );
        let mut waited_for = begun(false, "local_bash");
        assert_eq!(waited_for.end(&ended("completed")), None);
        assert_eq!(waited_for.returned("c", true), None);
    }

    #[test]
    fn a_command_that_takes_too_long_is_moved_to_the_background() {
        let mut background = begun(false, "local_bash");
        background.change(&json!({"task_id": "other", "patch": {"is_backgrounded": true}}));
        background.change(&json!({"task_id": "t", "patch": {"is_backgrounded": true}}));
        assert_eq!(background.returned("c", true), Some(goes_on()));
        assert_eq!(background.end(&ended("completed")), Some(end(true)));
    }

    #[test]
    fn the_calls_of_a_sub_agent_are_its_own() {
        assert_eq!(begun(true, "local_agent").returned("c", true), None);
    }
}
