//! A list that grows with the run and is copied for almost nothing.
//!
//! The engine decides on a copy of the state, and each copy of a plain list would touch every entry there ever was. Entries
//! stand in chunks which copies share; a change copies one chunk.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Entries of one chunk: a copy of the list touches one in so many, a change copies so many pointers.
const CHUNK: usize = 64;

/// Entries in the order in which they came.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T> {
    /// All but the last are full.
    chunks: Vec<Arc<Vec<Arc<T>>>>,
}

impl<T> List<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The one at that index, from 0.
    pub fn get(&self, index: usize) -> Option<&Arc<T>> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// The last one.
    pub fn last(&self) -> Option<&Arc<T>> {
        self.chunks.last()?.last()
    }

    /// All of them, the first first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<T>> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }
}

impl<T: Clone> List<T> {
    pub(super) fn push(&mut self, entry: T) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(Arc::new(entry)),
            _ => self.chunks.push(Arc::new(vec![Arc::new(entry)])),
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let chunk = self.chunks.get_mut(index / CHUNK)?;
        // Asked for first, since making it ours may copy.
        chunk.get(index % CHUNK)?;
        Arc::make_mut(chunk).get_mut(index % CHUNK).map(Arc::make_mut)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T: Clone> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter())
    }
}

impl<'de, T: Clone + Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_reads_back_and_finds_its_own() {
        for length in 0..3 * CHUNK + 2 {
            let list: List<usize> = (0..length).collect();
            assert_eq!((list.len(), list.is_empty()), (length, length == 0));
            assert!(list.iter().map(|entry| **entry).eq(0..length));
            assert!((0..length).all(|index| list.get(index).is_some_and(|found| **found == index)));
            assert_eq!(list.get(length), None);
            assert_eq!(list.last().map_or(0, |last| **last + 1), length);
            let text = serde_json::to_string(&list).unwrap();
            assert_eq!(serde_json::from_str::<List<usize>>(&text).unwrap(), list);
        }
    }

    #[test]
    fn a_change_of_a_copy_leaves_the_original_alone() {
        let original: List<usize> = (0..=CHUNK).collect();
        let mut copy = original.clone();
        *copy.get_mut(3).unwrap() = 77;
        copy.push(99);
        assert_eq!(copy.get_mut(copy.len()), None);
        assert_eq!((**original.get(3).unwrap(), original.len()), (3, CHUNK + 1));
        assert_eq!((**copy.get(3).unwrap(), copy.len()), (77, CHUNK + 2));
    }
}
