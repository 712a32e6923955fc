//! A gate that waits for a person.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::permission::{CallRow, call_row};
use super::phase::definition;
use super::run::RunView;
use crate::base::ids::{GateId, PhaseId, Place};
use crate::base::time::Millis;
use crate::definition::workflow::Phase;
use crate::event::budget::Lack;
use crate::event::trees::Changes;
use crate::event::{GateKind, GateOpened};
use crate::state::{Gate, Stage, State, WayOut};
use crate::words::{self, GateWay};

/// One open gate, as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRow {
    /// Numbered per run, from `g1`.
    pub gate: GateId,
    /// The phase that waits.
    pub place: Place,
    /// Decides which answers it takes.
    pub kind: GateKind,
    /// What the person has to decide.
    pub about: String,
    /// Suggested answers; empty if any text is expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// True if only one of the options is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Background that the worker gave.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// The call that needs leave; `None` for other gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRow>,
    /// What a budget or a loop needs to go on; `None` for other gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// How much more a used-up budget needs, in words; `None` for other gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// A raise that lets work go on for a while, such as `+500 tokens`; `None` for other gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<String>,
    /// What is accepted where the run cannot go on by itself; empty for other gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<GateWay>,
    /// Commands that run after a yes to an approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Changed files: of the phase for an approval after the work, of the run so far for one before it, inside a step of the step
    /// alone. `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// The command that shows these changes in full; `None` if there are none, or if no command shows just them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
    /// Time when it opened.
    pub since: Millis,
    /// The command that answers it.
    pub next: String,
}

/// Why a place does not say which gate is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclearGate {
    /// What is wrong with it.
    pub what: String,
    /// What to type instead.
    pub hint: String,
}

impl RunView {
    /// The gate that a person calls by a place in a pool: that of a step, or one inside of it. `None` if the word is no such place,
    /// and so may be part of an answer.
    pub fn gate_called(&self, word: &str) -> Result<Option<GateId>, UnclearGate> {
        let is_inside = |place: &Place, around: &str| {
            let rest = place.as_str().strip_prefix(around);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let called = Place::new(word);
        let mut pools = self.pools.iter();
        // No step is called so: it is the beginning of a sentence.
        if word.contains(char::is_whitespace) {
            return Ok(None);
        }
        if !pools.any(|pool| is_inside(&called, pool.place.as_str())) {
            return Ok(None);
        }
        let gates = self.needs_you.iter().filter(|row| is_inside(&row.place, word));
        let gates: Vec<&GateRow> = gates.collect();
        let pool = self.pools.iter().find(|pool| pool.place == called);
        let status = format!("chronicle status {}", self.short);
        Err(match (gates.as_slice(), pool) {
            // A mistyped step must not become the answer to another one.
            ([], _) => UnclearGate {
                what: format!("no gate waits at `{word}`"),
                hint: format!("{status} shows what waits"),
            },
            // Whoever names a pool may mean any of its steps, also one that asks a moment later.
            ([gate], Some(pool)) if gate.place != called => UnclearGate {
                what: format!(
                    "`{word}` is a {}, and {} waits at `{}`: name that",
                    words::pool_kind(pool.race.is_some()),
                    gate.gate,
                    gate.place
                ),
                hint: gate.next.clone(),
            },
            ([gate], _) => return Ok(Some(gate.gate)),
            ([one, ..], _) => UnclearGate {
                what: format!(
                    "{} gates wait at `{word}`, name one by its id, such as {}",
                    gates.len(),
                    one.gate
                ),
                hint: format!("{status} shows them"),
            },
        })
    }
}

pub(super) fn gates(state: &State, run: &str) -> Vec<GateRow> {
    let row = |gate: &Arc<Gate>| gate_row(state, gate, run);
    // Gates of a run that was given up stay open in the record, but no answer to them leads anywhere.
    state.open_gates().filter(|gate| state.can_answer(gate.opened.gate)).map(row).collect()
}

pub(super) fn gate_row(state: &State, gate: &Gate, run: &str) -> GateRow {
    let (kind, place) = (gate.opened.gate_kind, &gate.opened.place);
    let (commands, changes) = match kind {
        // Of a step only that one begins, and it has its own commands.
        GateKind::ApprovalBefore if gate.opened.step.is_some() => (Vec::new(), None),
        GateKind::ApprovalBefore => {
            // Other steps work beside it: what they changed is not what a yes in this one is about.
            let step = state.step_at(&place.frame()).map(|(at, _, step)| at.step_frame(&step.id));
            let is_meant = |it: &Place| step.as_ref().is_none_or(|step| it.frame().is_within(step));
            (begins(state, place), Some(changed(state, is_meant)))
        }
        GateKind::ApprovalAfter => {
            let inside = |it: &Place| it == place || it.frame().is_within(&place.frame_below());
            (follows(state, place), Some(changed(state, inside)))
        }
        GateKind::Intervention
        | GateKind::Question
        | GateKind::Budget
        | GateKind::Permission
        | GateKind::Conflict => (Vec::new(), None),
    };
    let changes = changes.filter(|changes| !changes.is_none());
    let see = changes.as_ref().and_then(|_| see(state, &gate.opened, run));
    let (needs, raise) = words::more(state, &gate.opened).unzip();
    GateRow {
        gate: gate.opened.gate,
        place: gate.opened.shown_place(),
        kind,
        about: words::about_now(state, &gate.opened).unwrap_or_else(|| gate.opened.about.clone()),
        options: gate.opened.options.clone(),
        closed: gate.opened.closed,
        context: context(state, gate),
        call: gate.opened.asks.as_ref().map(|asks| call_row(asks)),
        lack: gate.opened.lack,
        needs,
        raise,
        ways: words::ways(state, &gate.opened),
        commands,
        changes,
        see,
        since: gate.at,
        next: words::gate_next(state, &gate.opened, run),
    }
}

/// What shows the changes of a gate. Before a phase begins, everything so far is at stake; after it, only what it did.
fn see(state: &State, gate: &GateOpened, run: &str) -> Option<String> {
    let frame = gate.place.frame();
    if gate.gate_kind == GateKind::ApprovalAfter {
        // Phases of a work folder have no trees of the project: what was done there is compared once it is merged.
        let folder = state.frames.get(&frame).map(|frame| frame.folder).unwrap_or_default();
        let part = || format!("chronicle diff {run} --phase {}", gate.shown_place());
        return folder.is_project().then(part);
    }
    // The run as a whole would show the other steps too.
    state.step_at(&frame).is_none().then(|| format!("chronicle diff {run}"))
}

/// What was given with the question. Where a loop has reached its limit, why it would go round once more.
fn context(state: &State, gate: &Gate) -> String {
    let again =
        (gate.opened.lack == Some(Lack::Rounds)).then(|| words::why_again(state, &gate.opened));
    again.flatten().unwrap_or_else(|| gate.opened.context.clone())
}

/// The changes of all attempts at these places, in order.
fn changed(state: &State, is_meant: impl Fn(&Place) -> bool) -> Changes {
    let mut tallies: Vec<_> = state.places.iter().filter(|(place, _)| is_meant(place)).collect();
    // In the order of the work: of two changes of one file, the later one decides whether it still exists.
    tallies.sort_by_key(|(_, tally)| tally.last_visit);
    let mut all = Changes::default();
    for (_, tally) in tallies {
        all.then(&tally.changes);
    }
    all
}

/// Commands of a phase that is about to begin, including those of its sub-workflow.
fn begins(state: &State, place: &Place) -> Vec<String> {
    definition(state, place).map_or_else(Vec::new, |phase| commands(state, phase))
}

fn commands(state: &State, phase: &Phase) -> Vec<String> {
    let inner = phase.workflow.as_ref().and_then(|key| state.workflow(key));
    let inner = inner.into_iter().flat_map(|inner| &inner.phases).flat_map(|it| &it.commands);
    phase.commands.iter().chain(inner).cloned().collect()
}

/// Cleanup commands of a phase, and the commands of the next one unless it asks for approval itself.
fn follows(state: &State, place: &Place) -> Vec<String> {
    let Some(phase) = definition(state, place) else { return Vec::new() };
    let next = way_out(state, place).and_then(|way| target(phase, way));
    let next = next.and_then(|next| definition(state, &place.frame().place(&next)));
    // A phase that asks before it begins will show its own commands then.
    let next = next.filter(|next| !next.approval.is_before()).map(|next| commands(state, next));
    let frame = state.frames.get(&place.frame()).filter(|frame| frame.place() == *place);
    let cleanup = frame.map_or(&phase.cleanup[..], |frame| state.cleanup_of(frame));
    cleanup.iter().cloned().chain(next.into_iter().flatten()).collect()
}

fn way_out<'a>(state: &'a State, place: &Place) -> Option<&'a WayOut> {
    let frame = state.frames.get(&place.frame()).filter(|frame| frame.place() == *place)?;
    let Stage::Gated { held, .. } = &frame.stage else { return None };
    let Stage::Left(way) = held.as_ref() else { return None };
    Some(way)
}

fn target(phase: &Phase, way: &WayOut) -> Option<PhaseId> {
    let only = || phase.next.first().filter(|_| phase.next.len() == 1);
    way.target.as_ref().or_else(|| phase.on.get(&way.outcome)).or_else(only).cloned()
}
