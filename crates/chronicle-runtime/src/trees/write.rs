//! Brings the files of a tree into a folder where people and programs work at the same time.
//!
//! Everything that comes is written beside first and synced, so that a full disk is met before the first file changes. Then each
//! file is exchanged for the new one in one step, and what came out is looked at: if somebody changed it meanwhile, it goes back.
//! So nobody's edit is lost at any time, also not by a death in between: what lies beside is looked at by the next write.
//!
//! What comes into a project comes as a whole or not at all (`whole.rs`).
//!
//! Named limits: a program that holds a file open and writes into it afterwards writes to what was replaced. On a file system that
//! cannot exchange two files, an edit in the moment between a look and a rename is replaced.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;
use chronicle_core::event::trees::{TREE_FILES_MAX, TREE_UNREADABLE_MAX};
use rustix::fs::Mode;

use super::diff::{DiffEntry, EMPTY_TREE, NO_MODE};
use super::modes::PROGRAM;
use super::names::{Name, joined, parts, shown};
use super::staged::{Content, Slot, Staging, permissions};
use super::whole::{self, Brought};
use super::{OWN_MAX, Trees, TreesError};
use crate::fail::{self, Point};
use crate::ledger::atomic_write;
use crate::regular::{self, Links};

/// File in a staging folder that says what it is for.
const LIST: &str = "list";
/// Empty file in every staging folder, the first one there: so it is known as ours.
const BEGUN: &str = "begun";
/// Ending of a staging folder that has somebody's edit in it.
const KEPT: &str = "kept";
/// Number of files from which on the whole file system is synced instead of each.
pub(super) const SYNC_ALL_FROM: usize = 200;

/// What became of the files that a merge brings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesWritten {
    /// Number of files that are as they shall be, also those that were already.
    pub files: u32,
    /// The first of them.
    pub list: Vec<String>,
    /// The first files that were not as expected: somebody changed them, and they are left as they are.
    pub late: Vec<String>,
    /// What went wrong with a file, the first of several.
    pub error: Option<String>,
    /// True if the staging folder has somebody's edit in it.
    pub(super) has_beside: bool,
}

/// What became of a file.
pub(super) enum Put {
    Done,
    /// It was as it shall be already.
    Was,
    /// It is not as expected, and left as it is.
    Late,
    /// Two edits came at the same moment: the newer one is in place, the older one beside.
    Beside,
}

/// A file to bring.
pub(super) struct Task {
    pub(super) name: Name,
    pub(super) from: Content,
    pub(super) to: Content,
    /// Permissions of a file that is new.
    mode: Mode,
}

impl Trees {
    /// Brings what differs between two trees into a folder, where it is as in the first. All that comes is written into `staging`
    /// first, a folder of our own on the same file system, which is gone afterwards. Can be repeated after a death, with the same
    /// trees or with a newer first one. Files that are in the way are left as they are.
    pub fn write(
        &self,
        folder: &Path,
        staging: &Path,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<FilesWritten, TreesError> {
        // No recording and no undo sees half of it.
        let _lock = self.lock()?;
        let mut written = FilesWritten::default();
        self.put_back_left(folder, staging, &mut written)?;
        self.write_files(folder, staging, (Some(from), to), None, &mut written)?;
        Ok(written)
    }

    /// The same, as a whole or not at all: with anything in the way, the folder stays as it is, or becomes so again.
    pub fn write_whole(
        &self,
        folder: &Path,
        staging: &Path,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<FilesWritten, TreesError> {
        let _lock = self.lock()?;
        let mut written = FilesWritten::default();
        let is_again = self.put_back_left(folder, staging, &mut written)?;
        self.write_files(folder, staging, (Some(from), to), Some(is_again), &mut written)?;
        Ok(written)
    }

    /// The same, into a new folder that nobody else knows. Returns what could not be written, since the tree has only a mark for it.
    pub(crate) fn write_new(
        &self,
        folder: &Path,
        staging: &Path,
        tree: &TreeId,
    ) -> Result<(FilesWritten, Vec<PathBuf>), TreesError> {
        let mut written = FilesWritten::default();
        let marked = self.write_files(folder, staging, (None, tree), None, &mut written)?;
        let marked = marked.into_iter().map(|name| PathBuf::from(OsStr::from_bytes(&name)));
        Ok((written, marked.collect()))
    }

    /// Brings the files. As a whole, if it is said whether a write that was killed may have brought some of them.
    fn write_files(
        &self,
        folder: &Path,
        staging: &Path,
        (from, to): (Option<&TreeId>, &TreeId),
        whole: Option<bool>,
        written: &mut FilesWritten,
    ) -> Result<Vec<Name>, TreesError> {
        let empty = TreeId::from(EMPTY_TREE);
        let entries = self.entries(from.unwrap_or(&empty), to)?;
        let (marked, mut entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(DiffEntry::is_unrecorded);
        let marked: Vec<Name> = marked.into_iter().map(|entry| entry.name).collect();
        // Its content is in no tree.
        written.late.extend(from.iter().flat_map(|_| marked.iter().map(|name| shown(name))));
        if entries.is_empty() {
            return Ok(marked);
        }
        order(&mut entries);
        fail::at(Point::BeforeMergeStage);
        let (place, tasks) = self.stage_all(folder, staging, &entries, to)?;
        fail::at(Point::BeforeMergeWrite);
        let mut brought = if whole.is_some() {
            whole::bring(&place, &tasks, written)
        } else {
            Brought { done: bring_each(&place, &tasks, written), is_broken: false }
        };
        place.sync_folder(tasks.iter().map(|task| task.name.as_slice()));
        fail::at(Point::BeforeMergeEnd);
        if let (true, Some(is_again), Some(from)) = (brought.is_broken, whole, from) {
            if is_again {
                brought.done = (0..entries.len()).collect();
            }
            let done: Vec<DiffEntry> =
                brought.done.into_iter().map(|at| entries[at].reversed()).collect();
            self.take_back(folder, staging, done, from, written);
        }
        // Last: whoever is killed before finds it, and knows that something was brought.
        clear(staging, written);
        Ok(marked)
    }

    /// The staging folder with all that comes in it.
    pub(super) fn stage_all(
        &self,
        folder: &Path,
        staging: &Path,
        entries: &[DiffEntry],
        to: &TreeId,
    ) -> Result<(Staging, Vec<Task>), TreesError> {
        make_private(staging)?;
        let staged = self.stage_files(folder, staging, entries, to);
        if staged.is_err() {
            let _ = fs::remove_dir_all(staging);
        }
        staged
    }

    /// Writes what comes into the staging folder, and learns how what goes looks. The list comes last: without it nothing was moved.
    fn stage_files(
        &self,
        folder: &Path,
        staging: &Path,
        entries: &[DiffEntry],
        to: &TreeId,
    ) -> Result<(Staging, Vec<Task>), TreesError> {
        let place = Staging::open(folder, staging).map_err(TreesError::io(staging))?;
        let modes = self.modes_of(to).unwrap_or_default();
        let known = self.known(&place, entries, true)?;
        let tasks = entries.iter().zip(known).map(|(entry, (from, to))| Task {
            name: entry.name.clone(),
            from,
            to,
            mode: permissions(modes.of(&entry.name, &entry.after.0)),
        });
        let tasks: Vec<Task> = tasks.collect();
        for (number, task) in tasks.iter().enumerate() {
            // As it is looked for: after a death, what looks otherwise is taken for an edit of somebody, and put in place.
            if matches!(task.to, Content::File { is_program: true, .. }) {
                place.permit(&Slot::staged(number), Mode::RWXU).map_err(TreesError::io(staging))?;
            }
        }
        place.sync(tasks.len()).map_err(TreesError::io(staging))?;
        let listed = atomic_write(&staging.join(LIST), &list(folder, entries));
        listed.map_err(io::Error::other).map_err(TreesError::io(staging))?;
        Ok((place, tasks))
    }

    /// How each file looks before and after, and if wanted the new ones in the staging folder.
    fn known(
        &self,
        place: &Staging,
        entries: &[DiffEntry],
        write: bool,
    ) -> Result<Vec<(Content, Content)>, TreesError> {
        let is_there = |(mode, _): &&(String, String)| mode != NO_MODE;
        let sides = || entries.iter().flat_map(|entry| [&entry.before, &entry.after]);
        let ids: Vec<&str> = sides().filter(is_there).map(|(_, id)| id.as_str()).collect();
        let wanted = entries.iter().enumerate().flat_map(|(number, entry)| {
            [(None, &entry.before), (write.then_some(number), &entry.after)]
        });
        let wanted = wanted.filter(|(_, side)| is_there(side));
        let mut taken =
            place.taking(wanted.map(|(number, side)| (number, is_link(side))).collect());
        self.blobs(&ids, &mut taken)?.map_err(TreesError::io(place.path()))?;
        let mut found = taken.found().into_iter();
        let mut next = |side: &(String, String)| {
            if side.0 == NO_MODE {
                return Some(Content::Nothing);
            }
            let content = found.next()??;
            let is_program = side.0 == PROGRAM;
            Some(if is_link(side) { content.link() } else { content.file(is_program) })
        };
        let both = entries.iter().map(|entry| {
            let (before, after) = (next(&entry.before), next(&entry.after));
            let is_whole = after.is_some() || !write;
            is_whole
                .then(|| (before.unwrap_or(Content::Unknown), after.unwrap_or(Content::Unknown)))
        });
        both.collect::<Option<Vec<_>>>().ok_or_else(|| TreesError::Damaged {
            path: self.git.dir.clone(),
            what: "write files",
            why: "a content is missing".to_owned(),
        })
    }

    /// Puts back what a killed write took out, and that is in no tree: an edit of somebody. Returns whether one was killed here.
    fn put_back_left(
        &self,
        folder: &Path,
        staging: &Path,
        written: &mut FilesWritten,
    ) -> Result<bool, TreesError> {
        let mut is_again = false;
        let Some(above) = staging.parent() else { return Ok(false) };
        for left in fs::read_dir(above).into_iter().flatten().flatten() {
            let left = left.path();
            // One that has no list yet has nothing of anybody's. What is not ours at all is left alone.
            let list = regular::read(&left.join(LIST), OWN_MAX, Links::Refused);
            let read = list.ok().and_then(|list| read_list(&list));
            let is_here = |of: &Path| same(of, folder);
            match read {
                Some((of, _)) if !is_here(&of) => {}
                Some((_, entries)) => {
                    is_again |= left == staging;
                    self.put_back_from(folder, &left, &entries, written)?;
                }
                None if left == staging || left.join(BEGUN).is_file() => {
                    let _ = fs::remove_dir_all(&left);
                }
                None => {}
            }
        }
        Ok(is_again)
    }

    fn put_back_from(
        &self,
        folder: &Path,
        left: &Path,
        entries: &[DiffEntry],
        written: &mut FilesWritten,
    ) -> Result<(), TreesError> {
        let place = Staging::open(folder, left).map_err(TreesError::io(left))?;
        let slots: Vec<(Slot, &DiffEntry)> =
            entries.iter().enumerate().map(|(n, entry)| (Slot::staged(n), entry)).collect();
        let there: Vec<(Slot, DiffEntry)> = slots
            .into_iter()
            .filter(|(slot, _)| place.look(slot).is_ok_and(|it| it != Content::Nothing))
            .map(|(slot, entry)| (slot, entry.clone()))
            .collect();
        let wanted: Vec<DiffEntry> = there.iter().map(|(_, entry)| entry.clone()).collect();
        let known = self.known(&place, &wanted, false)?;
        let mut is_clear = true;
        for ((slot, entry), (from, to)) in there.iter().zip(known) {
            let task = Task { name: entry.name.clone(), from, to, mode: Mode::empty() };
            is_clear &= put_back(&place, slot, &task).unwrap_or(false);
        }
        if is_clear {
            let _ = fs::remove_dir_all(left);
        } else {
            written.error.get_or_insert_with(|| keep_aside(left));
        }
        Ok(())
    }
}

/// Brings each file that is not in the way. Returns which were brought.
fn bring_each(place: &Staging, tasks: &[Task], written: &mut FilesWritten) -> Vec<usize> {
    let mut done = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        fail::at(Point::InMergeWrite);
        let put = put(place, &Slot::staged(number), task);
        if matches!(put, Ok(Put::Done)) {
            done.push(number);
        }
        note(written, task, put);
    }
    done
}

/// Removes the staging folder, unless it has somebody's edit in it.
pub(super) fn clear(staging: &Path, written: &mut FilesWritten) {
    if std::mem::take(&mut written.has_beside) {
        let kept = keep_aside(staging);
        written.error.get_or_insert(kept);
    } else {
        // What cannot be removed is looked at by the next write.
        let _ = fs::remove_dir_all(staging);
    }
}

/// Brings one file, unless it is not as expected.
pub(super) fn put(place: &Staging, slot: &Slot, task: &Task) -> io::Result<Put> {
    let makes = task.to != Content::Nothing;
    let at = match place.find(&task.name, makes) {
        Ok(at) => at,
        // Without its folder there is no file. What is behind a link is another one.
        Err(error)
            if !makes && (error.kind() == io::ErrorKind::NotFound || is_in_the_way(&error)) =>
        {
            return Ok(Put::Was);
        }
        Err(error) if is_in_the_way(&error) => return Ok(Put::Late),
        Err(error) => return Err(error),
    };
    let seen = place.look(&at)?;
    let is_gone = !makes && seen == Content::Folder;
    if seen == task.to || is_gone {
        return Ok(Put::Was);
    }
    // A folder that lost its last file, or never had one.
    let is_freed = seen == Content::Folder && task.from == Content::Nothing && at.remove_folder();
    if seen != task.from && !is_freed {
        return Ok(Put::Late);
    }
    match (&task.from, &task.to) {
        (_, Content::Nothing) => remove(place, slot, task, &at),
        (Content::Nothing, _) => {
            place.permit(slot, task.mode)?;
            place.bring_new(slot, &at).map(|is_free| if is_free { Put::Done } else { Put::Late })
        }
        (_, _) => {
            // What was no file has no permissions to keep.
            let mode = place.kept_mode(&at, &task.to).unwrap_or(task.mode);
            place.permit(slot, mode)?;
            exchange(place, slot, task, &at)
        }
    }
}

fn exchange(place: &Staging, slot: &Slot, task: &Task, at: &Slot) -> io::Result<Put> {
    let Some(slot) = place.exchange(slot, at)? else {
        // It was replaced by a rename: all that can be told is what is there now.
        let is_ours = place.look(at)? == task.to;
        return Ok(if is_ours { Put::Done } else { Put::Late });
    };
    fail::at(Point::InMergeSwap);
    let out = place.look(&slot)?;
    let put = match () {
        () if out == task.from => Put::Done,
        // Gone before it could be exchanged.
        () if out == Content::Nothing || out == task.to => Put::Late,
        () => swap_back(place, &slot, task, at)?,
    };
    if matches!(put, Put::Done | Put::Late) {
        Staging::discard(&slot);
    }
    Ok(put)
}

/// What came out is an edit of somebody: it goes back.
fn swap_back(place: &Staging, slot: &Slot, task: &Task, at: &Slot) -> io::Result<Put> {
    place.exchange(slot, at)?;
    if place.look(slot)? == task.to {
        return Ok(Put::Late);
    }
    // Another edit came in that moment. The newest one belongs in the place.
    place.exchange(slot, at)?;
    Ok(Put::Beside)
}

fn remove(place: &Staging, slot: &Slot, task: &Task, at: &Slot) -> io::Result<Put> {
    let Some(slot) = place.take_out(at, slot)? else { return Ok(Put::Done) };
    fail::at(Point::InMergeSwap);
    if place.look(&slot)? == task.from {
        Staging::discard(&slot);
        place.remove_empty(&task.name);
        return Ok(Put::Done);
    }
    Ok(if place.bring_new(&slot, at)? { Put::Late } else { Put::Beside })
}

/// True if nothing of anybody's is left in a slot.
fn put_back(place: &Staging, slot: &Slot, task: &Task) -> io::Result<bool> {
    let left = place.look(slot)?;
    if left == task.to || left == task.from || left == Content::Nothing {
        return Ok(true);
    }
    let at = place.find(&task.name, true)?;
    let seen = place.look(&at)?;
    if seen == Content::Nothing {
        return place.bring_new(slot, &at);
    }
    if seen != task.to {
        return Ok(false);
    }
    place.exchange(slot, &at)?;
    Ok(place.look(slot)? == task.to)
}

/// True for something other than a folder on the way to a file.
pub(super) fn is_in_the_way(error: &io::Error) -> bool {
    let is_loop = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    error.kind() == io::ErrorKind::NotADirectory || is_loop
}

pub(super) fn note(written: &mut FilesWritten, task: &Task, put: io::Result<Put>) {
    let name = shown(&task.name);
    written.has_beside |= matches!(put, Ok(Put::Beside));
    match put {
        Ok(Put::Done | Put::Was) => {
            written.files = written.files.saturating_add(1);
            if written.list.len() < TREE_FILES_MAX {
                written.list.push(name);
            }
            return;
        }
        Ok(Put::Late | Put::Beside) => {}
        Err(error) => {
            written.error.get_or_insert_with(|| format!("`{name}` cannot be written: {error}"));
            return;
        }
    }
    if written.late.len() < TREE_UNREADABLE_MAX {
        written.late.push(name);
    }
}

/// Keeps a staging folder that has somebody's edit in it, where no later write needs its name. Returns the words for people.
fn keep_aside(staging: &Path) -> String {
    let mut kept = staging.to_owned();
    if staging.extension().is_none_or(|ending| ending != KEPT) {
        kept.as_mut_os_string().push(format!(".{KEPT}"));
        if fs::rename(staging, &kept).is_err() {
            staging.clone_into(&mut kept);
        }
    }
    let place = kept.display();
    format!(
        "two edits came at the same moment, and the older one is kept in `{place}`: look at it, then remove that folder"
    )
}

/// What comes and what changes goes first: a death in between then leaves nothing out. Only a file in the place of a new folder, and
/// the files of a folder in the place of a new file, go before. Rules for what is ignored come last.
pub(super) fn order(entries: &mut [DiffEntry]) {
    let come: BTreeSet<Name> =
        entries.iter().filter(|it| it.after.0 != NO_MODE).map(|it| it.name.clone()).collect();
    let is_below = |name: &[u8], folder: &[u8]| {
        name.len() > folder.len() && name.starts_with(folder) && name[folder.len()] == b'/'
    };
    let makes_room = |entry: &DiffEntry| {
        let name = entry.name.as_slice();
        let first_below = come.range([name, b"/"].concat()..).next();
        let above = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        entry.after.0 == NO_MODE
            && (first_below.is_some_and(|below| is_below(below, name))
                || above.into_iter().any(|at| come.contains(&name[..at])))
    };
    entries.sort_by_cached_key(|entry| {
        let turn = match () {
            () if makes_room(entry) => 0,
            () if entry.after.0 == NO_MODE => 2,
            () => 1,
        };
        (turn, entry.name.ends_with(b".gitignore"))
    });
}

/// What a staging folder is for: the folder, and each file with both its sides.
fn list(folder: &Path, entries: &[DiffEntry]) -> Vec<u8> {
    let line = |entry: &DiffEntry| {
        let (before, after) = (&entry.before, &entry.after);
        let head = format!("{} {} {} {}\t", before.0, before.1, after.0, after.1);
        [head.as_bytes(), &entry.name].concat()
    };
    let lines: Vec<Name> = entries.iter().map(line).collect();
    let folder = folder.as_os_str().as_bytes();
    joined(std::iter::once(folder).chain(lines.iter().map(Vec::as_slice)))
}

fn read_list(bytes: &[u8]) -> Option<(PathBuf, Vec<DiffEntry>)> {
    let mut lines = parts(bytes);
    let folder = PathBuf::from(OsStr::from_bytes(lines.next()?));
    let entries = lines.map(|line| {
        let at = line.iter().position(|byte| *byte == b'\t')?;
        let words: Vec<&str> = std::str::from_utf8(&line[..at]).ok()?.split(' ').collect();
        let [before, before_id, after, after_id] = words[..] else { return None };
        let side = |mode: &str, id: &str| (mode.to_owned(), id.to_owned());
        Some(DiffEntry {
            name: line[at + 1..].to_vec(),
            before: side(before, before_id),
            after: side(after, after_id),
        })
    });
    Some((folder, entries.collect::<Option<_>>()?))
}

fn same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one))
}

fn is_link(side: &(String, String)) -> bool {
    side.0 == "120000"
}

/// Makes the staging folder anew, for our eyes only.
fn make_private(staging: &Path) -> Result<(), TreesError> {
    use std::os::unix::fs::DirBuilderExt;
    let above = staging.parent().unwrap_or(staging);
    regular::check_folder(above).map_err(TreesError::io(above))?;
    fs::create_dir_all(above).map_err(TreesError::io(above))?;
    let made = fs::DirBuilder::new().mode(0o700).create(staging);
    made.and_then(|()| fs::write(staging.join(BEGUN), "")).map_err(TreesError::io(staging))
}
