//! Waits in progress, by frame.

use serde::{Deserialize, Serialize};

use super::{Facts, Frame, Impossible, Stage};
use crate::base::ids::{AttemptId, Cause};
use crate::event::Why;
use crate::event::wait::{WaitBegan, WaitEnded};

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

    pub(super) fn begin_wait(&mut self, cause: Cause, began: &WaitBegan) {
        self.change_frame(&began.place.frame(), |frame| {
            frame.worker.counters.waits = began.number;
            frame.stage = Stage::Waiting { wait: Box::new(Waited { began: began.clone(), cause }) };
        });
    }

    /// Continues in the same session, unless a person chose another agent.
    pub(super) fn end_wait(&mut self, ended: &WaitEnded) {
        let mut nobody_waits = false;
        self.change_frame(&ended.place.frame(), |frame| {
            if !matches!(frame.stage, Stage::Waiting { .. }) {
                return nobody_waits = true;
            }
            let asked = || Why::Asked { note: ended.note.clone() };
            let why = ended.agent.as_ref().map_or(Why::Waited, |_| asked());
            frame.stage = Stage::Ready { why };
            if ended.agent.is_some() {
                // Whoever took over comes before a person's choice otherwise, so that one has to go.
                (frame.agent, frame.worker.fallback) = (ended.agent.clone(), None);
            }
            if ended.who.is_some() {
                // A person has looked at it, and wants it tried: the allowance is theirs to renew.
                frame.worker.counters.waits = 0;
            }
        });
        if nobody_waits {
            self.impossible(Impossible::Wait(ended.place.clone()));
        }
    }

    /// The frame that waits after that attempt.
    pub(crate) fn waits_after(&self, attempt: AttemptId) -> Option<(&Frame, &Waited)> {
        self.waits().find(|(_, wait)| wait.began.attempt == attempt)
    }
}
