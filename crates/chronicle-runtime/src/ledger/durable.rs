//! Writing that survives a crash: a name appears only with its whole content, and stays.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::fail::{self, Point};

/// Ends the names of files that are not yet what they shall be. A killed process may leave some behind.
const UNFINISHED: &str = ".unfinished";

/// Replaces a file by new content, whole or not at all, and returns once that is on disk.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    let mut file = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(UNFINISHED)
        // The user's umask decides, as for any other file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    fail::at(Point::writing(path));
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Makes a folder and those above it, and returns once they are on disk.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = folder_of(path);
    create_folder(above)?;
    match fs::create_dir(path) {
        // Somebody else made it just now.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_folder(above)
}

/// Brings the names in a folder to the disk.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Removes what a killed writer left unfinished. Only for the one who holds the lock.
pub(super) fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(UNFINISHED) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes what killed writers of this one file left unfinished. Only for the one who may write it now.
pub fn sweep_beside(path: &Path) -> io::Result<()> {
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    for entry in fs::read_dir(folder_of(path))?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(UNFINISHED) {
            fs::remove_file(entry.path())?;
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
