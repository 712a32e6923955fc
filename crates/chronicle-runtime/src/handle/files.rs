//! The project's files as a run's trees have them: what differs, putting them back, and making room.

use std::collections::BTreeSet;
use std::io::Write;

use chronicle_core::base::ids::{AttemptId, Place, TreeId};
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, Command, Report};
use chronicle_core::event::record::Line;
use chronicle_core::event::trees::Changes;
use chronicle_core::state::Standing;
use chronicle_core::view::{Span, TreeBook};

use super::HandleError;
use super::telling::record_in;
use crate::clock;
use crate::driver::Run;
use crate::effects::{Recorder, record_now};
use crate::inbox::{self, Asker, asked, reported};
use crate::ledger::{Head, Holder, Ledger};
use crate::project::{Claimed, Project, RunFolder};
use crate::trees::{Room, Trees};

pub use crate::trees::Form;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Which part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Run,
    /// The last visit of a place.
    Phase(Place),
    /// One attempt.
    Attempt(AttemptId),
    /// What came after a line of the ledger.
    Since(u64),
}

/// What is to be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undoing {
    /// The last visit of a place, and all that came after it.
    Phase(Place),
    /// The last undo.
    LastUndo,
}

/// Two trees that can be compared.
#[derive(Debug)]
pub struct Difference {
    trees: Trees,
    from: TreeId,
    to: TreeId,
}

/// What an undo would do.
#[derive(Debug)]
pub struct UndoPlan {
    what: String,
    to: TreeId,
    /// What differs between the files and what they would be.
    pub changes: Changes,
    /// Files that a person changed since, and that nobody else has.
    pub at_stake: Vec<String>,
}

/// What was undone.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Undone {
    /// How many files were written or removed.
    pub files: u32,
    /// Files that stayed, since something that no tree has is in their place.
    pub kept: Vec<String>,
}

/// Finds the two trees of a part of a run. While an attempt works the second one is made now.
pub fn difference(folder: &RunFolder, part: &Part) -> Result<Difference, HandleError> {
    let book = book(folder)?;
    let span = span(&book, part).ok_or_else(|| no_tree(folder, &book, part))?;
    let trees = existing(folder)?;
    let to = match span.to {
        Some(to) => to,
        None => trees.record(None)?.tree,
    };
    Ok(Difference { trees, from: span.from, to })
}

fn span(book: &TreeBook, part: &Part) -> Option<Span> {
    match part {
        Part::Run => book.run(),
        Part::Phase(place) => book.phase(place),
        Part::Attempt(attempt) => book.attempt(*attempt),
        Part::Since(seq) => book.since(*seq),
    }
}

impl Difference {
    /// What differs, counted.
    pub fn changes(&self) -> Result<Changes, HandleError> {
        Ok(self.trees.changes(Some(&self.from), &self.to)?)
    }

    /// Writes what differs, for people.
    pub fn show(&self, form: Form, colour: bool, out: &mut dyn Write) -> Result<(), HandleError> {
        Ok(self.trees.show(Some(&self.from), &self.to, (form, colour), out)?)
    }
}

/// What an undo would do; nothing is changed.
pub fn plan_undo(folder: &RunFolder, undoing: &Undoing) -> Result<UndoPlan, HandleError> {
    let book = book(folder)?;
    let trees = existing(folder)?;
    let now = trees.record(None)?.tree;
    plan(folder, &book, &trees, (undoing, &now))
}

fn plan(
    folder: &RunFolder,
    book: &TreeBook,
    trees: &Trees,
    (undoing, now): (&Undoing, &TreeId),
) -> Result<UndoPlan, HandleError> {
    let (what, target, worked, mut edited) = match undoing {
        Undoing::Phase(place) => {
            let part = Part::Phase(place.clone());
            let span = book.phase(place).ok_or_else(|| no_tree(folder, book, &part))?;
            let worked = book.by_attempts(span.since, now);
            (place.to_string(), span.from, worked, book.by_people(span.since))
        }
        Undoing::LastUndo => {
            let (from, to) = book.last_undo().ok_or_else(|| HandleError::NoTree {
                what: format!("nothing was undone in run {}", folder.id.short()),
                known: Vec::new(),
            })?;
            ("undo".to_owned(), from.clone(), vec![(from, to)], Vec::new())
        }
    };
    edited.extend(book.last().map(|last| (last, now.clone())));
    let to = trees.blend(folder.id.as_str(), (now, &target), &worked)?;
    let at_stake = trees.at_stake((now, &to), &edited)?;
    Ok(UndoPlan { what, changes: trees.changes(Some(now), &to)?, to, at_stake })
}

/// Puts files back: recorded first, written down, then done. What people would lose stops it unless they say so.
pub fn undo(
    folder: &RunFolder,
    asker: &Asker,
    undoing: &Undoing,
    also_mine: bool,
) -> Result<Undone, HandleError> {
    let project = Project::at(&folder.project);
    let _files = match project.claim_files(&folder.id) {
        Ok(Claimed::Ours(lock)) => lock,
        Ok(Claimed::By(run)) if run != folder.id => {
            return Err(HandleError::Busy { run: run.short().to_owned() });
        }
        Ok(Claimed::By(_)) | Err(_) => {
            return Err(HandleError::Busy { run: folder.id.short().to_owned() });
        }
    };
    let holder = Holder::current(&asker.command, clock::now());
    let mut run = Run::open(&folder.ledger(), holder, None)?;
    let world = Recorder::new(folder, run.state());
    let torn = run.torn().map(inbox::told).into_iter().collect();
    record_in(folder, &mut run, world, torn)?;
    let recorded = record_now(folder, run.state())?;
    let plan = plan(folder, &book(folder)?, &existing(folder)?, (undoing, &recorded.tree))?;
    if !plan.at_stake.is_empty() && !also_mine {
        return Err(HandleError::AtStake { files: plan.at_stake });
    }
    let (what, from, to) = (plan.what, recorded.tree.clone(), plan.to);
    let recorded = inbox::told(reported(Report::TreeRecorded(Box::new(recorded))));
    let (undo, answer) = inbox::asking(asked(&asker.who, Command::Undo { what, from, to }));
    let world = Recorder::new(folder, run.state());
    let lines = record_in(folder, &mut run, world, vec![recorded, undo])?;
    match answer.recv() {
        Ok(Answer::Refused(why)) => Err(HandleError::Refused { why }),
        _ => undone(&lines),
    }
}

/// How it came to its end.
fn undone(lines: &[Line]) -> Result<Undone, HandleError> {
    for event in lines.iter().flat_map(|line| &line.events) {
        match event {
            Event::UndoEnded { error: Some(why), .. } => {
                return Err(HandleError::Refused { why: why.clone() });
            }
            Event::UndoEnded { files, kept, error: None, .. } => {
                return Ok(Undone { files: *files, kept: kept.clone() });
            }
            _ => {}
        }
    }
    Ok(Undone { files: 0, kept: Vec::new() })
}

/// What trees may go: of runs that are over for so many days, and of runs that are gone.
pub fn room(project: &Project, days: u64) -> Result<Option<Room>, HandleError> {
    let Some(trees) = Trees::existing(project.root())? else { return Ok(None) };
    Ok(Some(trees.room(&staying(project, days))?))
}

/// How much room the recorded files of a project take; `None` if none were recorded.
pub fn recorded_bytes(project: &Project) -> Option<u64> {
    Trees::bytes(project.root())
}

/// Lets them go. Returns how many bytes were freed.
pub fn make_room(project: &Project, days: u64) -> Result<u64, HandleError> {
    let Some(trees) = Trees::existing(project.root())? else { return Ok(0) };
    Ok(trees.clear(|| staying(project, days))?)
}

/// Runs that can go on, ended lately, or cannot be read.
fn staying(project: &Project, days: u64) -> BTreeSet<String> {
    let long_ago = clock::now().0.saturating_sub(days.saturating_mul(DAY_MS));
    let stays = |folder: &RunFolder| match super::view(folder) {
        Ok((view, None)) => {
            let ended =
                matches!(view.status, Standing::Done | Standing::Cancelled | Standing::Failed);
            let over = ended && !view.goes_on && !view.supervised;
            !over || view.undoing || view.updated_at.0 > long_ago
        }
        Ok((_, Some(_))) | Err(_) => true,
    };
    project.runs().into_iter().filter(stays).map(|folder| folder.id.to_string()).collect()
}

fn book(folder: &RunFolder) -> Result<TreeBook, HandleError> {
    let mut book = TreeBook::default();
    for next in folder.ledger().read(Head::EMPTY)? {
        book.add(&next?.0);
    }
    Ok(book)
}

fn existing(folder: &RunFolder) -> Result<Trees, HandleError> {
    Trees::existing(&folder.project)?.ok_or_else(|| HandleError::NoTree {
        what: format!("no files were recorded in `{}`", folder.project.display()),
        known: Vec::new(),
    })
}

fn no_tree(folder: &RunFolder, book: &TreeBook, part: &Part) -> HandleError {
    let run = folder.id.short();
    let what = match part {
        Part::Run | Part::Since(_) => format!("run {run} has no trees"),
        Part::Phase(place) => format!("run {run} has no trees of a phase `{place}`"),
        Part::Attempt(attempt) => format!("run {run} has no tree before {attempt}"),
    };
    let known = match part {
        Part::Phase(_) => book.places().into_iter().map(ToString::to_string).collect(),
        Part::Run | Part::Since(_) | Part::Attempt(_) => Vec::new(),
    };
    HandleError::NoTree { what, known }
}
