//! A run's folder on a simulated disk: the real ledger, and a power that can be cut.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chronicle_runtime::for_tests::ledger::{
    ArtifactId, Disk, Folder, Head, Holder, How, Ledger, LedgerClaim, LedgerError, Lines,
};

use crate::faults::Faults;
use crate::simulated::Simulated;

/// Where it is on its disk.
const NAME: &str = "memory";

/// A ledger in this process. All clones are one.
#[derive(Debug, Clone)]
pub struct Memory {
    disk: Simulated,
    folder: Folder,
    faults: Faults,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// An empty ledger on a simulated disk.
    pub fn new() -> Self {
        let disk = Simulated::with_folder(Path::new(NAME));
        let faults = Faults::default();
        let folder = Folder::on(faults.on(Arc::new(disk.process())), NAME);
        Self { disk, folder, faults }
    }

    /// Waits that long for a holder, instead of `LOCK_PATIENCE`.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { folder: self.folder.with_patience(patience), ..self }
    }

    /// What shall go wrong.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// All bytes of the ledger.
    pub fn bytes(&self) -> Vec<u8> {
        self.disk.bytes(&self.path()).unwrap_or_default()
    }

    /// Puts another ledger in the place of this one, on disk, behind the back of whoever writes it.
    pub fn replace(&self, bytes: impl Into<Vec<u8>>) {
        self.disk.put(&self.path(), &bytes.into());
    }

    /// Puts other bytes into this ledger, on disk, behind the back of whoever writes it.
    pub fn overwrite(&self, bytes: &[u8]) {
        match self.disk.bytes(&self.path()) {
            Some(_) => self.disk.overwrite(&self.path(), bytes),
            None => self.disk.put(&self.path(), bytes),
        }
    }

    /// Adds bytes that are not synced, as a writer does that is killed between its write and its sync.
    pub fn write_unsynced(&self, bytes: &[u8]) -> io::Result<()> {
        self.disk.process().open(&self.path(), How::Append)?.append(bytes)
    }

    /// Ends whoever writes, as a power cut does. Of what was not synced, only the first `survivors` bytes are kept.
    pub fn lose_power(&self, survivors: usize) {
        let path = self.path();
        let (mut bytes, all) = (self.disk.synced(&path, 0), self.bytes());
        let end = bytes.len().saturating_add(survivors).min(all.len()).max(bytes.len());
        bytes.extend_from_slice(all.get(bytes.len()..end).unwrap_or_default());
        let is_there = self.disk.bytes(&path).is_some();
        // Another lock, that nobody holds: whoever had the old one finds it taken away.
        let lock = Path::new(NAME).join("lock");
        if let Some(content) = self.disk.bytes(&lock) {
            self.disk.put(&lock, &content);
        }
        if is_there {
            self.disk.put(&path, &bytes);
        }
    }

    /// Removes the run, as somebody does who deletes its folder.
    pub fn remove(&self) {
        self.disk.remove_all(Path::new(NAME));
    }

    /// A torn line that was set aside.
    pub fn set_aside(&self, file: &str) -> Option<Vec<u8>> {
        self.disk.bytes(&Path::new(NAME).join(file))
    }

    fn path(&self) -> PathBuf {
        self.folder.ledger_path()
    }
}

impl Ledger for Memory {
    fn claim(&self, who: Holder) -> Result<Box<dyn LedgerClaim>, LedgerError> {
        self.folder.claim(who)
    }

    fn holder(&self) -> Option<Holder> {
        self.folder.holder()
    }

    fn force(&self) -> Result<(), LedgerError> {
        self.folder.force()
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        self.folder.read(from)
    }

    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        self.folder.artifact(id)
    }
}
