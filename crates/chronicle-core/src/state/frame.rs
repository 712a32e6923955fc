//! Where a run is inside one workflow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::sent::Sent;
use super::wait::Waited;
use crate::base::ids::{
    AttemptId, Cause, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId,
};
use crate::base::limits::{REPEAT_INPUT_MAX, REPEATS_KEPT_MAX, bounded};
use crate::event::{Break, End, FollowUp, Why};

/// One workflow being walked. Sub-workflows have frames of their own, named after the place that they stand at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its place in the tree.
    pub path: FramePath,
    /// Its workflow's key.
    pub workflow: String,
    /// The phase it is at, or is bound for.
    pub phase: PhaseId,
    /// How far it is with that phase.
    pub stage: Stage,
    /// What went wrong at this visit of the phase.
    pub counters: Counters,
    /// The session of the visit's last attempt.
    pub session: Option<SessionId>,
    /// Whether an agent itself has named that session.
    pub session_seen: bool,
    /// The session of the last attempt at any phase, with its agent: a phase may go on in it.
    pub before: Option<(SessionId, String)>,
    /// The logical try of the visit's last attempt; 0 before the first.
    pub try_number: u32,
    /// Why the visit's last try exists, and what came to it since.
    pub reasons: Vec<Why>,
    /// The agent that a person chose for this visit.
    pub agent: Option<String>,
    /// What the phase before wants done here.
    pub task: Option<String>,
    /// The call that ended the worker's last turn: sent again in its session, it has been done already.
    pub parted: Option<Box<Parted>>,
    /// Workers that wait for help, the first first. Who works now helps the last of them.
    pub stack: Vec<Waiting>,
    /// What the record shows of the work at this visit.
    pub evidence: Evidence,
    /// Questions asked at this visit.
    pub questions: Vec<GateId>,
    /// What people want the workers here to know.
    pub notes: Vec<Note>,
    /// How often each edge was taken, as `from->to`; a person's `go` clears it.
    pub edges: BTreeMap<String, u32>,
    /// Which calls workers made here since there was progress, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// How long nothing has come of the work here.
    #[serde(default, skip_serializing_if = "Still::is_none")]
    pub still: Still,
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

/// A worker that waits for help, as it was when it asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Who helps it, and what for.
    pub follow_up: FollowUp,
    /// Its session.
    pub session: Option<SessionId>,
    /// Whether its agent named that session.
    pub session_seen: bool,
    /// Its logical try.
    pub try_number: u32,
    /// Why that try exists.
    pub reasons: Vec<Why>,
    /// What went wrong with it so far.
    pub counters: Counters,
    /// The call with which it asked.
    pub parted: Option<Box<Parted>>,
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
    /// Marks the whole of both.
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

impl Repeat {
    /// A call, before it was made.
    pub(crate) fn new(tool: &str, input: &str) -> Self {
        let mark = blake3::hash(format!("{tool}\0{input}").as_bytes()).to_hex();
        let input = bounded(input, REPEAT_INPUT_MAX);
        Self { tool: tool.to_owned(), input, mark: mark[..16].to_owned(), count: 0 }
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
    /// How often changed files counted as progress.
    #[serde(default)]
    pub changes: u32,
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
    Left {
        /// Where to, if the worker said so.
        target: Option<PhaseId>,
        /// How.
        outcome: Outcome,
        /// What was said of it.
        summary: String,
        /// Whether a person has agreed to leave.
        approved: bool,
        /// What the next phase is to do.
        task: Option<String>,
        /// Whether the work is as it was said to be.
        #[serde(default, skip_serializing_if = "Check::is_due")]
        check: Check,
    },
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
    /// The root frame came to its end.
    Ended,
}

impl Frame {
    /// A frame at the beginning of a workflow.
    pub(crate) fn new(path: FramePath, workflow: &str, phase: PhaseId) -> Self {
        Self {
            path,
            workflow: workflow.to_owned(),
            phase,
            stage: Stage::Bound,
            counters: Counters::default(),
            session: None,
            session_seen: false,
            before: None,
            try_number: 0,
            reasons: Vec::new(),
            agent: None,
            task: None,
            parted: None,
            stack: Vec::new(),
            evidence: Evidence::default(),
            questions: Vec::new(),
            notes: Vec::new(),
            edges: BTreeMap::new(),
            repeats: Vec::new(),
            still: Still::default(),
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
        self.counters = Counters::default();
        (self.session, self.session_seen) = (None, false);
        (self.try_number, self.agent, self.parted) = (0, None, None);
        (self.cleaned, self.behind) = (false, None);
        self.reasons.clear();
        self.repeats.clear();
        self.still = Still::default();
        self.stack.clear();
        self.questions.clear();
        self.evidence = Evidence::default();
        self.notes.retain(|note| note.told.is_none());
    }

    /// How often a call was made since there was progress.
    pub(crate) fn repeated(&self, call: &Repeat) -> u32 {
        self.repeats.iter().find(|known| known.mark == call.mark).map_or(0, |known| known.count)
    }

    /// Takes down a call; of too many, the one that was made longest ago goes.
    pub(crate) fn repeat(&mut self, call: Repeat) {
        let count = self.repeated(&call).saturating_add(1);
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

    /// Every session that a worker here may go on in.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        let waiting = self.stack.iter().filter_map(|waiting| waiting.session.as_ref());
        let before = self.before.iter().map(|(session, _)| session);
        self.session.iter().chain(waiting).chain(before)
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
        self.edges.get(&edge(from, to)).copied().unwrap_or(0)
    }
}

/// How an edge is written.
pub(crate) fn edge(from: &PhaseId, to: &PhaseId) -> String {
    format!("{from}->{to}")
}
