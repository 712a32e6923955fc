//! Messages of the link.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use chronicle_core::event::input::{Answer, Command, Report};
use chronicle_core::view::{RunView, TimelineEntry};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::activity::RunActivity;

/// Raised when an older side would misunderstand.
pub(crate) const LINK_VERSION: u32 = 2;
/// Longest line that a supervisor reads.
pub const LINE_MAX: u64 = 256 * 1024;
/// Longest line that a client reads: the view of a run with thousands of phases, each with its longest summary, and some lines of
/// its ledger.
pub(crate) const VIEW_LINE_MAX: u64 = 64 * 1024 * 1024;

/// The supervisor's first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) link: u32,
    pub(super) chronicle: String,
    pub(super) run: String,
    /// The run's folder: a copy of the folder has the same link file.
    pub(super) folder: String,
}

/// The client's first message.
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
    /// Marks a person's command in the ledger, so that a client without an answer can find out whether it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mark: Option<String>,
}

/// Requests. Commands cross as they are; `Command::barred` says which of them a person may not give here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Asks whether the supervisor still answers.
    Ping,
    /// A command from a person.
    Command(Command),
    /// A tool call of a worker.
    Signal {
        /// Id of the call. The same call sent again gets the same answer.
        request: String,
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        arguments: Value,
        /// The secret of its attempt.
        #[serde(default)]
        secret: String,
    },
    /// What a host saw of an attempt that it performs.
    Report(Box<Report>),
    /// Subscribes to everything that happens. Nothing else is answered on this connection any more.
    Watch {
        /// The last line that the client knows; later ones are sent first.
        since: u64,
        /// True to also receive what attempts say and do.
        activity: bool,
    },
}

/// Messages of the supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The answer to a request, sent once it is synced.
    Answer {
        /// Number of the request.
        id: u64,
        /// The answer, as the engine gave it.
        answer: Answer,
    },
    /// The request was not handled because the run rests. The ledger has the result.
    Rests {
        /// Number of the request.
        id: u64,
    },
    /// The connection is refused and closed. Every version of the link understands this.
    Refused {
        /// The reason, and what to do instead.
        text: String,
    },
    /// To a watcher: newly synced events.
    Update(RunUpdate),
    /// To a watcher: live output of an attempt.
    Activity(RunActivity),
}

/// New events since the last update, and the current view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunUpdate {
    /// Version of the views in it.
    pub v: u32,
    /// The last line that was sent: where to continue on another connection.
    pub seq: u64,
    /// Events in order and without a gap.
    pub entries: Vec<TimelineEntry>,
    /// The current view, if it is new. A slow watcher misses some, but never the latest.
    pub view: Option<Arc<RunView>>,
}

impl Reply {
    pub(super) fn of(id: u64, answer: Option<Answer>) -> Self {
        match answer {
            // Whoever waits for a person is answered when the person was; else the run came to rest first.
            Some(Answer::Waits) | None => Self::Rests { id },
            Some(answer) => Self::Answer { id, answer },
        }
    }
}

/// Reads one message; `None` at the end. A line that is too long or invalid is an error.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    from: &mut impl BufRead,
    most: u64,
) -> io::Result<Option<T>> {
    line(from, most)?.map(|line| understood(&line)).transpose()
}

/// Reads one complete line; `None` at the end.
pub(super) fn line(from: &mut impl BufRead, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    // Limited before it is read, so that a client cannot make the supervisor allocate without end.
    if from.by_ref().take(most + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    // A line without its end is never parsed, even if it would be valid: the other side may have died in the middle of it.
    if line.last() != Some(&b'\n') {
        return Err(bad(format!("a line is cut short, or longer than {most} bytes")));
    }
    Ok(Some(line))
}

/// Parses the message in a line. From a text, as lines of the ledger are: each kind of input would be compiled a second time.
pub(super) fn understood<T: for<'de> Deserialize<'de>>(line: &[u8]) -> io::Result<T> {
    let text = std::str::from_utf8(line).map_err(|error| bad(format!("not a text: {error}")))?;
    serde_json::from_str(text).map_err(|error| bad(format!("not understood: {error}")))
}

fn bad(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Writes one message as a line.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    // One buffer and one `write_all`: a line that was serialized into the socket in pieces would be many system calls.
    line.push(b'\n');
    to.write_all(&line)
}
