//! The folder of a run that works apart, as people see it.

use serde::{Deserialize, Serialize};

use crate::state::{State, WorkFate};
use crate::words;

/// A run that works apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and a field of the JSON"
)]
pub struct ApartRow {
    /// What becomes of its work, in a few words.
    pub state: String,
    /// True if its work is neither in the project nor dropped.
    pub unmerged: bool,
    /// True if its work is in the project.
    pub merged: bool,
    /// True if a merge has begun that waits for no answer: `merge` goes on with it.
    pub merging: bool,
    /// True if its work may be merged or dropped: the run is over, and no answer is awaited.
    pub ready: bool,
    /// Where its folder is on this machine; set by whoever knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why its folder is a plain copy, if the project has a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
    /// Files in it that cannot be recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecorded: Vec<String>,
    /// True if a merge was interrupted while it wrote the project's files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub half_merged: bool,
}

pub(super) fn apart(state: &State, supervised: bool) -> Option<ApartRow> {
    let apart = state.apart.as_deref()?;
    let is_over = state.is_over();
    Some(ApartRow {
        state: words::apart_word(apart, is_over).to_owned(),
        unmerged: apart.is_unmerged(),
        merged: apart.fate == Some(WorkFate::Merged),
        merging: apart.merging.is_some() && apart.gate.is_none(),
        ready: is_over && apart.is_unmerged() && apart.gate.is_none(),
        path: None,
        plain: apart.plain.clone(),
        unrecorded: apart.unrecorded.clone(),
        half_merged: state.is_writing_own() && !supervised,
    })
}

/// The command that brings its work into the project; `None` if there is nothing to bring, or a gate asks about it.
pub(super) fn next(state: &State, run: &str) -> Option<String> {
    let apart = state.apart.as_deref().filter(|apart| apart.is_unmerged())?;
    (state.is_over() && apart.gate.is_none()).then(|| format!("chronicle merge {run}"))
}
