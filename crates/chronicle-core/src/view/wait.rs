//! A wait that ends by itself.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;
use crate::base::time::Millis;
use crate::event::wait::{WaitBegan, WaitKind};
use crate::state::State;
use crate::words;

/// One wait that ends by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitRow {
    /// The phase that waits.
    pub place: Place,
    /// Quota reset or retry.
    pub kind: WaitKind,
    /// End of the wait, in wall-clock time.
    pub until: Millis,
    /// What it waits for, in words.
    pub text: String,
}

pub(super) fn waits(state: &State) -> Vec<WaitRow> {
    let row = |began: &WaitBegan| WaitRow {
        place: began.place.clone(),
        kind: began.wait_kind,
        until: began.until,
        text: words::wait(began),
    };
    // A wait of a run that was given up is never ended, and nobody waits for it.
    let goes_on = !state.is_given_up();
    state.waits().filter(|_| goes_on).map(|(_, wait)| row(&wait.began)).collect()
}
