//! Payloads of attempt events: why an attempt exists, what its worker does and says, and how it ends.

use serde::{Deserialize, Serialize};

use super::permission::{clear, is_clear};
use super::{AttemptWalls, Call, CallSum, Caller, Chore, Handed, LeftPhase, ToolKind, is_zero};
use crate::base::ids::{AttemptId, FolderId, GateId, Outcome, PhaseId, Place, SessionId};
use crate::base::time::Millis;
use crate::guard::Judgement;

/// The intent to start an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStarted {
    /// Numbered per run, from `a1`.
    pub attempt: AttemptId,
    /// The phase it works on, with the path of its frame.
    pub place: Place,
    /// Number of the logical try at this place, over all visits. A lost attempt is continued by the same try.
    #[serde(rename = "try")]
    pub try_number: u32,
    /// The agent, or `shell` for a command phase.
    pub agent: String,
    /// The agent's session: chosen by Chronicle, or known from an earlier attempt.
    pub session: SessionId,
    /// True if that session already exists and is resumed.
    pub resume: bool,
    /// The entry of the phase's `fallback` that this agent comes from, if it took over from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Why this attempt exists.
    pub why: Why,
    /// For a command phase: the first command not yet done.
    #[serde(default)]
    pub first_command: u32,
    /// The persona that helps, if this attempt is a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The handover text, kept as an artifact. `None` for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handed>,
    /// True if the project's files are recorded before it starts and after it ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    /// The folder that its processes start in.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Set if it runs `verify` or `cleanup` commands instead of the phase's own work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chore: Option<Chore>,
    /// The supervisor, or the host session that the run lives in.
    #[serde(default, skip_serializing_if = "Performer::is_supervisor")]
    pub performer: Performer,
    /// The walls around it; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walls: Option<Box<AttemptWalls>>,
}

impl AttemptStarted {
    /// The phase that it cleans up, if that is not the one at its own place.
    pub fn left_phase(&self) -> Option<&LeftPhase> {
        self.chore.as_ref()?.of.as_ref()
    }

    /// The place that it works for, which people are shown. Its own place says which frame waits for it.
    pub fn shown_place(&self) -> &Place {
        self.left_phase().map_or(&self.place, |left| &left.place)
    }
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
    /// First attempt of a visit to the phase.
    First,
    /// The last one ended without a signal: the same session, with a reminder.
    Nudge {
        /// Counts reminders in a row, from 1.
        number: u32,
    },
    /// The last one did not end its turn: it crashed, or was ended by a limit. The same session; counted as a reminder, and called
    /// one in lines that were written before the two were told apart.
    Again {
        /// Counts together with the reminders, from 1.
        number: u32,
    },
    /// The last one crashed: a fresh session.
    Retry {
        /// Counts retries after crashes, from 1.
        number: u32,
    },
    /// The last one was lost with its supervisor or keeper.
    Lost,
    /// The session that should have been resumed no longer exists.
    SessionGone,
    /// The run was paused and is resumed in the same session.
    Paused,
    /// The last one used up a budget, and a person raised it: the same session.
    Raised,
    /// The last one hit a quota or an overloaded service and has waited: the same session.
    Waited,
    /// The last one looked like a loop, but it had changed files: the same session continues.
    Progressed,
    /// A person rejected the work: the same session, with the note.
    Rejected {
        /// What the person said.
        note: String,
    },
    /// The commands that verify the work failed: the same session, with what they printed.
    Unverified {
        /// Counts failed verifications in a row, from 1.
        number: u32,
        /// Which command, and the end of what it printed.
        said: String,
    },
    /// Another agent could not go on: this one takes over, in a session of its own.
    Fallback {
        /// The agent that could not go on.
        agent: String,
        /// How the last attempt of that agent ended, in words.
        said: String,
    },
    /// A person asked for another try.
    Asked {
        /// What the person said.
        note: String,
    },
    /// The last one signalled that it is done, but the record does not show what its phase `requires`: the same session.
    Lacking {
        /// The missing requirements, as a list for the worker.
        missing: String,
    },
    /// The last one said that it is partially complete: a fresh session continues.
    Continued {
        /// What the last worker says is done.
        progress: String,
        /// Where the last worker says to continue.
        point: String,
    },
    /// A person answered what the worker had asked: the same session.
    Answered {
        /// The gate of the question.
        gate: GateId,
    },
    /// A worker asked for help: the helper gets a session of its own.
    Helps {
        /// Who asked: the persona or phase.
        asker: String,
    },
    /// The requested help has ended: the asking worker continues in the same session.
    Helped {
        /// Persona of the helper.
        persona: String,
        /// What the helper, or the person who skipped it, said.
        summary: String,
    },
}

impl Why {
    /// Whether this attempt carries on the same logical try.
    pub fn is_same_try(&self) -> bool {
        match self {
            // Interrupted, or given what it had asked for: the work itself did not fail, and no try is used up.
            Self::Lost
            | Self::SessionGone
            | Self::Paused
            | Self::Raised
            | Self::Waited
            | Self::Progressed
            | Self::Answered { .. }
            | Self::Helped { .. } => true,
            // The work failed, was refused, or begins anew.
            Self::First
            | Self::Nudge { .. }
            | Self::Again { .. }
            | Self::Retry { .. }
            | Self::Rejected { .. }
            | Self::Unverified { .. }
            | Self::Lacking { .. }
            | Self::Fallback { .. }
            | Self::Asked { .. }
            | Self::Continued { .. }
            | Self::Helps { .. } => false,
        }
    }
}

/// A tool call and its verdict.
#[expect(clippy::struct_excessive_bools, reason = "fields of a line, each of its own concern")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCalled {
    /// The attempt that called it.
    pub attempt: AttemptId,
    /// The agent's id of the call.
    pub call: String,
    /// The tool's name as the agent calls it.
    pub tool: String,
    /// What it was given, as people read it, bounded.
    pub input: String,
    /// Identifies the tool and its whole input. `None` in lines written by versions without sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<CallSum>,
    /// The folder that it begins in, if that is another one than its worker was started in. `None` in lines of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "ToolKind::is_unknown")]
    pub kind: ToolKind,
    /// The worker itself, or one of its sub-agents.
    #[serde(default, skip_serializing_if = "Caller::is_worker")]
    pub by: Caller,
    /// The shell command, if the tool runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the command was cut to the length that is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command_cut: bool,
    /// True if the tool answers before the command ends. `command` then ends with `&`. Always false in lines of older versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The only file that it may change, if its tool names one. `None` also in lines of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if that file can make a program run commands at its next start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub start_file: bool,
    /// Allowed, or denied with the reason that the agent was given.
    pub verdict: Verdict,
    /// True if it ran without asking for permission. The verdict is then a denial that came too late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
    /// What the rules said. Always `clear` in lines of older versions.
    #[serde(default = "clear", skip_serializing_if = "is_clear")]
    pub judged: Judgement,
    /// The gate whose answer decided it, or at which it waited in vain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    /// Active time of the attempt so far.
    pub active_ms: u64,
}

impl ToolCalled {
    /// A call that was answered.
    pub(crate) fn new(attempt: AttemptId, call: Call, verdict: Verdict, active_ms: u64) -> Self {
        // Taken apart by name: a new field of a call does not compile until somebody has decided whether the event keeps it.
        let Call {
            id,
            tool,
            kind,
            by,
            sum,
            folder,
            shown,
            command,
            command_cut,
            background,
            path,
            start_file,
        } = call;
        Self {
            attempt,
            call: id,
            tool,
            input: shown,
            sum: Some(sum),
            folder,
            kind,
            by,
            command,
            command_cut,
            background,
            path,
            start_file,
            verdict,
            unasked: false,
            judged: Judgement::Clear,
            gate: None,
            active_ms,
        }
    }

    /// The same with what the rules said.
    #[must_use]
    pub(crate) fn judged(self, judged: &Judgement) -> Self {
        Self { judged: judged.clone(), ..self }
    }

    /// The call as it was reported; `None` if the line predates call sums.
    pub fn reported(&self) -> Option<Call> {
        Some(Call {
            id: self.call.clone(),
            tool: self.tool.clone(),
            kind: self.kind,
            by: self.by,
            sum: self.sum?,
            folder: self.folder.clone(),
            shown: self.input.clone(),
            command: self.command.clone(),
            command_cut: self.command_cut,
            background: self.background,
            path: self.path.clone(),
            start_file: self.start_file,
        })
    }
}

/// Whether a tool call may go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "why", rename_all = "snake_case")]
pub enum Verdict {
    /// The agent may run it.
    Allowed,
    /// The agent is told this reason.
    Denied(String),
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The file did not exist before.
    Created,
    /// The file exists before and after.
    Changed,
    /// The file no longer exists.
    Deleted,
}

/// What a leaving signal says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leave {
    /// A phase, `done` or `human_intervention`.
    pub target: PhaseId,
    /// How the phase was left.
    pub outcome: Outcome,
    /// What the worker said of it.
    pub summary: String,
    /// The task for the next phase, in the worker's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The issues that it named.
    #[serde(default, skip_serializing_if = "Issues::is_none")]
    pub issues: Issues,
}

/// Issues that a worker names when it leaves, for loops that may continue as long as issues get resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Issues {
    /// Issues that the worker found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
    /// Issues that the worker fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<String>,
}

impl Issues {
    /// True if it named no issues.
    pub fn is_none(&self) -> bool {
        self.opened.is_empty() && self.resolved.is_empty()
    }
}

/// What ends a worker's turn while its phase goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Break {
    /// Its context is used up: a fresh session should continue.
    Continue {
        /// What the worker says is done.
        progress: String,
        /// Where the next worker should continue.
        point: String,
    },
    /// It needs an answer from a person.
    Ask(Question),
    /// It needs help from another persona.
    FollowUp(FollowUp),
    /// It is a helper and has finished helping.
    Helped {
        /// The helper's own outcome.
        outcome: Outcome,
        /// The helper's summary for the worker that asked.
        summary: String,
    },
}

/// What a worker asks a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What it wants to know.
    pub question: String,
    /// Suggested answers; empty if any text is expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Background that the worker gave; empty if none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// True if only the listed options are accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// The help that a worker asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// The persona that should help.
    pub persona: String,
    /// Why help is needed; shown to people.
    pub reason: String,
    /// What the helper must know.
    pub context: String,
    /// True if the asking worker continues afterwards. Otherwise the phase is done when the helper is.
    pub resume: bool,
}

/// Why Chronicle stops an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// It kept working for too long after its leaving signal.
    Grace,
    /// It took longer than the phase allows.
    Timeout,
    /// It printed nothing for too long.
    Idle,
    /// It waits for a person's answer, and the supervisor is about to exit.
    Asks,
    /// It used up a budget.
    Budget,
    /// It repeated the same call without making progress.
    Repeats,
    /// It worked for a long time without a changed file, a signal or a note.
    Standstill,
    /// One of its tool calls was open for too long.
    Tool,
    /// A call ran that nobody had judged.
    Unjudged,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnded {
    /// The attempt that ended.
    pub attempt: AttemptId,
    /// How Chronicle classifies the end.
    pub end: End,
    /// Active milliseconds, as far as known.
    pub active_ms: u64,
    /// Number of processes that it left behind and that were killed.
    #[serde(default)]
    pub strays: u32,
    /// Length of its transcript in bytes.
    #[serde(default)]
    pub transcript_bytes: u64,
    /// Its last message. Kept only where a later worker reads it: in chains, and when it was stopped early.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub final_text: String,
    /// What a worker that timed out had found; carried on as a finding. Empty in lines written by older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
    /// Lines of output that its adapter could not parse; they are in the transcript.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_understood: u64,
    /// What people must know about how it worked, each a part of a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// When the quota resets, if the agent said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_until: Option<Millis>,
    /// How long the service asked to wait, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum End {
    /// Its leaving signal had been accepted.
    Left,
    /// It ended its turn early, with a question, a request for help or a continuation.
    BrokeOff,
    /// Every command of the phase has run.
    CommandsDone,
    /// A command of the phase failed.
    CommandFailed {
        /// Index of the failed command, from 0.
        index: u32,
    },
    /// It ended without a leaving signal, whatever its exit code.
    Crashed(Crash),
    /// Chronicle stopped it because of a limit.
    StoppedBy(StopCause),
    /// Chronicle stopped it because the run was paused, cancelled or moved.
    Stopped,
    /// Its supervisor or keeper died.
    Lost,
    /// Some of its processes may still run, so no other attempt may start beside it.
    Unclear {
        /// What could not be verified, for people.
        why: String,
    },
}

/// What is known about a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// Decides how the engine answers it: retry, wait, or ask a person.
    pub class: CrashClass,
    /// Exit code, if the process exited.
    pub code: Option<i32>,
    /// Signal number, if a signal killed it.
    pub signal: Option<i32>,
    /// Its last words, bounded.
    pub text: String,
}

/// Kinds of crashes that the engine treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashClass {
    /// It finished its turn without a leaving signal.
    NoSignal,
    /// Its process ended before its turn did.
    Died,
    /// The program could not be started.
    CannotStart,
    /// The session to be resumed no longer exists.
    SessionGone,
    /// The agent is not signed in; only a person can fix that.
    Auth,
    /// The account's quota is used up.
    Quota,
    /// The model's service is overloaded.
    Overload,
    /// The model's service cannot be reached: the network, a name server or a proxy is down.
    Unreachable,
    /// The conversation is too long.
    ContextFull,
    /// Its output broke the agent protocol.
    Protocol,
    /// The service or the program rejected the request; retrying the same would fail again.
    Refused,
    /// It did not prove that it has its tools judged, so it was given nothing to do, or stopped as soon as that was found.
    Unguarded,
    /// A call ran that nobody had judged, or otherwise than it was judged.
    Unjudged,
    /// Anything else that the agent called an error.
    Other,
}
