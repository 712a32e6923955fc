//! The ledger in memory, for tests and simulation: the same rules, and a power that can be cut.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::chain::{Chain, Lines, Source, Tail};
use super::disk::{Disk, Faults, Faulty, torn_names};
use super::error::LedgerError;
use super::holder::Holder;
use super::lock::LOCK_PATIENCE;
use super::writer::DiskClaim;
use super::{ArtifactId, Claim, Head, Ledger};

/// What it is called in words, where a folder has its path.
const NAME: &str = "memory";

/// A ledger in this process. All clones are one.
#[derive(Debug, Clone)]
pub struct Memory {
    shared: Arc<Shared>,
    patience: Duration,
    faults: Faults,
}

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    ledger: Vec<u8>,
    /// Up to here the system says that the ledger is on disk.
    synced: usize,
    /// From here on it is not, whatever the system says: a sync failed, and the next one had nothing left to do.
    forgotten: Option<usize>,
    /// Rises when the ledger is replaced, as a file's identity changes.
    identity: u64,
    is_gone: bool,
    epoch: u64,
    holder: Option<Holder>,
    artifacts: BTreeMap<ArtifactId, Vec<u8>>,
    aside: BTreeMap<String, Vec<u8>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// An empty ledger.
    pub fn new() -> Self {
        let faults = Faults::default();
        Self { shared: Arc::default(), patience: LOCK_PATIENCE, faults }
    }

    /// Waits that long for a holder, instead of `LOCK_PATIENCE`.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// What shall go wrong.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// All bytes of the ledger.
    pub fn bytes(&self) -> Vec<u8> {
        self.shared.kept().ledger.clone()
    }

    /// Puts another ledger in the place of this one, behind the back of whoever writes it.
    pub fn replace(&self, bytes: impl Into<Vec<u8>>) {
        let mut kept = self.shared.kept();
        kept.ledger = bytes.into();
        kept.settle();
        kept.identity += 1;
    }

    /// Writes behind the back of whoever holds the lock, as one does who was overtaken between its look at the lock and
    /// its write.
    pub fn append_late(&self, bytes: &[u8]) {
        self.shared.kept().ledger.extend_from_slice(bytes);
    }

    /// Ends whoever writes, as a power cut does. Of what was not synced, only the first `survivors` bytes are kept.
    pub fn lose_power(&self, survivors: usize) {
        let unsynced = self.unsynced();
        self.lose_power_leaving(&unsynced[..survivors.min(unsynced.len())]);
    }

    /// Ends whoever writes, as a power cut does. In the place of what was not synced stands whatever the disk made of it.
    pub fn lose_power_leaving(&self, tail: &[u8]) {
        let mut kept = self.shared.kept();
        let size = kept.on_disk();
        kept.ledger.truncate(size);
        kept.ledger.extend_from_slice(tail);
        kept.settle();
        kept.holder = None;
        self.shared.released.notify_all();
    }

    /// What a power cut cannot take away, from that byte on.
    pub fn synced(&self, from: u64) -> Vec<u8> {
        let kept = self.shared.kept();
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        kept.ledger.get(from..kept.on_disk()).unwrap_or_default().to_owned()
    }

    /// What a power cut can take away.
    pub fn unsynced(&self) -> Vec<u8> {
        let kept = self.shared.kept();
        kept.ledger[kept.on_disk()..].to_owned()
    }

    /// Removes the run, as somebody does who deletes its folder.
    pub fn remove(&self) {
        self.shared.kept().is_gone = true;
    }

    /// A torn line that was set aside.
    pub fn set_aside(&self, file: &str) -> Option<Vec<u8>> {
        self.shared.kept().aside.get(file).cloned()
    }

    fn check_there(&self) -> Result<(), LedgerError> {
        let gone = self.shared.kept().is_gone;
        if gone { Err(LedgerError::Missing { path: NAME.into() }) } else { Ok(()) }
    }

    fn take_lock(&self, who: Holder) -> Result<u64, LedgerError> {
        let start = Instant::now();
        let mut kept = self.shared.kept();
        while let Some(holder) = &kept.holder {
            let left = self.patience.saturating_sub(start.elapsed());
            if left.is_zero() {
                let holder = Some(Box::new(holder.clone()));
                return Err(LedgerError::Held { path: NAME.into(), holder });
            }
            let waited = self.shared.released.wait_timeout(kept, left);
            (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        kept.holder = Some(who);
        kept.epoch += 1;
        Ok(kept.epoch)
    }

    fn chain(&self, from: Head) -> Chain {
        Chain::new(Box::new(Bytes(Arc::clone(&self.shared))), Path::new(NAME), from)
    }
}

impl Ledger for Memory {
    fn claim(&self, who: Holder) -> Result<Box<dyn Claim>, LedgerError> {
        self.check_there()?;
        self.faults
            .check_writable()
            .map_err(|error| LedgerError::io("lock", Path::new(NAME), error))?;
        let epoch = self.take_lock(who)?;
        let identity = self.shared.kept().identity;
        let disk =
            MemoryDisk { shared: Arc::clone(&self.shared), path: NAME.into(), epoch, identity };
        Ok(Box::new(DiskClaim::new(Box::new(Faulty::new(disk, self.faults.clone())))))
    }

    fn holder(&self) -> Option<Holder> {
        self.shared.kept().holder.clone()
    }

    fn force(&self) -> Result<(), LedgerError> {
        self.check_there()?;
        self.shared.kept().holder = None;
        self.shared.released.notify_all();
        Ok(())
    }

    fn read_from(&self, from: Head) -> Result<Lines, LedgerError> {
        self.check_there()?;
        self.chain(from).lines()
    }

    fn tail(&self, from: Head) -> Tail {
        self.chain(from).tail()
    }

    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        let body = self.shared.kept().artifacts.get(id).cloned();
        let why = "is not there";
        body.ok_or_else(|| LedgerError::Artifact { path: NAME.into(), id: *id, why })
    }
}

impl Kept {
    /// How much is on disk.
    fn on_disk(&self) -> usize {
        self.forgotten.unwrap_or(self.synced)
    }

    /// Makes the disk have exactly what there is.
    fn settle(&mut self) {
        (self.synced, self.forgotten) = (self.ledger.len(), None);
    }
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Bytes(Arc<Shared>);

impl Source for Bytes {
    fn read_at(&mut self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let kept = self.0.kept();
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let rest = kept.ledger.get(at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.kept().ledger.len() as u64)
    }
}

struct MemoryDisk {
    shared: Arc<Shared>,
    path: PathBuf,
    epoch: u64,
    identity: u64,
}

impl Disk for MemoryDisk {
    fn path(&self) -> &Path {
        &self.path
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn is_held(&self) -> io::Result<bool> {
        let kept = self.shared.kept();
        Ok(kept.holder.is_some() && kept.epoch == self.epoch)
    }

    fn heartbeat(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn source(&self) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(Bytes(Arc::clone(&self.shared))))
    }

    fn size(&self) -> io::Result<Option<u64>> {
        let kept = self.shared.kept();
        let is_same = kept.identity == self.identity && !kept.is_gone;
        Ok(is_same.then_some(kept.ledger.len() as u64))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.shared.kept().ledger.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut kept = self.shared.kept();
        kept.synced = kept.ledger.len();
        Ok(())
    }

    fn forget(&mut self) {
        let mut kept = self.shared.kept();
        kept.forgotten = kept.forgotten.or(Some(kept.synced));
        kept.synced = kept.ledger.len();
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        let mut kept = self.shared.kept();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        kept.ledger.truncate(size);
        kept.forgotten = kept.forgotten.filter(|from| *from < size);
        kept.synced = kept.ledger.len();
        Ok(())
    }

    fn set_aside(&mut self, seq: u64, tail: &[u8]) -> io::Result<String> {
        let mut kept = self.shared.kept();
        let is_free = |name: &String| kept.aside.get(name).is_none_or(|already| already == tail);
        let name = torn_names(seq)
            .find(is_free)
            .ok_or_else(|| io::Error::other("too many torn lines were set aside already"))?;
        kept.aside.insert(name.clone(), tail.to_owned());
        Ok(name)
    }

    fn put_artifact(&mut self, id: &ArtifactId, body: &[u8]) -> io::Result<()> {
        self.shared.kept().artifacts.insert(*id, body.to_owned());
        Ok(())
    }
}

impl Drop for MemoryDisk {
    fn drop(&mut self) {
        let mut kept = self.shared.kept();
        if kept.epoch == self.epoch {
            kept.holder = None;
            self.shared.released.notify_all();
        }
    }
}
