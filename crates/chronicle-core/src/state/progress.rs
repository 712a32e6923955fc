//! Progress, defined once: only what is new counts, and only so often at one visit.
//!
//! New are an accepted leaving signal, and a changed file, a finding or a task that was not there before. Asking for help or for
//! an answer, and saying the same again, are not: a worker could do that for ever. Whatever a worker produces for itself counts at
//! most [`PROGRESS_MAX`] times per visit, so that every loop ends at a person. Their answer gives a new allowance.

use serde::{Deserialize, Serialize};

use super::frame::{Still, is_zero};
use super::{Facts, Frame};
use crate::base::ids::{AttemptId, Cause};
use crate::base::limits::PROGRESS_MAX;

/// What a visit has used of its allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// How often something new counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted: u32,
    /// How many helpers were asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub followups: u32,
    /// Active time of attempts that have ended.
    #[serde(default)]
    pub worked_ms: u64,
    /// Up to this active time of the visit, what is new ends a standstill without counting again.
    #[serde(default)]
    pub covered_ms: u64,
}

impl Progress {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing that the worker does counts any more.
    pub(crate) fn is_used_up(&self) -> bool {
        self.counted >= PROGRESS_MAX
    }
}

/// When something new came, in the time of the visit's work.
#[derive(Clone, Copy)]
struct Moment {
    /// The event, while the attempt works.
    since: Option<Cause>,
    /// Active time of that attempt; 0 once it has ended.
    active_ms: u64,
    /// How long one count covers: the time that the phase may stand still.
    window_ms: u64,
}

impl Facts {
    /// Something new was seen of an attempt's work: a finding, a task, or changed files.
    pub(super) fn get_on(&mut self, cause: Cause, id: AttemptId) {
        self.news(cause, id, Frame::get_on);
    }

    /// An agent says that it changed a file. Whether it did is known when the files are recorded: until then nothing that went
    /// wrong is forgiven for it.
    pub(super) fn stir(&mut self, cause: Cause, id: AttemptId) {
        self.news(cause, id, |frame, moment| {
            frame.stir(moment);
        });
    }

    /// A person spoke to a worker: that always counts, and uses nothing up.
    pub(super) fn spoken_to(&mut self, cause: Cause, id: AttemptId) {
        let from_ms = self.attempt(id).map_or(0, |attempt| attempt.active_ms);
        self.change_frame_of(id, |frame| {
            frame.worker.still = Still { since: Some(cause), from_ms, before_ms: 0 };
        });
    }

    fn news(&mut self, cause: Cause, id: AttemptId, with: impl FnOnce(&mut Frame, Moment)) {
        let Some(attempt) = self.attempt(id) else { return };
        let place = attempt.intent.place.clone();
        let is_live = attempt.ended.is_none();
        let limit = self.phase_at(&place).and_then(|phase| phase.limits.standstill_ms);
        let moment = Moment {
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
    /// Forgives what went wrong before, if there is anything to forgive and the allowance is not used up.
    fn get_on(&mut self, moment: Moment) {
        if self.worker.counters.has_failed() && self.count(moment) {
            self.worker.counters.progress();
        }
        self.stir(moment);
    }

    /// Begins the standstill and the watch for repeated calls anew. A stretch of work counts once, however much comes of it.
    fn stir(&mut self, moment: Moment) {
        let at_ms = self.progress.worked_ms.saturating_add(moment.active_ms);
        if at_ms < self.progress.covered_ms || self.count(moment) {
            self.worker.repeats.clear();
            let (since, from_ms) = (moment.since, moment.active_ms);
            self.worker.still = Still { since, from_ms, before_ms: 0 };
        }
    }

    fn count(&mut self, moment: Moment) -> bool {
        let progress = &mut self.progress;
        if progress.is_used_up() {
            return false;
        }
        progress.counted += 1;
        let at_ms = progress.worked_ms.saturating_add(moment.active_ms);
        progress.covered_ms = at_ms.saturating_add(moment.window_ms);
        true
    }

    /// A person decided what becomes of the visit: whatever a worker used up is forgiven.
    pub(super) fn forgive(&mut self) {
        self.worker.progress();
        let worked_ms = self.progress.worked_ms;
        self.progress = Progress { worked_ms, ..Progress::default() };
    }
}
