//! Writes that survive a crash: a name appears only with its complete content, and stays.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::disk::{Disk, Entry, How};
use super::real::Real;
use crate::fail::{self, Point};

/// Suffix of files that are not complete yet. A killed process may leave some behind.
const UNFINISHED: &str = ".unfinished";
/// Most temporary names that are tried: others may be left over from killed processes.
const NAMES_MAX: u32 = 10_000;

/// Replaces a file atomically, and returns once it is on disk.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(&Real, path, bytes)
}

/// Replaces a file without waiting for the disk: after a power cut it may have its old content or be empty.
pub fn quick_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_quick(&Real, path, bytes)
}

/// Replaces a file with a temporary file in another folder, where leftovers may be removed by anyone.
pub fn write_from(path: &Path, room: &Path, bytes: &[u8], pace: Pace) -> io::Result<()> {
    match replace(&Real, path, room, bytes, pace) {
        // The two are on different disks.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            replace(&Real, path, folder_of(path), bytes, pace)
        }
        written => written,
    }
}

/// Whether a write waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// After a power cut the file may have its old content or be empty.
    Quick,
    /// Whatever happens, it has its old content or the new one.
    Durable,
}

/// Like `atomic_write`, on that disk.
pub(super) fn write_whole(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(disk, path, folder_of(path), bytes, Pace::Durable)
}

/// Like `quick_write`, on that disk.
pub(super) fn write_quick(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(disk, path, folder_of(path), bytes, Pace::Quick)
}

fn replace(disk: &dyn Disk, path: &Path, room: &Path, bytes: &[u8], pace: Pace) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let is_durable = pace == Pace::Durable;
    let folder = folder_of(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for _ in 0..NAMES_MAX {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let unfinished = room.join(format!(".{name}.{pid}-{number}{UNFINISHED}"));
        match disk.open(&unfinished, How::New) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                // Content before name: the rename makes the file visible, so its bytes must be on disk by then. Otherwise a
                // power cut could leave a complete name with an empty file.
                let written =
                    file.append(bytes).and_then(|()| if is_durable { file.sync() } else { Ok(()) });
                let written = written.and_then(|()| {
                    fail::at(Point::writing(path));
                    disk.rename(&unfinished, path)
                });
                if written.is_err() {
                    // If this fails too, the next holder of the lock removes the file.
                    let _ = disk.remove(&unfinished);
                }
                // The rename itself survives a power cut only once the folder is synced.
                let settle = || if is_durable { disk.sync_folder(folder) } else { Ok(()) };
                return written.and_then(|()| settle());
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Creates a folder with its parents, and returns once they are on disk.
pub(super) fn create_folder(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let is_folder = |entry: Option<Entry>| entry.is_some_and(|entry| entry.is_folder);
    if is_folder(disk.look(path)?) {
        return Ok(());
    }
    let above = folder_of(path);
    // `.` has no parent, and does not exist if the current folder was removed.
    if above != path {
        create_folder(disk, above)?;
    }
    match disk.make_folder(path) {
        // Another process created it in the meantime.
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && is_folder(disk.look(path)?) => {}
        made => made?,
    }
    // Parents are created and synced first, so that a synced folder is never lost with an unsynced parent.
    disk.sync_folder(above)
}

/// Removes unfinished files of a killed writer. Only for the holder of the lock.
pub(super) fn sweep(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    sweep_named(disk, folder, ".")
}

/// Removes unfinished files for this one path. Only for its current writer.
pub fn sweep_beside(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    sweep_named(&Real, folder_of(path), &format!(".{name}."))
}

/// True for a file that its writer did not finish.
pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(UNFINISHED)
}

fn sweep_named(disk: &dyn Disk, folder: &Path, prefix: &str) -> io::Result<()> {
    for name in disk.names(folder)? {
        if name.starts_with(prefix) && name.ends_with(UNFINISHED) {
            disk.remove(&folder.join(name))?;
        }
    }
    Ok(())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
