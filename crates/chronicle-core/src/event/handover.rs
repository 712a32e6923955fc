//! What a worker was told at its start, as the ledger keeps it.

use serde::{Deserialize, Serialize};

/// The handover of an attempt, as ids of artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Artifact id of the handover text.
    pub text: String,
    /// Artifact id of the part that did not fit; the text names the file that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
}
