//! What workers may be told of steps: what is in the project, and what they build on. Steps beside theirs are none of their concern.

use std::collections::BTreeSet;

use super::pool::Pool;
use super::step::{PoolStep, StepStage};
use super::{Facts, works_apart};
use crate::base::ids::{FramePath, Place, StepId};

impl Facts {
    /// True if a worker of a frame may be told what was done at a place. In a step, that is what came before its pool, what the steps
    /// before it handed over, and its own; anywhere else, what was merged.
    pub fn may_know(&self, reader: &FramePath, place: &Place) -> bool {
        let Some((at, pool, id)) = self.step_around(place) else { return true };
        let Some((around, _, own)) = self.step_at(reader) else {
            return self.is_in_project(at, pool, &id);
        };
        if around != at {
            return self.is_in_project(at, pool, &id);
        }
        own.id == id || pool.merged.contains(&id) || pool.builds_on(own, &id)
    }

    /// True if what a person said at a place is for a worker of a frame too: not if it was said to a step beside its own.
    pub fn may_hear(&self, reader: &FramePath, place: &Place) -> bool {
        let Some((at, _, id)) = self.step_around(place) else { return true };
        match self.step_at(reader) {
            Some((around, pool, own)) if around == at => own.id == id || pool.builds_on(own, &id),
            Some(_) | None => true,
        }
    }

    /// The pool and the id of the step that a frame belongs to, also of pools that were left and of steps that their last plan dropped.
    fn step_around(&self, place: &Place) -> Option<(&Place, &Pool, StepId)> {
        let frame = place.frame();
        let inside = self.pools.iter().find_map(|(at, pool)| {
            let rest = frame.as_str().strip_prefix(at.as_str())?.strip_prefix('/')?;
            let id = rest.split('/').next().filter(|id| !id.is_empty())?;
            Some((at, &**pool, StepId::new(id)))
        });
        // What is said to a step before it begins is said at the step itself.
        inside.or_else(|| {
            let (at, pool, step) = self.step_called(place)?;
            Some((at, pool, step.id.clone()))
        })
    }

    fn is_in_project(&self, at: &Place, pool: &Pool, id: &StepId) -> bool {
        let is_apart = self.phase_at(at).is_none_or(works_apart);
        let step = pool.step(id);
        // Who works on the project's own files needs no merge.
        let is_there = |step: &PoolStep| {
            step.stage == StepStage::Done || step.folder.is_some_and(|folder| folder.is_project())
        };
        !is_apart || pool.merged.contains(id) || step.is_some_and(is_there)
    }
}

impl Pool {
    /// True if a step needs another one, directly or not, and that is merged.
    fn builds_on(&self, step: &PoolStep, other: &StepId) -> bool {
        let mut wanted: BTreeSet<&str> = step.item.depends_on.iter().map(String::as_str).collect();
        for it in self.in_order().into_iter().rev() {
            if wanted.contains(it.item.id.as_str()) {
                wanted.extend(it.item.depends_on.iter().map(String::as_str));
            }
        }
        wanted.contains(other.as_str())
            && self.step(other).is_some_and(|other| other.stage == StepStage::Done)
    }
}
