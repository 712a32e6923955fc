//! Undo: restores the project's files to an earlier point of a run.
//!
//! Only changes that workers are known to have made are undone. Changes of people, and those of unknown origin, stop it or are
//! left alone. An undo is a line of the ledger before the first file is touched: one that was killed is finished by the next
//! command, and until then no other run starts on those files.

use std::collections::BTreeSet;
use std::path::Path;

use chronicle_core::base::ids::{AttemptId, FolderId, Place, TreeId};
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, Command, Report};
use chronicle_core::event::record::Line;
use chronicle_core::event::trees::{Changes, Restored, TREE_UNREADABLE_MAX};
use chronicle_core::view::{Spans, TreeBook, UndoRow};
use chronicle_core::words::own_work_stays;

use super::files::{Part, book, existing, no_tree};
use super::reading::row;
use super::telling::{holder, record_in};
use super::{HandleError, witnesses};
use crate::driver::Run;
use crate::effects::{Recorder, record_now};
use crate::inbox::{self, Asker, asked, reported};
use crate::ledger::LedgerError;
use crate::project::{Claimed, FilesLock, Project, RunFolder};
use crate::secrets;
use crate::trees::{Trees, TreesError, shown};

/// Which part of a run is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undoing {
    /// All changes of the run.
    Run,
    /// A visit of a place, and everything after it.
    Phase {
        /// The phase, with the path of its frame.
        place: Place,
        /// Number of the visit, from 1; `None` for the last.
        visit: Option<usize>,
    },
    /// An attempt, and everything after it.
    Attempt(AttemptId),
    /// That many undos, latest first.
    Undos(usize),
}

/// A request to undo.
#[derive(Debug, Clone)]
pub struct UndoOrder {
    /// What is to be undone.
    pub undoing: Undoing,
    /// Only these files and folders, whoever changed them; if empty, everything that workers changed.
    pub files: Vec<String>,
    /// True to also undo what people changed since.
    pub also_mine: bool,
}

/// What an undo would do.
#[derive(Debug)]
pub struct UndoPlan {
    what: String,
    to: TreeId,
    back: Option<u64>,
    /// Differences between the current files and the result.
    pub changes: Changes,
    /// Files to restore that somebody else changed since.
    pub at_stake: Vec<String>,
    /// What also differs but stays.
    pub stays: Stays,
}

/// The first files that differ from what an undo goes back to, but stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stays {
    /// No worker is known to have changed them.
    pub left_alone: Vec<String>,
    /// Their content, then or now, is in no tree.
    pub unrecorded: Vec<String>,
}

/// The target of an undo, and whose changes are in between.
struct UndoTarget {
    what: String,
    tree: TreeId,
    back: Option<u64>,
    worked: Spans,
    edited: Spans,
}

/// Every undo of a run, oldest first.
pub fn undos(folder: &RunFolder) -> Result<Vec<UndoRow>, HandleError> {
    // A ledger that lost lines would list fewer undos than there were.
    row(folder)?;
    Ok(book(folder)?.undos().to_vec())
}

/// What an undo would do; nothing is changed.
pub fn plan_undo(folder: &RunFolder, order: &UndoOrder) -> Result<UndoPlan, HandleError> {
    refuse_own(folder)?;
    let book = book(folder)?;
    let trees = existing(folder)?;
    let now = trees.record(None)?.tree;
    plan(folder, &book, &trees, order, &now)
}

fn plan(
    folder: &RunFolder,
    book: &TreeBook,
    trees: &Trees,
    order: &UndoOrder,
    now: &TreeId,
) -> Result<UndoPlan, HandleError> {
    let mut target = target(folder, book, &order.undoing, now)?;
    // What changed since the last tree was recorded by nobody, so it counts as people's.
    target.edited.extend(book.last().map(|last| (last, now.clone())));
    let mut differs = trees.touched(&[(now.clone(), target.tree.clone())])?;
    // May have been written by a worker, and no tree can tell: they are named, so that nobody takes them for restored.
    let written = trees.written_since(now, folder.begun())?;
    differs.extend(written.iter().cloned());
    let mut names = if order.files.is_empty() {
        trees.touched(&target.worked)?
    } else {
        let works_in = folder.path_of(FolderId::Project).map_err(TreesError::NoFolder)?;
        let files: Vec<String> =
            order.files.iter().map(|file| below(&works_in, &folder.project, file)).collect();
        named(&folder.project, &differs, &files)?
    };
    let unknown = trees.unrecorded(now, &target.tree)?;
    let is_unknown = |name: &Vec<u8>| unknown.has(name) || written.contains(name);
    let is_asked =
        |name: &Vec<u8>| names.contains(name) || (order.files.is_empty() && written.contains(name));
    let unrecorded: BTreeSet<Vec<u8>> =
        differs.iter().filter(|name| is_asked(name) && is_unknown(name)).cloned().collect();
    // A file whose content is in no tree could not be brought back by `--back`, so it is neither written nor removed.
    names.retain(|name| !is_unknown(name));
    // The result is a tree of its own, with every file that stays as it is now: restoring is then one comparison, before and
    // after a crash alike.
    let to = trees.blend(folder.id.as_str(), now, &target.tree, &names)?;
    let at_stake = trees.at_stake(now, &to, &trees.touched(&target.edited)?)?;
    let others = differs.difference(&names).filter(|name| !unrecorded.contains(*name));
    // Named only where the person did not choose the files: then it may surprise them.
    let left_alone = first(others.filter(|_| order.files.is_empty()));
    let stays = Stays { left_alone, unrecorded: first(unrecorded.iter()) };
    let changes = trees.changes(Some(now), &to)?;
    Ok(UndoPlan { what: target.what, to, back: target.back, changes, at_stake, stays })
}

/// The first of some names, for people.
fn first<'a>(names: impl Iterator<Item = &'a Vec<u8>>) -> Vec<String> {
    names.take(TREE_UNREADABLE_MAX).map(|name| shown(name)).collect()
}

fn target(
    folder: &RunFolder,
    book: &TreeBook,
    undoing: &Undoing,
    now: &TreeId,
) -> Result<UndoTarget, HandleError> {
    let (what, span, part) = match undoing {
        Undoing::Run => ("run".to_owned(), book.run(), Part::Run),
        Undoing::Phase { place, visit } => {
            let what = visit.map_or(place.to_string(), |visit| format!("{place}, visit {visit}"));
            (what, book.phase(place, *visit), Part::Phase(place.clone()))
        }
        Undoing::Attempt(id) => (id.to_string(), book.attempt(*id), Part::Attempt(*id)),
        Undoing::Undos(levels) => return back(folder, book, *levels, now),
    };
    if let Undoing::Attempt(id) = undoing
        && let Some(place) = book.step_of(*id)
    {
        let what = format!("{id} worked in the folder of a step, at `{place}`: undo that step");
        return Err(HandleError::NoTree { what, known: Vec::new() });
    }
    let span = span
        .ok_or_else(|| no_visit(book, undoing).unwrap_or_else(|| no_tree(folder, book, &part)))?;
    Ok(UndoTarget {
        what,
        tree: span.from,
        back: None,
        worked: book.by_attempts(span.since, None, now),
        edited: book.by_people(span.since, now),
    })
}

/// The error for a visit of a phase that was not visited so often.
fn no_visit(book: &TreeBook, undoing: &Undoing) -> Option<HandleError> {
    let Undoing::Phase { place, visit: Some(visit) } = undoing else { return None };
    let visits = book.visits(place);
    let times = if visits == 1 { "once".to_owned() } else { format!("{visits} times") };
    let what = format!("`{place}` was visited {times}: there is no visit {visit}");
    (visits > 0 && !(1..=visits).contains(visit))
        .then(|| HandleError::NoTree { what, known: Vec::new() })
}

/// Changes of attempts since the undo are somebody's work too.
fn back(
    folder: &RunFolder,
    book: &TreeBook,
    levels: usize,
    now: &TreeId,
) -> Result<UndoTarget, HandleError> {
    let run = folder.id.short();
    let (first, rows) = book.back(levels).ok_or_else(|| {
        let stands = |row: &&UndoRow| !row.is_back && !row.taken_back && row.from != row.to;
        let known = book.undos().iter().filter(stands).count();
        let what = match known {
            0 => format!("nothing is undone in run {run}"),
            _ => format!("run {run} has {known} undone, and not {levels}"),
        };
        HandleError::NoTree { what, known: Vec::new() }
    })?;
    let mut edited = book.by_people(first, now);
    edited.extend(book.by_attempts(first, None, now));
    Ok(UndoTarget {
        what: rows.iter().map(|row| format!("undo of {}", row.what)).collect::<Vec<_>>().join(", "),
        tree: rows.last().map_or_else(|| now.clone(), |row| row.from.clone()),
        back: Some(first),
        worked: rows.iter().map(|row| (row.from.clone(), row.to.clone())).collect(),
        edited,
    })
}

/// A file as the project knows it: people may name it in the folder of a run that works apart.
fn below(works_in: &Path, project: &Path, file: &str) -> String {
    let inside = Path::new(file).strip_prefix(works_in).ok();
    inside.map_or_else(|| file.to_owned(), |path| project.join(path).to_string_lossy().into_owned())
}

/// Refuses to undo the work of a run that worked apart, once it is merged, dropped or being merged.
fn refuse_own(folder: &RunFolder) -> Result<(), HandleError> {
    let (state, _) = super::reading::read(folder)?;
    match own_work_stays(state.apart.as_deref()) {
        Some(why) => Err(HandleError::Refused { why: why.to_owned() }),
        None => Ok(()),
    }
}

/// The files with these names, or below folders with these names.
fn named(
    project: &Path,
    differs: &BTreeSet<Vec<u8>>,
    files: &[String],
) -> Result<BTreeSet<Vec<u8>>, HandleError> {
    let mut names = BTreeSet::new();
    for file in files {
        let given = Path::new(file);
        let inside = given.strip_prefix(project).unwrap_or(given);
        // A path that leads out of the project names nothing that any tree has.
        if inside.is_absolute() {
            let what = format!("`{file}` is not in the project `{}`", project.display());
            return Err(HandleError::NoTree { what, known: Vec::new() });
        }
        let inside = inside.to_string_lossy();
        let file = inside.trim_start_matches("./").trim_end_matches('/').as_bytes();
        let is_below = |name: &&Vec<u8>| {
            let rest = name.strip_prefix(file);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let found: Vec<&Vec<u8>> = differs.iter().filter(is_below).collect();
        if found.is_empty() {
            return Err(HandleError::NoTree {
                what: format!("`{}` is as it was: nothing of it differs", shown(file)),
                known: first(differs.iter()),
            });
        }
        names.extend(found.into_iter().cloned());
    }
    Ok(names)
}

/// Claims the project's files for a run, unless an undo of another run was interrupted.
pub fn claim_files(folder: &RunFolder) -> Result<Claimed, HandleError> {
    let project = Project::at(&folder.project);
    let (mut left, mut merged) = (None, false);
    let claimed = project.claim_files(&folder.id, |last| {
        (left, merged) = (half_undone_in(last), is_half_merged(last));
        left.is_none() && !merged
    });
    match claimed {
        Ok(Claimed::LeftBy(run)) if merged => {
            Err(HandleError::HalfMerged { run: run.short().to_owned() })
        }
        Ok(Claimed::LeftBy(run)) => {
            let what = left.unwrap_or_default();
            Err(HandleError::HalfUndone { run: run.short().to_owned(), what })
        }
        Ok(claimed) => Ok(claimed),
        // The disk's trouble, and no answer to what was asked.
        Err(error) => {
            let path = project.files_lock().display().to_string();
            Err(LedgerError::io("lock", path, error).into())
        }
    }
}

/// Why no run may start on the project's files: an undo was interrupted. `None` if none was.
pub fn half_undone(project: &Project) -> Option<HandleError> {
    let last = project.last_with_files()?;
    if is_half_merged(&last) {
        return Some(HandleError::HalfMerged { run: last.id.short().to_owned() });
    }
    let what = half_undone_in(&last)?;
    Some(HandleError::HalfUndone { run: last.id.short().to_owned(), what })
}

fn half_undone_in(folder: &RunFolder) -> Option<String> {
    // What a run that works apart undoes is nobody else's.
    super::view(folder).ok().filter(|(view, _)| view.apart.is_none())?.0.half_undone
}

/// True if the merge of a run that worked apart was interrupted while it wrote the project's files.
fn is_half_merged(folder: &RunFolder) -> bool {
    let view = super::view(folder).ok().map(|(view, _)| view);
    view.and_then(|view| view.apart).is_some_and(|apart| apart.half_merged)
}

/// The project's files for an undo. A run that works apart has its own.
fn lock_for_undo(folder: &RunFolder) -> Result<Option<FilesLock>, HandleError> {
    if folder.is_apart() { Ok(None) } else { lock(folder).map(Some) }
}

/// Holds the project's files, unless another run works on them.
pub(super) fn lock(folder: &RunFolder) -> Result<FilesLock, HandleError> {
    match claim_files(folder)? {
        Claimed::Ours(lock) => Ok(lock),
        Claimed::By(None) => Err(HandleError::Refused {
            why: "another run has just taken the project's files: try again".to_owned(),
        }),
        Claimed::By(Some(run)) | Claimed::LeftBy(run) => {
            Err(HandleError::Busy { run: run.short().to_owned() })
        }
    }
}

pub(super) fn open(folder: &RunFolder, asker: &Asker) -> Result<Run, HandleError> {
    let holder = holder(asker, &secrets::redactor(&folder.project));
    Ok(witnesses::open(folder, holder)?)
}

/// Finishes an interrupted undo and whatever else is past. Returns its result; `None` if there was none.
pub fn finish_undo(
    folder: &RunFolder,
    asker: &Asker,
) -> Result<Option<(String, Restored)>, HandleError> {
    let _files = lock_for_undo(folder)?;
    finish(folder, &mut open(folder, asker)?)
}

fn finish(folder: &RunFolder, run: &mut Run) -> Result<Option<(String, Restored)>, HandleError> {
    let what = run.state().trees.undo().map(|(_, undo)| undo.what.clone());
    let world = Recorder::new(folder, run.state());
    let torn = run.torn().map(inbox::told).into_iter().collect();
    let lines = record_in(folder, run, world, torn)?;
    Ok(what.zip(restored(&lines)))
}

/// The result of an undo.
#[derive(Debug, Default)]
pub struct Undone {
    /// What became of the files.
    pub restored: Restored,
    /// What differs and was left alone.
    pub stays: Stays,
}

/// Restores files: records them, writes the intent, then restores. If people would lose changes, it stops unless they agreed.
pub fn undo(folder: &RunFolder, asker: &Asker, order: &UndoOrder) -> Result<Undone, HandleError> {
    let _files = lock_for_undo(folder)?;
    refuse_own(folder)?;
    let mut run = open(folder, asker)?;
    // An interrupted undo first: plans are made from trees, and half of these files are in none.
    finish(folder, &mut run)?;
    // Under the lock of the files: no run can change them between this recording and the plan that is made from it.
    let recorded = record_now(folder, run.state())?;
    let plan = plan(folder, &book(folder)?, &existing(folder)?, order, &recorded.tree)?;
    if !plan.at_stake.is_empty() && !order.also_mine {
        return Err(HandleError::AtStake { files: plan.at_stake });
    }
    if plan.changes.is_none() {
        return Ok(Undone { stays: plan.stays, ..Undone::default() });
    }
    let (what, from, to, back) = (plan.what, recorded.tree.clone(), plan.to, plan.back);
    let recorded = inbox::told(reported(Report::TreeRecorded(Box::new(recorded))));
    let command = Command::Undo { what, from, to, back };
    let (command, _) = secrets::spoken(&secrets::redactor(&folder.project), command);
    let (undo, answer) = inbox::asking(asked(&asker.who, command));
    let world = Recorder::new(folder, run.state());
    // Both in this order and in one drive: the tree that an undo can be taken back to must be in the ledger before the undo.
    let lines = record_in(folder, &mut run, world, vec![recorded, undo])?;
    if let Ok(Answer::Refused(why)) = answer.recv() {
        return Err(HandleError::Refused { why });
    }
    let restored = restored(&lines).unwrap_or_default();
    Ok(Undone { restored, stays: plan.stays })
}

/// The result of the undo.
fn restored(lines: &[Line]) -> Option<Restored> {
    let events = lines.iter().flat_map(|line| &line.events);
    events.rev().find_map(|event| match event {
        Event::UndoEnded(restored) => Some(restored.clone()),
        _ => None,
    })
}
