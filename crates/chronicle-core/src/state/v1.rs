//! What lines of the first version leave to their reader.
//!
//! Those lines name what happened and not what was said of it. Answers are worded anew when they are repeated
//! (`Answered::Unworded`). A finding becomes part of the snapshot, so its sentence is frozen here, and never changes.

use crate::base::ids::{FramePath, Place};
use crate::base::limits::{PARTIAL_MAX, bounded};
use crate::definition::workflow::Phase;
use crate::event::AttemptEnded;

/// The phase that a frame does: such lines leave it to the frame's name.
pub(super) fn at(path: &FramePath) -> Option<Place> {
    (!path.is_root()).then(|| Place::new(path.as_str()))
}

/// The finding that the end of a worker left whose time was over.
pub(super) fn partial(phase: &Phase, ended: &AttemptEnded) -> Option<String> {
    let text = ended.final_text.trim();
    let name = &phase.name;
    (!text.is_empty())
        .then(|| format!("[Partial – {name} timed out] {}", bounded(text, PARTIAL_MAX)))
}
