//! Fields that do nothing on some kinds of phases. The checker reports them, and the schema refuses them.

use super::super::model::PhaseKind;

/// Fields of a phase that only an agent can use, by their first names.
const FOR_AGENTS: [&str; 13] = [
    "instructions",
    "persona",
    "agent",
    "model",
    "thinking",
    "extra_skills",
    "tools",
    "availableProfiles",
    "signals",
    "followups",
    "session",
    "produces",
    "outcomes",
];

/// A kind of phase, and what does nothing on it.
pub(crate) struct Idle {
    pub(crate) kind: PhaseKind,
    /// The word of `run`.
    pub(crate) run: &'static str,
    /// The field that implies this kind; empty if none does.
    pub(crate) implied_by: &'static [&'static str],
    /// Fields for agents that it does use.
    used: &'static [&'static str],
    /// Other fields that it does not use.
    pub(crate) others: &'static [&'static str],
    /// Fields of `limits` that it does not use.
    pub(crate) limits: &'static [&'static str],
    /// What to do instead.
    pub(crate) hint: &'static str,
}

impl Idle {
    /// Every field of the phase itself that does nothing.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static str> {
        let of_agents = FOR_AGENTS.into_iter().filter(|name| !self.used.contains(name));
        of_agents.chain(self.others.iter().copied())
    }
}

/// Kinds of phases without an agent of their own.
pub(crate) const IDLE: [Idle; 3] = [
    Idle {
        kind: PhaseKind::Command,
        run: "command",
        implied_by: &["commands"],
        used: &[],
        others: &[],
        limits: &[
            "nudges",
            "continuations",
            "depth",
            "followups",
            "repeats",
            "idle",
            "tool",
            "ask",
        ],
        hint: "no agent works there: remove it",
    },
    Idle {
        kind: PhaseKind::Workflow,
        run: "workflow",
        implied_by: &["workflow", "subworkflow"],
        // The word with which the workflow inside ends is looked up in them.
        used: &["outcomes"],
        others: &["cleanup", "env", "walls", "timeout_minutes"],
        limits: &[
            "retries",
            "nudges",
            "continuations",
            "depth",
            "followups",
            "waits",
            "repeats",
            "standstill",
            "grace",
            "idle",
            "tool",
            "ask",
            "timeout",
        ],
        hint: "put it on the phases of the workflow inside",
    },
    Idle {
        kind: PhaseKind::Human,
        run: "human",
        implied_by: &[],
        used: &["instructions", "outcomes"],
        others: &["budget", "env", "walls", "timeout_minutes"],
        limits: &[
            "retries",
            "nudges",
            "continuations",
            "depth",
            "followups",
            "waits",
            "repeats",
            "standstill",
            "grace",
            "idle",
            "tool",
            "ask",
            "timeout",
        ],
        hint: "a person works there: remove it",
    },
];
