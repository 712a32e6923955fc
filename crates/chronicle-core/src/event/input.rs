//! What comes in: people and workers ask (`Command`), the world answers an effect (`Report`).
//!
//! Every input carries its time and who it is from; the core has no clock of its own.

use serde::{Deserialize, Serialize};

use crate::base::ids::{AttemptId, GateId, Place, SessionId, TreeId};
use crate::base::time::Millis;
use crate::base::usage::{Scope, Usage};
use crate::definition::workflow::Budget;
use crate::event::carried::Carried;
use crate::event::notice::NoticeGiven;
use crate::event::signal::Signal;
use crate::event::trees::{Moment, Restored, TreeRecorded};
use crate::event::{Call, Change, CrashClass, LedgerRepaired, Message, RunStarted};

/// One thing that came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// When, for people.
    pub at: Millis,
    /// From whom.
    pub by: By,
    /// What.
    pub what: What,
}

/// Who an input is from; written with the decision that it led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// Who.
    pub actor: Actor,
    /// Their id of the request, where it may be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "id", rename_all = "snake_case")]
pub enum Actor {
    /// A person, by their user name.
    Person(String),
    /// The worker of an attempt.
    Worker(AttemptId),
    /// The supervisor, about the world.
    Supervisor,
}

/// A question or an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum What {
    /// Somebody asks; may be refused.
    Command(Command),
    /// The world answers; cannot be refused.
    Report(Report),
}

/// What people and workers may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Command {
    /// Begin.
    Start(Box<RunStarted>),
    /// Make a run that begins with `Resume`: somebody else will drive it.
    Prepare(Box<RunStarted>),
    /// Stop for a while.
    Pause {
        /// Why.
        reason: String,
    },
    /// Go on.
    Resume,
    /// Give up.
    Cancel {
        /// Why.
        reason: String,
    },
    /// Yes, at a gate.
    Approve {
        /// Which; the only open one when none.
        gate: Option<GateId>,
        /// What else they said.
        note: String,
    },
    /// No, at a gate.
    Reject {
        /// Which; the only open one when none.
        gate: Option<GateId>,
        /// Why not.
        note: String,
    },
    /// Try a phase again, afresh.
    Retry {
        /// Where; the only place at a gate when none.
        place: Option<Place>,
        /// What else they said.
        note: String,
        /// Who is to work from now on; the same when none.
        agent: Option<String>,
    },
    /// Go on without what could not be done: the help on top of the stack, else the phase.
    Skip {
        /// Where; the only place at a gate when none.
        place: Option<Place>,
        /// What is to be known instead.
        note: String,
    },
    /// The answer to a question.
    Answer {
        /// Which; the only open one when none.
        gate: Option<GateId>,
        /// An option, its number, or any text.
        text: String,
    },
    /// Something that a worker is to know.
    Note {
        /// Where; where the run is when none.
        place: Option<Place>,
        /// What.
        text: String,
    },
    /// More may be spent.
    Budget {
        /// Whose limit; what waits, else the run's, when none.
        place: Option<Place>,
        /// How much more of each.
        more: Budget,
    },
    /// More rounds are allowed; nothing is moved.
    Loops {
        /// A phase of the workflow that goes round; the only place that waits for it when none.
        place: Option<Place>,
        /// How many more.
        more: u32,
    },
    /// Go to a phase, whatever the workflow says.
    Go {
        /// Where to.
        place: Place,
        /// What else they said.
        note: String,
    },
    /// Put files back. Both trees are known to the one who asks; whoever performs it needs nothing else.
    Undo {
        /// Whose work is undone, as a person says it.
        what: String,
        /// The files as they are now.
        from: TreeId,
        /// The files as they are to be.
        to: TreeId,
        /// The line of the undo that is taken back, with every later one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        back: Option<u64>,
    },
    /// Go on from the last line, though the ledger was damaged. What was to be cut off is cut already.
    Repair(LedgerRepaired),
    /// Go back to where the run once stood. Who asks has read the ledger up to there (`State::carried`).
    Rewind {
        /// The line after which it stood there.
        to: u64,
        /// Where.
        carried: Box<Carried>,
    },
    /// A worker's call.
    Signal {
        /// Whose.
        attempt: AttemptId,
        /// The call's id: the same call repeated gets the same answer.
        request: String,
        /// What it says.
        signal: Signal,
    },
}

/// What the world reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Report {
    /// A supervisor took the run in hand.
    SupervisorStarted {
        /// Its process.
        pid: u32,
        /// Its host.
        host: String,
        /// The lock's epoch.
        epoch: u64,
        /// Its version.
        version: String,
        /// Whether it tells people when they are needed.
        notifies: bool,
    },
    /// People were told something, or could not be.
    NoticeGiven(NoticeGiven),
    /// A torn last line was set aside when the ledger was opened.
    TailSetAside {
        /// How much of it there was.
        bytes: u64,
        /// Where it is kept.
        file: String,
    },
    /// The supervisor is about to leave: no worker can wait for an answer then.
    SupervisorLeaves,
    /// Something about a live attempt.
    Attempt {
        /// Which.
        attempt: AttemptId,
        /// Active time so far.
        active_ms: u64,
        /// What.
        what: AttemptReport,
    },
    /// The project's files were recorded.
    TreeRecorded(Box<TreeRecorded>),
    /// The project's files could not be recorded.
    TreeMissed {
        /// What for.
        moment: Moment,
        /// Why.
        why: String,
    },
    /// Files were put back, or why they could not be.
    TreeRestored(Box<Restored>),
    /// A timer ran out.
    TimerFired {
        /// Of which attempt.
        attempt: AttemptId,
        /// Which of its timers.
        timer: TimerKind,
    },
}

/// What is seen of a live attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum AttemptReport {
    /// The session it works in.
    Session(SessionId),
    /// It calls a tool; the answer is the verdict.
    ToolCalled {
        /// Which.
        call: Box<Call>,
    },
    /// A tool call ended.
    ToolEnded {
        /// The agent's id of the call.
        call: String,
        /// Whether it worked.
        ok: bool,
    },
    /// It says that it changed a file.
    FileChanged {
        /// Which.
        path: String,
        /// How.
        change: Change,
    },
    /// Tokens were used.
    Usage {
        /// What the figure covers.
        scope: Scope,
        /// The figure.
        usage: Usage,
    },
    /// A command of a command phase ended.
    CommandEnded {
        /// Which, from 0.
        index: u32,
        /// Its exit code; none when a signal ended it.
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// It was told something.
    Told(Message),
    /// Nothing was heard of it for as long as the phase allows.
    Idle,
    /// It is over, and nothing of it runs any more.
    Ended(EndSeen),
}

/// How an attempt's end looked from outside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EndSeen {
    /// Whether the agent's own terminal event came.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finished: bool,
    /// Whether its supervisor or keeper died, so that nothing is known about its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// Whether we ended it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Why something of it may still run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// The last error that the agent reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<(CrashClass, String)>,
    /// When there is a new quota, where the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_until: Option<Millis>,
    /// How long its service wants to be left alone, where the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// Signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Processes that it left behind and that were ended.
    #[serde(skip_serializing_if = "is_default")]
    pub strays: u32,
    /// Lines of the agent that meant nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub not_understood: u64,
    /// How far its transcript goes.
    #[serde(skip_serializing_if = "is_default")]
    pub transcript_bytes: u64,
    /// The last lines it wrote to its standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// What it said last, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_text: Option<Box<Said>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What an agent said last. Boxed where it is reported, since it is seldom asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said(pub String);

/// The timers an attempt may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKind {
    /// How long nothing may come of the work.
    Standstill,
    /// After its leaving signal.
    Grace,
    /// From its start.
    Timeout,
    /// Until a budget of time is used up.
    Budget,
    /// Until what the run waits for comes by itself.
    Wait,
    /// How long a tool call may be open.
    Tool,
}

/// What is answered to an input, once its decision is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Answer {
    /// Nothing to say.
    Noted,
    /// Done as asked.
    Accepted(String),
    /// Not done, and what to do instead.
    Refused(String),
    /// Whether a tool call may go on.
    Verdict(crate::event::Verdict),
    /// A tool call of an attempt that is being stopped, and why. It is denied, and the agent is told nothing: an answer would
    /// only lead to another request to its model.
    Stopped(String),
    /// A person must answer first. The same call again hears the same, or the answer.
    Waits,
}
