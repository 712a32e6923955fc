//! The timeline: what happened, line by line, after a sequence number.

use serde::{Deserialize, Deserializer, Serialize};

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
    /// The event as data. `None` if a newer Chronicle wrote it and this one does not know it: its sentence is still told.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
}

/// An event, if it is one that this version knows.
fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Event>, D::Error> {
    let event = serde_json::Value::deserialize(from)?;
    // From a text, as lines are read: a second parser would be the code for every event once more.
    Ok(serde_json::from_str(&event.to_string()).ok())
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
            event: Some(event.clone()),
        })
        .collect()
}
