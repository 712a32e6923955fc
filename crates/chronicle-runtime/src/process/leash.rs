//! Ends tools that would not end by themselves: one that waits for a named pipe, or one whose result nobody waits for any longer.
//!
//! Whoever asks several tools holds one leash for all of them, and learns from it that one was ended even where a single answer
//! would only be missing.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::table::{self, Process};

/// How often a tool is looked at while it runs.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a tool may still take once its run is to rest.
const HURRY_GRACE: Duration = Duration::from_secs(20);

/// Why a tool was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It waited for somebody to open the other end of a named pipe.
    Pipe,
    /// The run was told to rest, and the tool took too long for that.
    GivenUp,
}

/// Held by whoever asks tools.
#[derive(Debug, Clone, Default)]
pub struct Leash(Arc<Mutex<LeashState>>);

#[derive(Debug)]
struct LeashState {
    /// Since when tools are to hurry; `None` while each has all its time.
    hurried: Option<Instant>,
    /// How long one may still take then.
    grace: Duration,
    cut: Option<Cut>,
}

impl Default for LeashState {
    fn default() -> Self {
        Self { hurried: None, grace: HURRY_GRACE, cut: None }
    }
}

impl Leash {
    /// Gives tools only a short time from now on, or all their time again.
    pub(crate) fn hurry(&self, is_hurried: bool) {
        self.with(|state| match (is_hurried, state.hurried) {
            (true, None) => state.hurried = Some(Instant::now()),
            (true, Some(_)) => {}
            (false, _) => state.hurried = None,
        });
    }

    /// Notes that a tool was ended, or must not be started.
    pub(crate) fn note(&self, cut: Cut) {
        self.with(|state| state.cut = Some(cut));
    }

    /// Why the last tool was ended that was; asked once.
    pub(crate) fn take(&self) -> Option<Cut> {
        self.with(|state| state.cut.take())
    }

    fn is_over(&self, began: Instant) -> bool {
        // Counted from the later of the two: work that begins after the run was told to rest has its time too.
        self.with(|state| {
            let since = state.hurried.map(|hurried| hurried.max(began));
            since.is_some_and(|since| since.elapsed() >= state.grace)
        })
    }

    /// One whose tools are ended at the first look.
    #[cfg(test)]
    pub(super) fn without_grace() -> Self {
        let state = LeashState { grace: Duration::ZERO, ..LeashState::default() };
        let leash = Self(Arc::new(Mutex::new(state)));
        leash.hurry(true);
        leash
    }

    fn with<T>(&self, act: impl FnOnce(&mut LeashState) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<Cut> for io::Error {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Pipe => Self::new(io::ErrorKind::Deadlock, "it waits for a named pipe"),
            Cut::GivenUp => Self::new(io::ErrorKind::Interrupted, "it was given up"),
        }
    }
}

/// Looks at one running tool and everything below it.
pub(super) struct Lookout {
    pid: u32,
    leash: Leash,
    began: Instant,
    waiting: Vec<Process>,
}

impl Lookout {
    pub(super) fn new(pid: u32, leash: &Leash) -> Self {
        Self { pid, leash: leash.clone(), began: Instant::now(), waiting: Vec::new() }
    }

    /// Why it is to be ended now.
    pub(super) fn look(&mut self) -> Option<Cut> {
        let cut = if self.leash.is_over(self.began) {
            Some(Cut::GivenUp)
        } else {
            // Seen twice: a pipe whose other end comes at once is no standstill.
            let waiting = self.waiting();
            let is_stuck = waiting.iter().any(|process| self.waiting.contains(process));
            self.waiting = waiting;
            is_stuck.then_some(Cut::Pipe)
        };
        if let Some(cut) = cut {
            self.leash.note(cut);
        }
        cut
    }

    fn waiting(&self) -> Vec<Process> {
        let mut all = table::below(self.pid, &table::all());
        all.extend(table::read(self.pid));
        all.retain(|process| table::waits_for_pipe(*process));
        all
    }
}
