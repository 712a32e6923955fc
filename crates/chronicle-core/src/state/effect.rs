//! Effects: what is due now. Always derived from the state, never stored.
//!
//! The driver compares this list with what runs: due and not running → perform; running and no longer due → stop. After a restart
//! nothing runs here, so each attempt is observed first and reported lost.

use crate::base::ids::{AttemptId, Cause};
use crate::base::time::Millis;
use crate::event::input::TimerKind;
use crate::event::notice::About;
use crate::event::trees::Moment;
use crate::event::{Message, Performer};

/// Something to do, or to keep running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The event that made it due: the effect's id.
    pub cause: Cause,
    /// The supervisor, or the host session that the run lives in.
    pub by: Performer,
    /// The work itself, with all that it needs.
    pub action: Action,
}

impl Effect {
    /// An effect of the run itself, always performed by the supervisor.
    pub(crate) fn of_run(cause: Cause, action: Action) -> Self {
        Self { cause, by: Performer::Supervisor, action }
    }
}

/// What an effect does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Run an attempt until it ends.
    RunAttempt(AttemptId),
    /// Stop an attempt and every process below it.
    StopAttempt(AttemptId),
    /// Send a message to a live agent.
    Tell(AttemptId, Message),
    /// Measure active time, and report when it is over.
    RunTimer {
        /// The attempt whose active time counts.
        attempt: AttemptId,
        /// Which of its timers.
        timer: TimerKind,
        /// Active milliseconds until it fires.
        active_ms: u64,
    },
    /// End a wait at a wall-clock time, whatever the clock or the machine did meanwhile.
    WaitUntil {
        /// The attempt that the wait follows.
        attempt: AttemptId,
        /// When the wait is over.
        until: Millis,
    },
    /// Record the project's files. Repeated after a restart.
    RecordTree(Moment),
    /// Restore the project's files. Repeated after a restart.
    RestoreTree,
    /// Read the steps of a pool from their file. Repeated after a restart.
    ReadSteps,
    /// Make a work folder, by its number. Repeated after a restart.
    MakeFolder(u32),
    /// Remove a work folder. Repeated after a restart.
    DropFolder(u32),
    /// Work out what the merge of a work folder would do. Repeated after a restart.
    PlanMerge(u32),
    /// Write the files of a merge, into the project or into the work folder. Repeated after a restart.
    WriteMerge(u32),
    /// Notify people. Not repeated after a restart.
    Notify(About),
}
