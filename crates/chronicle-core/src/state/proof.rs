//! Attempts whose agent did not prove that it has its tools judged.

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::AttemptId;

/// Whose guard was not proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnprovenGuard {
    /// The latest such attempt.
    pub attempt: AttemptId,
    /// What was missing, for people.
    pub why: String,
    /// How many attempts worked so.
    pub attempts: u32,
}

impl Facts {
    pub(super) fn work_unproven(&mut self, attempt: AttemptId, why: &str) {
        let before = self.unproven.as_ref().map_or(0, |unproven| unproven.attempts);
        // Never forgotten while the run lives: what such an attempt did may be found out later.
        let attempts = before.saturating_add(1);
        self.unproven = Some(UnprovenGuard { attempt, why: why.to_owned(), attempts });
    }
}
