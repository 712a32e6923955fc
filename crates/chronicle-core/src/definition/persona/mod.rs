//! Personas: a system prompt with tools and a model, from a Markdown file; and teams of them.
//!
//! Persona files come from several programs with different fields. All of them are read, and none is refused for an unknown
//! field, unless it looks like a list of tools or restricts a worker in another way. A run freezes the personas that it uses
//! into its first event.

pub(crate) mod frontmatter;
mod lines;
mod read;
mod team;
mod told;
mod tool_lists;
mod unenforced;

use serde::{Deserialize, Serialize};

pub use read::{PersonaRead, read};
pub use team::{TEAM_OF_ALL, Team, read_teams};

use crate::definition::workflow::Tools;

/// Who does a phase: system prompt, tools and model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Persona {
    /// The name that phases use, case-insensitively.
    pub name: String,
    /// A one-line description, shown in lists.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The system prompt of its workers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// Its tools. A phase may restrict them further.
    #[serde(default, skip_serializing_if = "is_unsaid")]
    pub tools: Tools,
    /// Its model, unless the phase sets its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its thinking level, unless the phase sets its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Skills that it names. This version does not provide them, so a run with them must be accepted explicitly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Extensions that it names; treated like `skills`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Turn limit that its author set; treated like `skills`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// True if it uses a home folder of the run's own, without the person's files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
    /// Its colour, for faces that show one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
}

fn is_unsaid(tools: &Tools) -> bool {
    *tools == Tools::default()
}

impl Persona {
    /// True if a phase refers to it by that word.
    pub fn is_called(&self, word: &str) -> bool {
        self.name.eq_ignore_ascii_case(word.trim())
    }
}
