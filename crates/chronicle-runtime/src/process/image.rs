//! Our own program, for processes that cannot reach it by way of ours.
//!
//! Behind a wall nobody sees the supervisor, and so not its `/proc/PID/exe` either. A second name for the running image keeps it
//! reachable, also after an update replaced the file that it was started from.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Most images that are kept. Older ones belong to versions that nothing runs any more.
const KEPT_MAX: usize = 8;

/// The copy that was compared last, as it was then. Comparing takes longer than all else about a start.
static COMPARED: Mutex<Option<(PathBuf, FileStamp)>> = Mutex::new(None);

/// What changes whenever anybody changes a file: which one it is, its length, and when it was changed last.
type FileStamp = (u64, u64, u64, i64, i64);

/// A path of the image `chronicle` in that folder. It is made if it is not there, and checked if it is.
pub(crate) fn kept(chronicle: &Path, folder: &Path) -> io::Result<PathBuf> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", folder.display()));
    let running = fs::metadata(chronicle)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(named)?;
    is_fit(folder)?;
    let (dev, ino, len) = (running.dev(), running.ino(), running.len());
    let (s, ns) = (running.mtime(), running.mtime_nsec());
    let path = folder.join(format!("chronicle-{dev:x}-{ino:x}-{len:x}-{s:x}{ns:x}"));
    if is_kept(chronicle, &running, &path) {
        return Ok(path);
    }
    // What has that name and is something else was put there by somebody else.
    let _ = fs::remove_file(&path);
    make(chronicle, &path).map_err(named)?;
    forget_old(folder);
    Ok(path)
}

/// Fails where no program could be started from a folder.
pub(crate) fn is_fit(folder: &Path) -> io::Result<()> {
    if runs_programs(folder) {
        return Ok(());
    }
    let why = "is on a file system that is mounted `noexec`, and starts no programs";
    Err(io::Error::other(format!("`{}` {why}", folder.display())))
}

/// Whether programs in a folder can be started. Where that cannot be told, the start itself tells.
#[cfg(target_os = "linux")]
fn runs_programs(folder: &Path) -> bool {
    let noexec = rustix::fs::StatVfsMountFlags::NOEXEC;
    !rustix::fs::statvfs(folder).is_ok_and(|about| about.f_flag.contains(noexec))
}

#[cfg(not(target_os = "linux"))]
fn runs_programs(_folder: &Path) -> bool {
    true
}

/// A second name where the file system allows it, else a copy.
fn make(chronicle: &Path, path: &Path) -> io::Result<()> {
    // By the file and not by a link to it, which `/proc/self/exe` is.
    let file = fs::canonicalize(chronicle).and_then(|real| {
        let is_it = id(&fs::metadata(&real)?) == id(&fs::metadata(chronicle)?);
        is_it.then_some(real).ok_or_else(|| io::ErrorKind::NotFound.into())
    });
    if file.is_ok_and(|file| fs::hard_link(file, path).is_ok()) {
        return Ok(());
    }
    // Under another name first: whoever finds the name finds all of it.
    let partial = path.with_extension(format!("{}", std::process::id()));
    let copied = fs::copy(chronicle, &partial)
        .and_then(|_| fs::set_permissions(&partial, Permissions::from_mode(0o500)))
        .and_then(|()| fs::rename(&partial, path));
    if copied.is_err() {
        let _ = fs::remove_file(&partial);
    }
    copied
}

/// Whether two files are the same program: one file, or a copy of it, as [`kept`] makes where there can be no second name.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(first), Ok(second)) = (fs::metadata(one), fs::metadata(other)) else { return false };
    id(&first) == id(&second) || first.len() == second.len() && has_same_bytes(one, other)
}

/// Whether a file is the running image: the same file, or one with the same content.
fn is_kept(chronicle: &Path, running: &Metadata, path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let is_ours = found.is_file() && found.uid() == rustix::process::geteuid().as_raw();
    id(&found) == id(running)
        || is_ours && found.len() == running.len() && is_copy(chronicle, path, &found)
}

/// Whether a file of the same length has the same bytes. Compared once for each state of the file.
fn is_copy(chronicle: &Path, path: &Path, found: &Metadata) -> bool {
    let stamp = (found.dev(), found.ino(), found.len(), found.ctime(), found.ctime_nsec());
    let now = Some((path.to_owned(), stamp));
    let compared = || COMPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if *compared() == now {
        return true;
    }
    let is_copy = has_same_bytes(chronicle, path);
    if is_copy {
        *compared() = now;
    }
    is_copy
}

fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn has_same_bytes(one: &Path, other: &Path) -> bool {
    let sum = |path: &Path| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(path)?)?;
        Ok::<_, io::Error>(hasher.finalize())
    };
    matches!((sum(one), sum(other)), (Ok(one), Ok(other)) if one == other)
}

/// Removes the oldest images. By the time at which they were made: a second name has the age of its file.
fn forget_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let made = |entry: &fs::DirEntry| entry.metadata().map(|it| (it.ctime(), it.ctime_nsec())).ok();
    let mut all: Vec<_> =
        entries.flatten().filter_map(|entry| Some((made(&entry)?, entry.path()))).collect();
    all.sort();
    let many = all.len().saturating_sub(KEPT_MAX);
    for (_, path) in all.into_iter().take(many) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_kept_once_and_one_that_was_replaced_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "one").unwrap();
        let bin = folder.path().join("bin");
        let first = kept(&program, &bin).unwrap();
        assert_eq!(fs::read_to_string(&first).unwrap(), "one");
        assert_eq!(kept(&program, &bin).unwrap(), first);
        fs::remove_file(&first).unwrap();
        fs::write(&first, "two").unwrap();
        assert_eq!(kept(&program, &bin).unwrap(), first);
        assert_eq!(fs::read_to_string(&first).unwrap(), "one");
        // An update gives the program another file; the image of the old one stays.
        fs::write(folder.path().join("new"), "newer").unwrap();
        fs::rename(folder.path().join("new"), &program).unwrap();
        let second = kept(&program, &bin).unwrap();
        assert_ne!(second, first);
        assert_eq!(fs::read_to_string(&first).unwrap(), "one");
    }

    #[test]
    fn a_copy_is_the_same_program_and_another_of_its_length_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).unwrap();
            folder.path().join(name)
        };
        let (one, copy, other) = (file("one", "a"), file("copy", "a"), file("other", "b"));
        fs::hard_link(&one, folder.path().join("second")).unwrap();
        assert!(is_same(&one, &one) && is_same(&one, &copy));
        assert!(is_same(&one, &folder.path().join("second")));
        assert!(!is_same(&one, &other) && !is_same(&one, &folder.path().join("none")));
    }

    #[test]
    fn only_the_latest_images_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        for number in 0..KEPT_MAX + 3 {
            let program = folder.path().join(number.to_string());
            fs::write(&program, "x".repeat(number + 1)).unwrap();
            kept(&program, &bin).unwrap();
        }
        assert_eq!(fs::read_dir(&bin).unwrap().count(), KEPT_MAX);
    }
}
