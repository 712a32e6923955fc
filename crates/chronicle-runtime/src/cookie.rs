//! Cookies: what marks every process of an attempt, and of whatever tells people of something, so that a later supervisor finds
//! what a killed one left.
//!
//! A cookie is made of the run, of the attempt, and of the very folder that the run is in, by device and inode. So it is the same
//! after a crash and in a project that was moved, and another in a project that was copied: whoever gives up the copy must not end
//! what works for the original. Named limit: on a file system that gives a folder another number while it stays where it is, what
//! a killed keeper left is not found again.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use chronicle_core::base::ids::{AttemptId, RunId};
use chronicle_core::event::notice::About;

/// Digits of the sum in a cookie: too many for a collision.
const DIGITS: usize = 24;

/// Replaces the attempt's id in the cookie of a notice.
pub(crate) const NOTICE: &str = "notice";

/// Creates and reads cookies of the run in one folder.
#[derive(Debug, Clone)]
pub(crate) struct Cookies {
    run: RunId,
    /// Device and inode of the run's folder.
    place: (u64, u64),
}

impl Cookies {
    pub(crate) fn of(run_folder: &Path, run: &RunId) -> Self {
        let place = fs::metadata(run_folder).map_or((0, 0), |found| (found.dev(), found.ino()));
        Self { run: run.clone(), place }
    }

    /// The cookie of an attempt's processes: the same each time.
    pub(crate) fn cookie(&self, attempt: AttemptId) -> String {
        format!("{}-{attempt}-{}", self.run.short(), self.sum("cookie", &attempt))
    }

    /// The cookie of processes that send a notice.
    pub(crate) fn notice(&self, about: About) -> String {
        format!("{}-{NOTICE}-{}", self.run.short(), self.sum(NOTICE, &about))
    }

    fn sum(&self, what: &str, of: &dyn fmt::Display) -> String {
        let (device, inode) = self.place;
        let text = format!("{what} {} {device} {inode} {of}", self.run);
        let mut digits = blake3::hash(text.as_bytes()).to_hex().to_string();
        digits.truncate(DIGITS);
        digits
    }

    /// The attempt that a cookie belongs to; `None` for another run or another copy.
    pub(crate) fn attempt_of(&self, cookie: &str) -> Option<AttemptId> {
        let attempt = named(cookie)?;
        // Made again and compared whole: anybody can write an attempt's number, and only the sum stands for this run in this
        // folder.
        (self.cookie(attempt) == cookie).then_some(attempt)
    }

    /// True if a cookie belongs to this run but not to this folder: to a copy, or from another version of Chronicle.
    pub(crate) fn is_elsewhere(&self, cookie: &str) -> bool {
        let is_of_run = cookie.strip_prefix(self.run.short()).is_some_and(|it| it.starts_with('-'));
        // A notice has no attempt in its cookie: it is nobody's work, so it does not show that a copy is active.
        is_of_run && named(cookie).is_some() && self.attempt_of(cookie).is_none()
    }
}

fn named(cookie: &str) -> Option<AttemptId> {
    cookie.split('-').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_folder_keeps_its_cookies_and_a_copy_has_others() {
        let yard = tempfile::tempdir().unwrap();
        let (here, there) = (yard.path().join("here"), yard.path().join("there"));
        let run = RunId::new("01a1df20-6c0e-73c5-8420-87bb25d179c2");
        fs::create_dir(&here).unwrap();
        let before = Cookies::of(&here, &run);
        let cookie = before.cookie(AttemptId(3));
        assert!(cookie.starts_with("25d179c2-a3-"), "{cookie}");
        assert_eq!(before.attempt_of(&cookie), Some(AttemptId(3)));
        fs::rename(&here, &there).unwrap();
        fs::create_dir(&here).unwrap();
        assert_eq!(Cookies::of(&there, &run).cookie(AttemptId(3)), cookie);
        let copy = Cookies::of(&here, &run);
        assert_eq!(copy.attempt_of(&cookie), None);
        assert!(copy.is_elsewhere(&cookie) && !before.is_elsewhere(&cookie));
        // Another run's is nobody's here.
        let other = Cookies::of(&there, &RunId::new("01a1df20-6c0e-73c5-8420-000000000000"));
        assert!(!other.is_elsewhere(&cookie) && other.attempt_of(&cookie).is_none());
    }
}
