//! The lock file: an OS lock that is released when its holder dies, plus the holder's name, for people and for disks without
//! locks.
//!
//! The file is never removed, since a lock on a removed file excludes nobody. Its content is one line of JSON, `epoch` first,
//! overwritten in place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::disk::{Disk, DiskFile, How, Identity, Sharing};
use super::durable::{folder_of, write_whole};
use super::{io_error, place};
use crate::ledger::{Holder, LedgerError};

/// How long a claim waits for a holder: most hold the lock only briefly.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// A holder on another machine counts as dead when its last heartbeat is this old.
pub const HEARTBEAT_LIMIT: Duration = Duration::from_mins(1);
/// How often a holder renews its heartbeat.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// Longest content that is read; ours is shorter.
const CONTENT_BYTES_MAX: u64 = 16 * 1024;

/// The content of the lock file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    epoch: u64,
    #[serde(default)]
    holder: Option<Holder>,
    /// True if it was taken by force: the previous holder may still be writing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
}

/// A held lock; released when dropped.
pub(super) struct Lock {
    disk: Arc<dyn Disk>,
    file: Locked,
    path: PathBuf,
    identity: Identity,
    epoch: u64,
    content: Vec<u8>,
    /// True if the previous holder did not release it cleanly: killed, replaced, or after a failed write.
    pub(super) was_left: bool,
    /// True if this holder must not release it cleanly either: leftover data was not brought to disk.
    pub(super) is_broken: bool,
}

/// A file under an OS lock. It is unlocked explicitly, since closing it is not enough: a child process between fork and exec has
/// it open too (`a_child_being_started_does_not_keep_the_lock`).
struct Locked(Box<dyn DiskFile>);

impl Drop for Locked {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

enum Taken {
    Ours(Lock),
    Theirs(Option<Holder>),
}

/// Takes the lock, waiting for a short-lived holder.
pub(super) fn take(
    disk: &Arc<dyn Disk>,
    path: &Path,
    who: &Holder,
    patience: Duration,
) -> Result<Lock, LedgerError> {
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let taken = try_take(disk, path, who).map_err(|error| io_error("lock", path, error))?;
        let holder = match taken {
            Taken::Ours(lock) => return Ok(lock),
            Taken::Theirs(holder) => holder,
        };
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            let place = place(folder_of(path));
            return Err(LedgerError::Held { place, holder: holder.map(Box::new) });
        }
        // Polling, because an OS lock has no wait with a time limit.
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The holder of the lock, if one lives.
pub(super) fn holder(disk: &dyn Disk, path: &Path, host: &str) -> Option<Holder> {
    let file = disk.open(path, How::Read).ok()?;
    let content = read(file.as_ref()).ok()?;
    // A shared lock, so that several processes can look at the same time without seeing each other as holders.
    match file.try_lock(Sharing::Shared) {
        Ok(false) => content.holder.filter(Holder::lives),
        _ => live_elsewhere(Locked(file).0.as_ref(), content.holder, host).ok()?,
    }
}

/// Replaces the lock file with a fresh one, whoever holds the old one.
pub(super) fn force(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let epoch = match disk.open(path, How::Read) {
        Ok(file) => read(file.as_ref())?.epoch,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // A new file with a new inode: the old holder keeps its OS lock on the old inode, and notices the change by `is_held`.
    // The epoch is kept, so that the next claim still gets a higher one.
    write_whole(disk, path, &encode(&Content { epoch, holder: None, forced: true })?)
}

impl Lock {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// True if the path still has this file with our content. The file's identity reveals a replaced lock, its content a takeover
    /// by another machine on a disk without locks.
    pub(super) fn is_held(&self) -> io::Result<bool> {
        Ok(is_at(self.disk.as_ref(), &self.path, self.identity)? && self.has_our_content()?)
    }

    fn has_our_content(&self) -> io::Result<bool> {
        // One byte more than was written, so that a longer content differs too.
        let mut content = vec![0; self.content.len() + 1];
        let count = self.file.0.read_at(&mut content, 0)?;
        Ok(content[..count] == self.content)
    }

    /// The time comes from the disk, which may be on another machine.
    pub(super) fn heartbeat(&self) -> io::Result<()> {
        self.file.0.touch()
    }

    fn write(&mut self, holder: Option<&Holder>) -> io::Result<()> {
        let (epoch, holder) = (self.epoch, holder.cloned());
        self.content = encode(&Content { epoch, holder, forced: false })?;
        // Write over the old content, then truncate. A crash in between leaves rests of the old line behind the line feed, which
        // `read` ignores.
        self.file.0.write_at(&self.content, 0)?;
        self.file.0.cut(self.content.len() as u64)?;
        self.file.0.sync()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Our name is cleared only if the file is still ours and the ledger is settled. The next writer then need not write the
        // last lines again.
        if !self.is_broken && matches!(self.is_held(), Ok(true)) {
            // An error is harmless: the OS lock is released with the file, and a name left in it only makes the next writer more
            // careful.
            let _ = self.write(None);
        }
    }
}

fn try_take(disk: &Arc<dyn Disk>, path: &Path, who: &Holder) -> io::Result<Taken> {
    let file = disk.open(path, How::Update)?;
    if !file.try_lock(Sharing::Alone)? {
        return Ok(Taken::Theirs(read(file.as_ref())?.holder));
    }
    let file = Locked(file);
    let identity = file.0.entry()?.identity;
    if !is_at(disk.as_ref(), path, identity)? {
        // The file was replaced between opening and locking, so this lock excludes nobody.
        return Ok(Taken::Theirs(None));
    }
    let Content { epoch, holder, forced } = read(file.0.as_ref())?;
    // A clean release clears the holder. If one is still named, its process died or was replaced.
    let was_left = holder.is_some() || forced;
    // The OS lock was free, which proves nothing about other machines on a network disk. There, only the heartbeat counts.
    if let Some(holder) = live_elsewhere(file.0.as_ref(), holder, &who.host)? {
        return Ok(Taken::Theirs(Some(holder)));
    }
    let (path, epoch) = (path.to_owned(), epoch.saturating_add(1));
    // Until this writer has settled the ledger, dropping the lock must leave it looking abandoned.
    let (disk, content, is_broken) = (Arc::clone(disk), Vec::new(), was_left);
    let mut lock = Lock { disk, file, path, identity, epoch, content, was_left, is_broken };
    lock.write(Some(who))?;
    Ok(Taken::Ours(lock))
}

fn is_at(disk: &dyn Disk, path: &Path, identity: Identity) -> io::Result<bool> {
    Ok(disk.look(path)?.is_some_and(|entry| entry.identity == identity))
}

/// A holder on another machine, where a free OS lock proves nothing, as long as it renews its heartbeat.
fn live_elsewhere(
    file: &dyn DiskFile,
    holder: Option<Holder>,
    host: &str,
) -> io::Result<Option<Holder>> {
    let Some(holder) = holder.filter(|holder| holder.host != host) else {
        return Ok(None);
    };
    let beat = file.entry()?.changed;
    // A heartbeat from the future comes from a clock that is ahead of ours; it counts as fresh.
    let age = SystemTime::now().duration_since(beat).unwrap_or_default();
    Ok((age < HEARTBEAT_LIMIT).then_some(holder))
}

fn encode(content: &Content) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(content)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads the first line; anything after it is an older leftover. A torn line still has its epoch.
fn read(file: &dyn DiskFile) -> io::Result<Content> {
    let length = file.entry()?.length.min(CONTENT_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    let count = file.read_at(&mut bytes, 0)?;
    let line = bytes[..count].split(|byte| *byte == b'\n').next().unwrap_or_default();
    // A torn line names nobody, but its epoch must not be lost: epochs never go back, or a fenced writer could pass for the new
    // one.
    Ok(serde_json::from_slice(line).unwrap_or_else(|_| Content {
        epoch: leading_epoch(line).unwrap_or(0),
        ..Content::default()
    }))
}

fn leading_epoch(line: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(line);
    let (digits, _) = text.strip_prefix("{\"epoch\":")?.split_once(',')?;
    digits.parse().ok()
}
