//! Activity: live and lossy output of attempts. It is never part of the state or the ledger, and nothing is decided by it.
//!
//! Each attempt has one bounded ring, however many watchers there are. A watcher knows its position and takes what came since;
//! one that is too slow is told how many bits it missed. So writers never wait for a watcher.

use std::collections::{BTreeMap, VecDeque};
use std::mem::discriminant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::limits::{bounded, cut};
use serde::{Deserialize, Serialize};

use crate::bell::Bell;

/// Longest last line that is kept.
const LAST_MAX: usize = 300;
/// Longest text of one bit.
const BIT_MAX: usize = 16 * 1024;
/// Most bytes of one attempt's bits, and so the most that a watcher can lag behind.
const RING_BYTES: usize = 256 * 1024;
/// Assumed size of a bit without its text.
const BIT_COST: usize = 64;

/// What an attempt does now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Number of lines it printed.
    pub lines: u64,
    /// Number of bytes it printed.
    pub bytes: u64,
    /// Its last message or action.
    pub last: String,
}

/// One thing that an attempt said or did, redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Bit {
    /// A piece of its message.
    Said(String),
    /// A piece of its thinking.
    Thought(String),
    /// Name of a tool that it called.
    Tool(String),
    /// Path of a file that it changed.
    File(String),
    /// A command that it runs.
    Ran(String),
    /// A line of a command's output.
    Printed(String),
    /// An error that it retries by itself.
    Retries(String),
}

/// New bits of one attempt for a watcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunActivity {
    /// The attempt they belong to.
    pub attempt: AttemptId,
    /// Number of the first bit; bits count from 0 in each attempt.
    pub at: u64,
    /// Number of bits before it that this watcher missed.
    pub dropped: u64,
    /// The bits, in order.
    pub bits: Vec<Bit>,
}

/// The activity of every live attempt; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activities {
    shared: Arc<Mutex<BTreeMap<AttemptId, LiveAttempt>>>,
    bell: Bell,
}

#[derive(Debug, Default)]
struct LiveAttempt {
    now: Activity,
    /// The line of a message whose pieces are still coming.
    line: String,
    ring: BitRing,
}

/// The latest bits of one attempt.
#[derive(Debug, Default)]
struct BitRing {
    /// Number of the oldest bit in the ring.
    first: u64,
    bits: VecDeque<Bit>,
    bytes: usize,
}

impl Activities {
    /// Current activity of an attempt.
    pub(crate) fn of(&self, attempt: AttemptId) -> Option<Activity> {
        self.lock().get(&attempt).map(|doing| doing.now.clone())
    }

    /// Rings when there is a new bit.
    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// New bits for a watcher that has seen each attempt up to there.
    pub(crate) fn since(&self, seen: &mut BTreeMap<AttemptId, u64>) -> Vec<RunActivity> {
        let shared = self.lock();
        // A watcher may stay for days, and a run has no limit of attempts: what is over must not stay in its map.
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

    /// Adds a redacted bit.
    pub(crate) fn add(&self, attempt: AttemptId, bit: fn(String) -> Bit, text: &str) {
        let bit = bit(bounded(text, BIT_MAX));
        // Pieces of a message belong together: a space at the end of one is the only one between two words.
        if text.is_empty() || (!bit.is_piece() && text.trim().is_empty()) {
            return;
        }
        let mut shared = self.lock();
        shared.entry(attempt).or_default().add(bit, text);
        // Released before the bell rings: a watcher that wakes up takes this lock first of all.
        drop(shared);
        self.bell.ring();
    }

    pub(crate) fn retain(&self, keep: impl Fn(AttemptId) -> bool) {
        self.lock().retain(|attempt, _| keep(*attempt));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AttemptId, LiveAttempt>> {
        // A thread that panicked leaves at worst a count that is wrong. Nothing is decided by it, so the others go on.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveAttempt {
    fn add(&mut self, bit: Bit, text: &str) {
        // Only a piece of the same kind goes on: otherwise a thought between two messages would be shown as part of their
        // sentence.
        let goes_on = bit.is_piece()
            && self.ring.bits.back().is_some_and(|last| discriminant(last) == discriminant(&bit));
        if !goes_on {
            self.line.clear();
        }
        let whole = std::mem::take(&mut self.line) + text;
        let last = whole.trim().rsplit('\n').next().unwrap_or_default();
        // The line end after a message is a piece of its own, and must not erase the words that are shown.
        if !last.is_empty() {
            self.now.last = bounded(last.trim(), LAST_MAX);
        }
        // The rest of a line that is longer than what is shown need not be kept.
        let open = whole.rsplit('\n').next().unwrap_or_default();
        self.line.push_str(cut(open, LAST_MAX + 1));
        self.ring.push(bit);
    }
}

impl BitRing {
    fn push(&mut self, bit: Bit) {
        self.bytes += bit.cost();
        self.bits.push_back(bit);
        // One bit is much shorter than the ring, so the newest always stays.
        while self.bytes > RING_BYTES
            && let Some(oldest) = self.bits.pop_front()
        {
            self.bytes -= oldest.cost();
            self.first += 1;
        }
    }

    /// Number of the next bit.
    fn next(&self) -> u64 {
        self.first + self.bits.len() as u64
    }

    fn since(&self, attempt: AttemptId, seen: u64) -> Option<RunActivity> {
        // A watcher that is behind the oldest bit continues there, and is told how many it missed.
        let at = self.first.max(seen);
        let known = usize::try_from(at - self.first).unwrap_or(usize::MAX);
        let bits: Vec<Bit> = self.bits.iter().skip(known).cloned().collect();
        let dropped = at - seen;
        (!bits.is_empty()).then_some(RunActivity { attempt, at, dropped, bits })
    }
}

impl Bit {
    /// True for a piece of a text, which continues the one before it.
    fn is_piece(&self) -> bool {
        matches!(self, Self::Said(_) | Self::Thought(_))
    }

    fn cost(&self) -> usize {
        let (Self::Said(text)
        | Self::Thought(text)
        | Self::Tool(text)
        | Self::File(text)
        | Self::Ran(text)
        | Self::Printed(text)
        | Self::Retries(text)) = self;
        // Without the fixed part, a flood of bits with a few letters each would stay below the limit and fill the memory.
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
        activities.add(ONE, Bit::Tool, " ");
        let bits = vec![Bit::Said(" hello\n".to_owned()), Bit::Tool("read".to_owned())];
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
    fn pieces_of_a_message_are_joined_as_they_came() {
        let activities = Activities::default();
        let last = || activities.of(ONE).unwrap().last;
        for piece in ["I look", " at", " the", " tests.\n\n", "Then I ", "fix them."] {
            activities.add(ONE, Bit::Said, piece);
        }
        assert_eq!(last(), "Then I fix them.");
        activities.add(ONE, Bit::Said, "\n");
        assert_eq!(last(), "Then I fix them.");
        activities.add(ONE, Bit::Tool, "read");
        activities.add(ONE, Bit::Said, "Done.");
        assert_eq!(last(), "Done.");
        activities.add(ONE, Bit::Said, &"x".repeat(LAST_MAX * 3));
        assert!(activities.lock()[&ONE].line.len() <= LAST_MAX + 1);
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
