//! The words of the link.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use chronicle_core::event::input::{Answer, Command, Report};
use chronicle_core::view::{RunView, TimelineEntry};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::activity::RunActivity;

/// Rises when an older side would misunderstand.
pub(crate) const LINK_VERSION: u32 = 2;
/// Longest line that a supervisor reads.
pub const LINE_MAX: u64 = 256 * 1024;
/// Longest line that an asker reads: the view of a run of thousands of phases, each with its longest summary, and some lines of its
/// ledger.
pub(crate) const VIEW_LINE_MAX: u64 = 64 * 1024 * 1024;

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
    /// What marks a person's command in the ledger, so that one who hears no answer finds out what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mark: Option<String>,
}

/// What may be asked. Commands cross as they are; `commands.rs` says which of them a person may give here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Is anybody there?
    Ping,
    /// A person's command.
    Command(Command),
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
    /// What a host saw of an attempt that it performs.
    Report(Box<Report>),
    /// From now on, all that happens. Nothing else is answered on this connection any more.
    Watch {
        /// The last line that is known already; all after it are told first.
        since: u64,
        /// Whether to tell what attempts say and do, too.
        activity: bool,
    },
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// To a request, once it is on disk.
    Answer {
        /// Which.
        id: u64,
        /// What.
        answer: Answer,
    },
    /// Not heard: the run has come to rest. Who asked finds it in its ledger.
    Rests {
        /// Which request.
        id: u64,
    },
    /// The connection is turned away, and ends. This one is understood by every version of the link.
    Refused {
        /// Why, and what would be right.
        text: String,
    },
    /// To a watcher: what is on disk by now.
    Update(RunUpdate),
    /// To a watcher: what an attempt says and does.
    Activity(RunActivity),
}

/// What has happened since the last update, and how the run stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunUpdate {
    /// The version of the views in it.
    pub v: u32,
    /// The last line that was told: where to go on from on another connection.
    pub seq: u64,
    /// What happened, in order and without a gap.
    pub entries: Vec<TimelineEntry>,
    /// How the run stands, where that is news. A watcher that is slow misses some, never the newest.
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

/// Reads one message; none at the end. A line that is too long or makes no sense is an error.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    from: &mut impl BufRead,
    most: u64,
) -> io::Result<Option<T>> {
    line(from, most)?.map(|line| understood(&line)).transpose()
}

/// Reads one whole line; none at the end.
pub(super) fn line(from: &mut impl BufRead, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if from.by_ref().take(most + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(bad(format!("a line is cut short, or longer than {most} bytes")));
    }
    Ok(Some(line))
}

/// The message in a line.
pub(super) fn understood<T: for<'de> Deserialize<'de>>(line: &[u8]) -> io::Result<T> {
    serde_json::from_slice(line).map_err(|error| bad(format!("not understood: {error}")))
}

fn bad(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Writes one line.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}
