//! A line is decided again: by the same version nothing else may come of it, by another one it shows what that changes.

use super::decide;
use crate::event::Event;
use crate::event::input::Input;
use crate::event::record::Line;
use crate::state::State;

/// Why a line was not decided again with the same result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlike {
    /// The run was begun before inputs were written down.
    NoInputs,
    /// What came in is not told by the line.
    Untold,
    /// Something else follows from it now.
    Differs {
        /// What would follow.
        events: Vec<Event>,
    },
}

/// Decides a line again, on the state before it. The texts that it names come out the same as well, since their sums do.
pub fn decide_again(before: &State, line: &Line) -> Result<(), Box<Unlike>> {
    if !has_inputs(before, line) {
        return Err(Box::new(Unlike::NoInputs));
    }
    let what = line.what().ok_or_else(|| Box::new(Unlike::Untold))?;
    let (at, by) = (line.at, line.by.clone());
    let events = decide(before, &Input { at, by, what }).events;
    if events == line.events { Ok(()) } else { Err(Box::new(Unlike::Differs { events })) }
}

fn has_inputs(before: &State, line: &Line) -> bool {
    match (&before.run, line.events.first()) {
        (Some(run), _) | (None, Some(Event::RunStarted(run))) => run.inputs,
        // What stands before the start, whoever wrote it, is told by its events.
        (None, _) => true,
    }
}
