//! Links that workers may have left in the folders that they write.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

use crate::process::wall::{Wall, WallRefusal, WallStep, way_to};

/// Refuses what is writable by its name and lies elsewhere. A worker that may write the project can put a link to somebody's home in
/// the place of a build folder, and a later phase may name that folder.
pub(super) fn refuse_planted(wall: &Wall) -> Result<(), WallRefusal> {
    let planted = wall.writable.iter().find(|path| !is_where_it_seems(wall, path));
    planted.map_or(Ok(()), |path| Err(leads_elsewhere(path)))
}

pub(super) fn leads_elsewhere(path: &Path) -> WallRefusal {
    WallRefusal::plain(WallStep::Links, format!("`{}` leads elsewhere", path.display()))
}

/// Makes the folders that must exist. Nothing is made where a link leads: one that cannot be made is missing, which is told.
pub(super) fn make(wall: &Wall) {
    let is_safe = |folder: &&std::path::PathBuf| {
        folder.parent().is_some_and(|parent| is_where_it_seems(wall, parent))
    };
    for folder in wall.made.iter().filter(is_safe) {
        let _ = fs::create_dir(folder);
    }
    // What an empty one covers is for its owner alone: the owner's own tmux refuses a folder that others can enter.
    for folder in wall.fresh.iter().filter(is_safe) {
        let _ = DirBuilder::new().mode(0o700).create(folder);
    }
}

/// A listed path as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    /// The path without any link on the way.
    pub(super) real: PathBuf,
    /// True if a link leads there that a worker may have left. Such a path may be made stricter, and never brings anything back.
    pub(super) is_linked: bool,
    /// True if that link leads out of a folder of workers.
    pub(super) leaves: bool,
}

/// Where a listed path lies; `None` if it does not exist or cannot be reached.
pub(super) fn place(wall: &Wall, path: &Path) -> Result<Option<Placed>, WallRefusal> {
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) => {
            return if leads_nowhere(&error) { Ok(None) } else { Err(unclear(path, &error)) };
        }
    };
    // Without any link on the way, it lies where its name says.
    let links = if real == path { Vec::new() } else { way_to(path).links };
    let (mut is_linked, mut leaves) = (false, false);
    for folder in wall.writable.iter().chain(&wall.worked_in).filter(|_| !links.is_empty()) {
        let Ok(folder) = fs::canonicalize(folder) else { continue };
        let is_theirs = links.iter().any(|link| link.starts_with(&folder) && *link != folder);
        is_linked |= is_theirs;
        leaves |= is_theirs && !real.starts_with(&folder);
    }
    Ok(Some(Placed { real, is_linked, leaves }))
}

/// What does not exist, is in what is no folder or may not be entered, or is a circle of links.
fn leads_nowhere(error: &io::Error) -> bool {
    let kinds = [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::NotADirectory];
    kinds.contains(&error.kind()) || error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

fn unclear(path: &Path, error: &io::Error) -> WallRefusal {
    WallRefusal::new(WallStep::Mounts, &format!("`{}`", path.display()), error)
}

/// Opens what lies at a path without links, and nothing else: another worker may put a link there in this moment.
pub(super) fn open_exactly(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // An older kernel or container.
        Err(Errno::NOSYS | Errno::PERM) => {
            let opened = open(path, flags | OFlags::NOFOLLOW, Mode::empty())?;
            let lies_at = fs::read_link(path_of(&opened))?;
            if lies_at == path { Ok(opened) } else { Err(Errno::LOOP.into()) }
        }
        opened => Ok(opened?),
    }
}

/// A path to what is open, whatever lies at its name meanwhile.
pub(super) fn path_of(opened: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()))
}

/// True if no link that a worker may have left leads out of the folder that it lies in. What does not exist leads nowhere.
fn is_where_it_seems(wall: &Wall, path: &Path) -> bool {
    place(wall, path).is_ok_and(|placed| placed.is_none_or(|placed| !placed.leaves))
}
