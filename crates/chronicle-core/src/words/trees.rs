//! Words about the project's files.

use crate::base::ids::FolderId;
use crate::event::trees::{
    Changes, ForbiddenChange, HeadMoved, Moment, RepositoryHead, Restored, TreeRecorded,
    UndoStarted,
};

/// Most names of files in a sentence.
const NAMES_MAX: usize = 5;

pub(super) fn tree_recorded(recorded: &TreeRecorded) -> String {
    let changed = changes(&recorded.changes);
    let unread = match recorded.unreadable {
        0 => String::new(),
        count => format!(", could not be read: {}", some_names(&recorded.unreadable_files, count)),
    };
    let large = match recorded.too_large {
        0 => String::new(),
        count => format!(", too large to record: {}", some_names(&recorded.too_large_files, count)),
    };
    let moved =
        recorded.moved.as_deref().map_or_else(String::new, |moved| head_moved(moved, recorded));
    let unclear = recorded.unclear.as_ref().map_or_else(String::new, |unclear| {
        format!("; changed meanwhile, origin unknown: {}", changes(&unclear.changes))
    });
    let unread = format!(
        "{unread}{large}{unclear}{moved}{}",
        forbidden(recorded.forbidden, &recorded.forbidden_files)
    );
    match (recorded.moment, recorded.changes.is_none()) {
        (Moment::Before(attempt), true) => format!("files recorded before {attempt}{unread}"),
        (Moment::Before(_), false) => {
            let place = match recorded.folder {
                FolderId::Project => String::new(),
                FolderId::Work(number) => format!(" in work folder {number}"),
            };
            format!("meanwhile changed{place}: {changed}{unread}")
        }
        (Moment::After(attempt), true) => format!("{attempt} changed no files{unread}"),
        (Moment::After(attempt), false) => format!("{attempt} changed {changed}{unread}"),
        (Moment::Undo, _) => format!("files recorded before the undo{unread}"),
    }
}

/// `; forbidden by the rules: `a.lock` (readOnlyPaths `*.lock` (rules.yaml:3))`
fn forbidden(count: u32, files: &[ForbiddenChange]) -> String {
    if count == 0 {
        return String::new();
    }
    let files = files.iter().take(NAMES_MAX);
    let origin = |is_unclear: bool| if is_unclear { ", origin unknown" } else { "" };
    let name = |file: &ForbiddenChange| {
        format!("`{}` ({}){}", file.path, file.rule, origin(file.is_unclear))
    };
    let names: Vec<String> = files.map(name).collect();
    let is_cut = usize::try_from(count).unwrap_or(usize::MAX) > names.len();
    format!("; forbidden by the rules: {}{}", names.join(", "), if is_cut { ", …" } else { "" })
}

/// `; moved `main` from 1a2b3c4 to 5d6e7f8, 2 commits: …`
fn head_moved(moved: &HeadMoved, recorded: &TreeRecorded) -> String {
    let at = |head: &RepositoryHead| {
        let commit = head.commit.get(..7).unwrap_or(&head.commit).to_owned();
        head.branch.as_ref().map_or(commit.clone(), |branch| format!("`{branch}` at {commit}"))
    };
    let to = recorded.head.as_ref().map_or_else(|| "nowhere".to_owned(), at);
    let commits = match moved.commits.len() {
        0 => String::new(),
        _ => format!(", with commits of its own: {}", moved.commits.join("; ")),
    };
    format!("; the repository moved from {} to {to}{commits}", at(&moved.from))
}

/// How much changed, and the first names.
pub fn changes(changes: &Changes) -> String {
    let named: Vec<String> =
        changes.list.iter().take(NAMES_MAX).map(|file| format!("`{}`", file.path)).collect();
    let more = usize::try_from(changes.files).unwrap_or(usize::MAX) > named.len();
    let told = match (named.is_empty(), more) {
        (true, _) => String::new(),
        (false, true) => format!(": {}, …", named.join(", ")),
        (false, false) => format!(": {}", named.join(", ")),
    };
    format!("{}{told}", lines_changed(&files(changes.files.into()), changes.added, changes.removed))
}

/// `17 bytes`, `3.4 MB`.
pub fn bytes(count: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = units.into_iter().find(|(size, _)| count >= *size);
    unit.map_or_else(
        || format!("{count} bytes"),
        // In whole numbers, so that it is cut: rounding would make `1000.0 kB` of what is less than a megabyte.
        |(size, name)| format!("{}.{} {name}", count / size, count % size * 10 / size),
    )
}

/// `1 file` or `3 files`.
pub fn files(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// `3 files, +10 -2`; binary files have no lines.
pub fn lines_changed(files: &str, added: u64, removed: u64) -> String {
    match (added, removed) {
        (0, 0) => files.to_owned(),
        (added, 0) => format!("{files}, +{added}"),
        (0, removed) => format!("{files}, -{removed}"),
        (added, removed) => format!("{files}, +{added} -{removed}"),
    }
}

pub(super) fn undo_started(undo: &UndoStarted) -> String {
    match undo.back {
        None => format!("`{}` is being undone", undo.what),
        Some(_) => format!("taking back: {}", undo.what),
    }
}

/// How an undo ended: what was put back, what stayed and why, and what failed.
pub(super) fn undo_ended(restored: &Restored) -> String {
    let mut told = format!("{} restored", files(restored.files.into()));
    if !restored.list.is_empty() {
        told = format!("{told}: {}", some_names(&restored.list, restored.files));
    }
    for (list, why) in [
        (&restored.kept, "left alone"),
        (&restored.edited, "changed since and left alone"),
        (&restored.failed, "could not be restored"),
    ] {
        if !list.is_empty() {
            told = format!("{told}; {why}: {}", list.join(", "));
        }
    }
    let count = u32::try_from(restored.forbidden_files.len()).unwrap_or(u32::MAX);
    told.push_str(&forbidden(count, &restored.forbidden_files));
    match &restored.error {
        Some(error) => format!("{told}, then it failed: {error}"),
        None => told,
    }
}

fn some_names(all: &[String], count: u32) -> String {
    let first: Vec<String> = all.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    let more = usize::try_from(count).unwrap_or(usize::MAX) > first.len();
    format!("{}{}", first.join(", "), if more { ", …" } else { "" })
}
