//! Words about going round.

use super::quote::quote;
use super::times;
use crate::base::ids::{PhaseId, Place};
use crate::state::Rounds;

/// One direction was taken as often as it may be.
pub(crate) fn one_way(from: &PhaseId, to: &PhaseId, taken: u32) -> String {
    let times = times(taken);
    if from == to {
        return format!("`{from}` was begun again {times}, which is the limit");
    }
    format!("`{from}` was left for `{to}` {times}, which is the limit")
}

/// Two phases were left for each other, both ways together, as often as they may be.
pub(crate) fn back_and_forth(from: &PhaseId, to: &PhaseId, taken: u32) -> String {
    format!("the run went between `{from}` and `{to}` {}, which is the limit", times(taken))
}

/// A workflow was begun anew as often as it may be.
pub(crate) fn started_over(workflow: &str, taken: u32) -> String {
    format!("workflow `{workflow}` was started over {}, which is the limit", times(taken))
}

/// Two phases were left for each other, and nothing came of it for the issues that are open.
pub(crate) fn stagnates(from: &PhaseId, to: &PhaseId, rounds: &Rounds) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = rounds.issues.iter().take(SHOWN).map(|it| quote(it)).collect();
    let more = match rounds.issues.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "the run goes between `{from}` and `{to}` without progress: {} transitions in a row opened and resolved no issue, and {} still open",
        rounds.stagnant,
        match shown.as_slice() {
            [one] if more.is_empty() => format!("{one} is"),
            all => format!("{}{more} are", all.join(", ")),
        }
    )
}

/// What a person hears who allows more rounds.
pub(crate) fn rounds_allowed(place: &Place, more: u32) -> String {
    format!("{} allowed at `{place}`", more_rounds(more))
}

pub(super) fn allowed(place: &Place, more: u32, who: &str) -> String {
    format!("{who} allowed {} at `{place}`", more_rounds(more))
}

fn more_rounds(more: u32) -> String {
    match more {
        1 => "1 more round".to_owned(),
        many => format!("{many} more rounds"),
    }
}
