//! A disk that fails as told, around any other.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chronicle_runtime::for_tests::ledger::{Disk, DiskFile, Entry, How, Sharing};

/// What shall go wrong. All clones are one.
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
    /// Lets files grow by that many more bytes; of a write that does not fit, the beginning is written.
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

    /// That disk, failing as told.
    pub fn on(&self, disk: Arc<dyn Disk>) -> Arc<dyn Disk> {
        Arc::new(Faulty { disk, faults: self.clone() })
    }

    fn check_writable(&self) -> io::Result<()> {
        let refused = self.plan().is_read_only;
        if refused { Err(io::ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }

    fn check_sync(&self) -> io::Result<()> {
        let fails = self.plan().is_sync_failing;
        if fails { Err(io::Error::other("the sync was made to fail")) } else { Ok(()) }
    }

    /// How many of these bytes may be written, where so many of them need new room.
    fn take_room(&self, wanted: usize, new: u64) -> usize {
        let mut plan = self.plan();
        let Some(room) = plan.room.as_mut() else {
            return wanted;
        };
        let missing = new.saturating_sub(*room);
        *room = room.saturating_sub(new);
        wanted.saturating_sub(usize::try_from(missing).unwrap_or(usize::MAX))
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A disk that fails as told.
#[derive(Debug)]
struct Faulty {
    disk: Arc<dyn Disk>,
    faults: Faults,
}

impl Disk for Faulty {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        if how != How::Read {
            self.faults.check_writable()?;
        }
        let file = self.disk.open(path, how)?;
        Ok(Box::new(FaultyFile { file, faults: self.faults.clone() }))
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        self.disk.look(path)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.names(folder)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.faults.check_writable()?;
        self.disk.make_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.faults.check_writable()?;
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.faults.check_writable()?;
        self.disk.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.faults.check_sync()?;
        self.disk.sync_folder(path)
    }
}

struct FaultyFile {
    file: Box<dyn DiskFile>,
    faults: Faults,
}

impl FaultyFile {
    fn write(
        &self,
        bytes: &[u8],
        new: u64,
        write: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.faults.check_writable()?;
        let fitting = self.faults.take_room(bytes.len(), new);
        // As real disks do: what fits is written before the error comes.
        write(&bytes[..fitting])?;
        if fitting < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl DiskFile for FaultyFile {
    fn entry(&self) -> io::Result<Entry> {
        self.file.entry()
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(buffer, at)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes, bytes.len() as u64, |fitting| self.file.append(fitting))
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        // Only what lies behind the end needs room: writing over bytes of a full disk works.
        let new = (at + bytes.len() as u64).saturating_sub(self.file.entry()?.length);
        self.write(bytes, new.min(bytes.len() as u64), |fitting| self.file.write_at(fitting, at))
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.faults.check_writable()?;
        self.file.cut(length)
    }

    fn sync(&self) -> io::Result<()> {
        let checked = self.faults.check_sync();
        if checked.is_err() && self.faults.plan().is_sync_forgotten {
            self.file.forget();
        }
        checked?;
        self.file.sync()
    }

    fn forget(&self) {
        self.file.forget();
    }

    fn try_lock(&self, with: Sharing) -> io::Result<bool> {
        self.file.try_lock(with)
    }

    fn unlock(&self) {
        self.file.unlock();
    }

    fn touch(&self) -> io::Result<()> {
        self.faults.check_writable()?;
        self.file.touch()
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Self { file: self.file.again()?, faults: self.faults.clone() }))
    }
}
