//! One watcher, as its thread sees it. Events are read from the ledger, so that a slow watcher misses none and delays nobody; of
//! views and activity it gets the latest.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::view::{self, TimelineEntry, VIEW_VERSION};

use super::board::Board;
use super::wire::{self, Reply, RunUpdate};
use crate::activity::Activities;
use crate::ledger::{Ledger, Lines};

/// Most bytes of entries in one update; at least one line is sent.
const UPDATE_BYTES: u64 = 1024 * 1024;

/// How far a watcher is.
pub(super) struct Feed<'a> {
    board: &'a Board,
    stream: &'a UnixStream,
    lines: Box<dyn Lines>,
    since: u64,
    /// Number of the last view that it got.
    viewed: Option<u64>,
    activities: Option<(&'a Activities, BTreeMap<AttemptId, u64>)>,
}

impl<'a> Feed<'a> {
    /// For a watcher that knows everything up to that line.
    pub(super) fn new(
        stream: &'a UnixStream,
        board: &'a Board,
        ledger: &dyn Ledger,
        since: u64,
        activities: Option<&'a Activities>,
    ) -> io::Result<Self> {
        let activities = activities.map(|it| (it, BTreeMap::new()));
        let lines = ledger.read(board.before(since)).map_err(io::Error::other)?;
        Ok(Self { board, stream, lines, since, viewed: None, activities })
    }

    /// Sends everything that is new.
    pub(super) fn tell(&mut self) -> io::Result<()> {
        while let Some(update) = self.update()? {
            self.write(&Reply::Update(update))?;
        }
        let news = self.activities.as_mut().map(|(activities, seen)| activities.since(seen));
        for activity in news.unwrap_or_default() {
            self.write(&Reply::Activity(activity))?;
        }
        Ok(())
    }

    /// The next update; `None` if all was sent.
    fn update(&mut self) -> io::Result<Option<RunUpdate>> {
        loop {
            // Asked again for each portion: while a slow watcher takes one, more may have been synced.
            let (synced, view) = self.board.now();
            let entries = self.read(synced)?;
            let is_caught_up = self.lines.head().seq >= synced;
            // A view is sent only after all lines that it includes: a watcher must never see a status before the event that led
            // to it.
            let view = view.filter(|(count, _)| is_caught_up && self.viewed < Some(*count));
            self.viewed = view.as_ref().map(|(count, _)| *count).or(self.viewed);
            let view = view.map(|(_, view)| view);
            if !entries.is_empty() || view.is_some() {
                let seq = self.lines.head().seq;
                return Ok(Some(RunUpdate { v: VIEW_VERSION, seq, entries, view }));
            }
            if is_caught_up {
                return Ok(None);
            }
        }
    }

    /// Some of the synced lines, and not one line more: later lines may still be lost in a power cut.
    fn read(&mut self, synced: u64) -> io::Result<Vec<TimelineEntry>> {
        let (mut entries, mut length) = (Vec::new(), Length(0));
        if self.lines.head().seq < synced {
            // A reader that came to the end stays there until it is made to look again. This does not wait: the lines are there.
            self.lines.wait(Duration::ZERO).map_err(io::Error::other)?;
        }
        // Never beyond what is synced: a line that a power cut takes back must not have been shown. And in portions, so that a
        // long history is not held in memory at once.
        while self.lines.head().seq < synced && length.0 < UPDATE_BYTES {
            let lost = || io::Error::other("the ledger has lost lines that were on disk");
            let (line, _) = self.lines.next().ok_or_else(lost)?.map_err(io::Error::other)?;
            // Reading begins at a head that is at or before the line that the watcher knows, so some lines are passed over.
            if line.seq > self.since {
                let told = view::timeline(&line);
                // Measured by writing to nowhere; a count of entries says little about their size.
                serde_json::to_writer(&mut length, &told)?;
                entries.extend(told);
            }
        }
        Ok(entries)
    }

    fn write(&self, reply: &Reply) -> io::Result<()> {
        wire::write(&mut &*self.stream, reply)
    }
}

/// Counts bytes instead of writing them.
struct Length(u64);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
