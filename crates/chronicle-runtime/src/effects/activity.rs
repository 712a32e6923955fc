//! The live, lossy side of attempts: what they said last. Never in the state or the ledger, never decided on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::limits::bounded;

/// Longest last word that is kept.
const LAST_MAX: usize = 300;

/// What an attempt does just now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Lines it printed.
    pub lines: u64,
    /// Bytes it printed.
    pub bytes: u64,
    /// What it said or did last.
    pub last: String,
}

/// The activity of every live attempt; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activities {
    shared: Arc<Mutex<BTreeMap<AttemptId, Activity>>>,
}

impl Activities {
    /// What an attempt does just now.
    pub(crate) fn of(&self, attempt: AttemptId) -> Option<Activity> {
        self.lock().get(&attempt).cloned()
    }

    pub(super) fn line(&self, attempt: AttemptId, bytes: usize) {
        let mut shared = self.lock();
        let activity = shared.entry(attempt).or_default();
        activity.lines += 1;
        activity.bytes = activity.bytes.saturating_add(bytes as u64);
    }

    pub(super) fn last(&self, attempt: AttemptId, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.lock().entry(attempt).or_default().last = bounded(text, LAST_MAX);
        }
    }

    pub(super) fn retain(&self, keep: impl Fn(AttemptId) -> bool) {
        self.lock().retain(|attempt, _| keep(*attempt));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AttemptId, Activity>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
