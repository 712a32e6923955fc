//! Frames that a person moves while a worker is active there.

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{AttemptId, FramePath, PhaseId, Place};

/// Where a frame goes once no attempt is live there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// A phase of its workflow, or `done`.
    pub to: PhaseId,
    /// User name of the person.
    pub who: String,
    /// The person's note; may be empty.
    pub note: String,
}

impl Facts {
    /// True if that frame or one around it is being moved: its workers must stop, and nothing else follows.
    pub fn is_sent(&self, path: &FramePath) -> bool {
        // A frame that is sent elsewhere takes everything inside with it.
        self.frames.values().any(|frame| frame.sent.is_some() && path.is_within(&frame.path))
            // A step that a person gives up goes the same way.
            || self.step_at(path).is_some_and(|(.., step)| step.leaving.is_some())
            || self.is_judge_unwanted(path)
    }

    /// Records a move; a later one replaces it.
    pub(super) fn send(&mut self, place: &Place, who: &str, note: &str) {
        let (who, note) = (who.to_owned(), note.to_owned());
        self.change_frame(&place.frame(), |frame| {
            frame.sent = Some(Box::new(Sent { to: place.phase(), who, note }));
        });
    }

    /// Some processes of that attempt may still run, so no attempt may start beside them: the person is asked again.
    pub(super) fn unsend(&mut self, id: AttemptId) {
        let Some(at) = self.attempt(id).map(|attempt| attempt.intent.place.frame()) else { return };
        // Frames around it too: whichever of them was to move would take this one along.
        for frame in self.frames.values_mut().filter(|frame| at.is_within(&frame.path)) {
            frame.sent = None;
        }
    }
}
