//! The snapshot: what phases pass on beside files. Findings, pending and finished work, and custom values.
//!
//! Nothing is lost silently: an entry is removed only if a worker names it, and an update that does not fit is refused as a
//! whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::limits::{SNAPSHOT_BYTES_MAX, SNAPSHOT_ENTRIES_MAX};
use crate::base::quote::quoted;
use crate::base::redact::Redactor;

/// Findings, tasks and values that are passed from phase to phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// What workers found out, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// What is still to be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// What workers reported as done, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// Files that workers named as changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Any other values of the workflow, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, Value>,
}

/// Changes that a worker makes to the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SnapshotUpdate {
    /// Appended to the findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Appended to the pending tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// Appended to the finished tasks; closes a pending task with the same words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// Added unless already listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Replaces values of the same name; null removes one.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub custom: Map<String, Value>,
    /// Entries of any list to remove, by their full text or its beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Entries of any list to replace, by their full text or its beginning.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replace: BTreeMap<String, String>,
}

impl Snapshot {
    /// True if there is nothing to pass on.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Applies an update. Entries that already exist word for word are not added again, so an update may arrive twice.
    pub fn merge(&mut self, update: &SnapshotUpdate) {
        // Removed and replaced first, added after that: an update may take an entry out and say it anew.
        for list in self.lists_mut() {
            change(list, update);
        }
        add(&mut self.findings, &update.findings);
        add(&mut self.pending, &update.pending);
        add(&mut self.done, &update.done);
        add(&mut self.files, &update.files);
        // A task stands in one list: the last word counts.
        self.pending.retain(|task| !update.done.contains(task));
        // After the line above: what the update itself calls done has left `pending` by then.
        self.done.retain(|task| !self.pending.contains(task));
        for (name, value) in &update.custom {
            if value.is_null() {
                self.custom.remove(name);
            } else {
                self.custom.insert(name.clone(), value.clone());
            }
        }
    }

    /// True if an update adds something new: a finding, or a task (open or done). Repetitions, reopened tasks and custom values
    /// do not count.
    pub fn gains(&self, update: &SnapshotUpdate) -> bool {
        let is_finding = |text: &String| !self.findings.contains(text);
        let is_task = |text: &String| !self.pending.contains(text) && !self.done.contains(text);
        let is_done = |text: &String| !self.done.contains(text);
        update.findings.iter().any(is_finding)
            || update.pending.iter().any(is_task)
            || update.done.iter().any(is_done)
    }

    /// Removes secrets, except from the names of custom values. Returns true if there were any.
    pub fn redact(&mut self, redactor: &Redactor) -> bool {
        let in_lists = redactor.redact_each(self.lists_mut().into_iter().flatten());
        let custom = self.custom.iter_mut();
        // The call comes first: behind `||` it would be skipped for every value after the first secret.
        custom.fold(in_lists, |any, (name, value)| redactor.named_value(name, value) || any)
    }

    fn lists_mut(&mut self) -> [&mut Vec<String>; 4] {
        [&mut self.findings, &mut self.pending, &mut self.done, &mut self.files]
    }

    fn lists(&self) -> [&Vec<String>; 4] {
        [&self.findings, &self.pending, &self.done, &self.files]
    }

    /// Every entry that an update names must exist and be unambiguous. Otherwise the worker would believe that it is gone.
    fn knows(&self, update: &SnapshotUpdate) -> Result<(), String> {
        for named in update.remove.iter().chain(update.replace.keys()) {
            let entries = self.lists().into_iter().flatten();
            let found: Vec<&String> = entries.filter(|entry| is_named(entry, named)).collect();
            // An entry that is the beginning of another one can only be named by its whole text.
            let is_whole = found.contains(&named);
            match found.len() {
                0 => {
                    return Err(format!(
                        "nothing that is carried begins with `{}`: nothing of this update was kept",
                        quoted(named)
                    ));
                }
                1 => {}
                _ if is_whole => {}
                many => {
                    return Err(format!(
                        "{many} entries begin with `{}`: name one with more of its words. Nothing of this update was kept",
                        quoted(named)
                    ));
                }
            }
        }
        Ok(())
    }

    /// The snapshot with an update applied, unless it would exceed the limits.
    pub(crate) fn with(&self, update: &SnapshotUpdate) -> Result<Self, String> {
        // Refused as a whole: half of an update would leave the worker guessing which half.
        self.knows(update)?;
        self.joined(update)
    }

    /// The same with what was written beside others: an entry that somebody else has removed meanwhile is gone, and that is all.
    pub(crate) fn joined(&self, update: &SnapshotUpdate) -> Result<Self, String> {
        let mut merged = self.clone();
        merged.merge(update);
        let lists = [&merged.findings, &merged.pending, &merged.done, &merged.files];
        let entries = lists.iter().map(|list| list.len()).sum::<usize>() + merged.custom.len();
        // Measured as it will be told, since the limit protects the handover.
        let bytes = serde_json::to_string(&merged).map_or(usize::MAX, |text| text.len());
        let why = match (entries > SNAPSHOT_ENTRIES_MAX, bytes > SNAPSHOT_BYTES_MAX) {
            (true, _) => format!("{entries} entries, and {SNAPSHOT_ENTRIES_MAX} fit"),
            (false, true) => format!("{bytes} bytes, and {SNAPSHOT_BYTES_MAX} fit"),
            (false, false) => return Ok(merged),
        };
        Err(format!(
            "the snapshot would have {why}: nothing of this update was kept. Say it in fewer \
             words, take out with `remove` what is settled, or write it into a file of the project and name the file"
        ))
    }
}

/// Removes and replaces the entries that an update names.
fn change(list: &mut Vec<String>, update: &SnapshotUpdate) {
    let whole = |named: &String| list.contains(named);
    // A text that is there word for word means that entry alone.
    let names = |named: &String, is_whole: bool, entry: &str| {
        if is_whole { entry == named } else { is_named(entry, named) }
    };
    let remove: Vec<(&String, bool)> = update.remove.iter().map(|it| (it, whole(it))).collect();
    let replace: Vec<(&String, bool, &String)> =
        update.replace.iter().map(|(old, new)| (old, whole(old), new)).collect();
    list.retain(|entry| !remove.iter().any(|(named, is_whole)| names(named, *is_whole, entry)));
    for entry in list {
        if let Some((.., new)) =
            replace.iter().find(|(old, is_whole, _)| names(old, *is_whole, entry))
        {
            entry.clone_from(new);
        }
    }
}

fn is_named(entry: &str, named: &str) -> bool {
    !named.is_empty() && entry.starts_with(named)
}

fn add(list: &mut Vec<String>, more: &[String]) {
    for text in more {
        if !list.contains(text) {
            list.push(text.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn lists_grow_files_unite_done_closes_and_custom_is_merged() {
        let mut snapshot = Snapshot::default();
        let custom = json!({"port": 80, "host": "a"}).as_object().cloned().unwrap_or_default();
        snapshot.merge(&SnapshotUpdate {
            findings: texts(&["it leaks"]),
            pending: texts(&["mend it", "test it"]),
            files: texts(&["a.rs"]),
            custom,
            ..SnapshotUpdate::default()
        });
        let custom = json!({"port": 81, "host": null}).as_object().cloned().unwrap_or_default();
        snapshot.merge(&SnapshotUpdate {
            findings: texts(&["it leaks", "twice"]),
            done: texts(&["mend it"]),
            files: texts(&["a.rs", "b.rs"]),
            custom,
            ..SnapshotUpdate::default()
        });
        assert_eq!(snapshot.findings, texts(&["it leaks", "twice"]));
        assert_eq!((snapshot.pending, snapshot.done), (texts(&["test it"]), texts(&["mend it"])));
        assert_eq!(snapshot.files, texts(&["a.rs", "b.rs"]));
        assert_eq!(json!(snapshot.custom), json!({"port": 81}));
    }

    #[test]
    fn a_finished_task_leaves_the_pending_list() {
        let mut snapshot = Snapshot {
            findings: texts(&["it leaks in a.rs", "it leaks in b.rs", "it leaks"]),
            pending: texts(&["mend it"]),
            ..Snapshot::default()
        };
        let update = SnapshotUpdate {
            remove: texts(&["it leaks"]),
            replace: [("it leaks in a".to_owned(), "a.rs is dry".to_owned())].into(),
            ..SnapshotUpdate::default()
        };
        snapshot = snapshot.with(&update).unwrap_or_default();
        assert_eq!(snapshot.findings, texts(&["a.rs is dry", "it leaks in b.rs"]));
        let done = SnapshotUpdate { done: texts(&["mend it"]), ..SnapshotUpdate::default() };
        snapshot.merge(&done);
        assert_eq!((snapshot.pending.len(), snapshot.done.len()), (0, 1));
        snapshot
            .merge(&SnapshotUpdate { pending: texts(&["mend it"]), ..SnapshotUpdate::default() });
        assert_eq!((snapshot.pending.len(), snapshot.done.len()), (1, 0), "it is open again");
        let both = SnapshotUpdate {
            pending: texts(&["x"]),
            done: texts(&["x"]),
            ..SnapshotUpdate::default()
        };
        snapshot.merge(&both);
        assert_eq!((snapshot.pending, snapshot.done), (texts(&["mend it"]), texts(&["x"])));
    }

    #[test]
    fn missing_or_ambiguous_entries_are_not_removed() {
        let snapshot = Snapshot { findings: texts(&["one a", "one b"]), ..Snapshot::default() };
        let remove = |what: &str| {
            snapshot.with(&SnapshotUpdate { remove: texts(&[what]), ..SnapshotUpdate::default() })
        };
        assert!(remove("two").is_err_and(|why| why.contains("nothing that is carried")));
        assert!(remove("one").is_err_and(|why| why.contains("2 entries begin")));
        assert!(remove("one b").is_ok_and(|it| it.findings == ["one a"]));
    }

    #[test]
    fn a_full_snapshot_can_be_emptied() {
        let full =
            Snapshot { findings: vec!["x".repeat(60_000), "y".to_owned()], ..Snapshot::default() };
        let update = SnapshotUpdate {
            remove: texts(&["xxxx"]),
            findings: texts(&["z"]),
            ..SnapshotUpdate::default()
        };
        assert!(full.with(&update).is_ok_and(|it| it.findings == ["y", "z"]));
    }

    #[test]
    fn what_does_not_fit_is_refused_whole() {
        let full = Snapshot { findings: vec!["x".repeat(60_000)], ..Snapshot::default() };
        let one =
            |text: String| SnapshotUpdate { findings: vec![text], ..SnapshotUpdate::default() };
        assert!(full.with(&one("y".repeat(6_000))).is_err_and(|why| why.contains("65536 fit")));
        assert!(full.with(&one("y".repeat(5_000))).is_ok());
        let many = SnapshotUpdate {
            pending: (0..1_001).map(|number| number.to_string()).collect(),
            ..SnapshotUpdate::default()
        };
        assert!(full.with(&many).is_err_and(|why| why.contains("1000 fit")));
    }
}
