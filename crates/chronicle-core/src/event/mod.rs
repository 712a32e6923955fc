//! What happened: the words of the ledger.
//!
//! An event is a fact in the past. Kinds are only ever added; a field is only ever added with a default. Each kind has its
//! effect on the state in `state/apply.rs`, its sentence in `words/sentence.rs`, its weight in `view/timeline.rs` and its section in
//! `docs/ledger-format.md`. This file lists the kinds; a payload of several fields is in the file of its concern.

mod attempt;
pub mod budget;
mod call;
pub mod carried;
mod chore;
pub mod claims;
mod gate;
pub(crate) mod handover;
pub mod input;
pub mod notice;
mod rebuild;
pub mod record;
mod repair;
pub mod signal;
pub mod snapshot;
mod start;
pub mod trees;
pub mod wait;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::budget::{BudgetRaised, BudgetWarned};
use self::carried::Carried;
use self::trees::{Moment, Restored, TreeRecorded, UndoStarted};
use self::wait::{WaitBegan, WaitEnded};
use crate::base::ids::{
    AttemptId, COMPLETE, FolderId, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId,
    StepId,
};
use crate::base::usage::{Scope, Usage};
pub use attempt::{
    AttemptEnded, AttemptStarted, Break, Change, Crash, CrashClass, End, FollowUp, Issues, Leave,
    Performer, Question, StopCause, ToolCalled, Verdict, Why,
};
pub use call::{Call, CallSum, Caller, ToolKind};
pub use chore::{Chore, Duty};
pub use gate::{GateAnswer, GateAsker, GateKind, GateOpened};
pub use handover::Handed;
pub use notice::NoticeGiven;
pub use repair::LedgerRepaired;
pub use snapshot::SnapshotUpdate;
pub use start::{OnGate, RunStarted, SupervisorStarted};

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
    /// The ledger was damaged, and a person let the run go on from the line before this one.
    LedgerRepaired(LedgerRepaired),
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
    FrameEntered(FrameEntered),
    /// A phase is to be done now.
    PhaseEntered {
        /// Where.
        place: Place,
    },
    /// A phase was left for another.
    EdgeTaken(EdgeTaken),
    /// A person sends the run to a phase while somebody works: it goes there once nobody does.
    GoAsked {
        /// Where to.
        place: Place,
        /// Who.
        who: String,
        /// What they said.
        note: String,
    },
    /// A frame came to its end.
    FrameEnded {
        /// Which.
        frame: FramePath,
        /// How.
        #[serde(default = "complete", skip_serializing_if = "Outcome::is_complete")]
        outcome: Outcome,
        /// The summary of its last phase.
        summary: String,
    },

    /// A person took the run back to where it, or the run that it came from, once stood.
    Rewound {
        /// The line after which it stood there.
        to: u64,
        /// Where.
        carried: Box<Carried>,
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
        /// The answer it got, to be repeated word for word; empty in lines that were written before it was kept.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
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
        /// The answer it got, to be repeated word for word; empty in lines that were written before it was kept.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
    },
    /// A worker wrote down what later phases must know.
    SnapshotUpdated {
        /// Whose.
        attempt: AttemptId,
        /// The call's id, for a repeated call.
        request: String,
        /// What it adds.
        update: SnapshotUpdate,
        /// The answer it got, to be repeated word for word; empty in lines that were written before it was kept.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
    },
    /// What a worker said of its work goes beyond what the record shows.
    ClaimsUnproven(claims::Unproven),
    /// A worker wants to give the run up; it must say so twice.
    CancelAsked {
        /// Whose.
        attempt: AttemptId,
        /// The call's id, for a repeated call.
        request: String,
        /// The answer it got, to be repeated word for word; empty in lines that were written before it was kept.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
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
        /// Which folder's.
        #[serde(default, skip_serializing_if = "FolderId::is_project")]
        folder: FolderId,
        /// Why not.
        why: String,
    },
    /// A person puts files back as they were.
    UndoStarted(UndoStarted),
    /// Files were put back, or could not be.
    UndoEnded(Restored),

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
    /// A person allowed more rounds in a workflow that goes round. Nothing was moved.
    LoopsAllowed {
        /// A phase of that workflow.
        place: Place,
        /// How many more.
        more: u32,
        /// Who said so.
        who: String,
    },
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

/// What a frame ended with in lines that do not say it.
fn complete() -> Outcome {
    Outcome::from(COMPLETE)
}

/// A workflow that is walked from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameEntered {
    /// The new frame: a name that is not taken apart.
    pub frame: FramePath,
    /// Its workflow's key.
    pub workflow: String,
    /// The phase that it does, in the frame around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The step that it walks, in a phase that has steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
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
    /// The issues that the worker named.
    #[serde(default, skip_serializing_if = "Issues::is_none")]
    pub issues: Issues,
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

/// What is told to an agent while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Message {
    /// A person's note.
    Note(NoteId),
    /// The answer to a question it asked.
    Answer(GateId),
}
