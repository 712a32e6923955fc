//! Active time of an attempt, on disk while it works. After `kill -9`, whoever finds it lost knows how much of a timeout or
//! budget it had used, except for the last moments.
//!
//! It is a file beside the keeper's lock and not a line of the ledger: an attempt that works all night would write thousands of
//! lines.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::regular::{self, Links};

/// When the time is first written; each interval is twice as long as the one before. So a run that is killed again and again loses
/// at most about half of its time, and still reaches its budget.
const FIRST: Duration = Duration::from_millis(200);
/// The longest interval: the most that a crash can lose.
const EVERY: Duration = crate::clock::TICK;
/// Fixed number of digits, so that one write replaces the whole content.
const DIGITS: usize = 20;

/// The interval after this one; the first if there was none.
pub(super) fn next_interval(last: Option<Duration>) -> Duration {
    last.map_or(FIRST, |last| EVERY.min(last * 2))
}

/// Writes the active time of one attempt.
pub(super) struct Worked {
    path: PathBuf,
    file: Option<File>,
    known_ms: u64,
}

impl Worked {
    /// Nothing is written before the first interval: most attempts that end at once need no file.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, known_ms: 0 }
    }

    /// Writes the time, unless it has not changed. A failed write only matters after a crash: the ledger gets the whole time when
    /// the attempt ends.
    pub(super) fn keep(&mut self, active_ms: u64) {
        // While a person is awaited the time stands still, and nothing is written.
        if active_ms > self.known_ms && self.write(active_ms).is_ok() {
            self.known_ms = active_ms;
        }
    }

    fn write(&mut self, active_ms: u64) -> io::Result<()> {
        if self.file.is_none() {
            // The folder is inside the project: a link that a worker put there would empty another file, a pipe would block.
            let how = &mut OpenOptions::new();
            let how = how.write(true).create(true).truncate(true);
            self.file = Some(regular::open(&self.path, how, Links::Refused)?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        // One write of constant length, so that a crash leaves the old or the new number.
        file.write_all_at(format!("{active_ms:0DIGITS$}").as_bytes(), 0)?;
        // A killed process loses nothing that was written; only a power cut does, and then the first moments do not matter.
        if u128::from(active_ms) < EVERY.as_millis() { Ok(()) } else { file.sync_data() }
    }
}

/// The time that an earlier supervisor wrote; 0 if it cannot be read.
pub(super) fn known_ms(path: &Path) -> u64 {
    // A missing or damaged file counts as no time: the attempt loses seconds, not the run.
    let bytes = regular::read(path, DIGITS as u64, Links::Refused).unwrap_or_default();
    let text = std::str::from_utf8(&bytes).ok().filter(|text| text.len() == DIGITS);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_kill_at_any_time_loses_at_most_half_or_two_seconds() {
        let (mut interval, mut at) = (None, Duration::ZERO);
        for _ in 0..20 {
            let next = next_interval(interval);
            assert!(next <= EVERY && next <= (at + FIRST), "{next:?} after {at:?}");
            (interval, at) = (Some(next), at + next);
        }
        assert_eq!(interval, Some(EVERY));
    }

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
        let (other, link) = (folder.path().join("other"), folder.path().join("a2.worked"));
        fs::write(&other, "somebody's").unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        Worked::new(link).keep(2_000);
        assert_eq!(fs::read_to_string(&other).unwrap(), "somebody's");
    }
}
