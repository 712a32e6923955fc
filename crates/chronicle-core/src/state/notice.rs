//! Telling people that a run needs them or has ended: beside the run, and at most once.
//!
//! A notice is owed by the event that it is about, and by no other memory. Whoever drives the run gives it and reports how that
//! went. One that was owed when a supervisor died may have been given or not: it is not given again, and that is said.

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{Cause, GateId};
use crate::base::limits::NOTICES_MAX;
use crate::event::SupervisorStarted;
use crate::event::notice::{About, Failed, NoticeGiven};

/// A notice that nobody has reported on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    /// The event that made it due.
    pub cause: Cause,
    /// What of.
    pub about: About,
}

/// The notices of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Notices {
    /// Those that nobody has reported on, oldest first.
    pub owed: Vec<Owed>,
    /// How the last one failed; none when it went well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

impl Notices {
    /// Whether there is nothing to know.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Facts {
    /// Whether people are being told something, or are to be.
    pub fn owes(&self) -> bool {
        !self.notices.owed.is_empty()
    }

    /// Takes in who drives the run. A run that began before anybody did tells then what it needs.
    pub(crate) fn take_over(&mut self, cause: Cause, supervisor: &SupervisorStarted) {
        let is_first = self.supervisor.replace(supervisor.clone()).is_none();
        if is_first && self.is_given_up() {
            self.owe(cause, About::End);
        } else if is_first {
            let gates: Vec<GateId> = self.open_gates().map(|gate| gate.opened.gate).collect();
            for gate in gates {
                self.owe(cause, About::Gate(gate));
            }
        }
    }

    /// People are to be told, where the supervisor knows how. Of what ended in the same breath only the end is told.
    pub(crate) fn owe(&mut self, cause: Cause, about: About) {
        let notifies = self.supervisor.as_ref().is_some_and(|it| it.notifies);
        let owed = &mut self.notices.owed;
        if about == About::End {
            owed.retain(|owed| owed.cause.seq != cause.seq);
        }
        if notifies && owed.len() < NOTICES_MAX {
            owed.push(Owed { cause, about });
        }
    }

    pub(crate) fn settle_notice(&mut self, given: &NoticeGiven) {
        self.notices.owed.retain(|owed| owed.about != given.about);
        self.notices.failed.clone_from(&given.failed);
    }
}
