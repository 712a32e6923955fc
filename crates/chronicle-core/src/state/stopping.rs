//! An attempt that is being stopped. From that moment it may call nothing and say nothing, however long its processes live.

use super::{Attempt, Facts};
use crate::event::{Duty, StopCause};

/// Why an attempt is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// A limit ended it.
    Limit(StopCause),
    /// The run was cancelled.
    Cancelled,
    /// The run has failed.
    Failed,
    /// The run was paused; the attempt's session goes on later.
    Paused,
    /// A person sent the run elsewhere.
    Sent,
}

impl Facts {
    /// Why that attempt is being stopped, if it is. The effects, the guard, the signals and the views all ask here, so that an
    /// attempt that is to stop is never allowed anything by one of them.
    pub fn stopping(&self, attempt: &Attempt) -> Option<Stopping> {
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
        self.is_sent(&attempt.intent.place.frame()).then_some(Stopping::Sent)
    }
}
