//! Index of all runs of this user: one small file per run that names its project. It is rebuilt by looking into projects.

use std::collections::BTreeSet;
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
    // An entry that is right is left alone: writing it again would wait for the disk and change nothing.
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
    // The project must be the same as well: a copy of it, as somebody may send one, has a run of the same id.
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

/// Every run that still exists, newest first.
pub fn all() -> Vec<RunFolder> {
    known(|_| true, |run| run.path.is_dir())
}

/// Runs of a project that exists, whose own folders do not: somebody removed them. Newest first.
pub(crate) fn gone(project: &Project) -> Vec<RunFolder> {
    let there: BTreeSet<RunId> = project.runs().into_iter().map(|run| run.id).collect();
    let is_ours = |run: &RunFolder| run.project == project.root() && !run.path.is_dir();
    known(|id| !there.contains(id), |run| is_ours(run) && run.project.is_dir())
}

/// Runs of the index. Only entries with such an id are read.
fn known(has_id: impl Fn(&RunId) -> bool, is_one: impl Fn(&RunFolder) -> bool) -> Vec<RunFolder> {
    let Some(entries) = folder().and_then(|folder| fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let named = |entry: fs::DirEntry| Some((RunId::new(entry.file_name().to_str()?), entry.path()));
    let entries = entries.flatten().filter_map(named).filter(|(id, _)| has_id(id));
    let mut runs: Vec<RunFolder> =
        entries.filter_map(|(id, entry)| read(id, &entry)).filter(is_one).collect();
    // An id begins with the time at which it was made, so this is the order of the starts.
    runs.sort_unstable_by(|one, other| other.id.as_str().cmp(one.id.as_str()));
    runs
}

fn read(id: RunId, entry: &Path) -> Option<RunFolder> {
    use std::os::unix::ffi::OsStrExt;
    let project = named_in(entry)?;
    Some(Project::at(Path::new(std::ffi::OsStr::from_bytes(&project))).run(id))
}
