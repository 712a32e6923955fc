//! Watches one attempt for silence, and for an agent that does not exit after its turn; also drives the recording of active time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::worked;

/// How long an agent may take to exit after its terminal event.
const LINGER: Duration = Duration::from_secs(5);

/// Shared by the agent's reader and the watching thread.
#[derive(Clone)]
pub(super) struct Watchdog {
    shared: Arc<(Mutex<Seen>, Condvar)>,
}

struct Seen {
    last: Instant,
    /// Open questions to a person: silence is expected meanwhile.
    questions: u32,
    finished: Option<Instant>,
    over: bool,
}

/// What a watchdog reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bark {
    /// There was no output for too long.
    Idle,
    /// The turn has ended but the process has not.
    Lingers,
    /// Another interval has passed.
    Moment,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        let seen = Seen { last: Instant::now(), questions: 0, finished: None, over: false };
        Self { shared: Arc::new((Mutex::new(seen), Condvar::new())) }
    }

    /// Something meaningful was printed.
    pub(super) fn heard(&self) {
        self.lock().last = Instant::now();
    }

    /// The agent asked a person.
    pub(super) fn asks(&self) {
        self.lock().questions += 1;
        self.shared.1.notify_one();
    }

    pub(super) fn answered(&self) {
        let mut seen = self.lock();
        seen.questions = seen.questions.saturating_sub(1);
        seen.last = Instant::now();
        drop(seen);
        self.shared.1.notify_one();
    }

    /// The agent's terminal event came.
    pub(super) fn finished(&self) {
        self.lock().finished.get_or_insert_with(Instant::now);
        self.shared.1.notify_one();
    }

    /// The agent has exited.
    pub(super) fn over(&self) {
        self.lock().over = true;
        self.shared.1.notify_one();
    }

    /// Watches until the agent has exited. Silence is reported once per limit, for as long as it lasts: the receiver may know of
    /// a question that was asked elsewhere. Lingering is reported once.
    pub(super) fn watch(&self, idle: Option<Duration>, mut bark: impl FnMut(Bark)) {
        let mut has_lingered = false;
        let mut moment = Instant::now() + worked::EVERY;
        let mut seen = self.lock();
        while !seen.over {
            let next = next_bark(&seen, idle, has_lingered).filter(|(at, _)| *at < moment);
            let next = next.unwrap_or((moment, Bark::Moment));
            let now = Instant::now();
            seen = match next {
                (at, reason) if at <= now => {
                    match reason {
                        // Restarts the limit, so that lasting silence is reported again: the engine may have ignored the first
                        // report because a question was open.
                        Bark::Idle => seen.last = now,
                        Bark::Lingers => has_lingered = true,
                        Bark::Moment => moment = now + worked::EVERY,
                    }
                    drop(seen);
                    // Without the lock: reporting waits for the driver, and the reader must not wait for that to say that it
                    // heard something.
                    bark(reason);
                    self.lock()
                }
                (at, _) => {
                    let woken = self.shared.1.wait_timeout(seen, at - now);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn next_bark(seen: &Seen, idle: Option<Duration>, has_lingered: bool) -> Option<(Instant, Bark)> {
    match (seen.finished, idle) {
        // After the terminal event silence is expected; only the exit is still awaited.
        (Some(at), _) if !has_lingered => Some((at + LINGER, Bark::Lingers)),
        (None, Some(idle)) if seen.questions == 0 => {
            Some((seen.last.checked_add(idle)?, Bark::Idle))
        }
        (Some(_) | None, _) => None,
    }
}
