//! The view of the walls around a run's workers.

use serde::{Deserialize, Serialize};

use crate::state::State;
use crate::words;

/// Which walls stand around the workers of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallsRow {
    /// True if users, mounts and processes of their own stand.
    pub namespaces: bool,
    /// True if Landlock stands.
    pub landlock: bool,
    /// True if a person wanted none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// How often workers ran into them, as far as their attempts are still known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub hits: u32,
    /// The same in words, for people.
    pub text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_none(hits: &u32) -> bool {
    *hits == 0
}

/// `None` for a run of a version without walls.
pub(super) fn walls(state: &State) -> Option<WallsRow> {
    let found = state.walls_found()?;
    let hits = state.attempts.iter().map(|attempt| attempt.wall_hits).sum();
    let text = words::walls_line(found);
    let (namespaces, landlock) = (found.namespaces, found.landlock);
    Some(WallsRow { namespaces, landlock, off: found.off, hits, text })
}
