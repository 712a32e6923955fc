//! Frames: where a run is inside one workflow.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::fallback::Fallback;
use super::loops::Rounds;
use super::permission::Permissions;
use super::progress::Progress;
use super::sent::Sent;
use super::v1_calls;
use super::wait::Waited;
use crate::base::ids::{
    AttemptId, Cause, FolderId, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId,
    StepId,
};
use crate::base::limits::{REPEAT_INPUT_MAX, REPEATS_KEPT_MAX, bounded};
use crate::event::pool::Plan;
use crate::event::{Break, CallSum, CrashClass, End, FollowUp, Issues, LeftPhase, ToolCalled, Why};

/// A workflow in progress. Sub-workflows have frames of their own, named after the place that runs them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its path; a name that must not be parsed.
    pub path: FramePath,
    /// The phase of the parent frame that runs this workflow; `None` for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The step of a pool that it works on; `None` outside of pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The folder that its workers work in.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Key of the workflow that it walks.
    pub workflow: String,
    /// The phase it is at, or on its way to.
    pub phase: PhaseId,
    /// How far it is with that phase.
    pub stage: Stage,
    /// The current worker: the phase's own, or a helper.
    pub worker: Worker,
    /// Session and agent of the last attempt at any phase; the next phase may continue in it.
    pub before: Option<(SessionId, String)>,
    /// The agent that a person chose for this visit.
    pub agent: Option<String>,
    /// The task that the previous phase gave to this one.
    pub task: Option<String>,
    /// Stack of workers waiting for help, oldest first. The current worker helps the top one.
    pub stack: Vec<Waiting>,
    /// Evidence of the work at this visit.
    pub evidence: Evidence,
    /// How much of its progress allowance this visit has used.
    #[serde(default, skip_serializing_if = "Progress::is_none")]
    pub progress: Progress,
    /// Gates of questions asked at this visit.
    pub questions: Vec<GateId>,
    /// What was asked and decided about calls at this visit.
    #[serde(default, skip_serializing_if = "Permissions::is_none")]
    pub permissions: Permissions,
    /// Notes for the workers here.
    pub notes: Vec<Note>,
    /// How often each edge was taken; a person's `go` resets it.
    pub edges: Vec<EdgeCount>,
    /// How often each edge was taken in all, by the run or by a person. Never reset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<EdgeCount>,
    /// Rounds that people allowed beyond the limits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_rounds: u32,
    /// Recent transitions and open issues, if its loops are judged by issues.
    #[serde(default, skip_serializing_if = "Rounds::is_none")]
    pub rounds: Rounds,
    /// The phase left last, and its outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<(PhaseId, Outcome)>,
    /// Summary of the phase left last.
    pub summary: String,
    /// Last message of the previous phase's worker, in a chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Pending cleanup of the phases that a person moved the run away from, in the order in which it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Uncleaned>,
    /// True if a workflow inside this phase was entered at this visit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub went_inside: bool,
    /// True if this visit's cleanup has run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleaned: bool,
    /// Where a person sends it once no attempt is live here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Box<Sent>>,
    /// Last message of this phase's worker, in a chain, until the phase is left.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_here: String,
    /// Steps that a worker planned for the pool that comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Arc<Plan>>,
}

/// A phase that was left without its cleanup, and the commands that are still to run for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncleaned {
    /// Whose cleanup it is.
    pub phase: LeftPhase,
    /// Shell commands, run in order.
    pub commands: Vec<String>,
}

/// State of a worker, as opposed to its place. A helper has its own; a worker that asked for help gets its state back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Worker {
    /// Session of its last attempt.
    pub session: Option<SessionId>,
    /// True if an agent itself has named that session.
    pub session_seen: bool,
    /// Number of its last logical try; 0 before the first.
    pub try_number: u32,
    /// Why that try exists, and what was added since.
    pub reasons: Vec<Why>,
    /// What went wrong so far.
    pub counters: Counters,
    /// The call that ended the last turn: if it is repeated in the same session, it is already done.
    pub parted: Option<Box<Parted>>,
    /// Calls since the last progress, with counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// How long the work has made no progress.
    #[serde(default, skip_serializing_if = "Still::is_none")]
    pub still: Still,
    /// Who works in whose place, once the first agent could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Box<Fallback>>,
    /// The command that a person wants the next attempt to begin with, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins_with: Option<u32>,
}

/// A worker that waits for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The helper and the reason.
    pub follow_up: FollowUp,
    /// Its state when it asked.
    pub worker: Worker,
}

/// How often an edge was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeCount {
    /// The phase that the edge leaves.
    pub from: PhaseId,
    /// The phase that the edge enters.
    pub to: PhaseId,
    /// Number of times, for loop limits.
    pub taken: u32,
}

/// A call that ended a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parted {
    /// The session in which it was made.
    pub session: SessionId,
    /// Id of the call. An agent may reuse it in the same session for something else.
    pub request: String,
    /// What the worker needed.
    pub parting: Break,
}

/// A call made since the last progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The tool's name as the agent calls it.
    pub tool: String,
    /// The beginning of its input, as people see it.
    pub input: String,
    /// Sum of the call, as text.
    pub mark: String,
    /// How many times it was made.
    pub count: u32,
}

/// Measures active time without progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Still {
    /// The event of the last progress during the current attempt.
    pub since: Option<Cause>,
    /// Active time of that attempt at that moment.
    pub from_ms: u64,
    /// Active time of attempts that ended since the last progress.
    pub before_ms: u64,
}

impl Still {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Milliseconds without progress, given the active time of the current attempt.
    pub(crate) fn ms(&self, active_ms: u64) -> u64 {
        self.before_ms.saturating_add(active_ms.saturating_sub(self.from_ms))
    }

    /// Adds the time of an attempt that ended.
    pub(super) fn end(&mut self, active_ms: u64) {
        // Kept over restarts: a worker that stands still does not get a new hour by crashing.
        *self = Self { before_ms: self.ms(active_ms), ..Self::default() };
    }
}

impl Worker {
    /// How often a call was made since the last progress.
    pub(crate) fn repeated(&self, sum: &CallSum) -> u32 {
        self.count_of(&sum.to_string())
    }

    fn count_of(&self, mark: &str) -> u32 {
        self.repeats.iter().find(|known| known.mark == mark).map_or(0, |known| known.count)
    }

    /// Counts a call, of Chronicle's tools too: each costs a request to the model, whatever it is answered.
    pub(super) fn call(&mut self, called: &ToolCalled) {
        let call = match &called.sum {
            Some(sum) => Some(Repeat::new(&called.tool, &called.input, sum)),
            None => v1_calls::repeat(called),
        };
        if let Some(call) = call {
            self.repeat(call);
        }
    }

    /// If there are too many, drops the one that was made longest ago.
    fn repeat(&mut self, call: Repeat) {
        let count = self.count_of(&call.mark).saturating_add(1);
        // Moved to the end of the list, so that the one forgotten first is the one not made for longest.
        self.repeats.retain(|known| known.mark != call.mark);
        if self.repeats.len() >= REPEATS_KEPT_MAX {
            self.repeats.remove(0);
        }
        self.repeats.push(Repeat { count, ..call });
    }

    /// Progress: resets what went wrong before.
    pub(crate) fn progress(&mut self) {
        self.counters.progress();
        self.repeats.clear();
        self.still = Still::default();
    }
}

impl Repeat {
    /// A call that has not been made yet.
    fn new(tool: &str, shown: &str, sum: &CallSum) -> Self {
        let input = bounded(shown, REPEAT_INPUT_MAX);
        Self { tool: tool.to_owned(), input, mark: sum.to_string(), count: 0 }
    }
}

/// A person's note to a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Numbered per run, from `n1`.
    pub id: NoteId,
    /// User name of the person.
    pub who: String,
    /// The note itself, bounded.
    pub text: String,
    /// The attempt that was live when it was given: any other may receive it a second time.
    pub given_to: Option<AttemptId>,
    /// The last attempt that received it.
    pub told: Option<AttemptId>,
}

impl Note {
    /// A note that was not delivered yet.
    pub(crate) fn new(id: NoteId, who: &str, text: &str, given_to: Option<AttemptId>) -> Self {
        Self { id, who: who.to_owned(), text: text.to_owned(), given_to, told: None }
    }
}

/// Counters of one visit. Reminders, retries and losses return to zero on progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Reminders in a row without progress.
    pub nudges: u32,
    /// Fresh sessions after crashes, without progress.
    pub retries: u32,
    /// Attempts lost with their supervisor or keeper.
    pub losses: u32,
    /// Fresh sessions after `partially-complete`.
    #[serde(default)]
    pub continuations: u32,
    /// Waits for a quota or an overloaded service, without progress in between.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits: u32,
    /// Failed verifications in a row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified: u32,
    /// Commands of the phase that are done in this try.
    pub commands_done: u32,
    /// How often it left without what its phase requires.
    #[serde(default)]
    pub lacking: u32,
    /// Active time of this try's finished attempts.
    pub active_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Result of the `verify` commands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "is", content = "said", rename_all = "snake_case")]
pub enum Check {
    /// They have not run yet.
    #[default]
    Due,
    /// Those of the workflow inside of the phase passed. The phase's own have not run yet.
    Inside,
    /// Every command passed, or a person skipped them.
    Passed,
    /// They failed, for this reason.
    Failed(Box<CheckFailure>),
}

/// Why the `verify` commands did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum CheckFailure {
    /// A command exited with an error.
    Command {
        /// The command's text, bounded.
        command: String,
        /// The end of its output.
        output: String,
    },
    /// The attempt that ran them ended in another way.
    Ended(End),
}

impl Check {
    fn is_due(&self) -> bool {
        *self == Self::Due
    }

    /// True if a command could not be started: that says nothing about the work.
    pub(crate) fn is_unstarted(&self) -> bool {
        let Self::Failed(failure) = self else { return false };
        let CheckFailure::Ended(End::Crashed(crash)) = &**failure else { return false };
        crash.class == CrashClass::CannotStart
    }
}

/// A pending exit from a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WayOut {
    /// The target, if the worker named one.
    pub target: Option<PhaseId>,
    /// How the phase is left.
    pub outcome: Outcome,
    /// What the worker said about its work.
    pub summary: String,
    /// True if a person approved it.
    pub approved: bool,
    /// The task for the next phase.
    pub task: Option<String>,
    /// Issues that the worker named.
    #[serde(default, skip_serializing_if = "Issues::is_none")]
    pub issues: Issues,
    /// Result of the `verify` commands.
    #[serde(default, skip_serializing_if = "Check::is_due")]
    pub check: Check,
}

impl WayOut {
    /// An exit without target, approval or verification.
    pub(crate) fn new(outcome: Outcome, summary: String) -> Self {
        let (issues, check) = (Issues::default(), Check::Due);
        Self { target: None, outcome, summary, approved: false, task: None, issues, check }
    }
}

/// How far a frame is with its phase. What follows from each stage is one table: `engine/follow.rs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Stage {
    /// An edge was taken; the phase is not entered yet.
    Bound,
    /// The phase was entered.
    Entered {
        /// True if a person approved the start.
        approved: bool,
    },
    /// An attempt must be started.
    Ready {
        /// Why the attempt is needed.
        why: Why,
    },
    /// An attempt is live.
    Working {
        /// The attempt that is live.
        attempt: AttemptId,
    },
    /// The attempt ended without leaving the phase.
    Broken {
        /// The attempt that ended.
        attempt: AttemptId,
        /// How it was classified.
        end: End,
    },
    /// The attempt ended its turn and needs something before the phase can continue.
    BrokeOff {
        /// What the worker needs.
        parting: Break,
    },
    /// The work is done; the exit is in progress.
    Left(WayOut),
    /// `verify` or `cleanup` commands run.
    Chore {
        /// The attempt that runs them.
        attempt: AttemptId,
        /// The stage to return to.
        held: Box<Stage>,
    },
    /// A person did not allow the phase to begin.
    Refused {
        /// What the person said; may be empty.
        note: String,
    },
    /// A workflow inside this phase is in progress.
    Inside,
    /// The frame waits for a person.
    Gated {
        /// The gate that must be answered.
        gate: GateId,
        /// The stage to return to.
        held: Box<Stage>,
    },
    /// The frame waits for something that comes by itself.
    Waiting {
        /// Its kind and its end.
        wait: Box<Waited>,
    },
    /// The root frame ended with this outcome.
    Ended(Outcome),
}

impl Stage {
    /// Takes out the stage that a gate or chore should hold: the stage itself, or the one it already holds. Stages never nest
    /// twice, whatever a ledger says.
    pub(super) fn hold(&mut self) -> Self {
        // A gate over a gate, or over a chore, would never be left: only one stage is held at a time.
        let stage = std::mem::replace(self, Self::Bound);
        if let Self::Gated { held, .. } | Self::Chore { held, .. } = stage { *held } else { stage }
    }
}

impl Frame {
    /// A frame at the start of a workflow.
    pub(crate) fn new(path: FramePath, workflow: &str, phase: PhaseId) -> Self {
        Self {
            path,
            at: None,
            step: None,
            folder: FolderId::Project,
            workflow: workflow.to_owned(),
            phase,
            stage: Stage::Bound,
            worker: Worker::default(),
            before: None,
            agent: None,
            task: None,
            stack: Vec::new(),
            evidence: Evidence::default(),
            progress: Progress::default(),
            questions: Vec::new(),
            permissions: Permissions::default(),
            notes: Vec::new(),
            edges: Vec::new(),
            moves: Vec::new(),
            more_rounds: 0,
            rounds: Rounds::default(),
            left: None,
            summary: String::new(),
            said: String::new(),
            behind: Vec::new(),
            went_inside: false,
            cleaned: false,
            sent: None,
            said_here: String::new(),
            plan: None,
        }
    }

    /// Resets what belongs to one visit. Undelivered notes stay.
    pub(crate) fn begin_visit(&mut self) {
        // Nothing of an earlier visit counts: counters, session, helpers and evidence belong to this stay at the phase.
        (self.worker, self.agent) = (Worker::default(), None);
        (self.cleaned, self.went_inside) = (false, false);
        self.behind.clear();
        self.stack.clear();
        self.questions.clear();
        self.permissions = Permissions::default();
        self.evidence = Evidence::default();
        self.progress = Progress::default();
        // A note that nobody has read yet is for whoever works here next.
        self.notes.retain(|note| note.told.is_none());
    }

    /// A workflow inside the phase begins.
    pub(super) fn go_inside(&mut self) {
        (self.stage, self.went_inside) = (Stage::Inside, true);
    }

    /// Every session that a worker here may continue in.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        let waiting = self.stack.iter().filter_map(|waiting| waiting.worker.session.as_ref());
        let before = self.before.iter().map(|(session, _)| session);
        self.worker.session.iter().chain(waiting).chain(before)
    }

    /// The current helper; `None` while the phase's own worker is active.
    pub fn helper(&self) -> Option<&FollowUp> {
        self.stack.last().map(|waiting| &waiting.follow_up)
    }

    /// The phase as a path.
    pub fn place(&self) -> Place {
        self.path.place(&self.phase)
    }

    /// How often an edge was taken, or both directions of a pair.
    pub fn taken(&self, from: &PhaseId, to: &PhaseId) -> u32 {
        let known = self.edges.iter().find(|edge| edge.from == *from && edge.to == *to);
        // An edge that was never taken has no entry, so that a frame does not carry all edges of its workflow.
        known.map_or(0, |edge| edge.taken)
    }

    /// Counts a transition, for loop limits.
    pub(super) fn count_edge(&mut self, from: &PhaseId, to: &PhaseId) {
        count(&mut self.edges, from, to);
    }

    /// Counts a transition for the record, which loop limits do not use.
    pub(super) fn count_move(&mut self, from: &PhaseId, to: &PhaseId) {
        count(&mut self.moves, from, to);
    }
}

fn count(edges: &mut Vec<EdgeCount>, from: &PhaseId, to: &PhaseId) {
    match edges.iter_mut().find(|edge| edge.from == *from && edge.to == *to) {
        Some(known) => known.taken = known.taken.saturating_add(1),
        None => edges.push(EdgeCount { from: from.clone(), to: to.clone(), taken: 1 }),
    }
}
