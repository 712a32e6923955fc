//! One watcher, as its thread sees it. What happened is read from the ledger, so that however slow it is nothing is missing and
//! nothing waits for it; of views and activity it gets the newest.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::view::{self, TimelineEntry, VIEW_VERSION};

use super::board::Board;
use super::wire::{self, Reply, RunUpdate};
use crate::activity::Activities;
use crate::ledger::{Ledger, Tail};

/// How many bytes of the ledger go into one update, and at least one line.
const UPDATE_BYTES: u64 = 1024 * 1024;

/// How far a watcher is.
pub(super) struct Feed<'a> {
    board: &'a Board,
    stream: &'a UnixStream,
    tail: Tail,
    since: u64,
    /// The number of the last view that it got.
    viewed: Option<u64>,
    activities: Option<(&'a Activities, BTreeMap<AttemptId, u64>)>,
}

impl<'a> Feed<'a> {
    /// For somebody who knows all up to that line.
    pub(super) fn new(
        (stream, board): (&'a UnixStream, &'a Board),
        ledger: &dyn Ledger,
        since: u64,
        activities: Option<&'a Activities>,
    ) -> Self {
        let activities = activities.map(|it| (it, BTreeMap::new()));
        let tail = ledger.tail(board.before(since));
        Self { board, stream, tail, since, viewed: None, activities }
    }

    /// Tells all that is new.
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

    /// The next update; none when all was told.
    fn update(&mut self) -> io::Result<Option<RunUpdate>> {
        loop {
            let (synced, view) = self.board.now();
            let entries = self.read(synced)?;
            let is_caught_up = self.tail.head().seq >= synced;
            let view = view.filter(|(count, _)| is_caught_up && self.viewed < Some(*count));
            self.viewed = view.as_ref().map(|(count, _)| *count).or(self.viewed);
            let view = view.map(|(_, view)| view);
            if !entries.is_empty() || view.is_some() {
                let seq = self.tail.head().seq;
                return Ok(Some(RunUpdate { v: VIEW_VERSION, seq, entries, view }));
            }
            if is_caught_up {
                return Ok(None);
            }
        }
    }

    /// Some of what is on disk by now, and not one line more: what is behind it may still be undone by a power cut.
    fn read(&mut self, synced: u64) -> io::Result<Vec<TimelineEntry>> {
        let (mut entries, end) = (Vec::new(), self.tail.head().bytes + UPDATE_BYTES);
        while self.tail.head().seq < synced && self.tail.head().bytes < end {
            let Some((line, _)) = self.tail.poll().map_err(io::Error::other)? else {
                return Err(io::Error::other("the ledger has lost lines that were on disk"));
            };
            if line.seq > self.since {
                entries.extend(view::timeline(&line));
            }
        }
        Ok(entries)
    }

    fn write(&self, reply: &Reply) -> io::Result<()> {
        wire::write(&mut &*self.stream, reply)
    }
}
