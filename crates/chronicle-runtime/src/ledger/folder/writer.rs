//! The order in which a ledger is checked, cut and written: whatever the disk.

use std::io;

use chronicle_core::event::record::Line;

use super::chain::{Chain, stands};
use super::files::Files;
use super::line::{self, LINE_BYTES_MAX};
use super::{io_error, offset, place};
use crate::fail::{self, Point};
use crate::ledger::{ArtifactId, Claim, Cursor, Head, LedgerError, Lines, Torn, Writer};

/// Most bytes that wait for a sync, but for a last line that is longer: so much a killed writer may leave unsynced.
const UNSYNCED_BYTES_MAX: u64 = 1024 * 1024;
/// No artifact is larger.
pub const ARTIFACT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A claimed lock over the files of a ledger.
pub(super) struct FolderClaim {
    files: Files,
}

impl FolderClaim {
    pub(super) fn new(files: Files) -> Self {
        Self { files }
    }

    fn io(&self, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
        failed(&self.files, doing)
    }

    /// What follows the line that was read last: nothing, or a line that is not whole.
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
        if length > LINE_BYTES_MAX || tail.contains(&b'\n') {
            return Err(LedgerError::Stale { place: place(self.files.path()), seq: at.seq });
        }
        Ok(tail)
    }

    /// Keeps the tail before it is cut, so that a crash between the two loses nothing.
    fn cut_tail(&mut self, at: &Head) -> Result<Option<Torn>, LedgerError> {
        let tail = self.tail_after(at)?;
        if tail.is_empty() {
            return Ok(None);
        }
        let aside = self.files.set_aside(at.seq + 1, &tail);
        let kept = aside.map_err(self.io("set aside the torn last line of"))?;
        fail::at(Point::AfterSetAside);
        let cut = self.files.cut(offset(at));
        cut.map_err(self.io("cut the torn last line of"))?;
        Ok(Some(Torn { bytes: tail.len() as u64, kept }))
    }
}

impl FolderClaim {
    /// Brings everything that was read to the disk: the last writer may have died between its append and its sync.
    fn settle(&mut self, at: &Head) -> Result<Option<Torn>, LedgerError> {
        let torn = self.cut_tail(at)?;
        if self.files.was_left() {
            let again = self.write_again(at);
            again.map_err(self.io("write again the last lines of"))?;
        }
        let synced = self.files.sync();
        synced.map_err(self.io("sync"))?;
        Ok(torn)
    }

    /// A sync that failed may have made the system take for written what is not: then the next sync has nothing left to do
    /// and lies. So what one who died may have left unsynced is written where it stands, byte for byte the same.
    fn write_again(&mut self, at: &Head) -> io::Result<()> {
        let mut source = self.files.source()?;
        let end = offset(at);
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
    /// Cuts everything after a line that stands. The whole file is on disk under another name first, so that a crash between
    /// the two loses nothing.
    pub(super) fn cut_back(mut self, at: &Head) -> Result<String, LedgerError> {
        check_held(&self.files)?;
        let mut source = self.files.source().map_err(self.io("read"))?;
        if !stands(&mut source, at).map_err(self.io("read"))? {
            let why = format!("line {}, after which it is to be cut, is not there", at.seq);
            return Err(LedgerError::Conflict { place: place(self.files.path()), why });
        }
        let kept = self.files.keep_whole();
        let kept = kept.map_err(self.io("keep a copy of"))?;
        let cut = self.files.cut(offset(at));
        cut.map_err(self.io("cut the damaged end of"))?;
        Ok(kept)
    }
}

impl Claim for FolderClaim {
    fn epoch(&self) -> u64 {
        self.files.epoch()
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        let source = self.files.source().map_err(self.io("read"))?;
        Ok(Box::new(Chain::new(source, self.files.path(), from).lines()?))
    }

    fn writer(mut self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError> {
        check_held(&self.files)?;
        let settled = self.settle(&at);
        // The next one must know when nobody brought it to the disk.
        self.files.leave_broken(settled.is_err());
        let (files, head, synced) = (self.files, at, offset(&at));
        Ok(Box::new(FolderWriter { files, head, torn: settled?, synced, is_poisoned: false }))
    }
}

struct FolderWriter {
    files: Files,
    head: Head,
    torn: Option<Torn>,
    /// Up to here the ledger is on disk.
    synced: u64,
    is_poisoned: bool,
}

impl FolderWriter {
    /// Runs something that writes. When it fails, nobody knows what is on disk: nothing more is written.
    fn write<T>(
        &mut self,
        doing: &'static str,
        write: impl FnOnce(&mut Files) -> io::Result<T>,
    ) -> Result<T, LedgerError> {
        if self.is_poisoned {
            return Err(LedgerError::Poisoned { place: place(self.files.path()) });
        }
        let written = self
            .check_ours()
            .and_then(|()| write(&mut self.files).map_err(failed(&self.files, doing)));
        if written.is_err() {
            self.is_poisoned = true;
            // Whoever comes next must not believe what the system says of these bytes.
            self.files.leave_broken(true);
        }
        written
    }

    /// Cuts what could not be synced, and was not acted upon. A system that failed to write may take it for written: the
    /// next writer would read it, sync without an error, act on it, and lose it with the power all the same.
    fn take_back(&mut self) {
        if self.check_ours().is_ok() {
            // A disk that refuses this too is left as it is: nobody acts on it before it works again.
            let _ = self.files.cut(self.synced);
        }
    }

    fn check_ours(&self) -> Result<(), LedgerError> {
        check_held(&self.files)?;
        let size = self.files.size().map_err(failed(&self.files, "look at"))?;
        match size {
            Some(size) if size == offset(&self.head) => Ok(()),
            Some(size) => Err(self
                .conflict(format!("it has {size} bytes and was left with {}", offset(&self.head)))),
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
        self.check_due(expected_seq, line)?;
        let (bytes, sum) = line::encode(line, &self.head.sum).map_err(|source| {
            LedgerError::Unwritable { place: place(self.files.path()), seq: line.seq, source }
        })?;
        self.check_size("a line", bytes.len(), LINE_BYTES_MAX)?;
        if offset(&self.head) + bytes.len() as u64 > self.synced + UNSYNCED_BYTES_MAX {
            self.sync()?;
        }
        fail::at(Point::BeforeAppend);
        self.write("append to", |files| fail::torn(&bytes, |part| files.append(part)))?;
        fail::at(Point::AfterWrite);
        let at = Cursor(offset(&self.head) + bytes.len() as u64);
        self.head = Head { seq: line.seq, sum, at };
        Ok(self.head)
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        let is_synced = self.synced == offset(&self.head);
        fail::at(Point::BeforeSync);
        // The checks come again: what another writer has overtaken must not be acted upon.
        let written = self.write("sync", |files| if is_synced { Ok(()) } else { files.sync() });
        match written {
            Ok(()) => {
                fail::at(Point::AfterSync);
                self.synced = offset(&self.head);
            }
            Err(_) => self.take_back(),
        }
        written
    }

    fn heartbeat(&mut self) -> Result<(), LedgerError> {
        check_held(&self.files)?;
        let beat = self.files.heartbeat();
        beat.map_err(failed(&self.files, "renew the lock of"))
    }

    fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError> {
        self.check_size("an artifact", body.len(), ARTIFACT_BYTES_MAX)?;
        let id = ArtifactId::of(body);
        self.write("keep an artifact of", |files| files.put_artifact(&id, body))?;
        Ok(id)
    }
}

fn check_held(files: &Files) -> Result<(), LedgerError> {
    let is_held = files.is_held().map_err(failed(files, "look at the lock of"))?;
    if is_held { Ok(()) } else { Err(LedgerError::Fenced { place: place(files.path()) }) }
}

fn failed(files: &Files, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
    move |source| io_error(doing, files.path(), source)
}
