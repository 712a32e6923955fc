//! Who does a phase: a system prompt with tools and a model, from a Markdown file; and teams of them.
//!
//! Persona files come from several programs that each know other fields. All of them are read, none is refused for a field
//! that we do not know. A run freezes the personas that it uses into its first event.

pub(crate) mod frontmatter;
mod read;
mod team;

use serde::{Deserialize, Serialize};

pub use read::{PersonaRead, read};
pub use team::{TEAM_OF_ALL, Team, read_teams};

use crate::definition::workflow::Tools;

/// Who does a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Persona {
    /// What phases call it by, in any case.
    pub name: String,
    /// One line about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What the worker is told about itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// Its tools, unless the phase says otherwise.
    #[serde(default, skip_serializing_if = "is_unsaid")]
    pub tools: Tools,
    /// Its model, unless the phase says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long it thinks, unless the phase says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Skills that it names; the agent's own business.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Extensions that it names; the agent's own business.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Most turns that its author wanted; limits are the supervisor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Whether its author wanted it by itself, as every worker is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// Its colour on a screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}

fn is_unsaid(tools: &Tools) -> bool {
    *tools == Tools::default()
}

impl Persona {
    /// Whether a phase means it by that word.
    pub fn is_called(&self, word: &str) -> bool {
        self.name.eq_ignore_ascii_case(word.trim())
    }
}
