//! The live, lossy side of attempts: what they say and do. Never in the state or the ledger, never decided on.
//!
//! Each attempt has one bounded ring, however many watch. A watcher knows how far it is and takes what came since; one that is too
//! slow finds the oldest gone, and how much of it. So nobody who writes here ever waits for a watcher.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::limits::bounded;
use serde::{Deserialize, Serialize};

use crate::bell::Bell;

/// Longest last word that is kept.
const LAST_MAX: usize = 300;
/// Longest text of one bit.
const BIT_MAX: usize = 16 * 1024;
/// Most bytes of one attempt's bits, and so the most that a watcher can lag behind.
const RING_BYTES: usize = 256 * 1024;
/// What a bit costs beside its text.
const BIT_COST: usize = 64;

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

/// One thing that an attempt said or did. Secrets were taken out of it when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Bit {
    /// It said this.
    Said(String),
    /// It thought this.
    Thought(String),
    /// It called this tool.
    Tool(String),
    /// It changed this file.
    File(String),
    /// It runs this command.
    Ran(String),
    /// A command printed this line.
    Printed(String),
    /// Something went wrong, and it tries again by itself.
    Retries(String),
}

/// What came since a watcher looked last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunActivity {
    /// Of which attempt.
    pub attempt: AttemptId,
    /// The number of the first bit; they count from 0 in each attempt.
    pub at: u64,
    /// How many before it this watcher has not been told.
    pub dropped: u64,
    /// The bits, in order.
    pub bits: Vec<Bit>,
}

/// The activity of every live attempt; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activities {
    shared: Arc<Mutex<BTreeMap<AttemptId, Doing>>>,
    bell: Bell,
}

#[derive(Debug, Default)]
struct Doing {
    now: Activity,
    ring: Ring,
}

/// The newest bits of one attempt.
#[derive(Debug, Default)]
struct Ring {
    /// The number of the oldest that is here.
    first: u64,
    bits: VecDeque<Bit>,
    bytes: usize,
}

impl Activities {
    /// What an attempt does just now.
    pub(crate) fn of(&self, attempt: AttemptId) -> Option<Activity> {
        self.lock().get(&attempt).map(|doing| doing.now.clone())
    }

    /// Rings whenever something was done.
    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// What is new to somebody who has seen each attempt up to there.
    pub(crate) fn since(&self, seen: &mut BTreeMap<AttemptId, u64>) -> Vec<RunActivity> {
        let shared = self.lock();
        seen.retain(|attempt, _| shared.contains_key(attempt));
        let mut news = Vec::new();
        for (attempt, doing) in &*shared {
            let seen = seen.entry(*attempt).or_default();
            news.extend(doing.ring.since(*attempt, *seen));
            *seen = doing.ring.next();
        }
        news
    }

    pub(crate) fn line(&self, attempt: AttemptId, bytes: usize) {
        let mut shared = self.lock();
        let now = &mut shared.entry(attempt).or_default().now;
        now.lines += 1;
        now.bytes = now.bytes.saturating_add(bytes as u64);
    }

    /// Adds a bit that has been redacted.
    pub(crate) fn add(&self, attempt: AttemptId, bit: fn(String) -> Bit, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let mut shared = self.lock();
        let doing = shared.entry(attempt).or_default();
        doing.now.last = bounded(text, LAST_MAX);
        doing.ring.push(bit(bounded(text, BIT_MAX)));
        drop(shared);
        self.bell.ring();
    }

    pub(crate) fn retain(&self, keep: impl Fn(AttemptId) -> bool) {
        self.lock().retain(|attempt, _| keep(*attempt));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AttemptId, Doing>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, bit: Bit) {
        self.bytes += bit.cost();
        self.bits.push_back(bit);
        while self.bytes > RING_BYTES
            && let Some(oldest) = self.bits.pop_front()
        {
            self.bytes -= oldest.cost();
            self.first += 1;
        }
    }

    /// The number of the bit that comes next.
    fn next(&self) -> u64 {
        self.first + self.bits.len() as u64
    }

    fn since(&self, attempt: AttemptId, seen: u64) -> Option<RunActivity> {
        let at = self.first.max(seen);
        let known = usize::try_from(at - self.first).unwrap_or(usize::MAX);
        let bits: Vec<Bit> = self.bits.iter().skip(known).cloned().collect();
        let dropped = at - seen;
        (!bits.is_empty()).then_some(RunActivity { attempt, at, dropped, bits })
    }
}

impl Bit {
    fn cost(&self) -> usize {
        let (Self::Said(text)
        | Self::Thought(text)
        | Self::Tool(text)
        | Self::File(text)
        | Self::Ran(text)
        | Self::Printed(text)
        | Self::Retries(text)) = self;
        text.len() + BIT_COST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: AttemptId = AttemptId(1);

    #[test]
    fn a_watcher_is_told_each_bit_once() {
        let (activities, mut seen) = (Activities::default(), BTreeMap::new());
        activities.add(ONE, Bit::Said, " hello\n");
        activities.add(ONE, Bit::Tool, "read");
        activities.add(ONE, Bit::Said, " ");
        let bits = vec![Bit::Said("hello".to_owned()), Bit::Tool("read".to_owned())];
        let first = RunActivity { attempt: ONE, at: 0, dropped: 0, bits };
        assert_eq!(activities.since(&mut seen), [first]);
        assert_eq!(activities.since(&mut seen), []);
        activities.add(ONE, Bit::Said, "bye");
        let bits = vec![Bit::Said("bye".to_owned())];
        let next = RunActivity { attempt: ONE, at: 2, dropped: 0, bits };
        assert_eq!(activities.since(&mut seen), [next]);
        activities.retain(|_| false);
        assert_eq!((activities.since(&mut seen), seen.len()), (vec![], 0));
    }

    #[test]
    fn what_a_slow_watcher_misses_is_bounded_and_counted() {
        let (activities, mut seen) = (Activities::default(), BTreeMap::new());
        activities.add(ONE, Bit::Said, "first");
        activities.since(&mut seen);
        let long = "x".repeat(BIT_MAX * 2);
        for _ in 0..1_000 {
            activities.add(ONE, Bit::Said, &long);
        }
        let news = activities.since(&mut seen).remove(0);
        let kept = news.bits.len() as u64;
        assert_eq!((news.at, news.dropped), (1_001 - kept, 1_000 - kept));
        let bytes: usize = news.bits.iter().map(Bit::cost).sum();
        assert!((RING_BYTES / 2..=RING_BYTES).contains(&bytes), "{bytes} bytes in {kept} bits");
    }
}
