//! One decision as the ledger keeps it: whole, or not at all.

use serde::{Deserialize, Serialize};

use crate::base::time::Millis;
use crate::event::Event;
use crate::event::input::{By, What};

/// The version of the ledger's words. It rises when an older reader would *misjudge* a run.
pub const VERSION: u32 = 1;

/// A line of the ledger, without the sum that closes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Counts from 1, without a gap.
    pub seq: u64,
    /// When, for people.
    pub at: Millis,
    /// The version of the words.
    pub v: u32,
    /// Whose input led to it.
    pub by: By,
    /// What came in, where it cannot be told from the events (`rebuild.rs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<What>,
    /// What happened.
    pub events: Vec<Event>,
}
