//! What is known about a run: the fold of its events.
//!
//! `apply` is the only mutator and is total: whether an event is legal was checked when it was decided. What a run needs is
//! derived from here (`due.rs`), never remembered. A state stays small however long its run: what has ended is added to sums
//! (`tally.rs`), and only the latest is known one by one (`list.rs`, `forget.rs`).

mod apply;
mod due;
mod forget;
mod frame;
mod list;
mod tally;
mod trees;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use frame::{Counters, Frame, Stage};
pub use list::List;
pub use tally::Tally;
pub use trees::{Trees, Undo};

use crate::event::{
    AttemptStarted, End, GateAnswer, GateOpened, Leave, RunStarted, StopCause, SupervisorStarted,
    Verdict,
};
use crate::ids::{AttemptId, Cause, FramePath, GateId, Outcome, PhaseId, Place, SessionId};
use crate::persona::Persona;
use crate::time::Millis;
use crate::usage::{SessionUsage, Usage};
use crate::workflow::{Phase, Tools, Workflow};

/// A run as far as its ledger tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The last line's number.
    pub seq: u64,
    /// What was frozen at the start; none before the first line.
    pub run: Option<Arc<RunStarted>>,
    /// Time of the first line.
    pub started_at: Millis,
    /// Time of the last line.
    pub updated_at: Millis,
    /// Frames that have not ended, by path: a tree.
    pub frames: BTreeMap<FramePath, Frame>,
    /// The attempts, `a1` first; of many, the latest and those that live.
    pub attempts: List<Attempt>,
    /// Attempts that have not ended.
    pub live: BTreeSet<AttemptId>,
    /// The gates, `g1` first; of many, the latest, those that are open and what people said last.
    pub gates: List<Gate>,
    /// The visits of phases, in order: the path of the run; of many, the latest and those that go on.
    pub visits: List<Visit>,
    /// What is known of each place over all visits.
    pub places: Arc<BTreeMap<Place, Arc<Tally>>>,
    /// What each session spent that an attempt known here or a frame goes on in. No decision depends on a change of it, so the engine's copy shares it.
    pub sessions: Arc<BTreeMap<SessionId, SessionUsage>>,
    /// What all of them spent.
    pub usage: Usage,
    /// What is known of the project's files.
    #[serde(default)]
    pub trees: Trees,
    /// Who drives it, or drove it last.
    pub supervisor: Option<SupervisorStarted>,
    /// Why it is paused.
    pub paused: Option<String>,
    /// Why it was given up.
    pub cancelled: Option<String>,
    /// Whether its last phase was left.
    pub done: bool,
}

/// One start of one agent at a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The intent.
    pub intent: AttemptStarted,
    /// The event that made it due.
    pub cause: Cause,
    /// When.
    pub started_at: Millis,
    /// Whether the agent itself has named its session.
    pub session_seen: bool,
    /// The leaving signal that was accepted, and the event that did so.
    pub leave: Option<(Leave, Cause)>,
    /// Why it is being ended.
    pub stop: Option<StopCause>,
    /// Verdicts on calls that have not ended.
    pub calls: VecDeque<(String, Verdict)>,
    /// Answers to its calls, by request, to be repeated word for word.
    pub answers: VecDeque<(String, Answered)>,
    /// What it spent, sessions shared with other attempts counted once.
    pub usage: Usage,
    /// Active time as far as known.
    pub active_ms: u64,
    /// How many tools it called.
    pub tools: u32,
    /// A command of its phase that failed, and the end of what it printed.
    pub failed_command: Option<(u32, String)>,
    /// How and when it ended.
    pub ended: Option<(End, Millis)>,
}

/// An answer that a worker's call got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Whether it was accepted.
    pub accepted: bool,
    /// The words.
    pub text: String,
}

/// A wait for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// What for.
    pub opened: GateOpened,
    /// When.
    pub at: Millis,
    /// How, by whom and when it was answered.
    pub answered: Option<(GateAnswer, String, Millis)>,
    /// What they said.
    pub note: String,
}

/// One stay at a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// Where.
    pub place: Place,
    /// Since when.
    pub entered_at: Millis,
    /// How it was left.
    pub left: Option<Departure>,
}

/// How a phase was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// Where to.
    pub to: PhaseId,
    /// How.
    pub outcome: Outcome,
    /// What the worker said.
    pub summary: String,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Something works, or would if a supervisor lived.
    Running,
    /// It waits for a person.
    Waiting,
    /// A person stopped it for a while.
    Paused,
    /// Its last phase was left.
    Done,
    /// A person gave it up.
    Cancelled,
}

impl State {
    /// Where the run stands. Paused and cancelled are said only once nothing works any more.
    pub fn status(&self) -> Status {
        let quiet = self.live.is_empty() && self.trees.after.is_empty();
        let rests = quiet && self.trees.undo.is_none();
        match (self.done, &self.cancelled, &self.paused) {
            (true, _, _) => Status::Done,
            (false, Some(_), _) if quiet => Status::Cancelled,
            (false, None, Some(_)) if rests => Status::Paused,
            (false, None, None) if rests && self.open_gates().next().is_some() => Status::Waiting,
            (false, _, _) => Status::Running,
        }
    }

    /// Whether nothing can ever happen any more.
    pub fn is_over(&self) -> bool {
        matches!(self.status(), Status::Done | Status::Cancelled)
    }

    /// Gates that wait for a person, oldest first.
    pub fn open_gates(&self) -> impl Iterator<Item = &Arc<Gate>> {
        self.gates.iter().filter(|gate| gate.answered.is_none())
    }

    /// The attempt of that id, unless it ended long ago.
    pub fn attempt(&self, id: AttemptId) -> Option<&Attempt> {
        self.attempts.get(number(id.0)).map(Arc::as_ref)
    }

    /// The gate of that id, unless it was answered long ago.
    pub fn gate(&self, id: GateId) -> Option<&Gate> {
        self.gates.get(number(id.0)).map(Arc::as_ref)
    }

    /// Whether there was such a gate: it was answered if it is not known any more.
    pub fn had_gate(&self, id: GateId) -> bool {
        number(id.0) < self.gates.len()
    }

    /// The frozen workflow of that key.
    pub fn workflow(&self, key: &str) -> Option<&Workflow> {
        self.run.as_ref()?.workflows.iter().find(|workflow| workflow.key == key)
    }

    /// The definition of the phase at a place, while its frame lives.
    pub fn phase_at(&self, place: &Place) -> Option<&Phase> {
        let frame = self.frames.get(&place.frame())?;
        self.workflow(&frame.workflow)?.phase(&place.phase())
    }

    /// The frozen persona that a phase names; none when it names none, or is a text.
    pub fn persona_of(&self, phase: &Phase) -> Option<&Persona> {
        let word = phase.persona.as_deref()?;
        self.run.as_ref()?.personas.iter().find(|persona| persona.is_called(word))
    }

    /// The tools of a phase: its own, else its persona's.
    pub fn tools_of<'s>(&'s self, phase: &'s Phase) -> &'s Tools {
        let own = phase.tools != Tools::default();
        self.persona_of(phase).filter(|_| !own).map_or(&phase.tools, |persona| &persona.tools)
    }

    /// Attempts that have not ended.
    pub fn live_attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.live.iter().filter_map(|id| self.attempt(*id))
    }

    pub(crate) fn next_attempt(&self) -> AttemptId {
        AttemptId(u32::try_from(self.attempts.len()).unwrap_or(u32::MAX).saturating_add(1))
    }

    pub(crate) fn next_gate(&self) -> GateId {
        GateId(u32::try_from(self.gates.len()).unwrap_or(u32::MAX).saturating_add(1))
    }
}

/// Where a list has the one of that id, which count from 1.
fn number(id: u32) -> usize {
    usize::try_from(id).ok().and_then(|id| id.checked_sub(1)).unwrap_or(usize::MAX)
}
