//! What is due now, always derived from the state, never remembered.
//!
//! The driver compares this list with what runs: due and not running → perform; running and no longer due → stop. After a
//! restart nothing runs here, so each attempt is observed first and reported lost.

use crate::base::ids::{AttemptId, Cause};
use crate::base::time::Millis;
use crate::event::input::TimerKind;
use crate::event::notice::About;
use crate::event::trees::Moment;
use crate::event::{Message, Performer};

/// Something to be done, or kept going.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The event that made it due: the effect's id.
    pub cause: Cause,
    /// Who performs it.
    pub by: Performer,
    /// What.
    pub action: Action,
}

impl Effect {
    /// What the supervisor performs: all that belongs to no attempt.
    pub(crate) fn of_run(cause: Cause, action: Action) -> Self {
        Self { cause, by: Performer::Supervisor, action }
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// An attempt is to work until it ends.
    RunAttempt(AttemptId),
    /// An attempt is to be ended, with everything below it.
    StopAttempt(AttemptId),
    /// An agent that works is to be told something.
    Tell(AttemptId, Message),
    /// Active time is to be measured.
    RunTimer {
        /// Whose.
        attempt: AttemptId,
        /// Which of its timers.
        timer: TimerKind,
        /// How long.
        active_ms: u64,
    },
    /// A wait is to end at a time of the wall's clock, whatever the clock or the machine did meanwhile.
    WaitUntil {
        /// The attempt whose end it follows.
        attempt: AttemptId,
        /// When.
        until: Millis,
    },
    /// The project's files are to be recorded. After a restart: again.
    RecordTree(Moment),
    /// The project's files are to be put back. After a restart: again.
    RestoreTree,
    /// People are to be told something. After a restart: not again.
    Notify(About),
}
