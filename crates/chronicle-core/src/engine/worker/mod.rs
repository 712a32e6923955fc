//! Signals: a worker's call is judged, written down, then answered; the same call again gets the same answer.
//!
//! One file per kind of call. `leave.rs` and `parting.rs` end the worker's turn, the others do not;
//! `verdict.rs` says where a verdict leads.

mod ask;
mod leave;
mod parting;
mod plan;
mod race;
mod snapshot;
mod step;
mod verdict;

use super::scratch::Scratch;
use crate::base::ids::{AttemptId, GateId};
use crate::definition::workflow::{Phase, SIGNALS, signal_named};
use crate::event::Event;
use crate::event::input::Answer;
use crate::event::signal::Signal;
use crate::handover;
use crate::state::{Answered, Attempt, State};
use crate::words;

/// The caller and its request id.
pub(super) struct CallKey {
    id: AttemptId,
    request: String,
}

pub(super) fn signal(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    request: &str,
    signal: &Signal,
) -> Answer {
    let state = scratch.state();
    let call = CallKey { id, request: request.to_owned() };
    let attempt = match state.attempt(id) {
        Some(attempt) if attempt.ended.is_none() => attempt,
        Some(_) | None => return Answer::Refused(format!("{id} is over: nothing was done")),
    };
    let mut before = attempt.answers.iter();
    // Before every other check: a repeated call gets its old answer even if the state has changed since, so that a retry
    // after a lost answer is harmless.
    if let Some((_, answered)) = before.find(|(request, _)| *request == call.request) {
        return repeat(state, attempt, answered);
    }
    // Refused and recorded. An attempt that is being stopped can no longer leave, ask or write, however long its process
    // lives.
    if let Some(why) = state.stopping(attempt) {
        return refuse_stopped(scratch, &call, signal, words::stopping(why));
    }
    if let Signal::OfStep { step, .. } = signal
        && !is_step_of(attempt, step)
    {
        let why = words::other_step(attempt, step);
        return refuse(scratch, &call, why);
    }
    // Refusals are recorded too: a worker that repeats the call gets the same words, and people see what it tried. They are never
    // cut: what they quote is, so that what to do instead stays.
    let answered = match signal.meant() {
        Signal::OfStep { .. } => Err("a signal is for one step: name one `stepId`".to_owned()),
        Signal::Status => return step::status(scratch, &call),
        Signal::Malformed(why) => return refuse(scratch, &call, why.clone()),
        Signal::Leave { target, outcome, summary, task, issues } => {
            let (target, outcome) = (target.as_ref(), outcome.as_ref());
            let asked = leave::LeaveRequest { target, outcome, summary, task, issues };
            leave::leave(scratch, &call, &asked)
        }
        Signal::Loop { summary } => step::start_over(scratch, &call, summary),
        Signal::Cancel { summary } => step::cancel(scratch, &call, summary),
        Signal::Break(parting) => parting::part(scratch, &call, parting),
        Signal::Snapshot(update) => snapshot::update(scratch, &call, update),
        Signal::Ask(question) => ask::ask(scratch, &call, question),
        Signal::Plan { version, steps } => plan::plan(scratch, &call, *version, steps),
    };
    answered.unwrap_or_else(|why| refuse(scratch, &call, why))
}

/// True if a worker may mean its own work by that word: its attempt, its place, or a part of the place.
fn is_step_of(attempt: &Attempt, step: &str) -> bool {
    let place = attempt.intent.place.as_str();
    let (id, session) = (attempt.intent.attempt.to_string(), attempt.intent.session.as_str());
    step == id || step == place || step == session || place.split('/').any(|part| part == step)
}

/// Refuses signals of an attempt that is being stopped. A status request is not recorded.
fn refuse_stopped(
    scratch: &mut Scratch<'_>,
    call: &CallKey,
    signal: &Signal,
    answer: String,
) -> Answer {
    match signal {
        // Not recorded, since it would have changed nothing either.
        Signal::Status => Answer::Refused(answer),
        Signal::Malformed(_)
        | Signal::Leave { .. }
        | Signal::Loop { .. }
        | Signal::Cancel { .. }
        | Signal::Break(_)
        | Signal::Snapshot(_)
        | Signal::OfStep { .. }
        | Signal::Plan { .. }
        | Signal::Ask(_) => refuse(scratch, call, answer),
    }
}

fn refuse(scratch: &mut Scratch<'_>, call: &CallKey, answer: String) -> Answer {
    let (attempt, request) = (call.id, call.request.clone());
    scratch.record(Event::SignalRefused { attempt, request, answer: answer.clone() });
    Answer::Refused(answer)
}

fn repeat(state: &State, attempt: &Attempt, answered: &Answered) -> Answer {
    match answered {
        Answered::Accepted(text) => Answer::Accepted(text.clone()),
        Answered::Refused(text) => Answer::Refused(text.clone()),
        Answered::Unworded(what) => Answer::Accepted(words::accepted(state, attempt, *what)),
    }
}

/// The calling attempt and its phase.
fn caller<'a>(state: &'a State, call: &CallKey) -> Result<(&'a Attempt, &'a Phase), String> {
    let attempt = state.attempt(call.id).ok_or_else(|| format!("{} is over", call.id))?;
    let place = &attempt.intent.place;
    let phase = state.phase_at(place).ok_or_else(|| format!("`{place}` is over"))?;
    Ok((attempt, phase))
}

/// Refuses a signal that this phase does not allow, and names those that it does.
fn may_send(phase: &Phase, signal: &str) -> Result<(), String> {
    let Some(allowed) = &phase.signals else { return Ok(()) };
    let is_allowed = |signal: &str| allowed.iter().any(|it| signal_named(it) == Some(signal));
    if is_allowed(signal) {
        return Ok(());
    }
    let names: Vec<String> = SIGNALS.into_iter().filter(|it| is_allowed(it)).map(code).collect();
    Err(format!("`{}` may not send `{signal}`; it may send {}", phase.id, names.join(", ")))
}

/// A turn ends once: the first signal that ends it wins.
fn is_still_open(attempt: &Attempt) -> Result<(), String> {
    if attempt.is_leaving() { Err(turn_is_over(attempt)) } else { Ok(()) }
}

/// What a worker is told whose turn a signal has ended.
fn turn_is_over(attempt: &Attempt) -> String {
    let how = match (&attempt.leave, &attempt.parting) {
        (Some((before, _)), _) => {
            format!("`{}` is being left for `{}` already", attempt.intent.place, before.target)
        }
        (None, Some((before, _))) => {
            format!("your turn has ended already ({})", words::parting(before))
        }
        (None, None) => "your turn has ended already".to_owned(),
    };
    format!("{how}: the first signal counts, and nothing of this one was kept")
}

/// A worker must wait for its answer first: otherwise its question would stay open for ever.
fn has_no_question(state: &State, attempt: &Attempt) -> Result<(), String> {
    let is_open = |id: &GateId| state.gate(*id).is_some_and(|gate| gate.answered.is_none());
    match attempt.asking.iter().map(|(_, gate)| *gate).find(is_open) {
        Some(gate) => Err(format!("your question {gate} is open: wait for its answer first")),
        None => Ok(()),
    }
}

fn code(word: impl std::fmt::Display) -> String {
    format!("`{word}`")
}

/// The answer to `workflow_status`.
fn standing(state: &State, call: &CallKey) -> String {
    state.attempt(call.id).map_or_else(String::new, |attempt| handover::for_worker(state, attempt))
}
