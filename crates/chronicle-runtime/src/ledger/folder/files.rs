//! The open files of a ledger. The rules for using them are in `writer.rs`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::{self, Disk, DiskFile, How, Identity};
use super::durable::{create_folder, sweep, write_quick, write_whole};
use super::line::LINE_BYTES_MAX;
use super::lock::Lock;
use super::writer::ARTIFACT_BYTES_MAX;
use super::{ARTIFACTS, Folder, LEDGER};
use crate::ledger::ArtifactId;

/// How much of a ledger is copied or counted at once.
const PIECE: usize = 256 * 1024;

/// The bytes of a ledger for reading. A new run has none yet.
pub(super) struct LedgerFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Option<Box<dyn DiskFile>>,
}

impl LedgerFile {
    pub(super) fn of(folder: &Folder) -> Self {
        Self { disk: Arc::clone(&folder.disk), path: folder.ledger_path(), file: None }
    }

    fn file(&mut self) -> io::Result<Option<&dyn DiskFile>> {
        if self.file.is_none() {
            // Tried again at each read: a watcher may start before the run has its first line.
            self.file = match self.disk.open(&self.path, How::Read) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                opened => Some(opened?),
            };
        }
        Ok(self.file.as_deref())
    }

    /// Reads some bytes at an offset; 0 at the end.
    pub(super) fn read_at(&mut self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.file()?.map_or(Ok(0), |file| file.read_at(buffer, at))
    }

    /// Reads until the buffer is full or the file ends.
    pub(super) fn read_full(&mut self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.file()?.map_or(Ok(0), |file| disk::read_full(file, buffer, at))
    }

    /// Size of the ledger in bytes.
    pub(super) fn size(&mut self) -> io::Result<u64> {
        self.file()?.map_or(Ok(0), |file| Ok(file.entry()?.length))
    }
}

/// Number of bytes and lines after an offset; a last line without a line feed counts.
pub(super) fn beyond(file: &mut LedgerFile, from: u64) -> io::Result<(u64, u64)> {
    let (mut piece, mut at, mut lines, mut last) = (vec![0; PIECE], from, 0, b'\n');
    loop {
        match file.read_at(&mut piece, at)? {
            0 => return Ok((at.saturating_sub(from), lines + u64::from(last != b'\n'))),
            count => {
                lines += piece[..count].split(|byte| *byte == b'\n').count() as u64 - 1;
                last = piece[count - 1];
                at += count as u64;
            }
        }
    }
}

fn copy(from: &mut LedgerFile, to: &dyn DiskFile) -> io::Result<()> {
    let (mut piece, mut at) = (vec![0; PIECE], 0);
    loop {
        match from.read_at(&mut piece, at)? {
            0 => return Ok(()),
            count => {
                to.append(&piece[..count])?;
                at += count as u64;
            }
        }
    }
}

/// The files of a ledger whose lock is held.
pub(super) struct LockedFiles {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    path: PathBuf,
    /// Opened to append, so that even a writer that lost its lock unnoticed cannot overwrite a line.
    file: Box<dyn DiskFile>,
    identity: Identity,
    lock: Lock,
}

impl LockedFiles {
    pub(super) fn open(disk: Arc<dyn Disk>, folder: &Path, lock: Lock) -> io::Result<Self> {
        let path = folder.join(LEDGER);
        let artifacts = folder.join(ARTIFACTS);
        create_folder(disk.as_ref(), &artifacts)?;
        // Only the holder of the lock may remove these: an unfinished file of a live writer has the same kind of name.
        sweep(disk.as_ref(), folder)?;
        sweep(disk.as_ref(), &artifacts)?;
        let file = disk.open(&path, How::Append)?;
        // The names must be on disk before the content of the files is relied on, even if a writer that died had created them.
        disk.sync_folder(folder)?;
        let identity = file.entry()?.identity;
        Ok(Self { disk, folder: folder.to_owned(), path, file, identity, lock })
    }

    /// Path of the folder, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Epoch of the claim that holds these files.
    pub(super) fn epoch(&self) -> u64 {
        self.lock.epoch()
    }

    /// True if this process still holds the lock.
    pub(super) fn is_held(&self) -> io::Result<bool> {
        self.lock.is_held()
    }

    /// True if the ledger itself is not there any more.
    pub(super) fn is_gone(&self) -> io::Result<bool> {
        Ok(self.disk.look(&self.path)?.is_none())
    }

    /// True if the previous holder did not release the lock cleanly, so that its last lines may not be on disk.
    pub(super) fn was_left(&self) -> bool {
        self.lock.was_left
    }

    /// Leaves the lock as a killed process would, unless everything that was read and written is on disk.
    pub(super) fn leave_broken(&mut self, is_broken: bool) {
        self.lock.is_broken = is_broken;
    }

    /// Renews the lock's modification time.
    pub(super) fn heartbeat(&mut self) -> io::Result<()> {
        self.lock.heartbeat()
    }

    /// A handle for reading.
    pub(super) fn source(&self) -> io::Result<LedgerFile> {
        let file = Some(self.file.again()?);
        Ok(LedgerFile { disk: Arc::clone(&self.disk), path: self.path.clone(), file })
    }

    /// Size in bytes; `None` if another file has replaced the ledger.
    pub(super) fn size(&self) -> io::Result<Option<u64>> {
        // Looked up by path and not by the open file, which would stay the same after somebody replaced it.
        let entry = self.disk.look(&self.path)?.filter(|entry| entry.identity == self.identity);
        Ok(entry.map(|entry| entry.length))
    }

    /// Whether there is nothing in the place of the ledger.
    pub(super) fn is_missing(&self) -> bool {
        self.disk.look(&self.path).is_ok_and(|entry| entry.is_none())
    }

    /// Appends bytes; a failure may leave some of them.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.append(bytes)
    }

    /// Returns once everything appended is on disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    /// Writes the bytes that are already there, so that the kernel marks them as dirty again.
    pub(super) fn write_again(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        // A handle of its own: writes through the usual one always go to the end.
        self.disk.open(&self.path, How::Update)?.write_at(bytes, at)
    }

    /// Truncates the ledger and syncs it.
    pub(super) fn cut(&mut self, size: u64) -> io::Result<()> {
        // Synced at once: otherwise a power cut could bring the removed bytes back.
        self.file.cut(size)?;
        self.file.sync()
    }

    /// Saves a torn line beside the ledger, synced, and returns the file's name. A line may be torn twice: earlier files are not
    /// overwritten.
    pub(super) fn set_aside(&mut self, seq: u64, tail: &[u8]) -> io::Result<String> {
        // Numbered, because the same line can be torn several times, each time with other bytes.
        const TORN_FILES_MAX: u32 = 1_000;
        for number in 1..=TORN_FILES_MAX {
            let name = match number {
                1 => format!("torn-{seq}.txt"),
                _ => format!("torn-{seq}-{number}.txt"),
            };
            let path = self.folder.join(&name);
            match disk::read(self.disk.as_ref(), &path, LINE_BYTES_MAX as u64)? {
                // A crash came between saving the tail and cutting it.
                Some(kept) if kept == tail => return Ok(name),
                Some(_) => {}
                None => return write_whole(self.disk.as_ref(), &path, tail).map(|()| name),
            }
        }
        Err(io::Error::other("too many torn lines were set aside already"))
    }

    /// Saves a copy of the whole ledger beside it, synced, and returns the file's name.
    pub(super) fn keep_whole(&mut self) -> io::Result<String> {
        // Never overwritten: each repair keeps what it found.
        const DAMAGED_FILES_MAX: u32 = 1_000;
        let mut source = self.source()?;
        for number in 1..=DAMAGED_FILES_MAX {
            let name = format!("damaged-{number}.jsonl");
            let file = match self.disk.open(&self.folder.join(&name), How::New) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            copy(&mut source, file.as_ref())?;
            // The copy and its name must be on disk before the ledger is cut.
            file.sync()?;
            self.disk.sync_folder(&self.folder)?;
            return Ok(name);
        }
        Err(io::Error::other("too many damaged ledgers were kept already"))
    }

    /// The file of an artifact. Looked at each time: a worker can replace the folder while it works.
    fn artifact(&self, id: &ArtifactId) -> io::Result<PathBuf> {
        let folder = self.folder.join(ARTIFACTS);
        self.disk.check_folder(&folder)?;
        Ok(folder.join(id.to_string()))
    }

    /// Saves an artifact, synced.
    pub(super) fn put_artifact(&mut self, id: &ArtifactId, body: &[u8]) -> io::Result<()> {
        let path = self.artifact(id)?;
        match disk::read(self.disk.as_ref(), &path, ARTIFACT_BYTES_MAX as u64) {
            // The process that wrote it may have died before the name was on disk.
            Ok(Some(kept)) if kept == body => self.disk.sync_folder(&self.folder.join(ARTIFACTS)),
            _ => write_whole(self.disk.as_ref(), &path, body),
        }
    }

    /// Writes the file of a text that its line keeps, if it is not there. Not synced: the next claim looks for it again.
    pub(super) fn lay_out(&self, text: &str) -> io::Result<()> {
        let id = ArtifactId::of(text.as_bytes());
        let path = self.artifact(&id)?;
        match disk::read(self.disk.as_ref(), &path, ARTIFACT_BYTES_MAX as u64) {
            Ok(Some(kept)) if kept == text.as_bytes() => Ok(()),
            _ => write_quick(self.disk.as_ref(), &path, text.as_bytes()),
        }
    }
}
