//! Which processes hold a lock on a file, according to the kernel.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Processes that have locked this file; empty where the kernel does not tell.
pub(crate) fn lockers(file: &Path) -> Vec<u32> {
    let Ok(found) = std::fs::symlink_metadata(file) else { return Vec::new() };
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    table.lines().filter_map(|line| locker(line, found.ino())).collect()
}

/// Parses `1: FLOCK  ADVISORY  WRITE 708 00:13:21 0 EOF`: the process, and the file by device and inode. The device is not
/// compared: some file systems report another one here than in the file's metadata.
fn locker(line: &str, inode: u64) -> Option<u32> {
    let mut fields = line.split_ascii_whitespace().skip_while(|field| *field != "FLOCK");
    let (pid, place) = (fields.nth(3)?, fields.next()?);
    let is_it = place.rsplit(':').next()?.parse() == Ok(inode);
    is_it.then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_file_tells_who_has_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(lockers(file.path()), [0; 0]);
        file.as_file().lock().unwrap();
        assert_eq!(lockers(file.path()), [std::process::id()]);
        assert_eq!(locker("4: -> FLOCK  ADVISORY  WRITE 9 08:02:77 0 EOF", 77), Some(9));
        assert_eq!(locker("1: POSIX  ADVISORY  WRITE 9 08:02:77 0 EOF", 77), None);
    }
}
