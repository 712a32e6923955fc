//! `chronicle keeper`: stands between the supervisor and one agent.
//!
//! Single-threaded on purpose: the agent's death signal follows the *thread* that started it. Its
//! stdin is the supervisor's socket, its stdout and stderr are the agent's. It takes the order,
//! locks the attempt's file, says that it is ready, starts the agent on `Go`, and then sleeps until
//! a child ends, the supervisor says something or is gone, or a time is up.
//!
//! Signals are handled, not ignored: an ignored signal would stay ignored in the agent.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde::de::DeserializeOwned;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::begin::{Begun, BegunEnd};
use super::ending::Tree;
use super::handover;
use super::lock;
use super::wire::{self, Got, HANDSHAKE_PATIENCE, Inbox, KeeperReport, KeeperWord, WireOrder};
use crate::fail::{self, Point};

/// Grace period for processes that the agent left running when it ended.
pub(crate) const STRAY_GRACE: Duration = Duration::from_secs(2);
/// Grace period for the agent when the keeper itself gets a signal to end.
pub(crate) const TERM_GRACE: Duration = Duration::from_secs(5);

/// Runs a keeper to its end.
pub fn main(_args: &[OsString]) -> ExitCode {
    match keep() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "Error: the keeper failed: {error}");
            ExitCode::from(70)
        }
    }
}

fn keep() -> io::Result<()> {
    let mut line = SupervisorLine::take_stdin()?;
    // The supervisor died before it gave an order. Nothing is held and nothing runs, so there is nothing to report.
    let Some(order) = line.next::<WireOrder>()? else { return Ok(()) };
    let ready = match Ready::new(&order) {
        Ok(ready) => ready,
        Err(text) => return line.say(&KeeperReport::Refused { text }),
    };
    fail::at(Point::KeeperAfterLock);
    // The lock is held before anything is started. A later supervisor that finds no lock file can rely on it that no agent
    // ever ran.
    line.say(&KeeperReport::Ready)?;
    // Without `Go` nothing starts: the supervisor may have died after writing the order.
    let Some(KeeperWord::Go) = line.next()? else { return Ok(()) };
    // Opened before the start: if there is no file to be had, no agent must run yet.
    let nowhere = nowhere()?;
    let started = Begun::start(&order, ready.stdin, &ready.lock);
    fail::at(Point::KeeperAfterStart);
    // The keeper closes its copies of the agent's streams. Otherwise readers would not see their end when the agent exits.
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    let report = match started {
        Ok(agent) => KeeperWatch::new(&mut line, &ready.lock, ready.signals, &order, agent).run(),
        Err(text) => KeeperReport::CannotStart { text },
    };
    // Everything has ended: this is the last moment at which the agent can have changed a file, and the time on the lock
    // file is how the trees know it.
    lock::touch(&ready.lock);
    fail::at(Point::KeeperBeforeReport);
    // If the supervisor is gone, the report is lost, but everything has been killed anyway.
    let _ = line.say(&report);
    // Never unlocked explicitly: whoever gets the lock concludes that this process is gone, so it must last until the exit.
    std::mem::forget(ready.lock);
    Ok(())
}

fn nowhere() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}

/// The keeper's end of the socket.
struct SupervisorLine {
    socket: UnixStream,
    inbox: Inbox,
}

impl SupervisorLine {
    /// Moves the socket away from fd 0, which becomes the agent's stdin.
    fn take_stdin() -> io::Result<Self> {
        let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // The agent must not inherit the socket: with it, it could report its own end in the keeper's name.
        dup2_stdin(nowhere()?)?;
        Ok(Self { socket, inbox: Inbox::default() })
    }

    fn say(&self, report: &KeeperReport) -> io::Result<()> {
        (&self.socket).write_all(&wire::line(report)?)
    }

    /// The next message; `None` if the supervisor is gone or silent for too long.
    fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        // A supervisor that dies during the handshake closes the socket. The limit is for one that hangs: a keeper without an
        // order must not stay.
        let deadline = Instant::now() + HANDSHAKE_PATIENCE;
        loop {
            if let Some(message) = self.inbox.next()? {
                return Ok(Some(message));
            }
            wire::wait_until(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(deadline))?;
            if Instant::now() >= deadline || self.inbox.fill(&self.socket)? == Got::Closed {
                return Ok(None);
            }
        }
    }
}

/// What a keeper must have before it reports that it is ready.
struct Ready {
    lock: File,
    stdin: File,
    signals: Signals,
}

impl Ready {
    fn new(order: &WireOrder) -> Result<Self, String> {
        let lock_file = Path::new(&order.lock_file);
        // A worker can remove the folder, and the run must be able to continue. If it cannot be made, the lock says so.
        let _ = lock_file.parent().map(std::fs::create_dir_all);
        // The lock before everything else: if another keeper has it, nothing of this one may begin.
        let lock = lock::take(lock_file, &order.cookie)
            .map_err(|error| format!("cannot lock `{}`: {error}", lock_file.display()))?;
        let stdin = handover::fetch(&order.stdin)
            .map_err(|error| format!("cannot open the agent's stdin: {error}"))?;
        // Before the agent starts: a SIGCHLD that comes earlier than its handler would be missed.
        let signals = Signals::new().map_err(|error| format!("cannot handle signals: {error}"))?;
        adopt_orphans().map_err(|error| format!("cannot become a subreaper: {error}"))?;
        Ok(Self { lock, stdin, signals })
    }
}

/// Makes this process the subreaper: orphans below are adopted by it instead of by init.
fn adopt_orphans() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Signals as something to poll.
struct Signals {
    child_ended: UnixStream,
    told_to_end: UnixStream,
}

impl Signals {
    fn new() -> io::Result<Self> {
        // A terminal's signals are meant for the supervisor, which tells the keeper what to do. A handler instead of "ignore":
        // an ignored signal would be inherited by the agent.
        let swallowed = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&swallowed))?;
        }
        Ok(Self { child_ended: pipe_of(SIGCHLD)?, told_to_end: pipe_of(SIGTERM)? })
    }
}

fn pipe_of(signal: i32) -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal, write)?;
    Ok(read)
}

/// Drains a signal's pipe. Returns true if the signal arrived.
fn came(mut pipe: &UnixStream) -> bool {
    let mut bytes = [0; 64];
    let mut came = false;
    while pipe.read(&mut bytes).is_ok_and(|count| count > 0) {
        came = true;
    }
    came
}

/// Why the keeper kills everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndCause {
    /// The agent has ended, or its grace period is over.
    Over,
    LeaseRanOut,
    /// The supervisor is gone.
    Orphaned,
}

/// The keeper while the agent is live.
struct KeeperWatch<'a> {
    line: &'a mut SupervisorLine,
    lock: &'a File,
    signals: Signals,
    order: &'a WireOrder,
    agent: Begun,
    tree: Tree,
    lease_due: Option<Instant>,
    /// Set once the end has begun: what is left then is killed.
    kill_due: Option<Instant>,
    has_left: bool,
    stopped: bool,
}

impl<'a> KeeperWatch<'a> {
    fn new(
        line: &'a mut SupervisorLine,
        lock: &'a File,
        signals: Signals,
        order: &'a WireOrder,
        agent: Begun,
    ) -> Self {
        let tree = Tree::new(order.cookie.clone(), agent.child, agent.init());
        let lease_due = after(Duration::from_millis(order.lease_ms));
        let (kill_due, has_left, stopped) = (None, false, false);
        Self { line, lock, signals, order, agent, tree, lease_due, kill_due, has_left, stopped }
    }

    fn run(mut self) -> KeeperReport {
        // If watching fails, the agent is killed rather than left unwatched.
        let cause = self.watch().unwrap_or(EndCause::Orphaned);
        let signals = &self.signals;
        // Whatever the cause, nothing below may survive this line.
        let survivors = self.tree.kill_all(|most| {
            let mut fds = [PollFd::new(&signals.child_ended, PollFlags::IN)];
            let _ = wire::wait_until(&mut fds, after(most));
            came(&signals.child_ended);
        });
        self.report(cause, survivors)
    }

    fn watch(&mut self) -> io::Result<EndCause> {
        loop {
            let has_children = self.tree.reap();
            if self.tree.agent_end().is_some() && !self.has_left {
                self.has_left = true;
                // Without children there is nothing to signal. Processes with the cookie elsewhere are found by `kill_all`.
                if has_children {
                    self.begin_end(STRAY_GRACE);
                }
            }
            // Checked before the lease: if the agent has ended as well, its own end is reported.
            if !has_children || is_past(self.kill_due) {
                return Ok(EndCause::Over);
            }
            if is_past(self.lease_due) {
                return Ok(EndCause::LeaseRanOut);
            }
            // No polling: the keeper wakes up for a child, a message, a signal or a deadline.
            let next_due = self.kill_due.into_iter().chain(self.lease_due).min();
            if let Got::Closed = self.sleep_until(next_due)? {
                return Ok(EndCause::Orphaned);
            }
        }
    }

    /// Sleeps until something happens, and handles it.
    fn sleep_until(&mut self, due: Option<Instant>) -> io::Result<Got> {
        let mut fds = [
            PollFd::new(&self.line.socket, PollFlags::IN),
            PollFd::new(&self.signals.child_ended, PollFlags::IN),
            PollFd::new(&self.signals.told_to_end, PollFlags::IN),
        ];
        wire::wait_until(&mut fds, due)?;
        let has_words = wire::is_readable(&fds[0]);
        // Only drained here; `reap` at the top of the loop collects the children.
        came(&self.signals.child_ended);
        if came(&self.signals.told_to_end) {
            self.stop(TERM_GRACE);
        }
        if !has_words {
            return Ok(Got::NothingYet);
        }
        let got = self.line.inbox.fill(&self.line.socket)?;
        while let Some(word) = self.line.inbox.next()? {
            self.obey(&word);
        }
        Ok(got)
    }

    fn obey(&mut self, word: &KeeperWord) {
        match word {
            KeeperWord::Go | KeeperWord::Renew => {
                self.lease_due = after(Duration::from_millis(self.order.lease_ms));
                // Renewals double as signs of life, by which the trees know until when the attempt can have changed files.
                lock::touch(self.lock);
                // Once it has ended, its process id may belong to another process.
                if self.tree.agent_end().is_none() {
                    self.agent.wake_wall();
                }
            }
            KeeperWord::Stop { grace_ms } => self.stop(Duration::from_millis(*grace_ms)),
        }
    }

    fn stop(&mut self, grace: Duration) {
        // An agent that had already ended was not stopped by us, whatever its strays do.
        let is_busy_behind = self.tree.agent_end().is_none() && self.agent.has_left();
        self.stopped |= self.tree.agent_end().is_none() && !is_busy_behind;
        if is_busy_behind {
            // Its wall has asked what it left, and waits for that. Nobody is asked twice.
            self.hurry(grace);
        } else {
            self.begin_end(grace);
        }
    }

    /// Sends SIGTERM to everything; the nearest of all deadlines counts.
    fn begin_end(&mut self, grace: Duration) {
        let agent = &self.agent;
        self.tree.ask_all(|these| agent.tell_asked(these));
        self.hurry(grace);
    }

    fn hurry(&mut self, grace: Duration) {
        self.kill_due = self.kill_due.into_iter().chain(after(grace)).min();
    }

    fn report(self, cause: EndCause, survivors: u32) -> KeeperReport {
        let strays = self.tree.strays();
        if cause == EndCause::LeaseRanOut {
            return KeeperReport::LeaseRanOut { strays, survivors };
        }
        let stopped = self.stopped || cause == EndCause::Orphaned;
        match self.agent.end(self.tree.agent_end(), self.order) {
            // Whom we asked to end is counted here, whom the wall asked is counted there.
            BegunEnd::Ended { code, signal, strays: behind } => {
                let strays = strays.saturating_add(behind);
                KeeperReport::Ended { code, signal, strays, survivors, stopped }
            }
            BegunEnd::CannotStart { text } => KeeperReport::CannotStart { text },
        }
    }
}

/// The instant after a duration; `None` if it is too far away.
fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

fn is_past(due: Option<Instant>) -> bool {
    due.is_some_and(|at| Instant::now() >= at)
}
