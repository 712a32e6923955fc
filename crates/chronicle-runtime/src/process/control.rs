//! The supervisor's hold on a keeper: stop it, renew its lease, wait for its end.

use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::order::KeeperEnd;
use super::sweep;
use super::wire::{self, Got, Inbox, Report, Word};

/// How long a keeper may need to end everything by force, after the grace; one that takes longer is
/// itself stuck and is killed.
pub(super) const END_PATIENCE: Duration = Duration::from_secs(20);

/// Stops an agent and waits for its end. Clones share one hold, on any threads.
///
/// When the last clone is dropped before the end was waited for, the agent is ended at once, and the
/// drop blocks until it has.
#[derive(Debug, Clone)]
pub struct Control {
    hold: Arc<Hold>,
}

/// What the clones share. Apart from [`Line`], so that the lease thread never drops it.
#[derive(Debug)]
struct Hold {
    line: Arc<Line>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    inbox: Inbox,
    end: Option<KeeperEnd>,
}

/// The socket and the process of one keeper.
#[derive(Debug)]
pub(super) struct Line {
    socket: UnixStream,
    writing: Mutex<()>,
    keeper: Mutex<Child>,
    cookie: String,
    pub(super) lease: Duration,
    stop_due: Mutex<Option<Instant>>,
}

impl Control {
    /// Writes must not block: a keeper that stands still would hold up the leases of all others.
    pub(super) fn new(line: Line) -> io::Result<Self> {
        line.socket.set_nonblocking(true)?;
        let hold = Hold { line: Arc::new(line), waiting: Mutex::default() };
        Ok(Self { hold: Arc::new(hold) })
    }

    pub(super) fn line(&self) -> &Arc<Line> {
        &self.hold.line
    }

    pub(super) fn go(&self) -> io::Result<()> {
        self.hold.line.say(&Word::Go)
    }

    /// The keeper's process id.
    pub fn keeper_id(&self) -> u32 {
        lock(&self.hold.line.keeper).id()
    }

    /// Asks the agent to end and ends it by force after `grace`. Returns at once; a second call can
    /// only shorten the grace. Does nothing once the agent has ended.
    pub fn stop(&self, grace: Duration) {
        self.hold.line.stop(grace);
    }

    /// Blocks until nothing of the agent is left and tells how it ended; again and again the same.
    pub fn wait(&self) -> KeeperEnd {
        self.hold.wait_until(None)
    }
}

impl Hold {
    /// The end; at the deadline the keeper is killed, so that there is one.
    fn wait_until(&self, deadline: Option<Instant>) -> KeeperEnd {
        let mut waiting = lock(&self.waiting);
        if let Some(end) = &waiting.end {
            return end.clone();
        }
        let told = self.line.read_end(&mut waiting.inbox, deadline);
        if told.is_none() {
            self.line.kill();
        }
        self.line.reap();
        let end = told.unwrap_or_else(|| {
            // A dead keeper ends nothing any more: what has its cookie is ours to end.
            sweep::sweep(&self.line.cookie);
            KeeperEnd::KeeperDied
        });
        waiting.end = Some(end.clone());
        end
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = self.line.socket.shutdown(Shutdown::Write);
        self.wait_until(Some(Instant::now() + END_PATIENCE));
    }
}

impl Line {
    pub(super) fn new(socket: UnixStream, keeper: Child, lease: Duration, cookie: String) -> Self {
        Self {
            socket,
            writing: Mutex::new(()),
            keeper: Mutex::new(keeper),
            cookie,
            lease,
            stop_due: Mutex::new(None),
        }
    }

    /// Says one word whole or fails: half a word would spoil all that follow.
    fn say(&self, word: &Word) -> io::Result<()> {
        let line = wire::line(word)?;
        let _one_at_a_time = lock(&self.writing);
        if (&self.socket).write(&line)? == line.len() {
            return Ok(());
        }
        self.socket.shutdown(Shutdown::Write)?;
        Err(ErrorKind::WriteZero.into())
    }

    /// A full socket is left alone: a keeper with so many words unread does not need one more.
    pub(super) fn renew(&self) {
        let _ = self.say(&Word::Renew);
    }

    fn stop(&self, grace: Duration) {
        let due = Instant::now().checked_add(grace.saturating_add(END_PATIENCE));
        let mut stop_due = lock(&self.stop_due);
        *stop_due = stop_due.map_or(due, |before| due.map(|due| due.min(before)));
        drop(stop_due);
        // If it cannot be said the keeper is gone, or stands still and is killed when overdue.
        let _ = self.say(&Word::Stop { grace_ms: wire::millis(grace) });
    }

    /// Kills a keeper that did not stop in time. Never waits: the lease thread calls it.
    pub(super) fn kill_if_overdue(&self) {
        if lock(&self.stop_due).is_some_and(|due| Instant::now() > due) {
            self.kill();
        }
    }

    /// What is below the keeper first: once it is dead, nobody finds what cleared its environment.
    fn kill(&self) {
        let mut keeper = lock(&self.keeper);
        if let Ok(None) = keeper.try_wait() {
            sweep::kill_below(keeper.id());
            let _ = keeper.kill();
        }
    }

    /// After its last word a keeper has nothing left to do but to exit.
    fn reap(&self) {
        let mut keeper = lock(&self.keeper);
        let _ = keeper.kill();
        let _ = keeper.wait();
    }

    /// The last word, or none if the keeper died without one or the deadline passed.
    fn read_end(&self, inbox: &mut Inbox, deadline: Option<Instant>) -> Option<KeeperEnd> {
        loop {
            match inbox.next::<Report>() {
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

/// A panic elsewhere leaves nothing half done behind these locks.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
