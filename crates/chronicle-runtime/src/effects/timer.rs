//! Timers on active time: one thread for all, with the next deadline in its hand.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chronicle_core::effect::{Action, Effect};
use chronicle_core::ids::{AttemptId, Cause};
use chronicle_core::input::{Report, TimerKind};

use crate::driver::{Message, reported};
use crate::fail::{self, Point};

type Key = (Cause, AttemptId, TimerKind);

/// The timers that run. Each fires once; one that is no longer due is forgotten.
pub(super) struct Timers {
    shared: Arc<Shared>,
    inbox: SyncSender<Message>,
    has_thread: bool,
}

#[derive(Default)]
struct Shared {
    board: Mutex<Board>,
    changed: Condvar,
}

#[derive(Default)]
struct Board {
    /// The deadline; none once it has fired.
    deadlines: BTreeMap<Key, Option<Instant>>,
    over: bool,
}

impl Timers {
    pub(super) fn new(inbox: SyncSender<Message>) -> Self {
        Self { shared: Arc::default(), inbox, has_thread: false }
    }

    /// Runs exactly the timers that are due.
    pub(super) fn keep(&mut self, due: &[Effect]) {
        let wanted: BTreeMap<Key, u64> = due
            .iter()
            .filter_map(|effect| match effect.action {
                Action::RunTimer { attempt, timer, active_ms } => {
                    Some(((effect.cause, attempt, timer), active_ms))
                }
                Action::RunAttempt(_)
                | Action::StopAttempt(_)
                | Action::Tell(..)
                | Action::RecordTree(_)
                | Action::RestoreTree => None,
            })
            .collect();
        if wanted.is_empty() && !self.has_thread {
            return;
        }
        let mut board = lock(&self.shared.board);
        board.deadlines.retain(|key, _| wanted.contains_key(key));
        for (key, ms) in wanted {
            let deadline = Instant::now().checked_add(Duration::from_millis(ms));
            board.deadlines.entry(key).or_insert_with(|| {
                fail::at(Point::BeforeTimer);
                deadline
            });
        }
        drop(board);
        self.shared.changed.notify_one();
        self.start_thread();
    }

    fn start_thread(&mut self) {
        if !self.has_thread {
            let (shared, inbox) = (Arc::clone(&self.shared), self.inbox.clone());
            let spawned = std::thread::Builder::new().name("timers".to_owned());
            self.has_thread = spawned.spawn(move || run(&shared, &inbox)).is_ok();
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        lock(&self.shared.board).over = true;
        self.shared.changed.notify_one();
    }
}

fn run(shared: &Shared, inbox: &SyncSender<Message>) {
    let mut board = lock(&shared.board);
    while !board.over {
        let now = Instant::now();
        let passed = board.deadlines.iter_mut().find(|(_, at)| at.is_some_and(|at| at <= now));
        if let Some(((_, attempt, timer), at)) = passed {
            let (attempt, timer) = (*attempt, *timer);
            *at = None;
            drop(board);
            fail::at(Point::AfterTimer);
            let input = reported(Report::TimerFired { attempt, timer });
            if inbox.send(Message::Input(Box::new(input), None)).is_err() {
                return;
            }
            board = lock(&shared.board);
            continue;
        }
        let next = board.deadlines.values().flatten().min().copied();
        board = match next {
            Some(at) => {
                let wait = at.saturating_duration_since(now);
                shared.changed.wait_timeout(board, wait).unwrap_or_else(PoisonError::into_inner).0
            }
            None => shared.changed.wait(board).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
