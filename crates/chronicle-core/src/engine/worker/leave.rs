//! Leaving signals: a worker is done with its phase, or with its help.

use super::super::evidence;
use super::super::scratch::Scratch;
use super::super::target::{check_sent, resolve};
use super::{CallKey, caller, has_no_question, may_send, race, turn_is_over, verdict};
use crate::base::ids::{COMPLETE, Outcome, PhaseId};
use crate::base::quote::quoted;
use crate::definition::workflow::Phase;
use crate::event::input::Answer;
use crate::event::{Break, Event, Issues, Leave};
use crate::state::{Attempt, State};
use crate::words;

/// What a worker says when it leaves.
pub(super) struct LeaveRequest<'a> {
    pub(super) target: Option<&'a PhaseId>,
    pub(super) outcome: Option<&'a Outcome>,
    pub(super) summary: &'a str,
    pub(super) task: &'a Option<String>,
    pub(super) issues: &'a Issues,
}

pub(super) fn leave(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    asked: &LeaveRequest<'_>,
) -> Result<Answer, String> {
    let (attempt, phase) = caller(scratch.state(), call)?;
    if attempt.is_leaving() && attempt.intent.persona.is_none() {
        // The same signal under another id, as after a lost answer. Anything else is told that the turn is over, whatever may
        // be wrong with it: there is nothing left to correct.
        let again = wanted(scratch.state(), attempt, phase, asked)
            .ok()
            .filter(|leave| is_sent(attempt, leave));
        return match again {
            Some(leave) => Ok(Answer::Accepted(words::leaving(&leave))),
            None => Err(turn_is_over(attempt)),
        };
    }
    // Checks in this order: what the worker may do at all, what it meant, and last what it must have done. The first error is
    // the one that it can act on.
    may_send(phase, "complete")?;
    if let Some(outcome) = asked.outcome {
        check_sent(phase, outcome)?;
    }
    if attempt.intent.persona.is_some() {
        return helped(scratch, call, asked);
    }
    let leave = wanted(scratch.state(), attempt, phase, asked)?;
    has_no_question(scratch.state(), attempt)?;
    planned(scratch.state(), attempt, phase, &leave.outcome)?;
    // Refused here, while the worker can still fix it; checked again in `out.rs` once the files are recorded.
    proven(scratch.state(), attempt, phase, &leave.target, &leave.outcome)?;
    Ok(accept(scratch, call, leave))
}

/// The exit that a worker asks for.
fn wanted(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    asked: &LeaveRequest<'_>,
) -> Result<Leave, String> {
    let (target, outcome) = match race::choice(state, attempt, asked) {
        Some(choice) => choice?,
        None if phase.asks_verdict() => verdict::exit(phase, asked)?,
        None => exit(phase, asked)?,
    };
    let (summary, task) = (asked.summary.to_owned(), asked.task.clone());
    Ok(Leave { target, outcome, summary, task, issues: asked.issues.clone() })
}

/// The exit of a phase without a verdict. A target and an outcome that contradict each other are refused: following either one could
/// be the opposite of what was meant.
fn exit(phase: &Phase, asked: &LeaveRequest<'_>) -> Result<(PhaseId, Outcome), String> {
    let outcome = asked.outcome.cloned().unwrap_or_else(|| Outcome::from(COMPLETE));
    let target = resolve(phase, asked.target, &outcome)?;
    let way = asked.outcome.and_then(|outcome| phase.on.get(outcome));
    match (asked.target, way) {
        (Some(target), Some(way)) if target != way => Err(format!(
            "`{}` leads from `{}` to `{way}`, not to `{}`: leave out the target, or say another \
             outcome",
            quoted(outcome.as_str()),
            phase.id,
            quoted(target.as_str())
        )),
        (Some(_) | None, _) => Ok((target, outcome)),
    }
}

fn is_sent(attempt: &Attempt, leave: &Leave) -> bool {
    attempt.leave.as_ref().is_some_and(|(before, _)| before == leave)
}

/// A phase that produces steps is not left without any, unless its worker reports a failure.
fn planned(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    outcome: &Outcome,
) -> Result<(), String> {
    let frame = state.frames.get(&attempt.intent.place.frame());
    let has_plan = frame.is_some_and(|frame| frame.plan.is_some());
    if phase.produces.is_none() || has_plan || outcome.is_failure() {
        return Ok(());
    }
    Err(words::not_planned(phase))
}

/// Evidence before done: the phase's requirements must be met, unless the worker reports a failure.
pub(super) fn proven(
    state: &State,
    attempt: &Attempt,
    phase: &Phase,
    target: &PhaseId,
    outcome: &Outcome,
) -> Result<(), String> {
    let frame = state.frames.get(&attempt.intent.place.frame()).ok_or("the phase is over")?;
    match evidence::lacks(state, frame, phase, Some(target), outcome).as_slice() {
        [] => Ok(()),
        lacks => Err(words::not_proven(phase, lacks)),
    }
}

pub(super) fn accept(scratch: &mut Scratch<'_>, call: &CallKey, leave: Leave) -> Answer {
    let (attempt, request, answer) = (call.id, call.request.clone(), words::leaving(&leave));
    scratch.record(Event::SignalAccepted { attempt, request, leave, answer: answer.clone() });
    Answer::Accepted(answer)
}

/// A helper has no target of its own: the worker that asked continues.
fn helped(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    asked: &LeaveRequest<'_>,
) -> Result<Answer, String> {
    let (attempt, _) = caller(scratch.state(), call)?;
    if let Some(target) = asked.target {
        return Err(format!(
            "you help at `{}` and cannot leave it for `{}`: when you are done, call \
             `signal_back` with `signal: complete` and a `summary`",
            attempt.intent.place,
            quoted(target.as_str())
        ));
    }
    let outcome = asked.outcome.cloned().unwrap_or_else(|| Outcome::from(COMPLETE));
    let parting = Break::Helped { outcome, summary: asked.summary.to_owned() };
    super::parting::accept(scratch, call, parting)
}
