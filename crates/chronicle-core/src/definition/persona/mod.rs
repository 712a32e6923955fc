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
    /// Skills that it names; whoever runs with it must accept that nothing gives them to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Extensions that it names; as with `skills`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Most turns that its author wanted; as with `skills`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Whether it works in a home of the run's own, without anything of the person's.
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
    /// What it promises and this version cannot keep, in words.
    pub fn unsupported(&self) -> Vec<String> {
        let promises = [
            ("skills", !self.skills.is_empty()),
            ("extensions", !self.extensions.is_empty()),
            ("max_turns", self.max_turns.is_some()),
        ];
        let said = promises.into_iter().filter(|(_, is_said)| *is_said);
        said.map(|(field, _)| format!("`{field}` of persona `{}`", self.name)).collect()
    }

    /// Whether a phase means it by that word.
    pub fn is_called(&self, word: &str) -> bool {
        self.name.eq_ignore_ascii_case(word.trim())
    }
}
