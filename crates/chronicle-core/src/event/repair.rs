//! A person's decision to continue with a ledger that had been changed outside of Chronicle.

use serde::{Deserialize, Serialize};

/// What was wrong, and what was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRepaired {
    /// The damage that was found, for people.
    pub why: String,
    /// Number of bytes that were cut off after the line before this one.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub bytes: u64,
    /// File beside the ledger that keeps the damaged original; `None` if nothing was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_nothing(bytes: &u64) -> bool {
    *bytes == 0
}
