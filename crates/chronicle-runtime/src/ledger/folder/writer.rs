//! The order in which a ledger is checked, truncated and written, on any disk.

use std::io;

use chronicle_core::event::record::Line;

use super::chain::{LineChain, stands};
use super::files::LockedFiles;
use super::line::{self, LINE_BYTES_MAX};
use super::{io_error, offset, place};
use crate::fail::{self, Point};
use crate::ledger::{ArtifactId, Cursor, Head, LedgerClaim, LedgerError, Lines, Torn, Writer};

/// Most unsynced bytes, except for a longer last line: this bounds what a killed writer may leave unsynced.
const UNSYNCED_BYTES_MAX: u64 = 1024 * 1024;
/// Room for waiting lines that is kept between two syncs.
const ROOM_KEPT: usize = 64 * 1024;
/// What `lay_out` does, for errors.
const LAY_OUT: &str = "lay out a text of";
/// Largest artifact, in bytes.
pub const ARTIFACT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A held lock with the files of a ledger.
pub(super) struct FolderClaim {
    files: LockedFiles,
}

impl FolderClaim {
    pub(super) fn new(files: LockedFiles) -> Self {
        Self { files }
    }

    fn io(&self, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
        failed(&self.files, doing)
    }

    /// Bytes after the last line that was read: nothing, or a torn line.
    fn tail_after(&self, at: &Head) -> Result<Vec<u8>, LedgerError> {
        let mut source = self.files.source().map_err(self.io("read"))?;
        if !stands(&mut source, at).map_err(self.io("read"))? {
            let why = format!("line {}, which was read just now, is not there", at.seq);
            return Err(LedgerError::Conflict { place: place(self.files.path()), why });
        }
        let size = source.size().map_err(self.io("look at"))?;
        let length = usize::try_from(size.saturating_sub(offset(at))).unwrap_or(usize::MAX);
        let mut tail = vec![0; length.min(LINE_BYTES_MAX)];
        let count = source.read_full(&mut tail, offset(at)).map_err(self.io("read"))?;
        tail.truncate(count);
        // A line feed means that a complete line follows: somebody wrote after the read. Cutting it off would lose a decision
        // that may already have been acted on, so the caller must read again.
        if length > LINE_BYTES_MAX || tail.contains(&b'\n') {
            return Err(LedgerError::Stale { place: place(self.files.path()), seq: at.seq });
        }
        Ok(tail)
    }

    /// Saves the tail before it is cut off, so that a crash in between loses nothing.
    fn cut_tail(&mut self, at: &Head) -> Result<Option<Torn>, LedgerError> {
        let tail = self.tail_after(at)?;
        if tail.is_empty() {
            return Ok(None);
        }
        // Save first, then cut: a crash in between leaves the tail twice, never nowhere.
        let aside = self.files.set_aside(at.seq + 1, &tail);
        let kept = aside.map_err(self.io("set aside the torn last line of"))?;
        fail::at(Point::AfterSetAside);
        let cut = self.files.cut(offset(at));
        cut.map_err(self.io("cut the torn last line of"))?;
        Ok(Some(Torn { bytes: tail.len() as u64, kept }))
    }
}

impl FolderClaim {
    /// Brings everything that was read to disk: the last writer may have died between append and sync.
    fn settle(&mut self, at: &Head) -> Result<Option<Torn>, LedgerError> {
        let torn = self.cut_tail(at)?;
        // The previous writer did not release its lock, so it may have died after a failed sync. Then the page cache cannot be
        // trusted, and the bytes have to become dirty again before the sync below means anything.
        if self.files.was_left() {
            let again = self.write_again(at);
            again.map_err(self.io("write again the last lines of"))?;
        }
        // Every line that was read must be on disk before this writer acts on it. The previous writer may have died between its
        // append and its sync.
        let synced = self.files.sync();
        synced.map_err(self.io("sync"))?;
        Ok(torn)
    }

    /// After a failed sync the kernel may believe that lost data was written; the next sync then has nothing to do and lies. So
    /// the part that a dead writer may have left unsynced is written again in place, byte for byte.
    fn write_again(&mut self, at: &Head) -> io::Result<()> {
        let mut source = self.files.source()?;
        let end = offset(at);
        // No writer leaves more than this unsynced, so everything before it was synced once and is not in doubt.
        let mut from = end.saturating_sub(UNSYNCED_BYTES_MAX);
        let mut buffer = vec![0; usize::try_from(end - from).unwrap_or(0)];
        while from < end {
            let count = source.read_at(&mut buffer, from)?;
            let wanted = usize::try_from(end - from).unwrap_or(usize::MAX);
            let bytes = &buffer[..count.min(wanted)];
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.files.write_again(bytes, from)?;
            from += bytes.len() as u64;
        }
        Ok(())
    }
}

impl FolderClaim {
    /// Truncates everything after an intact line. A copy of the whole file is on disk first, so that a crash in between loses
    /// nothing.
    pub(super) fn cut_back(mut self, at: &Head) -> Result<String, LedgerError> {
        check_held(&self.files)?;
        let mut source = self.files.source().map_err(self.io("read"))?;
        if !stands(&mut source, at).map_err(self.io("read"))? {
            let why = format!("line {}, after which it is to be cut, is not there", at.seq);
            return Err(LedgerError::Conflict { place: place(self.files.path()), why });
        }
        // Copy first, then cut: what a person gives up here must stay recoverable.
        let kept = self.files.keep_whole();
        let kept = kept.map_err(self.io("keep a copy of"))?;
        let cut = self.files.cut(offset(at));
        cut.map_err(self.io("cut the damaged end of"))?;
        Ok(kept)
    }
}

impl LedgerClaim for FolderClaim {
    fn epoch(&self) -> u64 {
        self.files.epoch()
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        let source = self.files.source().map_err(self.io("read"))?;
        Ok(Box::new(LineChain::new(source, self.files.path(), from).lines()?))
    }

    fn lay_out(&self, text: &str) -> Result<(), LedgerError> {
        self.files.lay_out(text).map_err(self.io(LAY_OUT))
    }

    fn writer(mut self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError> {
        check_held(&self.files)?;
        let settled = self.settle(&at);
        // If settling failed, the lock must look abandoned, so that the next writer writes the last lines again.
        self.files.leave_broken(settled.is_err());
        let (files, head, synced, waiting) = (self.files, at, at, Vec::new());
        let torn = settled?;
        Ok(Box::new(FolderWriter { files, head, torn, waiting, synced, is_poisoned: false }))
    }
}

struct FolderWriter {
    files: LockedFiles,
    /// The end of the ledger, once what waits is written.
    head: Head,
    torn: Option<Torn>,
    /// Lines that the next sync writes. Nobody may act on them before it, so nobody misses them in the file, and one look at the
    /// lock is enough for the write and its sync.
    waiting: Vec<u8>,
    /// The end of what is on disk; the file ends there.
    synced: Head,
    is_poisoned: bool,
}

impl FolderWriter {
    /// Runs an operation that writes. After a failure it is unknown what is on disk, so nothing more is written.
    fn write<T>(
        &mut self,
        doing: &'static str,
        write: impl FnOnce(&mut LockedFiles) -> io::Result<T>,
    ) -> Result<T, LedgerError> {
        self.check_sound()?;
        // Check the lock and the file size before every write. A writer that lost its lock, or whose file was changed, must not
        // add a line: the chain would fork.
        let written = self
            .check_ours()
            .and_then(|()| write(&mut self.files).map_err(failed(&self.files, doing)));
        self.poison_unless(written)
    }

    /// Writes what waits and brings it to disk, unless the ledger was taken over since the last time.
    fn write_waiting(&mut self) -> Result<(), LedgerError> {
        self.check_sound()?;
        // Even if nothing waits: decisions of a writer that was replaced meanwhile must not be acted on.
        let ours = self.check_ours();
        self.poison_unless(ours)?;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let appended = fail::torn(&self.waiting, |part| self.files.append(part));
        fail::at(Point::AfterWrite);
        let appended = appended.map_err(failed(&self.files, "append to"));
        fail::at(Point::BeforeSync);
        let synced = appended
            .and_then(|()| self.files.sync().map_err(failed(&self.files, "sync")))
            .inspect_err(|_| take_back(&mut self.files, offset(&self.synced)));
        self.poison_unless(synced)?;
        self.synced = self.head;
        self.waiting.clear();
        // The usual room is kept for the next lines, that of a very long line is not.
        self.waiting.shrink_to(ROOM_KEPT);
        Ok(())
    }

    /// Puts the texts of a line where workers read them, before anybody can be told of the files.
    fn lay_out(&mut self, line: &Line) -> Result<(), LedgerError> {
        self.check_sound()?;
        // Without a look at the lock: a file that is named by its content takes nothing from whoever holds it now.
        let laid = line.texts.iter().try_for_each(|text| self.files.lay_out(text));
        self.poison_unless(laid.map_err(failed(&self.files, LAY_OUT)))
    }

    fn check_sound(&self) -> Result<(), LedgerError> {
        let place = || place(self.files.path());
        if self.is_poisoned { Err(LedgerError::Poisoned { place: place() }) } else { Ok(()) }
    }

    fn poison_unless<T>(&mut self, written: Result<T, LedgerError>) -> Result<T, LedgerError> {
        if written.is_err() {
            self.is_poisoned = true;
            // What waited is not kept, so the ledger ends where it was synced.
            self.head = self.synced;
            // After a failed write the kernel's view of these bytes is unreliable; the next writer has to write them again.
            self.files.leave_broken(true);
        }
        written
    }

    /// By name and not by the open files, which stay the same after somebody replaced them.
    fn check_ours(&self) -> Result<(), LedgerError> {
        check_held(&self.files)?;
        match self.files.size().map_err(failed(&self.files, "look at"))? {
            // The size is enough here. Bytes that were changed in place are found by their sums when the ledger is read.
            Some(size) if size == offset(&self.synced) => Ok(()),
            Some(size) => {
                let left = offset(&self.synced);
                Err(self.conflict(format!("it has {size} bytes and was left with {left}")))
            }
            None if self.files.is_missing() => {
                Err(LedgerError::Removed { place: place(self.files.path()) })
            }
            None => Err(self.conflict("another file has taken its place".to_owned())),
        }
    }

    fn conflict(&self, why: String) -> LedgerError {
        LedgerError::Conflict { place: place(self.files.path()), why }
    }

    fn check_size(
        &self,
        what: &'static str,
        bytes: usize,
        limit: usize,
    ) -> Result<(), LedgerError> {
        let place = || place(self.files.path());
        let fits = bytes <= limit;
        if fits {
            Ok(())
        } else {
            Err(LedgerError::TooLarge { place: place(), what, bytes, limit })
        }
    }

    fn check_due(&self, expected_seq: u64, line: &Line) -> Result<(), LedgerError> {
        let due = self.head.seq + 1;
        // The number is checked against the caller's and ours: a decision made on an older state must not be appended.
        if expected_seq == due && line.seq == due {
            return Ok(());
        }
        let seq = line.seq;
        Err(self.conflict(format!("line {due} is due, not {seq} expected as {expected_seq}")))
    }
}

impl Writer for FolderWriter {
    fn epoch(&self) -> u64 {
        self.files.epoch()
    }

    fn head(&self) -> Head {
        self.head
    }

    fn append(&mut self, expected_seq: u64, line: &Line) -> Result<Head, LedgerError> {
        self.check_sound()?;
        self.check_due(expected_seq, line)?;
        let (bytes, sum) = line::encode(line, &self.head.sum).map_err(|source| {
            LedgerError::Unwritable { place: place(self.files.path()), seq: line.seq, source }
        })?;
        self.check_size("a line", bytes.len(), LINE_BYTES_MAX)?;
        // Sync early so that the unsynced part stays small enough for `write_again` to cover all of it.
        if (self.waiting.len() + bytes.len()) as u64 > UNSYNCED_BYTES_MAX {
            self.sync()?;
        }
        self.lay_out(line)?;
        fail::at(Point::BeforeAppend);
        self.waiting.extend_from_slice(&bytes);
        let at = Cursor::of_backend(offset(&self.head) + bytes.len() as u64);
        self.head = Head { seq: line.seq, sum, at };
        Ok(self.head)
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        self.write_waiting()?;
        fail::at(Point::AfterSync);
        Ok(())
    }

    fn heartbeat(&mut self) -> Result<(), LedgerError> {
        check_held(&self.files)?;
        // Not through `write`: a heartbeat that fails says nothing about the lines, so it must not poison the writer.
        let beat = self.files.heartbeat();
        beat.map_err(failed(&self.files, "renew the lock of"))
    }

    fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError> {
        // Refused before anything is written, so that an oversized body does not poison the writer.
        self.check_size("an artifact", body.len(), ARTIFACT_BYTES_MAX)?;
        let id = ArtifactId::of(body);
        self.write("keep an artifact of", |files| files.put_artifact(&id, body))?;
        Ok(id)
    }
}

/// Cuts off what could not be written and synced. Nobody has acted on it, because acting waits for the sync. If it stayed, the next
/// writer could read it from the page cache, sync without an error, act on it, and lose it in a power cut.
fn take_back(files: &mut LockedFiles, synced: u64) {
    // Another writer's lines must not be cut, so not without the lock.
    if check_held(files).is_ok() {
        // If cutting fails as well, the bytes stay. Nothing is acted on before the disk works again.
        let _ = files.cut(synced);
    }
}

fn check_held(files: &LockedFiles) -> Result<(), LedgerError> {
    if files.is_held().map_err(failed(files, "look at the lock of"))? {
        return Ok(());
    }
    let place = place(files.path());
    // Nobody took the lock of a folder that was removed: to look for another writer would lead nowhere.
    let is_gone = files.is_gone().map_err(failed(files, "look at"))?;
    Err(if is_gone { LedgerError::Gone { place } } else { LedgerError::Fenced { place } })
}

fn failed(files: &LockedFiles, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
    move |source| io_error(doing, files.path(), source)
}
