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
mod apart;
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
mod fallback;
mod forget;
mod frame;
mod gate;
mod hands;
mod known;
mod list;
mod loops;
mod merge;
mod notice;
mod permission;
mod pool;
mod progress;
mod proof;
mod race;
mod room;
mod said;
mod sent;
mod stages;
mod status;
mod step;
mod stopping;
mod tally;
mod trees;
mod v1;
mod v1_calls;
mod wait;
mod walls;
mod work;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use anomaly::{Anomaly, Impossible};
pub(crate) use apart::worked_in;
pub use apart::{Apart, OWN_FOLDER, WorkFate};
pub use attempt::{Answered, Attempt, OpenCall, Unworded};
pub use evidence::Unmet;
pub use facts::{Commands, Did, OpenCommand, Ran, Remark};
pub use fallback::{Fallback, Fallen};
pub use frame::{
    Check, CheckFailure, Counters, EdgeCount, Frame, Note, Parted, Repeat, Stage, Still, Uncleaned,
    Waiting, WayOut, Worker,
};
pub use gate::Gate;
pub use hands::{Hands, Stretch};
pub use list::List;
pub use loops::Rounds;
pub use merge::{MergeStage, Merging};
pub use notice::{Notices, Owed};
pub use permission::{Grant, Held, Permissions, Refusal, Ruling};
pub use pool::Pool;
pub(crate) use pool::StepWork;
pub use progress::Progress;
pub use proof::UnprovenGuard;
pub use race::{Decided, JudgeSaid, Race};
pub use sent::Sent;
pub use status::{Standing, Status};
pub use step::{Leaving, PoolStep, StepStage};
pub use stopping::Stopping;
pub use tally::Tally;
pub use trees::{FolderTrees, RunTrees, Undo};
pub(crate) use work::works_apart;
pub use work::{FolderStage, WorkFolder};

use self::budget::Budgets;
use crate::base::ids::{
    AttemptId, Cause, FramePath, GateId, NoteId, Outcome, PhaseId, Place, SessionId,
};
use crate::base::time::Millis;
use crate::base::usage::{SessionUsage, Usage};
use crate::definition::persona::Persona;
use crate::definition::workflow::{Phase, Tools, Workflow, agent_and_model};
use crate::event::claims::Claim;
use crate::event::record::Line;
use crate::event::snapshot::Snapshot;
use crate::event::{AttemptStarted, Event, GateKind, RunStarted, SupervisorStarted};

/// A run as its ledger describes it. Its facts can be read by all; only `apply` changes them, since nothing else can reach the
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
    /// Applies one line of the ledger.
    pub fn apply(&mut self, line: &Line) {
        self.0.apply(line);
    }

    /// Applies one event of the line that `cause` names.
    pub(crate) fn apply_event(&mut self, cause: Cause, at: Millis, event: &Event) {
        self.0.apply_event(cause, at, event);
    }

    /// Adds the handover to the attempt that just started. Part of applying the event that starts it, since the text is made from
    /// that state.
    pub(crate) fn begin_told(&mut self, intent: &AttemptStarted) {
        self.0.begin_told(intent);
    }
}

/// Everything that is known about a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Number of the last line.
    pub seq: u64,
    /// What was frozen at the start; `None` before the first line.
    pub run: Option<Arc<RunStarted>>,
    /// The title that a person gave it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time of the first line.
    pub started_at: Millis,
    /// Time of the last line.
    pub updated_at: Millis,
    /// Open frames, by path.
    pub frames: BTreeMap<FramePath, Frame>,
    /// Attempts from `a1` on; if there are many, only the latest and the live ones.
    pub attempts: List<Attempt>,
    /// Attempts that have not ended.
    pub live: BTreeSet<AttemptId>,
    /// Gates from `g1` on; if there are many, only the latest, the open ones and those with recent words of people.
    pub gates: List<Gate>,
    /// Visits of phases, in order; if there are many, only the latest and the open ones.
    pub visits: List<Visit>,
    /// Sums for each place over all visits.
    pub places: Arc<BTreeMap<Place, Arc<Tally>>>,
    /// Usage of each session that a known attempt or a frame may continue. No decision depends on it, so the engine's copy shares
    /// it.
    pub sessions: Arc<BTreeMap<SessionId, SessionUsage>>,
    /// Usage of all sessions together.
    pub usage: Usage,
    /// What is passed from phase to phase.
    pub snapshot: Arc<Snapshot>,
    /// Number of notes that people gave.
    pub notes: u32,
    /// What people said at gates and in notes, in order; only the latest.
    pub remarks: List<Remark>,
    /// What is known of the project's files.
    #[serde(default)]
    pub trees: RunTrees,
    /// Pools that are entered and not left, by the phase that each is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<Place, Arc<Pool>>,
    /// Work folders that are wanted or there, by their numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub works: BTreeMap<u32, WorkFolder>,
    /// The folder of a run that works apart; `None` for one that works in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Box<Apart>>,
    /// Number of work folders so far.
    #[serde(default, skip_serializing_if = "frame::is_zero")]
    pub folders: u32,
    /// Raises and warnings of budgets.
    #[serde(default, skip_serializing_if = "Budgets::is_empty")]
    pub budgets: Budgets,
    /// Calls that people allowed for the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// Notices that are due or failed.
    #[serde(default, skip_serializing_if = "Notices::is_empty")]
    pub notices: Notices,
    /// Whose guard was not proven, if anybody's was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<UnprovenGuard>,
    /// The supervisor that drives it, or drove it last.
    pub supervisor: Option<SupervisorStarted>,
    /// True if a person answered while it rested, and nobody has driven it since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ready: bool,
    /// Why it is paused, if it is.
    pub paused: Option<String>,
    /// Why it was cancelled, if it was.
    pub cancelled: Option<String>,
    /// True if its last phase was left.
    pub done: bool,
    /// Why it failed, if it did.
    pub failed: Option<String>,
    /// Events that cannot have happened, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anomalies: Vec<Anomaly>,
}

/// One visit to a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// The phase, with the path of its frame.
    pub place: Place,
    /// Time when it was entered.
    pub entered_at: Millis,
    /// Number of attempts before this visit. Later ones at the place belong to it, until the place is entered again.
    #[serde(default)]
    pub attempts_before: usize,
    /// The task that the previous phase gave to this visit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Commands that were run there.
    pub commands: Commands,
    /// Claims of its last worker that the record does not show.
    pub unproven: Vec<Claim>,
    /// How it was left; `None` while it is open.
    pub left: Option<Departure>,
}

/// How a phase was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// The phase it was left for.
    pub to: PhaseId,
    /// The outcome it was left with.
    pub outcome: Outcome,
    /// The worker's summary of its work.
    pub summary: String,
}

impl Facts {
    /// True if a worker waits for a person's answer.
    pub fn is_asking(&self, attempt: &Attempt) -> bool {
        // An answer is not told before the step has a slot again: until then its worker waits as it did.
        self.asks_person(attempt)
            || (attempt.stays() && self.lacks_slot(&attempt.intent.place.frame()))
    }

    /// True if a person has not answered it yet.
    pub(crate) fn asks_person(&self, attempt: &Attempt) -> bool {
        // A question of a worker that is on its way out will not be heard by it, so the run does not wait for the answer.
        attempt.stays() && (self.has_asked(attempt) || self.undecided(attempt).next().is_some())
    }

    /// True if a question of a worker is open, as opposed to a call that waits for leave.
    pub(crate) fn has_asked(&self, attempt: &Attempt) -> bool {
        let is_open = |id: GateId| self.gate(id).is_some_and(|gate| gate.answered.is_none());
        attempt.asking.iter().any(|(_, gate)| is_open(*gate))
    }

    /// True if a question of a worker of this frame is open.
    pub fn has_question(&self, path: &FramePath) -> bool {
        self.open_gates().any(|gate| {
            gate.opened.gate_kind == GateKind::Question && gate.opened.place.frame() == *path
        })
    }

    /// Gates that wait for a person, oldest first.
    pub fn open_gates(&self) -> impl Iterator<Item = &Arc<Gate>> {
        self.gates.iter().filter(|gate| gate.answered.is_none())
    }

    /// The attempt with that id, unless it ended and was dropped.
    pub fn attempt(&self, id: AttemptId) -> Option<&Attempt> {
        self.attempts.get(number(id.0)).map(Arc::as_ref)
    }

    /// The gate with that id, unless it was answered and dropped.
    pub fn gate(&self, id: GateId) -> Option<&Gate> {
        self.gates.get(number(id.0)).map(Arc::as_ref)
    }

    /// True if a gate of that id was ever opened. A dropped one was answered.
    pub fn had_gate(&self, id: GateId) -> bool {
        number(id.0) < self.gates.len()
    }

    /// The frozen workflow with that key.
    pub fn workflow(&self, key: &str) -> Option<&Workflow> {
        self.run.as_ref()?.workflows.iter().find(|workflow| workflow.key == key)
    }

    /// The definition of the phase at a place, while its frame is open.
    pub fn phase_at(&self, place: &Place) -> Option<&Phase> {
        let frame = self.frames.get(&place.frame())?;
        self.workflow(&frame.workflow)?.phase(&place.phase())
    }

    /// The frozen persona that a phase names; `None` if it names none or has it as text.
    pub fn persona_of(&self, phase: &Phase) -> Option<&Persona> {
        let word = phase.persona.as_deref()?;
        self.run.as_ref()?.personas.iter().find(|persona| persona.is_called(word))
    }

    /// The frozen persona of that name.
    pub fn persona_called(&self, name: &str) -> Option<&Persona> {
        self.run.as_ref()?.personas.iter().find(|persona| persona.is_called(name))
    }

    /// The frozen persona of an attempt's worker. A helper may be asked for by the name of its persona or of its phase.
    pub fn persona_for(&self, intent: &AttemptStarted) -> Option<&Persona> {
        let Some(helper) = &intent.persona else {
            return self.persona_of(self.phase_at(&intent.place)?);
        };
        let of_phase = || self.persona_of(self.phase_of_persona(&intent.place, helper)?);
        self.persona_called(helper).or_else(of_phase)
    }

    /// Tools of an attempt's worker: those of its phase or, for a helper, of its own phase or persona.
    pub fn tools_for(&self, intent: &AttemptStarted) -> Option<Cow<'_, Tools>> {
        let phase = self.phase_at(&intent.place)?;
        let Some(helper) = &intent.persona else { return Some(self.tools_of(phase)) };
        // Who says nothing of tools gets those of whoever asks: help is no way round a list.
        let own = self.phase_of_persona(&intent.place, helper).map(|own| self.tools_of(own));
        let own = own.filter(|tools| !tools.is_unsaid());
        let persona = self.persona_called(helper).map(|persona| &persona.tools);
        let persona = persona.filter(|tools| !tools.is_unsaid()).map(Cow::Borrowed);
        own.or(persona).or_else(|| Some(self.tools_of(phase)))
    }

    /// Tools of a phase: what both its own list and its persona's let through.
    pub fn tools_of<'s>(&'s self, phase: &'s Phase) -> Cow<'s, Tools> {
        phase.tools.with(self.persona_of(phase).map(|persona| &persona.tools))
    }

    /// Model of an attempt: the first that its phase, persona, workflow or run sets. `None` also if its sub-workflow has ended.
    /// Those are meant for the first agent: one that took over uses the model that `fallback` names with it.
    pub fn model_for<'s>(&'s self, intent: &'s AttemptStarted) -> Option<&'s str> {
        if let Some(named) = &intent.fallback {
            // The phase's `model` is meant for its first agent: another one may not have a model of that name.
            return agent_and_model(named).1;
        }
        let phase = self.phase_at(&intent.place)?;
        let helper = intent.persona.as_deref();
        let own = helper.and_then(|persona| self.phase_of_persona(&intent.place, persona));
        let persona = self.persona_for(intent);
        let workflow = self.workflow(&self.frames.get(&intent.place.frame())?.workflow)?;
        let of_phase = own.unwrap_or(phase).model.as_ref();
        let of_persona = persona.and_then(|persona| persona.model.as_ref());
        let of_run = self.run.as_ref().and_then(|run| run.model.as_ref());
        of_phase.or(of_persona).or(workflow.model.as_ref()).or(of_run).map(String::as_str)
    }

    /// Attempts that have not ended.
    pub fn live_attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.live.iter().filter_map(|id| self.attempt(*id))
    }

    /// A phase of the same workflow whose worker is that persona; its limits also apply to its help.
    pub fn phase_of_persona(&self, place: &Place, persona: &str) -> Option<&Phase> {
        let workflow = self.workflow(&self.frames.get(&place.frame())?.workflow)?;
        workflow.phases.iter().find(|phase| phase.is_by(persona))
    }

    pub(crate) fn next_note(&self) -> NoteId {
        NoteId(self.notes.saturating_add(1))
    }

    pub(crate) fn next_attempt(&self) -> AttemptId {
        // The length counts what was dropped too, so an id is never given twice.
        AttemptId(u32::try_from(self.attempts.len()).unwrap_or(u32::MAX).saturating_add(1))
    }

    pub(crate) fn next_gate(&self) -> GateId {
        // As for attempts: gates that were dropped are counted, so an answer cannot reach another gate.
        GateId(u32::try_from(self.gates.len()).unwrap_or(u32::MAX).saturating_add(1))
    }
}

/// Index of an entry in a list, for ids that count from 1.
fn number(id: u32) -> usize {
    // No list has the largest number. So an id of 0, which only a damaged ledger can name, finds nothing instead of another
    // entry.
    usize::try_from(id).ok().and_then(|id| id.checked_sub(1)).unwrap_or(usize::MAX)
}
