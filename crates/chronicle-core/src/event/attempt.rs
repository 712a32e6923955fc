//! The words of attempts: why one exists, what its worker does and says, and how it ends.

use serde::{Deserialize, Serialize};

use super::{Call, CallSum, Caller, Chore, Handed, ToolKind, is_zero};
use crate::base::ids::{AttemptId, FolderId, GateId, Outcome, PhaseId, Place, SessionId};
use crate::base::time::Millis;

/// The intent to start an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStarted {
    /// Its id.
    pub attempt: AttemptId,
    /// Where.
    pub place: Place,
    /// Which logical try at this place, over all visits; an attempt that was lost does not count.
    #[serde(rename = "try")]
    pub try_number: u32,
    /// The agent, or `shell` for a command phase.
    pub agent: String,
    /// The session, chosen by us or known from before.
    pub session: SessionId,
    /// Whether that session exists already.
    pub resume: bool,
    /// Why this attempt exists.
    pub why: Why,
    /// For a command phase: the first command not yet done.
    #[serde(default)]
    pub first_command: u32,
    /// For a follow-up: who helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// What its worker is told, kept beside the ledger; none for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handed>,
    /// Whether the project's files are recorded before it begins and after it ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    /// Where it works.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// What it is for, if not for the phase's own work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chore: Option<Chore>,
    /// Who performs it.
    #[serde(default, skip_serializing_if = "Performer::is_supervisor")]
    pub performer: Performer,
}

/// Who performs what is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Performer {
    /// The supervisor, with processes of its own.
    #[default]
    Supervisor,
    /// The agent session that hosts the run. What it performs dies with it.
    Host,
}

impl Performer {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_supervisor(&self) -> bool {
        *self == Self::Supervisor
    }
}

/// Why an attempt exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Why {
    /// The phase begins.
    First,
    /// The last one ended without a signal: the same session, with a reminder.
    Nudge {
        /// Which reminder.
        number: u32,
    },
    /// The last one crashed: a fresh session.
    Retry {
        /// Which retry.
        number: u32,
    },
    /// The last one was lost with its supervisor or keeper.
    Lost,
    /// The session that was to be resumed is gone.
    SessionGone,
    /// The run was paused.
    Paused,
    /// The last one used up a budget, and a person raised it: the same session.
    Raised,
    /// The last one had no quota, or found no room, and has waited: the same session.
    Waited,
    /// The last one seemed to turn in a circle, and had changed files: the same session.
    Progressed,
    /// A person rejected the work: the same session, with the note.
    Rejected {
        /// What the person said.
        note: String,
    },
    /// The commands that verify the work failed: the same session, with what they printed.
    Unverified {
        /// Which time in a row.
        number: u32,
        /// Which command, and the end of what it printed.
        said: String,
    },
    /// A person asked for another try.
    Asked {
        /// What the person said.
        note: String,
    },
    /// The last one left, and the record does not show what its phase demands: the same session.
    Lacking {
        /// What.
        missing: String,
    },
    /// The last one said that it is partially complete: a fresh session goes on.
    Continued {
        /// What is done.
        progress: String,
        /// Where to go on.
        point: String,
    },
    /// A person answered what the worker had asked: the same session.
    Answered {
        /// Which gate.
        gate: GateId,
    },
    /// A worker asked for somebody's help: a session of their own.
    Helps {
        /// Who asked: the persona or phase.
        asker: String,
    },
    /// The help that was asked for has come: the same session.
    Helped {
        /// Who helped.
        persona: String,
        /// What was said of it.
        summary: String,
    },
}

impl Why {
    /// Whether this attempt carries on the same logical try.
    pub fn is_same_try(&self) -> bool {
        match self {
            Self::Lost
            | Self::SessionGone
            | Self::Paused
            | Self::Raised
            | Self::Waited
            | Self::Progressed
            | Self::Answered { .. }
            | Self::Helped { .. } => true,
            Self::First
            | Self::Nudge { .. }
            | Self::Retry { .. }
            | Self::Rejected { .. }
            | Self::Unverified { .. }
            | Self::Lacking { .. }
            | Self::Asked { .. }
            | Self::Continued { .. }
            | Self::Helps { .. } => false,
        }
    }
}

/// A tool call and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCalled {
    /// Whose.
    pub attempt: AttemptId,
    /// The agent's id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it was given, as people read it, bounded.
    pub input: String,
    /// Names the tool and the whole input; none in lines that were written before calls had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<CallSum>,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "ToolKind::is_unknown")]
    pub kind: ToolKind,
    /// Who called it.
    #[serde(default, skip_serializing_if = "Caller::is_worker")]
    pub by: Caller,
    /// The shell command that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether that command was longer than is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command_cut: bool,
    /// What was answered.
    pub verdict: Verdict,
    /// Active time of the attempt so far.
    pub active_ms: u64,
}

impl ToolCalled {
    /// A call that was answered.
    pub(crate) fn new(attempt: AttemptId, call: Call, verdict: Verdict, active_ms: u64) -> Self {
        let Call { id, tool, kind, by, sum, shown, command, command_cut } = call;
        Self {
            attempt,
            call: id,
            tool,
            input: shown,
            sum: Some(sum),
            kind,
            by,
            command,
            command_cut,
            verdict,
            active_ms,
        }
    }

    /// The call as it was reported; none where the line does not have all of it.
    pub fn reported(&self) -> Option<Call> {
        Some(Call {
            id: self.call.clone(),
            tool: self.tool.clone(),
            kind: self.kind,
            by: self.by,
            sum: self.sum?,
            shown: self.input.clone(),
            command: self.command.clone(),
            command_cut: self.command_cut,
        })
    }
}

/// Whether a tool call may go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "why", rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Allowed,
    /// No, and why.
    Denied(String),
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Created,
    /// Its content changed.
    Changed,
    /// It is gone.
    Deleted,
}

/// What a leaving signal says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leave {
    /// Where to: a phase, `done` or `human_intervention`.
    pub target: PhaseId,
    /// How the phase was left.
    pub outcome: Outcome,
    /// What the worker said of it.
    pub summary: String,
    /// What the next phase is to do, in its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The issues that it named.
    #[serde(default, skip_serializing_if = "Issues::is_none")]
    pub issues: Issues,
}

/// What a worker says about issues when it leaves, for loops that may go on as long as issues are resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Issues {
    /// Those that it found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
    /// Those that are settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<String>,
}

impl Issues {
    /// Whether it named none.
    pub fn is_none(&self) -> bool {
        self.opened.is_empty() && self.resolved.is_empty()
    }
}

/// What ends a worker's turn while its phase goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Break {
    /// Its context is used up: somebody fresh is to go on.
    Continue {
        /// What is done.
        progress: String,
        /// Where to go on.
        point: String,
    },
    /// It needs a person's answer.
    Ask(Question),
    /// It needs somebody's help.
    FollowUp(FollowUp),
    /// It was the help, and is done.
    Helped {
        /// How it went.
        outcome: Outcome,
        /// What it said of it.
        summary: String,
    },
}

/// What a worker asks a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What it wants to know.
    pub question: String,
    /// Answers to choose from; none = free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Why it asks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Whether only one of the options can be the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// The help that a worker asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// Who is to help.
    pub persona: String,
    /// What for.
    pub reason: String,
    /// What they must know.
    pub context: String,
    /// Whether whoever asked goes on afterwards; else the phase is done then.
    pub resume: bool,
}

/// Why an attempt is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// It went on for too long after its leaving signal.
    Grace,
    /// It took longer than the phase allows.
    Timeout,
    /// Nothing was heard of it for too long.
    Idle,
    /// It waits for a person's answer, and no supervisor stays for that.
    Asks,
    /// It used up a budget.
    Budget,
    /// It made the same call again and again, and nothing came of it.
    Repeats,
    /// It worked for long, and no changed file, signal or note came of it.
    Standstill,
    /// One of its tool calls was open for too long.
    Tool,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnded {
    /// Which.
    pub attempt: AttemptId,
    /// How.
    pub end: End,
    /// Active time it took, as far as known.
    pub active_ms: u64,
    /// Processes that it left behind and that were ended.
    #[serde(default)]
    pub strays: u32,
    /// How far its transcript goes.
    #[serde(default)]
    pub transcript_bytes: u64,
    /// What it said last, where somebody is told it: in chains, and when it ended before it was done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub final_text: String,
    /// What is kept of the work of a worker whose time was over: a finding. None in lines that were written before it was kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
    /// Lines of it that meant nothing; they are in its transcript.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_understood: u64,
    /// When there is a new quota, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_until: Option<Millis>,
    /// How long its service wants to be left alone, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum End {
    /// Its leaving signal had been accepted.
    Left,
    /// Its turn was over, its phase is not: it asked for something first.
    BrokeOff,
    /// Every command of the phase has run.
    CommandsDone,
    /// A command of the phase failed.
    CommandFailed {
        /// Which, from 0.
        index: u32,
    },
    /// It ended without a leaving signal, whatever its exit code.
    Crashed(Crash),
    /// It was ended because of a limit.
    StoppedBy(StopCause),
    /// It was ended because the run was paused, cancelled or sent elsewhere.
    Stopped,
    /// Its supervisor or keeper died.
    Lost,
    /// Something of it may still run, so that nobody may start beside it.
    Unclear {
        /// Why.
        why: String,
    },
}

/// What is known about a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// What kind.
    pub class: CrashClass,
    /// Exit code, where there is one.
    pub code: Option<i32>,
    /// Signal, where one ended it.
    pub signal: Option<i32>,
    /// What it said last, bounded.
    pub text: String,
}

/// Kinds of crashes that are answered differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashClass {
    /// It finished its turn without a leaving signal.
    NoSignal,
    /// Its process ended before its turn did.
    Died,
    /// The program could not be started.
    CannotStart,
    /// The session to be resumed does not exist any more.
    SessionGone,
    /// It is not signed in: nothing helps but a person.
    Auth,
    /// Its quota is used up.
    Quota,
    /// The model's service has no room.
    Overload,
    /// The conversation is too long.
    ContextFull,
    /// It broke the protocol.
    Protocol,
    /// Its service, or the program itself, refused what was asked of it: the same again would be refused again.
    Refused,
    /// Anything else that the agent called an error.
    Other,
}
