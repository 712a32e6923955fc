//! The project's files according to a run's trees: differences, and freeing space. `undo.rs` restores them.

use std::collections::BTreeSet;
use std::io::Write;

use chronicle_core::base::ids::{AttemptId, FolderId, Place, TreeId};
use chronicle_core::event::trees::Changes;
use chronicle_core::state::Standing;
use chronicle_core::view::{Span, TreeBook};

use super::HandleError;
use super::merge::work_left;
use crate::clock;
use crate::effects::trees_of;
use crate::ledger::{Head, Ledger};
use crate::project::{Project, RunFolder};
use crate::trees::{Room, Trees, TreesError, shown};

pub use crate::trees::DiffForm;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Everything since the first tree.
    Run,
    /// The last visit of a place.
    Phase(Place),
    /// From before one attempt to after it.
    Attempt(AttemptId),
    /// Everything after a line of the ledger.
    Since(u64),
}

/// Two trees that can be compared.
#[derive(Debug)]
pub struct Difference {
    trees: Trees,
    from: TreeId,
    to: TreeId,
    /// Files that also differ but that no worker is known to have changed.
    pub left_out: Vec<String>,
}

/// Finds the two trees of a part of a run. While an attempt is live, the second one is recorded now. Changes not made by workers
/// are left out unless everything is requested.
pub fn difference(
    folder: &RunFolder,
    part: &Part,
    everything: bool,
) -> Result<Difference, HandleError> {
    // First, as every reader does: a ledger whose lines are gone would look like one of a run without trees.
    super::reading::read(folder)?;
    let book = book(folder)?;
    let span = span(&book, part).ok_or_else(|| no_tree(folder, &book, part))?;
    let trees = existing(folder)?;
    let to = if let Some(to) = &span.to {
        to.clone()
    } else {
        // While an attempt works there is no tree after it yet, so the files are taken as they are now.
        folder.path_of(FolderId::Project).map_err(TreesError::NoFolder)?;
        trees.record(None)?.tree
    };
    if everything || span.elsewhere {
        return Ok(Difference { trees, from: span.from, to, left_out: Vec::new() });
    }
    // Attempt by attempt and not from one end to the other: people may have changed files between two attempts.
    let worked = trees.touched(&book.by_attempts(span.since, span.until, &to))?;
    let mut others = trees.touched(&[(span.from.clone(), to.clone())])?;
    others.retain(|name| !worked.contains(name));
    // Where nobody's known work is on both sides, there is nothing to show.
    let from = if others.is_empty() {
        span.from
    } else {
        trees.blend(folder.id.as_str(), &span.from, &to, &others)?
    };
    Ok(Difference { trees, from, to, left_out: others.iter().map(|name| shown(name)).collect() })
}

fn span(book: &TreeBook, part: &Part) -> Option<Span> {
    match part {
        Part::Run => book.run(),
        Part::Phase(place) => book.phase(place, None),
        Part::Attempt(attempt) => book.attempt(*attempt).or_else(|| book.in_step(*attempt)),
        Part::Since(seq) => book.since(*seq),
    }
}

impl Difference {
    /// Counted differences, without their content.
    pub fn changes(&self) -> Result<Changes, HandleError> {
        Ok(self.trees.changes(Some(&self.from), &self.to)?)
    }

    /// Writes the differences, for people.
    pub fn show(
        &self,
        form: DiffForm,
        colour: bool,
        out: &mut dyn Write,
    ) -> Result<(), HandleError> {
        Ok(self.trees.show(Some(&self.from), &self.to, form, colour, out)?)
    }
}

/// Trees that can be removed: of runs that ended that many days ago, and of runs that are gone.
pub fn room(project: &Project, days: u64) -> Result<Option<Room>, HandleError> {
    let Some(trees) = Trees::existing(project.root())? else { return Ok(None) };
    Ok(Some(trees.room(&staying(project, days))?))
}

/// How much room the recorded files of a project take; `None` if none were recorded.
pub fn recorded_bytes(project: &Project) -> Option<u64> {
    Trees::bytes(project.root())
}

/// The same as it was when a run last came to rest in that project, without looking at every file.
pub fn recorded_bytes_at_rest(project: &Project) -> Option<u64> {
    Trees::bytes_at_rest(project.root())
}

/// Removes them. Returns the number of freed bytes.
pub fn make_room(project: &Project, days: u64) -> Result<u64, HandleError> {
    let Some(trees) = Trees::existing(project.root())? else { return Ok(0) };
    Ok(trees.clear(|| staying(project, days))?)
}

/// Runs that can continue, ended recently, or cannot be read.
fn staying(project: &Project, days: u64) -> BTreeSet<String> {
    let long_ago = clock::now().0.saturating_sub(days.saturating_mul(DAY_MS));
    let stays = |folder: &RunFolder| match super::view(folder) {
        Ok((view, None)) => {
            let ended =
                matches!(view.status, Standing::Done | Standing::Cancelled | Standing::Failed);
            // A run that has ended may still have `cleanup` to do, or a supervisor that writes its last lines.
            let over = ended && !view.goes_on && !view.supervised;
            // What is not merged yet is compared with what it began from.
            let unmerged = view.apart.as_ref().is_some_and(|apart| apart.unmerged);
            !over || view.undoing || unmerged || view.updated_at.0 > long_ago
        }
        // What cannot be read keeps its trees: it may be readable for a newer version, or after a repair.
        Ok((_, Some(_))) | Err(_) => true,
    };
    // Whose record is away, and whose work may be only there: its trees are what the work is compared with once the record is back.
    let unknown = work_left(project).only.into_iter().filter(|only| only.is_unknown);
    let unknown = unknown.map(|only| only.left.run.to_string());
    let runs = project.runs().into_iter().filter(stays).map(|folder| folder.id.to_string());
    runs.chain(unknown).collect()
}

pub(super) fn book(folder: &RunFolder) -> Result<TreeBook, HandleError> {
    let mut book = TreeBook::default();
    for next in folder.ledger().read(Head::EMPTY)? {
        book.add(&next?.0);
    }
    Ok(book)
}

pub(super) fn existing(folder: &RunFolder) -> Result<Trees, HandleError> {
    trees_of(folder)?.ok_or_else(|| HandleError::NoTree {
        what: format!(
            "no files were recorded in `{}`{}",
            folder.project.display(),
            because(folder)
        ),
        known: Vec::new(),
    })
}

/// Why there are no trees, as far as the run says.
fn because(folder: &RunFolder) -> String {
    let view = super::view(folder).ok().map(|(view, _)| view);
    let why = view.and_then(|view| view.no_trees.or_else(|| not_begun(view.attempts)));
    why.map_or_else(String::new, |why| format!(": {why}"))
}

fn not_begun(attempts: usize) -> Option<String> {
    (attempts == 0).then(|| "no worker has started yet".to_owned())
}

pub(super) fn no_tree(folder: &RunFolder, book: &TreeBook, part: &Part) -> HandleError {
    let run = folder.id.short();
    let what = match part {
        Part::Run | Part::Since(_) => {
            format!("run {run} has no trees{}", because(folder))
        }
        Part::Phase(place) => format!("run {run} has no trees of a phase `{place}`"),
        Part::Attempt(attempt) => format!("run {run} has no tree before {attempt}"),
    };
    let known = match part {
        Part::Phase(_) => book.places().into_iter().map(ToString::to_string).collect(),
        Part::Run | Part::Since(_) | Part::Attempt(_) => Vec::new(),
    };
    HandleError::NoTree { what, known }
}
