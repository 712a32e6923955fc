//! Payloads of budget events: what a gate lacks, a warning, a raise.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;
use crate::definition::budget::Resource;
use crate::definition::workflow::Budget;

/// What a gate waits for that a person can grant without moving the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "of", rename_all = "snake_case")]
pub enum Lack {
    /// The budget for this resource is used up.
    More(Resource),
    /// The price is unknown; a person must accept unpriced work.
    Price,
    /// The loop's rounds are used up.
    Rounds,
}

/// Most of a limit is spent. Written once per limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetWarned {
    /// The phase that has the limit; `None` for the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Which limit, and the unit of both figures.
    pub resource: Resource,
    /// Spent so far, in the resource's unit.
    pub spent: u64,
    /// The limit, in the resource's unit.
    pub limit: u64,
}

/// A person raised a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRaised {
    /// The phase that has the limit; `None` for the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Added to each limit that it names.
    #[serde(default)]
    pub more: Budget,
    /// True if work without a known price is accepted from now on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
    /// User name of the person.
    pub who: String,
}
