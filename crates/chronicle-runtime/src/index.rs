//! Index of all runs of this user: one small file per run that names its project. It is rebuilt by looking into projects.

use std::fs;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::RunId;

use crate::home;
use crate::ledger::atomic_write;
use crate::project::{Project, RunFolder};
use crate::regular::{self, Links};

/// Longest path that is read.
const PATH_MAX: u64 = 64 * 1024;

/// Folder of the index; `None` if the user has no home.
fn folder() -> Option<PathBuf> {
    Some(home::state()?.join("runs"))
}

/// Adds a run. A failure only means that the run is found from its own project alone.
pub(crate) fn add(run: &RunFolder) {
    let Some(folder) = folder() else { return };
    let entry = folder.join(run.id.as_str());
    let project = run.project.as_os_str().as_encoded_bytes();
    if named_in(&entry).is_some_and(|known| known == project) {
        return;
    }
    if fs::create_dir_all(&folder).is_ok() {
        let _ = atomic_write(&entry, project);
    }
}

/// Records that this user started the run in this folder: runs that come with a project's files are somebody else's.
pub(crate) fn mark_begun(run: &RunFolder) {
    let Some(mark) = mark_of(run) else { return };
    // A mark that cannot be made costs a question when the run is to go on.
    if mark.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) {
        let _ = atomic_write(&mark, run.project.as_os_str().as_encoded_bytes());
    }
}

/// True if this user started the run in this folder.
pub fn was_begun(run: &RunFolder) -> bool {
    let project = run.project.as_os_str().as_encoded_bytes();
    mark_of(run).and_then(|mark| named_in(&mark)).is_some_and(|known| known == project)
}

/// The project that an entry names.
fn named_in(file: &Path) -> Option<Vec<u8>> {
    regular::read(file, PATH_MAX, Links::Refused).ok()
}

/// Removes a run whose folder is gone.
pub(crate) fn forget(run: &RunFolder) {
    let entry = folder().map(|folder| folder.join(run.id.as_str()));
    for file in [entry, mark_of(run)].into_iter().flatten() {
        let _ = fs::remove_file(file);
    }
}

fn mark_of(run: &RunFolder) -> Option<PathBuf> {
    Some(home::state()?.join("begun").join(run.id.as_str()))
}

/// Every run that still exists, newest first; entries of missing runs are removed.
pub fn all() -> Vec<RunFolder> {
    let Some(entries) = folder().and_then(|folder| fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let mut runs: Vec<RunFolder> =
        entries.flatten().filter_map(|entry| read(&entry.path())).collect();
    runs.sort_unstable_by(|one, other| other.id.as_str().cmp(one.id.as_str()));
    runs
}

fn read(entry: &Path) -> Option<RunFolder> {
    use std::os::unix::ffi::OsStrExt;
    let id = RunId::new(entry.file_name()?.to_str()?);
    let project = named_in(entry)?;
    let run = Project::at(Path::new(std::ffi::OsStr::from_bytes(&project))).run(id);
    if run.path.is_dir() {
        return Some(run);
    }
    // The project itself may only be unmounted for now.
    if run.project.is_dir() {
        let _ = fs::remove_file(entry);
    }
    None
}
