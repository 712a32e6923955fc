//! Prices what an agent reports.
//!
//! Some agents report one message in parts: what went in when it begins, what came out when it ends. A price is an estimate of
//! the whole message. The parts priced one by one, the later of which replaces the earlier, would come out too low.

use std::collections::VecDeque;

use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::prices::Prices;

/// Most messages that are remembered; an agent and its sub-agents write a few at a time.
const OPEN_MAX: usize = 64;

/// Tokens of the latest messages of one agent, the oldest first.
#[derive(Default)]
pub(super) struct Bills(VecDeque<(String, Usage)>);

impl Bills {
    /// The usage with a price, if the model has one. Of a message without a price it is everything that was reported so far.
    pub(super) fn priced(
        &mut self,
        scope: &Scope,
        usage: Usage,
        model: Option<&str>,
        prices: &Prices,
    ) -> Usage {
        let Scope::Message(id) = scope else { return prices.priced(usage, model) };
        let before =
            self.0.iter().position(|(open, _)| open == id).and_then(|at| self.0.remove(at));
        let whole = before.map_or(usage, |(_, before)| before.max(&usage));
        if self.0.len() >= OPEN_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id.clone(), whole));
        prices.priced(if usage.unpriced { whole } else { usage }, model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bills: &mut Bills, id: &str, usage: Usage) -> (u64, u64) {
        let scope = Scope::Message(id.to_owned());
        let usage = bills.priced(&scope, usage, Some("claude-opus-4-8"), &Prices::table());
        (usage.tokens(), usage.usd_micros)
    }

    fn tokens(input: u64, output: u64) -> Usage {
        Usage { input, output, unpriced: true, ..Usage::default() }
    }

    #[test]
    fn a_message_in_parts_has_the_price_of_the_whole() {
        let mut bills = Bills::default();
        assert_eq!(report(&mut bills, "m1", tokens(10_000, 1)), (10_001, 50_025));
        assert_eq!(report(&mut bills, "of a sub-agent", tokens(100, 1)), (101, 525));
        assert_eq!(report(&mut bills, "m1", tokens(0, 2_000)), (12_000, 100_000));
        assert_eq!(report(&mut bills, "m1", tokens(10_000, 2_000)), (12_000, 100_000));
        let told = Usage { usd_micros: 7, unpriced: false, ..tokens(10_000, 2_000) };
        assert_eq!(report(&mut bills, "m1", told), (12_000, 7), "the agent knows best");
    }

    #[test]
    fn no_more_messages_are_remembered_than_can_be_open() {
        let mut bills = Bills::default();
        for number in 0..1_000 {
            report(&mut bills, &number.to_string(), tokens(1, 1));
        }
        assert_eq!(bills.0.len(), OPEN_MAX);
    }
}
