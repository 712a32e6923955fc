//! Which trees a run has, between which of them a phase, an attempt or a person worked, and what was undone.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::ids::{AttemptId, FolderId, Place, TreeId};
use crate::base::time::Millis;
use crate::event::Event;
use crate::event::pool::{MergePlanned, MergeWritten};
use crate::event::record::Line;
use crate::event::trees::{Moment, Restored, TreeRecorded, UndoStarted};

/// What older versions called an undo of the previous undo.
const BACK: &str = "undo";

/// Every tree of the project's own folder in order: a fold of a run's lines.
#[derive(Debug, Clone, Default)]
pub struct TreeBook {
    marks: Vec<TreeMark>,
    attempts: Vec<AttemptSpan>,
    /// Lines at which each place was entered.
    entered: BTreeMap<Place, Vec<u64>>,
    undos: Vec<UndoRow>,
    /// Lines of the undos that the last one takes back.
    taking: Vec<u64>,
    /// Attempts that worked in folders of steps. Their work comes into the project by a merge, which counts as one of `attempts`.
    elsewhere: Vec<AttemptSpan>,
    /// The step whose work is in each folder, from its first merge on.
    steps: BTreeMap<u32, Place>,
    /// Merges that are planned and not written, by their folders: the line, the project's files, and those that it should have.
    merging: BTreeMap<u32, (u64, TreeId, TreeId)>,
}

#[derive(Debug, Clone)]
struct TreeMark {
    seq: u64,
    tree: TreeId,
    /// True if people may have changed files between the previous mark and this one.
    by_people: bool,
}

#[derive(Debug, Clone)]
struct AttemptSpan {
    /// `None` for the merge of a step's work.
    attempt: Option<AttemptId>,
    place: Place,
    seq: u64,
    before: Option<TreeId>,
    after: Option<TreeId>,
    /// Line of the tree after it; `u64::MAX` until there is one.
    ended: u64,
}

/// Two trees. A missing end means the present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The files at the start of the span.
    pub from: TreeId,
    /// The files after; `None` while that is still to come.
    pub to: Option<TreeId>,
    /// Line of the first tree.
    pub since: u64,
    /// Line before which the span's last attempt began; `None` if all later ones belong to it.
    pub until: Option<u64>,
    /// True if it lies in the folder of a step, where nobody else works: all that differs is its worker's.
    pub elsewhere: bool,
}

/// One undo of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoRow {
    /// Number of its line.
    pub seq: u64,
    /// Time of its line.
    pub at: Millis,
    /// Whose work was undone, as the person named it.
    pub what: String,
    /// The files as they were found.
    pub from: TreeId,
    /// The files as it left them, or should leave them.
    pub to: TreeId,
    /// Number of restored files; `None` if it was interrupted.
    pub files: Option<u32>,
    /// True if it takes back another undo.
    pub is_back: bool,
    /// True if a later undo took it back.
    pub taken_back: bool,
    /// True if files stayed that it was to restore.
    pub partly: bool,
    /// Why it stopped before all files were restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Pairs of trees between which somebody worked.
pub type Spans = Vec<(TreeId, TreeId)>;

impl TreeBook {
    /// Applies one line of the ledger.
    pub fn add(&mut self, line: &Line) {
        for event in &line.events {
            if let Event::PhaseEntered { place } = event {
                self.entered.entry(place.clone()).or_default().push(line.seq);
            } else if let Event::AttemptStarted(intent) = event {
                // A tree that is recorded in the same line as the start was recorded for it. Other attempts get theirs by a
                // later report.
                let in_project = intent.folder.is_project();
                let last = self.marks.last().filter(|mark| in_project && mark.seq == line.seq);
                let span = AttemptSpan {
                    attempt: Some(intent.attempt),
                    place: intent.shown_place().clone(),
                    seq: line.seq,
                    before: last.map(|mark| mark.tree.clone()),
                    after: None,
                    ended: u64::MAX,
                };
                if in_project { &mut self.attempts } else { &mut self.elsewhere }.push(span);
            } else if let Event::TreeRecorded(recorded) = event {
                self.record(line.seq, recorded);
            } else if let Event::MergeBegan(began) = event {
                let place = began.place.of_step(&began.step);
                // Named as a place of its own, so that a step can be compared and undone.
                if self.steps.insert(began.folder, place.clone()).is_none() {
                    self.entered.entry(place).or_default().push(line.seq);
                }
            } else if let Event::MergePlanned(planned) = event {
                self.plan_merge(line.seq, planned);
            } else if let Event::MergeWritten(written) = event {
                self.write_merge(line.seq, written);
            } else if let Event::UndoStarted(undo) = event {
                self.begin_undo(line, undo);
            } else if let Event::UndoEnded(restored) = event {
                self.end_undo(restored);
            }
        }
    }

    fn record(&mut self, seq: u64, recorded: &TreeRecorded) {
        let tree = &recorded.tree;
        // Trees of different folders cannot be compared, and an undo restores the project's own: what a worker did in a folder of its
        // own is not mixed with the project's files.
        if recorded.folder != FolderId::Project {
            let (Moment::Before(id) | Moment::After(id)) = recorded.moment else { return };
            return settle(&mut self.elsewhere, seq, id, recorded);
        }
        let by_people = !matches!(recorded.moment, Moment::After(_));
        self.marks.push(TreeMark { seq, tree: tree.clone(), by_people });
        if let Some(unclear) = &recorded.unclear {
            // Two marks for one recording: first the worker's own changes, then those of unknown origin, which count as
            // people's.
            self.marks.push(TreeMark { seq, tree: unclear.tree.clone(), by_people: true });
        }
        let (Moment::Before(id) | Moment::After(id)) = recorded.moment else { return };
        settle(&mut self.attempts, seq, id, recorded);
    }

    /// The project's files were recorded, and what the merge of a step makes of them. The merge of a whole run is not one of its steps.
    fn plan_merge(&mut self, seq: u64, planned: &MergePlanned) {
        let MergePlanned { folder, ours, result, .. } = planned;
        if !self.steps.contains_key(folder) {
            return;
        }
        self.marks.push(TreeMark { seq, tree: ours.clone(), by_people: true });
        if planned.conflicts == 0 {
            self.merging.insert(*folder, (seq, ours.clone(), result.clone()));
        }
    }

    /// The work of a step is in the project: that is what its workers changed there.
    fn write_merge(&mut self, ended: u64, written: &MergeWritten) {
        let is_whole = written.late.is_empty() && written.error.is_none();
        if !written.into.is_project() {
            return;
        }
        let Some((seq, before, after)) = self.merging.remove(&written.folder) else { return };
        let Some(place) = self.steps.get(&written.folder).filter(|_| is_whole).cloned() else {
            return;
        };
        self.marks.push(TreeMark { seq: ended, tree: after.clone(), by_people: false });
        let (attempt, before, after) = (None, Some(before), Some(after));
        self.attempts.push(AttemptSpan { attempt, place, seq, before, after, ended });
    }

    fn begin_undo(&mut self, line: &Line, undo: &UndoStarted) {
        let UndoStarted { what, from, to, back, .. } = undo.clone();
        let is_old = back.is_none() && what == BACK;
        match back {
            Some(first) => {
                let taken = self.undos.iter_mut().filter(|row| row.seq >= first && !row.taken_back);
                self.taking = taken.map(|row| (row.taken_back = true, row.seq).1).collect();
            }
            // Of older versions: the last undo is taken back, and when it was one of these, done again.
            None if is_old => {
                if let Some(row) = self.undos.iter_mut().rfind(|row| !row.is_back) {
                    row.taken_back = !row.taken_back;
                }
            }
            None => self.taking.clear(),
        }
        self.marks.push(TreeMark { seq: line.seq, tree: to.clone(), by_people: false });
        let (seq, at, files) = (line.seq, line.at, None);
        let (is_back, taken_back) = (back.is_some() || is_old, false);
        let (partly, error) = (false, None);
        self.undos.push(UndoRow {
            seq,
            at,
            what,
            from,
            to,
            files,
            is_back,
            taken_back,
            partly,
            error,
        });
    }

    fn end_undo(&mut self, restored: &Restored) {
        let Some(undo) = self.undos.last_mut() else { return };
        undo.files = Some(restored.files);
        undo.error.clone_from(&restored.error);
        undo.partly = [&restored.kept, &restored.edited, &restored.failed]
            .into_iter()
            .any(|list| !list.is_empty());
        // One that failed before its first file has left everything as it found it.
        let failed_at_once = restored.error.is_some() && restored.files == 0;
        let left = restored.left.as_ref().or(failed_at_once.then_some(&undo.from)).cloned();
        if failed_at_once && left.as_ref() == Some(&undo.from) {
            // What it was to take back stands.
            let taking = std::mem::take(&mut self.taking);
            let rows = self.undos.iter_mut().filter(|row| taking.contains(&row.seq));
            rows.for_each(|row| row.taken_back = false);
        }
        let Some(undo) = self.undos.last_mut() else { return };
        if let Some(left) = &left {
            // What it was meant to leave, and what it left: files that could not be restored are still in the latter.
            undo.to.clone_from(left);
            let mark = self.marks.iter_mut().rfind(|mark| mark.seq == undo.seq);
            if let Some(mark) = mark {
                mark.tree.clone_from(left);
            }
        }
    }

    /// From the first tree of the run.
    pub fn run(&self) -> Option<Span> {
        let first = self.marks.first()?;
        let (from, to) = (first.tree.clone(), self.latest());
        Some(Span { from, to, since: first.seq, until: None, elsewhere: false })
    }

    /// Changes after a line.
    pub fn since(&self, seq: u64) -> Option<Span> {
        let before = self.marks.iter().rev().find(|mark| mark.seq <= seq);
        let from = before.or_else(|| self.marks.first())?;
        let (tree, to) = (from.tree.clone(), self.latest());
        Some(Span { from: tree, to, since: from.seq, until: None, elsewhere: false })
    }

    /// Changes of one attempt.
    pub fn attempt(&self, id: AttemptId) -> Option<Span> {
        let at = self.attempts.iter().position(|worked| worked.attempt == Some(id))?;
        let worked = &self.attempts[at];
        let until = self.attempts.get(at + 1).map(|next| next.seq);
        let (from, to) = (worked.before.clone()?, worked.after.clone());
        Some(Span { from, to, since: worked.seq, until, elsewhere: false })
    }

    /// Changes of an attempt that worked in the folder of a step, once they are recorded. They can be looked at, and are undone with
    /// their step.
    pub fn in_step(&self, id: AttemptId) -> Option<Span> {
        let worked = self.elsewhere.iter().find(|worked| worked.attempt == Some(id))?;
        let (from, to) = (worked.before.clone()?, Some(worked.after.clone()?));
        Some(Span { from, to, since: worked.seq, until: None, elsewhere: true })
    }

    /// The place of an attempt that worked in the folder of a step.
    pub fn step_of(&self, id: AttemptId) -> Option<&Place> {
        let mut all = self.elsewhere.iter();
        all.find(|worked| worked.attempt == Some(id)).map(|worked| &worked.place)
    }

    /// Changes of a visit to a place with everything inside of it: the last visit, or by its number from 1.
    pub fn phase(&self, place: &Place, visit: Option<usize>) -> Option<Span> {
        let visits = self.entered.get(place)?;
        let at = visit.map_or(visits.len(), |visit| visit).checked_sub(1)?;
        let since = *visits.get(at)?;
        let until = visits.get(at + 1).copied();
        let inside = |worked: &&AttemptSpan| {
            let is_below = worked.place.frame().is_within(&place.frame_below());
            let is_then = worked.seq >= since && until.is_none_or(|until| worked.seq < until);
            is_then && (worked.place == *place || is_below)
        };
        let mut here = self.attempts.iter().filter(inside);
        let first = here.clone().find(|worked| worked.before.is_some())?;
        let last = here.next_back()?;
        let until = self.attempts.iter().map(|worked| worked.seq).find(|seq| *seq > last.seq);
        let (from, to) = (first.before.clone()?, last.after.clone());
        Some(Span { from, to, since: first.seq, until, elsewhere: false })
    }

    /// How often a place was entered.
    pub fn visits(&self, place: &Place) -> usize {
        self.entered.get(place).map_or(0, Vec::len)
    }

    /// Every undo, oldest first.
    pub fn undos(&self) -> &[UndoRow] {
        &self.undos
    }

    /// The line that this many levels of undo start with, and each undo that they take back, latest first; `None` if there are
    /// not so many.
    pub fn back(&self, levels: usize) -> Option<(u64, Vec<&UndoRow>)> {
        // An undo that changed nothing leaves nothing to take back.
        let stands = |row: &&UndoRow| !row.is_back && !row.taken_back && row.from != row.to;
        let standing = self.undos.iter().rev().filter(stands);
        let rows: Vec<&UndoRow> = standing.take(levels).collect();
        let first = rows.last().filter(|_| rows.len() == levels)?.seq;
        Some((first, rows))
    }

    /// Pairs of trees between which people may have changed files since a line: no attempt was live, or it is not known who
    /// worked or what an attempt left.
    pub fn by_people(&self, since: u64, now: &TreeId) -> Spans {
        let pairs = self.marks.windows(2).filter(|pair| pair[1].seq > since && pair[1].by_people);
        let pairs = pairs.map(|pair| (pair[0].tree.clone(), pair[1].tree.clone()));
        // An attempt without a tree after it may have done anything or nothing. Both it and people count as the origin then.
        let unknown = self.worked(since, None).filter(|worked| worked.after.is_none());
        let unknown = unknown.filter_map(|worked| Some((worked.before.clone()?, now.clone())));
        pairs.chain(unknown).filter(|(before, after)| before != after).collect()
    }

    /// Pairs of trees between which attempts worked since a line. If the second is missing, they may have made any current
    /// difference.
    pub fn by_attempts(&self, since: u64, until: Option<u64>, now: &TreeId) -> Spans {
        let spans = self.worked(since, until).filter_map(|worked| {
            let after = worked.after.as_ref().unwrap_or(now);
            Some((worked.before.clone()?, after.clone()))
        });
        spans.filter(|(before, after)| before != after).collect()
    }

    fn worked(&self, since: u64, until: Option<u64>) -> impl Iterator<Item = &AttemptSpan> {
        // One begins before its first tree, and ends with its last.
        let is_then = move |worked: &&AttemptSpan| {
            worked.ended > since && until.is_none_or(|until| worked.seq < until)
        };
        self.attempts.iter().filter(is_then)
    }

    /// The last tree; `None` while an attempt is live, since the files may differ by now.
    pub fn latest(&self) -> Option<TreeId> {
        let works = self.attempts.last().is_some_and(|worked| worked.after.is_none());
        self.last().filter(|_| !works)
    }

    /// The last recorded tree.
    pub fn last(&self) -> Option<TreeId> {
        self.marks.last().map(|mark| mark.tree.clone())
    }

    /// Places with a tree to go back to.
    pub fn places(&self) -> Vec<&Place> {
        self.entered.keys().filter(|place| self.phase(place, None).is_some()).collect()
    }
}

/// Keeps the tree before or after an attempt.
fn settle(attempts: &mut [AttemptSpan], seq: u64, id: AttemptId, recorded: &TreeRecorded) {
    let Some(worked) = attempts.iter_mut().rfind(|worked| worked.attempt == Some(id)) else {
        return;
    };
    let tree = recorded.tree.clone();
    match recorded.moment {
        Moment::Before(_) => worked.before = Some(tree),
        Moment::After(_) | Moment::Undo => (worked.after, worked.ended) = (Some(tree), seq),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::input::{Actor, By};
    use crate::event::record::VERSION;
    use crate::event::trees::Changes;

    fn recorded(seq: u64, folder: FolderId, tree: &str) -> Line {
        let recorded = TreeRecorded::new(Moment::Undo, TreeId::new(tree), Changes::default());
        let events = vec![Event::TreeRecorded(TreeRecorded { folder, ..recorded })];
        let (at, v, by) =
            (Millis::default(), VERSION, By { actor: Actor::Supervisor, request: None });
        Line { seq, at, v, by, input: None, events, texts: Vec::new() }
    }

    #[test]
    fn trees_of_other_folders_are_no_trees_of_the_project() {
        let mut book = TreeBook::default();
        book.add(&recorded(1, FolderId::Project, "a"));
        book.add(&recorded(2, FolderId::Work(1), "b"));
        assert_eq!(book.last(), Some(TreeId::new("a")));
        assert_eq!(book.by_people(0, &TreeId::new("a")), Vec::new());
        book.add(&recorded(3, FolderId::Project, "c"));
        assert_eq!(book.by_people(0, &TreeId::new("c")), [(TreeId::new("a"), TreeId::new("c"))]);
    }
}
