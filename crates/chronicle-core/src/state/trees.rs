//! What a run knows of its trees: which are awaited, and those that what follows is compared with.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::base::ids::{AttemptId, Cause, FramePath, Place, TreeId};
use crate::base::limits::PROGRESS_TREES_MAX;
use crate::event::tree::{Changes, Moment, TreeRecorded};
use crate::event::{AttemptStarted, Event};

/// The trees of a run, as far as anything still depends on them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trees {
    /// The last one, and the line that has it.
    pub last: Option<(TreeId, u64)>,
    /// Attempts that begin once the files are recorded.
    pub before: BTreeMap<AttemptId, Cause>,
    /// The files before each attempt that is not quite over.
    pub known: BTreeMap<AttemptId, TreeId>,
    /// Attempts that have ended, and where: nothing follows there until the files are recorded.
    pub after: BTreeMap<AttemptId, (Cause, Place)>,
    /// Files that are being put back.
    pub undo: Option<Undo>,
    /// Why the last tree could not be recorded.
    pub missed: Option<String>,
}

/// Files that are being put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The event that made it due.
    pub cause: Cause,
    /// The files as they are to be.
    pub to: TreeId,
}

impl Trees {
    /// Whether nothing may follow in that frame before the files are recorded.
    pub fn is_awaited_at(&self, frame: &FramePath) -> bool {
        self.after.values().any(|(_, place)| place.frame() == *frame)
    }

    /// Whether a tree is waited for.
    pub fn is_awaited(&self, moment: Moment) -> bool {
        match moment {
            Moment::Before(attempt) => self.before.contains_key(&attempt),
            Moment::After(attempt) => self.after.contains_key(&attempt),
            Moment::Undo => self.undo.is_none(),
        }
    }

    /// Whether files are to be recorded after an attempt, or put back.
    pub fn is_busy(&self) -> bool {
        !self.after.is_empty() || self.undo.is_some()
    }

    /// What a new tree is compared with: the attempt's own, else the last of the run.
    pub fn base(&self, moment: Moment) -> Option<&TreeId> {
        let own = match moment {
            Moment::After(attempt) => self.known.get(&attempt),
            Moment::Before(_) | Moment::Undo => None,
        };
        own.or_else(|| self.last.as_ref().map(|(tree, _)| tree))
    }

    /// Where nothing happened since the last tree, it is the new attempt's too.
    pub(super) fn begin(&mut self, cause: Cause, intent: &AttemptStarted) {
        if !intent.recorded {
            return;
        }
        match &self.last {
            Some((tree, seq)) if *seq == cause.seq => {
                self.known.insert(intent.attempt, tree.clone());
            }
            Some(_) | None => {
                self.before.insert(intent.attempt, cause);
            }
        }
    }

    /// An attempt that never began leaves nothing to record.
    pub(super) fn end(&mut self, cause: Cause, intent: &AttemptStarted) {
        let never_began = self.before.remove(&intent.attempt).is_some();
        if intent.recorded && !never_began {
            self.after.insert(intent.attempt, (cause, intent.place.clone()));
        }
    }

    fn settle(&mut self, moment: Moment) -> Option<Place> {
        match moment {
            Moment::Before(attempt) => {
                self.before.remove(&attempt);
                None
            }
            Moment::After(attempt) => {
                self.known.remove(&attempt);
                self.after.remove(&attempt).map(|(_, place)| place)
            }
            Moment::Undo => None,
        }
    }
}

impl Facts {
    /// What an attempt did to files: none until it has ended and they are recorded, or if they could not be.
    pub fn changes_of(&self, attempt: AttemptId) -> Option<&Changes> {
        self.attempt(attempt)?.changes.as_deref()
    }

    /// What all attempts at a place did to files, over all visits; none where nothing is known to have changed.
    pub fn changes_at(&self, place: &Place) -> Option<&Changes> {
        self.tally(place).map(|tally| &tally.changes).filter(|changes| !changes.is_none())
    }

    /// Takes in what is about trees.
    pub(super) fn apply_tree(&mut self, cause: Cause, event: &Event) {
        match event {
            Event::TreeRecorded(recorded) => self.record_tree(cause, recorded),
            Event::TreeMissed { moment, why } => self.miss_tree(*moment, why),
            Event::UndoStarted { to, .. } => {
                self.trees.undo = Some(Undo { cause, to: to.clone() });
            }
            Event::UndoEnded { .. } => self.trees.undo = None,
            _ => {}
        }
    }

    fn record_tree(&mut self, cause: Cause, recorded: &TreeRecorded) {
        let place = self.trees.settle(recorded.moment);
        self.trees.missed = None;
        self.trees.last = Some((recorded.tree.clone(), cause.seq));
        if let Moment::Before(attempt) = recorded.moment {
            self.trees.known.insert(attempt, recorded.tree.clone());
        }
        if let Moment::After(attempt) = recorded.moment {
            let changes = Some(Arc::new(recorded.changes.clone()));
            self.change(attempt, |attempt| attempt.changes = changes);
        }
        // What verifies or puts away is nobody's work, and no progress.
        let is_work = |attempt| self.attempt(attempt).is_none_or(|it| it.duty().is_none());
        let counts = !matches!(recorded.moment, Moment::After(attempt) if !is_work(attempt));
        if let Some(frame) = place.as_ref().and_then(|it| self.frames.get_mut(&it.frame()))
            && counts
        {
            frame.evidence.recorded(!recorded.changes.is_none());
        }
        if let Some(place) = place
            && counts
            && !recorded.changes.is_none()
        {
            self.tally_mut(&place).changes.then(&recorded.changes);
            if let Some(frame) = self.frames.get_mut(&place.frame()) {
                frame.change();
            }
        }
    }

    fn miss_tree(&mut self, moment: Moment, why: &str) {
        self.trees.settle(moment);
        self.trees.missed = Some(why.to_owned());
    }
}

impl super::Frame {
    /// Changed files are progress, but not for ever: whoever changes files and never signals is stuck all the same.
    fn change(&mut self) {
        let worker = &mut self.worker;
        if worker.counters.changes < PROGRESS_TREES_MAX {
            worker.counters.changes += 1;
            worker.progress();
        }
    }
}
