//! What happened: the words of the ledger.
//!
//! An event is a fact in the past. Kinds are only ever added; a field is only ever added with a default. Each kind has its
//! sentence in `words.rs`, its effect on the state in `state/apply.rs` and its paragraph in `docs/ledger-format.md`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{BudgetRaised, BudgetWarned, Lack};
pub use crate::chore::{Chore, Duty};
pub use crate::handover::Handed;
use crate::ids::{
    AttemptId, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId, TreeId,
};
pub use crate::notice::NoticeGiven;
pub use crate::snapshot::SnapshotUpdate;
pub use crate::start::{OnGate, RunStarted, SupervisorStarted};
use crate::time::Millis;
use crate::tree::{Moment, TreeRecorded};
use crate::usage::{Scope, Usage};
use crate::wait::{WaitBegan, WaitEnded};

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Event {
    /// A run was asked for; everything it will ever need is frozen here.
    RunStarted(Arc<RunStarted>),
    /// A supervisor took the run in hand, at its start and after each resume.
    SupervisorStarted(SupervisorStarted),
    /// The last line of the ledger was torn by a crash; it was set aside.
    TailSetAside {
        /// How much of it there was.
        bytes: u64,
        /// Where it is kept.
        file: String,
    },
    /// A person stopped the run for a while.
    RunPaused {
        /// Why.
        reason: String,
    },
    /// The run goes on.
    RunResumed,
    /// A person gave the run up.
    RunCancelled {
        /// Why.
        reason: String,
    },
    /// The last phase was left: nothing is to be done any more.
    RunDone,
    /// A person is needed, and the run was started to fail then.
    RunFailed {
        /// What for.
        reason: String,
    },

    /// A workflow was entered: the run's own, or one inside a phase.
    FrameEntered {
        /// The new frame.
        frame: FramePath,
        /// Its workflow's key.
        workflow: String,
    },
    /// A phase is to be done now.
    PhaseEntered {
        /// Where.
        place: Place,
    },
    /// A phase was left for another.
    EdgeTaken(EdgeTaken),
    /// A frame came to its end.
    FrameEnded {
        /// Which.
        frame: FramePath,
        /// The summary of its last phase.
        summary: String,
    },

    /// An agent is to be started: the intent, written before the start.
    AttemptStarted(AttemptStarted),
    /// The agent said which session it works in.
    SessionOpened {
        /// Whose.
        attempt: AttemptId,
        /// The session.
        session: SessionId,
    },
    /// A worker wanted to call a tool, and was answered.
    ToolCalled(ToolCalled),
    /// A tool call ended.
    ToolEnded {
        /// Whose.
        attempt: AttemptId,
        /// The agent's id of the call.
        call: String,
        /// Whether it worked.
        ok: bool,
        /// Active time of the attempt so far.
        active_ms: u64,
    },
    /// The agent said that it changed a file.
    FileChanged {
        /// Whose.
        attempt: AttemptId,
        /// Which, relative to the project.
        path: String,
        /// How.
        change: Change,
    },
    /// Tokens were used.
    UsageReported {
        /// Whose.
        attempt: AttemptId,
        /// What the figure covers.
        scope: Scope,
        /// The figure.
        usage: Usage,
        /// Active time of the attempt so far.
        active_ms: u64,
    },
    /// A command of a command phase ended.
    CommandEnded {
        /// Whose.
        attempt: AttemptId,
        /// Which of the phase's commands, from 0.
        index: u32,
        /// Its exit code; none when a signal ended it.
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// A worker's leaving signal was accepted: the first one wins.
    SignalAccepted {
        /// Whose.
        attempt: AttemptId,
        /// The call's id, for a repeated call.
        request: String,
        /// What it said.
        leave: Leave,
    },
    /// A worker's call was refused with a reason that it can act on.
    SignalRefused {
        /// Whose.
        attempt: AttemptId,
        /// The call's id.
        request: String,
        /// The answer it got.
        answer: String,
    },
    /// A worker ended its turn, and its phase is not done: what it asked for comes next. The first such signal wins.
    BreakAccepted {
        /// Whose.
        attempt: AttemptId,
        /// The call's id, for a repeated call.
        request: String,
        /// What it said.
        parting: Break,
    },
    /// A worker wrote down what later phases must know.
    SnapshotUpdated {
        /// Whose.
        attempt: AttemptId,
        /// The call's id, for a repeated call.
        request: String,
        /// What it adds.
        update: SnapshotUpdate,
    },
    /// What a worker said of its work goes beyond what the record shows.
    ClaimsUnproven(crate::claims::Unproven),
    /// A worker wants to give the run up; it must say so twice.
    CancelAsked {
        /// Whose.
        attempt: AttemptId,
        /// The call's id, for a repeated call.
        request: String,
    },
    /// It did something else instead of saying it again.
    CancelDropped {
        /// Whose.
        attempt: AttemptId,
    },
    /// Somebody else is to help a worker; whoever asked waits meanwhile.
    FollowUpBegan {
        /// Where.
        place: Place,
        /// Who, and what for.
        follow_up: FollowUp,
    },
    /// The helper is done, or a person said that its help is not needed.
    FollowUpEnded {
        /// Where.
        place: Place,
        /// Who helped.
        persona: String,
        /// How it went.
        outcome: Outcome,
        /// What was said of it.
        summary: String,
        /// The helper itself, or a person.
        by: Mover,
    },
    /// An attempt is to be ended before it ends by itself.
    StopAsked {
        /// Whose.
        attempt: AttemptId,
        /// Why.
        cause: StopCause,
        /// Active time of the attempt so far, where that is why.
        #[serde(default, skip_serializing_if = "is_zero")]
        active_ms: u64,
    },
    /// An attempt is over, with everything that ran below it.
    AttemptEnded(AttemptEnded),

    /// The project's files were recorded.
    TreeRecorded(TreeRecorded),
    /// The project's files could not be recorded; the run goes on without.
    TreeMissed {
        /// What they were to be recorded for.
        moment: Moment,
        /// Why not.
        why: String,
    },
    /// A person puts files back as they were: the intent, written before the first file is touched.
    UndoStarted {
        /// Whose work is undone: a place, or an undo before.
        what: String,
        /// The files as they were found, to be had again.
        from: TreeId,
        /// The files as they are to be.
        to: TreeId,
    },
    /// Files were put back, or could not be.
    UndoEnded {
        /// How many were written or removed.
        files: u32,
        /// Files that stayed, since something that no tree has is in their place.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
        /// Why it came to an end before all were back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },

    /// The run waits for a person.
    GateOpened(GateOpened),
    /// A person answered.
    GateAnswered {
        /// Which gate.
        gate: GateId,
        /// How.
        answer: GateAnswer,
        /// Who.
        who: String,
        /// What they said.
        note: String,
        /// With `retry`: who is to work from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// The run waits for something that comes by itself.
    WaitBegan(WaitBegan),
    /// The wait is over.
    WaitEnded(WaitEnded),
    /// Most of a limit is spent.
    BudgetWarned(BudgetWarned),
    /// A person lets more be spent.
    BudgetRaised(BudgetRaised),
    /// A person wants a worker to know something.
    NoteGiven {
        /// Its id.
        note: NoteId,
        /// Where.
        place: Place,
        /// Who.
        who: String,
        /// What they said.
        text: String,
        /// Who worked there then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
    },
    /// People were told that the run needs them or has ended, as far as could be.
    NoticeGiven(NoticeGiven),
    /// A working agent was told something.
    MessageDelivered {
        /// Who.
        attempt: AttemptId,
        /// What.
        message: Message,
        /// Whether it may have been told before, by a supervisor that died.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repeated: bool,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A move from phase to phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTaken {
    /// The frame.
    pub frame: FramePath,
    /// The phase left.
    pub from: PhaseId,
    /// A phase, `done` or `human_intervention`.
    pub to: PhaseId,
    /// How the phase was left.
    pub outcome: Outcome,
    /// What its worker said of it.
    pub summary: String,
    /// Who chose the way.
    pub by: Mover,
    /// What the next phase is to do, in the words of the worker before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// Who moves a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mover {
    /// The worker or the workflow.
    Run,
    /// A person, against or beside the workflow.
    Person,
}

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
    /// What it is for, if not for the phase's own work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chore: Option<Chore>,
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
    /// What it was given, bounded.
    pub input: String,
    /// What was answered.
    pub verdict: Verdict,
    /// Active time of the attempt so far.
    pub active_ms: u64,
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
    /// Lines of it that meant nothing; they are in its transcript.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_understood: u64,
    /// When there is a new quota, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_until: Option<Millis>,
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
    /// It was ended because the run was paused or cancelled.
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
    /// Anything else that the agent called an error.
    Other,
}

/// A wait for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOpened {
    /// Its id.
    pub gate: GateId,
    /// Where.
    pub place: Place,
    /// What for.
    pub gate_kind: GateKind,
    /// What the person needs to know, in a sentence.
    pub about: String,
    /// Answers to choose from, of a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Why it is asked, of a question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// What is lacking, of a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// The worker that waits for the answer; none = it has ended its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<GateAsker>,
}

/// The worker that waits at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateAsker {
    /// Who.
    pub attempt: AttemptId,
    /// Its session, in which the same request means the same question.
    pub session: SessionId,
    /// The call's id.
    pub request: String,
}

/// What a person is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// May this phase begin?
    ApprovalBefore,
    /// May this phase be left?
    ApprovalAfter,
    /// Something tripped a limit, or a worker asked for a person.
    Intervention,
    /// A worker, or the workflow, wants to know something.
    Question,
    /// May more be spent?
    Budget,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "to", rename_all = "snake_case")]
pub enum GateAnswer {
    /// Yes.
    Approved,
    /// No.
    Rejected,
    /// Try the phase again, afresh.
    Retry,
    /// Go to another phase instead.
    Go(PhaseId),
    /// The answer to a question.
    Said(String),
    /// Go on without what could not be done.
    Skip,
    /// More may be spent.
    Raised,
}

/// What is told to an agent while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Message {
    /// A person's note.
    Note(NoteId),
    /// The answer to a question it asked.
    Answer(GateId),
}
