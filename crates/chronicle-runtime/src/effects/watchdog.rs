//! Watches one attempt for silence, and for an agent that does not exit after its turn; also drives the recording of active time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::worked;
use crate::clock::Ticks;

/// How long an agent may take to exit after its terminal event.
const LINGER: Duration = Duration::from_secs(5);

/// How long it may take to end its turn when it is asked to in its own protocol; then it is told by a signal.
pub(super) const INTERRUPT_PATIENCE: Duration = Duration::from_secs(1);

/// How long an agent may be silent before it has proven its guard, or take once nothing can delay that: less where twice `limits.idle` is
/// less, since to begin takes longer than anything later. And how long it may take in all: hooks and extensions of its user's own may
/// run before.
const PROOF_SILENCE: Duration = Duration::from_mins(1);
const PROOF_PATIENCE: Duration = Duration::from_mins(10);

/// Shared by the agent's reader and the watching thread.
#[derive(Clone)]
pub(super) struct Watchdog {
    shared: Arc<(Mutex<LastSigns>, Condvar)>,
}

struct LastSigns {
    last: Instant,
    /// Open questions to a person: silence is expected meanwhile.
    questions: BTreeSet<String>,
    /// Until when the agent waits for the answers to some of them.
    until: BTreeMap<String, Instant>,
    finished: Option<Instant>,
    has_lingered: bool,
    /// Until when it must have proven its guard; `None` if it has, or need not.
    unproven: Option<Instant>,
    /// When it was asked to end its turn, until it is told by a signal.
    told_to_end: Option<Instant>,
    over: bool,
    /// How long it may be silent before it has proven its guard.
    proof_silence: Duration,
}

/// What a watchdog reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bark {
    /// There was no output for too long.
    Idle,
    /// The turn has ended but the process has not.
    Lingers,
    /// It was asked to end its turn, and lives.
    Deaf,
    /// The agent waits no longer for the answer to this question.
    TimedOut(String),
    /// It has not proven its guard.
    Unproven,
    /// Another interval has passed.
    Moment,
}

impl Watchdog {
    pub(super) fn new(must_prove: bool, idle: Option<Duration>) -> Self {
        let seen = LastSigns {
            last: Instant::now(),
            unproven: must_prove.then(|| Instant::now() + PROOF_PATIENCE),
            questions: BTreeSet::new(),
            until: BTreeMap::new(),
            finished: None,
            has_lingered: false,
            told_to_end: None,
            over: false,
            proof_silence: idle
                .map_or(PROOF_SILENCE, |idle| idle.saturating_mul(2).min(PROOF_SILENCE)),
        };
        Self { shared: Arc::new((Mutex::new(seen), Condvar::new())) }
    }

    /// Something meaningful was printed.
    pub(super) fn heard(&self) {
        // Without waking the watcher: this only moves a deadline away, which is worked out anew when the old one comes. An
        // agent's reader calls it all the time.
        self.lock().last = Instant::now();
    }

    /// The agent asked a person.
    pub(super) fn asks(&self, request: &str) {
        self.lock().questions.insert(request.to_owned());
        self.shared.1.notify_one();
    }

    /// It waits for the answer to a question for so long, counted from now: its own clock began before.
    pub(super) fn waits(&self, request: &str, most: Duration) {
        if let Some(until) = Instant::now().checked_add(most) {
            self.lock().until.insert(request.to_owned(), until);
            self.shared.1.notify_one();
        }
    }

    /// A person answered, or it waits no longer.
    pub(super) fn answered(&self, request: &str) {
        let mut seen = self.lock();
        seen.questions.remove(request);
        seen.until.remove(request);
        // Its silence begins here. While it waited for a person it had nothing to say.
        seen.last = Instant::now();
        drop(seen);
        self.shared.1.notify_one();
    }

    /// The agent's terminal event came.
    pub(super) fn finished(&self) {
        // The first time counts: an agent that says repeatedly that it is finished must not prolong its stay.
        self.lock().finished.get_or_insert_with(Instant::now);
        self.shared.1.notify_one();
    }

    /// It has proven its guard, or need not any more.
    pub(super) fn proven(&self) {
        self.lock().unproven = None;
        self.shared.1.notify_one();
    }

    /// Nothing can delay the proof any more. The first time counts.
    pub(super) fn proof_is_due(&self) {
        let mut seen = self.lock();
        let due = Instant::now() + seen.proof_silence;
        seen.unproven = seen.unproven.map(|at| at.min(due));
        drop(seen);
        self.shared.1.notify_one();
    }

    /// It was asked to end its turn.
    pub(super) fn told_to_end(&self) {
        self.lock().told_to_end = Some(Instant::now());
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
        let mut interval = worked::next_interval(None);
        let mut moment = Instant::now() + interval;
        let mut ticks = Ticks::from(Instant::now());
        let mut seen = self.lock();
        while !seen.over {
            // Whoever was stopped has heard nothing, whatever was said. At least once per interval, which is a tick at most.
            let missed = ticks.missed(Instant::now());
            seen.last += missed;
            seen.unproven = seen.unproven.map(|at| at + missed);
            let next = next_bark(&seen, idle).filter(|(at, _)| *at < moment);
            let next = next.unwrap_or((moment, Bark::Moment));
            let now = Instant::now();
            seen = match next {
                (at, reason) if at <= now => {
                    match &reason {
                        // Restarts the limit, so that lasting silence is reported again: the engine may have ignored the first
                        // report because a question was open.
                        Bark::Idle => seen.last = now,
                        Bark::Lingers => seen.has_lingered = true,
                        Bark::Deaf => seen.told_to_end = None,
                        // Its silence begins here. If it works all the same, it has only now something to say.
                        Bark::Unproven => (seen.unproven, seen.last) = (None, now),
                        Bark::TimedOut(request) => drop(seen.until.remove(request)),
                        Bark::Moment => {
                            interval = worked::next_interval(Some(interval));
                            // From now and not from the last one: after this process was stopped, the moments that it missed are
                            // not made up for.
                            moment = now + interval;
                        }
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

    fn lock(&self) -> MutexGuard<'_, LastSigns> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes next, if nothing else happens before.
fn next_bark(seen: &LastSigns, idle: Option<Duration>) -> Option<(Instant, Bark)> {
    let timed_out = seen.until.iter().map(|(request, at)| (*at, Bark::TimedOut(request.clone())));
    let deaf = seen.told_to_end.map(|at| (at + INTERRUPT_PATIENCE, Bark::Deaf));
    let lingers = seen.finished.filter(|_| !seen.has_lingered);
    let lingers = lingers.map(|at| (at + LINGER, Bark::Lingers));
    let unproven = seen.unproven.filter(|_| seen.finished.is_none() && seen.told_to_end.is_none());
    let unproven = unproven.map(|at| (at.min(seen.last + seen.proof_silence), Bark::Unproven));
    // Silence while a person is asked, or after the turn, is not the agent's fault. Before its guard is proven it has nothing to do.
    let may_rest = seen.finished.is_some() || !seen.questions.is_empty() || seen.unproven.is_some();
    let silence = idle.filter(|_| !may_rest).and_then(|idle| seen.last.checked_add(idle));
    let silence = silence.map(|at| (at, Bark::Idle));
    timed_out.chain(deaf).chain(lingers).chain(unproven).chain(silence).min_by_key(|(at, _)| *at)
}
