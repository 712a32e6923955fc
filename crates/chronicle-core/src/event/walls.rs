//! Walls: what a machine can put up, and what stands around an attempt.

use serde::{Deserialize, Serialize};

use crate::base::ids::AttemptId;
use crate::definition::walls::{PROCESSES_DEFAULT, WallFiles, WallNetwork, Walls};
use crate::event::Handed;

/// Which walls a machine can put up; found by putting one up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and a field of the line"
)]
pub struct WallsFound {
    /// Users, mounts and processes of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub namespaces: bool,
    /// A list of processes that shows nobody else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_proc: bool,
    /// Landlock, the second layer or the only one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub landlock: bool,
    /// Whether a limit on processes binds; one that binds root takes a cgroup.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub processes: bool,
    /// Whether the network can be off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// True if a person wanted none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// Why there is not more, for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
}

/// What settings say about walls, and what the machine could do when the run began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunWalls {
    /// What the settings say.
    #[serde(default, skip_serializing_if = "Walls::is_empty")]
    pub said: Walls,
    /// What the machine can do.
    pub found: WallsFound,
}

/// The walls around one attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and a field of the line"
)]
pub struct AttemptWalls {
    /// What was asked for, by settings, workflow and phase together.
    #[serde(default, skip_serializing_if = "Walls::is_empty")]
    pub asked: Walls,
    /// Users, mounts and processes of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub namespaces: bool,
    /// A list of processes that shows nobody else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_proc: bool,
    /// Landlock, the second layer or the only one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub landlock: bool,
    /// True if no limit on processes can be set, or it would bind nobody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlimited: bool,
}

/// An attempt that has not begun gets other walls than it was decided with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRewalled {
    /// The attempt that has not begun.
    pub attempt: AttemptId,
    /// The walls around it; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<Box<AttemptWalls>>,
    /// What its worker is told instead; `None` for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handed>,
}

impl AttemptWalls {
    /// The walls that a machine puts up for what is asked.
    pub(crate) fn new(asked: Walls, found: &WallsFound) -> Self {
        // Whatever is behind Landlock cannot mount anything, and so cannot have a sandbox of its own.
        let landlock = found.landlock && !(asked.own_sandbox == Some(true) && found.namespaces);
        let unlimited = found.namespaces && !found.processes;
        Self { asked, namespaces: found.namespaces, own_proc: found.own_proc, landlock, unlimited }
    }

    /// True if at least one layer stands.
    pub fn stand(&self) -> bool {
        self.namespaces || self.landlock
    }

    /// Whether the project can be changed.
    pub fn files(&self) -> WallFiles {
        self.asked.files.unwrap_or_default()
    }

    /// Whether there is a network.
    pub fn network(&self) -> WallNetwork {
        self.asked.network.unwrap_or_default()
    }

    /// Most processes behind them.
    pub fn processes(&self) -> u64 {
        self.asked.processes.unwrap_or(PROCESSES_DEFAULT)
    }
}
