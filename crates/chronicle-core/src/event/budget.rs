//! The words of budgets: what a gate lacks, a warning, a raise.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;
use crate::definition::budget::Resource;
use crate::definition::workflow::Budget;

/// What a gate waits for that a person can give without moving the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum Lack {
    /// More of this.
    More(Resource),
    /// A price: a person must agree to do without.
    Price,
    /// More rounds of a loop.
    Rounds,
}

/// Most of a limit is spent; said once for each limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetWarned {
    /// Whose limit; none = the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Of what.
    pub resource: Resource,
    /// How much is spent.
    pub spent: u64,
    /// How much may be.
    pub limit: u64,
}

/// A person lets more be spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRaised {
    /// Whose limit; none = the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How much more of each.
    #[serde(default)]
    pub more: Budget,
    /// Whether what has no known price may be spent too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// Who says so.
    pub who: String,
}
