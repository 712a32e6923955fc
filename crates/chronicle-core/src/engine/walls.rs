//! Walls that an attempt gets after all, and a worker that ran into its own.

use super::scratch::Scratch;
use crate::base::ids::AttemptId;
use crate::event::{AttemptRewalled, Event};

/// Most hits of one attempt that are recorded. A worker that runs against its wall again and again says nothing new.
const HITS_MAX: u32 = 50;

/// An attempt that was decided while nobody drove the run gets the walls of whoever starts it.
pub(super) fn again(scratch: &mut Scratch<'_>, id: AttemptId) {
    let state = scratch.state();
    let attempt = state.attempt(id).filter(|it| state.has_other_walls(it) && !state.has_begun(it));
    let Some(intent) = attempt.map(|it| &it.intent) else { return };
    let walls = state.walls_for(&intent.place, intent.chore.as_ref()).map(Box::new);
    let rewalled = AttemptRewalled { attempt: id, walls, handover: None };
    scratch.emit(Event::AttemptRewalled(rewalled));
}

pub(super) fn hit(scratch: &mut Scratch<'_>, id: AttemptId, call: Option<&str>, said: &str) {
    let attempt = scratch.state().attempt(id);
    let is_walled = |it: &crate::state::Attempt| {
        it.intent.walls.as_ref().is_some_and(|walls| walls.stand()) && it.wall_hits < HITS_MAX
    };
    if attempt.is_some_and(is_walled) {
        let (call, said) = (call.map(str::to_owned), said.to_owned());
        scratch.record(Event::WallHit { attempt: id, call, said });
    }
}
