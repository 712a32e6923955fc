//! A row in the list of runs.

use serde::{Deserialize, Serialize};

use super::run::Spent;
use crate::base::ids::Place;
use crate::base::time::Millis;
use crate::state::{Standing, State};

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    /// The run's full id.
    pub run: String,
    /// Its last eight digits, which people type.
    pub short: String,
    /// The workflow's name, for people.
    pub workflow: String,
    /// The task of the run.
    pub task: String,
    /// The title that a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its status, as people see it.
    pub status: Standing,
    /// Process id of its supervisor, if a signal has stopped it: it does nothing and answers nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u32>,
    /// True if `resume` has something to do: work, pending cleanup, or a pause to end. False if an answer is needed first.
    pub goes_on: bool,
    /// The places it is at.
    pub places: Vec<Place>,
    /// Number of open gates.
    pub needs_you: usize,
    /// True if it worked apart, is over, and its work is neither merged nor dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmerged: bool,
    /// The run that occupies the project's files, if a live process of this run waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// What was spent in total.
    pub spent: Spent,
    /// Time of the first line.
    pub started_at: Millis,
    /// Time of the last line.
    pub updated_at: Millis,
}

/// The row of a run; `None` before it has started.
pub fn row(state: &State, supervised: bool) -> Option<RunRow> {
    let run = state.run.as_ref()?;
    let over = state.is_over();
    // A run that is over is nowhere, although its frames are still in the state.
    let places = state.frames.values().filter(|_| !over).map(crate::state::Frame::place);
    Some(RunRow {
        run: run.run.to_string(),
        short: run.run.short().to_owned(),
        workflow: run.workflows.first().map_or_else(String::new, |main| main.name.clone()),
        task: run.task.clone(),
        title: state.title.clone(),
        status: state.standing(supervised),
        stopped: None,
        goes_on: state.can_resume(),
        places: places.collect(),
        needs_you: state.open_gates().filter(|it| state.can_answer(it.opened.gate)).count(),
        unmerged: over && state.apart.as_ref().is_some_and(|apart| apart.is_unmerged()),
        waits_for: None,
        spent: Spent::from(&state.usage),
        started_at: state.started_at,
        updated_at: state.updated_at,
    })
}
