//! Named pipes in the place of files that git reads. Git opens them like files, and then waits for a writer that never comes.
//!
//! A worker can put one anywhere in the project. Those that git reads in every call are looked for before git is started; one
//! elsewhere is found by git's standing still, and is searched for then, so that a person learns which one to remove.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
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
/// Most files and folders that are looked at in a search.
const SEARCH_MAX: usize = 200_000;
/// Longest file that says where a repository is.
const WHERE_MAX: u64 = 64 * 1024;

/// Folders of a repository that git writes into.
const FOLDERS: [&str; 5] = ["objects", "objects/info", "refs", "info", "logs"];

/// A link in our own repository, where there is none. Git writes through one: it would replace the file that the link leads to,
/// wherever that is.
pub(super) fn link_in(dir: &Path) -> Option<PathBuf> {
    let is_link = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let names = ALWAYS.iter().chain(&FOLDERS).map(|name| dir.join(name));
    std::iter::once(dir.to_owned()).chain(names).find(is_link)
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
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            *left = left.checked_sub(1)?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_fifo() && is_meant(&entry.file_name()) => {
                    return Some(entry.path());
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    None
}

/// Links are followed, as git does in a repository.
fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| is_fifo(&meta))
}

fn is_fifo(meta: &Metadata) -> bool {
    meta.file_type().is_fifo()
}
