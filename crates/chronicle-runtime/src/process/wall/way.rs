//! The links on the way to a path.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Most links that are followed on the way to one path; the kernel follows as many.
const LINKS_MAX: usize = 40;

/// The way to a path, as it goes on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathWay {
    /// Every link, by the place where it lies: one that a person made may lead to another that a worker made.
    pub links: Vec<PathBuf>,
    /// Folders that it leaves again by `..`. Where one is replaced by a link, it goes on elsewhere.
    pub left: Vec<PathBuf>,
    /// Where it ends. Nothing need be there.
    pub end: PathBuf,
}

/// Follows the way to a path, also where it leads to nothing.
pub fn way_to(path: &Path) -> PathWay {
    let (mut links, mut left_again, mut here) = (Vec::new(), Vec::new(), PathBuf::from("/"));
    let parts = |path: &Path| path.components().rev().map(|it| it.as_os_str().to_owned()).collect();
    let mut left: Vec<OsString> = parts(path);
    while let Some(part) = left.pop() {
        if part == ".." {
            left_again.push(here.clone());
            here.pop();
            continue;
        }
        // The root and `.` stay where they are.
        here.push(Path::new(&part).strip_prefix(".").unwrap_or(Path::new(&part)));
        if let Ok(target) = fs::read_link(&here)
            && links.len() < LINKS_MAX
        {
            links.push(here.clone());
            here.pop();
            left.extend(parts(&target) as Vec<OsString>);
        }
    }
    PathWay { links, left: left_again, end: here }
}
