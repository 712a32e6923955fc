//! Sums per place over the whole run, including attempts and visits that the state has dropped.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CheckFailure, Departure, Facts};
use crate::base::ids::{AttemptId, COMPLETE, HUMAN_INTERVENTION, Outcome, Place, REWOUND, SKIPPED};
use crate::base::usage::Usage;
use crate::event::trees::Changes;
use crate::event::{AttemptStarted, Why};

/// Sums over all visits of one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Number of times it was entered.
    pub visits: usize,
    /// Number of its first visit among all visits of the run.
    pub first_visit: usize,
    /// Number of its last visit.
    pub last_visit: usize,
    /// Number of times it was left.
    pub departures: usize,
    /// Number of times it was left with its work done: not failed, skipped, taken back, or left to a person.
    #[serde(default)]
    pub completed: usize,
    /// Whether the last visit has ended.
    pub is_left: bool,
    /// Outcome of the last exit.
    pub outcome: Outcome,
    /// True if it was last left to a person: its work is not done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_person: bool,
    /// Summary of its last worker.
    pub summary: String,
    /// Number of attempts that were started.
    pub attempts: usize,
    /// Number of logical tries; lost and paused attempts belong to the try that continues.
    pub tries: u32,
    /// Why the last logical try began.
    pub why: Why,
    /// Usage of its attempts.
    pub usage: Usage,
    /// Active time of its attempts.
    pub active_ms: u64,
    /// Combined file changes of its attempts; binary files have no lines.
    #[serde(default, skip_serializing_if = "Changes::is_none")]
    pub changes: Changes,
    /// Why its last cleanup did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncleaned: Option<Box<CheckFailure>>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            visits: 0,
            first_visit: 0,
            last_visit: 0,
            departures: 0,
            completed: 0,
            is_left: false,
            outcome: Outcome::from(COMPLETE),
            for_person: false,
            summary: String::new(),
            attempts: 0,
            tries: 0,
            why: Why::First,
            usage: Usage::default(),
            active_ms: 0,
            changes: Changes::default(),
            uncleaned: None,
        }
    }
}

impl Tally {
    pub(super) fn enter(&mut self, visit: usize) {
        // Kept for the order in which phases are shown: the first visit places a phase, later ones do not move it.
        if self.visits == 0 {
            self.first_visit = visit;
        }
        self.last_visit = visit;
        self.visits += 1;
        self.is_left = false;
    }

    pub(super) fn leave(&mut self, departure: &Departure) {
        self.departures += 1;
        self.is_left = true;
        self.summary.clone_from(&departure.summary);
        self.outcome.clone_from(&departure.outcome);
        self.for_person = departure.to.as_str() == HUMAN_INTERVENTION;
        // Left all the same, but its work was not done.
        let is_given_up = [SKIPPED, REWOUND].contains(&departure.outcome.as_str());
        if !self.for_person && !is_given_up && !departure.outcome.is_failure() {
            self.completed += 1;
        }
    }

    pub(super) fn begin(&mut self, intent: &AttemptStarted) {
        self.attempts += 1;
        // A lost or paused attempt that goes on is the same try. Counted again, a machine that sleeps would use up retries.
        if !intent.why.is_same_try() {
            self.tries = self.tries.saturating_add(1);
            self.why = intent.why.clone();
        }
    }
}

impl Facts {
    /// Sums of a place; `None` if nothing ever happened there.
    pub fn tally(&self, place: &Place) -> Option<&Tally> {
        self.places.get(place).map(Arc::as_ref)
    }

    /// Active time of all attempts of the run.
    pub fn active_ms(&self) -> u64 {
        self.places.values().fold(0, |sum, tally| sum.saturating_add(tally.active_ms))
    }

    pub(super) fn tally_mut(&mut self, place: &Place) -> &mut Tally {
        let places = Arc::make_mut(&mut self.places);
        Arc::make_mut(places.entry(place.clone()).or_default())
    }

    /// Takes in that the usage of an attempt's session went from one figure to another.
    pub(super) fn spend(&mut self, id: AttemptId, before: &Usage, after: &Usage) {
        self.change(id, |attempt| attempt.usage = attempt.usage.replaced(before, after));
        if let Some(tally) = self.tally_of(id) {
            tally.usage = tally.usage.replaced(before, after);
        }
    }

    /// Takes in how long an attempt has worked so far.
    pub(super) fn work(&mut self, id: AttemptId, active_ms: u64) {
        let Some(attempt) = self.attempts.get_mut(super::number(id.0)) else { return };
        // Reports carry the whole time so far, and may arrive out of order: only growth counts, and time never goes back.
        let longer = active_ms.saturating_sub(attempt.active_ms);
        attempt.active_ms += longer;
        if let Some(tally) = self.tally_of(id) {
            tally.active_ms = tally.active_ms.saturating_add(longer);
        }
    }

    /// The sums that an attempt counts for. What the way out takes is nobody's work.
    fn tally_of(&mut self, id: AttemptId) -> Option<&mut Tally> {
        let intent = &self.attempts.get(super::number(id.0))?.intent;
        if intent.chore.is_some() {
            return None;
        }
        Arc::make_mut(&mut self.places).get_mut(&intent.place).map(Arc::make_mut)
    }
}
