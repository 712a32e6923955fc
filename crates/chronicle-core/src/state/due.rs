//! Effects that are due now. They are derived each time, so that running and recovering are the same path.

use super::budget;
use super::{Attempt, Facts, Held};
use crate::base::ids::{Cause, GateId, SHELL};
use crate::base::limits::{CLEANUP_MS, COMMANDS_MS, LEAVE_GRACE_MS, Limits};
use crate::event::input::TimerKind;
use crate::event::trees::Moment;
use crate::event::{Duty, Message};
use crate::state::effect::{Action, Effect};

impl Facts {
    /// Everything that should be in progress.
    pub fn due(&self) -> Vec<Effect> {
        // The end of a wait would start a worker, which neither a paused run nor one that was given up may do.
        let rests = self.paused.is_some() || self.is_given_up();
        let waits = self.waits().filter(|_| !rests).map(|(_, wait)| {
            let (attempt, until) = (wait.began.attempt, wait.began.until);
            Effect::of_run(wait.cause, Action::WaitUntil { attempt, until })
        });
        let attempts = self.live_attempts().flat_map(|attempt| self.due_for(attempt));
        attempts
            .chain(waits)
            .chain(self.due_trees())
            .chain(self.due_in_pools(rests))
            .chain(self.due_apart(rests))
            .chain(self.due_notices())
            .collect()
    }

    /// Notices are due even while the run rests, and after its end.
    fn due_notices(&self) -> impl Iterator<Item = Effect> {
        let owed = self.notices.owed.iter();
        owed.map(|owed| Effect::of_run(owed.cause, Action::Notify(owed.about)))
    }

    fn due_for(&self, attempt: &Attempt) -> Vec<Effect> {
        let id = attempt.intent.attempt;
        if self.stopping(attempt).is_some() {
            // Nothing else is due for an attempt that is being stopped: timers and messages would only be noise on its way out.
            return vec![attempt.effect(attempt.cause, Action::StopAttempt(id))];
        }
        let run = attempt.effect(attempt.cause, Action::RunAttempt(id));
        if attempt.awaits_room() {
            // It has not begun: none of its time passes, and its files are recorded once it has room.
            return vec![run];
        }
        if self.awaits_folder(attempt.intent.folder) {
            // Its folder was removed and is made again: nobody works, and nothing is recorded, before that.
            return Vec::new();
        }
        if let Some(cause) = self.trees.before.get(&id) {
            // The files before come first. A worker that had begun already could have changed them.
            return vec![Effect::of_run(*cause, Action::RecordTree(Moment::Before(id)))];
        }
        std::iter::once(run)
            .chain(self.timer_of(attempt))
            .chain(self.budget_timer_of(attempt))
            .chain(self.standstill_of(attempt))
            .chain(self.tool_timer_of(attempt))
            .chain(self.ask_timer_of(attempt))
            .chain(self.messages_to(attempt))
            .chain(self.verdicts_for(attempt))
            .collect()
    }

    /// Messages for a worker: answers that it waits for, and notes. None while it leaves; commands receive none.
    fn messages_to(&self, attempt: &Attempt) -> impl Iterator<Item = Effect> {
        let id = attempt.intent.attempt;
        // Who is leaving would not read it any more; the next worker gets it in its handover.
        let hears = !attempt.is_leaving() && attempt.intent.agent != SHELL;
        // Nor who has no slot: told now, it would work beside those who have them.
        let hears = hears && !self.lacks_slot(&attempt.intent.place.frame());
        let is_answered = |gate: &GateId| self.gate(*gate).is_some_and(|it| it.answered.is_some());
        let answers = attempt.asking.iter().map(|(_, gate)| *gate).filter(is_answered);
        let frame = self.frames.get(&attempt.intent.place.frame());
        let notes = frame.into_iter().flat_map(|frame| &frame.notes);
        let notes = notes.filter(|note| note.told.is_none()).map(|note| Message::Note(note.id));
        let wall = attempt.owes_wall_words().then_some(Message::Wall);
        let all: Vec<Message> = answers.map(Message::Answer).chain(notes).chain(wall).collect();
        all.into_iter()
            .filter(move |_| hears)
            .map(move |message| attempt.effect(attempt.cause, Action::Tell(id, message)))
    }

    /// Verdicts on calls that waited. Also while it leaves: its turn cannot end before its calls have.
    fn verdicts_for(&self, attempt: &Attempt) -> impl Iterator<Item = Effect> {
        let id = attempt.intent.attempt;
        let is_decided = |held: &&Held| {
            let is_ruled = || self.ruling_on(attempt, held).is_some();
            held.verdict.is_some() || attempt.is_leaving() || is_ruled()
        };
        let may_go_on = attempt.is_leaving() || !self.lacks_slot(&attempt.intent.place.frame());
        let decided = attempt.held.iter().filter(move |_| may_go_on).filter(is_decided);
        let decided = decided.map(|held| held.gate);
        decided.map(move |gate| {
            attempt.effect(attempt.cause, Action::Tell(id, Message::Verdict(gate)))
        })
    }

    /// Fires when a call has waited for a person for too long: the one that waits longest.
    fn ask_timer_of(&self, attempt: &Attempt) -> Option<Effect> {
        let held = self.undecided(attempt).next().filter(|_| !attempt.is_leaving())?;
        let limit = self.phase_at(&attempt.intent.place)?.limits.ask_ms?;
        // By the times of lines: a person's time is nobody's active time.
        let waited = self.updated_at.0.saturating_sub(held.at.0);
        let left = limit.saturating_sub(waited);
        Some(attempt.effect(held.since, attempt.timer(TimerKind::Ask, left)))
    }

    /// Trees are due even while the run rests: an attempt's changes are recorded before anything else changes files.
    fn due_trees(&self) -> impl Iterator<Item = Effect> {
        let after =
            self.trees.after.iter().map(|(id, (cause, _))| {
                Effect::of_run(*cause, Action::RecordTree(Moment::After(*id)))
            });
        let undo = self.trees.undo();
        after.chain(undo.map(|(_, undo)| Effect::of_run(undo.cause, Action::RestoreTree)))
    }

    /// Fires when the time budget is used up; restarts after each raise.
    fn budget_timer_of(&self, attempt: &Attempt) -> Option<Effect> {
        // A person takes as long as they take, and chores spend nothing.
        if self.is_asking(attempt) || attempt.duty().is_some() {
            return None;
        }
        let left = budget::time_left_ms(self, &attempt.intent.place)?;
        // A timer is known by its cause. After a raise it must be another timer, or the old deadline would stay in force.
        let cause = self.budgets.raised_by().unwrap_or(attempt.cause).max(attempt.cause);
        Some(attempt.effect(cause, attempt.timer(TimerKind::Budget, left)))
    }

    /// Fires when the work has made no progress for too long; restarts with each progress. Commands have no such timer.
    fn standstill_of(&self, attempt: &Attempt) -> Option<Effect> {
        let is_work = attempt.duty().is_none() && attempt.intent.agent != SHELL;
        if !is_work || attempt.is_leaving() || self.is_asking(attempt) {
            return None;
        }
        let since = self.frames.get(&attempt.intent.place.frame())?.worker.still.since;
        // The later one identifies the timer: progress gives it another deadline, and so does another attempt.
        let cause = since.unwrap_or(attempt.cause).max(attempt.cause);
        let active_ms = self.still_left_ms(attempt)?;
        Some(attempt.effect(cause, attempt.timer(TimerKind::Standstill, active_ms)))
    }

    /// Fires when the longest open call has been open for too long.
    fn tool_timer_of(&self, attempt: &Attempt) -> Option<Effect> {
        if attempt.is_leaving() || self.is_asking(attempt) {
            return None;
        }
        let open = attempt.open_call()?;
        let limit = self.phase_at(&attempt.intent.place)?.limits.tool_ms?;
        // What the call has used so far, as far as it is on record: after a restart the timer continues instead of starting
        // over.
        let left = limit.saturating_sub(attempt.active_ms.saturating_sub(open.from_ms));
        Some(attempt.effect(open.since, attempt.timer(TimerKind::Tool, left)))
    }

    /// How long an attempt may continue without progress, in milliseconds; `None` for no limit.
    pub(crate) fn still_left_ms(&self, attempt: &Attempt) -> Option<u64> {
        let place = &attempt.intent.place;
        let limit = self.phase_at(place)?.limits.standstill_ms?;
        let frame = self.frames.get(&place.frame())?;
        Some(limit.saturating_sub(frame.worker.still.ms(attempt.active_ms)))
    }

    fn grace_ms(&self, attempt: &Attempt) -> u64 {
        let phase = self.phase_at(&attempt.intent.place);
        phase.map_or(LEAVE_GRACE_MS, |phase| phase.limits.grace_ms)
    }

    fn timer_of(&self, attempt: &Attempt) -> Option<Effect> {
        let left = attempt.leave.as_ref().map(|(_, cause)| *cause);
        if let Some(cause) = left.or(attempt.parting.as_ref().map(|(_, cause)| *cause)) {
            // Replaces the time limit of the work: the work is done, and what remains is to end the turn.
            let grace = attempt.timer(TimerKind::Grace, self.grace_ms(attempt));
            return Some(attempt.effect(cause, grace));
        }
        // A person takes as long as they take.
        if self.is_asking(attempt) {
            return None;
        }
        let place = &attempt.intent.place;
        let limits = self.phase_at(place).map(|phase| &phase.limits);
        // Without a phase to ask, commands still have a limit: nothing may run for ever.
        let of_commands = limits.map_or(Some(COMMANDS_MS), Limits::commands_ms);
        let timeout = match attempt.duty() {
            Some(Duty::Cleanup) => CLEANUP_MS,
            Some(Duty::Verify) => of_commands?,
            None if attempt.intent.agent == SHELL => of_commands?,
            None => limits?.timeout_ms?,
        };
        // What earlier attempts of the same try used up does not come back with a restart.
        let used = match attempt.duty() {
            Some(_) => 0,
            None => self.frames.get(&place.frame())?.worker.counters.active_ms,
        };
        let left = timeout.saturating_sub(used).saturating_sub(attempt.active_ms);
        Some(attempt.effect(attempt.cause, attempt.timer(TimerKind::Timeout, left)))
    }
}

impl Attempt {
    /// An effect of an attempt, assigned to its performer.
    fn effect(&self, cause: Cause, action: Action) -> Effect {
        Effect { cause, by: self.intent.performer, action }
    }

    fn timer(&self, timer: TimerKind, active_ms: u64) -> Action {
        Action::RunTimer { attempt: self.intent.attempt, timer, active_ms }
    }
}
