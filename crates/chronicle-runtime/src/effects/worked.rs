//! How long an attempt has worked, on disk while it works. Whoever finds it lost after `kill -9` knows what it had used up of a
//! time-out or a budget, but for the last moments.
//!
//! A file beside the keeper's lock, not a line of the ledger: an attempt that works for a night would write thousands of them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the time is written down: what a crash gives back at most.
pub(super) const EVERY: Duration = Duration::from_secs(2);
/// Digits of the number, always as many, so that one write replaces all of the last.
const DIGITS: usize = 20;

/// Writes the time of one attempt down.
pub(super) struct Worked {
    path: PathBuf,
    file: Option<File>,
    known_ms: u64,
}

impl Worked {
    /// Nothing is written before the first time: most attempts that end at once need no file.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, known_ms: 0 }
    }

    /// Writes the time down, unless it stands still because a person is asked. What cannot be written is lost with a crash, and
    /// with nothing else: the ledger has the whole time when the attempt ends.
    pub(super) fn keep(&mut self, active_ms: u64) {
        if active_ms > self.known_ms && self.write(active_ms).is_ok() {
            self.known_ms = active_ms;
        }
    }

    fn write(&mut self, active_ms: u64) -> io::Result<()> {
        if self.file.is_none() {
            let how =
                OpenOptions::new().write(true).create(true).truncate(true).open(&self.path)?;
            self.file = Some(how);
        }
        let Some(file) = &self.file else { return Ok(()) };
        file.write_all_at(format!("{active_ms:0DIGITS$}").as_bytes(), 0)?;
        file.sync_data()
    }
}

/// What an earlier supervisor wrote down; 0 where it wrote nothing that can be read.
pub(super) fn known_ms(path: &Path) -> u64 {
    // Opening what is no file, a pipe for one, might wait for ever.
    let is_file = fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    let mut digits = [0; DIGITS];
    let read = |mut file: File| io::Read::read_exact(&mut file, &mut digits);
    if !is_file || File::open(path).and_then(read).is_err() {
        return 0;
    }
    std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_last_is_known_and_anything_else_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a1.worked");
        assert_eq!(known_ms(&path), 0);
        let mut worked = Worked::new(path.clone());
        worked.keep(0);
        assert!(!path.exists(), "nothing to tell yet");
        worked.keep(2_000);
        worked.keep(4_100);
        // Time that does not grow is not written again.
        worked.keep(4_100);
        assert_eq!(known_ms(&path), 4_100);
        fs::write(&path, "12").unwrap();
        assert_eq!(known_ms(&path), 0);
        assert_eq!(known_ms(folder.path()), 0);
    }
}
