//! Commands: what people and workers may ask for, and what holds for each before anybody decides.
//!
//! A new command says here how much of its text is kept and whether a run that is being driven takes it. What it leads to
//! is decided in `engine/`.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, GateId, Place, TreeId};
use crate::base::limits::{TASK_MAX, TEXT_MAX};
use crate::base::redact::Redactor;
use crate::definition::workflow::Budget;
use crate::event::carried::Carried;
use crate::event::signal::Signal;
use crate::event::{GrantScope, LedgerRepaired, RunStarted};

/// What people and workers may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Command {
    /// Start a run and drive it at once.
    Start(Box<RunStarted>),
    /// Create a run without driving it; it begins with `Resume`.
    Prepare(Box<RunStarted>),
    /// Pause the run; live attempts are stopped.
    Pause {
        /// Shown in status and log; may be empty.
        reason: String,
    },
    /// Continue a paused or interrupted run.
    Resume,
    /// Cancel the run for good; live attempts are stopped.
    Cancel {
        /// Shown in status and log; may be empty.
        reason: String,
    },
    /// Give up one step of a pool; whoever works on it is stopped, and its work is not merged.
    GiveUp {
        /// The step, as people name it: `build/step-2`.
        place: Place,
        /// Shown in status and log; may be empty.
        note: String,
    },
    /// Approve at a gate.
    Approve {
        /// `None`: the only open gate.
        gate: Option<GateId>,
        /// A note for the worker; may be empty.
        note: String,
        /// How far the yes to a tool call reaches; `None` for that call alone, and at other gates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<GrantScope>,
    },
    /// Reject at a gate; the worker tries again.
    Reject {
        /// `None`: the only open gate.
        gate: Option<GateId>,
        /// What has to change; the worker reads it.
        note: String,
    },
    /// Start a phase over in a fresh session.
    Retry {
        /// `None`: the only place that waits at a gate.
        place: Option<Place>,
        /// A note for the worker; may be empty.
        note: String,
        /// The agent that works from now on; `None` keeps it.
        agent: Option<String>,
        /// The command to begin with, from 1, where the phase runs commands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u32>,
    },
    /// Skip what blocks the run: the topmost helper, otherwise the phase.
    Skip {
        /// `None`: the only place that waits at a gate.
        place: Option<Place>,
        /// Read by the next worker in place of the skipped result.
        note: String,
    },
    /// Answer a question of a worker.
    Answer {
        /// `None`: the only open question.
        gate: Option<GateId>,
        /// An option, its number, or any text.
        text: String,
        /// A note for the worker beside the answer; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// Give the run a title, which lists and notices show in place of its task.
    Title {
        /// The title, at most `TITLE_MAX` bytes. Empty: the task is shown again.
        text: String,
    },
    /// Send a note to a worker.
    Note {
        /// `None`: where the run is now.
        place: Option<Place>,
        /// The note itself, at most `NOTE_MAX` bytes.
        text: String,
    },
    /// Raise a budget, or accept unpriced work.
    Budget {
        /// The phase that has the limit. `None`: the one that waits, otherwise the run's own.
        place: Option<Place>,
        /// Added to each limit that it names.
        more: Budget,
    },
    /// Allow more rounds of a loop; nothing moves.
    Loops {
        /// A phase of the looping workflow. `None`: the only place that waits for it.
        place: Option<Place>,
        /// How many rounds to add.
        more: u32,
    },
    /// Move to a phase, even without an edge that leads there.
    Go {
        /// The phase to move to.
        place: Place,
        /// A note for the worker; may be empty.
        note: String,
    },
    /// Restore files. The sender has recorded both trees, so the performer needs nothing else.
    Undo {
        /// Whose work is undone, as the person named it.
        what: String,
        /// The files as they are now.
        from: TreeId,
        /// The files as they should be.
        to: TreeId,
        /// If set, this undo takes back the undo at that line and every later one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        back: Option<u64>,
    },
    /// Merge the work of a run that worked apart and is over into the project.
    Merge {
        /// True if its folder stays afterwards.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keep: bool,
    },
    /// Give up the work of a run that worked apart and is over, and remove its folder.
    DropWork,
    /// Continue from the last intact line of a damaged ledger. The damaged part is already cut off.
    Repair(LedgerRepaired),
    /// Go back to an earlier position. The sender has read the ledger up to it (`State::carried`).
    Rewind {
        /// The line after which the run was at that position.
        to: u64,
        /// The position to continue from.
        carried: Box<Carried>,
    },
    /// A signal from a worker.
    Signal {
        /// The attempt that sends it.
        attempt: AttemptId,
        /// Id of the call. The same call sent again gets the same answer.
        request: String,
        /// The parsed tool call.
        signal: Signal,
    },
}

/// The free text of a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Written<'a> {
    /// As it was written. Secrets are removed from it before it is recorded.
    pub text: &'a mut String,
    /// How much of it goes into the ledger.
    pub bound: TextBound,
}

/// How much of a text goes into the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextBound {
    /// At most this many bytes.
    Start(usize),
    /// At most this many bytes, without blanks around them.
    Trimmed(usize),
    /// All of it, without blanks around it: what is too long is refused, so that the person can shorten it.
    Whole,
}

impl Command {
    /// What the sender wrote freely, without names and ids. A signal's texts have limits of their own (`Signal::parse`).
    pub fn written(&mut self) -> Vec<Written<'_>> {
        let (text, bound) = match self {
            Self::Start(start) | Self::Prepare(start) => {
                (&mut start.task, TextBound::Start(TASK_MAX))
            }
            Self::Pause { reason: text }
            | Self::Cancel { reason: text }
            | Self::GiveUp { note: text, .. }
            | Self::Approve { note: text, .. }
            | Self::Reject { note: text, .. }
            | Self::Retry { note: text, .. }
            | Self::Skip { note: text, .. }
            | Self::Go { note: text, .. } => (text, TextBound::Start(TEXT_MAX)),
            Self::Answer { text, note, .. } => {
                let note = Written { text: note, bound: TextBound::Whole };
                return vec![Written { text, bound: TextBound::Trimmed(TEXT_MAX) }, note];
            }
            Self::Note { text, .. } | Self::Title { text } => (text, TextBound::Whole),
            Self::Resume
            | Self::Budget { .. }
            | Self::Loops { .. }
            | Self::Undo { .. }
            | Self::Merge { .. }
            | Self::DropWork
            | Self::Repair(_)
            | Self::Rewind { .. }
            | Self::Signal { .. } => return Vec::new(),
        };
        vec![Written { text, bound }]
    }

    /// Removes secrets from everything that was written freely, before it is recorded. Returns true if there were any. Names, ids
    /// and definitions stay as they are: a redacted one would mean something else. A signal is redacted before it is parsed.
    pub fn redact(&mut self, redactor: &Redactor) -> bool {
        let written = self.written().into_iter().map(|it| it.text);
        let in_written = redactor.redact_each(written);
        let in_others = match self {
            Self::Start(start) | Self::Prepare(start) => {
                start.carried.as_mut().is_some_and(|carried| carried.redact(redactor))
            }
            Self::Rewind { carried, .. } => carried.redact(redactor),
            Self::Undo { what, .. } => redactor.redact_in_place(what),
            Self::Repair(repaired) => redactor.redact_in_place(&mut repaired.why),
            Self::Pause { .. }
            | Self::Resume
            | Self::Cancel { .. }
            | Self::GiveUp { .. }
            | Self::Approve { .. }
            | Self::Reject { .. }
            | Self::Retry { .. }
            | Self::Skip { .. }
            | Self::Answer { .. }
            | Self::Title { .. }
            | Self::Note { .. }
            | Self::Budget { .. }
            | Self::Loops { .. }
            | Self::Go { .. }
            | Self::Merge { .. }
            | Self::DropWork
            | Self::Signal { .. } => false,
        };
        // Both have been redacted by now. As calls around `||`, the second would be skipped once the first had found a secret.
        in_others || in_written
    }

    /// Why a person cannot give this command to a run that is being driven; `None` if they can.
    pub fn barred(&self) -> Option<&'static str> {
        match self {
            Self::Pause { .. }
            | Self::Resume
            | Self::Cancel { .. }
            | Self::GiveUp { .. }
            | Self::Approve { .. }
            | Self::Reject { .. }
            | Self::Retry { .. }
            | Self::Skip { .. }
            | Self::Answer { .. }
            | Self::Note { .. }
            | Self::Title { .. }
            | Self::Budget { .. }
            | Self::Loops { .. }
            | Self::Go { .. } => None,
            Self::Start(_) | Self::Prepare(_) => {
                Some("this run has already started: only its own supervisor starts a run")
            }
            // Both trees are taken while nobody works on the files: only who holds the run's lock can know that.
            Self::Undo { .. } => {
                Some("files can be restored only while the run is not being driven: pause it first")
            }
            // Whoever merges holds the project's files.
            Self::Merge { .. } | Self::DropWork => {
                Some("the work of a run can be merged or dropped only while it is not being driven")
            }
            Self::Repair(_) => {
                Some("a ledger can be repaired only while the run is not being driven")
            }
            Self::Rewind { .. } => {
                Some("a run can be rewound only while it is not being driven: pause it first")
            }
            Self::Signal { .. } => {
                Some("only a worker of this run can signal, with its own secret")
            }
        }
    }
}
