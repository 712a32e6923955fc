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
    /// Names of a field that must be there too; empty if the kind is enough.
    pub(crate) beside: &'static [&'static str],
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

/// Kinds of phases that cannot use every field.
pub(crate) const IDLE: [Idle; 7] = [
    Idle {
        kind: PhaseKind::Command,
        run: "command",
        implied_by: &["commands"],
        beside: &[],
        used: &[],
        others: &[],
        limits: OF_AGENTS,
        hint: "no agent works there: remove it",
    },
    Idle {
        kind: PhaseKind::Workflow,
        run: "workflow",
        implied_by: &["workflow", "subworkflow"],
        beside: &[],
        // The word with which the workflow inside ends is looked up in them.
        used: &["outcomes"],
        others: &["cleanup", "env", "walls", "timeout_minutes"],
        limits: OF_WORKERS,
        hint: "put it on the phases of the workflow inside",
    },
    Idle {
        kind: PhaseKind::Human,
        run: "human",
        implied_by: &[],
        beside: &[],
        used: &["instructions", "outcomes"],
        others: &["budget", "env", "walls", "timeout_minutes"],
        limits: OF_WORKERS,
        hint: "a person works there: remove it",
    },
    Idle {
        kind: PhaseKind::Pool,
        run: "pool",
        implied_by: &[],
        beside: &[],
        used: STEP_FIELDS,
        others: &[],
        limits: &[],
        hint: "no step can use it: remove it",
    },
    // What the steps of a pool are done by is told by these two: the workflow's phases, or commands.
    Idle {
        kind: PhaseKind::Pool,
        run: "pool",
        implied_by: &[],
        beside: &["workflow", "subworkflow"],
        used: &["outcomes", "session", "produces"],
        others: &["commands", "once", "requires", "fallback", "env", "walls", "timeout_minutes"],
        limits: OF_WORKERS,
        hint: "put it on the phases of the workflow inside",
    },
    Idle {
        kind: PhaseKind::Pool,
        run: "pool",
        implied_by: &[],
        beside: &["commands"],
        used: &["session", "produces"],
        others: &["requires", "fallback"],
        limits: OF_AGENTS,
        hint: "no agent works there: remove it",
    },
    Idle {
        kind: PhaseKind::Race,
        run: "race",
        implied_by: &[],
        beside: &[],
        used: STEP_FIELDS,
        others: &[],
        limits: &[],
        hint: "no worker of a race can use it: remove it",
    },
];

/// Fields for agents that the worker of a step or of a race uses: a session of its own, and a plan that was made before.
const STEP_FIELDS: &[&str] = &[
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
    "outcomes",
];

/// Limits of what agents do.
const OF_AGENTS: &[&str] =
    &["nudges", "continuations", "depth", "followups", "repeats", "idle", "tool", "ask"];

/// Limits of what workers and commands do.
const OF_WORKERS: &[&str] = &[
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
];
