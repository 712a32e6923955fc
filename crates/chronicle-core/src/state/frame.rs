//! Where a run is inside one workflow.

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::loops::Rounds;
use super::progress::Progress;
use super::sent::Sent;
use super::v1_calls;
use super::wait::Waited;
use crate::base::ids::{
    AttemptId, Cause, FolderId, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId,
    StepId,
};
use crate::base::limits::{REPEAT_INPUT_MAX, REPEATS_KEPT_MAX, bounded};
use crate::event::signal::is_ours;
use crate::event::{Break, CallSum, End, FollowUp, Issues, ToolCalled, Why};

/// One workflow being walked. Sub-workflows have frames of their own, named after the place that they stand at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its place in the tree: a name, which says nothing else.
    pub path: FramePath,
    /// The phase of the frame around it that it does; none for the outermost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The step that it walks, in a phase that has steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Where its workers work.
    #[serde(default, skip_serializing_if = "FolderId::is_project")]
    pub folder: FolderId,
    /// Its workflow's key.
    pub workflow: String,
    /// The phase it is at, or is bound for.
    pub phase: PhaseId,
    /// How far it is with that phase.
    pub stage: Stage,
    /// Whoever works at this visit of the phase: its own worker, or who helps.
    pub worker: Worker,
    /// The session of the last attempt at any phase, with its agent: a phase may go on in it.
    pub before: Option<(SessionId, String)>,
    /// The agent that a person chose for this visit.
    pub agent: Option<String>,
    /// What the phase before wants done here.
    pub task: Option<String>,
    /// Workers that wait for help, the first first. Who works now helps the last of them.
    pub stack: Vec<Waiting>,
    /// What the record shows of the work at this visit.
    pub evidence: Evidence,
    /// What this visit has used up of what may count as progress.
    #[serde(default, skip_serializing_if = "Progress::is_none")]
    pub progress: Progress,
    /// Questions asked at this visit.
    pub questions: Vec<GateId>,
    /// What people want the workers here to know.
    pub notes: Vec<Note>,
    /// How often each edge was taken; a person's `go` clears it.
    pub edges: Vec<EdgeCount>,
    /// How many more rounds than its limits say people have allowed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_rounds: u32,
    /// Its last ways and open issues, where its loops are judged by those.
    #[serde(default, skip_serializing_if = "Rounds::is_none")]
    pub rounds: Rounds,
    /// The phase left last, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<(PhaseId, Outcome)>,
    /// The summary of the phase left last.
    pub summary: String,
    /// What the worker of the phase left last said last, in a chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// What a person left behind by sending the frame on: the phase, and the commands that put it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<(PhaseId, Vec<String>)>,
    /// Whether this visit's cleanup was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleaned: bool,
    /// Where a person sends it once nobody works here any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Box<Sent>>,
    /// The same of this phase's worker, until the phase is left.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_here: String,
}

/// Whoever works at a place: what belongs to them and not to the place. A helper has one of its own, and whoever asked for
/// help finds theirs again as it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Worker {
    /// The session of the last attempt.
    pub session: Option<SessionId>,
    /// Whether an agent itself has named that session.
    pub session_seen: bool,
    /// The logical try of the last attempt; 0 before the first.
    pub try_number: u32,
    /// Why that try exists, and what came to it since.
    pub reasons: Vec<Why>,
    /// What went wrong so far.
    pub counters: Counters,
    /// The call that ended the last turn: sent again in its session, it has been done already.
    pub parted: Option<Box<Parted>>,
    /// Which calls were made since there was progress, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// How long nothing has come of the work.
    #[serde(default, skip_serializing_if = "Still::is_none")]
    pub still: Still,
}

/// A worker that waits for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Who helps it, and what for.
    pub follow_up: FollowUp,
    /// The worker, as it was when it asked.
    pub worker: Worker,
}

/// How often a phase was left for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeCount {
    /// The phase left.
    pub from: PhaseId,
    /// The phase entered.
    pub to: PhaseId,
    /// How often.
    pub taken: u32,
}

/// A call that ended a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parted {
    /// The session.
    pub session: SessionId,
    /// The call's id. An agent may use it again in the same session for something else.
    pub request: String,
    /// What was asked for.
    pub parting: Break,
}

/// A call that was made since there was progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The tool.
    pub tool: String,
    /// What it was given, as far as people read it.
    pub input: String,
    /// The call's sum.
    pub mark: String,
    /// How often.
    pub count: u32,
}

/// Work of which nothing came yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Still {
    /// What came of it last while the attempt worked that works now.
    pub since: Option<Cause>,
    /// The active time of that attempt then.
    pub from_ms: u64,
    /// Active time of attempts that have ended since something came of it.
    pub before_ms: u64,
}

impl Still {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// How long nothing came of it, when that attempt has worked for so long.
    pub(crate) fn ms(&self, active_ms: u64) -> u64 {
        self.before_ms.saturating_add(active_ms.saturating_sub(self.from_ms))
    }

    /// An attempt ended after so much active time.
    pub(super) fn end(&mut self, active_ms: u64) {
        *self = Self { before_ms: self.ms(active_ms), ..Self::default() };
    }
}

impl Worker {
    /// How often a call was made since there was progress.
    pub(crate) fn repeated(&self, sum: &CallSum) -> u32 {
        self.count_of(&sum.to_string())
    }

    fn count_of(&self, mark: &str) -> u32 {
        self.repeats.iter().find(|known| known.mark == mark).map_or(0, |known| known.count)
    }

    /// Takes down a call, unless it is one of ours.
    pub(super) fn call(&mut self, called: &ToolCalled) {
        let call = match &called.sum {
            Some(_) if is_ours(&called.tool) => None,
            Some(sum) => Some(Repeat::new(&called.tool, &called.input, sum)),
            None => v1_calls::repeat(called),
        };
        if let Some(call) = call {
            self.repeat(call);
        }
    }

    /// Of too many, the one that was made longest ago goes.
    fn repeat(&mut self, call: Repeat) {
        let count = self.count_of(&call.mark).saturating_add(1);
        self.repeats.retain(|known| known.mark != call.mark);
        if self.repeats.len() >= REPEATS_KEPT_MAX {
            self.repeats.remove(0);
        }
        self.repeats.push(Repeat { count, ..call });
    }

    /// Something came of the work: what went wrong before does not count any more.
    pub(crate) fn progress(&mut self) {
        self.counters.progress();
        self.repeats.clear();
        self.still = Still::default();
    }
}

impl Repeat {
    /// A call, before it was made.
    fn new(tool: &str, shown: &str, sum: &CallSum) -> Self {
        let input = bounded(shown, REPEAT_INPUT_MAX);
        Self { tool: tool.to_owned(), input, mark: sum.to_string(), count: 0 }
    }
}

/// Something that a person wants a worker to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its id.
    pub id: NoteId,
    /// Who said it.
    pub who: String,
    /// What.
    pub text: String,
    /// Who worked when it was given: anybody else may hear it for the second time.
    pub given_to: Option<AttemptId>,
    /// Who was told, the last one.
    pub told: Option<AttemptId>,
}

impl Note {
    /// A note that nobody was told yet.
    pub(crate) fn new(id: NoteId, who: &str, text: &str, given_to: Option<AttemptId>) -> Self {
        Self { id, who: who.to_owned(), text: text.to_owned(), given_to, told: None }
    }
}

/// Counters of one visit. Reminders, fresh starts and losses return to zero on progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Reminders.
    pub nudges: u32,
    /// Fresh starts.
    pub retries: u32,
    /// Attempts lost with their supervisor or keeper.
    pub losses: u32,
    /// Fresh sessions after `partially-complete`.
    #[serde(default)]
    pub continuations: u32,
    /// Waits for a quota or for room at a model's service, without progress in between.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits: u32,
    /// How often in a row the work was not as it was said to be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified: u32,
    /// Commands of the phase done in this try.
    pub commands_done: u32,
    /// How often it left without what its phase demands.
    #[serde(default)]
    pub lacking: u32,
    /// Active time of this try's attempts that have ended.
    pub active_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What is known of the work that a worker calls done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "is", content = "said", rename_all = "snake_case")]
pub enum Check {
    /// Nothing yet.
    #[default]
    Due,
    /// Every command passed, or a person goes on without.
    Passed,
    /// It is not.
    Failed(Box<CheckFailure>),
}

/// Why work is not as it was said to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum CheckFailure {
    /// A command failed.
    Command {
        /// Which.
        command: String,
        /// The end of what it printed.
        output: String,
    },
    /// The commands came to another end.
    Ended(End),
}

impl Check {
    fn is_due(&self) -> bool {
        *self == Self::Due
    }
}

/// The way out of a phase, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WayOut {
    /// Where to, if the worker said so.
    pub target: Option<PhaseId>,
    /// How.
    pub outcome: Outcome,
    /// What was said of it.
    pub summary: String,
    /// Whether a person has agreed to leave.
    pub approved: bool,
    /// What the next phase is to do.
    pub task: Option<String>,
    /// The issues that the worker named.
    #[serde(default, skip_serializing_if = "Issues::is_none")]
    pub issues: Issues,
    /// Whether the work is as it was said to be.
    #[serde(default, skip_serializing_if = "Check::is_due")]
    pub check: Check,
}

impl WayOut {
    /// A way out with nothing said about where to, nothing agreed and nothing checked.
    pub(crate) fn new(outcome: Outcome, summary: String) -> Self {
        let (issues, check) = (Issues::default(), Check::Due);
        Self { target: None, outcome, summary, approved: false, task: None, issues, check }
    }
}

/// How far a frame is with its phase. What follows from each is one table: `engine/follow.rs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub enum Stage {
    /// An edge was taken; the phase is not yet entered.
    Bound,
    /// The phase was entered.
    Entered {
        /// Whether a person has agreed to begin.
        approved: bool,
    },
    /// An attempt is to be started.
    Ready {
        /// Why.
        why: Why,
    },
    /// An attempt works.
    Working {
        /// Which.
        attempt: AttemptId,
    },
    /// The attempt ended, and not by leaving.
    Broken {
        /// Which.
        attempt: AttemptId,
        /// How.
        end: End,
    },
    /// The attempt ended its turn, and asked for something before the phase can go on.
    BrokeOff {
        /// What.
        parting: Break,
    },
    /// The work is done; the way out goes on.
    Left(WayOut),
    /// Commands run on the way out.
    Chore {
        /// Which attempt.
        attempt: AttemptId,
        /// What goes on then.
        held: Box<Stage>,
    },
    /// A person said that the phase may not begin.
    Refused {
        /// What they said.
        note: String,
    },
    /// A workflow inside this phase is being walked.
    Inside,
    /// A person is asked.
    Gated {
        /// Which gate.
        gate: GateId,
        /// What it holds up.
        held: Box<Stage>,
    },
    /// Something is waited for that comes by itself.
    Waiting {
        /// What, and until when.
        wait: Box<Waited>,
    },
    /// The root frame came to its end, like this.
    Ended(Outcome),
}

impl Stage {
    /// Takes out what a gate or a chore is to hold up: the stage itself, or what it holds already. Whatever a ledger says, a stage
    /// is held once.
    pub(super) fn hold(&mut self) -> Self {
        let stage = std::mem::replace(self, Self::Bound);
        if let Self::Gated { held, .. } | Self::Chore { held, .. } = stage { *held } else { stage }
    }
}

impl Frame {
    /// A frame at the beginning of a workflow.
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
            notes: Vec::new(),
            edges: Vec::new(),
            more_rounds: 0,
            rounds: Rounds::default(),
            left: None,
            summary: String::new(),
            said: String::new(),
            behind: None,
            cleaned: false,
            sent: None,
            said_here: String::new(),
        }
    }

    /// Forgets what belongs to one stay at a phase. Notes that nobody heard stay.
    pub(crate) fn begin_visit(&mut self) {
        (self.worker, self.agent) = (Worker::default(), None);
        (self.cleaned, self.behind) = (false, None);
        self.stack.clear();
        self.questions.clear();
        self.evidence = Evidence::default();
        self.progress = Progress::default();
        self.notes.retain(|note| note.told.is_none());
    }

    /// Every session that a worker here may go on in.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        let waiting = self.stack.iter().filter_map(|waiting| waiting.worker.session.as_ref());
        let before = self.before.iter().map(|(session, _)| session);
        self.worker.session.iter().chain(waiting).chain(before)
    }

    /// Who helps here now; none while the phase's own worker works.
    pub fn helper(&self) -> Option<&FollowUp> {
        self.stack.last().map(|waiting| &waiting.follow_up)
    }

    /// The phase as a path.
    pub fn place(&self) -> Place {
        self.path.place(&self.phase)
    }

    /// How often two phases were left for each other, either way or one way.
    pub fn taken(&self, from: &PhaseId, to: &PhaseId) -> u32 {
        let known = self.edges.iter().find(|edge| edge.from == *from && edge.to == *to);
        known.map_or(0, |edge| edge.taken)
    }

    /// Takes down that an edge was taken.
    pub(super) fn count_edge(&mut self, from: &PhaseId, to: &PhaseId) {
        match self.edges.iter_mut().find(|edge| edge.from == *from && edge.to == *to) {
            Some(known) => known.taken = known.taken.saturating_add(1),
            None => self.edges.push(EdgeCount { from: from.clone(), to: to.clone(), taken: 1 }),
        }
    }
}
