//! Where a run stands: by its ledger alone, and as people see it.

use serde::{Deserialize, Serialize};

use super::Facts;

/// Where a run stands by its ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Something works, or would if a supervisor lived.
    Running,
    /// It was paused, cancelled or has failed, and what still works is being stopped, recorded or cleaned up.
    Ending,
    /// It waits for a person, or for what comes by itself.
    Waiting,
    /// A person stopped it for a while.
    Paused,
    /// Its last phase was left.
    Done,
    /// A person gave it up.
    Cancelled,
    /// Its workflow ended badly, or a person was needed and it was started to fail then.
    Failed,
}

/// Where a run stands as people see it: its status, knowing whether a supervisor lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A supervisor drives it.
    Running,
    /// A supervisor stops what still works.
    Ending,
    /// It should go on, and nobody drives it.
    Interrupted,
    /// It waits for a person, or for what comes by itself.
    Waiting,
    /// A person stopped it for a while.
    Paused,
    /// Its last phase was left.
    Done,
    /// A person gave it up.
    Cancelled,
    /// Its workflow ended badly, or a person was needed and it was started to fail then.
    Failed,
}

impl Standing {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ending => "ending",
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
    /// Where the run stands. Paused, cancelled and failed are said only once nothing works any more.
    pub fn status(&self) -> Status {
        let is_recorded = self.trees.after.is_empty();
        let is_quiet = self.live.is_empty() && is_recorded;
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

    /// Where the run stands as people see it. One that would go on by itself needs a supervisor for that.
    pub fn standing(&self, supervised: bool) -> Standing {
        match (self.status(), supervised) {
            (Status::Running, true) => Standing::Running,
            (Status::Ending, true) => Standing::Ending,
            // What is given up is never called anything else, even if its cleanup has still to run.
            (Status::Ending, false) if self.failed.is_some() => Standing::Failed,
            (Status::Ending, false) if self.cancelled.is_some() => Standing::Cancelled,
            (Status::Running | Status::Ending, false) => Standing::Interrupted,
            (Status::Waiting, false) if self.goes_on() => Standing::Interrupted,
            (Status::Waiting, _) => Standing::Waiting,
            (Status::Paused, _) => Standing::Paused,
            (Status::Done, _) => Standing::Done,
            (Status::Cancelled, _) => Standing::Cancelled,
            (Status::Failed, _) => Standing::Failed,
        }
    }

    /// Whether nothing works: whoever does, if anybody, waits for an answer.
    fn stands(&self) -> bool {
        self.live_attempts().all(|attempt| self.is_asking(attempt))
            && (self.open_gates().next().is_some() || self.waits().next().is_some())
    }

    /// Whether something works, or will without anybody's word.
    pub fn goes_on(&self) -> bool {
        match self.status() {
            Status::Running | Status::Ending => true,
            Status::Waiting => self.waits().next().is_some(),
            Status::Paused | Status::Done | Status::Cancelled | Status::Failed => false,
        }
    }

    /// Whether nothing can ever happen any more.
    pub fn is_over(&self) -> bool {
        matches!(self.status(), Status::Done | Status::Cancelled | Status::Failed)
    }

    /// Whether nothing will follow from any answer, even while the last attempt is being stopped.
    pub fn is_given_up(&self) -> bool {
        self.is_over() || self.cancelled.is_some() || self.failed.is_some()
    }
}
