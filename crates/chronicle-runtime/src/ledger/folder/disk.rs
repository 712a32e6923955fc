//! The file system operations that a ledger needs. The real one is `real.rs`; tests bring others, which lose what was not synced
//! or fail on request. The rules are in `mod.rs`, `lock.rs`, `durable.rs` and `writer.rs`.

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A file system, as one process sees it.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file; `how` says whether it must exist.
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>>;
    /// Metadata of a path; `None` if nothing is there.
    fn look(&self, path: &Path) -> io::Result<Option<Entry>>;
    /// The names in a folder.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Creates one folder, whose parent must exist.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Renames a file atomically, replacing an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// An error if something other than a folder is at the path, such as a link to one. Simulated disks have no links.
    fn check_folder(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Ok(())
    }
    /// Removes a file, which must exist.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Syncs the names in a folder, so that they survive a power cut.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Reading; the file must exist.
    Read,
    /// Reading, and writing only at the end; created if missing.
    Append,
    /// Reading and writing anywhere; created if missing.
    Update,
    /// Writing a new file; it must not exist.
    New,
}

/// Metadata of a path or of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Stays the same when the file is renamed.
    pub identity: Identity,
    /// Size of the file in bytes.
    pub length: u64,
    /// True for a folder.
    pub is_folder: bool,
    /// When it was last written or touched.
    pub changed: SystemTime,
}

/// Identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Device number of the file system.
    pub device: u64,
    /// Inode number on that device.
    pub inode: u64,
}

/// An open file of a [`Disk`].
pub trait DiskFile: Send {
    /// Metadata of the file as it is now.
    fn entry(&self) -> io::Result<Entry>;
    /// Reads some bytes at an offset; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
    /// Appends bytes; a failure may leave some of them.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    /// Writes bytes at an offset; a failure may leave some of them. Not for files that were opened to append.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// Truncates the file to that length.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Returns once its bytes are on disk.
    fn sync(&self) -> io::Result<()>;
    /// Simulates what a kernel does after a failed sync: dirty pages are marked clean, and the next sync succeeds.
    fn forget(&self) {}
    /// Takes the OS lock that is released when the process dies; false if another process holds it.
    fn try_lock(&self, with: Sharing) -> io::Result<bool>;
    /// Releases the lock that `try_lock` took.
    fn unlock(&self);
    /// Sets the modification time to now, by the disk's clock.
    fn touch(&self) -> io::Result<()>;
    /// Duplicates the file handle.
    fn again(&self) -> io::Result<Box<dyn DiskFile>>;
}

/// Whether other processes may hold the same lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Exclusive: no other holder is allowed.
    Alone,
    /// Shared with other shared holders.
    Shared,
}

/// Reads a whole file of at most that many bytes; `None` if it does not exist.
pub(super) fn read(disk: &dyn Disk, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open(path, How::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let length = file.entry()?.length;
    if length > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    let count = read_full(file.as_ref(), &mut bytes, 0)?;
    bytes.truncate(count);
    Ok(Some(bytes))
}

/// Reads until the buffer is full or the file ends.
pub(super) fn read_full(file: &dyn DiskFile, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
