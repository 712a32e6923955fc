//! Copies and removes files, without following links.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat, Timespec, Timestamps, UTIME_OMIT,
    fchmod, futimens, mkdirat, openat, readlinkat, statat, symlinkat,
};
use rustix::io::Errno;

use super::WorkError;
use super::globs::Globs;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const BITS: RawMode = 0o777;

/// Copies what patterns name, with all that is below. What is there already stays.
pub(super) fn carry(project: &Path, folder: &Path, globs: &Globs) -> Result<(), WorkError> {
    if globs.is_empty() {
        return Ok(());
    }
    let mut copying = Copying::open(project, folder)?;
    let root = open(CWD, project).map_err(WorkError::io(project))?;
    copying.look_for(&root, Path::new(""), globs)
}

/// Copies these files, as far as they are files.
pub(super) fn files(project: &Path, folder: &Path, names: &[PathBuf]) -> Result<(), WorkError> {
    let mut copying = Copying::open(project, folder)?;
    for name in names {
        let above = name.parent().unwrap_or(Path::new(""));
        let Ok(from) = way(&copying.from, above, false) else { continue };
        let Some(last) = name.file_name() else { continue };
        let is_file = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let stat = statat(&from, last, AtFlags::SYMLINK_NOFOLLOW).ok().filter(is_file);
        // One that cannot be read is not there for the worker either, and is never merged.
        let is_readable = openat(&from, last, FILE, Mode::empty()).is_ok();
        if let Some(stat) = stat.filter(|_| is_readable) {
            copying.copy(&from, last, &stat, name)?;
        }
    }
    Ok(())
}

struct Copying {
    project: PathBuf,
    from: OwnedFd,
    to: OwnedFd,
}

impl Copying {
    fn open(project: &Path, folder: &Path) -> Result<Self, WorkError> {
        let from = File::open(project).map_err(WorkError::io(project))?.into();
        let to = File::open(folder).map_err(WorkError::io(folder))?.into();
        Ok(Self { project: project.to_owned(), from, to })
    }

    fn look_for(&mut self, folder: &OwnedFd, path: &Path, globs: &Globs) -> Result<(), WorkError> {
        for (name, stat) in self.entries(folder, path)? {
            let inside = path.join(&name);
            if globs.has(&inside) {
                self.copy(folder, &name, &stat, &inside)?;
            } else if is_folder(&stat) && globs.may_be_below(&inside) {
                match open(folder, Path::new(&name)) {
                    Ok(next) => self.look_for(&next, &inside, globs)?,
                    Err(error) if is_gone(&error) => {}
                    Err(error) => return Err(self.failed(&inside)(error)),
                }
            }
        }
        Ok(())
    }

    fn entries(
        &self,
        folder: &OwnedFd,
        path: &Path,
    ) -> Result<Vec<(std::ffi::OsString, Stat)>, WorkError> {
        let read = || -> io::Result<Vec<_>> {
            let mut found = Vec::new();
            for entry in Dir::read_from(folder)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
                if name == "." || name == ".." {
                    continue;
                }
                // What is gone by now is not there.
                if let Ok(stat) = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                    found.push((name, stat));
                }
            }
            Ok(found)
        };
        read().map_err(self.failed(path))
    }

    /// Copies one thing with all that is below it.
    fn copy(
        &mut self,
        from: &OwnedFd,
        name: &OsStr,
        stat: &Stat,
        path: &Path,
    ) -> Result<(), WorkError> {
        let above = path.parent().unwrap_or(Path::new(""));
        let to = match way(&self.to, above, true) {
            Ok(to) => to,
            // The tree has something else there.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
            Err(error) => return Err(self.failed(path)(error)),
        };
        self.copy_into(from, name, stat, &to, path)
    }

    fn copy_into(
        &self,
        from: &OwnedFd,
        name: &OsStr,
        stat: &Stat,
        to: &OwnedFd,
        path: &Path,
    ) -> Result<(), WorkError> {
        let copied = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => copy_file(from, name, to),
            FileType::Symlink => readlinkat(from, name, Vec::new())
                .and_then(|target| symlinkat(target, to, name))
                .map_err(io::Error::from),
            FileType::Directory => return self.copy_folder(from, name, stat, to, path),
            // Pipes, sockets and devices are of no use to another folder.
            _ => Ok(()),
        };
        match copied {
            Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            copied => copied.map_err(self.failed(path)),
        }
    }

    fn copy_folder(
        &self,
        from: &OwnedFd,
        name: &OsStr,
        stat: &Stat,
        to: &OwnedFd,
        path: &Path,
    ) -> Result<(), WorkError> {
        let inner = match open(from, Path::new(name)) {
            Err(error) if is_gone(&error) => return Ok(()),
            opened => opened.map_err(self.failed(path))?,
        };
        let is_new = match mkdirat(to, name, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(self.failed(path)(error.into())),
        };
        let outer = match open(to, Path::new(name)) {
            // The tree has a file or a link there.
            Err(error) if !is_new && error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
            opened => opened.map_err(self.failed(path))?,
        };
        for (name, stat) in self.entries(&inner, path)? {
            self.copy_into(&inner, &name, &stat, &outer, &path.join(&name))?;
        }
        if is_new {
            // Only now: one that cannot be written to is filled first.
            let mode = Mode::from_raw_mode(stat.st_mode & BITS);
            fchmod(&outer, mode).map_err(io::Error::from).map_err(self.failed(path))?;
        }
        Ok(())
    }

    fn failed(&self, path: &Path) -> impl FnOnce(io::Error) -> WorkError + use<> {
        WorkError::io(&self.project.join(path))
    }
}

fn copy_file(from: &OwnedFd, name: &OsStr, to: &OwnedFd) -> io::Result<()> {
    let mut from = File::from(openat(from, name, FILE, Mode::empty())?);
    let meta = from.metadata()?;
    if !meta.is_file() {
        return Ok(());
    }
    let mut to = File::from(openat(to, name, NEW, Mode::RUSR | Mode::WUSR)?);
    share(&mut from, &mut to)?;
    to.set_permissions(Permissions::from_mode(meta.mode() & 0o777))?;
    // Programs that build compare times.
    let changed = Timespec { tv_sec: meta.mtime(), tv_nsec: meta.mtime_nsec() as _ };
    let not = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Ok(futimens(&to, &Timestamps { last_access: not, last_modification: changed })?)
}

/// Both files share their blocks where the disk can; otherwise the bytes are copied.
fn share(from: &mut File, to: &mut File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if rustix::fs::ioctl_ficlone(&*to, &*from).is_ok() {
        return Ok(());
    }
    io::copy(from, to).map(drop)
}

/// The folder below another, by folders only.
fn way(root: &OwnedFd, path: &Path, makes: bool) -> io::Result<OwnedFd> {
    let mut folder = root.try_clone()?;
    for name in path {
        let next = match openat(&folder, name, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if makes => {
                mkdirat(&folder, name, Mode::from_raw_mode(BITS))?;
                openat(&folder, name, FOLDER, Mode::empty())
            }
            opened => opened,
        };
        folder = next.map_err(link_is_no_folder)?;
    }
    Ok(folder)
}

fn open(at: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    openat(at, path, FOLDER, Mode::empty()).map_err(link_is_no_folder)
}

fn link_is_no_folder(error: Errno) -> io::Error {
    if error == Errno::LOOP { Errno::NOTDIR.into() } else { error.into() }
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Removes a folder with all that is below, also where a worker took its own permissions away.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(folder)?;
            fs::remove_dir_all(folder)
        }
        Err(error) if is_gone(&error) => Ok(()),
        removed => removed,
    }
}

/// Lets us into every folder below. Links are not folders here.
fn open_up(folder: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    if !meta.is_dir() {
        return Ok(());
    }
    if meta.mode() & 0o700 != 0o700 {
        fs::set_permissions(folder, Permissions::from_mode(meta.mode() & 0o777 | 0o700))?;
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// Bytes on the disk of all files below.
pub(super) fn bytes_below(folder: &Path) -> u64 {
    let bytes =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
            Ok(meta) => meta.blocks() * 512,
            Err(_) => 0,
        });
    bytes.sum()
}
