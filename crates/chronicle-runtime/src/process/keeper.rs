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
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde::de::DeserializeOwned;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::ending::Tree;
use super::exec::{NOT_FOUND, NOT_STARTED};
use super::handover;
use super::lock::{self, LockEntry};
use super::order::{COOKIE_VARIABLE, own_executable};
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
    let started = start_agent(&order, ready.stdin);
    fail::at(Point::KeeperAfterStart);
    // The keeper closes its copies of the agent's streams. Otherwise readers would not see their end when the agent exits.
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    let report = match started {
        Ok(agent) => {
            // Only for people who look into the file. Nothing is decided by it, so a full disk does not end the agent.
            let _ = lock::add(
                &ready.lock,
                &LockEntry::Agent { pid: agent.as_raw_pid().cast_unsigned() },
            );
            let watch = KeeperWatch::new(&mut line, &ready.lock, ready.signals, &order, agent);
            watch.run()
        }
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

fn start_agent(order: &WireOrder, stdin: File) -> Result<Pid, String> {
    let mut command = Command::new(own_executable());
    command
        .arg0("chronicle")
        // Through our own binary, because the parent-death signal has to be set in the child, after the fork and before the
        // exec.
        .arg("keeper-exec")
        .arg(std::process::id().to_string())
        // The lock file is where the child says why the program could not be started; its exit code alone would be ambiguous.
        .args([&order.lock_file, &order.cwd])
        .args(&order.argv);
    // The cookie comes last, so that no variable of the order can replace it.
    command.envs(&order.env_set).env(COOKIE_VARIABLE, &order.cookie).stdin(stdin);
    let program = order.argv.first().map(|program| program.display().to_string());
    let child = command
        .spawn()
        .map_err(|error| format!("cannot start `{}`: {error}", program.unwrap_or_default()))?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| format!("the system gave the process id {}", child.id()))
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
        agent: Pid,
    ) -> Self {
        let tree = Tree::new(order.cookie.clone(), agent);
        let lease_due = after(Duration::from_millis(order.lease_ms));
        let (kill_due, has_left, stopped) = (None, false, false);
        Self { line, lock, signals, order, tree, lease_due, kill_due, has_left, stopped }
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
            }
            KeeperWord::Stop { grace_ms } => self.stop(Duration::from_millis(*grace_ms)),
        }
    }

    fn stop(&mut self, grace: Duration) {
        // An agent that had already ended was not stopped by us, whatever its strays do.
        self.stopped |= self.tree.agent_end().is_none();
        self.begin_end(grace);
    }

    /// Sends SIGTERM to everything; the nearest of all deadlines counts.
    fn begin_end(&mut self, grace: Duration) {
        self.tree.ask_all();
        self.kill_due = self.kill_due.into_iter().chain(after(grace)).min();
    }

    fn report(&self, cause: EndCause, survivors: u32) -> KeeperReport {
        let strays = self.tree.strays();
        if cause == EndCause::LeaseRanOut {
            return KeeperReport::LeaseRanOut { strays, survivors };
        }
        let end = self.tree.agent_end();
        let code = end.and_then(rustix::process::WaitStatus::exit_status);
        // A program may exit with these codes by itself. Only if the lock file has a reason was it never started.
        if [NOT_FOUND, NOT_STARTED].map(|code| Some(i32::from(code))).contains(&code)
            && let Some(text) = self.why_not_started()
        {
            return KeeperReport::CannotStart { text };
        }
        let signal = end.and_then(rustix::process::WaitStatus::terminating_signal);
        let stopped = self.stopped || cause == EndCause::Orphaned;
        KeeperReport::Ended { code, signal, strays, survivors, stopped }
    }

    /// The error that `keeper-exec` wrote, if it failed.
    fn why_not_started(&self) -> Option<String> {
        lock::entries(Path::new(&self.order.lock_file)).into_iter().find_map(|entry| match entry {
            LockEntry::CannotStart { text } => Some(text),
            LockEntry::Keeper { .. } | LockEntry::Agent { .. } => None,
        })
    }
}

/// The instant after a duration; `None` if it is too far away.
fn after(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

fn is_past(due: Option<Instant>) -> bool {
    due.is_some_and(|at| Instant::now() >= at)
}
