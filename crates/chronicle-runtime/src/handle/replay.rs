//! A run decided again, line by line, from what its ledger says came in.

use chronicle_core::engine::{self, Unlike};
use chronicle_core::event::Event;
use chronicle_core::state::State;

use super::HandleError;
use crate::ledger::{Head, Ledger};
use crate::project::RunFolder;

/// What came of deciding a run again.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Replayed {
    /// Every line comes out the same.
    Same {
        /// How many.
        lines: u64,
    },
    /// A line comes out otherwise, and what follows it was not looked at.
    Differs {
        /// Which.
        line: u64,
        /// The Chronicle that wrote it.
        version: String,
        /// What it says.
        written: Vec<Event>,
        /// What it would say.
        decided: Vec<Event>,
    },
    /// The run was begun by a Chronicle that did not write down what came in.
    NoInputs,
    /// A line does not tell what came in.
    Untold {
        /// Which.
        line: u64,
    },
}

/// Decides every line of a run again, up to the first that comes out otherwise. Nothing is written.
pub fn replay(folder: &RunFolder) -> Result<Replayed, HandleError> {
    let mut state = State::default();
    for next in folder.ledger().read(Head::EMPTY)? {
        let (line, _) = next?;
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

/// Who wrote the next line: who drives the run, else who began it.
fn version(state: &State) -> String {
    let driver = state.supervisor.as_ref().map(|supervisor| &supervisor.version);
    let first = state.run.as_ref().map(|run| &run.version);
    driver.or(first).cloned().unwrap_or_default()
}
