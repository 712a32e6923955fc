//! The disk as one process sees it.

use std::io;
use std::path::Path;
use std::sync::MutexGuard;

use chronicle_runtime::for_tests::ledger::{Disk, DiskFile, Entry, How, Sharing};

use super::Simulated;
use super::node::{DiskNode, Held, PendingWrite};
use super::platter::{Platter, Renaming, above, key};

/// A process that uses the disk.
#[derive(Debug, Clone)]
pub struct SimulatedProcess {
    disk: Simulated,
    number: usize,
}

impl SimulatedProcess {
    pub(super) fn new(disk: &Simulated, number: usize) -> Self {
        Self { disk: disk.clone(), number }
    }

    /// Ends the simulated process and releases its locks.
    pub fn kill(&self) {
        self.disk.platter().kill(self.number);
    }

    /// Ends it after so many more things that it asks of the disk.
    pub fn kill_after(&self, things: u32) {
        self.disk.platter().lives[self.number].left = Some(things);
    }

    /// Lets it live on, if it still does.
    pub fn spare(&self) {
        self.disk.platter().lives[self.number].left = None;
    }

    /// Whether it has ended.
    pub fn is_dead(&self) -> bool {
        self.disk.platter().lives[self.number].is_over
    }

    fn ask(&self) -> io::Result<MutexGuard<'_, Platter>> {
        let mut platter = self.disk.platter();
        platter.turn(self.number)?;
        Ok(platter)
    }
}

impl Disk for SimulatedProcess {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let mut platter = self.ask()?;
        let name = key(path);
        let node = match (platter.names.get(name), how) {
            (Some(_), How::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(node), _) => node,
            (None, How::Read) => return Err(io::ErrorKind::NotFound.into()),
            (None, _) if platter.names.get(above(name)).is_none() => {
                return Err(io::ErrorKind::NotFound.into());
            }
            (None, _) => platter.make(name, false),
        };
        platter.handles += 1;
        let handle = platter.handles;
        drop(platter);
        Ok(Box::new(OpenFile { process: self.clone(), node, handle }))
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        let platter = self.ask()?;
        Ok(platter.names.get(key(path)).map(|node| platter.entry(node)))
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let platter = self.ask()?;
        let inside = platter.names.0.iter().filter(|(name, _)| above(name) == key(folder));
        let name =
            |name: &[u8]| String::from_utf8_lossy(&name[key(folder).len() + 1..]).into_owned();
        Ok(inside.map(|(full, _)| name(full)).collect())
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut platter = self.ask()?;
        if platter.names.get(key(path)).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        platter.make(key(path), true);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut platter = self.ask()?;
        let node = platter.names.get(key(from)).ok_or(io::ErrorKind::NotFound)?;
        let from = Some(key(from).to_owned());
        platter.change_names(Renaming { from, to: Some((key(to).to_owned(), node)) });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut platter = self.ask()?;
        platter.names.get(key(path)).ok_or(io::ErrorKind::NotFound)?;
        platter.change_names(Renaming { from: Some(key(path).to_owned()), to: None });
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let platter = &mut *self.ask()?;
        let names = &mut platter.names_on_disk;
        platter.pending.retain(|change| {
            // Only names directly in that folder: on a real disk too, syncing a folder says nothing of those below it.
            let is_synced = change.is_in(key(path));
            if is_synced {
                names.apply(change);
            }
            !is_synced
        });
        Ok(())
    }
}

/// An open file of a process. Closing it gives its lock back.
struct OpenFile {
    process: SimulatedProcess,
    node: usize,
    handle: u64,
}

impl OpenFile {
    fn change(&self, change: impl FnOnce(&mut DiskNode)) -> io::Result<()> {
        change(&mut self.process.ask()?.nodes[self.node]);
        Ok(())
    }

    fn let_go(&self) {
        let mut platter = self.process.disk.platter();
        platter.nodes[self.node].locks.retain(|held| held.handle != self.handle);
    }
}

impl DiskFile for OpenFile {
    fn entry(&self) -> io::Result<Entry> {
        Ok(self.process.ask()?.entry(self.node))
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let platter = self.process.ask()?;
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let rest = platter.nodes[self.node].bytes.get(at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.change(|node| node.write(bytes, node.bytes.len()))
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let at = usize::try_from(at).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.change(|node| node.write(bytes, at))
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.change(|node| {
            node.bytes.resize(length, 0);
            node.pending.push(PendingWrite::Cut(length));
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.change(DiskNode::sync)
    }

    fn forget(&self) {
        // A file's length is the journal's.
        let is_length = |change: &PendingWrite| matches!(change, PendingWrite::Cut(_));
        let _ = self.change(|node| node.pending.retain(is_length));
    }

    fn try_lock(&self, with: Sharing) -> io::Result<bool> {
        let mut platter = self.process.ask()?;
        let locks = &mut platter.nodes[self.node].locks;
        let excludes = |held: &Held| {
            held.handle != self.handle && (with == Sharing::Alone || held.with == Sharing::Alone)
        };
        if locks.iter().any(excludes) {
            return Ok(false);
        }
        // A second lock by the same handle replaces the first one, as `flock` converts it.
        locks.retain(|held| held.handle != self.handle);
        locks.push(Held { process: self.process.number, handle: self.handle, with });
        Ok(true)
    }

    fn unlock(&self) {
        self.let_go();
    }

    fn touch(&self) -> io::Result<()> {
        self.change(|_| {})
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        let mut platter = self.process.ask()?;
        platter.handles += 1;
        // Another handle on the same file: a lock of the first one does not count as its own.
        let (process, node, handle) = (self.process.clone(), self.node, platter.handles);
        Ok(Box::new(Self { process, node, handle }))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.let_go();
    }
}
