//! A frame's recent transitions, for loops that are judged by the issues that they resolve.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{PhaseId, Place};
use crate::base::limits::{ISSUES_OPEN_MAX, LOOP_WINDOW};
use crate::event::Issues;

/// Recent transitions of a frame, and the issues that its workers named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// Pairs of source and target, up to `LOOP_WINDOW`.
    recent: VecDeque<(PhaseId, PhaseId)>,
    /// Issues that were opened and not resolved.
    pub issues: BTreeSet<String>,
    /// Number of transitions in a row that changed no issue.
    pub stagnant: u32,
}

impl Rounds {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Records a transition and its issues.
    pub(crate) fn take(&mut self, from: &PhaseId, to: &PhaseId, said: &Issues) {
        if self.recent.len() >= LOOP_WINDOW {
            self.recent.pop_front();
        }
        self.recent.push_back((from.clone(), to.clone()));
        let before = self.issues.clone();
        let opened = said.opened.iter().map(|issue| normal(issue));
        // Issues come from workers' texts. Those beyond the limit are not counted, rather than making each line larger.
        let room = ISSUES_OPEN_MAX.saturating_sub(before.len());
        self.issues.extend(opened.filter(|issue| !issue.is_empty()).take(room));
        for resolved in &said.resolved {
            self.issues.remove(&normal(resolved));
        }
        // What is opened and resolved at once leaves the set as it was, and what was never open cannot be resolved.
        let is_progress = self.issues != before;
        self.stagnant = if is_progress { 0 } else { self.stagnant.saturating_add(1) };
    }

    /// Transitions between two phases, in both directions, among the recent ones.
    pub(crate) fn between(&self, one: &PhaseId, two: &PhaseId) -> u32 {
        let is_it =
            |(from, to): &&(PhaseId, PhaseId)| (from, to) == (one, two) || (from, to) == (two, one);
        u32::try_from(self.recent.iter().filter(is_it).count()).unwrap_or(u32::MAX)
    }

    /// Forgets the transitions after a person moved the frame.
    pub(super) fn forget_ways(&mut self) {
        // The issues stay: they are about the work, and moving a frame resolves none of them.
        self.recent.clear();
        self.stagnant = 0;
    }
}

impl Facts {
    /// Adds rounds that a person allowed in the workflow of that place.
    pub(super) fn allow_rounds(&mut self, place: &Place, more: u32) {
        self.change_frame(&place.frame(), |frame| {
            frame.more_rounds = frame.more_rounds.saturating_add(more);
        });
    }
}

/// An issue in the form in which it is compared: trimmed, lower case, single spaces.
fn normal(issue: &str) -> String {
    issue.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(opened: &[&str], resolved: &[&str]) -> Issues {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Issues { opened: texts(opened), resolved: texts(resolved) }
    }

    #[test]
    fn issues_are_the_same_however_they_are_spelled() {
        let (a, b) = (PhaseId::from("a"), PhaseId::from("b"));
        let mut rounds = Rounds::default();
        rounds.take(&a, &b, &said(&["  Login\tFails "], &[]));
        assert_eq!((rounds.stagnant, rounds.issues.len()), (0, 1));
        rounds.take(&b, &a, &said(&["login fails"], &["never opened"]));
        assert_eq!((rounds.stagnant, rounds.issues.len()), (1, 1));
        rounds.take(&a, &b, &said(&["x"], &["X"]));
        assert_eq!(rounds.stagnant, 2, "opened and resolved at once");
        rounds.take(&b, &a, &said(&[], &["LOGIN  FAILS"]));
        assert_eq!((rounds.stagnant, rounds.issues.len()), (0, 0));
        assert_eq!(rounds.between(&a, &b), 4);
    }

    #[test]
    fn only_the_last_ways_count() {
        let (a, b, c) = (PhaseId::from("a"), PhaseId::from("b"), PhaseId::from("c"));
        let mut rounds = Rounds::default();
        for _ in 0..20 {
            rounds.take(&a, &b, &Issues::default());
        }
        assert_eq!(rounds.between(&b, &a), 14);
        for _ in 0..10 {
            rounds.take(&b, &c, &Issues::default());
        }
        assert_eq!((rounds.between(&a, &b), rounds.between(&b, &c)), (4, 10));
    }
}
