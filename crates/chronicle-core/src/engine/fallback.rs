//! An agent cannot go on: the next one of the phase's `fallback` takes over, in a session of its own.

use super::attempt::{named_agent, phase_of};
use crate::definition::workflow::Phase;
use crate::event::fallback::FellBack;
use crate::event::{End, Event};
use crate::state::{Attempt, Frame, State};
use crate::words;

/// The next agent, where the phase names one that was not tried yet at this visit.
pub(super) fn fall_back(
    state: &State,
    frame: &Frame,
    phase: &Phase,
    broken: &Attempt,
    end: &End,
) -> Option<Event> {
    let to = next_agent(state, frame, phase)?.to_owned();
    let (place, attempt) = (frame.place(), broken.intent.attempt);
    let (from, said) = (named_agent(state, frame, phase), words::end(end));
    Some(Event::FellBack(FellBack { place, attempt, from, to, said }))
}

fn next_agent<'s>(state: &'s State, frame: &Frame, phase: &'s Phase) -> Option<&'s str> {
    let agents = &phase_of(state, frame, phase).fallback;
    // A run of a version that knew no fallback was started with the word that it is not kept. It stays without: its
    // lines must be decided as they were.
    if agents.is_empty() || is_unenforced(state) {
        return None;
    }
    let now = named_agent(state, frame, phase);
    // Each agent at most once per visit. A circle of agents that all fail would never reach a person.
    agents.iter().map(String::as_str).find(|it| *it != now && !frame.worker.has_fallen(it))
}

fn is_unenforced(state: &State) -> bool {
    let accepted = state.run.as_ref().map(|run| run.unenforced.iter());
    accepted.into_iter().flatten().any(|field| field.starts_with("`fallback`"))
}
