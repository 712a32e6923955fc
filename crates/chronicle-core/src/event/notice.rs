//! The words of notices: what people are told of, how, and how that went.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::as_text;
use crate::base::ids::GateId;

/// What people are told of. A gate opens once and a run ends once, so that this names the notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// The run waits for them.
    Gate(GateId),
    /// The run has ended, one way or another.
    End,
}

/// How people are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By a command of the user's.
    Command,
    /// By a post to an address.
    Webhook,
}

/// How a notice went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeGiven {
    /// What of.
    pub about: About,
    /// The ways that went well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Way>,
    /// The ways that did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
    /// Why it was not given, as far as is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Missed>,
}

/// A way that did not go well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Which.
    pub way: Way,
    /// Why.
    pub why: String,
}

/// Why a notice was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    /// A supervisor died over it: it may have been given.
    Unknown,
    /// Nobody drove the run; who made it happen was there.
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
