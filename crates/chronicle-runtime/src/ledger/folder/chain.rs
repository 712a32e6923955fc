//! Reads lines from a head on and checks each against the one before. Uses one buffer, however long the ledger is.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use chronicle_core::event::record::Line;

use super::files::LedgerFile;
use super::line::{self, CLOSING_BYTES, LINE_BYTES_MAX, LineError};
use super::{io_error, offset, place};
use crate::ledger::{Cursor, Head, LedgerError, Lines};

/// Usual size of a read; the buffer grows only for a longer line.
const READ_BYTES: usize = 256 * 1024;
/// Size of the buffer for short ledgers.
const READ_BYTES_MIN: usize = 4 * 1024;
/// Polling interval while a reader waits for the next line: nothing notifies a process that only reads.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The complete lines of a file from a head on.
pub(super) struct FolderLines {
    chain: LineChain,
    is_over: bool,
}

impl Iterator for FolderLines {
    type Item = Result<(Line, Head), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.chain.next().transpose();
        // An error ends the iteration for good. Continuing behind a damaged line would skip decisions.
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Lines for FolderLines {
    fn head(&self) -> Head {
        self.chain.head
    }

    fn wait(&mut self, most: Duration) -> Result<bool, LedgerError> {
        let start = Instant::now();
        while !self.chain.has_next()? {
            let left = most.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            // Polled, because notifications of file changes do not work on network disks, and the file may not exist yet.
            thread::sleep(LOOK_EVERY.min(left));
        }
        self.is_over = false;
        Ok(true)
    }
}

pub(super) struct LineChain {
    source: LedgerFile,
    path: PathBuf,
    head: Head,
    /// Bytes after the head, between `start` and `end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// No line feed before this offset.
    searched: usize,
}

impl LineChain {
    pub(super) fn new(source: LedgerFile, path: &Path, head: Head) -> Self {
        Self {
            source,
            path: path.to_owned(),
            head,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            searched: 0,
        }
    }

    pub(super) fn lines(mut self) -> Result<FolderLines, LedgerError> {
        let stands = stands(&mut self.source, &self.head);
        if !stands.map_err(|source| io_error("read", &self.path, source))? {
            return Err(self.conflict("it has no such line"));
        }
        Ok(FolderLines { chain: self, is_over: false })
    }

    /// Verifies every sum up to a head that was stored elsewhere, without parsing the lines.
    pub(super) fn check_up_to(mut self, to: &Head) -> Result<(), LedgerError> {
        while offset(&self.head) < offset(to) {
            // Only sums are checked, lines are not parsed: a reader that starts at a cached head knows what the lines before it
            // meant.
            let Some(length) = self.seek()? else { return Err(self.conflict("it became shorter")) };
            let bytes = &self.buffer[self.start..self.start + length];
            let sum = line::checked(bytes, &self.head.sum)
                .map_err(|error| line_error(&self.path, &self.head, error))?;
            let at = Cursor::of_backend(offset(&self.head) + length as u64);
            self.head = Head { seq: self.head.seq + 1, sum, at };
            self.start += length;
        }
        let (seq, at) = (to.seq, offset(to));
        let why = format!("line {seq}, which ended at byte {at}, is another one");
        let place = place(&self.path);
        if self.head == *to { Ok(()) } else { Err(LedgerError::Conflict { place, why }) }
    }

    fn next(&mut self) -> Result<Option<(Line, Head)>, LedgerError> {
        match self.seek()? {
            Some(length) => self.take(length).map(Some),
            None => Ok(None),
        }
    }

    /// True if there is a complete line by now.
    fn has_next(&mut self) -> Result<bool, LedgerError> {
        self.searched = self.start;
        if self.find_line().is_none() {
            // An incomplete line may have been cut and replaced since, so its bytes are read again.
            (self.start, self.end, self.searched) = (0, 0, 0);
            if self.seek()?.is_none() {
                return self.check_size().map(|()| false);
            }
        }
        self.searched = self.start;
        Ok(true)
    }

    /// Reads until there is a complete line. Returns its length.
    fn seek(&mut self) -> Result<Option<usize>, LedgerError> {
        loop {
            if let Some(length) = self.find_line() {
                return Ok(Some(length));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn find_line(&mut self) -> Option<usize> {
        // Continues where the last search ended. Otherwise a long line that arrives in small pieces would be searched again for
        // each piece.
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
                // Asking again must report the same error for the same line.
                self.searched = self.start;
                line_error(&self.path, &self.head, error)
            })?;
        let at = Cursor::of_backend(offset(&self.head) + length as u64);
        self.head = Head { seq: line.seq, sum, at };
        self.start += length;
        Ok((line, self.head))
    }

    /// Reads more; false at the end.
    fn fill(&mut self) -> Result<bool, LedgerError> {
        self.make_room()?;
        let at = offset(&self.head) + (self.end - self.start) as u64;
        let count = self
            .source
            .read_at(&mut self.buffer[self.end..], at)
            .map_err(|source| io_error("read", &self.path, source))?;
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
        // Our writer refuses longer lines, so this is damage and not a line that is still being written.
        if self.end >= LINE_BYTES_MAX {
            let why = format!("no line ends within {LINE_BYTES_MAX} bytes");
            return Err(damaged(&self.path, &self.head, why));
        }
        let size = self.source.size().map_err(|source| io_error("read", &self.path, source))?;
        let left = usize::try_from(size.saturating_sub(offset(&self.head))).unwrap_or(usize::MAX);
        // One byte more than there are, so that the end is found without a larger buffer.
        let wanted = left.saturating_add(1).clamp(READ_BYTES_MIN, READ_BYTES);
        // Doubling keeps the total cost of copying a long line linear.
        let least = if self.end > 0 { self.end * 2 } else { 0 };
        self.buffer.resize(wanted.max(least).min(LINE_BYTES_MAX), 0);
        Ok(())
    }

    fn check_size(&mut self) -> Result<(), LedgerError> {
        let size = self.source.size().map_err(|source| io_error("look at", &self.path, source))?;
        if size < offset(&self.head) { Err(self.conflict("it became shorter")) } else { Ok(()) }
    }

    fn conflict(&self, what: &str) -> LedgerError {
        let Head { seq, at, .. } = self.head;
        let why = format!("{what} (line {seq}, which ended at byte {})", at.for_backend());
        LedgerError::Conflict { place: place(&self.path), why }
    }
}

/// True if the line that ends at this head is in the ledger. Its sum covers everything before it.
pub(super) fn stands(source: &mut LedgerFile, head: &Head) -> io::Result<bool> {
    let Some(mut at) = offset(head).checked_sub(CLOSING_BYTES as u64) else {
        return Ok(*head == Head::EMPTY);
    };
    // Compared first: reading behind the end of the file would look like an unfinished line instead of a missing one.
    if source.size()? < offset(head) {
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

/// The error for the line after `head`.
fn line_error(path: &Path, head: &Head, error: LineError) -> LedgerError {
    let line = head.seq + 1;
    match error {
        LineError::UnknownKind { kind } => {
            LedgerError::UnknownKind { place: place(path), line, kind }
        }
        LineError::NewerVersion { version } => {
            LedgerError::NewerVersion { place: place(path), line, version }
        }
        LineError::Unclosed | LineError::Sum | LineError::Sequence { .. } | LineError::Shape(_) => {
            damaged(path, head, error.to_string())
        }
    }
}

fn damaged(path: &Path, head: &Head, why: String) -> LedgerError {
    let spot = format!("byte {}", offset(head));
    LedgerError::Damaged { place: place(path), line: head.seq + 1, spot, why }
}
