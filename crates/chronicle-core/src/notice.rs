//! Telling people that a run needs them or has ended: beside the run, and at most once.
//!
//! A notice is owed by the event that it is about, and by no other memory. Whoever drives the run gives it and reports how that
//! went. One that was owed when a supervisor died may have been given or not: it is not given again, and that is said.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::as_text;
use crate::event::SupervisorStarted;
use crate::ids::{Cause, GateId};
use crate::limits::NOTICES_MAX;
use crate::state::State;

/// What people are told of. A gate opens once and a run ends once, so that this names the notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// The run waits for them.
    Gate(GateId),
    /// The run has ended, one way or another.
    End,
}

/// How people are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By a command of the user's.
    Command,
    /// By a post to an address.
    Webhook,
}

/// A notice that nobody has reported on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    /// The event that made it due.
    pub cause: Cause,
    /// What of.
    pub about: About,
}

/// How a notice went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeGiven {
    /// What of.
    pub about: About,
    /// The ways that went well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Way>,
    /// The ways that did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
    /// Why it was not given, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
}

/// A way that did not go well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Which.
    pub way: Way,
    /// Why.
    pub why: String,
}

/// Why a notice was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    /// A supervisor died over it: it may have been given.
    Unknown,
    /// Nobody drove the run; who made it happen was there.
    NobodyDrove,
}

impl NoticeGiven {
    /// A notice that was not given.
    pub fn missed(about: About, why: Missed) -> Self {
        Self { about, given: Vec::new(), failed: Vec::new(), missed: Some(why) }
    }
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

impl State {
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

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gate(gate) => write!(f, "{gate}"),
            Self::End => f.write_str("end"),
        }
    }
}

impl FromStr for About {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "end" { Ok(Self::End) } else { text.parse().map(Self::Gate) }
    }
}

impl Serialize for About {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for About {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        as_text::read(from, str::parse)
    }
}
