//! Guards that were not proven.

use super::whole;
use crate::base::ids::AttemptId;
use crate::state::UnprovenGuard;

/// An attempt works although its agent did not prove that it has its tools judged.
pub(super) fn works_unproven(attempt: AttemptId, why: &str) -> String {
    format!("{attempt} works although its guard is not proven (best-effort): {}", whole(why))
}

/// Whose guard was not proven, and why.
pub fn unproven_guard(unproven: &UnprovenGuard) -> String {
    let others = match unproven.attempts.saturating_sub(1) {
        0 => String::new(),
        1 => " and 1 attempt before it".to_owned(),
        many => format!(" and {many} attempts before it"),
    };
    format!("{}{others} (best-effort): {}", unproven.attempt, whole(&unproven.why))
}
