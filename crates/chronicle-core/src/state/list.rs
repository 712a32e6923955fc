//! A list that grows with the run and keeps only its latest entries.
//!
//! The engine decides on a copy of the state, and `state.cache` is written every second: both must cost the same however long the
//! run. Sums and counts are updated when an entry is added; the ledger keeps everything.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Entries in order, numbered from 0. Early ones are dropped but stay counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct List<T> {
    /// Number of entries ever added.
    count: usize,
    /// Entries still kept, with their numbers in ascending order. Shared between copies.
    kept: Arc<Vec<(usize, Arc<T>)>>,
}

impl<T> List<T> {
    /// Number of entries ever added.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if no entry was ever added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of dropped entries.
    pub fn forgotten(&self) -> usize {
        self.count - self.kept.len()
    }

    /// The entry with that number, unless it was dropped.
    pub fn get(&self, number: usize) -> Option<&Arc<T>> {
        Some(&self.kept[self.find(number)?].1)
    }

    /// The most recent entry.
    pub fn last(&self) -> Option<&Arc<T>> {
        self.kept.last().map(|(_, entry)| entry)
    }

    /// All kept entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<T>> {
        self.kept.iter().map(|(_, entry)| entry)
    }

    fn find(&self, number: usize) -> Option<usize> {
        self.kept.binary_search_by_key(&number, |(number, _)| *number).ok()
    }
}

impl<T: Clone> List<T> {
    pub(super) fn push(&mut self, entry: T) {
        // Shared until changed: each decision copies the state, and must not copy every attempt for it.
        Arc::make_mut(&mut self.kept).push((self.count, Arc::new(entry)));
        self.count += 1;
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        // Asked for first, since making it ours may copy.
        let index = self.find(number)?;
        Arc::make_mut(&mut self.kept).get_mut(index).map(|(_, entry)| Arc::make_mut(entry))
    }

    /// Drops the earliest beyond `max`, except those still needed.
    pub(super) fn forget(&mut self, max: usize, is_needed: impl Fn(usize, &T) -> bool) {
        let mut beyond = self.kept.len().saturating_sub(max);
        // Looked at first: `make_mut` copies a list that is shared with the engine's copy, and mostly nothing goes.
        if beyond > 0 {
            Arc::make_mut(&mut self.kept).retain(|(number, entry)| {
                let goes = beyond > 0 && !is_needed(*number, entry);
                beyond -= usize::from(goes);
                !goes
            });
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { count: 0, kept: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(length: usize) -> List<usize> {
        let mut list = List::default();
        (0..length).for_each(|entry| list.push(entry));
        list
    }

    #[test]
    fn every_length_reads_back_and_finds_its_own() {
        for length in 0..9 {
            let mut list = list(length);
            list.forget(3, |number, _| number == 1);
            let known: Vec<usize> = list.iter().map(|entry| **entry).collect();
            let mut expected: Vec<usize> = (0..length).collect();
            while expected.len() > 3 {
                expected.remove(usize::from(expected[0] == 1));
            }
            assert_eq!((list.len(), list.is_empty()), (length, length == 0));
            assert_eq!((&known, list.forgotten()), (&expected, length - expected.len()));
            for number in 0..=length {
                let found = list.get(number).map(|entry| **entry);
                assert_eq!(found, expected.contains(&number).then_some(number));
            }
            assert_eq!(list.last().map(|last| **last), length.checked_sub(1));
            let text = serde_json::to_string(&list).unwrap();
            assert_eq!(serde_json::from_str::<List<usize>>(&text).unwrap(), list);
        }
    }

    #[test]
    fn a_change_of_a_copy_leaves_the_original_alone() {
        let original = list(5);
        let mut copy = original.clone();
        *copy.get_mut(3).unwrap() = 77;
        copy.push(99);
        copy.forget(2, |_, entry| *entry == 77);
        assert_eq!(copy.get_mut(copy.len()), None);
        assert_eq!((**original.get(3).unwrap(), original.len(), original.forgotten()), (3, 5, 0));
        assert_eq!((**copy.get(3).unwrap(), copy.len(), copy.get(0)), (77, 6, None));
    }
}
