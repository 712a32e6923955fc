//! A checked workflow with every default written out.
//!
//! Readers turn a file into a `Draft`, and `check` turns that into this. It is frozen into a run's first event. Fields that the
//! engine does not use yet are kept anyway, so that nothing of a file is lost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pool::{Judge, Merge, Racer, SLOTS, SLOTS_MAX, StepItem, WorktreeSetup};
use super::tools::Tools;
use crate::base::ids::{Outcome, PhaseId};
use crate::base::limits::Limits;
use crate::definition::environment::EnvList;
use crate::definition::walls::Walls;

/// Requirement that files must have changed.
pub const CHANGED_FILES: &str = "changed_files";

/// How hard an agent can be asked to think. No agent knows another word: it would think as it likes.
pub const THINKING: [&str; 7] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Signals, as workers and the `signals` field name them.
pub const SIGNALS: [&str; 4] =
    ["complete", "partially-complete", "needs-user-input", "needs-role-followup"];

/// The signal that a word names; case and separators do not matter.
pub fn signal_named(word: &str) -> Option<&'static str> {
    let plain = word.trim().to_lowercase().replace('_', "-");
    SIGNALS.into_iter().find(|signal| *signal == plain)
}

/// Named phases and the edges between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// The name that it is started by: that of the file or folder.
    pub key: String,
    /// The name that people see.
    pub name: String,
    /// A one-line description, shown in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// An alternative name to start it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_name: Option<String>,
    /// Who may start it: `user` (default) or only `workflows`.
    #[serde(default)]
    pub show: Show,
    /// The phase that a frame starts with.
    pub initial: PhaseId,
    /// In the order of the file.
    pub phases: Vec<Phase>,
    /// The agent of phases that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Model of phases that name none.
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
    /// Commands that run whenever a phase is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// Variables that workers and commands have in addition.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Which variables of the user they have.
    #[serde(default, skip_serializing_if = "EnvList::is_empty")]
    pub env_names: EnvList,
    /// The walls around workers and commands.
    #[serde(default, skip_serializing_if = "Walls::is_empty")]
    pub walls: Walls,
    /// True if a worker may start it over.
    #[serde(default)]
    pub loopable: bool,
    /// Templates of the phased format, by their names there (`initialMessage`, `advanceReminder`, …).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, String>,
}

impl Workflow {
    /// The phase with that id.
    pub fn phase(&self, id: &PhaseId) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.id == *id)
    }

    /// One of its own texts; `None` if it is not set.
    pub fn text(&self, text: Text) -> Option<&str> {
        let said = self.templates.get(text.field())?;
        (!said.trim().is_empty()).then_some(said)
    }
}

/// Texts that replace Chronicle's default wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Starts the first handover.
    InitialMessage,
    /// Part of each handover: who the worker is.
    RoleInstruction,
    /// Part of each handover: how to go on.
    AdvanceReminder,
    /// Answers a tool call that the phase does not allow.
    BlockReasonTemplate,
    /// Reminds a worker that ended its turn too early.
    NotDoneReminder,
    /// Shown to the person at the end.
    CompletionMessage,
}

impl Text {
    /// The workflow field that holds it.
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
    /// A person, from the command line.
    #[default]
    User,
    /// Only other workflows, from a phase.
    Workflows,
}

/// One node of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is said in a file by itself")]
pub struct Phase {
    /// Unique within the workflow.
    pub id: PhaseId,
    /// The name that people see.
    pub name: String,
    /// Shown before the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// A one-line description, shown in graphs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the worker is told to do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// The kind of worker: agent, commands, person, or another workflow.
    pub run: PhaseKind,
    /// A persona's name, or the text of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The agent of this phase, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model of this phase, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Thinking level, one of `THINKING`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Agents to try when this one cannot work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Which tools the worker may call.
    #[serde(default)]
    pub tools: Tools,
    /// Skills that the worker should have in addition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_skills: Vec<String>,
    /// Personas for the worker's own sub-agents; `None` if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_profiles: Option<Vec<String>>,
    /// Phases that a worker may choose; empty at an end.
    pub next: Vec<PhaseId>,
    /// The target of each outcome.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on: BTreeMap<Outcome, PhaseId>,
    /// Additional outcomes of this workflow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
    /// Signals that the worker may send; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Vec<String>>,
    /// Personas that it may ask for help; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followups: Option<Vec<String>>,
    /// Where a person must approve.
    #[serde(default)]
    pub approval: Approval,
    /// Whether the worker is to give a verdict, which the person who agrees after the work is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shows_verdict: bool,
    /// What the record must show before the worker may leave: `changed_files`, or commands that succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// Commands that must pass before the phase is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// Commands that run whenever the phase is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// Variables that its worker or commands have in addition; they stand above the workflow's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Which variables of the user they have, beside what the workflow says.
    #[serde(default, skip_serializing_if = "EnvList::is_empty")]
    pub env_names: EnvList,
    /// The walls around its worker or commands; they stand above the workflow's.
    #[serde(default, skip_serializing_if = "Walls::is_empty")]
    pub walls: Walls,
    /// What this phase may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Limits, with every default written out.
    pub limits: Limits,
    /// Which files it works on; what holds if the file does not say is written out.
    #[serde(default)]
    pub isolation: Isolation,
    /// Whether its first attempt continues the session of the previous phase.
    #[serde(default)]
    pub session: SessionUse,
    /// `steps` if the worker plans a pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produces: Option<String>,
    /// Work items of a pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepItem>,
    /// A file of the project, written by an earlier phase, that holds a pool's work items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_from: Option<String>,
    /// How many steps of a pool run at once; see `Phase::slots`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// The workflow that runs inside: for `run: workflow`, or for each step of a pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// How the work of a pool is merged.
    #[serde(default, skip_serializing_if = "Merge::is_default")]
    pub merge: Merge,
    /// How the folders of isolated work are made ready.
    #[serde(default, skip_serializing_if = "WorktreeSetup::is_empty")]
    pub worktree: WorktreeSetup,
    /// True if a person is asked after each step of a pool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pause_between: bool,
    /// Those that do the same work in a race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<Racer>,
    /// Who chooses among the results of a race; `None` for other phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Judge>,
    /// Shell commands of `run: command`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// True if its commands must not run twice, even after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// True for a step of a chain: `$INPUT` and `$ORIGINAL` in its instructions stand for the previous step's last message and
    /// the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chained: bool,
    /// True if it is only named in a `next` and has no entry of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implicit: bool,
}

impl Phase {
    /// True if its worker is that persona.
    pub fn is_by(&self, persona: &str) -> bool {
        let is_it = |name: &str| name.trim().eq_ignore_ascii_case(persona.trim());
        self.run == PhaseKind::Worker
            // Files without personas use the names of phases for them.
            && (self.persona.as_deref().is_some_and(is_it) || is_it(self.id.as_str()))
    }

    /// Name of its worker: the persona's if it names one, otherwise the phase's.
    pub fn worker_name(&self) -> &str {
        let named = self.persona.as_deref().map(str::trim);
        // A text of several words is the persona itself, and too long for a name.
        let is_name = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
        named.filter(is_name).unwrap_or(self.id.as_str())
    }

    /// True if a leaving signal must carry a verdict, because the phase says where a pass leads.
    pub fn asks_verdict(&self) -> bool {
        let pass = Outcome::from("pass");
        self.on.contains_key(&pass) || self.outcomes.contains(&pass)
    }

    /// True if its worker may ask another persona for help.
    pub fn may_ask_help(&self) -> bool {
        let may_ask = |signals: &Vec<String>| {
            signals.iter().any(|it| signal_named(it) == Some("needs-role-followup"))
        };
        self.run == PhaseKind::Worker
            && self.followups.as_ref().is_none_or(|names| !names.is_empty())
            && self.signals.as_ref().is_none_or(may_ask)
    }

    /// How many steps of a pool run at once.
    pub fn slots(&self) -> u32 {
        // In a race all begin at once: whoever came later would be compared under other conditions.
        let racers = u32::try_from(self.workers.len()).unwrap_or(SLOTS_MAX);
        let usual = if self.run == PhaseKind::Race { racers } else { SLOTS };
        self.slots.unwrap_or(usual)
    }

    /// A phase with that id and defaults for everything else.
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
            shows_verdict: false,
            requires: Vec::new(),
            verify: Vec::new(),
            cleanup: Vec::new(),
            env: BTreeMap::new(),
            env_names: EnvList::default(),
            walls: Walls::default(),
            budget: None,
            limits,
            isolation: Isolation::Shared,
            session: SessionUse::Fresh,
            produces: None,
            steps: Vec::new(),
            steps_from: None,
            slots: None,
            workflow: None,
            merge: Merge::default(),
            worktree: WorktreeSetup::default(),
            pause_between: false,
            workers: Vec::new(),
            judge: None,
            commands: Vec::new(),
            once: false,
            chained: false,
            implicit: false,
        }
    }
}

/// What kind of worker does a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// An agent in a fresh session.
    #[default]
    Worker,
    /// The session that hosts the run.
    Inline,
    /// Shell commands, without an agent.
    Command,
    /// Steps that run in parallel slots.
    Pool,
    /// Several workers that do the same work, each in a folder of its own.
    Race,
    /// Another workflow, in a frame of its own.
    Workflow,
    /// A person, who says when it is done.
    Human,
}

/// Where a person must approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// No approval is needed.
    #[default]
    None,
    /// Before the worker starts.
    Before,
    /// Before the phase is left.
    After,
    /// Before the start and before leaving.
    Both,
}

impl Approval {
    /// True if a person must approve before the work.
    pub fn is_before(self) -> bool {
        matches!(self, Self::Before | Self::Both)
    }

    /// True if a person must approve after the work.
    pub fn is_after(self) -> bool {
        matches!(self, Self::After | Self::Both)
    }
}

/// Which files a phase works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// The project's own files.
    #[default]
    Shared,
    /// A git worktree of its own.
    Worktree,
}

/// Which session a phase starts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionUse {
    /// A new session for every visit.
    #[default]
    Fresh,
    /// The session of the previous phase.
    Continue,
}

/// Limits of spending; `None` for no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_micros: Option<u64>,
    /// Tokens of every kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Active time, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Number of logical tries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// Rules over tool calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Guards {
    /// Names of files of rules that hold beside the others.
    #[serde(default)]
    pub rules: Vec<String>,
}
