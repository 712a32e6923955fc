//! One file: what processes see of it, what the disk has, and what a power cut leaves.

use chronicle_runtime::for_tests::ledger::Sharing;

/// What a disk writes at once.
const SECTOR: usize = 512;

/// A file or a folder.
#[derive(Debug, Default)]
pub(super) struct DiskNode {
    pub(super) is_folder: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) on_disk: Vec<u8>,
    /// What was done since the last sync.
    pub(super) pending: Vec<PendingWrite>,
    pub(super) locks: Vec<Held>,
}

#[derive(Debug)]
pub(super) enum PendingWrite {
    Written { at: usize, length: usize },
    Cut(usize),
}

#[derive(Debug)]
pub(super) struct Held {
    pub(super) process: usize,
    pub(super) handle: u64,
    pub(super) with: Sharing,
}

impl DiskNode {
    /// Brings one change to the disk: so many bytes of it.
    fn keep(&mut self, change: &PendingWrite, most: usize) {
        match *change {
            PendingWrite::Cut(length) => self.on_disk.resize(length, 0),
            PendingWrite::Written { at, length } => {
                // What was cut since then is gone from the cache too.
                let end = (at + length.min(most)).min(self.bytes.len());
                if at >= end {
                    return;
                }
                if self.on_disk.len() < end {
                    self.on_disk.resize(end, 0);
                }
                self.on_disk[at..end].copy_from_slice(&self.bytes[at..end]);
            }
        }
    }

    pub(super) fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.keep(&change, usize::MAX);
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8], at: usize) {
        if self.bytes.len() < at + bytes.len() {
            self.bytes.resize(at + bytes.len(), 0);
        }
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.pending.push(PendingWrite::Written { at, length: bytes.len() });
    }

    /// What chance leaves of what was not synced: nothing, all, the beginning, or some of its sectors.
    pub(super) fn lose(&mut self, chance: &mut dyn FnMut(usize) -> usize) -> bool {
        let pending = std::mem::take(&mut self.pending);
        let mut is_garbled = false;
        if !pending.is_empty() {
            match chance(10) {
                0..=1 => {}
                2..=3 => pending.iter().for_each(|change| self.keep(change, usize::MAX)),
                // The usual case: writes reach the disk in order, and the last one only in part.
                4..=7 => {
                    let whole = chance(pending.len() + 1);
                    pending[..whole].iter().for_each(|change| self.keep(change, usize::MAX));
                    if let Some(PendingWrite::Written { length, .. }) = pending.get(whole) {
                        let most = chance(*length);
                        self.keep(&pending[whole], most);
                    }
                }
                _ => {
                    is_garbled = true;
                    for one in &pending {
                        self.keep_some(one, chance);
                    }
                }
            }
        }
        // The cache is gone with the power: from now on everybody reads what the disk has.
        self.bytes.clone_from(&self.on_disk);
        is_garbled
    }

    fn keep_some(&mut self, pending: &PendingWrite, chance: &mut dyn FnMut(usize) -> usize) {
        let PendingWrite::Written { at, length } = *pending else {
            if chance(2) == 0 {
                self.keep(pending, 0);
            }
            return;
        };
        let mut from = at;
        while from < at + length {
            // Disks write sectors whole, and in any order.
            let end = ((from / SECTOR + 1) * SECTOR).min(at + length);
            if chance(2) == 0 {
                self.keep(&PendingWrite::Written { at: from, length: end - from }, usize::MAX);
            }
            from = end;
        }
    }
}
