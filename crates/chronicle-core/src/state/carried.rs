//! Positions: derived from a state, and entered again.

use std::sync::Arc;

use super::{Departure, EdgeCount, Facts, Frame, Note, Stage, v1};
use crate::base::ids::{Cause, DONE, FramePath, Outcome, PhaseId, Place, REWOUND};
use crate::base::time::Millis;
use crate::event::carried::{Carried, CarriedEdge, CarriedFrame, CarriedVisit};

impl Facts {
    /// The current position; whatever is in progress would begin again there.
    pub fn carried(&self) -> Carried {
        // A pool begins again as a whole: where its steps were is no part of a position.
        let frames = self.frames.values().filter(|frame| self.step_at(&frame.path).is_none());
        Carried {
            frames: frames.clone().map(|frame| self.carried_frame(frame)).collect(),
            snapshot: (*self.snapshot).clone(),
            edges: frames.flat_map(Frame::carried_edges).collect(),
            visits: Vec::new(),
        }
    }

    /// Moves to a position. Everything open is closed first, and spending stays.
    pub(super) fn rewind(&mut self, cause: Cause, at: Millis, carried: &Carried) {
        // Worked out before the frames are replaced: what they would have put away is still to be put away.
        let behind = self.left_behind_all();
        self.leave_all(carried.phase());
        self.leave_pools(cause, &FramePath::root());
        self.enter_carried(at, carried);
        if let Some(frame) = carried.innermost().filter(|_| !behind.is_empty()) {
            self.change_frame(&frame.frame, |frame| frame.behind = behind);
        }
        self.forget_attempts();
    }

    /// Enters a position. Undelivered notes stay with their frame.
    pub(super) fn enter_carried(&mut self, at: Millis, carried: &Carried) {
        // All frames go, also those that the position does not have. Of the old ones only undelivered notes are taken over.
        let mut before = std::mem::take(&mut self.frames);
        let mut notes = |path: &FramePath| -> Vec<Note> {
            let notes = before.remove(path).map(|frame| frame.notes).unwrap_or_default();
            notes.into_iter().filter(|note| note.told.is_none()).collect()
        };
        for visit in &carried.visits {
            let CarriedVisit { place, to, outcome, summary } = visit.clone();
            self.begin_visit(at, &place);
            self.depart(&place, Departure { to, outcome, summary });
        }
        for it in &carried.frames {
            let frame = Frame {
                at: it.at.clone().or_else(|| v1::at(&it.frame)),
                step: it.step.clone(),
                folder: it.folder,
                task: it.task.clone(),
                summary: it.summary.clone(),
                said: it.said.clone(),
                plan: it.plan.as_deref().cloned().map(Arc::new),
                notes: notes(&it.frame),
                ..Frame::new(it.frame.clone(), &it.workflow, it.phase.clone())
            };
            self.frames.insert(it.frame.clone(), frame);
        }
        for edge in &carried.edges {
            let CarriedEdge { from, to, taken, .. } = edge.clone();
            let count = EdgeCount { from, to, taken };
            self.change_frame(&edge.frame, |frame| {
                frame.edges.push(count.clone());
                // Moves are counted apart from edges: limits are reset by a person, what other programs are shown is not.
                frame.moves.push(count);
            });
        }
        self.snapshot = Arc::new(carried.snapshot.clone());
        // After all frames are in place, since entering a phase changes its frame.
        for it in carried.frames.iter().filter(|it| it.inside) {
            self.enter_phase(at, &it.frame.place(&it.phase));
            self.change_frame(&it.frame, Frame::go_inside);
        }
    }

    fn carried_frame(&self, frame: &Frame) -> CarriedFrame {
        let is_pool = self.pools.contains_key(&frame.place());
        CarriedFrame { inside: frame.stage == Stage::Inside && !is_pool, ..frame.carried() }
    }

    /// Closes every open visit.
    fn leave_all(&mut self, to: Option<&PhaseId>) {
        let to = to.cloned().unwrap_or_else(|| PhaseId::from(DONE));
        let (outcome, summary) = (Outcome::from(REWOUND), String::new());
        let departure = Departure { to, outcome, summary };
        let places: Vec<Place> = self.frames.values().map(Frame::place).collect();
        for place in places {
            let goes_on = self.tally(&place).is_some_and(|it| it.visits > 0 && !it.is_left);
            if goes_on {
                self.depart(&place, departure.clone());
            }
        }
    }
}

impl Frame {
    fn carried(&self) -> CarriedFrame {
        let is_over = matches!(self.stage, Stage::Ended(_));
        // A position at the end stays at the end, whatever the last phase was.
        let phase = if is_over { PhaseId::from(DONE) } else { self.phase.clone() };
        CarriedFrame {
            frame: self.path.clone(),
            at: self.at.clone(),
            step: self.step.clone(),
            folder: self.folder,
            workflow: self.workflow.clone(),
            phase,
            inside: false,
            task: self.task.clone(),
            summary: self.summary.clone(),
            said: self.said.clone(),
            plan: self.plan.as_deref().cloned().map(Box::new),
        }
    }

    fn carried_edges(&self) -> Vec<CarriedEdge> {
        let frame = || self.path.clone();
        let edge = |EdgeCount { from, to, taken }| CarriedEdge { frame: frame(), from, to, taken };
        self.edges.iter().cloned().map(edge).collect()
    }
}
