//! What is carried from phase to phase, beside the files: findings, open and finished work, and whatever a workflow needs.
//!
//! It only grows by what workers say and never loses a word in silence: an update that does not fit is refused whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::limits::{SNAPSHOT_BYTES_MAX, SNAPSHOT_ENTRIES_MAX};

/// What is carried on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// What was found out, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// What is still to be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// What was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// Files that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Anything else, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, Value>,
}

/// What a worker adds to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SnapshotUpdate {
    /// Added at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Added at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// Added at the end; what is pending under the same words is closed by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<String>,
    /// Added unless it is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Replaces what has the same name; null removes it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub custom: Map<String, Value>,
}

impl Snapshot {
    /// Whether nothing is carried on.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes an update in. What is there word for word already is not added again: an update may come twice.
    pub fn merge(&mut self, update: &SnapshotUpdate) {
        add(&mut self.findings, &update.findings);
        add(&mut self.pending, &update.pending);
        add(&mut self.done, &update.done);
        add(&mut self.files, &update.files);
        self.pending.retain(|task| !update.done.contains(task));
        for (name, value) in &update.custom {
            if value.is_null() {
                self.custom.remove(name);
            } else {
                self.custom.insert(name.clone(), value.clone());
            }
        }
    }

    /// Whether an update says anything that was not there before: a finding, or a task, be it open or done. What is said again,
    /// a task that is opened again, and custom values, which may be anything, are nothing new.
    pub fn gains(&self, update: &SnapshotUpdate) -> bool {
        let is_finding = |text: &String| !self.findings.contains(text);
        let is_task = |text: &String| !self.pending.contains(text) && !self.done.contains(text);
        let is_done = |text: &String| !self.done.contains(text);
        update.findings.iter().any(is_finding)
            || update.pending.iter().any(is_task)
            || update.done.iter().any(is_done)
    }

    /// The snapshot with an update, unless that would be more than is carried.
    pub(crate) fn with(&self, update: &SnapshotUpdate) -> Result<Self, String> {
        let mut merged = self.clone();
        merged.merge(update);
        let lists = [&merged.findings, &merged.pending, &merged.done, &merged.files];
        let entries = lists.iter().map(|list| list.len()).sum::<usize>() + merged.custom.len();
        let bytes = serde_json::to_string(&merged).map_or(usize::MAX, |text| text.len());
        let why = match (entries > SNAPSHOT_ENTRIES_MAX, bytes > SNAPSHOT_BYTES_MAX) {
            (true, _) => format!("{entries} entries, and {SNAPSHOT_ENTRIES_MAX} fit"),
            (false, true) => format!("{bytes} bytes, and {SNAPSHOT_BYTES_MAX} fit"),
            (false, false) => return Ok(merged),
        };
        Err(format!(
            "the snapshot would have {why}: nothing of this update was kept. Say it in fewer \
             words, or write it into a file of the project and name the file"
        ))
    }
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
