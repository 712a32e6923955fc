//! An agent that works although it did not prove that it has its tools judged.

use super::scratch::Scratch;
use crate::base::ids::AttemptId;
use crate::event::Event;

/// Recorded once per attempt.
pub(super) fn work_unproven(scratch: &mut Scratch<'_>, id: AttemptId, why: &str) {
    let known = scratch.state().unproven.as_ref();
    if known.is_none_or(|unproven| unproven.attempt != id) {
        scratch.record(Event::GuardUnproven { attempt: id, why: why.to_owned() });
    }
}
