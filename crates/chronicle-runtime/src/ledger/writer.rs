//! The order in which a ledger is checked, cut and written: the same for every disk.

use std::io;

use chronicle_core::record::Line;

use super::chain::{Chain, Lines, stands};
use super::disk::Disk;
use super::error::LedgerError;
use super::line::{self, LINE_BYTES_MAX};
use super::{ArtifactId, Claim, Head, Torn, Writer};
use crate::fail::{self, Point};

/// No artifact is larger.
pub const ARTIFACT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A claimed lock over a disk.
pub(super) struct DiskClaim {
    disk: Box<dyn Disk>,
}

impl DiskClaim {
    pub(super) fn new(disk: Box<dyn Disk>) -> Self {
        Self { disk }
    }

    fn io(&self, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
        failed(self.disk.as_ref(), doing)
    }

    /// What follows the line that was read last: nothing, or a line that is not whole.
    fn tail_after(&self, at: &Head) -> Result<Vec<u8>, LedgerError> {
        let path = self.disk.path().to_owned();
        let mut source = self.disk.source().map_err(self.io("read"))?;
        if !stands(source.as_mut(), at).map_err(self.io("read"))? {
            let why = format!("line {}, which was read just now, is not there", at.seq);
            return Err(LedgerError::Conflict { path, why });
        }
        let size = source.size().map_err(self.io("look at"))?;
        let length = usize::try_from(size.saturating_sub(at.bytes)).unwrap_or(usize::MAX);
        let mut tail = vec![0; length.min(LINE_BYTES_MAX)];
        let count = read_full(|rest, done| source.read_at(rest, at.bytes + done), &mut tail)
            .map_err(self.io("read"))?;
        tail.truncate(count);
        if length > LINE_BYTES_MAX || tail.contains(&b'\n') {
            return Err(LedgerError::Stale { path, seq: at.seq });
        }
        Ok(tail)
    }

    /// Keeps the tail before it is cut, so that a crash between the two loses nothing.
    fn cut_tail(&mut self, at: &Head) -> Result<Option<Torn>, LedgerError> {
        let tail = self.tail_after(at)?;
        if tail.is_empty() {
            return Ok(None);
        }
        let aside = self.disk.set_aside(at.seq + 1, &tail);
        let file = aside.map_err(self.io("set aside the torn last line of"))?;
        fail::at(Point::AfterSetAside);
        let cut = self.disk.cut(at.bytes);
        cut.map_err(self.io("cut the torn last line of"))?;
        Ok(Some(Torn { bytes: tail.len() as u64, file }))
    }
}

impl Claim for DiskClaim {
    fn epoch(&self) -> u64 {
        self.disk.epoch()
    }

    fn read_from(&self, from: Head) -> Result<Lines, LedgerError> {
        let source = self.disk.source().map_err(self.io("read"))?;
        Chain::new(source, self.disk.path(), from).lines()
    }

    fn writer(mut self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError> {
        check_held(self.disk.as_ref())?;
        let torn = self.cut_tail(&at)?;
        // The last writer may have died between its append and its sync: what was read must last before it is acted on.
        let synced = self.disk.sync();
        synced.map_err(self.io("sync"))?;
        Ok(Box::new(DiskWriter {
            disk: self.disk,
            head: at,
            torn,
            synced: at.bytes,
            is_poisoned: false,
        }))
    }
}

struct DiskWriter {
    disk: Box<dyn Disk>,
    head: Head,
    torn: Option<Torn>,
    /// Up to here the ledger is on disk.
    synced: u64,
    is_poisoned: bool,
}

impl DiskWriter {
    /// Runs something that writes. When it fails, nobody knows what is on disk: nothing more is written.
    fn write<T>(
        &mut self,
        doing: &'static str,
        write: impl FnOnce(&mut dyn Disk) -> io::Result<T>,
    ) -> Result<T, LedgerError> {
        if self.is_poisoned {
            return Err(LedgerError::Poisoned { path: self.disk.path().to_owned() });
        }
        let written = self
            .check_ours()
            .and_then(|()| write(self.disk.as_mut()).map_err(failed(self.disk.as_ref(), doing)));
        self.is_poisoned = written.is_err();
        written
    }

    /// Cuts what could not be synced, and was not acted upon. A system that failed to write may take it for written: the
    /// next writer would read it, sync without an error, act on it, and lose it with the power all the same.
    fn take_back(&mut self) {
        if self.check_ours().is_ok() {
            // A disk that refuses this too is left as it is: nobody acts on it before it works again.
            let _ = self.disk.cut(self.synced);
        }
    }

    fn check_ours(&self) -> Result<(), LedgerError> {
        check_held(self.disk.as_ref())?;
        let size = self.disk.size().map_err(failed(self.disk.as_ref(), "look at"))?;
        match size {
            Some(size) if size == self.head.bytes => Ok(()),
            Some(size) => {
                Err(self
                    .conflict(format!("it has {size} bytes and was left with {}", self.head.bytes)))
            }
            None => Err(self.conflict("another file has taken its place".to_owned())),
        }
    }

    fn conflict(&self, why: String) -> LedgerError {
        LedgerError::Conflict { path: self.disk.path().to_owned(), why }
    }

    fn check_size(
        &self,
        what: &'static str,
        bytes: usize,
        limit: usize,
    ) -> Result<(), LedgerError> {
        let path = || self.disk.path().to_owned();
        let fits = bytes <= limit;
        if fits { Ok(()) } else { Err(LedgerError::TooLarge { path: path(), what, bytes, limit }) }
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

impl Writer for DiskWriter {
    fn epoch(&self) -> u64 {
        self.disk.epoch()
    }

    fn head(&self) -> Head {
        self.head
    }

    fn append(&mut self, expected_seq: u64, line: &Line) -> Result<Head, LedgerError> {
        self.check_due(expected_seq, line)?;
        let (bytes, sum) = line::encode(line, &self.head.sum).map_err(|source| {
            LedgerError::Unwritable { path: self.disk.path().to_owned(), seq: line.seq, source }
        })?;
        self.check_size("a line", bytes.len(), LINE_BYTES_MAX)?;
        fail::at(Point::BeforeAppend);
        self.write("append to", |disk| fail::torn(&bytes, |part| disk.append(part)))?;
        fail::at(Point::AfterWrite);
        self.head = Head { seq: line.seq, sum, bytes: self.head.bytes + bytes.len() as u64 };
        Ok(self.head)
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        let is_synced = self.synced == self.head.bytes;
        fail::at(Point::BeforeSync);
        // The checks come again: what another writer has overtaken must not be acted upon.
        let written = self.write("sync", |disk| if is_synced { Ok(()) } else { disk.sync() });
        match written {
            Ok(()) => {
                fail::at(Point::AfterSync);
                self.synced = self.head.bytes;
            }
            Err(_) => self.take_back(),
        }
        written
    }

    fn heartbeat(&mut self) -> Result<(), LedgerError> {
        check_held(self.disk.as_ref())?;
        let beat = self.disk.heartbeat();
        beat.map_err(failed(self.disk.as_ref(), "renew the lock of"))
    }

    fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError> {
        self.check_size("an artifact", body.len(), ARTIFACT_BYTES_MAX)?;
        let id = ArtifactId::of(body);
        self.write("keep an artifact of", |disk| disk.put_artifact(&id, body))?;
        Ok(id)
    }
}

fn check_held(disk: &dyn Disk) -> Result<(), LedgerError> {
    let is_held = disk.is_held().map_err(failed(disk, "look at the lock of"))?;
    if is_held { Ok(()) } else { Err(LedgerError::Fenced { path: disk.path().to_owned() }) }
}

fn failed(disk: &dyn Disk, doing: &'static str) -> impl FnOnce(io::Error) -> LedgerError {
    let path = disk.path().to_owned();
    move |source| LedgerError::io(doing, &path, source)
}

/// Reads until the buffer is full or there is nothing more.
fn read_full(
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read(&mut buffer[filled..], filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
