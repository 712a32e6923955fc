//! One decision as a line of the ledger: written as a whole or not at all.

use serde::{Deserialize, Serialize};

use crate::base::time::Millis;
use crate::event::Event;
use crate::event::input::{By, What};

/// Version of the events' meaning. It is raised only when an older reader would *misjudge* a run.
pub const VERSION: u32 = 1;

/// A line of the ledger, without the sum that closes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Counts from 1, without a gap.
    pub seq: u64,
    /// Wall-clock time, shown to people. Order is given by `seq`.
    pub at: Millis,
    /// [`VERSION`] of the Chronicle that wrote it.
    pub v: u32,
    /// The sender of the input that led to it.
    pub by: By,
    /// The input, if it cannot be derived from the events (`rebuild.rs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<What>,
    /// Everything that the input led to, in order.
    pub events: Vec<Event>,
    /// Texts that the events name by their sum, kept here so that one sync brings both to disk. Longer ones are artifacts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
}
