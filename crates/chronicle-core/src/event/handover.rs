//! What a worker was told at its start, as the ledger keeps it.

use serde::{Deserialize, Serialize};

/// What a worker is told at its start: artifacts, by the sums of their content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// The text itself.
    pub text: String,
    /// What did not fit into it: a file that the text names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}
