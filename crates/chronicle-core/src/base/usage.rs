//! Token usage and cost, kept per session.
//!
//! Agents report the same tokens in three scopes: one message, one turn, the whole session. A wider figure replaces the narrower
//! ones that it covers and never lowers the sum. A session total that falls starts a new baseline, since some agents report
//! nothing after an interrupt. So does the first total of a process that resumed the session, unless it covers what was spent
//! before: an agent that was killed had no time to save its total. So a session that another attempt resumes is counted once.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::limits::TURN_MESSAGES_MAX;

/// Tokens and their price.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens, without those read from a cache.
    pub input: u64,
    /// Output tokens, including thinking where the agent counts it.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written to a cache.
    pub cache_write: u64,
    /// The known price in millionths of a dollar.
    pub usd_micros: u64,
    /// True if part of it has no known price, so that `usd_micros` is a lower bound.
    pub unpriced: bool,
    /// True if part of the price comes from Chronicle's table and not from the agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// In sums over sessions: how much of `usd_micros` is an estimate. Taken off again once the agent reports its own price.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl fmt::Debug for Usage {
    /// Prints fields that were added later only if they are set, so that old snapshots stay valid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = f.debug_struct("Usage");
        told.field("input", &self.input).field("output", &self.output);
        told.field("cache_read", &self.cache_read).field("cache_write", &self.cache_write);
        told.field("usd_micros", &self.usd_micros).field("unpriced", &self.unpriced);
        if self.estimated {
            told.field("estimated", &true);
        }
        if self.estimated_micros > 0 {
            told.field("estimated_micros", &self.estimated_micros);
        }
        told.finish()
    }
}

impl Usage {
    /// Tokens of every kind.
    pub fn tokens(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(0, |sum, part| sum.saturating_add(*part))
    }

    /// Adds both, part by part.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.join(other, u64::saturating_add)
    }

    /// The larger of each part.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        self.join(other, u64::max)
    }

    /// The difference of each part, at least zero.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let (unpriced, estimated) = (self.unpriced, self.estimated);
        Self { unpriced, estimated, ..self.join(other, u64::saturating_sub) }
    }

    /// A sum over sessions in which a later figure of one session replaces an earlier one. Tokens never get fewer. An estimated price
    /// may turn out too high, and no trace of it is left once the agent has reported its own.
    #[must_use]
    pub fn replaced(&self, before: &Self, after: &Self) -> Self {
        let estimate = |of: &Self| if of.estimated { of.usd_micros } else { 0 };
        // Never through a sum that could saturate: what is then taken off would be missing.
        let moved = |sum: u64, before: u64, after: u64| match after.checked_sub(before) {
            Some(more) => sum.saturating_add(more),
            None => sum.saturating_sub(before - after),
        };
        let estimated_micros = moved(self.estimated_micros, estimate(before), estimate(after));
        Self {
            usd_micros: moved(self.usd_micros, before.usd_micros, after.usd_micros),
            estimated: estimated_micros > 0,
            estimated_micros,
            ..self.plus(&after.minus(before))
        }
    }

    fn join(&self, other: &Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            estimated_micros: with(self.estimated_micros, other.estimated_micros),
            input: with(self.input, other.input),
            output: with(self.output, other.output),
            cache_read: with(self.cache_read, other.cache_read),
            cache_write: with(self.cache_write, other.cache_write),
            usd_micros: with(self.usd_micros, other.usd_micros),
            unpriced: self.unpriced || other.unpriced,
            estimated: self.estimated || other.estimated,
        }
    }
}

/// What a usage figure covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", content = "id", rename_all = "snake_case")]
pub enum Scope {
    /// One message, by the agent's id; a later figure for the same id replaces it.
    Message(String),
    /// The turn that just ended.
    Turn,
    /// The whole session so far.
    Session,
}

/// Usage of one session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionUsage {
    /// Turns that have ended.
    closed: Usage,
    /// Messages of the current turn.
    messages: BTreeMap<String, Usage>,
    /// Their sum, cached so that a report costs the same after hundreds of them.
    turn: Usage,
    /// Spent before the agent's totals started over.
    baseline: Usage,
    /// The agent's latest total.
    total: Usage,
    /// The sum when the current process resumed the session, until that process reports its first total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Usage>,
    /// The highest price that the agent itself has told. Only an estimate may be lowered by a later figure.
    #[serde(default, skip_serializing_if = "is_zero")]
    told_micros: u64,
}

impl SessionUsage {
    /// Everything spent in this session.
    pub fn sum(&self) -> Usage {
        let latest = self.latest();
        Usage { usd_micros: latest.usd_micros.max(self.told_micros), ..latest }
    }

    /// What the figures at hand add up to.
    fn latest(&self) -> Usage {
        // Both count the same tokens, and either may lack some: messages are lost in a crash, totals leave out aborted requests.
        let (counted, told) = (self.counted(), self.baseline.plus(&self.total));
        let mut sum = counted.max(&told);
        if told.tokens() >= counted.tokens() {
            // The price of what the messages counted came with the total.
            sum.unpriced = told.unpriced;
            if counted.estimated && !told.unpriced {
                sum.usd_micros = told.usd_micros;
                sum.estimated = told.estimated;
            }
        }
        sum
    }

    /// Another process continues the session. It may report messages again that were counted before; they still count once.
    pub fn resume(&mut self) {
        // The sum and not the last total: what a killed process spent after its last total counts too.
        self.before = Some(self.sum());
    }

    /// Takes in a report.
    pub fn add(&mut self, scope: &Scope, usage: &Usage) {
        self.take_in(scope, usage);
        let sum = self.sum();
        // Kept apart from the figures: an estimate for a later message could otherwise lower what the agent itself has
        // billed.
        if !sum.estimated {
            self.told_micros = sum.usd_micros;
        }
    }

    fn take_in(&mut self, scope: &Scope, usage: &Usage) {
        match scope {
            Scope::Message(id) => self.add_message(id, usage),
            Scope::Turn => {
                self.turn = self.turn.max(usage);
                self.close_turn();
            }
            Scope::Session => {
                if self.starts_over(usage) {
                    self.baseline = self.before.unwrap_or_else(|| self.sum());
                }
                // Only the first total after a resume can tell whether the agent counts on. From then on its totals are
                // compared with each other.
                self.before = None;
                self.total = *usage;
                // The total covers what was counted so far, the turn in hand included; only what comes later adds to it.
                self.turn = self.sum().minus(&self.closed);
            }
        }
    }

    /// True if a total does not contain what was spent before. Of a process that resumed the session, only its first total can
    /// tell: without the messages that it reported, is it nearer to nothing or to what the agent knew before? Requests that an
    /// agent leaves out of its total, such as aborted ones, make an exact comparison impossible.
    fn starts_over(&self, total: &Usage) -> bool {
        let Some(before) = &self.before else { return total.tokens() < self.total.tokens() };
        let since = self.counted().minus(before).tokens();
        let known = if self.total.tokens() > 0 { self.total } else { *before };
        total.tokens().saturating_sub(since) < known.tokens().div_ceil(2)
    }

    fn add_message(&mut self, id: &str, usage: &Usage) {
        // Bounded, since the state is kept in memory and in the cache: an agent may send any number of ids in one turn.
        if self.messages.len() >= TURN_MESSAGES_MAX && !self.messages.contains_key(id) {
            // They stay in the turn's sum; only which of them spent what is forgotten.
            self.messages.clear();
        }
        let message = self.messages.entry(id.to_owned()).or_default();
        // Agents repeat a message with growing figures while it streams. A smaller one is a partial report that came late.
        let larger = message.max(usage);
        self.turn = self.turn.plus(&larger.minus(message));
        *message = larger;
    }

    fn close_turn(&mut self) {
        self.closed = self.closed.plus(&self.turn);
        self.turn = Usage::default();
        self.messages.clear();
    }

    fn counted(&self) -> Usage {
        self.closed.plus(&self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    fn sum(reports: &[(Scope, u64)]) -> u64 {
        let mut session = SessionUsage::default();
        for (scope, input) in reports {
            session.add(scope, &tokens(*input));
        }
        session.sum().tokens()
    }

    fn message(id: &str) -> Scope {
        Scope::Message(id.to_owned())
    }

    #[test]
    fn a_sum_is_exact_once_the_agents_own_price_has_replaced_ours() {
        let ours = Usage { usd_micros: 900, estimated: true, ..tokens(10) };
        let theirs = Usage { usd_micros: 700, ..tokens(12) };
        let none = Usage::default();
        let sum = none.replaced(&none, &ours);
        assert_eq!((sum.usd_micros, sum.estimated, sum.tokens()), (900, true, 10));
        let other = Usage { usd_micros: 50, estimated: true, ..tokens(5) };
        let both = sum.replaced(&none, &other);
        let half = both.replaced(&ours, &theirs);
        assert_eq!((half.usd_micros, half.estimated, half.tokens()), (750, true, 17));
        let exact = half.replaced(&other, &Usage { usd_micros: 60, ..tokens(5) });
        assert_eq!((exact.usd_micros, exact.estimated, exact.tokens()), (760, false, 17));
        // That some of it had no price is not forgotten: budgets in dollars ask about such an agent.
        let open = Usage { unpriced: true, ..tokens(5) };
        assert!(exact.replaced(&none, &open).replaced(&open, &theirs).unpriced);
    }

    #[test]
    fn an_estimate_does_not_lower_what_the_agent_told() {
        let mut session = SessionUsage::default();
        session.add(&Scope::Session, &priced(100, 10));
        session.add(&message("m1"), &priced(5, 100));
        assert_eq!(session.sum().usd_micros, 110);
        session.add(&message("m2"), &ours());
        assert!(session.sum().usd_micros >= 110, "{:?}", session.sum());
    }

    #[test]
    fn a_message_reported_twice_counts_once() {
        assert_eq!(sum(&[(message("m1"), 1), (message("m1"), 40), (message("m2"), 2)]), 42);
    }

    #[test]
    fn a_turn_replaces_its_messages_and_never_lowers() {
        assert_eq!(sum(&[(message("m1"), 10), (Scope::Turn, 50), (message("m2"), 1)]), 51);
        assert_eq!(sum(&[(message("m1"), 10), (Scope::Turn, 0)]), 10);
    }

    #[test]
    fn a_session_total_covers_all_before_it() {
        assert_eq!(sum(&[(Scope::Turn, 50), (Scope::Session, 60), (Scope::Session, 90)]), 90);
        assert_eq!(sum(&[(Scope::Turn, 50), (Scope::Session, 20)]), 50);
    }

    #[test]
    fn a_falling_total_starts_a_new_baseline() {
        assert_eq!(sum(&[(Scope::Session, 100), (Scope::Session, 0), (Scope::Session, 30)]), 130);
    }

    #[test]
    fn a_turn_after_a_total_that_covered_it_counts_once() {
        assert_eq!(sum(&[(Scope::Session, 60), (Scope::Turn, 60)]), 60);
        assert_eq!(sum(&[(Scope::Turn, 50), (Scope::Session, 60), (Scope::Turn, 20)]), 70);
    }

    #[test]
    fn messages_after_a_total_add_to_it() {
        let total = (Scope::Session, 60);
        assert_eq!(sum(&[(message("m1"), 10), total.clone(), (message("m2"), 5)]), 65);
        assert_eq!(sum(&[(message("m1"), 10), total, (message("m1"), 12)]), 62);
    }

    #[test]
    fn a_total_brings_the_price_of_its_messages() {
        let mut session = SessionUsage::default();
        session.add(&message("m1"), &Usage { unpriced: true, ..tokens(10) });
        assert!(session.sum().unpriced);
        session.add(&Scope::Session, &Usage { usd_micros: 7, ..tokens(10) });
        assert_eq!((session.sum().unpriced, session.sum().usd_micros), (false, 7));
        session.add(&message("m2"), &Usage { unpriced: true, ..tokens(5) });
        assert!(session.sum().unpriced, "nothing is known of what came later");
    }

    #[test]
    fn what_the_agent_says_replaces_what_we_reckoned() {
        let mut session = SessionUsage::default();
        let ours = Usage { usd_micros: 9, estimated: true, ..tokens(10) };
        session.add(&message("m1"), &ours);
        assert_eq!((session.sum().estimated, session.sum().usd_micros), (true, 9));
        session.add(&Scope::Session, &Usage { usd_micros: 7, ..tokens(10) });
        assert_eq!((session.sum().estimated, session.sum().usd_micros), (false, 7));
        session.add(&message("m2"), &ours);
        assert_eq!((session.sum().estimated, session.sum().usd_micros), (true, 16));
        session.add(&Scope::Session, &Usage { usd_micros: 15, ..tokens(20) });
        assert_eq!((session.sum().estimated, session.sum().usd_micros), (false, 15));
    }

    fn priced(input: u64, usd_micros: u64) -> Usage {
        Usage { usd_micros, ..tokens(input) }
    }

    /// One request with Chronicle's own estimate of its price.
    fn ours() -> Usage {
        Usage { estimated: true, ..priced(10, 8) }
    }

    #[test]
    fn what_a_killed_process_spent_is_kept_when_the_total_starts_over() {
        let mut session = SessionUsage::default();
        session.add(&message("m1"), &ours());
        for killed in ["m2", "m3"] {
            session.resume();
            session.add(&message(killed), &ours());
        }
        session.resume();
        session.add(&message("m4"), &ours());
        assert_eq!((session.sum().tokens(), session.sum().usd_micros), (40, 32));
        // Its price is higher than ours, and replaces it only for what it covers.
        session.add(&Scope::Session, &priced(10, 9));
        assert_eq!((session.sum().tokens(), session.sum().usd_micros), (40, 33));
        assert!(session.sum().estimated, "nobody knows what the killed ones cost");
        session.add(&message("m5"), &ours());
        session.add(&Scope::Session, &priced(20, 18));
        assert_eq!((session.sum().tokens(), session.sum().usd_micros), (50, 42));
    }

    #[test]
    fn a_total_that_goes_on_after_a_resume_is_counted_once() {
        let mut session = SessionUsage::default();
        session.add(&message("m1"), &ours());
        session.add(&Scope::Session, &priced(10, 9));
        session.resume();
        session.add(&message("m2"), &ours());
        // Aborted: it is in no total.
        session.add(&message("m3"), &Usage { input: 2, ..Usage::default() });
        session.add(&Scope::Session, &priced(20, 18));
        assert_eq!((session.sum().tokens(), session.sum().usd_micros), (22, 18));
        session.resume();
        session.add(&Scope::Session, &priced(20, 18));
        assert_eq!(session.sum().usd_micros, 18, "nothing was asked");
    }

    #[test]
    fn a_total_that_starts_over_is_known_even_if_it_is_higher() {
        let mut session = SessionUsage::default();
        session.add(&Scope::Session, &priced(10, 9));
        session.resume();
        for id in ["m1", "m2"] {
            session.add(&message(id), &ours());
        }
        session.add(&Scope::Session, &priced(20, 18));
        assert_eq!((session.sum().tokens(), session.sum().usd_micros), (30, 27));
    }

    #[test]
    fn many_messages_are_bounded() {
        let mut session = SessionUsage::default();
        for i in 0..2_000 {
            session.add(&message(&format!("m{i}")), &tokens(1));
        }
        assert_eq!(session.sum().tokens(), 2_000);
        session.add(&Scope::Turn, &tokens(2_000));
        assert_eq!(session.sum().tokens(), 2_000, "the turn covers its messages, however many");
        assert!(session.messages.len() <= TURN_MESSAGES_MAX);
    }
}
