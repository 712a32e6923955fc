//! Reading: from a head on, line by line, each checked against the one before it.
//!
//! One reader serves both ways of reading. `Lines` ends where the whole lines end, `Tail` can be asked again. Both hold
//! one buffer, however long the ledger is.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use chronicle_core::event::record::Line;

use super::Head;
use super::error::LedgerError;
use super::folder::LedgerFile;
use super::line::{self, CLOSING_BYTES, LINE_BYTES_MAX};

/// How much is read at once, of a ledger that has so much; the buffer grows only for a line that is longer.
const READ_BYTES: usize = 256 * 1024;
/// The smallest buffer.
const READ_BYTES_MIN: usize = 4 * 1024;

/// The whole lines of a ledger from a head on, and the head after each. It ends after the first error.
pub struct Lines {
    chain: Chain,
    over: bool,
}

impl Lines {
    /// The head after the last line that was read.
    pub fn head(&self) -> Head {
        self.chain.head
    }

    /// How many bytes follow the last whole line: a torn tail, or a line that is being written.
    pub fn bytes_after(&self) -> u64 {
        (self.chain.end - self.chain.start) as u64
    }
}

impl Iterator for Lines {
    type Item = Result<(Line, Head), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.chain.next().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Follows a ledger while somebody writes it.
pub struct Tail {
    chain: Chain,
}

impl Tail {
    /// The next whole line; none when there is none yet. It never waits.
    pub fn poll(&mut self) -> Result<Option<(Line, Head)>, LedgerError> {
        let next = self.chain.next()?;
        if next.is_none() {
            // A line that is not whole may be cut and written anew: its bytes are read again.
            self.chain.forget();
            self.chain.check_size()?;
        }
        Ok(next)
    }

    /// The head after the last line that was read.
    pub fn head(&self) -> Head {
        self.chain.head
    }
}

pub(super) struct Chain {
    source: LedgerFile,
    path: PathBuf,
    head: Head,
    is_head_checked: bool,
    /// Holds the bytes from `head.bytes` on between `start` and `end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Up to here there is no line feed.
    searched: usize,
}

impl Chain {
    pub(super) fn new(source: LedgerFile, path: &Path, head: Head) -> Self {
        Self {
            source,
            path: path.to_owned(),
            head,
            is_head_checked: false,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            searched: 0,
        }
    }

    pub(super) fn lines(mut self) -> Result<Lines, LedgerError> {
        self.check_head()?;
        Ok(Lines { chain: self, over: false })
    }

    pub(super) fn tail(self) -> Tail {
        Tail { chain: self }
    }

    fn next(&mut self) -> Result<Option<(Line, Head)>, LedgerError> {
        self.check_head()?;
        loop {
            if let Some(length) = self.find_line() {
                return self.take(length).map(Some);
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn find_line(&mut self) -> Option<usize> {
        let mut rest = &self.buffer[self.searched..self.end];
        let found = rest.skip_until(b'\n').unwrap_or(0);
        self.searched += found;
        let is_whole = found > 0 && self.buffer[self.searched - 1] == b'\n';
        is_whole.then_some(self.searched - self.start)
    }

    fn take(&mut self, length: usize) -> Result<(Line, Head), LedgerError> {
        let bytes = &self.buffer[self.start..self.start + length];
        let (line, sum) =
            line::decode(bytes, &self.head.sum, self.head.seq + 1).map_err(|error| {
                // The same line must be wrong again when it is asked for again.
                self.searched = self.start;
                LedgerError::line(&self.path, &self.head, error)
            })?;
        self.head = Head { seq: line.seq, sum, bytes: self.head.bytes + length as u64 };
        self.start += length;
        Ok((line, self.head))
    }

    /// Reads on; false when there is nothing more.
    fn fill(&mut self) -> Result<bool, LedgerError> {
        self.make_room()?;
        let at = self.head.bytes + (self.end - self.start) as u64;
        let count = self
            .source
            .read_at(&mut self.buffer[self.end..], at)
            .map_err(|source| LedgerError::io("read", &self.path, source))?;
        self.end += count;
        Ok(count > 0)
    }

    fn make_room(&mut self) -> Result<(), LedgerError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.searched -= self.start;
        self.start = 0;
        if self.end < self.buffer.len() {
            return Ok(());
        }
        if self.end >= LINE_BYTES_MAX {
            let why = format!("no line ends within {LINE_BYTES_MAX} bytes");
            let (line, byte) = (self.head.seq + 1, self.head.bytes);
            return Err(LedgerError::Damaged { path: self.path.clone(), line, byte, why });
        }
        let size =
            self.source.size().map_err(|source| LedgerError::io("read", &self.path, source))?;
        let left = usize::try_from(size.saturating_sub(self.head.bytes)).unwrap_or(usize::MAX);
        // One byte more than there are, so that the end is found without a larger buffer.
        let wanted = left.saturating_add(1).clamp(READ_BYTES_MIN, READ_BYTES);
        let least = if self.end > 0 { self.end * 2 } else { 0 };
        self.buffer.resize(wanted.max(least).min(LINE_BYTES_MAX), 0);
        Ok(())
    }

    fn forget(&mut self) {
        (self.start, self.end, self.searched) = (0, 0, 0);
    }

    fn check_head(&mut self) -> Result<(), LedgerError> {
        if self.is_head_checked {
            return Ok(());
        }
        let stands = stands(&mut self.source, &self.head)
            .map_err(|source| LedgerError::io("read", &self.path, source))?;
        if !stands {
            return Err(self.conflict("it has no such line"));
        }
        self.is_head_checked = true;
        Ok(())
    }

    fn check_size(&mut self) -> Result<(), LedgerError> {
        let size =
            self.source.size().map_err(|source| LedgerError::io("look at", &self.path, source))?;
        if size < self.head.bytes { Err(self.conflict("it became shorter")) } else { Ok(()) }
    }

    fn conflict(&self, what: &str) -> LedgerError {
        let Head { seq, bytes, .. } = self.head;
        let why = format!("{what} (line {seq}, which ended at byte {bytes})");
        LedgerError::Conflict { path: self.path.clone(), why }
    }
}

/// Whether the line that ends at this head is in the ledger. Its sum covers everything before it.
pub(super) fn stands(source: &mut LedgerFile, head: &Head) -> io::Result<bool> {
    let Some(mut at) = head.bytes.checked_sub(CLOSING_BYTES as u64) else {
        return Ok(*head == Head::EMPTY);
    };
    if source.size()? < head.bytes {
        return Ok(false);
    }
    let mut end = [0; CLOSING_BYTES];
    let mut filled = 0;
    while filled < end.len() {
        match source.read_at(&mut end[filled..], at)? {
            0 => return Ok(false),
            count => {
                filled += count;
                at += count as u64;
            }
        }
    }
    Ok(end == line::closing(&head.sum))
}
