//! What a state drops, so that it stays small however long the run: the ledger keeps everything.
//!
//! Sums and counts were taken before (`tally.rs`). The latest entries are kept, and whatever a decision may still need.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Facts, Frame, Stage};
use crate::base::ids::{AttemptId, SessionId};
use crate::base::limits::{HANDOVER_SUMMARIES_MAX, KEPT_MAX};

impl Facts {
    /// Keeps live attempts, those whose end a frame has not handled yet, and those whose changes are still being recorded: in a pool,
    /// many others may end meanwhile.
    pub(super) fn forget_attempts(&mut self) {
        let (frames, after) = (&self.frames, &self.trees.after);
        let is_awaited = |id| {
            after.contains_key(&id)
                || frames.values().any(|frame| frame.stage.attempt() == Some(id))
        };
        // The limit holds for ended ones only: what is needed stays, however many there are.
        self.attempts.forget(KEPT_MAX, |_, attempt| {
            // An attempt whose end still decides what follows must be known, however old it is.
            attempt.ended.is_none() || is_awaited(attempt.intent.attempt)
        });
        self.forget_sessions();
    }

    /// If there are too many sessions, keeps those that a known attempt or a frame may still add to.
    pub(super) fn forget_sessions(&mut self) {
        // Looked at now and then, since finding out which are needed goes over all frames and attempts.
        if self.sessions.len() <= 2 * KEPT_MAX {
            return;
        }
        let attempts = self.attempts.iter().map(|attempt| &attempt.intent.session);
        let frames = self.frames.values().flat_map(Frame::sessions);
        let needed: BTreeSet<&SessionId> = attempts.chain(frames).collect();
        Arc::make_mut(&mut self.sessions).retain(|session, _| needed.contains(session));
    }

    /// Keeps the visits that frames are at.
    pub(super) fn forget_visits(&mut self) {
        let (places, frames) = (&self.places, &self.frames);
        self.visits.forget(KEPT_MAX, |number, visit| {
            let is_last = || places.get(&visit.place).is_some_and(|it| it.last_visit == number);
            let frame = || frames.get(&visit.place.frame());
            // Only the visit that a frame is still in is needed. One that was broken off by `go` is over, even if nothing
            // left it.
            visit.left.is_none()
                && is_last()
                && frame().is_some_and(|frame| frame.phase == visit.place.phase())
        });
    }

    /// Keeps open gates, questions of current visits, and the latest gates at which people said something.
    pub(super) fn forget_gates(&mut self) {
        let noted = self.gates.iter().rev().filter(|gate| !gate.note.trim().is_empty());
        let told: Vec<_> =
            noted.take(HANDOVER_SUMMARIES_MAX).map(|gate| gate.opened.gate).collect();
        let frames = &self.frames;
        let is_asked = |id| frames.values().any(|frame| frame.questions.contains(&id));
        let attempts = self.live.iter().filter_map(|id| self.attempt(*id));
        // The gate of a call that waits has the call itself.
        let held: BTreeSet<_> =
            attempts.flat_map(|attempt| attempt.held.iter().map(|held| held.gate)).collect();
        self.gates.forget(KEPT_MAX, |_, gate| {
            let id = gate.opened.gate;
            // Open gates wait for a person, however long. Those with a note are still told in handovers.
            gate.answered.is_none() || told.contains(&id) || is_asked(id) || held.contains(&id)
        });
    }
}

impl Stage {
    /// The attempt that this stage is about.
    fn attempt(&self) -> Option<AttemptId> {
        match self {
            Self::Working { attempt }
            | Self::Broken { attempt, .. }
            | Self::Chore { attempt, .. } => Some(*attempt),
            Self::Gated { held, .. } => held.attempt(),
            Self::Waiting { wait } => Some(wait.began.attempt),
            Self::Bound
            | Self::Entered { .. }
            | Self::Ready { .. }
            | Self::Left(_)
            | Self::BrokeOff { .. }
            | Self::Refused { .. }
            | Self::Inside
            | Self::Ended(_) => None,
        }
    }
}
