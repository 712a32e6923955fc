//! What happened: the words of the ledger.
//!
//! An event is a fact in the past. Kinds are only ever added; a field is only ever added with a default. Each kind has its
//! effect on the state in `state/apply.rs`, its sentence in `words/sentence.rs` and its section in `docs/ledger-format.md`. This file lists the kinds; a payload of several fields is in the file of its concern.

pub mod apart;
mod attempt;
pub mod budget;
mod call;
pub mod carried;
mod chore;
pub mod claims;
pub mod command;
pub mod fallback;
mod gate;
pub(crate) mod handover;
pub mod input;
pub mod notice;
mod permission;
pub mod pool;
mod rebuild;
pub mod record;
mod repair;
pub mod room;
pub mod signal;
pub mod snapshot;
mod start;
pub mod trees;
pub mod wait;
pub mod walls;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::apart::RunMergeBegan;
use self::budget::{BudgetRaised, BudgetWarned};
use self::carried::Carried;
use self::fallback::FellBack;
use self::pool::{
    FolderMade, MergeBegan, MergePlanned, MergeWritten, PlanMade, PoolPlanned, RaceDecided,
    SlotFreed, SlotTaken, StepAsked, StepSettled,
};
use self::room::RoomAwaited;
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
pub use chore::{Chore, Duty, LeftPhase};
pub use gate::{GateAnswer, GateAsker, GateKind, GateOpened, chosen, has_numbers};
pub use handover::Handed;
pub use notice::NoticeGiven;
pub use permission::{CallHeld, GrantScope, PermissionCall};
pub use repair::LedgerRepaired;
pub use snapshot::SnapshotUpdate;
pub use start::{OnGate, RunStarted, SupervisorStarted};
pub use walls::{AttemptRewalled, AttemptWalls, RunWalls, WallsFound};

/// One fact about a run. A line of the ledger holds the events of one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Event {
    /// A run was asked for; everything it will ever need is frozen here.
    RunStarted(Arc<RunStarted>),
    /// A supervisor took over the run, at its start and after each resume.
    SupervisorStarted(SupervisorStarted),
    /// A crash tore the last line of the ledger; it was moved aside.
    TailSetAside {
        /// Length of the torn line.
        bytes: u64,
        /// Name of the file that keeps it.
        file: String,
    },
    /// The ledger was damaged, and a person let the run continue from the line before this one.
    LedgerRepaired(LedgerRepaired),
    /// A person gave the run a title, or took it away.
    RunTitled {
        /// Shown in place of the task; empty if the task is shown again.
        title: String,
        /// User name of the person.
        who: String,
    },
    /// A person paused the run.
    RunPaused {
        /// What the person said; may be empty.
        reason: String,
    },
    /// The run continues after a pause.
    RunResumed,
    /// A person cancelled the run.
    RunCancelled {
        /// What the person said; may be empty.
        reason: String,
    },
    /// The last phase was left; nothing is left to do.
    RunDone,
    /// A person is needed, and the run was started with `on_gate: fail`.
    RunFailed {
        /// Why a person would have been needed.
        reason: String,
    },

    /// A workflow was entered: the run's own, or one inside a phase.
    FrameEntered(FrameEntered),
    /// Work on a phase begins.
    PhaseEntered {
        /// The phase, with the path of its frame.
        place: Place,
    },
    /// A phase was left for another.
    EdgeTaken(EdgeTaken),
    /// A person sent the run to another phase while a worker was active. It moves once no attempt is live.
    GoAsked {
        /// The phase to go to.
        place: Place,
        /// User name of the person.
        who: String,
        /// The person's note for the next worker; may be empty.
        note: String,
    },
    /// A frame reached its end.
    FrameEnded {
        /// The frame that ended.
        frame: FramePath,
        /// `complete` in lines written by versions that did not record it.
        #[serde(default = "complete", skip_serializing_if = "Outcome::is_complete")]
        outcome: Outcome,
        /// The summary of its last phase.
        summary: String,
    },

    /// A person took the run back to an earlier position, of this run or of the one it was forked from.
    Rewound {
        /// The line after which the run was at that position.
        to: u64,
        /// The position to continue from.
        carried: Box<Carried>,
    },

    /// An agent is to be started: the intent, written before the start.
    AttemptStarted(AttemptStarted),
    /// The agent said which session it works in.
    SessionOpened {
        /// The attempt that works in it.
        attempt: AttemptId,
        /// The agent's own id of its conversation.
        session: SessionId,
    },
    /// The agent did not prove that it has its tools judged, and works all the same: the user's settings ask for no proof.
    GuardUnproven {
        /// The attempt that works without a proof.
        attempt: AttemptId,
        /// What is missing, for people.
        why: String,
    },
    /// An attempt that has not begun gets other walls than it was decided with: those of the supervisor that starts it.
    AttemptRewalled(AttemptRewalled),
    /// An attempt that has not begun waits: as many agents as may work on the machine at once do so.
    RoomAwaited(RoomAwaited),
    /// An attempt that waited for room has it, and begins.
    RoomTaken {
        /// The attempt that begins.
        attempt: AttemptId,
    },
    /// A wall stopped something that a worker tried.
    WallHit {
        /// The attempt behind that wall.
        attempt: AttemptId,
        /// The agent's id of the call; `None` for a command of the workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// The line of its output that shows it.
        said: String,
    },
    /// A worker wanted to call a tool, and was answered.
    ToolCalled(ToolCalled),
    /// A tool call ended.
    ToolEnded {
        /// The attempt that made the call.
        attempt: AttemptId,
        /// The agent's id of the call.
        call: String,
        /// True if the tool reported success.
        ok: bool,
        /// True if only the call returned, and what it started goes on. Another end of the call follows when that is over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        goes_on: bool,
        /// Active time of the attempt so far.
        active_ms: u64,
    },
    /// The agent said that it changed a file.
    FileChanged {
        /// The attempt that reported it.
        attempt: AttemptId,
        /// Which, relative to the project.
        path: String,
        /// Whether it was created, changed or deleted.
        change: Change,
    },
    /// The agent reported token usage.
    UsageReported {
        /// The attempt that used them.
        attempt: AttemptId,
        /// What the figure covers.
        scope: Scope,
        /// Tokens and price for that scope.
        usage: Usage,
        /// Active time of the attempt so far.
        active_ms: u64,
    },
    /// A command of a command phase ended.
    CommandEnded {
        /// The attempt that ran it.
        attempt: AttemptId,
        /// Which of the phase's commands, from 0.
        index: u32,
        /// Its exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// A worker's leaving signal was accepted: the first one wins.
    SignalAccepted {
        /// The attempt that signalled.
        attempt: AttemptId,
        /// Id of the call, so that a repeated call gets the same answer.
        request: String,
        /// Target, outcome and summary of the signal.
        leave: Leave,
        /// The answer, repeated word for word to a repeated call. Empty in lines written by older versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
    },
    /// A worker's call was refused with a reason that it can act on.
    SignalRefused {
        /// The attempt that called.
        attempt: AttemptId,
        /// Id of the call, so that a repeated call gets the same answer.
        request: String,
        /// The answer it got.
        answer: String,
    },
    /// A worker ended its turn before its phase is done, with a question or a request. The first such signal wins.
    BreakAccepted {
        /// The attempt that signalled.
        attempt: AttemptId,
        /// Id of the call, so that a repeated call gets the same answer.
        request: String,
        /// What the worker needs before the phase continues.
        parting: Break,
        /// The answer, repeated word for word to a repeated call. Empty in lines written by older versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
    },
    /// A worker wrote down what later phases must know.
    SnapshotUpdated {
        /// The attempt that called.
        attempt: AttemptId,
        /// Id of the call, so that a repeated call gets the same answer.
        request: String,
        /// Entries that it adds, replaces or removes.
        update: SnapshotUpdate,
        /// The answer, repeated word for word to a repeated call. Empty in lines written by older versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
    },
    /// A worker claimed more than the record shows.
    ClaimsUnproven(claims::Unproven),
    /// A worker asked to cancel the run; it must ask twice.
    CancelAsked {
        /// The attempt that asked.
        attempt: AttemptId,
        /// Id of the call, so that a repeated call gets the same answer.
        request: String,
        /// The answer, repeated word for word to a repeated call. Empty in lines written by older versions.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        answer: String,
    },
    /// The worker made another call instead of confirming the cancellation.
    CancelDropped {
        /// The attempt that had asked.
        attempt: AttemptId,
    },
    /// A helper takes over for a while; the worker that asked waits on the frame's stack.
    FollowUpBegan {
        /// The phase that both work on.
        place: Place,
        /// The persona asked for, and why.
        follow_up: FollowUp,
    },
    /// The helper finished, or a person skipped it.
    FollowUpEnded {
        /// The phase that both work on.
        place: Place,
        /// Persona of the helper.
        persona: String,
        /// The helper's outcome, or `skipped`.
        outcome: Outcome,
        /// What the helper or the person said.
        summary: String,
        /// The helper itself, or a person.
        by: Mover,
    },
    /// An attempt must be stopped. From here on its calls are denied and its signals refused.
    StopAsked {
        /// The attempt to stop.
        attempt: AttemptId,
        /// The limit that it hit.
        cause: StopCause,
        /// Active time of the attempt so far, if the cause is a time limit.
        #[serde(default, skip_serializing_if = "is_zero")]
        active_ms: u64,
    },
    /// An attempt is over, and so is every process that it started.
    AttemptEnded(AttemptEnded),

    /// The project's files were recorded.
    TreeRecorded(TreeRecorded),
    /// The project's files could not be recorded; the run continues without that tree.
    TreeMissed {
        /// What the tree would have been for.
        moment: Moment,
        /// The folder that could not be recorded.
        #[serde(default, skip_serializing_if = "FolderId::is_project")]
        folder: FolderId,
        /// The error, for people.
        why: String,
    },
    /// A person starts to restore files.
    UndoStarted(UndoStarted),
    /// An undo finished, completely or in part.
    UndoEnded(Restored),

    /// A phase with steps begins.
    PoolEntered {
        /// The phase that is the pool.
        place: Place,
        /// True if it is a race.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        race: bool,
    },
    /// A pool has its steps.
    PoolPlanned(PoolPlanned),
    /// The steps of a pool could not be read from the file that has them.
    StepsUnread {
        /// The phase that is the pool.
        place: Place,
        /// What is wrong, for people.
        why: String,
    },
    /// A worker planned steps, or changed those that have not begun.
    PlanMade(PlanMade),
    /// A step has a slot: it begins, or goes on.
    SlotTaken(SlotTaken),
    /// A step gave its slot to others, since it waits for a person.
    SlotFreed(SlotFreed),
    /// A person wants a step skipped, given up or done again.
    StepAsked(StepAsked),
    /// A step ended without work to merge, or is to be done again.
    StepSettled(StepSettled),
    /// A race is decided: one result is merged, or none.
    RaceDecided(RaceDecided),
    /// Nothing is left to do in a pool.
    PoolEnded {
        /// The phase that is the pool.
        place: Place,
        /// `complete`, or `gaps` if steps are not done.
        outcome: Outcome,
        /// Which steps are done, and which are not.
        summary: String,
        /// True if it is a race.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        race: bool,
    },
    /// A work folder is there.
    FolderMade(FolderMade),
    /// A work folder could not be made.
    FolderFailed {
        /// Number of the folder in this run.
        folder: u32,
        /// The error, for people.
        why: String,
    },
    /// A work folder that is still needed is gone: it is made again.
    FolderLost {
        /// Number of the folder in this run.
        folder: u32,
    },
    /// A work folder was removed, or could not be.
    FolderDropped {
        /// Number of the folder in this run.
        folder: u32,
        /// Why it is still there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The merge of a step's work begins, or begins again.
    MergeBegan(MergeBegan),
    /// What a merge would do. Written before the first file is touched.
    MergePlanned(Box<MergePlanned>),
    /// Files of a merge were written.
    MergeWritten(MergeWritten),
    /// A person has the work of a run that worked apart merged.
    RunMergeBegan(RunMergeBegan),
    /// A person gave up the work of a run that worked apart: its folder goes.
    WorkDropped {
        /// User name of the person.
        who: String,
    },

    /// The run waits for a person.
    GateOpened(GateOpened),
    /// A person answered an open gate.
    GateAnswered {
        /// The gate, which is closed by this.
        gate: GateId,
        /// Approval, rejection, or where to go on.
        answer: GateAnswer,
        /// User name of the person.
        who: String,
        /// The person's note for the worker; may be empty.
        note: String,
        /// With `retry`: the agent that works from now on. `None` keeps the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// With `retry`: the command to begin with, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u32>,
    },
    /// A tool call waits for a person's leave.
    CallHeld(CallHeld),
    /// An agent could not go on, and the next one of the phase's `fallback` takes over.
    FellBack(FellBack),
    /// The run waits for something that comes by itself, such as a quota reset.
    WaitBegan(WaitBegan),
    /// The wait is over, or a person cut it short.
    WaitEnded(WaitEnded),
    /// Most of a budget is spent.
    BudgetWarned(BudgetWarned),
    /// A person raised a budget.
    BudgetRaised(BudgetRaised),
    /// A person allowed more rounds of a loop. Nothing moves.
    LoopsAllowed {
        /// A phase of the looping workflow.
        place: Place,
        /// How many rounds are added.
        more: u32,
        /// User name of the person.
        who: String,
    },
    /// A person sent a note to a worker.
    NoteGiven {
        /// Numbered per run, from `n1`.
        note: NoteId,
        /// The phase whose worker should read it.
        place: Place,
        /// User name of the person.
        who: String,
        /// The note itself, at most `NOTE_MAX` bytes.
        text: String,
        /// The attempt that was live there, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
    },
    /// Chronicle notified people that the run needs them or has ended, as far as that worked.
    NoticeGiven(NoticeGiven),
    /// A live agent received a message.
    MessageDelivered {
        /// The attempt that received it.
        attempt: AttemptId,
        /// The note or answer that was delivered.
        message: Message,
        /// True if an earlier supervisor may have delivered it before it died.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repeated: bool,
    },
}

impl Event {
    /// True for the many small events between decisions, which the timeline folds away.
    pub fn is_detail(&self) -> bool {
        // One arm for each and no wildcard: a new event does not compile until somebody has decided what people see of it.
        match self {
            Self::ToolCalled(_)
            | Self::ToolEnded { .. }
            | Self::FileChanged { .. }
            | Self::UsageReported { .. }
            | Self::CancelDropped { .. }
            // The end of the step or of the merge says more.
            | Self::SlotFreed(_)
            | Self::FolderMade(_)
            | Self::MergeBegan(_)
            // Its gate says what is asked.
            | Self::CallHeld(_)
            | Self::SessionOpened { .. } => true,
            Self::TreeRecorded(recorded) => recorded.is_detail(),
            // What is missed before the work matters less: the last tree of the folder stands in for it.
            Self::TreeMissed { moment, .. } => matches!(moment, Moment::Before(_)),
            // That a folder is gone is worth a line only if it is not.
            Self::FolderDropped { error, .. } => error.is_none(),
            // The step got its slot in the line before.
            Self::FrameEntered(entered) => entered.step.is_some(),
            // That the step's folder has the project's side is an act on the way: the conflict, or the merge, is told.
            Self::MergeWritten(written) => !written.into.is_project() && written.error.is_none(),
            Self::RunStarted(_)
            | Self::SupervisorStarted(_)
            | Self::TailSetAside { .. }
            | Self::LedgerRepaired(_)
            | Self::RunTitled { .. }
            | Self::RunPaused { .. }
            | Self::RunResumed
            | Self::RunCancelled { .. }
            | Self::RunDone
            | Self::RunFailed { .. }
            | Self::BreakAccepted { .. }
            | Self::SnapshotUpdated { .. }
            | Self::ClaimsUnproven(_)
            | Self::CancelAsked { .. }
            | Self::FollowUpBegan { .. }
            | Self::FollowUpEnded { .. }
            | Self::NoteGiven { .. }
            | Self::MessageDelivered { .. }
            | Self::NoticeGiven(_)
            | Self::PhaseEntered { .. }
            | Self::EdgeTaken(_)
            | Self::Rewound { .. }
            | Self::GoAsked { .. }
            | Self::FrameEnded { .. }
            | Self::AttemptStarted(_)
            | Self::GuardUnproven { .. }
            | Self::AttemptRewalled(_)
            | Self::RoomAwaited(_)
            | Self::RoomTaken { .. }
            | Self::WallHit { .. }
            | Self::CommandEnded { .. }
            | Self::SignalAccepted { .. }
            | Self::SignalRefused { .. }
            | Self::StopAsked { .. }
            | Self::AttemptEnded(_)
            | Self::UndoStarted(_)
            | Self::UndoEnded(_)
            | Self::PoolEntered { .. }
            | Self::PoolPlanned(_)
            | Self::StepsUnread { .. }
            | Self::PlanMade(_)
            | Self::SlotTaken(_)
            | Self::StepAsked(_)
            | Self::StepSettled(_)
            | Self::RaceDecided(_)
            | Self::PoolEnded { .. }
            | Self::FolderFailed { .. }
            | Self::FolderLost { .. }
            | Self::RunMergeBegan(_)
            | Self::WorkDropped { .. }
            | Self::MergePlanned(_)
            | Self::GateOpened(_)
            | Self::GateAnswered { .. }
            | Self::FellBack(_)
            | Self::WaitBegan(_)
            | Self::WaitEnded(_)
            | Self::BudgetWarned(_)
            | Self::BudgetRaised(_)
            | Self::LoopsAllowed { .. } => false,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The outcome of frames in lines that do not name one.
fn complete() -> Outcome {
    Outcome::from(COMPLETE)
}

/// A workflow is entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameEntered {
    /// The new frame. Its path is a name and must not be parsed.
    pub frame: FramePath,
    /// Key of the workflow that it walks.
    pub workflow: String,
    /// The phase that runs this workflow, in the parent frame. `None` for the run's own workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The step of a pool that it works on; `None` outside of pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
}

/// A move from phase to phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTaken {
    /// The frame that moves.
    pub frame: FramePath,
    /// The phase that is left.
    pub from: PhaseId,
    /// A phase, `done` or `human_intervention`.
    pub to: PhaseId,
    /// How the phase was left.
    pub outcome: Outcome,
    /// What the worker said about its work.
    pub summary: String,
    /// The workflow's own rule, or a person.
    pub by: Mover,
    /// The task for the next phase, in the words of the worker that left.
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
    /// The worker's signal or the workflow's rules.
    Run,
    /// A person; any phase of the workflow is allowed.
    Person,
}

/// What is sent to an agent while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Message {
    /// A note from a person, by its id.
    Note(NoteId),
    /// The answer to a question it asked.
    Answer(GateId),
    /// The verdict on a call that it held at this gate.
    Verdict(GateId),
    /// That a wall stopped it, and what it can do.
    Wall,
}
