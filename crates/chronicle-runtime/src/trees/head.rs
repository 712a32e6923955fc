//! The head of the person's own repository, and how a worker moved it. The repository is only read.

use std::path::Path;

use chronicle_core::event::trees::{HeadMoved, RepositoryHead, TREE_UNREADABLE_MAX};

use super::git::ask_theirs;
use super::names::shown;
use super::pipes;
use crate::process::{Cut, Leash};
use crate::regular::{self, Links};

/// Prefix of a branch reference.
const BRANCH: &str = "refs/heads/";
/// Longest list of packed references that is read for one of them.
const PACKED_MAX: u64 = 16 * 1024 * 1024;

/// Head of the repository of a folder; `None` if there is none, or it has no commit. The leash says if it could not be read.
pub(crate) fn head(work: &Path, leash: &Leash) -> Option<RepositoryHead> {
    if pipes::in_theirs(work).is_some() {
        leash.note(Cut::Pipe);
        return None;
    }
    let mut above = work.ancestors().map(|folder| folder.join(".git"));
    // Cheap, and saves the start of git in projects that are in no repository.
    let is_kept = above.any(|git| git.exists());
    is_kept.then(|| read(&work.join(".git")).or_else(|| asked(work, leash))).flatten()
}

/// How it moved, and the first new commits.
pub(crate) fn moved(
    work: &Path,
    leash: &Leash,
    from: Option<&RepositoryHead>,
    to: Option<&RepositoryHead>,
) -> Option<HeadMoved> {
    let from = from.filter(|from| Some(*from) != to)?;
    let commits = to.filter(|to| to.commit != from.commit).and_then(|to| {
        let range = format!("{}..{}", from.commit, to.commit);
        let count = format!("--max-count={TREE_UNREADABLE_MAX}");
        let log = ["log", "--format=%h %s", "--no-show-signature", &count, &range, "--"];
        ask_theirs(work, leash, &log)
    });
    let commits = commits.unwrap_or_default();
    let lines = commits.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Some(HeadMoved { from: from.clone(), commits: lines.map(shown).collect() })
}

/// Reads a common repository layout without starting a process.
fn read(git: &Path) -> Option<RepositoryHead> {
    let head = text(&git.join("HEAD"))?;
    let Some(name) = head.trim_end().strip_prefix("ref: ") else {
        return commit(&head).map(|commit| RepositoryHead { commit, branch: None });
    };
    let found =
        text(&git.join(name)).and_then(|text| commit(&text)).or_else(|| packed(git, name))?;
    let branch = name.strip_prefix(BRANCH).map(str::to_owned);
    Some(RepositoryHead { commit: found, branch })
}

fn packed(git: &Path, name: &str) -> Option<String> {
    let text = text(&git.join("packed-refs"))?;
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find_map(|(id, of)| (of == name).then(|| commit(id)).flatten())
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(regular::read(path, PACKED_MAX, Links::Followed).ok()?).ok()
}

fn commit(text: &str) -> Option<String> {
    let id = text.trim_end();
    // 40 digits for SHA-1, 64 for SHA-256.
    let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Asks git: for a worktree, a folder inside a repository, or another storage of references.
fn asked(work: &Path, leash: &Leash) -> Option<RepositoryHead> {
    let said = ask_theirs(work, leash, &["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"])?;
    let text = String::from_utf8_lossy(&said).into_owned();
    let mut lines = text.lines();
    let commit = commit(lines.next()?)?;
    let branch = lines.next().and_then(|name| name.strip_prefix(BRANCH)).map(str::to_owned);
    Some(RepositoryHead { commit, branch })
}
