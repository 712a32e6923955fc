//! What a backend must be able to do, and a disk that fails as told.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ArtifactId;
use super::chain::Source;

/// The bytes of one ledger under a claimed lock. It holds no rules: those are in `writer.rs`.
pub(super) trait Disk: Send {
    /// What it is called in words.
    fn path(&self) -> &Path;
    /// The claim's epoch.
    fn epoch(&self) -> u64;
    /// Whether the lock is still this one's.
    fn is_held(&self) -> io::Result<bool>;
    /// Renews the lock's time.
    fn heartbeat(&mut self) -> io::Result<()>;
    /// For reading what is there.
    fn source(&self) -> io::Result<Box<dyn Source>>;
    /// How many bytes there are; none when another file has taken the ledger's place.
    fn size(&self) -> io::Result<Option<u64>>;
    /// Adds bytes at the end; on failure some of them may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Returns once everything appended is on disk.
    fn sync(&mut self) -> io::Result<()>;
    /// What a system does after a sync that failed: it takes what was not written for written, and the next sync succeeds.
    fn forget(&mut self) {}
    /// Drops everything from there on, on disk too.
    fn cut(&mut self, size: u64) -> io::Result<()>;
    /// Keeps the torn line of that number beside the ledger, on disk, and says in which file.
    fn set_aside(&mut self, seq: u64, tail: &[u8]) -> io::Result<String>;
    /// Keeps a body, on disk.
    fn put_artifact(&mut self, id: &ArtifactId, body: &[u8]) -> io::Result<()>;
}

/// The names to try for a torn line. A line may be torn twice; what was set aside first is not written over.
pub(super) fn torn_names(seq: u64) -> impl Iterator<Item = String> {
    const TORN_FILES_MAX: u32 = 1_000;
    (1..=TORN_FILES_MAX).map(move |number| match number {
        1 => format!("torn-{seq}.txt"),
        _ => format!("torn-{seq}-{number}.txt"),
    })
}

/// What shall go wrong, for tests and simulation. All clones are one.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    room: Option<u64>,
    is_sync_failing: bool,
    is_sync_forgotten: bool,
    is_read_only: bool,
}

impl Faults {
    /// Lets that many more bytes be written; of a write that does not fit, the beginning is.
    pub fn fill_disk_after(&self, bytes: u64) {
        self.plan().room = Some(bytes);
    }

    /// Lets every sync fail.
    pub fn fail_syncs(&self) {
        self.plan().is_sync_failing = true;
    }

    /// Lets every sync fail, and what it did not write count as written from then on.
    pub fn fail_syncs_and_forget(&self) {
        let mut plan = self.plan();
        (plan.is_sync_failing, plan.is_sync_forgotten) = (true, true);
    }

    /// Lets every write be refused, before any of it is done.
    pub fn make_read_only(&self) {
        self.plan().is_read_only = true;
    }

    /// Lets everything work again.
    pub fn clear(&self) {
        *self.plan() = Plan::default();
    }

    pub(super) fn check_writable(&self) -> io::Result<()> {
        let refused = self.plan().is_read_only;
        if refused { Err(io::ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }

    fn check_sync(&self) -> io::Result<()> {
        let fails = self.plan().is_sync_failing;
        if fails { Err(io::Error::other("the sync was made to fail")) } else { Ok(()) }
    }

    /// How many of these bytes may be written.
    fn take_room(&self, wanted: usize) -> usize {
        let mut plan = self.plan();
        let Some(room) = plan.room.as_mut() else {
            return wanted;
        };
        let taken = wanted.min(usize::try_from(*room).unwrap_or(usize::MAX));
        *room -= taken as u64;
        taken
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A disk that fails as told.
pub(super) struct Faulty<D> {
    disk: D,
    faults: Faults,
}

impl<D: Disk> Faulty<D> {
    pub(super) fn new(disk: D, faults: Faults) -> Self {
        Self { disk, faults }
    }

    /// For files that are whole or not at all.
    fn check_room(&self, bytes: usize) -> io::Result<()> {
        self.faults.check_writable()?;
        if self.faults.take_room(bytes) < bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.faults.check_sync()
    }
}

impl<D: Disk> Disk for Faulty<D> {
    fn path(&self) -> &Path {
        self.disk.path()
    }

    fn epoch(&self) -> u64 {
        self.disk.epoch()
    }

    fn is_held(&self) -> io::Result<bool> {
        self.disk.is_held()
    }

    fn heartbeat(&mut self) -> io::Result<()> {
        self.disk.heartbeat()
    }

    fn source(&self) -> io::Result<Box<dyn Source>> {
        self.disk.source()
    }

    fn size(&self) -> io::Result<Option<u64>> {
        self.disk.size()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.faults.check_writable()?;
        let fitting = self.faults.take_room(bytes.len());
        self.disk.append(&bytes[..fitting])?;
        if fitting < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&mut self) -> io::Result<()> {
        let checked = self.faults.check_sync();
        if checked.is_err() && self.faults.plan().is_sync_forgotten {
            self.disk.forget();
        }
        checked?;
        self.disk.sync()
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.faults.check_writable()?;
        // As a file is: it is shorter at once, and only then brought to the disk.
        self.disk.cut(size)?;
        self.faults.check_sync()
    }

    fn set_aside(&mut self, seq: u64, tail: &[u8]) -> io::Result<String> {
        self.check_room(tail.len())?;
        self.disk.set_aside(seq, tail)
    }

    fn put_artifact(&mut self, id: &ArtifactId, body: &[u8]) -> io::Result<()> {
        self.check_room(body.len())?;
        self.disk.put_artifact(id, body)
    }
}
