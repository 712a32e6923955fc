//! Waits in progress, by frame.

use serde::{Deserialize, Serialize};

use super::{Facts, Frame, Stage};
use crate::base::ids::{AttemptId, Cause};
use crate::event::wait::WaitBegan;

/// A wait that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// The event that started it.
    pub began: WaitBegan,
    /// Line and index of that event.
    pub cause: Cause,
}

impl Facts {
    /// Waits in progress with their frames.
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
