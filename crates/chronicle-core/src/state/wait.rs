//! Waits that go on, by frame.

use serde::{Deserialize, Serialize};

use super::{Facts, Frame, Stage};
use crate::base::ids::{AttemptId, Cause, FramePath};
use crate::event::wait::WaitBegan;

/// A wait that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// What began.
    pub began: WaitBegan,
    /// The event that did so.
    pub cause: Cause,
}

impl Facts {
    /// The waits that go on, with their frames.
    pub fn waits(&self) -> impl Iterator<Item = (&Frame, &Waited)> {
        self.frames.values().filter_map(|frame| match &frame.stage {
            Stage::Waiting { wait } => Some((frame, &**wait)),
            _ => None,
        })
    }

    /// The frame that waits after that attempt.
    pub(crate) fn waits_after(&self, attempt: AttemptId) -> Option<(&Frame, &Waited)> {
        self.waits().find(|(_, wait)| wait.began.attempt == attempt)
    }

    /// Whether a frame in there waits for what comes by itself.
    pub(crate) fn waits_within(&self, path: &FramePath) -> bool {
        self.waits().any(|(frame, _)| frame.path.is_within(path))
    }
}
