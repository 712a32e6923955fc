//! How lines of the first version are read.
//!
//! Those lines record what happened but not the wording. Answers are worded again when they are repeated (`Answered::Unworded`).
//! A finding becomes part of the snapshot, so its sentence is frozen here and must never change.

use crate::base::ids::{FramePath, Place};
use crate::base::limits::{PARTIAL_MAX, bounded};
use crate::definition::workflow::Phase;
use crate::event::AttemptEnded;

/// The phase that a frame belongs to, derived from the frame's name.
pub(super) fn at(path: &FramePath) -> Option<Place> {
    (!path.is_root()).then(|| Place::new(path.as_str()))
}

/// The finding from a worker that timed out.
pub(super) fn partial(phase: &Phase, ended: &AttemptEnded) -> Option<String> {
    let text = ended.final_text.trim();
    let name = &phase.name;
    (!text.is_empty())
        .then(|| format!("[Partial – {name} timed out] {}", bounded(text, PARTIAL_MAX)))
}
