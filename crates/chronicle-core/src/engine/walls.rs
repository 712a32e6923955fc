//! A worker that ran into its wall.

use super::scratch::Scratch;
use crate::base::ids::AttemptId;
use crate::event::Event;

/// Most hits of one attempt that are recorded. A worker that runs against its wall again and again says nothing new.
const HITS_MAX: u32 = 50;

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
