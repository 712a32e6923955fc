//! Signals: a worker's call is judged, written down, then answered; the same call again gets the same answer.

use super::scratch::Scratch;
use super::target::resolve;
use crate::event::{Event, Leave};
use crate::ids::{AttemptId, Outcome, PhaseId};
use crate::input::Answer;
use crate::limits::{TEXT_MAX, bounded};
use crate::signal::Signal;
use crate::state::{Answered, Attempt};
use crate::view;
use crate::words;

/// Longest id of a request that is kept.
const REQUEST_MAX: usize = 200;

pub(super) fn signal(
    scratch: &mut Scratch<'_>,
    id: AttemptId,
    request: &str,
    signal: &Signal,
) -> Answer {
    let state = scratch.state();
    let request = bounded(request, REQUEST_MAX);
    let attempt = match state.attempt(id) {
        Some(attempt) if attempt.ended.is_none() => attempt,
        Some(_) | None => return Answer::Refused(format!("{id} is over: nothing was done")),
    };
    if let Some((_, answered)) = attempt.answers.iter().find(|(before, _)| *before == request) {
        return repeat(answered);
    }
    match signal {
        Signal::Status => Answer::Accepted(view::for_worker(state, attempt)),
        Signal::Malformed(why) => refuse(scratch, id, request, why),
        Signal::Leave { target, outcome, summary } => {
            match leave(scratch, attempt, target.as_ref(), outcome.as_ref(), summary) {
                Ok(Some(leave)) => accept(scratch, id, request, leave),
                Ok(None) => Answer::Accepted(
                    attempt
                        .leave
                        .as_ref()
                        .map_or_else(String::new, |(leave, _)| words::leaving(leave)),
                ),
                Err(why) => refuse(scratch, id, request, &why),
            }
        }
    }
}

/// The way out that a worker asks for; none when it asked for the same before.
fn leave(
    scratch: &Scratch<'_>,
    attempt: &Attempt,
    target: Option<&PhaseId>,
    outcome: Option<&Outcome>,
    summary: &str,
) -> Result<Option<Leave>, String> {
    let place = &attempt.intent.place;
    let phase = scratch.state().phase_at(place).ok_or_else(|| format!("`{place}` is over"))?;
    let outcome = outcome.cloned().unwrap_or_else(|| Outcome::from("complete"));
    let target = resolve(phase, target, &outcome)?;
    let summary = bounded(summary, TEXT_MAX);
    match &attempt.leave {
        None => Ok(Some(Leave { target, outcome, summary })),
        Some((before, _)) if before.target == target && before.outcome == outcome => Ok(None),
        Some((before, _)) => Err(format!(
            "`{place}` is being left for `{}` already; the first signal counts",
            before.target
        )),
    }
}

fn accept(scratch: &mut Scratch<'_>, id: AttemptId, request: String, leave: Leave) -> Answer {
    let answer = Answer::Accepted(words::leaving(&leave));
    scratch.record(Event::SignalAccepted { attempt: id, request, leave });
    answer
}

fn refuse(scratch: &mut Scratch<'_>, id: AttemptId, request: String, why: &str) -> Answer {
    let answer = bounded(why, TEXT_MAX);
    scratch.record(Event::SignalRefused { attempt: id, request, answer: answer.clone() });
    Answer::Refused(answer)
}

fn repeat(answered: &Answered) -> Answer {
    if answered.accepted {
        Answer::Accepted(answered.text.clone())
    } else {
        Answer::Refused(answered.text.clone())
    }
}
