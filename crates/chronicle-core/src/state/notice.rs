//! Notices to people that a run needs them or has ended: beside the run, and at most once.
//!
//! A notice is due because of the event that it is about, and nothing else is stored. The supervisor sends it and reports the
//! result. One that was due when a supervisor died may or may not have been sent: it is not sent again, and that is reported.

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{Cause, GateId};
use crate::base::limits::NOTICES_MAX;
use crate::event::SupervisorStarted;
use crate::event::notice::{About, Failed, NoticeGiven};

/// A notice whose result is not reported yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    /// The event that made it due.
    pub cause: Cause,
    /// Which gate or end it is about.
    pub about: About,
}

/// The notices of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Notices {
    /// Notices without a result, oldest first.
    pub owed: Vec<Owed>,
    /// How the last one failed; empty if it worked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

impl Notices {
    /// True if nothing is due and nothing failed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Facts {
    /// True if a notice is being sent or is due, or a folder is being removed: what is left to do after the end.
    pub fn owes(&self) -> bool {
        !self.notices.owed.is_empty() || self.is_leaving_folders()
    }

    /// Records a new supervisor. A run that needed people before it was driven notifies them now.
    pub(crate) fn take_over(&mut self, cause: Cause, supervisor: &SupervisorStarted) {
        // What happened in the first line came before anybody could notify. It is owed by the first supervisor.
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

    /// Makes a notice due, if the supervisor can send any. If the run ended in the same decision, only the end is sent.
    pub(crate) fn owe(&mut self, cause: Cause, about: About) {
        let notifies = self.supervisor.as_ref().is_some_and(|it| it.notifies);
        let owed = &mut self.notices.owed;
        if about == About::End {
            // A run that fails because of a gate opened in the same line: the end says it all, and one notice is enough.
            owed.retain(|owed| owed.cause.seq != cause.seq);
        }
        // Without a way to notify nothing is owed: a later supervisor must not send what is long past.
        if notifies && owed.len() < NOTICES_MAX {
            owed.push(Owed { cause, about });
        }
    }

    pub(crate) fn settle_notice(&mut self, given: &NoticeGiven) {
        self.notices.owed.retain(|owed| owed.about != given.about);
        self.notices.failed.clone_from(&given.failed);
    }
}
