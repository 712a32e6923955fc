//! One line of JSON, as published agents print it, and helpers for reading such lines.

use std::collections::VecDeque;

use chronicle_core::base::quote::quoted;
use chronicle_core::event::CrashClass;
use serde_json::Value;

use super::{LINE_MAX, NAME_MAX, Seen};

/// Most questions and calls that are remembered per process.
const CALLS_MAX: usize = 1_024;

/// The object in a line, or what to report about a line without one.
pub(super) fn parse(line: &str) -> Result<Value, Vec<Seen>> {
    if line.len() > LINE_MAX {
        return Err(puzzled(format!("a line of {} bytes; the limit is {LINE_MAX}", line.len())));
    }
    serde_json::from_str(line).map_err(|error| puzzled(format!("not a line of JSON: {error}")))
}

/// A line with an unknown or missing type.
pub(super) fn of_unknown_type(kind: Option<&str>) -> Vec<Seen> {
    puzzled(match kind {
        Some(other) => format!("a line of unknown type `{}`", quoted(other)),
        None => "a line without `type`".to_owned(),
    })
}

/// True if an id or name can be used in an answer: not empty and not too long.
pub(super) fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_MAX
}

/// A question that cannot be answered: the agent would wait for ever, so it is stopped.
pub(super) fn unanswerable() -> Vec<Seen> {
    let text = "a question that cannot be answered: it has no names that fit".to_owned();
    vec![Seen::Error { class: CrashClass::Protocol, text }]
}

/// Adds an entry; the oldest is dropped.
pub(super) fn keep<T>(list: &mut VecDeque<T>, item: T) {
    // An agent that never ends what it begins must not make this grow. The oldest is the one least likely to be asked for.
    if list.len() >= CALLS_MAX {
        list.pop_front();
    }
    list.push_back(item);
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

pub(super) fn number(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or(0)
}

pub(super) fn alive() -> Vec<Seen> {
    vec![Seen::Alive]
}

pub(super) fn puzzled(why: String) -> Vec<Seen> {
    vec![Seen::NotUnderstood { why }]
}
