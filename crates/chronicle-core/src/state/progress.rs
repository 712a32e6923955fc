//! Progress, defined once: only new results count, and only so often per visit.
//!
//! New results are an accepted leaving signal, and a changed file, a finding or a task that did not exist before. Asking for help
//! or for an answer, and repeating something, do not count: a worker could do that for ever. What a worker produces counts at
//! most [`PROGRESS_MAX`] times per visit, so that every loop ends at a person. Every answer and note of a person renews the allowance:
//! with a new instruction a worker may have to repeat itself. A worker cannot renew it.

use serde::{Deserialize, Serialize};

use super::frame::{Still, is_zero};
use super::{Facts, Frame};
use crate::base::ids::{AttemptId, Cause, Place};
use crate::base::limits::PROGRESS_MAX;

/// How much of its allowance a visit has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// How often a new result counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted: u32,
    /// Number of helpers that were asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub followups: u32,
    /// Active time of finished attempts.
    #[serde(default)]
    pub worked_ms: u64,
    /// Up to this active time of the visit, new results reset the no-progress timer without being counted again.
    #[serde(default)]
    pub covered_ms: u64,
}

impl Progress {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// True if nothing that the worker does counts any more.
    pub(crate) fn is_used_up(&self) -> bool {
        self.counted >= PROGRESS_MAX
    }
}

/// When a result appeared, in active time of the visit.
#[derive(Clone, Copy)]
struct ProgressMoment {
    /// The event, while the attempt is live.
    since: Option<Cause>,
    /// Active time of that attempt; 0 once it has ended.
    active_ms: u64,
    /// How long one count covers: the phase's no-progress limit.
    window_ms: u64,
}

impl Facts {
    /// An attempt produced a new result: a finding, a task, or changed files.
    pub(super) fn get_on(&mut self, cause: Cause, id: AttemptId) {
        self.news(cause, id, Frame::get_on);
    }

    /// An agent reported a changed file. Whether it did is known only when files are recorded, so this forgives no earlier
    /// failure.
    pub(super) fn stir(&mut self, cause: Cause, id: AttemptId) {
        self.news(cause, id, |frame, moment| {
            frame.stir(moment);
        });
    }

    /// A person sent something to a worker: that always counts and uses up nothing.
    pub(super) fn spoken_to(&mut self, cause: Cause, id: AttemptId) {
        let from_ms = self.attempt(id).map_or(0, |attempt| attempt.active_ms);
        self.change_frame_of(id, |frame| {
            frame.worker.still = Still { since: Some(cause), from_ms, before_ms: 0 };
        });
    }

    /// A person answered or noted something at a place: whoever works there has all its chances again.
    pub(super) fn renew(&mut self, cause: Cause, place: &Place) {
        let path = place.frame();
        let mut live = self.live.iter().filter_map(|id| self.attempt(*id));
        let works = live.find(|it| it.intent.place == *place && it.intent.chore.is_none());
        // The time of who works now counts from here; that of ended attempts does not count at all.
        let still =
            works.map(|it| Still { since: Some(cause), from_ms: it.active_ms, before_ms: 0 });
        // Only while the frame is there: words about a phase that was left give nobody else another chance.
        if let Some(frame) = self.frames.get_mut(&path).filter(|frame| frame.place() == *place) {
            frame.forgive();
            frame.worker.still = still.unwrap_or_default();
        }
    }

    fn news(&mut self, cause: Cause, id: AttemptId, with: impl FnOnce(&mut Frame, ProgressMoment)) {
        let Some(attempt) = self.attempt(id) else { return };
        let place = attempt.intent.place.clone();
        let is_live = attempt.ended.is_none();
        let limit = self.phase_at(&place).and_then(|phase| phase.limits.standstill_ms);
        let moment = ProgressMoment {
            // A timer counts from this event only while the attempt works. What ended has no clock any more.
            since: is_live.then_some(cause),
            active_ms: if is_live { attempt.active_ms } else { 0 },
            window_ms: limit.unwrap_or(u64::MAX),
        };
        // An attempt may have ended in a frame that is gone by now.
        if let Some(frame) = self.frames.get_mut(&place.frame()) {
            with(frame, moment);
        }
    }
}

impl Frame {
    /// Resets earlier failures, if there are any and the allowance is not used up.
    fn get_on(&mut self, moment: ProgressMoment) {
        // Counted only where it forgives something. Progress without failures is what a worker is there for, and costs no
        // allowance.
        if self.worker.counters.has_failed() && self.count(moment) {
            self.worker.counters.progress();
        }
        self.stir(moment);
    }

    /// Restarts the no-progress timer and the watch for repeated calls. A stretch of work counts once, however much it produces.
    fn stir(&mut self, moment: ProgressMoment) {
        let at_ms = self.progress.worked_ms.saturating_add(moment.active_ms);
        // One count covers a whole stretch of work: a busy worker does not use up its ten in a few minutes.
        if at_ms < self.progress.covered_ms || self.count(moment) {
            self.worker.repeats.clear();
            let (since, from_ms) = (moment.since, moment.active_ms);
            self.worker.still = Still { since, from_ms, before_ms: 0 };
        }
    }

    fn count(&mut self, moment: ProgressMoment) -> bool {
        let progress = &mut self.progress;
        if progress.is_used_up() {
            return false;
        }
        progress.counted += 1;
        let at_ms = progress.worked_ms.saturating_add(moment.active_ms);
        progress.covered_ms = at_ms.saturating_add(moment.window_ms);
        true
    }

    /// Renews the worker's allowance.
    fn forgive(&mut self) {
        self.worker.progress();
        // Kept: the stretches of later progress are measured from the beginning of the visit.
        let worked_ms = self.progress.worked_ms;
        self.progress = Progress { worked_ms, ..Progress::default() };
    }
}
