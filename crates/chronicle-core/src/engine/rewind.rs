//! Goes back to an earlier position of this run or of another. The position must fit the frozen workflows.

use std::collections::BTreeMap;

use super::chore;
use super::people::{emit_answer, refuse_over};
use super::scratch::Scratch;
use crate::base::ids::{DONE, FramePath, GateId, HUMAN_INTERVENTION, PhaseId};
use crate::definition::workflow::{Phase, PhaseKind, Workflow};
use crate::event::carried::{Carried, CarriedFrame};
use crate::event::input::{Answer, By};
use crate::event::snapshot::SnapshotUpdate;
use crate::event::{Event, GateAnswer, RunStarted};
use crate::state::State;

pub(super) fn rewind(scratch: &mut Scratch<'_>, by: &By, to: u64, carried: &Carried) -> Answer {
    if let Err(over) = refuse_over(scratch.state()) {
        return over;
    }
    let root = match may(scratch.state(), to, carried) {
        Ok(root) => root,
        Err(why) => return Answer::Refused(why),
    };
    // Open gates belong to phases that are left by this.
    let open: Vec<GateId> = scratch.state().open_gates().map(|gate| gate.opened.gate).collect();
    for gate in open {
        emit_answer(scratch, by, gate, GateAnswer::Go(root.clone()), "");
    }
    scratch.emit(Event::Rewound { to, carried: Box::new(carried.clone()) });
    Answer::Accepted(format!("going back to line {to}, at `{root}`"))
}

/// Whether the run can go there now; returns the phase of its own workflow.
fn may(state: &State, to: u64, carried: &Carried) -> Result<PhaseId, String> {
    let run = state.run.as_ref().ok_or("the run has not started")?;
    // A live attempt belongs to the position that would be left.
    if let Some(attempt) = state.live_attempts().next() {
        let (id, place) = (attempt.intent.attempt, &attempt.intent.place);
        return Err(format!("{id} works at `{place}`: pause the run first"));
    }
    if state.is_writing() {
        return Err("a merge is being written: wait for it".to_owned());
    }
    // Its folder goes with this, and what is to be put away there cannot be put away anywhere else.
    let mut steps = state.frames.values().filter_map(|frame| state.step_at(&frame.path));
    if let Some((place, _, step)) = steps.next()
        && chore::of_steps(state, &FramePath::root()).is_some()
    {
        let step = place.of_step(&step.id);
        return Err(format!("the steps of `{place}` are to be put away first: give up `{step}`"));
    }
    if state.trees.is_busy() {
        return Err("the files are being recorded or restored: wait for it".to_owned());
    }
    if to == 0 || to > state.seq {
        return Err(format!("there is no line {to}: the run has {} so far", state.seq));
    }
    fits(run, carried)?;
    carried.phase().cloned().ok_or_else(|| "the position names no phase".to_owned())
}

/// Checks that a position is possible with these workflows.
pub(super) fn fits(run: &RunStarted, carried: &Carried) -> Result<(), String> {
    let Some(root) = carried.frames.first().filter(|frame| frame.frame.is_root()) else {
        return Err("the position does not begin with the run's own workflow".to_owned());
    };
    let own = run.workflows.first().map_or("", |workflow| workflow.key.as_str());
    if root.workflow != own {
        return Err(format!("the position is one of workflow `{}`, not of `{own}`", root.workflow));
    }
    // The workflow that each nested frame must have.
    let mut inner: BTreeMap<FramePath, &str> = BTreeMap::new();
    for (index, frame) in carried.frames.iter().enumerate() {
        // A position may come from another run or a person. Each frame must be one that the frames before it lead into.
        let is_expected = inner.remove(&frame.frame) == Some(frame.workflow.as_str());
        if index > 0 && !is_expected {
            let path = frame.frame.as_str();
            return Err(format!("nothing leads into `{path}` in the position"));
        }
        if let Some(below) = stands(run, frame)? {
            inner.insert(frame.frame.place(&frame.phase).frame_below(), below);
        }
    }
    if let Some(path) = inner.keys().next() {
        return Err(format!("the position is inside `{}`, and does not say where", path.as_str()));
    }
    let is_known = |path: &FramePath| carried.frames.iter().any(|frame| frame.frame == *path);
    if let Some(edge) = carried.edges.iter().find(|edge| !is_known(&edge.frame)) {
        let path = edge.frame.as_str();
        return Err(format!("the position counts edges in `{path}`, and is not there"));
    }
    // An empty update changes nothing and is measured like any other: what comes from elsewhere must fit the limits too.
    carried.snapshot.with(&SnapshotUpdate::default()).map(drop)
}

/// Checks one frame of a position; returns the key of the workflow inside of its phase, if it is in one.
fn stands<'a>(run: &'a RunStarted, frame: &CarriedFrame) -> Result<Option<&'a str>, String> {
    let is_it = |workflow: &&Workflow| workflow.key == frame.workflow;
    let workflow = run.workflows.iter().find(is_it);
    let workflow = workflow.ok_or_else(|| format!("there is no workflow `{}`", frame.workflow))?;
    let phase = workflow.phase(&frame.phase);
    let is_end = [DONE, HUMAN_INTERVENTION].contains(&frame.phase.as_str());
    match (phase, frame.inside) {
        (Some(_), false) => Ok(None),
        (None, false) if is_end => Ok(None),
        (Some(Phase { run: PhaseKind::Workflow, workflow: Some(key), .. }), true) => {
            Ok(Some(key.as_str()))
        }
        (Some(phase), true) => Err(format!("there is no workflow inside of `{}`", phase.id)),
        (None, _) => Err(format!("workflow `{}` has no phase `{}`", workflow.key, frame.phase)),
    }
}
