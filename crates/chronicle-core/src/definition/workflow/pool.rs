//! What pools and races say beyond other phases: steps, folders, merges, racers and judges.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::base::ids::PhaseId;

/// How many steps of a pool run at once if it does not say.
pub const SLOTS: u32 = 3;
/// Most slots of a pool.
pub const SLOTS_MAX: u32 = 64;
/// Most steps of one pool.
pub const STEPS_MAX: usize = 500;

/// One work item of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepItem {
    /// Unique within the pool.
    pub id: String,
    /// The name that people see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Ids of steps that must be merged first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Files that it is about.
    #[serde(default, skip_serializing_if = "StepFiles::is_empty")]
    pub files: StepFiles,
    /// Any further fields, which its workers read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, serde_json::Value>,
}

/// Files that a step is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StepFiles {
    /// Files that it makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub create: Vec<String>,
    /// Files that exist and that it changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<String>,
}

impl StepFiles {
    /// True if the step names no files.
    pub fn is_empty(&self) -> bool {
        self.create.is_empty() && self.change.is_empty()
    }
}

impl<'de> Deserialize<'de> for StepFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Said {
            // Runs of earlier versions hold a plain list.
            List(Vec<String>),
            Map {
                #[serde(default)]
                create: Vec<String>,
                #[serde(default)]
                change: Vec<String>,
            },
        }
        Ok(match Said::deserialize(deserializer)? {
            Said::List(change) => Self { create: Vec::new(), change },
            Said::Map { create, change } => Self { create, change },
        })
    }
}

/// How the work of a pool's steps comes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Merge {
    /// Which step is merged first.
    pub order: MergeOrder,
    /// True if the `verify` commands must pass on the result before the project is written.
    pub verify: bool,
}

impl Merge {
    /// True if it says nothing but the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl<'de> Deserialize<'de> for Merge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Said {
            // Runs of earlier versions hold any text, which none of them used.
            Text(String),
            Map {
                #[serde(default)]
                order: MergeOrder,
                #[serde(default)]
                verify: bool,
            },
        }
        Ok(match Said::deserialize(deserializer)? {
            Said::Text(text) if text == "in_order" => {
                Self { order: MergeOrder::InOrder, verify: false }
            }
            Said::Text(_) => Self::default(),
            Said::Map { order, verify } => Self { order, verify },
        })
    }
}

/// The order in which finished steps are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeOrder {
    /// In the order in which they finish.
    #[default]
    Completion,
    /// As the plan lists them, each after those that it depends on.
    InOrder,
}

/// How folders of steps are made ready.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorktreeSetup {
    /// Commands that run in a new folder before its first worker.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Ignored files that are copied into it: globs below the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carry: Vec<String>,
}

impl WorktreeSetup {
    /// True if folders are used as they are made.
    pub fn is_empty(&self) -> bool {
        self.setup.is_empty() && self.carry.is_empty()
    }
}

/// One of several workers that do the same work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Racer {
    /// Unique within the race.
    pub id: String,
    /// Its agent, if not the phase's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its model, if not the phase's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its persona, if not the phase's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// Its thinking level, if not the phase's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
}

/// Who chooses among the results of a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The worker of a phase of the same workflow.
    Phase(PhaseId),
    /// Commands that must pass in a racer's folder.
    Commands(Vec<String>),
    /// A person, who is asked.
    Person,
}

impl Judge {
    /// Its commands; `None` if it has none.
    pub fn commands(&self) -> Option<&Vec<String>> {
        match self {
            Self::Commands(commands) => Some(commands),
            Self::Phase(_) | Self::Person => None,
        }
    }

    pub(super) fn commands_mut(&mut self) -> Option<&mut Vec<String>> {
        match self {
            Self::Commands(commands) => Some(commands),
            Self::Phase(_) | Self::Person => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Judge, Merge, MergeOrder, StepFiles, StepItem};
    use crate::base::ids::PhaseId;

    #[test]
    fn what_earlier_versions_froze_is_read() {
        let merge = |text: &str| serde_json::from_str::<Merge>(text).unwrap();
        assert_eq!(merge(r#""squash""#), Merge::default());
        assert_eq!(merge(r#""in_order""#).order, MergeOrder::InOrder);
        let step: StepItem = serde_json::from_str(r#"{"id": "a", "files": ["x", "y"]}"#).unwrap();
        assert_eq!((step.files.create.len(), step.files.change.len()), (0, 2));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let merge = Merge { order: MergeOrder::InOrder, verify: true };
        let text = serde_json::to_string(&merge).unwrap();
        assert_eq!(text, r#"{"order":"in_order","verify":true}"#);
        assert_eq!(serde_json::from_str::<Merge>(&text).unwrap(), merge);
        let files = StepFiles { create: vec!["a".to_owned()], change: Vec::new() };
        let text = serde_json::to_string(&files).unwrap();
        assert_eq!(text, r#"{"create":["a"]}"#);
        assert_eq!(serde_json::from_str::<StepFiles>(&text).unwrap(), files);
        for judge in [
            Judge::Person,
            Judge::Phase(PhaseId::from("p")),
            Judge::Commands(vec!["make".to_owned()]),
        ] {
            let text = serde_json::to_string(&judge).unwrap();
            assert_eq!(serde_json::from_str::<Judge>(&text).unwrap(), judge);
        }
    }
}
