//! When an attempt could change files: while a tool call that may do so was open.
//!
//! Changes at any other time are not known to be its work. The times are those of the ledger's lines.

use serde::{Deserialize, Serialize};

use super::Attempt;
use crate::base::ids::SHELL;
use crate::base::limits::HANDS_MAX;
use crate::base::time::Millis;

/// Time spans in which an attempt could change files, in order. The last one may be open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hands(Vec<Stretch>);

/// Start and end; `None` while it lasts.
pub type Stretch = (Millis, Option<Millis>);

impl Hands {
    /// True if there was no such time.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// A call that may change files started.
    pub(super) fn begin(&mut self, at: Millis) {
        if self.0.last().is_none_or(|(_, end)| end.is_some()) {
            self.0.push((at, None));
            self.bound();
        }
    }

    /// No call is open any more.
    pub(super) fn end(&mut self, at: Millis) {
        if let Some((_, end @ None)) = self.0.last_mut() {
            *end = Some(at);
        }
    }

    /// Beyond the limit, merges the two spans with the smallest gap.
    fn bound(&mut self) {
        if self.0.len() <= HANDS_MAX {
            return;
        }
        let gap = |pair: &[Stretch]| pair[1].0.0.saturating_sub(pair[0].1.unwrap_or(pair[0].0).0);
        let gaps = self.0.windows(2).enumerate();
        // The two stretches with the shortest gap become one. A change in that gap then counts as the worker's, which is the
        // smallest error that a bounded list can make.
        if let Some((at, _)) = gaps.min_by_key(|(_, pair)| gap(pair)) {
            let (_, end) = self.0.remove(at + 1);
            self.0[at].1 = end;
        }
    }
}

impl Attempt {
    /// When it could change files. Commands are programs of their own: they could at any time.
    pub fn hands(&self) -> Vec<Stretch> {
        if self.intent.agent == SHELL {
            // Commands run without a break, so everything that changes meanwhile is theirs.
            vec![(self.started_at, None)]
        } else {
            self.hands.0.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_overlap_are_one_span_and_the_number_of_spans_is_bounded() {
        let mut hands = Hands::default();
        hands.begin(Millis(1));
        hands.begin(Millis(2));
        hands.end(Millis(5));
        hands.end(Millis(9));
        assert_eq!(hands.0, [(Millis(1), Some(Millis(5)))]);
        for number in 1..=HANDS_MAX as u64 {
            hands.begin(Millis(100 * number));
            hands.end(Millis(100 * number + 1));
        }
        assert_eq!(hands.0.len(), HANDS_MAX);
        assert_eq!(hands.0[0], (Millis(1), Some(Millis(101))), "the least time between them");
    }
}
