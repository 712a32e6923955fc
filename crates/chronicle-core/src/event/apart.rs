//! Runs that work apart: in a folder of their own, whose files a person has merged into the project once the run is over.

use serde::{Deserialize, Serialize};

use crate::base::ids::TreeId;
use crate::event::pool::Side;

/// The work of a whole run is being merged into the project, or once more. What it would do and what was written are told by the same
/// events as for a step, with the number of the run's own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMergeBegan {
    /// User name of the person who wants it.
    pub who: String,
    /// The files that both sides started from.
    pub base: TreeId,
    /// The run's files. `None`: as its folder is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theirs: Option<TreeId>,
    /// Which side wins where both changed the same lines; `None` asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub favour: Option<Side>,
    /// True if the folder stays after the merge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}
