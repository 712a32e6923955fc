//! Decides a run again, line by line, from the recorded inputs.

use chronicle_core::engine::{self, Unlike};
use chronicle_core::event::Event;
use chronicle_core::state::State;

use super::HandleError;
use crate::ledger::{Head, Ledger};
use crate::project::RunFolder;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Replayed {
    /// Every line is decided the same.
    Same {
        /// Number of compared lines.
        lines: u64,
    },
    /// A line is decided differently; later lines were not compared.
    Differs {
        /// Number of the first different line.
        line: u64,
        /// The Chronicle that wrote it.
        version: String,
        /// Events that the line records.
        written: Vec<Event>,
        /// The events of the new decision.
        decided: Vec<Event>,
    },
    /// The run was started by a Chronicle that did not record inputs.
    NoInputs,
    /// A line does not contain its input.
    Untold {
        /// Number of that line.
        line: u64,
    },
}

/// Decides every line of a run again, up to the first difference. Nothing is written.
pub fn replay(folder: &RunFolder) -> Result<Replayed, HandleError> {
    let mut state = State::default();
    for next in folder.ledger().read(Head::EMPTY)? {
        let (line, _) = next?;
        // On the state before the line, which is what it was decided on.
        if let Err(why) = engine::decide_again(&state, &line) {
            let version = version(&state);
            return Ok(match *why {
                Unlike::NoInputs => Replayed::NoInputs,
                Unlike::Untold => Replayed::Untold { line: line.seq },
                Unlike::Differs { events } => Replayed::Differs {
                    line: line.seq,
                    version,
                    written: line.events,
                    decided: events,
                },
            });
        }
        state.apply(&line);
    }
    Ok(Replayed::Same { lines: state.seq })
}

/// The version that wrote the next line: of the current supervisor, otherwise of the run's start.
fn version(state: &State) -> String {
    let driver = state.supervisor.as_ref().map(|supervisor| &supervisor.version);
    let first = state.run.as_ref().map(|run| &run.version);
    driver.or(first).cloned().unwrap_or_default()
}
