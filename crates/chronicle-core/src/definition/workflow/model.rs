//! A checked workflow: what a run is made of, every default written out.
//!
//! Readers make a `Draft` of a file, `check` turns it into this. It is frozen into a run's first event; fields that the
//! engine does not act on yet are kept here all the same, so that no file loses a word on the way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::ids::{Outcome, PhaseId};
use crate::base::limits::Limits;

/// The word of `requires` for files that differ.
pub const CHANGED_FILES: &str = "changed_files";

/// The signals, as workers and `signals` of a phase name them.
pub const SIGNALS: [&str; 4] =
    ["complete", "partially-complete", "needs-user-input", "needs-role-followup"];

/// The signal that a word names: case and the sign between words do not matter.
pub fn signal_named(word: &str) -> Option<&'static str> {
    let plain = word.trim().to_lowercase().replace('_', "-");
    SIGNALS.into_iter().find(|signal| *signal == plain)
}

/// Tools that change nothing: what a worker has of whom nothing is known.
pub const READ_ONLY: [&str; 4] = ["read", "grep", "find", "ls"];

/// Named phases and the edges between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// What it is called by: the file's or folder's name.
    pub key: String,
    /// What people read.
    pub name: String,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Another word to start it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_name: Option<String>,
    /// Who may start it: `user` (default) or `workflows` only.
    #[serde(default)]
    pub show: Show,
    /// Where a frame begins.
    pub initial: PhaseId,
    /// In the file's order.
    pub phases: Vec<Phase>,
    /// The program that works, unless a phase names its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the whole run may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Limits of phases that set none.
    pub limits: Limits,
    /// Rules over tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guards: Option<Guards>,
    /// Commands that must pass before the run is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// Commands at every way out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// Environment of workers and commands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Whether a worker may start it over.
    #[serde(default)]
    pub loopable: bool,
    /// The templates of the phased format, by their names there (`initialMessage`, `advanceReminder`, …).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, String>,
}

impl Workflow {
    /// The phase of that id.
    pub fn phase(&self, id: &PhaseId) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.id == *id)
    }

    /// One of its own texts; none when it says nothing there.
    pub fn text(&self, text: Text) -> Option<&str> {
        let said = self.templates.get(text.field())?;
        (!said.trim().is_empty()).then_some(said)
    }
}

/// The texts with which a workflow speaks for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Opens the first handover.
    InitialMessage,
    /// Stands in each handover: who the worker is.
    RoleInstruction,
    /// Stands in each handover: how to go on.
    AdvanceReminder,
    /// Answers a tool that the phase does not allow.
    BlockReasonTemplate,
    /// Reminds a worker that ended its turn too soon.
    NotDoneReminder,
    /// Is shown to the person at the end.
    CompletionMessage,
}

impl Text {
    /// The field that holds it.
    pub fn field(self) -> &'static str {
        match self {
            Self::InitialMessage => "initialMessage",
            Self::RoleInstruction => "roleInstruction",
            Self::AdvanceReminder => "advanceReminder",
            Self::BlockReasonTemplate => "blockReasonTemplate",
            Self::NotDoneReminder => "notDoneReminder",
            Self::CompletionMessage => "completionMessage",
        }
    }
}

/// Who may start a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// A person.
    #[default]
    User,
    /// Other workflows alone.
    Workflows,
}

/// One node of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Its id in the workflow.
    pub id: PhaseId,
    /// What people read.
    pub name: String,
    /// A sign beside the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the worker is told to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// Who does it.
    pub run: PhaseKind,
    /// A persona's name, or its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The program that works here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Agents to try when this one cannot work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Which tools the worker may call.
    #[serde(default)]
    pub tools: Tools,
    /// Skills that the worker is to have beside its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_skills: Vec<String>,
    /// Personas that the worker may use for its own sub-agents; none = not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_profiles: Option<Vec<String>>,
    /// Where a worker may go. Empty = an end.
    pub next: Vec<PhaseId>,
    /// Where an outcome leads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on: BTreeMap<Outcome, PhaseId>,
    /// The worker's own words for outcomes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
    /// Which signals the worker may send; none = all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Vec<String>>,
    /// Which personas it may ask for; none = all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followups: Option<Vec<String>>,
    /// Where a person must agree.
    #[serde(default)]
    pub approval: Approval,
    /// What must have happened before the worker may leave: `changed_files`, or commands that ended well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Commands that must pass before the phase is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// Commands at every way out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// What this phase may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Limits, all written out.
    pub limits: Limits,
    /// Whose files it works on.
    #[serde(default)]
    pub isolation: Isolation,
    /// Whether the next attempt goes on in the last phase's session.
    #[serde(default)]
    pub session: SessionUse,
    /// `steps` when the worker plans a pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produces: Option<String>,
    /// A pool's work items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepItem>,
    /// How many of them at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// The workflow inside: of `run: workflow`, or of a pool's steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// How a pool's work comes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<String>,
    /// What `run: command` runs, in order, in a shell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// A command that must never run twice, even after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// A step of a chain: `$INPUT` and `$ORIGINAL` in its instructions stand for what the step before said and for the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chained: bool,
    /// Named in a `next` only; no entry of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implicit: bool,
}

impl Phase {
    /// Whether its worker is that persona: by the persona's name, or by its own.
    pub fn is_by(&self, persona: &str) -> bool {
        let is_it = |name: &str| name.trim().eq_ignore_ascii_case(persona.trim());
        self.run == PhaseKind::Worker
            && (self.persona.as_deref().is_some_and(is_it) || is_it(self.id.as_str()))
    }

    /// What its worker is called: the persona's name where it is one, else the phase's.
    pub fn worker_name(&self) -> &str {
        let named = self.persona.as_deref().map(str::trim);
        let is_name = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
        named.filter(is_name).unwrap_or(self.id.as_str())
    }

    /// Whether a leaving signal must carry a verdict: the phase says where a pass leads.
    pub fn asks_verdict(&self) -> bool {
        let pass = Outcome::from("pass");
        self.on.contains_key(&pass) || self.outcomes.contains(&pass)
    }

    /// Whether its worker may ask another persona for help, and whoever helps may ask anybody.
    pub fn may_ask_help(&self) -> bool {
        let may_ask = |signals: &Vec<String>| {
            signals.iter().any(|it| signal_named(it) == Some("needs-role-followup"))
        };
        self.run == PhaseKind::Worker
            && self.followups.as_ref().is_none_or(|names| !names.is_empty())
            && self.signals.as_ref().is_none_or(may_ask)
    }

    /// A phase with that id and nothing else said.
    pub fn new(id: PhaseId, limits: Limits) -> Self {
        Self {
            name: id.as_str().to_owned(),
            id,
            emoji: None,
            description: None,
            instructions: String::new(),
            run: PhaseKind::Worker,
            persona: None,
            agent: None,
            model: None,
            thinking: None,
            fallback: Vec::new(),
            tools: Tools::default(),
            extra_skills: Vec::new(),
            available_profiles: None,
            next: Vec::new(),
            on: BTreeMap::new(),
            outcomes: Vec::new(),
            signals: None,
            followups: None,
            approval: Approval::None,
            requires: Vec::new(),
            verify: Vec::new(),
            cleanup: Vec::new(),
            budget: None,
            limits,
            isolation: Isolation::Shared,
            session: SessionUse::Fresh,
            produces: None,
            steps: Vec::new(),
            slots: None,
            workflow: None,
            merge: None,
            commands: Vec::new(),
            once: false,
            chained: false,
            implicit: false,
        }
    }
}

/// Who does a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// A fresh agent.
    #[default]
    Worker,
    /// The host's own session.
    Inline,
    /// Shell commands.
    Command,
    /// Steps in parallel slots.
    Pool,
    /// Another workflow, in a frame of its own.
    Workflow,
    /// A person.
    Human,
}

/// Where a person must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Nowhere.
    #[default]
    None,
    /// Before the worker starts.
    Before,
    /// Before the phase is left.
    After,
    /// Both.
    Both,
}

impl Approval {
    /// Whether a person must agree before the work.
    pub fn is_before(self) -> bool {
        matches!(self, Self::Before | Self::Both)
    }

    /// Whether a person must agree after the work.
    pub fn is_after(self) -> bool {
        matches!(self, Self::After | Self::Both)
    }
}

/// Whose files a phase works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// The project's.
    #[default]
    Shared,
    /// A work tree of its own.
    Worktree,
}

/// Which session an attempt works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionUse {
    /// Its own.
    #[default]
    Fresh,
    /// The one of the phase before.
    Continue,
}

impl Tools {
    /// Nothing but reading, as The Chronicle has it for an agent that it does not know. The other names are what the same tools
    /// are called elsewhere.
    pub fn read_only() -> Self {
        let names = READ_ONLY.into_iter().chain(["glob"]);
        Self { allow: Some(names.map(str::to_owned).collect()), ..Self::default() }
    }

    /// Whether it says nothing about any tool.
    pub fn is_unsaid(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }
}

/// Which tools a worker may call. Empty lists say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tools {
    /// These and no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Not these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Whether the lists bind the worker's own calls alone, and not those of its sub-agents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_only: bool,
}

/// What may be spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_micros: Option<u64>,
    /// Tokens of every kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Active milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// Rules over tool calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Guards {
    /// Names of rules.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Whether an agent that cannot be guarded may work at all.
    #[serde(default)]
    pub mode: GuardMode,
}

/// Whether an agent that cannot be guarded may work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardMode {
    /// No.
    #[default]
    Enforce,
    /// Yes, and it is said.
    BestEffort,
}

/// One work item of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepItem {
    /// Its id in the pool.
    pub id: String,
    /// What people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Steps that must be complete first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Files it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
