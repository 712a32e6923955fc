//! A worker ended its turn and needs something first: a fresh session, an answer, or help.

use super::attempt::attempt;
use super::gate::{intervene, question};
use crate::definition::workflow::Phase;
use crate::event::{Break, Event, FollowUp, Mover, Why};
use crate::state::{Frame, State};
use crate::words;

pub(super) fn follow(state: &State, frame: &Frame, parting: &Break) -> Event {
    let place = frame.place();
    let Some(phase) = state.phase_at(&place) else {
        return intervene(state, frame, words::no_such_phase(&place));
    };
    match parting {
        Break::Continue { progress, point } => {
            // Each continuation is a whole new session. Without a limit a worker could go on for ever by never finishing.
            if frame.worker.counters.continuations >= phase.limits.continuations {
                return intervene(state, frame, words::continued_too_often(phase, point));
            }
            let (progress, point) = (progress.clone(), point.clone());
            attempt(state, frame, Why::Continued { progress, point })
        }
        Break::Ask(asked) => question(state, frame, asked),
        Break::FollowUp(wanted) => help(state, frame, phase, wanted),
        Break::Helped { outcome, summary } => {
            let Some(helper) = frame.helper() else {
                return intervene(state, frame, words::no_such_phase(&place));
            };
            Event::FollowUpEnded {
                place,
                persona: helper.persona.clone(),
                outcome: outcome.clone(),
                summary: summary.clone(),
                by: Mover::Run,
            }
        }
    }
}

/// Starts a helper, unless too many workers already wait for each other or the visit has used up its help.
fn help(state: &State, frame: &Frame, phase: &Phase, wanted: &FollowUp) -> Event {
    let depth = usize::try_from(phase.limits.depth).unwrap_or(usize::MAX);
    // Both limits are needed: depth stops helpers of helpers, and the count stops one worker that asks again and again.
    if frame.stack.len() >= depth {
        return intervene(state, frame, words::too_deep(phase, frame, wanted));
    }
    if frame.progress.followups >= phase.limits.followups {
        return intervene(state, frame, words::helped_too_often(phase, wanted));
    }
    Event::FollowUpBegan { place: frame.place(), follow_up: wanted.clone() }
}
