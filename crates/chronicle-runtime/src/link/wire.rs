//! The words of the link.

use std::io::{self, BufRead, Read, Write};

use chronicle_core::base::ids::{GateId, Place};
use chronicle_core::definition::workflow::Budget;
use chronicle_core::event::input::{Answer, Command};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Rises when an older side would misunderstand.
pub const LINK_VERSION: u32 = 1;
/// Longest line that a supervisor reads.
pub const LINE_MAX: u64 = 256 * 1024;
/// Longest line that an asker reads: the view of a run of thousands of phases, each with its longest summary.
pub const VIEW_LINE_MAX: u64 = 64 * 1024 * 1024;

/// What the supervisor says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) link: u32,
    pub(super) chronicle: String,
    pub(super) run: String,
    /// The run's folder: a copy of it carries the note that led here.
    pub(super) folder: String,
}

/// What the other side says next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Greeting {
    pub(super) link: u32,
    /// The person's name, for the ledger.
    pub(super) who: String,
}

/// A request with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) ask: Ask,
}

/// What may be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Is anybody there?
    Ping,
    /// Stop for a while.
    Pause {
        /// Why.
        reason: String,
    },
    /// Go on.
    Resume,
    /// Give up.
    Cancel {
        /// Why.
        reason: String,
    },
    /// Yes, at a gate.
    Approve {
        /// Which.
        gate: Option<GateId>,
        /// What else was said.
        note: String,
    },
    /// No, at a gate.
    Reject {
        /// Which.
        gate: Option<GateId>,
        /// Why not.
        note: String,
    },
    /// Try a phase again.
    Retry {
        /// Where.
        place: Option<Place>,
        /// What else was said.
        note: String,
        /// Who is to work from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// Go on without what could not be done.
    Skip {
        /// Where.
        place: Option<Place>,
        /// What is to be known instead.
        note: String,
    },
    /// The answer to a question.
    Answer {
        /// Which.
        gate: Option<GateId>,
        /// What was said.
        text: String,
    },
    /// Something that a worker is to know.
    Note {
        /// Where.
        place: Option<Place>,
        /// What.
        text: String,
    },
    /// Go to a phase.
    Go {
        /// Where to.
        place: Place,
        /// What else was said.
        note: String,
    },
    /// More may be spent.
    Budget {
        /// Whose limit.
        place: Option<Place>,
        /// How much more.
        more: Budget,
    },
    /// A worker's call.
    Signal {
        /// The call's id.
        request: String,
        /// The tool.
        tool: String,
        /// What it is given.
        arguments: Value,
        /// The secret of its attempt.
        #[serde(default)]
        secret: String,
    },
    /// From now on, every new view of the run.
    Watch,
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Done as asked.
    Accepted {
        /// To which request.
        id: u64,
        /// The words.
        text: String,
    },
    /// Not done.
    Refused {
        /// To which request; 0 when it is about the connection.
        id: u64,
        /// Why, and what would be right.
        text: String,
    },
    /// Not heard: the run has come to rest. Who asked finds it in its ledger.
    Rests {
        /// To which request.
        id: u64,
    },
    /// How the run stands now, to a watcher.
    View {
        /// As `status --json` has it.
        view: Value,
    },
}

impl Ask {
    /// The person's command in it; none for what is no command.
    pub(super) fn into_command(self) -> Option<Command> {
        Some(match self {
            Self::Pause { reason } => Command::Pause { reason },
            Self::Resume => Command::Resume,
            Self::Cancel { reason } => Command::Cancel { reason },
            Self::Approve { gate, note } => Command::Approve { gate, note },
            Self::Reject { gate, note } => Command::Reject { gate, note },
            Self::Retry { place, note, agent } => Command::Retry { place, note, agent },
            Self::Skip { place, note } => Command::Skip { place, note },
            Self::Answer { gate, text } => Command::Answer { gate, text },
            Self::Note { place, text } => Command::Note { place, text },
            Self::Go { place, note } => Command::Go { place, note },
            Self::Budget { place, more } => Command::Budget { place, more },
            Self::Ping | Self::Signal { .. } | Self::Watch => return None,
        })
    }

    /// The ask that carries a person's command; none for what only a supervisor or worker says.
    pub fn of(command: Command) -> Option<Self> {
        Some(match command {
            Command::Pause { reason } => Self::Pause { reason },
            Command::Resume => Self::Resume,
            Command::Cancel { reason } => Self::Cancel { reason },
            Command::Approve { gate, note } => Self::Approve { gate, note },
            Command::Reject { gate, note } => Self::Reject { gate, note },
            Command::Retry { place, note, agent } => Self::Retry { place, note, agent },
            Command::Skip { place, note } => Self::Skip { place, note },
            Command::Answer { gate, text } => Self::Answer { gate, text },
            Command::Note { place, text } => Self::Note { place, text },
            Command::Go { place, note } => Self::Go { place, note },
            Command::Budget { place, more } => Self::Budget { place, more },
            Command::Start(_)
            | Command::Prepare(_)
            | Command::Undo { .. }
            | Command::Rewind { .. }
            | Command::Signal { .. } => return None,
        })
    }
}

impl Reply {
    pub(super) fn of(id: u64, answer: Option<Answer>) -> Self {
        match answer {
            Some(Answer::Accepted(text)) => Self::Accepted { id, text },
            Some(Answer::Refused(text)) => Self::Refused { id, text },
            Some(Answer::Noted | Answer::Verdict(_)) => {
                Self::Accepted { id, text: "noted".to_owned() }
            }
            // Whoever waits for a person is answered when the person was; else the run came to rest first.
            Some(Answer::Waits) | None => Self::Rests { id },
        }
    }
}

/// Reads one line; none at the end. A line that is too long or makes no sense is an error.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    from: &mut impl BufRead,
    most: u64,
) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    if from.by_ref().take(most + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let bad = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if line.last() != Some(&b'\n') {
        return Err(bad(format!("a line is cut short, or longer than {most} bytes")));
    }
    serde_json::from_slice(&line).map(Some).map_err(|error| bad(format!("not understood: {error}")))
}

/// Writes one line.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}
