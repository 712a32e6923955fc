//! A frame that a person sends elsewhere while somebody works there.

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{AttemptId, FramePath, PhaseId, Place};

/// Where a person sends a frame once nobody works there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The phase, or `done`.
    pub to: PhaseId,
    /// Who.
    pub who: String,
    /// What they said.
    pub note: String,
}

impl Facts {
    /// Whether that frame or one around it is being sent elsewhere: whoever works in it is to stop, and nothing else follows.
    pub fn is_sent(&self, path: &FramePath) -> bool {
        self.frames.values().any(|frame| frame.sent.is_some() && path.is_within(&frame.path))
    }

    /// A later word of a person's replaces an earlier one.
    pub(super) fn send(&mut self, place: &Place, who: &str, note: &str) {
        let (who, note) = (who.to_owned(), note.to_owned());
        self.change_frame(&place.frame(), |frame| {
            frame.sent = Some(Box::new(Sent { to: place.phase(), who, note }));
        });
    }

    /// Something of that attempt may still run, so that nobody may start beside it: the person is asked anew.
    pub(super) fn unsend(&mut self, id: AttemptId) {
        let Some(at) = self.attempt(id).map(|attempt| attempt.intent.place.frame()) else { return };
        for frame in self.frames.values_mut().filter(|frame| at.is_within(&frame.path)) {
            frame.sent = None;
        }
    }
}
