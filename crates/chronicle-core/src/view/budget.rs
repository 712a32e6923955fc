//! One limit, and how much of it is spent.

use serde::{Deserialize, Serialize};

use crate::base::ids::Place;
use crate::definition::budget::Resource;
use crate::state::budget::Balance;
use crate::words;

/// One limit, and how much of it is spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetRow {
    /// Whose; none = the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Of what.
    pub resource: Resource,
    /// How much is spent, in millionths of a dollar, tokens, milliseconds or attempts.
    pub spent: u64,
    /// How much may be.
    pub limit: u64,
    /// Both in words.
    pub text: String,
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
