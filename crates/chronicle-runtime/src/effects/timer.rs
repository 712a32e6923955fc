//! Timers: one thread for all of them, which exists before the first agent: a timer that could not run would be a limit that
//! does not hold.
//!
//! Active time stops while the machine sleeps, and so do its deadlines. A wall-clock deadline may pass through a clock change or
//! while the machine slept, which a wait on active time would not notice: it is checked periodically.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chronicle_core::base::ids::{AttemptId, Cause};
use chronicle_core::base::time::Millis;
use chronicle_core::event::input::{Report, TimerKind};
use chronicle_core::state::effect::{Action, Effect};

use crate::clock::{self, TICK, Ticks};
use crate::fail::{self, Point};
use crate::inbox::{InboxMessage, reported};
use crate::threads;

/// How often wall-clock deadlines are checked, at least.
const WALL_CHECK: Duration = TICK;

type TimerKey = (Cause, AttemptId, TimerKind);

/// The running timers. Each fires once; one that is no longer due is dropped.
pub(super) struct Timers {
    shared: Arc<TimerState>,
}

#[derive(Default)]
struct TimerState {
    board: Mutex<TimerBoard>,
    changed: Condvar,
}

#[derive(Default)]
struct TimerBoard {
    deadlines: BTreeMap<TimerKey, Deadline>,
    over: bool,
}

/// When a timer fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deadline {
    /// After that much active time; `None` if it is too far away.
    Active(Option<Instant>),
    /// At a wall-clock time.
    Wall(Millis),
    /// It has already fired.
    Fired,
}

impl Deadline {
    fn has_passed(self, now: Instant, wall: Millis) -> bool {
        match self {
            Self::Active(at) => at.is_some_and(|at| at <= now),
            Self::Wall(at) => at <= wall,
            // Stays on the board until it is no longer due. Without it the same timer would be started again at once.
            Self::Fired => false,
        }
    }

    /// Time until it may fire; `None` if never.
    fn left(self, now: Instant, wall: Millis) -> Option<Duration> {
        match self {
            Self::Active(at) => Some(at?.saturating_duration_since(now)),
            Self::Wall(at) => {
                // Never sleep longer than the check interval: the clock may be set, or the machine may sleep.
                Some(Duration::from_millis(at.0.saturating_sub(wall.0)).min(WALL_CHECK))
            }
            Self::Fired => None,
        }
    }

    /// Active time did not pass while this process was stopped.
    fn postpone(&mut self, missed: Duration) {
        if let Self::Active(at) = self {
            *at = at.and_then(|at| at.checked_add(missed));
        }
    }
}

/// Deadline of a timer effect; `None` for other effects.
fn deadline_of(effect: &Effect, now: Instant) -> Option<(TimerKey, Deadline)> {
    if let Action::RunTimer { attempt, timer, active_ms } = effect.action {
        let at = now.checked_add(Duration::from_millis(active_ms));
        return Some(((effect.cause, attempt, timer), Deadline::Active(at)));
    }
    if let Action::WaitUntil { attempt, until } = effect.action {
        return Some(((effect.cause, attempt, TimerKind::Wait), Deadline::Wall(until)));
    }
    None
}

impl Timers {
    pub(super) fn new(inbox: SyncSender<InboxMessage>) -> io::Result<Self> {
        let shared: Arc<TimerState> = Arc::default();
        let board = Arc::clone(&shared);
        // One thread for all: a run has a handful of timers for each attempt, and each of them mostly sleeps.
        threads::spawn("timers", move || run(&board, &inbox))?;
        Ok(Self { shared })
    }

    /// Runs exactly the timers that are due.
    pub(super) fn keep(&self, due: &[Effect]) {
        let now = Instant::now();
        let wanted: BTreeMap<TimerKey, Deadline> =
            due.iter().filter_map(|effect| deadline_of(effect, now)).collect();
        let mut board = lock(&self.shared.board);
        // Timers that are still due keep their deadline. Only the cause in the key tells a restarted timer from the same one.
        board.deadlines.retain(|key, _| wanted.contains_key(key));
        for (key, deadline) in wanted {
            board.deadlines.entry(key).or_insert_with(|| {
                fail::at(Point::BeforeTimer);
                deadline
            });
        }
        drop(board);
        // After the lock is given back: the thread that wakes up takes it first of all.
        self.shared.changed.notify_one();
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        lock(&self.shared.board).over = true;
        self.shared.changed.notify_one();
    }
}

fn run(shared: &TimerState, inbox: &SyncSender<InboxMessage>) {
    let mut board = lock(&shared.board);
    let mut ticks = Ticks::from(Instant::now());
    while !board.over {
        let (now, wall) = (Instant::now(), clock::now());
        let missed = ticks.missed(now);
        board.deadlines.values_mut().for_each(|at| at.postpone(missed));
        // One at a time: the lock is given up to report it, and the board may be another one afterwards.
        let passed = board.deadlines.iter_mut().find(|(_, at)| at.has_passed(now, wall));
        if let Some(((_, attempt, timer), at)) = passed {
            let (attempt, timer) = (*attempt, *timer);
            // Marked before sending: the driver may take a while to decide, and the timer stays due until then.
            *at = Deadline::Fired;
            drop(board);
            // Without the lock: the inbox may be full, and the driver, which alone makes room in it, takes this lock in `keep`.
            fail::at(Point::AfterTimer);
            let input = reported(Report::TimerFired { attempt, timer });
            if inbox.send(InboxMessage::Input(Box::new(input), None)).is_err() {
                return;
            }
            board = lock(&shared.board);
            continue;
        }
        let next = board.deadlines.values().filter_map(|at| at.left(now, wall)).min();
        board = if let Some(wait) = next {
            // At least once per tick, however far the next deadline is: only from regular looks can a stopped process be told.
            let woken = shared.changed.wait_timeout(board, wait.min(TICK));
            woken.unwrap_or_else(PoisonError::into_inner).0
        } else {
            let woken = shared.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
            // There was no timer that could have missed anything.
            ticks = Ticks::from(Instant::now());
            woken
        };
    }
}

fn lock(board: &Mutex<TimerBoard>) -> MutexGuard<'_, TimerBoard> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_wall_is_seen_after_any_jump_or_sleep() {
        let now = Instant::now();
        let at = Deadline::Wall(Millis(3_600_000));
        // However long it is: it is looked at again soon, since the clock may jump and the machine may sleep.
        assert_eq!(at.left(now, Millis(0)), Some(WALL_CHECK));
        assert!(!at.has_passed(now, Millis(3_599_999)));
        assert_eq!(at.left(now, Millis(3_599_999)), Some(Duration::from_millis(1)));
        // Forward, in a jump: it has come, though no active time passed.
        assert!(at.has_passed(now, Millis(9_000_000)));
        // And back: it has not come yet.
        assert!(!at.has_passed(now, Millis(1_000)));
    }

    #[test]
    fn active_time_does_not_care_for_the_wall() {
        let now = Instant::now();
        let at = Deadline::Active(now.checked_add(Duration::from_mins(1)));
        assert!(!at.has_passed(now, Millis(u64::MAX)));
        assert_eq!(at.left(now, Millis(u64::MAX)), Some(Duration::from_mins(1)));
        assert_eq!(Deadline::Active(None).left(now, Millis(0)), None);
        assert_eq!(Deadline::Fired.left(now, Millis(0)), None);
        assert!(!Deadline::Fired.has_passed(now, Millis(u64::MAX)));
    }

    #[test]
    fn time_in_which_nothing_ran_postpones_active_time_alone() {
        let now = Instant::now();
        let (mut active, mut wall) =
            (Deadline::Active(now.checked_add(Duration::from_mins(1))), Deadline::Wall(Millis(7)));
        active.postpone(Duration::from_hours(1));
        wall.postpone(Duration::from_hours(1));
        assert_eq!(active.left(now, Millis(0)), Some(Duration::from_mins(61)));
        assert!(wall.has_passed(now, Millis(7)));
    }
}
