//! What the driver publishes for watchers: how far the ledger is synced, and the current view. Publishing never waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::view::RunView;

use crate::ledger::Head;

/// How many heads are remembered: a watcher that knows a later line need not read the ledger from its start.
const HEADS_MAX: usize = 4_096;

/// The latest of everything.
#[derive(Default)]
pub(super) struct Board {
    news: Mutex<BoardNews>,
}

#[derive(Default)]
struct BoardNews {
    /// Heads after each sync, latest last.
    heads: VecDeque<Head>,
    /// The latest view, and how many there were before.
    view: Option<(u64, Arc<RunView>)>,
}

impl Board {
    /// A board for a ledger that is synced up to this head.
    pub(super) fn new(head: Head) -> Self {
        let news = BoardNews { heads: VecDeque::from([head]), view: None };
        Self { news: Mutex::new(news) }
    }

    pub(super) fn synced(&self, head: Head) {
        let mut news = self.news();
        // Heads only save reading from the start. A watcher that is further behind reads from the first line instead.
        if news.heads.len() >= HEADS_MAX {
            news.heads.pop_front();
        }
        news.heads.push_back(head);
    }

    pub(super) fn stands(&self, view: Arc<RunView>) {
        let mut news = self.news();
        // Numbered, so that each watcher knows whether it has this view already, without comparing views.
        let count = news.view.as_ref().map_or(0, |(count, _)| count + 1);
        news.view = Some((count, view));
    }

    /// The last synced line, and the latest view with its number.
    pub(super) fn now(&self) -> (u64, Option<(u64, Arc<RunView>)>) {
        let news = self.news();
        // Both under one lock: the driver publishes the head before the view, so a view is never newer than the head beside it.
        (news.heads.back().map_or(0, |head| head.seq), news.view.clone())
    }

    /// Where to start reading for a watcher that knows everything up to that line.
    pub(super) fn before(&self, since: u64) -> Head {
        let news = self.news();
        // The latest head that is not after the known line: an earlier one costs reading, a later one would skip lines.
        let known = news.heads.iter().rev().find(|head| head.seq <= since);
        known.copied().unwrap_or(Head::EMPTY)
    }

    fn news(&self) -> MutexGuard<'_, BoardNews> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_begins_at_the_last_head_that_is_known() {
        let at = |seq: u64| Head { seq, ..Head::EMPTY };
        let board = Board::new(at(5));
        board.synced(at(8));
        let begins = [0, 4, 5, 7, 8, u64::MAX].map(|since| board.before(since).seq);
        assert_eq!(begins, [0, 0, 5, 5, 8, 8]);
        for seq in 9..9 + HEADS_MAX as u64 {
            board.synced(at(seq));
        }
        assert_eq!((board.before(8).seq, board.before(9).seq), (0, 9));
        assert_eq!(board.now().0, 8 + HEADS_MAX as u64);
    }
}
