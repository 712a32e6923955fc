//! Named pipes in the place of files that git reads. Git opens them like files, and then waits for a writer that never comes.
//!
//! A worker can put one anywhere in the project. Those that git reads in every call are looked for before git is started; one
//! elsewhere is found by git's standing still, and is searched for then, so that a person learns which one to remove.

use std::ffi::OsStr;
use std::fs::{self, FileType, Metadata};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::regular::{self, Links};

/// Files of the project that git reads, in any folder. It does not follow links there.
const RULES: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];
/// Files of a repository that git reads in nearly every call.
const ALWAYS: [&str; 12] = [
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "index",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
];
/// Our own repository in a project.
const OWN: &str = ".chronicle/trees.git";
/// Most files and folders that are looked at in a search.
const SEARCH_MAX: usize = 200_000;
/// Longest file that says where a repository is.
const WHERE_MAX: u64 = 64 * 1024;

/// Folders of a repository that git writes into.
const FOLDERS: [&str; 5] = ["objects", "objects/info", "refs", "info", "logs"];

/// A link, a socket or a device in our own repository, where there is none. Git writes through a link: it would replace the file
/// that the link leads to, wherever that is. Some of its commands pass over a socket, and others fail at it.
pub(super) fn strange_in(dir: &Path) -> Option<PathBuf> {
    let is_strange = |path: &PathBuf, is_folder: bool| {
        let is_right = |it: Metadata| {
            if is_folder { it.is_dir() } else { it.is_file() || it.is_dir() || is_fifo(&it) }
        };
        fs::symlink_metadata(path).is_ok_and(|it| !is_right(it))
    };
    let files = ALWAYS.iter().map(|name| (dir.join(name), false));
    let folders = FOLDERS.iter().map(|name| (dir.join(name), true));
    let mut all = std::iter::once((dir.to_owned(), true)).chain(files).chain(folders);
    all.find(|(path, is_folder)| is_strange(path, *is_folder)).map(|(path, _)| path)
}

/// A pipe that a git with our repository would wait for.
pub(super) fn in_ours(work: &Path, dir: &Path) -> Option<PathBuf> {
    in_work(work).or_else(|| in_repository(dir))
}

/// A pipe that a git with the person's repository would wait for.
pub(super) fn in_theirs(work: &Path) -> Option<PathBuf> {
    in_work(work).or_else(|| {
        let place = repository(work)?;
        if is_pipe(&place) { Some(place) } else { in_repository(&inside(&place)) }
    })
}

fn in_work(work: &Path) -> Option<PathBuf> {
    let mut paths = RULES.iter().map(|name| work.join(name));
    paths.find(|path| fs::symlink_metadata(path).is_ok_and(|meta| is_fifo(&meta)))
}

fn in_repository(dir: &Path) -> Option<PathBuf> {
    ALWAYS.iter().map(|name| dir.join(name)).find(|path| is_pipe(path))
}

/// The `.git` that a folder belongs to.
fn repository(work: &Path) -> Option<PathBuf> {
    work.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())
}

/// The repository itself, which a worktree or a submodule names in a file.
fn inside(git: &Path) -> PathBuf {
    let text = regular::read(git, WHERE_MAX, Links::Followed).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let named = text.trim_end().strip_prefix("gitdir: ");
    let above = git.parent().unwrap_or(git);
    named.map_or_else(|| git.to_owned(), |named| above.join(named))
}

/// Looks for the pipe that git stands still at; `None` if it is none of those, or no more.
pub(super) fn search(work: &Path, dir: &Path) -> Option<PathBuf> {
    let mut left = SEARCH_MAX;
    let known = in_ours(work, dir).or_else(|| in_theirs(work));
    let theirs = repository(work).map(|git| inside(&git));
    // In a repository any file may be meant, such as an object; in the project only a file with rules.
    let known = known.or_else(|| below(dir, |_| true, &mut left));
    let known = known.or_else(|| below(&theirs?, |_| true, &mut left));
    let is_rules = |name: &OsStr| RULES.iter().any(|rules| name == *rules);
    known.or_else(|| below(work, is_rules, &mut left))
}

fn below(folder: &Path, is_meant: impl Fn(&OsStr) -> bool, left: &mut usize) -> Option<PathBuf> {
    find(folder, left, |kind, name| kind.is_fifo() && is_meant(name))
}

fn find(
    folder: &Path,
    left: &mut usize,
    is_meant: impl Fn(&FileType, &OsStr) -> bool,
) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            *left = left.checked_sub(1)?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if is_meant(&kind, &entry.file_name()) => return Some(entry.path()),
                Ok(_) | Err(_) => {}
            }
        }
    }
    None
}

/// A socket, a device or a link anywhere in our repository, where there are only files and folders.
pub(super) fn strange_below(dir: &Path) -> Option<PathBuf> {
    let mut left = SEARCH_MAX;
    find(dir, &mut left, |kind, _| !kind.is_file())
}

/// What is in the way of a path in our repository: something that is neither a file nor a folder, or no folder above it. With the
/// repository; `None` for a path elsewhere.
pub(super) fn strange_above(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let dir = path.ancestors().find(|above| above.ends_with(OWN))?;
    let way = path.ancestors().take_while(|above| above.starts_with(dir));
    let is_strange = |at: &&Path| {
        let is_last = *at == path && path != dir;
        fs::symlink_metadata(at).is_ok_and(|it| !(it.is_dir() || is_last && it.is_file()))
    };
    way.into_iter().find(is_strange).map(|strange| (dir.to_owned(), strange.to_owned()))
}

/// Links are followed, as git does in a repository.
pub(super) fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| is_fifo(&meta))
}

fn is_fifo(meta: &Metadata) -> bool {
    meta.file_type().is_fifo()
}
