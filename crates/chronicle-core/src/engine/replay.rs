//! Decides a line again: the same version must get the same result, and another version shows what it changes.

use super::decide;
use crate::event::Event;
use crate::event::input::Input;
use crate::event::record::Line;
use crate::state::State;

/// Why a line was not decided again with the same result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlike {
    /// The run was started before inputs were recorded.
    NoInputs,
    /// The line does not contain its input.
    Untold,
    /// The line would be decided differently now.
    Differs {
        /// The events of the new decision.
        events: Vec<Event>,
    },
}

/// Decides a line again on the state before it. Since sums are compared, the texts that it names are the same too.
pub fn decide_again(before: &State, line: &Line) -> Result<(), Box<Unlike>> {
    if !has_inputs(before, line) {
        return Err(Box::new(Unlike::NoInputs));
    }
    let what = line.what().ok_or_else(|| Box::new(Unlike::Untold))?;
    let (at, by) = (line.at, line.by.clone());
    // Not `step`: the input in the line was cut when it was heard, and cutting it again must not be able to change it.
    let events = decide(before, &Input { at, by, what }).events;
    if events == line.events { Ok(()) } else { Err(Box::new(Unlike::Differs { events })) }
}

fn has_inputs(before: &State, line: &Line) -> bool {
    match (&before.run, line.events.first()) {
        (Some(run), _) | (None, Some(Event::RunStarted(run))) => run.inputs,
        // Lines before the start contain their input in their events.
        (None, _) => true,
    }
}
