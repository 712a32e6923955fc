//! A person's word about a ledger that was not as it was left.

use serde::{Deserialize, Serialize};

/// What was wrong, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRepaired {
    /// What was wrong.
    pub why: String,
    /// How many bytes after the line before this one were cut off.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub bytes: u64,
    /// The file beside the ledger that keeps it as it was found; none if nothing was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_nothing(bytes: &u64) -> bool {
    *bytes == 0
}
