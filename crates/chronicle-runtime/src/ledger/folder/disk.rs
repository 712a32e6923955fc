//! What a ledger needs of a file system, and nothing more. The real one is `real.rs`; tests bring
//! others, which lose what was not synced or fail as told. No rules are in here: those are in `folder.rs`, `lock.rs`,
//! `durable.rs` and `writer.rs`.

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A file system, as one process sees it.
pub trait Disk: Debug + Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>>;
    /// What is at that path; none when nothing is.
    fn look(&self, path: &Path) -> io::Result<Option<Entry>>;
    /// The names in a folder.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Makes one folder.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Gives a file another name, in the place of what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Takes a file's name away.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Brings the names in a folder to the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// To read one that is there.
    Read,
    /// To read, and to write at its end only; it is made if need be.
    Append,
    /// To read and to write anywhere; it is made if need be.
    Update,
    /// To write one that must not be there yet.
    New,
}

/// What a path or an open file stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Which file it is, whatever its name.
    pub identity: Identity,
    /// How many bytes it has.
    pub length: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// When it was last written or touched.
    pub changed: SystemTime,
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The file on it.
    pub inode: u64,
}

/// An open file.
pub trait DiskFile: Send {
    /// What it is now.
    fn entry(&self) -> io::Result<Entry>;
    /// Reads some bytes from there on; none at the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
    /// Adds bytes at the end; on failure some of them may be there.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    /// Writes bytes from there on; on failure some of them may be there. Not for one that was opened to append.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// Makes it so long.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Returns once its bytes are on disk.
    fn sync(&self) -> io::Result<()>;
    /// What a system does after a sync that failed: it takes what was not written for written, and the next sync succeeds.
    fn forget(&self) {}
    /// Takes the lock that dies with its process, alone or beside others who share it; false when somebody else has it.
    fn try_lock(&self, with: Sharing) -> io::Result<bool>;
    /// Gives the lock back.
    fn unlock(&self);
    /// Makes it as if it was written now, by the disk's clock.
    fn touch(&self) -> io::Result<()>;
    /// The same open file once more.
    fn again(&self) -> io::Result<Box<dyn DiskFile>>;
}

/// With whom a lock is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// With nobody.
    Alone,
    /// With all who share it too.
    Shared,
}

/// Reads a whole file of at most so many bytes; none when it is not there.
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

/// Reads until the buffer is full or there is nothing more.
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
