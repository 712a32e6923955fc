//! A disk in this process that forgets: a power cut takes what was not synced, bytes and names alike, each on its own.
//!
//! Every process sees all that was written (as the system's cache lets it); the disk has only what was synced, and of the
//! rest whatever chance leaves of it. A process can be killed between any two things it asks of the disk: whatever it asks
//! after that does not happen, and its locks are gone.

mod node;
mod platter;
mod process;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::platter::{Life, Platter, Renaming, key};
pub use self::process::SimulatedProcess;

/// The disk. All clones are one.
#[derive(Debug, Clone, Default)]
pub struct Simulated(Arc<Mutex<Platter>>);

impl Simulated {
    /// An empty disk with that folder.
    pub fn with_folder(path: &Path) -> Self {
        let disk = Self::default();
        disk.platter().make(key(path), true);
        disk.settle();
        disk
    }

    /// A process that may use it.
    pub fn process(&self) -> SimulatedProcess {
        let mut platter = self.platter();
        platter.lives.push(Life::default());
        SimulatedProcess::new(self, platter.lives.len() - 1)
    }

    /// Ends all processes and leaves of what was not synced whatever chance says, which is asked for a number below the one
    /// it is given. Says whether that file has a hole now.
    pub fn lose_power(&self, path: &Path, chance: &mut dyn FnMut(usize) -> usize) -> bool {
        let platter = &mut *self.platter();
        for process in 0..platter.lives.len() {
            platter.kill(process);
        }
        for change in std::mem::take(&mut platter.pending) {
            // Each rename by itself: without a sync of the folder, a disk may keep a later one and lose an earlier one.
            if chance(2) == 0 {
                platter.names_on_disk.apply(&change);
            }
        }
        platter.names.clone_from(&platter.names_on_disk);
        let file = platter.names.get(key(path));
        let mut is_garbled = false;
        for (number, node) in platter.nodes.iter_mut().enumerate() {
            is_garbled |= node.lose(chance) && Some(number) == file;
        }
        is_garbled
    }

    /// Makes the disk have exactly what there is.
    pub fn settle(&self) {
        let platter = &mut *self.platter();
        platter.pending.clear();
        platter.names_on_disk.clone_from(&platter.names);
        for node in &mut platter.nodes {
            node.pending.clear();
            node.on_disk.clone_from(&node.bytes);
        }
    }

    /// All bytes of a file, as processes see it.
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let platter = self.platter();
        platter.names.get(key(path)).map(|node| platter.nodes[node].bytes.clone())
    }

    /// What a power cut cannot take away of a file, from that byte on.
    pub fn synced(&self, path: &Path, from: usize) -> Vec<u8> {
        let platter = self.platter();
        let Some(node) = platter.names_on_disk.get(key(path)) else { return Vec::new() };
        platter.nodes[node].on_disk.get(from..).unwrap_or_default().to_owned()
    }

    /// Puts another file with those bytes under that name, on disk, behind the back of whoever uses it.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let platter = &mut *self.platter();
        let node = platter.make(key(path), false);
        platter.nodes[node].bytes.extend_from_slice(bytes);
        platter.nodes[node].on_disk.extend_from_slice(bytes);
        platter.pending.pop();
        let to = Some((key(path).to_owned(), node));
        platter.names_on_disk.apply(&Renaming { from: None, to });
    }

    /// Takes a folder away with all that is in it.
    pub fn remove_all(&self, folder: &Path) {
        let platter = &mut *self.platter();
        let is_inside =
            |name: &[u8]| Path::new(std::ffi::OsStr::from_bytes(name)).starts_with(folder);
        platter.names.0.retain(|(name, _)| !is_inside(name));
        platter.names_on_disk.clone_from(&platter.names);
        platter.pending.clear();
    }

    /// Puts those bytes into a file, on disk, behind the back of whoever writes it.
    pub fn overwrite(&self, path: &Path, bytes: &[u8]) {
        let platter = &mut *self.platter();
        if let Some(node) = platter.names.get(key(path)) {
            let node = &mut platter.nodes[node];
            node.pending.clear();
            node.bytes.clear();
            node.bytes.extend_from_slice(bytes);
            node.on_disk.clone_from(&node.bytes);
        }
    }

    /// Writes at the end of a file behind the back of whoever holds a lock, as one does who was overtaken between its look
    /// at the lock and its write.
    pub fn append_late(&self, path: &Path, bytes: &[u8]) {
        let platter = &mut *self.platter();
        if let Some(node) = platter.names.get(key(path)) {
            let end = platter.nodes[node].bytes.len();
            platter.nodes[node].write(bytes, end);
        }
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
