//! Where programs are found: in folders of `PATH` that are named by whole paths.
//!
//! A relative one, such as `.` or `node_modules/.bin`, is another folder in each project. Chronicle runs programs in projects where workers
//! write files, and one of them may be called `git`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where everything is, if `PATH` names no such folder.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// `PATH` without what leads into the folder that a program is started in; `None` if it is not set.
pub(crate) fn search_path() -> Option<OsString> {
    let whole: Vec<PathBuf> = folders().collect();
    // Empty, it would stand for the current folder.
    let path = if whole.is_empty() { Ok(USUAL.into()) } else { env::join_paths(whole) };
    env::var_os("PATH").map(|_| path.unwrap_or_else(|_| USUAL.into()))
}

/// The file that a program's name stands for. `None` for one that is not found; a name that is a path stands for itself.
pub(super) fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || program.as_encoded_bytes().contains(&b'/') {
        return Some(path.to_owned());
    }
    let found = folders().map(|folder| folder.join(path)).find(|file| is_program(file));
    // Without a path, the system looks in its own folders.
    if env::var_os("PATH").is_none() { found.or_else(|| Some(path.to_owned())) } else { found }
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = env::split_paths(&path).collect();
    all.into_iter().filter(|folder| folder.is_absolute())
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
