//! Work folders: copies of the project in which workers work beside each other, outside the project.
//!
//! `$XDG_STATE_HOME/chronicle/work/RUN/w3/NAME` is a folder, `w3/made` says which tree it was made from. Both are made under
//! another name and moved into place together, so that a work folder is whole or not there.
//!
//! In a git project it is a repository of its own that borrows the person's objects: nothing that a worker does with git there
//! reaches the person's references, index, stash, settings or hooks.

mod copy;
mod globs;
mod repository;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::{FolderId, RunId, TreeId};
use chronicle_core::state::OWN_FOLDER;
use thiserror::Error;
use uuid::Uuid;

use crate::fail::{self, Point};
use crate::home;
use crate::index;
use crate::ledger::{atomic_write, is_unfinished, sweep_beside};
use crate::process::Leash;
use crate::project::{MADE, Project, RunFolder};
use crate::regular::{self, Links};
use crate::trees::{Excludes, FilesWritten, Trees, TreesError, chain};

use globs::Globs;

/// File in a run's folder of work folders that names its project.
const PROJECT: &str = "project";
/// Longest path that is read.
const PATH_MAX: u64 = 64 * 1024;
/// Marks a work folder that is being made.
const NEW: &str = ".new-";
/// Marks one that is being removed.
const GONE: &str = ".gone-";

/// A work folder that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The tree that it was made from.
    pub tree: TreeId,
    /// Why it has no repository though the project has one.
    pub plain: Option<String>,
}

/// Why there is no work folder.
#[derive(Debug, Error)]
pub enum WorkError {
    /// The user has no home.
    #[error("there is no place for work folders: set `XDG_STATE_HOME` or `HOME`")]
    NoHome,
    /// The project's files could not be recorded or read again.
    #[error(transparent)]
    Trees(#[from] TreesError),
    /// A file could not be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// The file that failed.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A pattern of files to bring along is of no use.
    #[error("`{glob}` cannot be carried into a work folder: {why}")]
    Carry {
        /// The pattern as it was written.
        glob: String,
        /// What is wrong with it, and what to write instead.
        why: &'static str,
    },
    /// Something else is in its place.
    #[error("`{}` was not made by Chronicle, and is in the place of a work folder: move it away", _0.display())]
    InTheWay(PathBuf),
}

impl WorkError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// The whole error chain in one line, for the ledger.
    pub fn told(&self) -> String {
        chain(self)
    }
}

/// Makes a work folder of a run: from a tree, or from the project's files as they are now, which are recorded then. Files that are
/// ignored come along if `carry` names them. One that is there already is left as it is.
pub fn make(
    run: &RunFolder,
    number: u32,
    from: Option<&TreeId>,
    carry: &[String],
    leash: &Leash,
) -> Result<Made, WorkError> {
    let carry = Globs::read(carry)?;
    let (works, name) = places(run, number)?;
    sweep(&works, number);
    let place = works.join(format!("w{number}"));
    if let Some(made) = there(run, number, &place)? {
        return Ok(made);
    }
    make_private(&works)?;
    let project = works.join(PROJECT);
    let named = atomic_write(&project, run.project.as_os_str().as_bytes());
    named.map_err(io::Error::other).map_err(WorkError::io(&project))?;
    let excludes = Excludes::find(&run.project, leash);
    // Folders of steps are made from what the run works on; that is a folder of its own where it works apart.
    let (source, trees) = if number == OWN_FOLDER {
        (run.project.clone(), Trees::open_origin(run, excludes)?)
    } else {
        let source = run.path_of(FolderId::Project).map_err(TreesError::NoFolder)?;
        (source, Trees::open_for_with(run, FolderId::Project, excludes)?)
    };
    let tree = match from {
        Some(tree) => tree.clone(),
        None => trees.record(Some(&format!("{}/w{number}", run.id)))?.tree,
    };
    let new = works.join(format!("w{number}{NEW}{}", Uuid::new_v4()));
    make_private(&new)?;
    let made = fill(&source, &trees, &tree, &new, &new.join(name), &carry, leash);
    let moved = made.and_then(|made| {
        fail::at(Point::InWork);
        fs::rename(&new, &place).map_err(WorkError::io(&place))?;
        Ok(made)
    });
    if moved.is_err() {
        let _ = copy::remove(&new);
    }
    moved
}

/// Makes all that belongs to a work folder.
fn fill(
    source: &Path,
    trees: &Trees,
    tree: &TreeId,
    new: &Path,
    folder: &Path,
    carry: &Globs,
    leash: &Leash,
) -> Result<Made, WorkError> {
    make_private(folder)?;
    let plain = repository::make(source, folder, leash)?;
    let (written, marked) = trees.write_new(folder, &new.join("staging"), tree)?;
    let failed = written.error.or_else(|| {
        let late = written.late.first();
        late.map(|name| format!("`{name}` is in the way of another file"))
    });
    if let Some(why) = failed {
        return Err(WorkError::io(folder)(io::Error::other(why)));
    }
    // What is too large for a tree would look as if the worker had removed it.
    copy::files(source, folder, &marked)?;
    copy::carry(source, folder, carry)?;
    // The file that says that it is whole comes last, and on the disk with all the rest.
    let text = format!("{tree}\n{}", plain.as_deref().unwrap_or_default());
    let made = new.join(MADE);
    atomic_write(&made, text.as_bytes()).map_err(io::Error::other).map_err(WorkError::io(&made))?;
    Ok(Made { tree: tree.clone(), plain })
}

/// The work folder, if it is whole. One whose files somebody removed is made again; one that is nobody's is not touched.
fn there(run: &RunFolder, number: u32, place: &Path) -> Result<Option<Made>, WorkError> {
    let found = fs::symlink_metadata(place);
    if found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let folder = run.path_of(FolderId::Work(number));
    match (run.made_from(number), folder) {
        (Some((tree, plain)), Ok(_)) => Ok(Some(Made { tree, plain })),
        (Some(_), Err(_)) => {
            drop_folder(run, number)?;
            Ok(None)
        }
        // Somebody emptied it: nothing of anybody's is in the way. What is not empty is refused by the system.
        (None, _) if fs::remove_dir(place).is_ok() => Ok(None),
        (None, _) => Err(WorkError::InTheWay(place.to_owned())),
    }
}

fn places(run: &RunFolder, number: u32) -> Result<(PathBuf, PathBuf), WorkError> {
    let works = run.works().ok_or(WorkError::NoHome)?;
    let folder = run.work(number).ok_or(WorkError::NoHome)?;
    Ok((works, folder.file_name().map(PathBuf::from).unwrap_or_default()))
}

/// Removes what a killed process left half made or half removed. Only the supervisor of a run makes its work folders.
fn sweep(works: &Path, number: u32) {
    for entry in fs::read_dir(works).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let rest = name.strip_prefix(&format!("w{number}"));
        if rest.is_some_and(|rest| rest.starts_with(NEW) || rest.starts_with(GONE)) {
            let _ = copy::remove(&entry.path());
        }
    }
}

fn make_private(folder: &Path) -> Result<(), WorkError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(WorkError::io(folder))
}

/// Brings what differs between two trees into a folder that is as the first; as a whole; see [`Trees::write_whole`].
pub fn write(
    folder: &Path,
    staging: &Path,
    from: &TreeId,
    to: &TreeId,
    trees: &Trees,
) -> Result<FilesWritten, WorkError> {
    Ok(trees.write_whole(folder, staging, from, to)?)
}

/// Removes a work folder, with all that is in it. One that is not there is no error.
pub fn drop_folder(run: &RunFolder, number: u32) -> Result<(), WorkError> {
    let (works, _) = places(run, number)?;
    let place = works.join(format!("w{number}"));
    take_away(&place)?;
    sweep(&works, number);
    Trees::forget_work(run, number);
    forget_if_empty(&works);
    Ok(())
}

/// Removes a folder under another name: a half removed one is never taken for a whole one.
fn take_away(place: &Path) -> Result<(), WorkError> {
    let mut gone = place.as_os_str().to_owned();
    gone.push(format!("{GONE}{}", Uuid::new_v4()));
    let gone = PathBuf::from(gone);
    match fs::rename(place, &gone) {
        Ok(()) => copy::remove(&gone).map_err(WorkError::io(&gone)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(WorkError::io(place)(error)),
    }
}

/// Removes a run's folder of work folders once it has none.
fn forget_if_empty(works: &Path) {
    let project = works.join(PROJECT);
    // What a killed process was about to write in its place is nothing to keep.
    let is_name = |path: &Path| *path == project || is_unfinished(path);
    let mut entries = fs::read_dir(works).into_iter().flatten().flatten();
    if entries.all(|entry| is_name(&entry.path())) {
        let _ = sweep_beside(&project);
        let _ = fs::remove_file(&project);
        let _ = fs::remove_dir(works);
    }
}

/// A work folder that nobody needs any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The run that it belonged to.
    pub run: RunId,
    /// The number of the work folder in its run.
    pub number: u32,
    /// Where it is. A half made or half removed one has a longer name.
    pub path: PathBuf,
    /// Its size on the disk.
    pub bytes: u64,
}

/// Work folders of runs that no longer exist, or that are over, which the caller knows. Nothing is listed of a run whose project
/// cannot be reached: its disk may only be elsewhere.
pub fn leftovers(is_over: impl Fn(&RunFolder) -> bool) -> Vec<Leftover> {
    let Some(works) = home::works() else { return Vec::new() };
    let mut left = Vec::new();
    for works in fs::read_dir(works).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Some(id) = works.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(run) = run_of(&works, id) else { continue };
        if !run.project.is_dir() || run.path.is_dir() && !is_over(&run) {
            continue;
        }
        for entry in fs::read_dir(&works).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if let Some(number) = name.to_str().and_then(number_in) {
                let bytes = copy::bytes_below(&path);
                left.push(Leftover { run: run.id.clone(), number, path, bytes });
            }
        }
    }
    left.sort_by(|one, two| one.path.cmp(&two.path));
    left
}

/// The run that a leftover belonged to, whether or not it exists.
pub(crate) fn owner(left: &Leftover) -> Option<RunFolder> {
    run_of(left.path.parent()?, left.run.as_str())
}

/// The run that a folder of work folders belongs to, whether or not it exists.
fn run_of(works: &Path, id: &str) -> Option<RunFolder> {
    use std::ffi::OsStr;
    let project = regular::read(&works.join(PROJECT), PATH_MAX, Links::Refused).ok();
    let named = project.map(|path| Project::at(Path::new(OsStr::from_bytes(&path))));
    let named = named.map(|project| project.run(RunId::from(id)));
    named.or_else(|| index::all().into_iter().find(|run| run.id.as_str() == id))
}

/// The number of `w3`, also of `w3.new-…`.
fn number_in(name: &str) -> Option<u32> {
    let rest = name.strip_prefix('w')?;
    rest.split('.').next()?.parse().ok()
}

/// Removes a leftover, with what the project's trees keep of it.
pub fn remove(left: &Leftover) -> Result<(), WorkError> {
    take_away(&left.path)?;
    if let Some(works) = left.path.parent() {
        if let Some(run) = run_of(works, left.run.as_str()) {
            Trees::forget_work(&run, left.number);
        }
        forget_if_empty(works);
    }
    Ok(())
}
