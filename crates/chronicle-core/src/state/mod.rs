//! What is known about a run: the fold of its events.
//!
//! `State` wraps `Facts`: everybody can read the facts, and only this folder can change them. `apply` takes in a line and is total:
//! whether an event is legal was checked when it was decided, and one that names what is not there is noted as an anomaly
//! (`anomaly.rs`). No sentence is built here: what was said is in the events. What a run needs is derived (`due.rs`), never stored.
//! A state stays small however long its run: what has ended is added to sums (`tally.rs`), and only the latest is known one by one
//! (`list.rs`, `forget.rs`). `v1.rs` and `v1_calls.rs` hold all that older lines need.
//!
//! Start reading at `frame.rs`, then `apply.rs` and `due.rs`.

mod anomaly;
mod apply;
mod attempt;
pub mod budget;
mod carried;
pub(crate) mod chain;
mod chore;
pub(crate) mod claims;
mod due;
pub mod effect;
pub(crate) mod evidence;
mod facts;
mod forget;
mod frame;
mod gate;
mod hands;
mod list;
mod loops;
mod notice;
mod progress;
mod said;
mod sent;
mod stages;
mod status;
mod stopping;
mod tally;
mod trees;
mod v1;
mod v1_calls;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use anomaly::{Anomaly, Impossible};
pub use attempt::{Answered, Attempt, OpenCall, Unworded};
pub use facts::{Commands, Did, Ran, Remark};
pub use frame::{
    Check, CheckFailure, Counters, EdgeCount, Frame, Note, Parted, Repeat, Stage, Still, Waiting,
    WayOut, Worker,
};
pub use gate::Gate;
pub use hands::{Hands, Stretch};
pub use list::List;
pub use loops::Rounds;
pub use notice::{Notices, Owed};
pub use progress::Progress;
pub use sent::Sent;
pub use status::{Standing, Status};
pub use stopping::Stopping;
pub use tally::Tally;
pub use trees::{FolderTrees, Trees, Undo};

use self::budget::Budgets;
use crate::base::ids::{
    AttemptId, Cause, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId,
};
use crate::base::time::Millis;
use crate::base::usage::{SessionUsage, Usage};
use crate::definition::persona::Persona;
use crate::definition::workflow::{Phase, Tools, Workflow};
use crate::event::claims::Claim;
use crate::event::record::Line;
use crate::event::snapshot::Snapshot;
use crate::event::{AttemptStarted, Event, GateKind, RunStarted, SupervisorStarted};

/// A run as far as its ledger tells. Anybody may read its facts; only `apply` changes them, since nothing else can reach the
/// field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct State(Facts);

impl Deref for State {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0
    }
}

impl State {
    /// Takes in one line of the ledger.
    pub fn apply(&mut self, line: &Line) {
        self.0.apply(line);
    }

    /// Takes in one event of the line that `cause` names.
    pub(crate) fn apply_event(&mut self, cause: Cause, at: Millis, event: &Event) {
        self.0.apply_event(cause, at, event);
    }

    /// Completes the attempt that just started with what its worker is told: part of taking in the event that starts it, whose
    /// text is made from the state as it is then.
    pub(crate) fn begin_told(&mut self, intent: &AttemptStarted) {
        self.0.begin_told(intent);
    }
}

/// Everything that is known about a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
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
    /// What is carried from phase to phase.
    pub snapshot: Arc<Snapshot>,
    /// How many notes people gave.
    pub notes: u32,
    /// What people said at gates and in notes, in order; of much, the latest.
    pub remarks: List<Remark>,
    /// What is known of the project's files.
    #[serde(default)]
    pub trees: Trees,
    /// What people said about budgets.
    #[serde(default, skip_serializing_if = "Budgets::is_empty")]
    pub budgets: Budgets,
    /// What people are to be told.
    #[serde(default, skip_serializing_if = "Notices::is_empty")]
    pub notices: Notices,
    /// Who drives it, or drove it last.
    pub supervisor: Option<SupervisorStarted>,
    /// Why it is paused.
    pub paused: Option<String>,
    /// Why it was given up.
    pub cancelled: Option<String>,
    /// Whether its last phase was left.
    pub done: bool,
    /// Why it failed.
    pub failed: Option<String>,
    /// What the ledger says and cannot have happened, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<Anomaly>,
}

/// One stay at a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// Where.
    pub place: Place,
    /// Since when.
    pub entered_at: Millis,
    /// Commands that were run there.
    pub commands: Commands,
    /// What its worker said last of it and the record does not show.
    pub unproven: Vec<Claim>,
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

impl Facts {
    /// Whether a worker waits for a person's answer.
    pub fn is_asking(&self, attempt: &Attempt) -> bool {
        let is_open = |id: GateId| self.gate(id).is_some_and(|gate| gate.answered.is_none());
        let stays = attempt.stop.is_none() && !attempt.is_leaving();
        stays && attempt.asking.iter().any(|(_, gate)| is_open(*gate))
    }

    /// Whether a question of a worker of this frame is open.
    pub fn has_question(&self, path: &FramePath) -> bool {
        self.open_gates().any(|gate| {
            gate.opened.gate_kind == GateKind::Question && gate.opened.place.frame() == *path
        })
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

    /// The frozen persona of that name.
    pub fn persona_called(&self, name: &str) -> Option<&Persona> {
        self.run.as_ref()?.personas.iter().find(|persona| persona.is_called(name))
    }

    /// The tools of an attempt's worker: of its phase, or where it helps those of its own phase or persona.
    pub fn tools_for(&self, intent: &AttemptStarted) -> Option<&Tools> {
        let phase = self.phase_at(&intent.place)?;
        let Some(helper) = &intent.persona else { return Some(self.tools_of(phase)) };
        let own = self.phase_of_persona(&intent.place, helper).map(|own| self.tools_of(own));
        // Who says nothing of tools gets those of whoever asks: help is no way round a list.
        let persona = self.persona_called(helper).map(|persona| &persona.tools);
        own.or(persona.filter(|tools| !tools.is_unsaid())).or_else(|| Some(self.tools_of(phase)))
    }

    /// The tools of a phase: its own, else its persona's.
    pub fn tools_of<'s>(&'s self, phase: &'s Phase) -> &'s Tools {
        let own = !phase.tools.is_unsaid();
        self.persona_of(phase).filter(|_| !own).map_or(&phase.tools, |persona| &persona.tools)
    }

    /// Attempts that have not ended.
    pub fn live_attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.live.iter().filter_map(|id| self.attempt(*id))
    }

    /// A phase of the workflow at a place whose worker is that persona: what it may do holds for its help too.
    pub fn phase_of_persona(&self, place: &Place, persona: &str) -> Option<&Phase> {
        let workflow = self.workflow(&self.frames.get(&place.frame())?.workflow)?;
        workflow.phases.iter().find(|phase| phase.is_by(persona))
    }

    pub(crate) fn next_note(&self) -> NoteId {
        NoteId(self.notes.saturating_add(1))
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
