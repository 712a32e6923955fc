//! All watchers of a run. The driver publishes what is new and rings; each watcher's thread reads it.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chronicle_core::view::RunView;
use rustix::net::RecvFlags;

use super::board::Board;
use super::feed::Feed;
use super::wire::LINE_MAX;
use crate::activity::Activities;
use crate::bell::Bell;
use crate::ledger::Head;
use crate::project::RunFolder;

/// How often it is checked whether a watcher is still there.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long watchers may take to read the last updates once the run rests.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes that are discarded at once of what a watcher sends.
const THROWN_AWAY: usize = 4096;

/// Shared by all watchers' threads.
pub(super) struct Watchers {
    run: RunFolder,
    board: Board,
    activities: Activities,
    is_over: AtomicBool,
    count: AtomicUsize,
    /// Rings when a watcher disconnects.
    gone: Bell,
}

impl Watchers {
    /// For a run whose ledger is synced up to this head.
    pub(super) fn new(run: &RunFolder, activities: Activities, head: Head) -> Self {
        Self {
            run: run.clone(),
            board: Board::new(head),
            activities,
            is_over: AtomicBool::new(false),
            count: AtomicUsize::new(0),
            gone: Bell::default(),
        }
    }

    /// The ledger is synced up to this head.
    pub(super) fn synced(&self, head: Head) {
        // Publish, then ring: a watcher that wakes up must see the new head.
        self.board.synced(head);
        self.activities.bell().ring();
    }

    /// Publishes a new view.
    pub(super) fn stands(&self, view: Arc<RunView>) {
        self.board.stands(view);
        self.activities.bell().ring();
    }

    /// Sends one watcher everything new, until it disconnects or the run rests.
    pub(super) fn tell(&self, stream: &UnixStream, since: u64, activity: bool) -> io::Result<()> {
        // Counted from the first moment on, so that `see_off` waits for this one too.
        let _here = Here::begin(self);
        let (ledger, bell) = (self.run.ledger(), self.activities.bell());
        let activities = activity.then_some(&self.activities);
        let mut feed = Feed::new(stream, &self.board, &ledger, since, activities)?;
        loop {
            // Counted before reading, so that news during the read ends the next wait at once.
            let before = bell.count();
            // Read before `feed.tell`, so that everything up to the end is still sent.
            let is_over = self.is_over.load(Ordering::SeqCst);
            feed.tell()?;
            if is_over || has_left(stream) {
                return Ok(());
            }
            bell.wait(before, LOOK_AGAIN);
        }
    }

    /// Gives watchers a moment to read the end; one that does not read is dropped.
    pub(super) fn see_off(&self) {
        // Set before the bell rings: a watcher that wakes up must see it, or it would sleep for another round.
        self.is_over.store(true, Ordering::SeqCst);
        self.activities.bell().ring();
        // Watchers get the last lines, but a stuck one must not keep the supervisor from leaving.
        let deadline = Instant::now() + LAST_WORDS;
        loop {
            let before = self.gone.count();
            let left = deadline.saturating_duration_since(Instant::now());
            if self.count.load(Ordering::SeqCst) == 0 || left.is_zero() {
                return;
            }
            self.gone.wait(before, left);
        }
    }
}

/// One watcher, for as long as it is there.
struct Here<'a> {
    watchers: &'a Watchers,
}

impl<'a> Here<'a> {
    fn begin(watchers: &'a Watchers) -> Self {
        watchers.count.fetch_add(1, Ordering::SeqCst);
        Self { watchers }
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        // Counted down before the bell rings, so that `see_off` finds the new count when it wakes up.
        self.watchers.count.fetch_sub(1, Ordering::SeqCst);
        self.watchers.gone.ring();
    }
}

/// True if a watcher has disconnected. What it sends is discarded, so that its end can be noticed.
fn has_left(stream: &UnixStream) -> bool {
    let mut thrown_away = [0u8; THROWN_AWAY];
    // What a watcher sends is read and dropped, since only then does the kernel report that it has hung up.
    for _ in 0..LINE_MAX / THROWN_AWAY as u64 {
        match rustix::net::recv(stream, &mut thrown_away, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    // No honest watcher sends this much.
    true
}
