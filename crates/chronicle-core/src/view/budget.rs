//! One limit, and how much of it is spent.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;
use crate::definition::budget::Resource;
use crate::state::budget::{Balance, counts_for};
use crate::words;

/// One limit, and how much of it is spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRow {
    /// The phase that has the limit; `None` for the run's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Which limit, and the unit of both figures.
    pub resource: Resource,
    /// Spent so far: millionths of a dollar, tokens, milliseconds or attempts.
    pub spent: u64,
    /// The limit, in the same unit.
    pub limit: u64,
    /// Both figures in words.
    pub text: String,
}

impl BudgetRow {
    /// Takes in that so much more time was worked at a place, if it is for this limit.
    pub(super) fn work(&mut self, place: &Place, passed_ms: u64) {
        if self.resource != Resource::Time || !counts_for(self.place.as_ref(), place) {
            return;
        }
        let (account, resource) = (self.place.clone(), self.resource);
        let spent = self.spent.saturating_add(passed_ms);
        *self = budget_row(&Balance { place: account, resource, spent, limit: self.limit });
    }
}

pub(super) fn budget_row(of: &Balance) -> BudgetRow {
    BudgetRow {
        place: of.place.clone(),
        resource: of.resource,
        spent: of.spent,
        limit: of.limit,
        text: words::balance(of),
    }
}
