//! Inputs: people and workers ask (`Command`), the world answers effects (`Report`).
//!
//! Every input carries its time and its sender; the core has no clock.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, Place, SessionId};
use crate::base::time::Millis;
use crate::base::usage::{Scope, Usage};
use crate::definition::workflow::StepItem;
pub use crate::event::command::Command;
use crate::event::notice::NoticeGiven;
use crate::event::permission::{clear, is_clear};
use crate::event::pool::{FolderMade, MergePlanned, MergeWritten};
use crate::event::room::RoomLimit;
use crate::event::trees::{Moment, Restored, TreeRecorded};
use crate::event::{Call, Change, CrashClass, Message, WallsFound};
use crate::guard::Judgement;

/// One input: a command or a report, with its time and sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Wall-clock time, shown to people. Decisions use it only as data.
    pub at: Millis,
    /// Recorded in the line that the input leads to.
    pub by: By,
    /// A command, which may be refused, or a report, which may not.
    pub what: What,
}

/// The sender of an input, recorded with the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// A person, a worker or the supervisor itself.
    pub actor: Actor,
    /// The sender's id of the request, if it may be sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// The kind of sender, with its name or id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Actor {
    /// A person, by their user name.
    Person(String),
    /// The worker of an attempt.
    Worker(AttemptId),
    /// The supervisor, reporting what it saw.
    Supervisor,
}

/// A command or a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum What {
    /// A request; it may be refused.
    Command(Command),
    /// A fact; it cannot be refused.
    Report(Report),
}

/// What the world reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Report {
    /// A supervisor took over the run.
    SupervisorStarted {
        /// Process id of the supervisor.
        pid: u32,
        /// Name of the machine that it runs on.
        host: String,
        /// Epoch of its claim on the ledger; rises with each supervisor.
        epoch: u64,
        /// Version of the Chronicle that drives the run.
        version: String,
        /// True if it has a way to notify people.
        notifies: bool,
        /// Which walls its machine can put up; `None` if it did not look.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        walls: Option<WallsFound>,
    },
    /// A notice was sent, or failed.
    NoticeGiven(NoticeGiven),
    /// A torn last line was moved aside when the ledger was opened.
    TailSetAside {
        /// Length of the torn line.
        bytes: u64,
        /// Name of the file that keeps it.
        file: String,
    },
    /// The supervisor is about to exit, so no live worker can keep waiting for an answer.
    SupervisorLeaves,
    /// Something happened in a live attempt.
    Attempt {
        /// The attempt it is about.
        attempt: AttemptId,
        /// Active milliseconds of the attempt so far.
        active_ms: u64,
        /// What the adapter or the keeper saw.
        what: AttemptReport,
    },
    /// The project's files were recorded.
    TreeRecorded(Box<TreeRecorded>),
    /// The project's files could not be recorded.
    TreeMissed {
        /// What the tree would have been for.
        moment: Moment,
        /// The error, for people.
        why: String,
    },
    /// An undo finished, completely or in part.
    TreeRestored(Box<Restored>),
    /// The steps of a pool were read from their file.
    StepsRead {
        /// The phase that is the pool.
        place: Place,
        /// The steps, in order.
        steps: Vec<StepItem>,
    },
    /// The steps of a pool could not be read.
    StepsUnread {
        /// The phase that is the pool.
        place: Place,
        /// What is wrong, for people.
        why: String,
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
    /// A work folder that is still needed is gone.
    FolderLost {
        /// Number of the folder in this run.
        folder: u32,
    },
    /// A work folder was removed, or could not be.
    FolderDropped {
        /// Number of the folder in this run.
        folder: u32,
        /// Why it is still there.
        error: Option<String>,
    },
    /// What a merge would do is known.
    MergePlanned(Box<MergePlanned>),
    /// What a merge would do could not be worked out.
    MergeMissed {
        /// The folder of the work that is merged.
        folder: u32,
        /// The error, for people.
        why: String,
    },
    /// Files of a merge were written, all or some.
    MergeWritten(MergeWritten),
    /// A timer ran out.
    TimerFired {
        /// The attempt that the timer belongs to.
        attempt: AttemptId,
        /// Which of its timers.
        timer: TimerKind,
    },
}

/// What was said to a call before it ran without leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaidBefore {
    /// Nothing: nobody was asked.
    #[default]
    Nothing,
    /// That it must not run.
    Denied,
    /// That it must wait for a person's answer.
    Waits,
    /// Something to another call of its id: it was changed after it was judged.
    OfAnother,
}

impl SaidBefore {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// What is seen of a live attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum AttemptReport {
    /// The session it works in.
    Session(SessionId),
    /// It did not prove that it has its tools judged, and works all the same.
    GuardUnproven {
        /// What is missing, for people.
        why: String,
    },
    /// It was decided before this supervisor came, for other walls than this one puts up, and never began.
    OtherWalls,
    /// It has not begun, since others have to end first.
    RoomAwaited(RoomLimit),
    /// It waited for room, and has it: it begins.
    RoomTaken,
    /// A wall stopped something that it tried.
    WallHit {
        /// The agent's id of the call; `None` for a command of the workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// The line of its output that shows it.
        said: String,
    },
    /// It wants to call a tool; the answer is the verdict.
    ToolCalled {
        /// Boxed because it is much larger than the other variants.
        call: Box<Call>,
        /// What the rules say to it.
        #[serde(default = "clear", skip_serializing_if = "is_clear")]
        judged: Judgement,
    },
    /// It called a tool, and refused that by itself before anybody was asked. Or the rules refused after all what a person had allowed, or it was
    /// no longer what they had been shown.
    ToolRefused {
        /// The call as the agent announced it.
        call: Box<Call>,
        /// Why, in the agent's own words.
        why: String,
        /// What the rules said, if it was they that refused it. Always `clear` in lines of older versions.
        #[serde(default = "clear", skip_serializing_if = "is_clear")]
        judged: Judgement,
    },
    /// It ran a tool call without asking for permission, another one than it had asked for, or one that was denied.
    ToolUnasked {
        /// The call as it ran, as far as the agent told.
        call: Box<Call>,
        /// What the rules say to it.
        #[serde(default = "clear", skip_serializing_if = "is_clear")]
        judged: Judgement,
        /// What was said to it before. Always nothing in lines of older versions.
        #[serde(default, skip_serializing_if = "SaidBefore::is_nothing")]
        said: SaidBefore,
        /// True if no such call is tolerated, whatever the rules say. False in lines of older versions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stops: bool,
    },
    /// A tool call ended.
    ToolEnded {
        /// The agent's id of the call.
        call: String,
        /// True if the tool reported success.
        ok: bool,
    },
    /// A tool call returned, and what it started goes on in the background. The call's end follows when that is over.
    ToolWentOn {
        /// The agent's id of the call.
        call: String,
    },
    /// It says that it changed a file.
    FileChanged {
        /// Relative to the project.
        path: String,
        /// Whether it was created, changed or deleted.
        change: Change,
    },
    /// It reported token usage.
    Usage {
        /// What the figure covers.
        scope: Scope,
        /// Tokens and price for that scope.
        usage: Usage,
    },
    /// A command of a command phase ended.
    CommandEnded {
        /// Index in the phase's commands, from 0.
        index: u32,
        /// Its exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// It waits no longer for the answer to a question: its dialog has timed out, or was closed.
    Withdrew {
        /// The id of the call that asked.
        request: String,
    },
    /// It received a note or an answer.
    Told(Message),
    /// It printed nothing for as long as the phase allows.
    Idle,
    /// It is over, and none of its processes runs any more.
    Ended(EndSeen),
}

/// How the end of an attempt looked from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EndSeen {
    /// True if the agent reported the end of its turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finished: bool,
    /// True if its supervisor or keeper died, so that its end was not observed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// True if Chronicle stopped it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Set if some of its processes may still run; the reason, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// The last error that the agent reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<(CrashClass, String)>,
    /// When the quota resets, if the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_until: Option<Millis>,
    /// How long the service asked to wait, if the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Exit code of the agent's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// Signal that killed the agent's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Number of processes that it left behind and that were killed.
    #[serde(skip_serializing_if = "is_default")]
    pub strays: u32,
    /// Lines of output that the adapter could not parse.
    #[serde(skip_serializing_if = "is_default")]
    pub not_understood: u64,
    /// Length of its transcript in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub transcript_bytes: u64,
    /// What people must know about how it worked, each a part of a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The last lines of its standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Its last message, if the order asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_text: Option<Box<FinalText>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An agent's last message. Boxed where it is reported, since it is rarely asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalText(pub String);

/// Timers that an attempt can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKind {
    /// Fires if the work makes no progress for too long.
    Standstill,
    /// Runs from the leaving signal until the attempt is killed.
    Grace,
    /// Runs from the start of the attempt.
    Timeout,
    /// Fires when a time budget is used up.
    Budget,
    /// Fires when the wait for a quota or a retry is over.
    Wait,
    /// Runs while a tool call is open.
    Tool,
    /// Runs while a call waits for a person's leave.
    Ask,
}

/// The answer to an input, sent once the decision is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Answer {
    /// The input was recorded; there is nothing to tell.
    Noted,
    /// The request was granted; the text says what happens.
    Accepted(String),
    /// The request was refused; the text says what to do instead.
    Refused(String),
    /// Whether a tool call may go on.
    Verdict(crate::event::Verdict),
    /// A tool call of an attempt that is being stopped, with the cause. It is denied without telling the agent why: an answer
    /// would only cause another request to its model.
    Stopped(String),
    /// A person must answer first. The same call sent again gets this again, or the answer.
    Waits,
}
