//! The supervisor's handle on a keeper: stop it, renew its lease, wait for its end.

use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use super::order::{KeeperEnd, KeeperOrder};
use super::sweep;
use super::table;
use super::wire::{self, Got, Inbox, KeeperReport, KeeperWord};

/// How long a keeper may need to kill everything after the grace period. One that takes longer is stuck and is killed itself.
pub(super) const END_PATIENCE: Duration = Duration::from_secs(20);

/// Stops an agent and waits for its end. Clones share one handle and may be used from any thread.
///
/// If the last clone is dropped before the end was waited for, the agent is killed at once, and the drop blocks until it is gone.
#[derive(Debug, Clone)]
pub struct Control {
    hold: Arc<Hold>,
}

/// Shared by the clones. Separate from [`KeeperLine`], so that the lease thread never drops it.
#[derive(Debug)]
struct Hold {
    line: Arc<KeeperLine>,
    waiting: Mutex<KeeperWait>,
}

#[derive(Debug, Default)]
struct KeeperWait {
    inbox: Inbox,
    end: Option<KeeperEnd>,
}

/// The socket and the process of one keeper.
#[derive(Debug)]
pub(super) struct KeeperLine {
    socket: UnixStream,
    writing: Mutex<()>,
    keeper: Mutex<Child>,
    cookie: String,
    lock_file: PathBuf,
    pub(super) lease: Duration,
    stop_due: Mutex<Option<Instant>>,
    /// Whether it stood still at the last look.
    stood_still: AtomicBool,
}

impl Control {
    /// Writes must not block: a keeper that is stopped would delay the leases of all others.
    pub(super) fn new(line: KeeperLine) -> io::Result<Self> {
        line.socket.set_nonblocking(true)?;
        let hold = Hold { line: Arc::new(line), waiting: Mutex::default() };
        Ok(Self { hold: Arc::new(hold) })
    }

    pub(super) fn line(&self) -> &Arc<KeeperLine> {
        &self.hold.line
    }

    pub(super) fn go(&self) -> io::Result<()> {
        self.hold.line.say(&KeeperWord::Go)
    }

    /// The keeper's process id.
    pub fn keeper_id(&self) -> u32 {
        lock(&self.hold.line.keeper).id()
    }

    /// Asks the agent to end, and kills it after `grace`. Returns at once. A second call can only shorten the grace period. Does
    /// nothing once the agent has ended.
    pub fn stop(&self, grace: Duration) {
        self.hold.line.stop(grace);
    }

    /// Blocks until nothing of the agent is left. Repeated calls return the same end.
    pub fn wait(&self) -> KeeperEnd {
        // Without a limit: how long an agent may take is decided by timers, which stop it.
        self.hold.wait_until(None)
    }
}

impl Hold {
    /// Waits for the end. At the deadline the keeper is killed, so that there is one.
    fn wait_until(&self, deadline: Option<Instant>) -> KeeperEnd {
        // Held while reading: only one thread reads the socket, and the others get the stored end.
        let mut waiting = lock(&self.waiting);
        if let Some(end) = &waiting.end {
            return end.clone();
        }
        let told = self.line.read_end(&mut waiting.inbox, deadline);
        // No report means that the keeper died, hangs, or does not speak the protocol. In each case it cannot be trusted to
        // have killed anything.
        if told.is_none() {
            self.line.kill();
        }
        self.line.reap();
        let end = told.unwrap_or_else(|| {
            // A dead keeper kills nothing any more, so everything with its cookie is killed here.
            sweep::after_keeper(&self.line.lock_file, &self.line.cookie);
            KeeperEnd::KeeperDied
        });
        waiting.end = Some(end.clone());
        end
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The keeper sees a closed socket as a dead supervisor and kills everything.
        let _ = self.line.socket.shutdown(Shutdown::Write);
        // Waits, so that no agent is alive when the last handle to it is gone. The limit keeps a stuck keeper from blocking for
        // ever.
        self.wait_until(Some(Instant::now() + END_PATIENCE));
    }
}

impl KeeperLine {
    pub(super) fn new(socket: UnixStream, keeper: Child, order: &KeeperOrder) -> Self {
        Self {
            socket,
            writing: Mutex::new(()),
            keeper: Mutex::new(keeper),
            cookie: order.cookie.clone(),
            lock_file: order.lock_file.clone(),
            lease: order.lease,
            stop_due: Mutex::new(None),
            stood_still: AtomicBool::new(false),
        }
    }

    /// Sends a whole word or fails: half a word would corrupt all later ones.
    fn say(&self, word: &KeeperWord) -> io::Result<()> {
        let line = wire::line(word)?;
        // The lease thread and the driver write to the same socket; their messages must not mix.
        let _one_at_a_time = lock(&self.writing);
        // One write and no more: waiting for room would hold the lock that every renewal needs.
        if (&self.socket).write(&line)? == line.len() {
            return Ok(());
        }
        // Half a message would corrupt the stream. Closing it makes the keeper end its agent, which is the safe side.
        self.socket.shutdown(Shutdown::Write)?;
        Err(ErrorKind::WriteZero.into())
    }

    /// Skips a full socket: a keeper with that many unread words does not need another one.
    pub(super) fn renew(&self) {
        let _ = self.say(&KeeperWord::Renew);
    }

    fn stop(&self, grace: Duration) {
        // The keeper waits for the grace period itself. It is overdue only when it needs much longer than that.
        let due = Instant::now().checked_add(grace.saturating_add(END_PATIENCE));
        let mut stop_due = lock(&self.stop_due);
        // The earliest deadline wins: a second, more patient stop must not prolong the first.
        *stop_due = stop_due.map_or(due, |before| due.map(|due| due.min(before)));
        // Released before writing to the socket: the lease thread takes this lock for every keeper.
        drop(stop_due);
        // If this fails, the keeper is gone, or it hangs and is killed when it is overdue.
        let _ = self.say(&KeeperWord::Stop { grace_ms: wire::millis(grace) });
    }

    /// Kills a keeper that did not stop in time. Never waits, since the lease thread calls it.
    pub(super) fn kill_if_overdue(&self) {
        if lock(&self.stop_due).is_some_and(|due| Instant::now() > due) {
            self.kill();
        }
    }

    /// Lets a keeper go on that somebody stopped by a signal: it would never tell the end of its agent, and the run would wait for it
    /// for ever. Only if it stood still at the last look too, and not once it was told to stop: then it has its time, and is killed.
    pub(super) fn wake_if_still(&self) {
        if lock(&self.stop_due).is_some() {
            return;
        }
        let mut keeper = lock(&self.keeper);
        // Only while it is not reaped: after that its process id may belong to another process.
        let found =
            matches!(keeper.try_wait(), Ok(None)).then(|| table::read(keeper.id())).flatten();
        let still = found.filter(|it| table::stands_still(it.pid));
        let stood_still = self.stood_still.swap(still.is_some(), Ordering::Relaxed);
        if let Some(process) = still.filter(|_| stood_still) {
            table::signal(process, Signal::CONT);
        }
    }

    /// Kills processes below the keeper first: once it is dead, those that cleared their environment cannot be found.
    fn kill(&self) {
        let mut keeper = lock(&self.keeper);
        // Only while it is not reaped: after that its process id may belong to another process.
        if let Ok(None) = keeper.try_wait() {
            // Children first. A keeper that is killed first would leave them to init, where only the cookie finds them.
            sweep::kill_below(keeper.id());
            let _ = keeper.kill();
        }
    }

    /// After its last word, a keeper only has to exit.
    fn reap(&self) {
        let mut keeper = lock(&self.keeper);
        // It has reported its end or was killed already. This only makes sure that `wait` returns.
        let _ = keeper.kill();
        let _ = keeper.wait();
    }

    /// The last word; `None` if the keeper died without one or the deadline passed.
    fn read_end(&self, inbox: &mut Inbox, deadline: Option<Instant>) -> Option<KeeperEnd> {
        loop {
            match inbox.next::<KeeperReport>() {
                Ok(Some(report)) => {
                    if let Some(end) = report.into_end() {
                        return Some(end);
                    }
                    continue;
                }
                Ok(None) => {}
                Err(_) => return None,
            }
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            wire::wait_until(&mut fds, deadline).ok()?;
            if deadline.is_some_and(|at| Instant::now() >= at) {
                return None;
            }
            if !matches!(inbox.fill(&self.socket), Ok(Got::Bytes | Got::NothingYet)) {
                return None;
            }
        }
    }
}

/// A panic elsewhere leaves nothing half-done behind these locks, so poisoning is ignored.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
