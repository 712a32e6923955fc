//! Persons' commands. A refusal leaves no trace but its words, which say what would be right.

use std::sync::Arc;

use super::scratch::Scratch;
use crate::event::{EdgeTaken, Event, GateAnswer, GateKind, Mover, RunStarted};
use crate::ids::{DONE, FramePath, GateId, Outcome, PhaseId, Place};
use crate::input::{Actor, Answer, By};
use crate::limits::{TASK_MAX, TEXT_MAX, bounded};
use crate::state::{Frame, Gate, Stage, State};

pub(super) fn start(scratch: &mut Scratch<'_>, start: &RunStarted) -> Answer {
    if scratch.state().run.is_some() {
        return Answer::Refused("this run has started already".to_owned());
    }
    let Some(workflow) = start.workflows.first() else {
        return Answer::Refused("there is no workflow to run".to_owned());
    };
    if workflow.phase(&workflow.initial).is_none() {
        let (key, initial) = (&workflow.key, &workflow.initial);
        return Answer::Refused(format!("workflow `{key}` has no phase `{initial}`"));
    }
    let workflow = workflow.key.clone();
    let frozen = RunStarted { task: bounded(&start.task, TASK_MAX), ..start.clone() };
    scratch.emit(Event::RunStarted(Arc::new(frozen)));
    scratch.emit(Event::FrameEntered { frame: FramePath::root(), workflow });
    Answer::Accepted("started".to_owned())
}

/// A paused run schedules nothing, so that whoever resumes it makes the first attempt.
pub(super) fn prepare(scratch: &mut Scratch<'_>, begin: &RunStarted) -> Answer {
    let answer = start(scratch, begin);
    if matches!(answer, Answer::Accepted(_)) {
        scratch.emit(Event::RunPaused { reason: "it has not begun yet".to_owned() });
    }
    answer
}

pub(super) fn pause(scratch: &mut Scratch<'_>, reason: &str) -> Answer {
    match scratch.state() {
        state if state.is_over() => over(state),
        state if state.paused.is_some() => Answer::Accepted("paused already".to_owned()),
        _ => {
            scratch.emit(Event::RunPaused { reason: bounded(reason, TEXT_MAX) });
            Answer::Accepted("paused".to_owned())
        }
    }
}

pub(super) fn resume(scratch: &mut Scratch<'_>) -> Answer {
    match scratch.state() {
        state if state.is_over() => over(state),
        state if state.paused.is_none() => Answer::Accepted("not paused".to_owned()),
        _ => {
            scratch.emit(Event::RunResumed);
            Answer::Accepted("resumed".to_owned())
        }
    }
}

pub(super) fn cancel(scratch: &mut Scratch<'_>, reason: &str) -> Answer {
    let state = scratch.state();
    if is_given_up(state) {
        return over(state);
    }
    scratch.emit(Event::RunCancelled { reason: bounded(reason, TEXT_MAX) });
    Answer::Accepted("cancelled".to_owned())
}

pub(super) fn approve(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    note: &str,
) -> Answer {
    answer_approval(scratch, by, gate, (GateAnswer::Approved, note))
}

pub(super) fn reject(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    note: &str,
) -> Answer {
    answer_approval(scratch, by, gate, (GateAnswer::Rejected, note))
}

fn answer_approval(
    scratch: &mut Scratch<'_>,
    by: &By,
    gate: Option<GateId>,
    (answer, note): (GateAnswer, &str),
) -> Answer {
    if is_given_up(scratch.state()) {
        return over(scratch.state());
    }
    let gate = match pick_gate(scratch.state(), gate, is_approval) {
        Ok(gate) => gate.opened.clone(),
        Err(refusal) => return Answer::Refused(refusal),
    };
    let said = if answer == GateAnswer::Approved { "approved" } else { "rejected" };
    let text = format!("{said} {} at `{}`", gate.gate, gate.place);
    emit_answer(scratch, by, gate.gate, answer, note);
    Answer::Accepted(text)
}

fn is_approval(kind: GateKind) -> bool {
    match kind {
        GateKind::ApprovalBefore | GateKind::ApprovalAfter => true,
        GateKind::Intervention => false,
    }
}

/// The gate that an answer is meant for: the one named, or the only open one of its kind.
fn pick_gate(
    state: &State,
    gate: Option<GateId>,
    fits: fn(GateKind) -> bool,
) -> Result<&Gate, String> {
    if let Some(id) = gate {
        let gate = state.gate(id).ok_or_else(|| no_gate(state, id))?;
        return match &gate.answered {
            Some((answer, who, at)) => Err(format!("{id} was {} by {who} at {at}", past(answer))),
            None if !fits(gate.opened.gate_kind) => {
                Err(format!("{id} is an intervention: `retry` or `go` leave it"))
            }
            None => Ok(gate),
        };
    }
    let mut open = state.open_gates().filter(|gate| fits(gate.opened.gate_kind));
    match (open.next(), open.next()) {
        (Some(gate), None) => Ok(gate),
        (Some(one), Some(two)) => Err(format!(
            "several gates are open, name one: {} at `{}`, {} at `{}`",
            one.opened.gate, one.opened.place, two.opened.gate, two.opened.place
        )),
        (None, _) => Err(match state.open_gates().next() {
            Some(gate) => format!(
                "no approval is asked for; {} is an intervention: `retry` or `go` leave it",
                gate.opened.gate
            ),
            None => "nobody is asked for anything".to_owned(),
        }),
    }
}

fn no_gate(state: &State, id: GateId) -> String {
    if state.had_gate(id) {
        format!("{id} was answered long ago: `chronicle log` says how")
    } else {
        format!("there is no gate {id}")
    }
}

fn past(answer: &GateAnswer) -> &'static str {
    match answer {
        GateAnswer::Approved => "already approved",
        GateAnswer::Rejected => "already rejected",
        GateAnswer::Retry => "already answered with `retry`",
        GateAnswer::Go(_) => "already answered with `go`",
    }
}

pub(super) fn retry(
    scratch: &mut Scratch<'_>,
    by: &By,
    place: Option<&Place>,
    note: &str,
) -> Answer {
    if is_given_up(scratch.state()) {
        return over(scratch.state());
    }
    let (gate, place) = match gated_frame(scratch.state(), place) {
        Ok((gate, frame)) => (gate, frame.place()),
        Err(refusal) => return Answer::Refused(refusal),
    };
    let bound_elsewhere = scratch.state().phase_at(&place).is_none();
    if bound_elsewhere {
        return Answer::Refused(format!("there is no phase at `{place}`: use `go` with a phase"));
    }
    emit_answer(scratch, by, gate, GateAnswer::Retry, note);
    Answer::Accepted(format!("`{place}` is tried again"))
}

/// The gate and frame that `retry` means: at the place, or the only one that is held.
fn gated_frame<'a>(state: &'a State, place: Option<&Place>) -> Result<(GateId, &'a Frame), String> {
    let mut held = state.frames.values().filter_map(|frame| match &frame.stage {
        Stage::Gated { gate, .. } if place.is_none_or(|place| frame.place() == *place) => {
            Some((*gate, frame))
        }
        _ => None,
    });
    match (held.next(), held.next()) {
        (Some(found), None) => Ok(found),
        (Some((_, one)), Some((_, two))) => Err(format!(
            "several places wait for a person, name one: `{}`, `{}`",
            one.place(),
            two.place()
        )),
        (None, _) => Err(match place {
            Some(place) => format!("`{place}` does not wait for a person"),
            None => "no place waits for a person".to_owned(),
        }),
    }
}

pub(super) fn go(scratch: &mut Scratch<'_>, by: &By, place: &Place, note: &str) -> Answer {
    match way(scratch.state(), place) {
        Err(refusal) => Answer::Refused(refusal),
        Ok((gates, taken)) => {
            let taken = EdgeTaken { summary: bounded(note, TEXT_MAX), ..taken };
            for gate in gates {
                emit_answer(scratch, by, gate, GateAnswer::Go(taken.to.clone()), note);
            }
            scratch.emit(Event::EdgeTaken(taken));
            Answer::Accepted(format!("going to `{place}`"))
        }
    }
}

/// The move that a person asks for, and the gates that it answers: the frame's own, and those of frames below, which end
/// with it. Not under a worker's hands: first the run must rest there.
fn way(state: &State, place: &Place) -> Result<(Vec<GateId>, EdgeTaken), String> {
    if is_given_up(state) {
        return Err("the run is over".to_owned());
    }
    let frame = state
        .frames
        .get(&place.frame())
        .ok_or_else(|| format!("the run is not inside `{}`", place.frame().as_str()))?;
    let to = place.phase();
    check_phase(state, frame, &to)?;
    let within = |place: &Place| place.frame().is_within(&frame.path);
    if let Some(worked) = state.live_attempts().find(|attempt| within(&attempt.intent.place)) {
        let (attempt, place) = (worked.intent.attempt, &worked.intent.place);
        return Err(format!("{attempt} works at `{place}`: pause the run first"));
    }
    let open = state.open_gates().map(|gate| &gate.opened);
    let gates: Vec<GateId> =
        open.filter(|gate| within(&gate.place)).map(|gate| gate.gate).collect();
    if gates.is_empty() && state.paused.is_none() {
        return Err(format!("`{}` does not rest: pause the run first", frame.place()));
    }
    let taken = EdgeTaken {
        frame: frame.path.clone(),
        from: frame.phase.clone(),
        to,
        outcome: Outcome::from("complete"),
        summary: String::new(),
        by: Mover::Person,
    };
    Ok((gates, taken))
}

fn check_phase(state: &State, frame: &Frame, to: &PhaseId) -> Result<(), String> {
    let Some(workflow) = state.workflow(&frame.workflow) else { return Ok(()) };
    if to.as_str() == DONE || workflow.phase(to).is_some() {
        return Ok(());
    }
    let known: Vec<String> =
        workflow.phases.iter().map(|phase| format!("`{}`", phase.id)).collect();
    Err(format!("workflow `{}` has no phase `{to}`; it has {}", workflow.key, known.join(", ")))
}

fn emit_answer(scratch: &mut Scratch<'_>, by: &By, gate: GateId, answer: GateAnswer, note: &str) {
    let who = match &by.actor {
        Actor::Person(name) => name.clone(),
        Actor::Worker(attempt) => attempt.to_string(),
        Actor::Supervisor => "the supervisor".to_owned(),
    };
    scratch.emit(Event::GateAnswered { gate, answer, who, note: bounded(note, TEXT_MAX) });
}

/// Whether nothing will follow from any answer, even while the last attempt is being stopped.
fn is_given_up(state: &State) -> bool {
    state.is_over() || state.cancelled.is_some()
}

fn over(state: &State) -> Answer {
    Answer::Refused(match &state.cancelled {
        Some(_) => "the run has been cancelled".to_owned(),
        None => "the run is over".to_owned(),
    })
}
