//! Words about the project's files.

use crate::event::trees::{Changes, Moment, TreeRecorded};

/// Most names of files in a sentence.
const NAMES_MAX: usize = 5;

pub(super) fn tree_recorded(recorded: &TreeRecorded) -> String {
    let changed = changes(&recorded.changes);
    let unread = match recorded.unreadable {
        0 => String::new(),
        1 => ", 1 file could not be read".to_owned(),
        many => format!(", {many} files could not be read"),
    };
    match (recorded.moment, recorded.changes.is_none()) {
        (Moment::Before(attempt), true) => format!("files recorded before {attempt}{unread}"),
        (Moment::Before(_), false) => format!("meanwhile changed: {changed}{unread}"),
        (Moment::After(attempt), true) => format!("{attempt} changed no files{unread}"),
        (Moment::After(attempt), false) => format!("{attempt} changed {changed}{unread}"),
        (Moment::Undo, _) => format!("files recorded before they are put back{unread}"),
    }
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

pub(super) fn undo_ended(count: u32, kept: &[String], error: Option<&str>) -> String {
    let done = format!("{} put back", files(count.into()));
    let kept = if kept.is_empty() {
        String::new()
    } else {
        format!(", left as they are: {}", kept.join(", "))
    };
    match error {
        Some(error) => format!("{done}{kept}, and no further: {error}"),
        None => format!("{done}{kept}"),
    }
}
