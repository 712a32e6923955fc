//! Ids: newtypes, so that a phase cannot be mistaken for a place.
//!
//! Runs have a UUID, chosen by the caller. Everything else is numbered per run (`a7`, `g3`) or is a path.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::as_text::{self, put};

/// Agent name of attempts that run commands.
pub const SHELL: &str = "shell";

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text without checking it.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as it is written and shown.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

text_id!(
    /// A run: a UUIDv7, shown by its last eight digits.
    RunId
);
text_id!(
    /// A phase of one workflow.
    PhaseId
);
text_id!(
    /// What an agent calls the conversation it can resume.
    SessionId
);
text_id!(
    /// How a phase was left: `complete`, `fail`, or a word of the workflow's own.
    Outcome
);

text_id!(
    /// A recorded state of the project's files, identified by its content.
    TreeId
);

text_id!(
    /// One work item of a phase that has steps.
    StepId
);

/// A folder that workers work in, and that trees record.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(tag = "is", content = "number", rename_all = "snake_case")]
pub enum FolderId {
    /// The folder that the run was started in.
    #[default]
    Project,
    /// A work folder of the run, by its number. Never derived from a step's name, which may contain anything.
    Work(u32),
}

impl FolderId {
    /// True for the project's own folder.
    pub fn is_project(&self) -> bool {
        *self == Self::Project
    }

    /// The number of a work folder; `None` for the project's own.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Project => None,
            Self::Work(number) => Some(number),
        }
    }
}

impl RunId {
    /// The last eight digits: what people see and type.
    pub fn short(&self) -> &str {
        let start = self.0.len().saturating_sub(8);
        self.0.get(start..).unwrap_or(&self.0)
    }
}

/// Target of an edge that ends its frame.
pub const DONE: &str = "done";
/// Target of an edge that opens the intervention gate.
pub const HUMAN_INTERVENTION: &str = "human_intervention";

/// Outcome of a phase whose work is done.
pub const COMPLETE: &str = "complete";

/// Outcome of a phase that a person skipped: its work may not be done.
pub const SKIPPED: &str = "skipped";
/// Outcome of a phase that a person rejected.
pub const REJECTED: &str = "rejected";

/// Outcome of a phase that was active when a person rewound the run.
pub const REWOUND: &str = "rewound";

/// How many of the known outcomes a worker may send. Only the supervisor sets the others.
const SENT_BY_WORKERS: usize = 4;

/// Outcomes that Chronicle itself sets or interprets.
pub const KNOWN_OUTCOMES: [&str; 10] = [
    "complete",
    "pass",
    "fail",
    "gaps",
    "crash",
    "stuck",
    "timeout",
    "rejected",
    "conflict",
    "unverified",
];

impl Outcome {
    /// True if the work is done without reservations.
    pub fn is_complete(&self) -> bool {
        self.as_str() == COMPLETE
    }

    /// True if only the supervisor may set this outcome; a worker that sends it is refused.
    pub fn is_supervisors(&self) -> bool {
        KNOWN_OUTCOMES[SENT_BY_WORKERS..].contains(&self.as_str()) || self.as_str() == SKIPPED
    }

    /// True if this outcome means that the work did not succeed, so that it needs an edge of its own.
    pub fn is_failure(&self) -> bool {
        KNOWN_OUTCOMES[2..].contains(&self.as_str())
    }
}

/// Path of a frame: empty for the root, otherwise derived from the place that opened it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FramePath(String);

impl FramePath {
    /// The frame of the run's own workflow.
    pub fn root() -> Self {
        Self::default()
    }

    /// True for the frame of the run's own workflow.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of a phase of this frame.
    pub fn place(&self, phase: &PhaseId) -> Place {
        if self.is_root() {
            Place(phase.0.clone())
        } else {
            Place(format!("{}/{}", self.0, phase.0))
        }
    }

    /// True if this frame is the other one or inside of it.
    pub fn is_within(&self, other: &Self) -> bool {
        let below = || self.0.strip_prefix(&other.0).is_some_and(|rest| rest.starts_with('/'));
        other.is_root() || self == other || below()
    }

    /// The text, empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A phase of a frame as a path: `build/step-2/ward`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(String);

impl Place {
    /// Wraps the text without checking it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The place as it is written and shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The frame that this place belongs to.
    pub fn frame(&self) -> FramePath {
        FramePath(self.0.rsplit_once('/').map_or(String::new(), |(frame, _)| frame.to_owned()))
    }

    /// The phase of that frame.
    pub fn phase(&self) -> PhaseId {
        PhaseId::new(self.0.rsplit_once('/').map_or(self.0.as_str(), |(_, phase)| phase))
    }

    /// The frame of a workflow that runs inside of this phase.
    pub fn frame_below(&self) -> FramePath {
        FramePath(self.0.clone())
    }

    /// The frame of a step of the pool at this place.
    pub fn step_frame(&self, step: &StepId) -> FramePath {
        FramePath(format!("{}/{step}", self.0))
    }

    /// A step of the pool at this place, as people name it.
    #[must_use]
    pub fn of_step(&self, step: &StepId) -> Self {
        Self(format!("{}/{step}", self.0))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! counted_id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", char::from($letter), self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                text.strip_prefix(char::from($letter))
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| format!("`{text}` is not an id like `{}1`", char::from($letter)))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                // A letter and at most ten digits.
                let mut text = [b'0'; 11];
                let digits = self.0.checked_ilog10().unwrap_or(0) as usize + 1;
                let text = &mut text[..=digits];
                put(u64::from(self.0), text);
                text[0] = $letter;
                to.serialize_str(std::str::from_utf8(text).unwrap_or_default())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                as_text::read(from, str::parse)
            }
        }
    };
}

counted_id!(
    /// One start of one agent at a place: `a7`.
    AttemptId,
    b'a'
);
counted_id!(
    /// One wait for a person: `g3`.
    GateId,
    b'g'
);

counted_id!(
    /// One note of a person to a worker: `n2`.
    NoteId,
    b'n'
);

/// The event that made something due: its line and its index in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cause {
    /// The line's sequence number.
    pub seq: u64,
    /// The event's index in the line.
    pub index: u32,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.index)
    }
}
