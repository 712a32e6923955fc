//! When Claude Code's work is over. A `result` ends a turn, not the work: while sub-agents or commands run in the background, the next
//! turn begins by itself when one of them ends. Its input must stay open until then, because their tools are asked about too.

use serde_json::Value;

use crate::agents::Seen;
use crate::agents::line::text;

/// What is known about turns and background tasks of one process.
#[derive(Default)]
pub(super) struct Turns {
    /// Ids of the tasks that run in the background.
    tasks: Vec<String>,
    /// True once the worker has left or was interrupted: the next end of a turn is the last, whatever runs in the background.
    is_last: bool,
    /// True if it reports when it is idle. Only that ends the work then: another turn may already wait in its queue.
    tells_states: bool,
    /// True if a turn has ended and none has begun since.
    is_between: bool,
}

impl Turns {
    /// The next end of a turn is the last.
    pub(super) fn ends_soon(&mut self) {
        self.is_last = true;
    }

    /// Takes a list of background tasks. Tasks that only watch, and those that run on another host, are not waited for.
    pub(super) fn running(&mut self, message: &Value) {
        let tasks = message["tasks"].as_array().map_or(&[][..], Vec::as_slice);
        // Tasks that run all the time, or elsewhere, never end while the session lives. Waiting for them would be waiting for
        // ever.
        let counts = |it: &&Value| it["ambient"] != true && it["off_host"] != true;
        let ids = tasks.iter().filter(counts).filter_map(|task| text(task, "task_id"));
        self.tasks = ids.map(str::to_owned).collect();
    }

    /// A turn succeeded. One without any answer of the model (`num_turns` 0) only reports, after a resume, a task that was lost.
    pub(super) fn ended(&mut self, message: &Value) -> Seen {
        if self.is_last {
            return Seen::Finished;
        }
        // A result without turns only says that a task was lost with the last process. The turn of the prompt is still to come.
        self.is_between = message["num_turns"] != 0;
        // Versions that report their state say `idle` when nothing waits in their queue. Older ones do not, and end with their
        // result.
        let is_over = self.is_between && !self.tells_states && self.tasks.is_empty();
        if is_over { Seen::Finished } else { Seen::Alive }
    }

    /// It reports whether it is running, idle, or waiting for an answer.
    pub(super) fn state(&mut self, state: Option<&str>) -> Seen {
        self.tells_states = true;
        self.is_between &= state == Some("idle");
        if self.is_between && self.tasks.is_empty() { Seen::Finished } else { Seen::Alive }
    }
}
