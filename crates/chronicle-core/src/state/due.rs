//! What is due now. Derived each time, so that running and recovering are one path.

use super::{Attempt, State};
use crate::effect::{Action, Effect};
use crate::input::TimerKind;
use crate::limits::LEAVE_GRACE_MS;
use crate::tree::Moment;

impl State {
    /// Everything that should be going on.
    pub fn due(&self) -> Vec<Effect> {
        let attempts = self.live_attempts().flat_map(|attempt| self.due_for(attempt));
        attempts.chain(self.due_trees()).collect()
    }

    fn due_for(&self, attempt: &Attempt) -> Vec<Effect> {
        let id = attempt.intent.attempt;
        let stop = attempt.stop.is_some() || self.paused.is_some() || self.cancelled.is_some();
        if stop {
            return vec![Effect { cause: attempt.cause, action: Action::StopAttempt(id) }];
        }
        if let Some(cause) = self.trees.before.get(&id) {
            return vec![Effect { cause: *cause, action: Action::RecordTree(Moment::Before(id)) }];
        }
        let run = Effect { cause: attempt.cause, action: Action::RunAttempt(id) };
        std::iter::once(run).chain(self.timer_of(attempt)).collect()
    }

    /// Also while the run rests: what an attempt did is recorded before anybody else changes files.
    fn due_trees(&self) -> impl Iterator<Item = Effect> {
        let after = self.trees.after.iter().map(|(id, (cause, _))| Effect {
            cause: *cause,
            action: Action::RecordTree(Moment::After(*id)),
        });
        let undo = self.trees.undo.as_ref();
        after.chain(undo.map(|undo| Effect { cause: undo.cause, action: Action::RestoreTree }))
    }

    fn timer_of(&self, attempt: &Attempt) -> Option<Effect> {
        let id = attempt.intent.attempt;
        let timer = |timer, active_ms| Action::RunTimer { attempt: id, timer, active_ms };
        if let Some((_, cause)) = attempt.leave {
            return Some(Effect { cause, action: timer(TimerKind::Grace, LEAVE_GRACE_MS) });
        }
        let place = &attempt.intent.place;
        let timeout = self.phase_at(place)?.limits.timeout_ms?;
        // What earlier attempts of the same try used up does not come back with a restart.
        let used = self.frames.get(&place.frame())?.counters.active_ms;
        let left = timeout.saturating_sub(used);
        Some(Effect { cause: attempt.cause, action: timer(TimerKind::Timeout, left) })
    }
}
