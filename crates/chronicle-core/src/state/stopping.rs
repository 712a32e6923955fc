//! Attempts that are being stopped. From that moment every call is denied and every signal refused, however long their processes
//! live.

use super::{Attempt, Facts};
use crate::event::{Duty, StopCause};

/// Why an attempt is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// It hit a limit.
    Limit(StopCause),
    /// The run was cancelled.
    Cancelled,
    /// The run has failed.
    Failed,
    /// The run was paused; the session is resumed later.
    Paused,
    /// A person moved the run.
    Sent,
}

impl Facts {
    /// Why that attempt is being stopped, if it is. Effects, guards, signals and views all ask here, so that none of them allows
    /// anything to an attempt that must stop.
    pub fn stopping(&self, attempt: &Attempt) -> Option<Stopping> {
        // The attempt's own cause first: it is the more precise answer to "why was it stopped".
        if let Some(cause) = attempt.stop {
            return Some(Stopping::Limit(cause));
        }
        // A cleanup runs on every way out, so a cancelled or paused run does not stop it.
        if attempt.duty() == Some(Duty::Cleanup) {
            return None;
        }
        if self.cancelled.is_some() {
            return Some(Stopping::Cancelled);
        }
        if self.failed.is_some() {
            return Some(Stopping::Failed);
        }
        if self.paused.is_some() {
            return Some(Stopping::Paused);
        }
        // Last: a move concerns one frame, and what was looked at before holds for the whole run.
        self.is_sent(&attempt.intent.place.frame()).then_some(Stopping::Sent)
    }
}
