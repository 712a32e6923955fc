//! Which trees a run has, and between which two of them a phase, an attempt or a person worked.

use std::collections::BTreeMap;

use crate::base::ids::{AttemptId, Place, TreeId};
use crate::event::Event;
use crate::event::record::Line;
use crate::event::trees::Moment;

/// Every tree of a run, in order: a fold of its lines.
#[derive(Debug, Clone, Default)]
pub struct TreeBook {
    /// Each tree, with its line, and whether people may have changed files before it.
    marks: Vec<Mark>,
    attempts: Vec<Worked>,
    /// The line at which each place was entered last.
    entered: BTreeMap<Place, u64>,
    /// The last undo: the files before it, and after it.
    undo: Option<(TreeId, TreeId)>,
}

#[derive(Debug, Clone)]
struct Mark {
    seq: u64,
    tree: TreeId,
    by_people: bool,
}

#[derive(Debug, Clone)]
struct Worked {
    attempt: AttemptId,
    place: Place,
    seq: u64,
    before: Option<TreeId>,
    after: Option<TreeId>,
}

/// Two trees. What is missing at the end is the present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The files before.
    pub from: TreeId,
    /// The files after; none while that is still to come.
    pub to: Option<TreeId>,
    /// The line of the first tree.
    pub since: u64,
}

impl TreeBook {
    /// Takes in one line of the ledger.
    pub fn add(&mut self, line: &Line) {
        for event in &line.events {
            if let Event::PhaseEntered { place } = event {
                self.entered.insert(place.clone(), line.seq);
            } else if let Event::AttemptStarted(intent) = event {
                let last = self.marks.last().filter(|mark| mark.seq == line.seq);
                self.attempts.push(Worked {
                    attempt: intent.attempt,
                    place: intent.place.clone(),
                    seq: line.seq,
                    before: last.map(|mark| mark.tree.clone()),
                    after: None,
                });
            } else if let Event::TreeRecorded(recorded) = event {
                self.mark(line.seq, &recorded.tree, recorded.moment);
            } else if let Event::UndoStarted { from, to, .. } = event {
                self.undo = Some((from.clone(), to.clone()));
                self.marks.push(Mark { seq: line.seq, tree: to.clone(), by_people: false });
            }
        }
    }

    fn mark(&mut self, seq: u64, tree: &TreeId, moment: Moment) {
        let by_people = !matches!(moment, Moment::After(_));
        self.marks.push(Mark { seq, tree: tree.clone(), by_people });
        let of = |attempts: &mut Vec<Worked>, id| {
            attempts.iter().rposition(|worked| worked.attempt == id)
        };
        match moment {
            Moment::Before(id) => {
                if let Some(index) = of(&mut self.attempts, id) {
                    self.attempts[index].before = Some(tree.clone());
                }
            }
            Moment::After(id) => {
                if let Some(index) = of(&mut self.attempts, id) {
                    self.attempts[index].after = Some(tree.clone());
                }
            }
            Moment::Undo => {}
        }
    }

    /// From the first tree of the run on.
    pub fn run(&self) -> Option<Span> {
        let first = self.marks.first()?;
        Some(Span { from: first.tree.clone(), to: self.latest(), since: first.seq })
    }

    /// What came after a line.
    pub fn since(&self, seq: u64) -> Option<Span> {
        let before = self.marks.iter().rev().find(|mark| mark.seq <= seq);
        let from = before.or_else(|| self.marks.first())?;
        Some(Span { from: from.tree.clone(), to: self.latest(), since: from.seq })
    }

    /// One attempt.
    pub fn attempt(&self, id: AttemptId) -> Option<Span> {
        let worked = self.attempts.iter().find(|worked| worked.attempt == id)?;
        Some(Span { from: worked.before.clone()?, to: worked.after.clone(), since: worked.seq })
    }

    /// The last visit of a place, with all that is inside it.
    pub fn phase(&self, place: &Place) -> Option<Span> {
        let since = *self.entered.get(place)?;
        let inside = |worked: &&Worked| {
            let is_below = worked.place.frame().is_within(&place.frame_below());
            worked.seq >= since && (worked.place == *place || is_below)
        };
        let mut here = self.attempts.iter().filter(inside);
        let first = here.clone().find(|worked| worked.before.is_some())?;
        let last = here.next_back()?;
        Some(Span { from: first.before.clone()?, to: last.after.clone(), since: first.seq })
    }

    /// The files before the last undo, and as it left them.
    pub fn last_undo(&self) -> Option<(TreeId, TreeId)> {
        self.undo.clone()
    }

    /// Between which trees people may have changed files since a line: no attempt worked there.
    pub fn by_people(&self, since: u64) -> Vec<(TreeId, TreeId)> {
        let pairs = self.marks.windows(2).filter(|pair| pair[1].seq > since && pair[1].by_people);
        let pairs = pairs.map(|pair| (pair[0].tree.clone(), pair[1].tree.clone()));
        pairs.filter(|(before, after)| before != after).collect()
    }

    /// Between which trees attempts worked since a line. Where the second is missing, they may have changed whatever differs now.
    pub fn by_attempts(&self, since: u64, now: &TreeId) -> Vec<(TreeId, TreeId)> {
        let worked = self.attempts.iter().filter(|worked| worked.seq >= since);
        let spans = worked.filter_map(|worked| {
            let after = worked.after.as_ref().unwrap_or(now);
            Some((worked.before.clone()?, after.clone()))
        });
        spans.filter(|(before, after)| before != after).collect()
    }

    /// The last tree; none while an attempt works, since the files are not as it says.
    pub fn latest(&self) -> Option<TreeId> {
        let works = self.attempts.last().is_some_and(|worked| worked.after.is_none());
        self.last().filter(|_| !works)
    }

    /// The last tree there is.
    pub fn last(&self) -> Option<TreeId> {
        self.marks.last().map(|mark| mark.tree.clone())
    }

    /// Places that have a tree to go back to.
    pub fn places(&self) -> Vec<&Place> {
        self.entered.keys().filter(|place| self.phase(place).is_some()).collect()
    }
}
