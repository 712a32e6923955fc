//! What is frozen when a run begins, and who drives it.

use serde::{Deserialize, Serialize};

use crate::base::ids::RunId;
use crate::definition::guard::FrozenRules;
use crate::definition::persona::Persona;
use crate::definition::workflow::Workflow;
use crate::event::carried::Carried;
use crate::event::walls::{RunWalls, WallsFound};

/// Everything that is frozen at the start of a run. Later changes to files or settings do not affect it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and a field of the first line"
)]
pub struct RunStarted {
    /// Chosen by the caller: a UUIDv7.
    pub run: RunId,
    /// What the person asked for.
    pub task: String,
    /// User name of the person who started it.
    pub who: String,
    /// Absolute path of the project's folder.
    pub project: String,
    /// Agent of phases that name none.
    pub agent: String,
    /// Model of phases that name none; `None` leaves it to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run's workflow first, then every workflow inside it.
    pub workflows: Vec<Workflow>,
    /// The file that the workflow was loaded from, or that it is built in.
    pub source: String,
    /// The personas that its phases name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<Persona>,
    /// Workflow fields that this version does not enforce and that a person accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unenforced: Vec<String>,
    /// Version of the Chronicle that started the run.
    pub version: String,
    /// What happens when a person is needed. `None`: the supervisor exits, and the run waits to be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_gate: Option<OnGate>,
    /// True if agents use a home folder of the run's own instead of the person's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// True if work folders stay when their pool is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_folders: bool,
    /// True if the run works apart: in a folder of its own, which is merged into the project when a person says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// True if every line records its input, so that it can be decided again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inputs: bool,
    /// The rules about tool calls, as they were when the run began. `None` in lines of versions that had no guards: then the built-in
    /// ones hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<FrozenRules>,
    /// The walls around its workers. `None` in lines of versions that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<Box<RunWalls>>,
    /// Where the run begins. `None`: at the start of its workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Box<Carried>>,
}

/// What a run does on its own when a person is needed. It never approves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnGate {
    /// The run ends as failed.
    Fail,
    /// The supervisor keeps running and waits for the answer.
    Wait,
}

/// The supervisor that drives the run from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorStarted {
    /// Process id of the supervisor.
    pub pid: u32,
    /// Name of the machine that it runs on.
    pub host: String,
    /// Epoch of its claim on the ledger; higher than all before.
    pub epoch: u64,
    /// Version of the Chronicle that drives the run.
    pub version: String,
    /// True if it has a way to notify people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notifies: bool,
    /// Which walls its machine can put up; `None` if it did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<WallsFound>,
}
