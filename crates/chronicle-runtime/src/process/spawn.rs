//! Starts keepers.
//!
//! There is no `pre_exec` here: it would force a fork of the whole supervisor, which costs more the more memory it has. What must
//! happen between fork and exec happens in `keeper-exec`.

use std::io::{self, ErrorKind, PipeReader, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use thiserror::Error;

use super::control::{Control, KeeperLine};
use super::handover;
use super::leases;
use super::order::{COOKIE_VARIABLE, KeeperOrder};
use super::wire::{self, Got, HANDSHAKE_PATIENCE, Inbox, KeeperReport, WireOrder};
use crate::fail::{self, Point};

/// How much an agent may print on its standard error before any of it is read. A dying Node.js drops what does not fit at once, and Pi
/// prints more than the 64 KiB of a common pipe: a line of its own code first, the cause of its death last.
#[cfg(target_os = "linux")]
const STDERR_ROOM: usize = 256 * 1024;

/// A started agent: its pipes and the handle on its keeper.
///
/// Dropping every [`Control`] without waiting kills the agent at once.
#[derive(Debug)]
pub struct Kept {
    /// The agent's stdin; dropping it closes the pipe.
    pub stdin: Option<ChildStdin>,
    /// Read end of the agent's stdout.
    pub stdout: ChildStdout,
    /// Read end of the agent's stderr.
    pub stderr: ChildStderr,
    /// Stops the agent and waits for its end.
    pub control: Control,
}

/// Why no keeper was started. An agent that cannot be started is [`super::KeeperEnd::CannotStart`].
#[derive(Debug, Error)]
pub enum SpawnError {
    /// The order names no program.
    #[error("no program to start")]
    NoProgram,
    /// There are too many live keepers.
    #[error("{0} keepers are running already")]
    TooMany(usize),
    /// A pipe or socket could not be made.
    #[error("cannot make the pipes of a keeper")]
    Pipes(#[source] io::Error),
    /// Our own executable could not be started.
    #[error("cannot start the keeper `{path}`")]
    Keeper {
        /// Path of the `chronicle` binary.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The thread that renews leases could not be started.
    #[error("cannot start the thread that renews leases: {0}")]
    Leases(io::Error),
    /// The keeper did not take the order.
    #[error("the keeper refused: {text}")]
    Refused {
        /// The keeper's own words.
        text: String,
    },
    /// The socket broke or closed, or the keeper took too long.
    #[error("the keeper `{path}` did not become ready")]
    NotReady {
        /// Path of the `chronicle` binary.
        path: PathBuf,
        /// What happened on the socket.
        #[source]
        source: io::Error,
    },
}

impl SpawnError {
    /// True if the keeper was started and died before it started anything. A retry may succeed.
    pub(crate) fn is_death(&self) -> bool {
        let ended = [ErrorKind::UnexpectedEof, ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
        matches!(self, Self::NotReady { source, .. } if ended.contains(&source.kind()))
    }
}

/// Starts an agent under a keeper of its own. When this returns, the keeper holds the lock file.
pub fn start(order: &KeeperOrder) -> Result<Kept, SpawnError> {
    if order.argv.is_empty() {
        return Err(SpawnError::NoProgram);
    }
    // Checked before anything exists, so that a refusal leaves nothing to clean up.
    leases::make_room()?;
    let (socket, keeper_socket) = UnixStream::pair().map_err(SpawnError::Pipes)?;
    let (stdin_read, stdin) = io::pipe().map_err(SpawnError::Pipes)?;
    let mut child = spawn_keeper(order, keeper_socket, &stdin_read)
        .map_err(|source| SpawnError::Keeper { path: order.chronicle.clone(), source })?;
    fail::at(Point::BeforeFirstReport);
    if let Err(error) = handshake(order, &socket, &stdin_read) {
        // It has started nothing yet, so only the keeper has to be killed.
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    // The keeper has opened its own copy. Keeping ours would hide from the writer that the agent closed its stdin.
    drop(stdin_read);
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(SpawnError::Pipes(ErrorKind::BrokenPipe.into()));
    };
    make_room(&stderr);
    let line = KeeperLine::new(socket, child, order);
    let control = Control::new(line).map_err(|source| not_ready(order, source))?;
    // From here on an agent may run. If a later step fails, dropping `control` kills it.
    control.go().map_err(|source| not_ready(order, source))?;
    // After `Go`: the lease begins with it, and a keeper that was never started needs no renewals.
    leases::add(control.line());
    Ok(Kept { stdin: Some(ChildStdin::from(OwnedFd::from(stdin))), stdout, stderr, control })
}

/// Widens the pipe. A system that refuses it gives less room; that only matters to an agent that drops what does not fit.
#[cfg(target_os = "linux")]
fn make_room(stderr: &ChildStderr) {
    let _ = rustix::pipe::fcntl_setpipe_size(stderr, STDERR_ROOM);
}

/// There is no way to ask for more.
#[cfg(not(target_os = "linux"))]
fn make_room(_: &ChildStderr) {}

fn not_ready(order: &KeeperOrder, source: io::Error) -> SpawnError {
    SpawnError::NotReady { path: order.chronicle.clone(), source }
}

/// In a process group of its own, so that Ctrl-C on a terminal reaches only the supervisor.
fn spawn_keeper(
    order: &KeeperOrder,
    socket: UnixStream,
    stdin_read: &PipeReader,
) -> io::Result<Child> {
    let mut command = Command::new(&order.chronicle);
    command
        .arg0("chronicle")
        .arg("keeper")
        // Only for people who look at the process list: the order itself comes over the socket, where no other user can read it.
        .arg(&order.lock_file)
        .stdin(OwnedFd::from(socket))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own: Ctrl-C at the terminal reaches the supervisor only, which then stops its agents in order.
        .process_group(0);
    // From the keeper itself, and so from all below it: what a process has in its environment, everybody of this user can read.
    for name in &order.env_remove {
        command.env_remove(name);
    }
    // Set after that, whatever is to be removed: it is how a killed keeper is found.
    command.env(COOKIE_VARIABLE, &order.cookie);
    handover::while_offered(stdin_read, || command.spawn())
}

/// Sends the order and waits until the keeper holds the lock and the agent's stdin.
fn handshake(
    order: &KeeperOrder,
    socket: &UnixStream,
    stdin_read: &PipeReader,
) -> Result<(), SpawnError> {
    let answer = tell(order, socket, stdin_read).and_then(|()| first_report(socket));
    match answer.map_err(|source| not_ready(order, source))? {
        KeeperReport::Ready => Ok(()),
        KeeperReport::Refused { text } | KeeperReport::CannotStart { text } => {
            Err(SpawnError::Refused { text })
        }
        KeeperReport::Ended { .. } | KeeperReport::LeaseRanOut { .. } => {
            Err(not_ready(order, ErrorKind::InvalidData.into()))
        }
    }
}

fn tell(order: &KeeperOrder, mut socket: &UnixStream, stdin_read: &PipeReader) -> io::Result<()> {
    let message = WireOrder {
        cookie: order.cookie.clone(),
        // Absolute: `keeper-exec` writes into it after it has entered the agent's folder.
        lock_file: std::path::absolute(&order.lock_file)?.into(),
        lease_ms: wire::millis(order.lease),
        cwd: std::path::absolute(&order.cwd)?.into(),
        argv: order.argv.clone(),
        env_set: order.env_set.clone(),
        wall: order.wall.clone(),
        stdin: handover::offer(stdin_read),
    };
    // The driver's thread starts agents. A keeper that does not read must not hold it for ever.
    socket.set_write_timeout(Some(HANDSHAKE_PATIENCE))?;
    socket.write_all(&wire::line(&message)?)
}

fn first_report(socket: &UnixStream) -> io::Result<KeeperReport> {
    let deadline = Instant::now() + HANDSHAKE_PATIENCE;
    let mut inbox = Inbox::default();
    loop {
        wire::wait_until(&mut [PollFd::new(socket, PollFlags::IN)], Some(deadline))?;
        if Instant::now() >= deadline {
            socket.shutdown(Shutdown::Both)?;
            return Err(ErrorKind::TimedOut.into());
        }
        if inbox.fill(socket)? == Got::Closed {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if let Some(report) = inbox.next()? {
            return Ok(report);
        }
    }
}
