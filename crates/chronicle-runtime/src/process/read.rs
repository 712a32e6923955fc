//! Reads an agent's output in bounded memory.
//!
//! Back-pressure comes from the pipe: a slow reader makes the agent wait.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::mem;

/// How much is read at once.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;
/// Longest line that is kept whole.
pub const LINE_MAX: usize = 4 * 1024 * 1024;
/// How much of a longer line is kept.
pub const TOO_LONG_START: usize = 2_000;

/// One line, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadLine {
    /// A line of text.
    Line(String),
    /// A line longer than [`LINE_MAX`]; the rest was skipped.
    TooLong {
        /// Its first [`TOO_LONG_START`] bytes.
        start: String,
        /// Its total length, including the skipped part.
        bytes: u64,
    },
    /// A line that is not UTF-8.
    NotUtf8 {
        /// The line with every bad byte replaced.
        text: String,
    },
}

/// The lines of a stream, a last one without a line end included.
#[derive(Debug)]
pub struct OutputLines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> OutputLines<R> {
    /// Reads lines from `from`.
    pub fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(CHUNK_BYTES, from), line: Vec::new() }
    }

    fn read_line(&mut self) -> io::Result<Option<ReadLine>> {
        self.line.clear();
        // One byte more for the line end of a line that just fits.
        let most = LINE_MAX as u64 + 1;
        if (&mut self.from).take(most).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.line.ends_with(b"\n") {
            self.line.pop();
            self.line.pop_if(|byte| *byte == b'\r');
        } else if self.line.len() > LINE_MAX {
            return self.skip_rest().map(Some);
        }
        Ok(Some(match String::from_utf8(mem::take(&mut self.line)) {
            Ok(text) => ReadLine::Line(text),
            Err(bad) => {
                ReadLine::NotUtf8 { text: String::from_utf8_lossy(bad.as_bytes()).into_owned() }
            }
        }))
    }

    fn skip_rest(&mut self) -> io::Result<ReadLine> {
        let line = mem::take(&mut self.line);
        let bytes = line.len() as u64 + self.skip_to_line_end()?;
        // There are that many bytes: only a line longer than `LINE_MAX`, which is more, comes here.
        let start = String::from_utf8_lossy(&line[..TOO_LONG_START]).into_owned();
        Ok(ReadLine::TooLong { start, bytes })
    }

    /// Counts bytes before the line end, and skips both.
    fn skip_to_line_end(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                return Ok(skipped);
            }
            // `contains` compares many bytes at once, `position` one by one.
            let end = if chunk.contains(&b'\n') {
                chunk.iter().position(|byte| *byte == b'\n')
            } else {
                None
            };
            let length = end.unwrap_or(chunk.len());
            skipped += length as u64;
            self.from.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(skipped);
            }
        }
    }
}

impl<R: Read> Iterator for OutputLines<R> {
    type Item = io::Result<ReadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_line().transpose()
    }
}

/// The last lines of a stream: as many as fit both bounds.
#[derive(Debug, Clone)]
pub(crate) struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
    lines_max: usize,
    bytes_max: usize,
}

impl Ring {
    /// Keeps at most `lines_max` lines and `bytes_max` bytes.
    pub(crate) fn new(lines_max: usize, bytes_max: usize) -> Self {
        Self { lines: VecDeque::new(), bytes: 0, lines_max, bytes_max }
    }

    /// Adds a line and drops the oldest. A line longer than the whole ring loses its end.
    pub(crate) fn push(&mut self, mut line: String) {
        line.truncate(line.floor_char_boundary(self.bytes_max));
        // A line keeps the capacity that it was read with; a ring of short lines could hold megabytes of unused memory.
        line.shrink_to_fit();
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > self.lines_max || self.bytes > self.bytes_max {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// The kept lines, the oldest first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// The kept lines as one text.
    pub(crate) fn text(&self) -> String {
        self.lines().collect::<Vec<_>>().join("\n")
    }
}

/// How a stream begins and how it ends: what does not fit is left out in the middle.
#[derive(Debug, Clone)]
pub(crate) struct Edges {
    begins: Vec<String>,
    bytes: usize,
    is_full: bool,
    ends: Ring,
    left_out: usize,
    max: (usize, usize),
}

impl Edges {
    /// Keeps at most `lines_max` lines and `bytes_max` bytes of either end.
    pub(crate) fn new(lines_max: usize, bytes_max: usize) -> Self {
        let ends = Ring::new(lines_max, bytes_max);
        let max = (lines_max, bytes_max);
        Self { begins: Vec::new(), bytes: 0, is_full: false, ends, left_out: 0, max }
    }

    /// Adds a line to one of the ends.
    pub(crate) fn push(&mut self, line: String) {
        let (lines_max, bytes_max) = self.max;
        // Once full, always full: a short line after a long one must not be shown before it.
        self.is_full |= self.begins.len() >= lines_max || self.bytes + line.len() > bytes_max;
        if self.is_full {
            // Counted by the length of the ring, since one long line may push out several.
            let before = self.ends.lines.len() + 1;
            self.ends.push(line);
            self.left_out += before - self.ends.lines.len();
        } else {
            self.bytes += line.len();
            self.begins.push(line);
        }
    }

    /// Both ends as one text, which says how many lines are left out between them.
    pub(crate) fn text(&self) -> String {
        let left_out = match self.left_out {
            0 => None,
            1 => Some("… [1 line left out] …".to_owned()),
            many => Some(format!("… [{many} lines left out] …")),
        };
        let ends = self.ends.lines().map(str::to_owned);
        let all: Vec<String> = self.begins.iter().cloned().chain(left_out).chain(ends).collect();
        all.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_stream_are_kept_and_what_is_left_out_is_counted() {
        let mut edges = Edges::new(2, 100);
        for line in 1..=4 {
            edges.push(line.to_string());
        }
        assert_eq!(edges.text(), "1\n2\n3\n4");
        edges.push("5".into());
        assert_eq!(edges.text(), "1\n2\n… [1 line left out] …\n4\n5");
        edges.push("6".into());
        assert_eq!(edges.text(), "1\n2\n… [2 lines left out] …\n5\n6");
        let mut edges = Edges::new(10, 6);
        for line in ["one", "too long to begin with", "two"] {
            edges.push(line.into());
        }
        assert_eq!(edges.text(), "one\n… [1 line left out] …\ntwo");
    }

    fn lines(of: &[u8]) -> Vec<ReadLine> {
        OutputLines::new(of).map(Result::unwrap).collect()
    }

    fn text(line: &str) -> ReadLine {
        ReadLine::Line(line.into())
    }

    #[test]
    fn line_ends_of_all_kinds() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [text("")]);
        assert_eq!(lines(b"a\nb\r\n\nlast"), [text("a"), text("b"), text(""), text("last")]);
        assert_eq!(
            lines(b"a\xffb\nc\n"),
            [ReadLine::NotUtf8 { text: "a\u{fffd}b".into() }, text("c")]
        );
    }

    #[test]
    fn a_line_is_too_long_by_one_byte() {
        let mut bytes = vec![b'x'; LINE_MAX];
        bytes.extend(b"\nnext");
        assert_eq!(lines(&bytes), [text(&"x".repeat(LINE_MAX)), text("next")]);
        bytes.insert(0, b'y');
        let start = format!("y{}", "x".repeat(TOO_LONG_START - 1));
        let too_long = ReadLine::TooLong { start, bytes: LINE_MAX as u64 + 1 };
        assert_eq!(lines(&bytes), [too_long.clone(), text("next")]);
        bytes.truncate(LINE_MAX + 1);
        assert_eq!(lines(&bytes), [too_long]);
    }

    #[test]
    fn a_ring_keeps_the_last_lines_within_both_bounds() {
        let mut ring = Ring::new(2, 6);
        for line in ["one", "two", "six"] {
            ring.push(line.into());
        }
        assert_eq!(ring.text(), "two\nsix");
        ring.push("1234".into());
        assert_eq!(ring.text(), "1234");
        ring.push("12345\u{e9}".into());
        assert_eq!(ring.text(), "12345");
    }
}
