//! `workflow_step`: status, starting over, and cancelling.

use super::super::scratch::Scratch;
use super::leave::{accept, proven};
use super::{CallKey, caller, has_no_question, is_still_open, may_send, standing, verdict};
use crate::base::ids::Outcome;
use crate::event::input::Answer;
use crate::event::{Event, Issues, Leave};
use crate::words;

pub(super) fn status(scratch: &mut Scratch<'_>, call: &CallKey) -> Answer {
    let state = scratch.state();
    let answer = Answer::Accepted(standing(state, call));
    // Any other call in between withdraws the request to cancel.
    if state.attempt(call.id).is_some_and(|attempt| attempt.cancel_asked) {
        scratch.record(Event::CancelDropped { attempt: call.id });
    }
    answer
}

/// Starts the innermost workflow over. This is an edge like any other, so that it counts as a loop.
pub(super) fn start_over(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    summary: &str,
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, phase) = caller(state, call)?;
    may_send(phase, "complete")?;
    if let Some(persona) = &attempt.intent.persona {
        return Err(format!("`{persona}` is a helper and cannot start the workflow over"));
    }
    let frame = state.frames.get(&attempt.intent.place.frame());
    let workflow = frame.and_then(|frame| state.workflow(&frame.workflow));
    let workflow = workflow.ok_or("the workflow is over")?;
    if !workflow.loopable {
        return Err(format!(
            "looping is disabled for workflow `{}`: leave with `workflow_step` and `next`",
            workflow.name
        ));
    }
    let target = workflow.initial.clone();
    // Starting over must not be a way around the verdict.
    if verdict::way_of_pass(phase) == Some(&target) {
        return Err(format!(
            "`{}` asks for a verdict, and only a pass leads to `{target}`: leave with \
             `workflow_step`, `next` and a verdict",
            phase.id
        ));
    }
    let (outcome, summary) = (Outcome::from("complete"), summary.to_owned());
    let issues = Issues::default();
    let leave = Leave { target, outcome, summary, task: None, issues };
    if attempt.leave.as_ref().is_some_and(|(before, _)| *before == leave) {
        return Ok(Answer::Accepted(words::leaving(&leave)));
    }
    is_still_open(attempt)?;
    has_no_question(state, attempt)?;
    proven(state, attempt, phase, &leave.target, &leave.outcome)?;
    Ok(accept(scratch, call, leave))
}

/// Cancels after two requests in one turn with nothing in between.
pub(super) fn cancel(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    summary: &str,
) -> Result<Answer, String> {
    let state = scratch.state();
    let (attempt, _) = caller(state, call)?;
    is_still_open(attempt)?;
    // Cancelling ends the work of everybody in the run, so one mistaken call must not be enough.
    if !attempt.cancel_asked {
        let (attempt, request) = (call.id, call.request.clone());
        let answer = words::CANCEL_AGAIN.to_owned();
        scratch.record(Event::CancelAsked { attempt, request, answer: answer.clone() });
        return Ok(Answer::Accepted(answer));
    }
    let reason = words::worker_cancelled(call.id, summary);
    scratch.emit(Event::RunCancelled { reason });
    Ok(Answer::Accepted(words::CANCELLED.to_owned()))
}
