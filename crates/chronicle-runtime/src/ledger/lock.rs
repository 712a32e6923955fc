//! The lock file: an OS lock that dies with its holder, and who that is, for people and for disks without locks.
//!
//! The file is never removed, since a lock on a removed file excludes nobody. Its content is one line of JSON, `epoch`
//! first, overwritten in place.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use serde::{Deserialize, Serialize};

use super::durable::{atomic_write, folder_of, sync_folder};
use super::error::LedgerError;
use super::holder::Holder;

/// How long a claim waits for a holder before it gives up: most hold it for an instant.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// A holder on another host lives until its last heartbeat is as old as this.
pub const HEARTBEAT_LIMIT: Duration = Duration::from_mins(1);
/// How often a holder says that it lives.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// The content is shorter; more is not ours.
const CONTENT_BYTES_MAX: usize = 16 * 1024;

/// What the lock file says.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    epoch: u64,
    #[serde(default)]
    holder: Option<Holder>,
}

/// A held lock; released when dropped.
pub(super) struct Lock {
    file: Locked,
    path: PathBuf,
    identity: Identity,
    epoch: u64,
    content: Vec<u8>,
}

/// A file under an OS lock. It is unlocked by word, since closing it is not enough: a child that is just being started
/// has it open too, until it becomes another program (`a_child_being_started_does_not_keep_the_lock`).
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // What cannot be unlocked goes with the last who has it open.
        let _ = self.0.unlock();
    }
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(metadata: &std::fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

enum Taken {
    Ours(Lock),
    Theirs(Option<Holder>),
}

/// Takes the lock, waiting for a short holder.
pub(super) fn take(path: &Path, who: &Holder, patience: Duration) -> Result<Lock, LedgerError> {
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let taken = try_take(path, who).map_err(|error| LedgerError::io("lock", path, error))?;
        let holder = match taken {
            Taken::Ours(lock) => return Ok(lock),
            Taken::Theirs(holder) => holder,
        };
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            let path = folder_of(path).to_owned();
            return Err(LedgerError::Held { path, holder: holder.map(Box::new) });
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Who holds the lock now.
pub(super) fn holder(path: &Path, host: &str) -> Option<Holder> {
    let file = File::open(path).ok()?;
    let content = read(&file).ok()?;
    // A shared lock does not stop others who only look.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => content.holder,
        _ => live_elsewhere(&Locked(file).0, content.holder, host).ok()?,
    }
}

/// Puts a fresh lock file in the place of one that somebody may hold.
pub(super) fn force(path: &Path) -> io::Result<()> {
    let epoch = match File::open(path) {
        Ok(file) => read(&file)?.epoch,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    atomic_write(path, &encode(epoch, None)?)
}

impl Lock {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether the file at the path is still this one and still says what we wrote. The first finds a lock that was
    /// replaced, the second one that another host took over on a disk without locks.
    pub(super) fn is_held(&self) -> io::Result<bool> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) if Identity::of(&metadata) != self.identity => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            found => found?,
        };
        let mut content = vec![0; self.content.len() + 1];
        let count = self.file.0.read_at(&mut content, 0)?;
        Ok(content[..count] == self.content)
    }

    /// The time is the disk's, where the disk is another host's.
    pub(super) fn heartbeat(&self) -> io::Result<()> {
        let time = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        let times =
            Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
        Ok(rustix::fs::futimens(&self.file.0, &times)?)
    }

    fn write(&mut self, holder: Option<&Holder>) -> io::Result<()> {
        self.content = encode(self.epoch, holder)?;
        self.file.0.write_all_at(&self.content, 0)?;
        self.file.0.set_len(self.content.len() as u64)?;
        self.file.0.sync_all()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if matches!(self.is_held(), Ok(true)) {
            // What cannot be cleared is only words: the OS lock goes with the file.
            let _ = self.write(None);
        }
    }
}

fn try_take(path: &Path, who: &Holder) -> io::Result<Taken> {
    let is_new = !path.exists();
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(Taken::Theirs(read(&file)?.holder)),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    let file = Locked(file);
    let identity = Identity::of(&file.0.metadata()?);
    if !is_at(path, identity)? {
        // Replaced between opening and locking: this lock excludes nobody.
        return Ok(Taken::Theirs(None));
    }
    let Content { epoch, holder } = read(&file.0)?;
    if let Some(holder) = live_elsewhere(&file.0, holder, &who.host)? {
        return Ok(Taken::Theirs(Some(holder)));
    }
    let (path, epoch) = (path.to_owned(), epoch.saturating_add(1));
    let mut lock = Lock { file, path, identity, epoch, content: Vec::new() };
    lock.write(Some(who))?;
    if is_new {
        sync_folder(folder_of(&lock.path))?;
    }
    Ok(Taken::Ours(lock))
}

fn is_at(path: &Path, identity: Identity) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Identity::of(&metadata) == identity),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A holder on another host, where a free OS lock proves nothing, as long as it gives signs of life.
fn live_elsewhere(file: &File, holder: Option<Holder>, host: &str) -> io::Result<Option<Holder>> {
    let Some(holder) = holder.filter(|holder| holder.host != host) else {
        return Ok(None);
    };
    let beat = file.metadata()?.modified()?;
    // A beat from the future is from a clock that is ahead of ours.
    let age = SystemTime::now().duration_since(beat).unwrap_or_default();
    Ok((age < HEARTBEAT_LIMIT).then_some(holder))
}

fn encode(epoch: u64, holder: Option<&Holder>) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&Content { epoch, holder: holder.cloned() })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads the first line; whatever a crash left behind it is older. A torn line still has its epoch.
fn read(file: &File) -> io::Result<Content> {
    let mut bytes = vec![0; CONTENT_BYTES_MAX];
    let count = file.read_at(&mut bytes, 0)?;
    let line = bytes[..count].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(serde_json::from_slice(line)
        .unwrap_or_else(|_| Content { epoch: leading_epoch(line).unwrap_or(0), holder: None }))
}

fn leading_epoch(line: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(line);
    let (digits, _) = text.strip_prefix("{\"epoch\":")?.split_once(',')?;
    digits.parse().ok()
}
