//! Status of a run: by its ledger alone, and as people see it.

use serde::{Deserialize, Serialize};

use super::Facts;

/// Status of a run by its ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// An attempt works, or would if a supervisor lived.
    Running,
    /// It was paused, cancelled or has failed; live attempts are still being stopped, recorded or cleaned up.
    Ending,
    /// It waits for a person, or for something that comes by itself.
    Waiting,
    /// A person paused it.
    Paused,
    /// Its last phase was left.
    Done,
    /// A person cancelled it.
    Cancelled,
    /// Its workflow ended with a failure, or a person was needed and it was started to fail then.
    Failed,
}

/// Status of a run as people see it, which also depends on whether a supervisor lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A supervisor drives it.
    Running,
    /// A supervisor stops what still works.
    Ending,
    /// A person answered while it rested: it can be resumed.
    Ready,
    /// It should continue, but no supervisor drives it.
    Interrupted,
    /// It waits for a person, or for something that comes by itself.
    Waiting,
    /// A person paused it.
    Paused,
    /// Its last phase was left.
    Done,
    /// A person cancelled it.
    Cancelled,
    /// Its workflow ended with a failure, or a person was needed and it was started to fail then.
    Failed,
}

impl Standing {
    /// The word that people and JSON see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ending => "ending",
            Self::Ready => "ready",
            Self::Interrupted => "interrupted",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

impl std::fmt::Display for Standing {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(self.as_str())
    }
}

impl Facts {
    /// Status by the ledger. Paused, cancelled and failed are reported only once nothing works any more.
    pub fn status(&self) -> Status {
        let is_recorded = self.trees.after.is_empty() && !self.is_writing();
        // Cancelled or paused is said only when it is true: nothing works any more, and what was done is on record.
        let is_quiet = self.live.is_empty() && is_recorded;
        // A restore counts as work: a run that is called paused must not change files.
        let is_undone = self.trees.undo().is_none();
        let given_up = self.cancelled.is_some() || self.failed.is_some();
        if self.done {
            return Status::Done;
        }
        match (&self.failed, &self.paused) {
            (Some(_), _) if is_quiet => Status::Failed,
            (None, _) if given_up && is_quiet => Status::Cancelled,
            (None, Some(_)) if !given_up && is_quiet && is_undone => Status::Paused,
            (None, None) if !given_up && is_recorded && is_undone && self.stands() => {
                Status::Waiting
            }
            (None, None) if !given_up => Status::Running,
            // Files that are put back while the run is paused are work of their own.
            (None, Some(_)) if !given_up && is_quiet => Status::Running,
            (Some(_) | None, _) => Status::Ending,
        }
    }

    /// Status as people see it. A run that could continue by itself needs a supervisor for that.
    pub fn standing(&self, supervised: bool) -> Standing {
        match (self.status(), supervised) {
            (Status::Running, true) => Standing::Running,
            (Status::Ending, true) => Standing::Ending,
            // What is given up is never called anything else, even if its cleanup has still to run.
            (Status::Ending, false) if self.failed.is_some() => Standing::Failed,
            (Status::Ending, false) if self.cancelled.is_some() => Standing::Cancelled,
            (Status::Running, false) if self.is_ready => Standing::Ready,
            (Status::Running | Status::Ending, false) => Standing::Interrupted,
            // It waits for a time, and nobody is there who would notice when it has come.
            (Status::Waiting, false) if self.goes_on() => Standing::Interrupted,
            (Status::Waiting, _) => Standing::Waiting,
            (Status::Paused, _) => Standing::Paused,
            (Status::Done, _) => Standing::Done,
            (Status::Cancelled, _) => Standing::Cancelled,
            (Status::Failed, _) => Standing::Failed,
        }
    }

    /// True if every live attempt is waiting for an answer.
    fn stands(&self) -> bool {
        // True without any attempt. So something must be waited for as well: a run between two steps does not stand.
        self.live_attempts().all(|attempt| self.is_asking(attempt))
            // A pool makes folders and merges without any attempt.
            && !self.is_pool_busy()
            && (self.open_gates().next().is_some() || self.waits().next().is_some())
    }

    /// True if something works, or will without a person's command.
    pub fn goes_on(&self) -> bool {
        match self.status() {
            Status::Running | Status::Ending => true,
            Status::Waiting => self.waits().next().is_some(),
            Status::Paused | Status::Done | Status::Cancelled | Status::Failed => false,
        }
    }

    /// True if `resume` has something to do: nothing has to be answered first.
    pub fn can_resume(&self) -> bool {
        self.goes_on() || self.status() == Status::Paused || self.waits_for_leave()
    }

    /// True if only calls that wait for a person's leave hold it up: their workers can go on without.
    fn waits_for_leave(&self) -> bool {
        let mut live = self.live_attempts();
        let waits = self.live_attempts().any(|attempt| self.undecided(attempt).next().is_some());
        self.status() == Status::Waiting && waits && !live.any(|attempt| self.has_asked(attempt))
    }

    /// True if nothing can happen any more.
    pub fn is_over(&self) -> bool {
        matches!(self.status(), Status::Done | Status::Cancelled | Status::Failed)
    }

    /// True if no answer can lead to anything, even while the last attempt is being stopped.
    pub fn is_given_up(&self) -> bool {
        self.is_over() || self.cancelled.is_some() || self.failed.is_some()
    }
}
