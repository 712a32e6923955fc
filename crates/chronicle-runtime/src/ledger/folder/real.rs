//! The file system of this machine.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

use crate::regular::{self, Links};

use super::disk::{Disk, DiskFile, Entry, How, Identity, Sharing};

/// The operating system's file system.
#[derive(Debug, Clone, Copy)]
pub struct Real;

impl Disk for Real {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match how {
            How::Read => options.read(true),
            How::Append => options.read(true).append(true).create(true),
            How::Update => options.read(true).write(true).create(true).truncate(false),
            How::New => options.write(true).create_new(true),
        };
        // A worker may have replaced the file with a pipe, which would block, or a link, which would lead elsewhere.
        Ok(Box::new(regular::open(path, &mut options, Links::Refused)?))
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        // Follows links, unlike `open`: a link in the place of a file is refused there, with a better error.
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => Ok(Some(entry(&found?)?)),
        }
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name());
        // A name that is not valid UTF-8 is not one of ours.
        let texts = fs::read_dir(folder)?
            .map(name)
            .filter_map(|name| name.map(|it| it.into_string().ok()).transpose());
        texts.collect()
    }

    fn check_folder(&self, path: &Path) -> io::Result<()> {
        regular::check_folder(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

impl DiskFile for File {
    fn entry(&self) -> io::Result<Entry> {
        entry(&self.metadata()?)
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, at)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        file.write_all(bytes)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        // The size is part of what `fdatasync` writes; only times are left out, and nothing depends on them.
        self.sync_data()
    }

    fn try_lock(&self, with: Sharing) -> io::Result<bool> {
        let locked = match with {
            Sharing::Alone => File::try_lock(self),
            Sharing::Shared => self.try_lock_shared(),
        };
        match locked {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) {
        // If unlocking fails, the lock is released when the last handle is closed.
        let _ = File::unlock(self);
    }

    fn touch(&self) -> io::Result<()> {
        let time = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        let times =
            Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
        Ok(rustix::fs::futimens(self, &times)?)
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(self.try_clone()?))
    }
}

fn entry(metadata: &Metadata) -> io::Result<Entry> {
    Ok(Entry {
        identity: Identity { device: metadata.dev(), inode: metadata.ino() },
        length: metadata.len(),
        is_folder: metadata.is_dir(),
        changed: metadata.modified()?,
    })
}
