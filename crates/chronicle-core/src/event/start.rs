//! What is frozen when a run begins, and who drives it.

use serde::{Deserialize, Serialize};

use crate::base::ids::RunId;
use crate::definition::persona::Persona;
use crate::definition::workflow::Workflow;
use crate::event::carried::Carried;

/// Everything frozen at the start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The run.
    pub run: RunId,
    /// What the person asked for.
    pub task: String,
    /// Who asked.
    pub who: String,
    /// The project's folder.
    pub project: String,
    /// The agent of phases that name none.
    pub agent: String,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run's workflow first, then every workflow inside it.
    pub workflows: Vec<Workflow>,
    /// Where the workflow came from.
    pub source: String,
    /// The personas that its phases name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<Persona>,
    /// Fields of the workflow that a person accepted as not enforced by this version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unenforced: Vec<String>,
    /// The Chronicle that froze it.
    pub version: String,
    /// What happens when a person is needed; none = it waits to be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_gate: Option<OnGate>,
    /// Whether agents work in a home of the run's own instead of the person's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// Whether every line tells what came in, so that it can be decided again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inputs: bool,
    /// Where it begins; none = at the beginning of its workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Box<Carried>>,
}

/// What a run does by itself when a person is needed. To approve is none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnGate {
    /// It fails.
    Fail,
    /// Its supervisor stays.
    Wait,
}

/// Who drives the run from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorStarted {
    /// Its process.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// The lock's epoch: higher than all before.
    pub epoch: u64,
    /// Its version.
    pub version: String,
    /// Whether it tells people when they are needed and when the run has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notifies: bool,
}
