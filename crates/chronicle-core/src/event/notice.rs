//! Payloads of notices: what people are notified about, how, and whether it worked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::as_text;
use crate::base::ids::GateId;

/// The subject of a notice. A gate opens once and a run ends once, so this identifies the notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// The run waits for a person at this gate.
    Gate(GateId),
    /// The run has ended, with any status.
    End,
}

/// How people are notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Through a command from the user's settings.
    Command,
    /// Through an HTTP POST to a configured address.
    Webhook,
}

/// The result of sending a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeGiven {
    /// Which gate or end it was about.
    pub about: About,
    /// The ways that worked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Way>,
    /// The ways that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
    /// Why it was not sent at all, as far as known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
}

/// A way that failed, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The way that was tried.
    pub way: Way,
    /// The error, for people.
    pub why: String,
}

/// Why a notice was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    /// A supervisor died while sending it: it may have been sent.
    Unknown,
    /// The run was not being driven: whoever gave the command that led to it was there to see it.
    NobodyDrove,
}

impl NoticeGiven {
    /// A notice that was not given.
    pub fn missed(about: About, why: Missed) -> Self {
        Self { about, given: Vec::new(), failed: Vec::new(), missed: Some(why) }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gate(gate) => write!(f, "{gate}"),
            Self::End => f.write_str("end"),
        }
    }
}

impl FromStr for About {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "end" { Ok(Self::End) } else { text.parse().map(Self::Gate) }
    }
}

impl Serialize for About {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for About {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        as_text::read(from, str::parse)
    }
}
