//! The timeline: what happened, line by line, after a sequence number.

use serde::{Deserialize, Serialize};

use crate::base::time::Millis;
use crate::event::Event;
use crate::event::input::By;
use crate::event::record::Line;
use crate::words;

/// One event as people read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineEntry {
    /// Number of its line: the cursor to continue from.
    pub seq: u64,
    /// Wall-clock time of its line.
    pub at: Millis,
    /// The sender of the input that led to it.
    pub by: By,
    /// The event as a sentence.
    pub text: String,
    /// True for the many small events between decisions: tool calls, usage, file changes.
    pub detail: bool,
    /// The event as data.
    pub event: Event,
}

/// The events of a line as people read them.
pub fn timeline(line: &Line) -> Vec<TimelineEntry> {
    line.events
        .iter()
        .map(|event| TimelineEntry {
            seq: line.seq,
            at: line.at,
            by: line.by.clone(),
            text: words::sentence(event),
            detail: event.is_detail(),
            event: event.clone(),
        })
        .collect()
}
