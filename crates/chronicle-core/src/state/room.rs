//! Attempts that wait until there is room for them on the machine.

use super::{Attempt, Facts};
use crate::base::ids::{AttemptId, Cause};
use crate::base::time::Millis;
use crate::event::room::RoomAwaited;

impl Facts {
    /// An attempt waits before it begins. None of its time passes.
    pub(super) fn await_room(&mut self, cause: Cause, awaited: &RoomAwaited) {
        let mut intent = None;
        self.change(awaited.attempt, |attempt| {
            attempt.room = Some(awaited.limit.clone());
            intent = Some(attempt.intent.clone());
        });
        if let Some(intent) = intent.filter(|it| self.live.contains(&it.attempt)) {
            // Somebody may change files while it waits, and that must not be taken for its work.
            self.trees.begin_again(cause, &intent);
        }
    }

    /// The attempt begins now.
    pub(super) fn take_room(&mut self, at: Millis, id: AttemptId) {
        self.change(id, |attempt| {
            attempt.room = None;
            attempt.started_at = at;
        });
    }
}

impl Attempt {
    /// True if it has not begun, since others have to end first.
    pub fn awaits_room(&self) -> bool {
        self.room.is_some()
    }
}
