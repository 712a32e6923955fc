//! Waits that go on, by frame.

use serde::{Deserialize, Serialize};

use super::{Facts, Frame, Stage};
use crate::base::ids::{AttemptId, Cause};
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
        self.frames.values().filter_map(|frame| {
            let Stage::Waiting { wait } = &frame.stage else { return None };
            Some((frame, &**wait))
        })
    }

    /// The frame that waits after that attempt.
    pub(crate) fn waits_after(&self, attempt: AttemptId) -> Option<(&Frame, &Waited)> {
        self.waits().find(|(_, wait)| wait.began.attempt == attempt)
    }
}
