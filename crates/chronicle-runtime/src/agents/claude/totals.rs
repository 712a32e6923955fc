//! What a session of Claude Code has spent so far.
//!
//! Of a sub-agent's messages its lines tell only how they began: the true figures come with the total at the end of the turn. Until
//! then it is asked for its total whenever a sub-agent did something, so that a budget ends the turn in time.

use chronicle_core::base::usage::{Scope, Usage};
use serde_json::{Value, json};

use crate::agents::Seen;
use crate::agents::figures::priced;
use crate::agents::line::{alive, number, text};

/// The id of our question; one is open at a time.
const QUESTION: &str = "chronicle-usage";

/// Whether its total is wanted, asked for, and known.
#[derive(Default)]
pub(super) struct Totals {
    /// A sub-agent did something since it was asked last.
    is_wanted: bool,
    /// It was asked and has not answered.
    is_asked: bool,
    /// It cannot be asked: older versions do not know the question.
    is_refused: bool,
    /// The last total that it answered.
    told: Option<Usage>,
}

impl Totals {
    /// A sub-agent did something that may have cost tokens.
    pub(super) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Whether it answers with its totals.
    pub(super) fn are_told(&self) -> bool {
        self.told.is_some()
    }

    /// The line that asks, if its total is wanted now.
    pub(super) fn question(&mut self) -> Option<String> {
        if !self.is_wanted || self.is_asked || self.is_refused {
            return None;
        }
        (self.is_wanted, self.is_asked) = (false, true);
        // Without a look through its old transcripts, which takes time and is not needed.
        let request = json!({"subtype": "get_usage", "skip_behaviors": true});
        let line = json!({"type": "control_request", "request_id": QUESTION, "request": request});
        Some(line.to_string())
    }

    /// An answer to one of our questions; those to others mean nothing here.
    pub(super) fn answered(&mut self, message: &Value) -> Vec<Seen> {
        let response = &message["response"];
        if text(response, "request_id") != Some(QUESTION) {
            return alive();
        }
        self.is_asked = false;
        let session = &response["response"]["session"];
        let Some(usage) = sum(&session["model_usage"], &session["total_cost_usd"]) else {
            self.is_refused |= text(response, "subtype") != Some("success");
            return alive();
        };
        // The same figure again is no news. A line of the ledger for it would be waste.
        if self.told.replace(usage) == Some(usage) {
            return alive();
        }
        vec![of_session(usage)]
    }
}

/// The total at the end of a turn. After an interrupt in mid-text nothing is told, which says nothing.
pub(super) fn at_the_end(message: &Value) -> Option<Seen> {
    sum(&message["modelUsage"], &message["total_cost_usd"]).map(of_session)
}

fn of_session(usage: Usage) -> Seen {
    Seen::Usage { scope: Scope::Session, usage, model: None }
}

fn sum(models: &Value, usd: &Value) -> Option<Usage> {
    let models = models.as_object().filter(|models| !models.is_empty())?;
    // All models of the session: sub-agents and summaries use smaller ones, and they cost too.
    let sum = |name: &str| {
        models.values().fold(0, |sum: u64, model| sum.saturating_add(number(model, name)))
    };
    let tokens = Usage {
        input: sum("inputTokens"),
        output: sum("outputTokens"),
        cache_read: sum("cacheReadInputTokens"),
        cache_write: sum("cacheCreationInputTokens"),
        ..Usage::default()
    };
    Some(priced(tokens, usd.as_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(output: u64) -> Value {
        let models = json!({
            "large": {"inputTokens": 100, "outputTokens": output},
            "small": {"cacheReadInputTokens": 7, "cacheCreationInputTokens": 3},
        });
        let session = json!({"total_cost_usd": 0.5, "model_usage": models});
        json!({"response": {"subtype": "success", "request_id": QUESTION, "response": {"session": session}}})
    }

    #[test]
    fn one_question_is_open_at_a_time() {
        let mut totals = Totals::default();
        assert_eq!(totals.question(), None, "nothing was done");
        totals.want();
        assert!(totals.question().is_some_and(|line| line.contains("get_usage")));
        totals.want();
        assert_eq!(totals.question(), None, "it has not answered");
        totals.answered(&answer(20));
        assert!(totals.question().is_some(), "something was done since it was asked");
        totals.answered(&answer(20));
        assert_eq!(totals.question(), None);
    }

    #[test]
    fn its_answer_is_the_total_of_the_session() {
        let mut totals = Totals::default();
        let usage = Usage {
            input: 100,
            output: 20,
            cache_read: 7,
            cache_write: 3,
            usd_micros: 500_000,
            ..Usage::default()
        };
        assert_eq!(totals.answered(&answer(20)), vec![of_session(usage)]);
        assert_eq!(totals.answered(&answer(20)), alive(), "the same again is no news");
        let more = Usage { output: 5_020, ..usage };
        assert_eq!(totals.answered(&answer(5_020)), vec![of_session(more)]);
        let other = json!({"response": {"subtype": "success", "request_id": "chronicle-1"}});
        assert_eq!(totals.answered(&other), alive());
    }

    #[test]
    fn who_does_not_know_the_question_is_not_asked_again() {
        let mut totals = Totals::default();
        totals.want();
        totals.question();
        let refusal = json!({"response": {"subtype": "error", "request_id": QUESTION}});
        assert_eq!(totals.answered(&refusal), alive());
        totals.want();
        assert_eq!(totals.question(), None);
    }
}
