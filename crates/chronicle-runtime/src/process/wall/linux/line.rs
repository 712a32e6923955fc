//! What is said between whoever wants a wall, *outer* and *init*: JSON lines on sockets, the first one with descriptors.
//!
//! Descriptors travel in messages and never by number: whoever inherits a number cannot know what it is, and keeps it.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::process::wall::{WallRefusal, WallStands};
use crate::process::wire::{self, Got, Inbox, WIRE_LINE_MAX};

/// Most descriptors of one message.
const DESCRIPTORS_MAX: usize = 2;
const READ_BYTES: usize = 8 * 1024;

/// What is told to whoever wants a wall.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WallReport {
    /// PID 1 of the inside, as it is called outside. Whoever kills it ends everything.
    Init { pid: u32 },
    /// It stands; nothing runs behind it yet.
    Up { stands: WallStands },
    /// It does not, and nothing ran.
    Refused { refusal: WallRefusal },
    /// It stands, and the program could not be started.
    CannotStart { text: String },
    /// The program has ended; what it left may still run.
    Left { code: Option<i32>, signal: Option<i32> },
    /// What it left has ended too, or is gone when *outer* has ended.
    Ended { code: Option<i32>, signal: Option<i32>, strays: u32 },
}

/// What is told to *init*.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WallWord {
    /// Starts the program. Whoever wanted the wall may have died while it was put up: then nothing starts.
    Exec,
    /// These were asked to end, or are about to be: the process id that each has inside, and when it started.
    Asked { these: Vec<(u32, u64)> },
}

/// Words to *init*, which may come while it does other things.
#[derive(Debug, Default)]
pub(super) struct WallWords(Inbox);

impl WallWords {
    /// Waits for the next one; `None` if the other side is gone.
    pub(super) fn wait(&mut self, line: &UnixStream) -> io::Result<Option<WallWord>> {
        loop {
            if let Some(word) = self.0.next()? {
                return Ok(Some(word));
            }
            if self.0.fill(line)? == Got::Closed {
                return Ok(None);
            }
        }
    }

    /// The next one that has come already.
    pub(super) fn come(&mut self, line: &UnixStream) -> io::Result<Option<WallWord>> {
        loop {
            if let Some(word) = self.0.next()? {
                return Ok(Some(word));
            }
            if !has_come(line) || self.0.fill(line)? == Got::Closed {
                return Ok(None);
            }
        }
    }
}

/// Sends a message that nobody waits for, if there is room for it. Never waits.
pub(super) fn send_aside(socket: &UnixStream, message: &impl Serialize) {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let _ = wire::line(message).map(|line| rustix::net::send(socket, &line, flags));
}

/// Sends one message. The descriptors go with its first byte.
pub(super) fn send(
    mut socket: &UnixStream,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let line = wire::line(message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(ErrorKind::InvalidInput.into());
    }
    // Without a signal: a reader that is gone is an error like any other.
    let sent = sendmsg(socket, &[IoSlice::new(&line)], &mut control, SendFlags::NOSIGNAL)?;
    socket.write_all(&line[sent..])
}

/// Waits for an order; `None` if the other side is gone. Until it is answered nothing else is said, so nothing of a later message is
/// read with it.
pub(super) fn receive<M: DeserializeOwned>(
    socket: &UnixStream,
) -> io::Result<Option<(M, Vec<OwnedFd>)>> {
    let (mut line, mut descriptors) = (Vec::new(), Vec::new());
    while line.last() != Some(&b'\n') {
        if line.len() > WIRE_LINE_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut chunk = [0; READ_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut chunk)];
        let got = match recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(got) => got.bytes,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(these) = message {
                descriptors.extend(these);
            }
        }
        if got == 0 {
            return Ok(None);
        }
        line.extend_from_slice(&chunk[..got]);
    }
    Ok(Some((serde_json::from_slice(&line)?, descriptors)))
}

/// Moves the socket away from fd 0, which becomes the program's stdin.
pub(super) fn take_stdin() -> io::Result<UnixStream> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let nowhere = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(nowhere)?;
    Ok(socket)
}

/// Lets go of the program's output, once it has its own: readers are to see its end as soon as the program closes it. Our stdin leads
/// nowhere by now, and behind a wall that may be all that can be had.
pub(super) fn let_go_of_output() -> io::Result<()> {
    let nowhere = io::stdin();
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    Ok(())
}

/// True if the other side is gone.
pub(super) fn is_closed(socket: &UnixStream) -> bool {
    look(socket, PollFlags::empty()).is_none_or(|seen| seen.contains(PollFlags::HUP))
}

/// True if there is something to read, an end included.
pub(super) fn has_come(socket: &UnixStream) -> bool {
    look(socket, PollFlags::IN).is_some_and(|seen| seen.intersects(PollFlags::IN | PollFlags::HUP))
}

fn look(socket: &UnixStream, wanted: PollFlags) -> Option<PollFlags> {
    let mut fds = [PollFd::new(socket, wanted)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).ok().map(|_| fds[0].revents())
}
