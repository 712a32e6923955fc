//! Attempts that wait until there is room for them on the machine.

use super::scratch::Scratch;
use crate::base::ids::AttemptId;
use crate::event::Event;
use crate::event::room::{RoomAwaited, RoomLimit};

/// Recorded once for each limit in a row. Whoever takes over the run finds the same limit again and reports it again.
pub(super) fn awaited(scratch: &mut Scratch<'_>, id: AttemptId, limit: &RoomLimit) {
    let state = scratch.state();
    let is_news =
        state.attempt(id).is_some_and(|it| !state.has_begun(it) && it.room.as_ref() != Some(limit));
    if is_news {
        let limit = limit.clone();
        scratch.record(Event::RoomAwaited(RoomAwaited { attempt: id, limit }));
    }
}

/// Only of an attempt that is known to wait: where there is room at once, nothing is said about it. Also while it is being stopped:
/// a pause may be taken back before its performer hears of it.
pub(super) fn taken(scratch: &mut Scratch<'_>, id: AttemptId) {
    if scratch.state().attempt(id).is_some_and(|it| it.room.is_some()) {
        scratch.record(Event::RoomTaken { attempt: id });
    }
}
