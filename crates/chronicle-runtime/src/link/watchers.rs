//! All who watch a run. The driver puts up what is new and rings; each watcher's thread looks for itself.

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

/// How often a watcher is looked for while nothing happens.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long watchers may take to read the last that happened, once the run rests.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How much of what a watcher says is thrown away at once.
const THROWN_AWAY: usize = 4096;

/// What they look at, and how many they are.
pub(super) struct Watchers {
    run: RunFolder,
    board: Board,
    activities: Activities,
    is_over: AtomicBool,
    count: AtomicUsize,
    /// Rings when one of them goes.
    gone: Bell,
}

impl Watchers {
    /// Of a run of whose ledger so much is on disk.
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

    /// So much of the ledger is on disk by now.
    pub(super) fn synced(&self, head: Head) {
        self.board.synced(head);
        self.activities.bell().ring();
    }

    /// The run stands like this.
    pub(super) fn stands(&self, view: Arc<RunView>) {
        self.board.stands(view);
        self.activities.bell().ring();
    }

    /// Tells one of them all that is new, until it goes or the run rests.
    pub(super) fn tell(&self, stream: &UnixStream, since: u64, activity: bool) -> io::Result<()> {
        let _here = Here::begin(self);
        let (ledger, bell) = (self.run.ledger(), self.activities.bell());
        let activities = activity.then_some(&self.activities);
        let mut feed = Feed::new((stream, &self.board), &ledger, since, activities)?;
        loop {
            let before = bell.count();
            // Looked at first: all that happened before it was over is told.
            let is_over = self.is_over.load(Ordering::SeqCst);
            feed.tell()?;
            if is_over || has_left(stream) {
                return Ok(());
            }
            bell.wait(before, LOOK_AGAIN);
        }
    }

    /// Gives them a moment to hear how it ended; one that does not read has had its chance.
    pub(super) fn see_off(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.activities.bell().ring();
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
        self.watchers.count.fetch_sub(1, Ordering::SeqCst);
        self.watchers.gone.ring();
    }
}

/// Whether a watcher is gone. What it says is not read any more, and thrown away so that its end can be seen behind it.
fn has_left(stream: &UnixStream) -> bool {
    let mut thrown_away = [0u8; THROWN_AWAY];
    for _ in 0..LINE_MAX / THROWN_AWAY as u64 {
        match rustix::net::recv(stream, &mut thrown_away, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    // Nobody who watches has so much to say.
    true
}
