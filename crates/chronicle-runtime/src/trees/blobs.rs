//! Contents out of our repository, one after the other, without holding a whole one in memory.

use std::io::{self, Write};

use super::{Trees, TreesError};

/// Longest line between two contents; git's has an id, a word and a number.
const HEAD_MAX: usize = 200;

/// What takes contents. They come in the order in which they were asked for.
pub(super) trait Takes {
    /// The next content comes, with its length; `None` if it is not there.
    fn begin(&mut self, bytes: Option<u64>) -> io::Result<()>;
    /// A piece of it.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// The content is whole: all its bytes were taken.
    fn end(&mut self) -> io::Result<()>;
}

impl Trees {
    /// Passes contents on. The error is ours if git did not do it, and the taker's otherwise.
    pub(super) fn blobs(
        &self,
        ids: &[&str],
        to: &mut dyn Takes,
    ) -> Result<io::Result<()>, TreesError> {
        const WHAT: &str = "read contents";
        if ids.is_empty() {
            return Ok(Ok(()));
        }
        let input: String = ids.iter().flat_map(|id| [id, "\n"]).collect();
        self.git.check()?;
        let call = self.git.call(&self.index(), &[], &["cat-file", "--batch"]);
        let mut parted =
            Parted { to, head: Vec::new(), left: None, seen: 0, is_between: false, failed: None };
        let ran = call.input(input.into_bytes()).stream(&mut parted);
        let Parted { left, seen, failed, .. } = parted;
        if let Some(error) = failed {
            return Ok(Err(error));
        }
        let ran = ran.map_err(|error| self.git.failed(WHAT, error))?;
        if !ran.status.success() {
            return Err(self.git.refused(WHAT, &ran));
        }
        if left.is_some() || seen != ids.len() {
            let why = "it ended too early".to_owned();
            return Err(TreesError::Damaged { path: self.git.dir.clone(), what: WHAT, why });
        }
        Ok(Ok(()))
    }
}

/// Parts git's output into contents.
struct Parted<'t> {
    to: &'t mut dyn Takes,
    /// The line before a content, as far as it was read.
    head: Vec<u8>,
    /// What is still missing of a content.
    left: Option<u64>,
    /// Number of contents that were whole, or not there.
    seen: usize,
    /// True before the line feed after a content.
    is_between: bool,
    /// The taker's error, which git's own end would hide.
    failed: Option<io::Error>,
}

impl Parted<'_> {
    fn part(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if let Some(left) = self.left {
                let now = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                self.to.take(&bytes[..now])?;
                bytes = &bytes[now..];
                self.left = Some(left - now as u64);
                self.end_if_whole()?;
            } else if self.is_between {
                self.is_between = false;
                bytes = &bytes[1..];
            } else {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                self.head.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                if self.head.len() > HEAD_MAX {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                bytes = end.map_or(&[][..], |end| &bytes[end + 1..]);
                if end.is_some() {
                    self.begin()?;
                }
            }
        }
        Ok(())
    }

    /// `id blob size`, or `id missing`.
    fn begin(&mut self) -> io::Result<()> {
        let head = String::from_utf8(std::mem::take(&mut self.head)).unwrap_or_default();
        let words: Vec<&str> = head.split(' ').collect();
        match words[..] {
            [_, "blob", size] => {
                let size = size.parse().map_err(|_| io::ErrorKind::InvalidData)?;
                self.left = Some(size);
                self.to.begin(Some(size))?;
                self.end_if_whole()
            }
            [_, "missing"] => {
                self.seen += 1;
                self.to.begin(None)
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn end_if_whole(&mut self) -> io::Result<()> {
        if self.left == Some(0) {
            (self.left, self.is_between) = (None, true);
            self.seen += 1;
            self.to.end()?;
        }
        Ok(())
    }
}

impl Write for Parted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.part(bytes) {
            let told = io::Error::from(error.kind());
            self.failed = Some(error);
            return Err(told);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Contents in memory, for few and short ones.
#[derive(Default)]
pub(super) struct InMemory(pub(super) Vec<Option<Vec<u8>>>);

impl Takes for InMemory {
    fn begin(&mut self, bytes: Option<u64>) -> io::Result<()> {
        self.0.push(bytes.map(|_| Vec::new()));
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(Some(last)) = self.0.last_mut() {
            last.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_parted_wherever_the_output_is_cut() {
        let said = b"aa blob 3\nx\ny\nbb missing\ncc blob 0\n\ndd blob 1\n\n\n";
        for size in 1..said.len() {
            let mut taken = InMemory::default();
            let mut parted = Parted {
                to: &mut taken,
                head: Vec::new(),
                left: None,
                seen: 0,
                is_between: false,
                failed: None,
            };
            for piece in said.chunks(size) {
                parted.write_all(piece).unwrap();
            }
            assert_eq!((parted.seen, parted.left), (4, None));
            let expected = [Some(b"x\ny".to_vec()), None, Some(vec![]), Some(b"\n".to_vec())];
            assert_eq!(taken.0, expected, "cut every {size}");
        }
    }
}
