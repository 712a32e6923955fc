//! What a guard says about a call, and by which rule.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::definition::guard::RuleAt;

/// Longest part of a command or path that a reason repeats.
pub(super) const SHOWN_MAX: usize = 120;

/// What a guard says about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Judgement {
    /// Nothing forbids it, and nothing about it is unclear.
    Clear,
    /// It may not run, whoever asks.
    Deny {
        /// The rule that forbids it.
        rule: RuleRef,
        /// What is wrong with it, for the worker and for people.
        why: String,
    },
    /// A person decides. Without one it may not run.
    Ask {
        /// The rule that asks.
        rule: RuleRef,
        /// What is doubtful about it.
        why: String,
    },
}

impl Judgement {
    /// The same with other words for what is wrong, such as without secrets.
    #[must_use]
    pub fn said(self, words: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Clear => Self::Clear,
            Self::Deny { rule, why } => Self::Deny { why: words(&why), rule },
            Self::Ask { rule, why } => Self::Ask { why: words(&why), rule },
        }
    }

    /// The stricter of two; the first one if they are equally strict.
    #[must_use]
    pub(super) fn or_stricter(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }

    fn strictness(&self) -> u8 {
        match self {
            Self::Clear => 0,
            Self::Ask { .. } => 1,
            Self::Deny { .. } => 2,
        }
    }

    pub(super) fn is_deny(&self) -> bool {
        matches!(self, Self::Deny { .. })
    }
}

/// Names a rule, so that people can find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRef {
    /// Which list it is in.
    pub kind: RuleKind,
    /// The rule as it is written.
    pub text: String,
    /// Where it is written; `None` for those that are no file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<RuleAt>,
}

impl RuleRef {
    /// A rule that is in no file.
    pub(super) fn own(kind: RuleKind, text: &str) -> Self {
        Self { kind, text: text.to_owned(), at: None }
    }
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.text)?;
        match &self.at {
            Some(at) => write!(f, " ({}:{})", at.file, at.line),
            None => Ok(()),
        }
    }
}

/// Which list a rule is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// What no worker may do. No file and no setting turns it off.
    Protected,
    /// The lists of tools of the phase and its persona.
    Tools,
    /// One of `bashToolPatterns` or `destructiveCommands`.
    Command,
    /// A path of `zeroAccessPaths`.
    ZeroAccess,
    /// A path of `readOnlyPaths`.
    ReadOnly,
    /// A path of `noDeletePaths`.
    NoDelete,
    /// A path of `askPaths`.
    AskPath,
    /// A pattern of `sensitivePaths`.
    Sensitive,
    /// A change outside of the project and of all `freePaths`.
    Outside,
    /// What the call would do cannot be known.
    Unclear,
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protected => "protected",
            Self::Tools => "tools",
            Self::Command => "command rule",
            Self::ZeroAccess => "zeroAccessPaths",
            Self::ReadOnly => "readOnlyPaths",
            Self::NoDelete => "noDeletePaths",
            Self::AskPath => "askPaths",
            Self::Sensitive => "sensitivePaths",
            Self::Outside => "freePaths",
            Self::Unclear => "unclear",
        })
    }
}
