//! Messages between supervisor and keeper: JSON lines on one socket; both ends are the same binary.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::order::KeeperEnd;
use super::wall::Wall;

/// Longest line on the socket. An order has the agent's arguments as numbers, four bytes per byte, and the kernel accepts at most
/// a few megabytes of them.
pub(super) const WIRE_LINE_MAX: usize = 32 * 1024 * 1024;
/// How long either side waits for the other until the agent starts.
pub(super) const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(20);
const READ_BYTES: usize = 8 * 1024;

/// The first line to a keeper. `OsString`, because paths and arguments need not be UTF-8.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireOrder {
    pub(super) cookie: String,
    pub(super) lock_file: OsString,
    pub(super) lease_ms: u64,
    pub(super) cwd: OsString,
    pub(super) argv: Vec<OsString>,
    pub(super) env_set: BTreeMap<String, String>,
    pub(super) wall: Option<Wall>,
    /// Where the keeper opens the agent's stdin.
    pub(super) stdin: OsString,
}

/// Later messages to a keeper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeeperWord {
    /// Starts the agent: a supervisor that died before this starts nothing.
    Go,
    /// Renews the lease: the supervisor is alive.
    Renew,
    /// Stops the agent, and kills it after the grace period.
    Stop { grace_ms: u64 },
}

/// Messages of a keeper: one line before the agent starts, one at its end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeeperReport {
    Ready,
    Refused { text: String },
    CannotStart { text: String },
    Ended { code: Option<i32>, signal: Option<i32>, strays: u32, survivors: u32, stopped: bool },
    LeaseRanOut { strays: u32, survivors: u32 },
}

impl KeeperReport {
    /// The end that this message reports, if any.
    pub(super) fn into_end(self) -> Option<KeeperEnd> {
        match self {
            Self::Ready => None,
            Self::Refused { text } | Self::CannotStart { text } => {
                Some(KeeperEnd::CannotStart { text })
            }
            Self::Ended { code, signal, strays, survivors, stopped } => {
                Some(KeeperEnd::Ended { code, signal, strays, survivors, stopped })
            }
            Self::LeaseRanOut { strays, survivors } => {
                Some(KeeperEnd::LeaseRanOut { strays, survivors })
            }
        }
    }
}

/// One message as a line.
pub(super) fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Assembles lines from what the socket delivers.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    searched: usize,
}

/// What one read of the socket gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Got {
    Bytes,
    NothingYet,
    Closed,
}

impl Inbox {
    /// Reads once. A reset counts as closed: either way nobody is there.
    pub(super) fn fill(&mut self, mut from: impl Read) -> io::Result<Got> {
        let mut chunk = [0; READ_BYTES];
        match from.read(&mut chunk) {
            Ok(0) => Ok(Got::Closed),
            // Both sides are ours, so this is a broken stream and not a message to wait for.
            Ok(_) if self.bytes.len() > WIRE_LINE_MAX => Err(ErrorKind::FileTooLarge.into()),
            Ok(count) => {
                self.bytes.extend_from_slice(&chunk[..count]);
                Ok(Got::Bytes)
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(Got::NothingYet),
                // A peer that was killed closes its socket in one of several ways. They all mean the same.
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Ok(Got::Closed),
                _ => Err(error),
            },
        }
    }

    /// The next whole line, if there is one.
    pub(super) fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
            // An order of megabytes comes in small pieces. Searched from its start each time, it would cost the square of its
            // length.
            self.searched = self.bytes.len();
            return Ok(None);
        };
        let line: Vec<u8> = self.bytes.drain(..=self.searched + end).collect();
        self.searched = 0;
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

/// Waits until one of `fds` has something or the deadline has passed. A signal ends the wait too:
/// callers look again anyway.
pub(super) fn wait_until(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<()> {
    let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
    let timeout = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    match poll(fds, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether the last wait found something to read, an end included.
pub(super) fn is_readable(fd: &PollFd<'_>) -> bool {
    fd.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
}

/// Milliseconds for the wire; what does not fit is for ever anyway.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
