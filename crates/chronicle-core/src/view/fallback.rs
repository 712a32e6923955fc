//! An agent that works in place of another.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;
use crate::state::State;
use crate::words;

/// One place at which another agent took over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FallbackRow {
    /// The place whose worker was replaced.
    pub place: Place,
    /// Who works there now.
    pub agent: String,
    /// In whose place and why, in words.
    pub text: String,
}

pub(super) fn fallbacks(state: &State) -> Vec<FallbackRow> {
    // Which agent stands in for which matters only as long as one works.
    let goes_on = !state.done && !state.is_given_up();
    let taken = state.fallbacks().filter(|_| goes_on);
    taken
        .map(|(frame, fallback)| FallbackRow {
            place: frame.place(),
            agent: fallback.agent.clone(),
            text: words::fallback(fallback),
        })
        .collect()
}
