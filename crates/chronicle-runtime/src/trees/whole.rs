//! A merge comes into a project as a whole or not at all.
//!
//! What is in the way is found before the first file changes: an edit, or files that git ignores in the place of others. What comes in
//! the way later ends the write, and what it had brought is taken back from the trees, as far as nobody has edited it since.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use chronicle_core::base::ids::TreeId;

use super::diff::DiffEntry;
use super::names::Name;
use super::staged::{Content, Slot, Staging};
use super::write::{FilesWritten, Put, Task, clear, is_in_the_way, note, order, put};
use super::{Trees, TreesError};
use crate::fail::{self, Point};

/// Ends the name of the folder for what is taken back.
const BACK: &str = "-back";

/// What a write brought before it ended.
pub(super) struct Brought {
    /// The tasks that it did.
    pub(super) done: Vec<usize>,
    /// Whether something came in the way.
    pub(super) is_broken: bool,
}

/// Brings all files, or ends at the first that cannot be brought.
pub(super) fn bring(place: &Staging, tasks: &[Task], written: &mut FilesWritten) -> Brought {
    let mut brought = Brought { done: Vec::new(), is_broken: false };
    for (task, is_blocked) in blocked(place, tasks) {
        brought.is_broken = true;
        note(written, task, is_blocked.map(|()| Put::Late));
    }
    let free = if brought.is_broken { &[] } else { tasks };
    for (number, task) in free.iter().enumerate() {
        fail::at(Point::InMergeWrite);
        let put = put(place, &Slot::staged(number), task);
        brought.is_broken = !matches!(put, Ok(Put::Done | Put::Was));
        if matches!(put, Ok(Put::Done)) {
            brought.done.push(number);
        }
        note(written, task, put);
        if brought.is_broken {
            break;
        }
    }
    brought
}

/// The files that cannot be brought, as the folder is now.
fn blocked<'t>(place: &Staging, tasks: &'t [Task]) -> Vec<(&'t Task, io::Result<()>)> {
    let gone = tasks.iter().filter(|task| task.to == Content::Nothing);
    let gone: BTreeSet<&[u8]> = gone.map(|task| task.name.as_slice()).collect();
    let all = tasks.iter().filter_map(|task| match is_blocked(place, task, &gone) {
        Ok(false) => None,
        Ok(true) => Some((task, Ok(()))),
        Err(error) => Some((task, Err(error))),
    });
    all.collect()
}

/// True if a file is neither as it was nor as it shall be. `gone` are those that make room first.
fn is_blocked(place: &Staging, task: &Task, gone: &BTreeSet<&[u8]>) -> io::Result<bool> {
    let makes = task.to != Content::Nothing;
    let at = match place.find(&task.name, false) {
        Ok(at) => at,
        // What shall go is gone, and what is new gets its folder.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(makes && task.from != Content::Nothing);
        }
        Err(error) if is_in_the_way(&error) => {
            return Ok(makes && !above(&task.name).any(|above| gone.contains(above)));
        }
        Err(error) => return Err(error),
    };
    let seen = place.look(&at)?;
    if seen == task.to || seen == task.from {
        return Ok(false);
    }
    match seen {
        Content::Folder if !makes => Ok(false),
        Content::Folder if task.from == Content::Nothing => {
            Ok(!place.is_freed(&task.name, &|name| gone.contains(name))?)
        }
        _ => Ok(true),
    }
}

/// The folders above a file.
fn above(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &name[..at])
}

impl Trees {
    /// Takes back what was brought. What somebody has edited since stays, and is named.
    pub(super) fn take_back(
        &self,
        folder: &Path,
        staging: &Path,
        mut back: Vec<DiffEntry>,
        to: &TreeId,
        written: &mut FilesWritten,
    ) {
        (written.files, written.list) = (0, Vec::new());
        if back.is_empty() {
            return;
        }
        order(&mut back);
        let has_beside = std::mem::take(&mut written.has_beside);
        let mut beside = staging.as_os_str().to_owned();
        beside.push(BACK);
        if let Err(error) = self.bring_back(folder, Path::new(&beside), &back, to, written) {
            let why =
                format!("a part of it is in the project, and could not be taken back: {error}");
            written.error = Some(why);
        }
        written.has_beside = has_beside;
    }

    fn bring_back(
        &self,
        folder: &Path,
        staging: &Path,
        back: &[DiffEntry],
        to: &TreeId,
        written: &mut FilesWritten,
    ) -> Result<(), TreesError> {
        let (place, tasks) = self.stage_all(folder, staging, back, to)?;
        let mut left: Vec<Name> = Vec::new();
        for (number, task) in tasks.iter().enumerate() {
            fail::at(Point::InMergeWrite);
            match put(&place, &Slot::staged(number), task) {
                Ok(Put::Done | Put::Was) => {}
                Ok(Put::Late) => left.push(task.name.clone()),
                other => note(written, task, other),
            }
        }
        place.sync_folder(tasks.iter().map(|task| task.name.as_slice()));
        clear(staging, written);
        for name in left {
            let name = super::names::shown(&name);
            if !written.late.contains(&name) {
                written.late.push(name);
            }
        }
        Ok(())
    }
}
