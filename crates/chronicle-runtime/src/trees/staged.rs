//! Places of files: in a folder of work, reached without following links, and in a staging folder beside.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, mkdirat, openat, readlinkat,
    renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::blobs::Takes;
use super::write::SYNC_ALL_FROM;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;
/// Prefix of a file beside its place, where the staging folder is on another file system.
const HALF: &str = ".chronicle-half-";
/// Bits of a mode that are permissions.
const BITS: RawMode = 0o777;
/// Git's bit for a program.
const PROGRAM: RawMode = 0o100;

/// How a place looks, or shall look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Nothing,
    File {
        is_program: bool,
        sum: Sum,
    },
    Link(Sum),
    Folder,
    /// A pipe or a device.
    Strange,
    /// What a tree had, and could not be read again. Nothing looks like that.
    Unknown,
}

/// Length and hash of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sum(u64, blake3::Hash);

impl Sum {
    pub(super) fn file(self, is_program: bool) -> Content {
        Content::File { is_program, sum: self }
    }

    pub(super) fn link(self) -> Content {
        Content::Link(self)
    }
}

/// A name in a folder.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// `None` for the staging folder.
    folder: Option<Rc<OwnedFd>>,
    name: OsString,
}

impl Slot {
    /// The place of a file in the staging folder.
    pub(super) fn staged(number: usize) -> Self {
        Self { folder: None, name: number.to_string().into() }
    }

    /// Removes the empty folder in its place; false if it is not empty.
    pub(super) fn remove_folder(&self) -> bool {
        let removed =
            self.folder.as_ref().map(|folder| unlinkat(folder, &self.name, AtFlags::REMOVEDIR));
        removed.is_some_and(|removed| removed.is_ok())
    }
}

/// A folder of work and the staging folder beside it, both open.
pub(super) struct Staging {
    root: Rc<OwnedFd>,
    beside: OwnedFd,
    path: PathBuf,
}

impl Staging {
    pub(super) fn open(folder: &Path, staging: &Path) -> io::Result<Self> {
        // What is above the folder is the person's own way to it.
        let root: OwnedFd = File::open(folder)?.into();
        let beside = openat(rustix::fs::CWD, staging, FOLDER, Mode::empty())?;
        Ok(Self { root: Rc::new(root), beside, path: staging.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a file, by folders only: a link on the way is an error. Missing folders are made if wanted.
    pub(super) fn find(&self, name: &[u8], makes: bool) -> io::Result<Slot> {
        let mut folder = Rc::clone(&self.root);
        let mut names = name.split(|byte| *byte == b'/').map(OsStr::from_bytes).peekable();
        while let Some(name) = names.next() {
            // Git has no such names in a tree.
            if name.is_empty() || name == "." || name == ".." {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            if names.peek().is_none() {
                return Ok(Slot { folder: Some(folder), name: name.to_owned() });
            }
            let open = |folder: &OwnedFd| openat(folder, name, FOLDER, Mode::empty());
            let next = match open(&folder) {
                Err(Errno::NOENT) if makes => {
                    match mkdirat(&*folder, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => open(&folder),
                        Err(error) => Err(error),
                    }
                }
                other => other,
            };
            folder = Rc::new(next?);
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    /// True if a folder has nothing in it but files that go, and folders of such files: it goes with them.
    pub(super) fn is_freed(&self, name: &[u8], goes: &dyn Fn(&[u8]) -> bool) -> io::Result<bool> {
        let inside = [name, b"/x"].concat();
        let Some(folder) = self.find(&inside, false)?.folder else { return Ok(false) };
        for entry in Dir::read_from(&*folder)? {
            let entry = entry?;
            let own = entry.file_name().to_bytes();
            if own == b"." || own == b".." {
                continue;
            }
            let name = [name, b"/", own].concat();
            let stat = statat(&*folder, OsStr::from_bytes(own), AtFlags::SYMLINK_NOFOLLOW)?;
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            // One that was empty before stays.
            let goes_too = if is_folder {
                self.has_any(&name)? && self.is_freed(&name, goes)?
            } else {
                goes(&name)
            };
            if !goes_too {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_any(&self, name: &[u8]) -> io::Result<bool> {
        let inside = [name, b"/x"].concat();
        let Some(folder) = self.find(&inside, false)?.folder else { return Ok(false) };
        for entry in Dir::read_from(&*folder)? {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn folder<'s>(&'s self, slot: &'s Slot) -> &'s OwnedFd {
        slot.folder.as_deref().unwrap_or(&self.beside)
    }

    /// How a place looks now.
    pub(super) fn look(&self, slot: &Slot) -> io::Result<Content> {
        let folder = self.folder(slot);
        let stat = match statat(folder, &slot.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Content::Nothing),
            Err(error) => return Err(error.into()),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(Content::Folder),
            FileType::Symlink => {
                let target = readlinkat(folder, &slot.name, Vec::new())?;
                Ok(Content::Link(sum_of(target.as_bytes())?))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = File::from(openat(folder, &slot.name, flags, Mode::empty())?);
                let is_program = stat.st_mode & PROGRAM != 0;
                Ok(Content::File { is_program, sum: sum_of(file)? })
            }
            _ => Ok(Content::Strange),
        }
    }

    /// Exchanges what is in two places. Returns where the other one is then; `None` if the file system only knows how to replace.
    pub(super) fn exchange(&self, slot: &Slot, at: &Slot) -> io::Result<Option<Slot>> {
        let swap = |slot: &Slot| {
            let (one, two) = (self.folder(slot), self.folder(at));
            renameat_with(one, &slot.name, two, &at.name, RenameFlags::EXCHANGE)
        };
        let (swapped, slot) = match swap(slot) {
            Err(Errno::XDEV) => {
                let near = self.copy_near(slot, at)?;
                (swap(&near), near)
            }
            other => (other, slot.clone()),
        };
        match swapped {
            // Somebody removed it: what was to come stays in the slot.
            Ok(()) | Err(Errno::NOENT) => Ok(Some(slot)),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                renameat(self.folder(&slot), &slot.name, self.folder(at), &at.name)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Moves a file to a place that is free; false if it is not.
    pub(super) fn bring_new(&self, slot: &Slot, at: &Slot) -> io::Result<bool> {
        match self.move_to(slot, at) {
            Err(Errno::XDEV) => {
                let near = self.copy_near(slot, at)?;
                let is_free = is_free(self.move_to(&near, at))?;
                Self::discard(if is_free { slot } else { &near });
                Ok(is_free)
            }
            moved => is_free(moved),
        }
    }

    /// Moves what is in a place into a slot; returns the slot, `None` if there is nothing.
    pub(super) fn take_out(&self, at: &Slot, slot: &Slot) -> io::Result<Option<Slot>> {
        let (moved, slot) = match self.move_to(at, slot) {
            Err(Errno::XDEV) => {
                let near = near(slot, at);
                (self.move_to(at, &near), near)
            }
            moved => (moved, slot.clone()),
        };
        match moved {
            Ok(()) => Ok(Some(slot)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves something to a free place. Never replaces anything.
    fn move_to(&self, from: &Slot, to: &Slot) -> rustix::io::Result<()> {
        let (one, two) = (self.folder(from), self.folder(to));
        match renameat_with(one, &from.name, two, &to.name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match statat(two, &to.name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(Errno::NOENT) => renameat(one, &from.name, two, &to.name),
                    Err(error) => Err(error),
                }
            }
            moved => moved,
        }
    }

    /// A copy of a staged file beside the place that it is for.
    fn copy_near(&self, slot: &Slot, at: &Slot) -> io::Result<Slot> {
        let near = near(slot, at);
        let (from, to) = (self.folder(slot), self.folder(&near));
        let stat = statat(from, &slot.name, AtFlags::SYMLINK_NOFOLLOW)?;
        // One that a killed write left was looked at by nobody, and has what a tree has.
        let _ = unlinkat(to, &near.name, AtFlags::empty());
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            symlinkat(readlinkat(from, &slot.name, Vec::new())?, to, &near.name)?;
            return Ok(near);
        }
        let read = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut from = File::from(openat(from, &slot.name, read, Mode::empty())?);
        let mut to = File::from(openat(to, &near.name, NEW, PRIVATE)?);
        io::copy(&mut from, &mut to)?;
        rustix::fs::fchmod(&to, Mode::from_raw_mode(stat.st_mode & BITS))?;
        to.sync_all()?;
        Ok(near)
    }

    /// Sets the permissions of a staged file, before anybody can see it.
    pub(super) fn permit(&self, slot: &Slot, mode: Mode) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(self.folder(slot), &slot.name, flags, Mode::empty()) {
            Ok(file) => Ok(rustix::fs::fchmod(file, mode)?),
            // A link has none.
            Err(Errno::LOOP | Errno::MLINK) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The permissions that a file has, with the bits to run it as its new content wants them. `None` if one of both is no file.
    pub(super) fn kept_mode(&self, at: &Slot, to: &Content) -> Option<Mode> {
        let Content::File { is_program, .. } = to else { return None };
        let stat = statat(self.folder(at), &at.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let mut mode = Mode::from_raw_mode(stat.st_mode & BITS);
        let runs = [Mode::XUSR, Mode::XGRP, Mode::XOTH];
        let reads = [Mode::RUSR, Mode::RGRP, Mode::ROTH];
        if *is_program != mode.contains(Mode::XUSR) {
            for (run, read) in runs.into_iter().zip(reads) {
                mode.set(run, *is_program && mode.contains(read));
            }
        }
        is_file.then_some(mode)
    }

    pub(super) fn discard(slot: &Slot) {
        // In the staging folder it stays until the end is synced.
        if let Some(folder) = &slot.folder {
            let _ = unlinkat(folder, &slot.name, AtFlags::empty());
        }
    }

    /// Removes the folders above a file that are empty.
    pub(super) fn remove_empty(&self, name: &[u8]) {
        let slashes = name.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
        for (at, _) in slashes {
            let is_removed = self.find(&name[..at], false).is_ok_and(|slot| slot.remove_folder());
            // One that is not empty is where to stop.
            if !is_removed {
                break;
            }
        }
    }

    /// Waits until what is staged is on the disk.
    pub(super) fn sync(&self, files: usize) -> io::Result<()> {
        if files >= SYNC_ALL_FROM {
            return sync_all(&self.beside);
        }
        Ok(rustix::fs::fsync(&self.beside)?)
    }

    /// Waits until the new names are on the disk.
    pub(super) fn sync_folder<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
        let above = |name: &'n [u8]| {
            &name[..name.iter().rposition(|byte| *byte == b'/').unwrap_or_default()]
        };
        let folders: BTreeSet<&[u8]> = names.map(above).collect();
        if folders.len() >= SYNC_ALL_FROM {
            // A disk that cannot sync cannot keep what is replaced any better.
            let _ = sync_all(&self.root);
            return;
        }
        for folder in folders {
            let inside = if folder.is_empty() { b"x".to_vec() } else { [folder, b"/x"].concat() };
            if let Some(folder) = self.find(&inside, false).ok().and_then(|slot| slot.folder) {
                let _ = rustix::fs::fsync(&*folder);
            }
        }
    }

    /// Takes contents: those with a number into the staging folder, the others only to know them.
    pub(super) fn taking(&self, wanted: Vec<(Option<usize>, bool)>) -> Taking<'_> {
        let sync_each = wanted.len() < SYNC_ALL_FROM;
        Taking { place: self, wanted, found: Vec::new(), now: None, sync_each }
    }
}

const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

fn near(slot: &Slot, at: &Slot) -> Slot {
    let mut name = OsString::from(HALF);
    name.push(&slot.name);
    Slot { folder: at.folder.clone(), name }
}

fn is_free(moved: rustix::io::Result<()>) -> io::Result<bool> {
    match moved {
        Ok(()) => Ok(true),
        Err(Errno::EXIST | Errno::NOTEMPTY | Errno::ISDIR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The permissions that a tree has for a file.
pub(super) fn permissions(mode: u32) -> Mode {
    RawMode::try_from(mode).map_or(PRIVATE, |mode| Mode::from_raw_mode(mode & BITS))
}

#[cfg(target_os = "linux")]
fn sync_all(folder: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_all(_: impl AsFd) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

fn sum_of(mut from: impl Read) -> io::Result<Sum> {
    let (mut hasher, mut length, mut piece) = (blake3::Hasher::new(), 0, vec![0; PIECE]);
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(Sum(length, hasher.finalize())),
            Ok(bytes) => {
                hasher.update(&piece[..bytes]);
                length += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Contents on their way out of our repository.
pub(super) struct Taking<'s> {
    place: &'s Staging,
    /// For each its number in the staging folder, if it goes there, and whether it is a link.
    wanted: Vec<(Option<usize>, bool)>,
    found: Vec<Option<Sum>>,
    now: Option<Now>,
    sync_each: bool,
}

struct Now {
    hasher: blake3::Hasher,
    length: u64,
    file: Option<File>,
    link: Option<Vec<u8>>,
}

impl Taking<'_> {
    /// What was found, in the order that it was wanted; `None` for what is not there.
    pub(super) fn found(self) -> Vec<Option<Sum>> {
        self.found
    }

    fn wanted(&self) -> (Option<OsString>, bool) {
        let (number, is_link) = self.wanted.get(self.found.len()).copied().unwrap_or_default();
        (number.map(|number| number.to_string().into()), is_link)
    }
}

impl Takes for Taking<'_> {
    fn begin(&mut self, bytes: Option<u64>) -> io::Result<()> {
        if bytes.is_none() {
            self.found.push(None);
            return Ok(());
        }
        let (name, is_link) = self.wanted();
        let file = match name.filter(|_| !is_link) {
            Some(name) => Some(File::from(openat(&self.place.beside, name, NEW, PRIVATE)?)),
            None => None,
        };
        let link = is_link.then(Vec::new);
        self.now = Some(Now { hasher: blake3::Hasher::new(), length: 0, file, link });
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(now) = &mut self.now else { return Ok(()) };
        now.hasher.update(bytes);
        now.length += bytes.len() as u64;
        if let Some(link) = &mut now.link {
            link.extend_from_slice(bytes);
        }
        now.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(now) = self.now.take() else { return Ok(()) };
        if let (Some(target), (Some(name), true)) = (&now.link, self.wanted()) {
            symlinkat(OsStr::from_bytes(target), &self.place.beside, name)?;
        }
        if let Some(file) = now.file.filter(|_| self.sync_each) {
            file.sync_data()?;
        }
        self.found.push(Some(Sum(now.length, now.hasher.finalize())));
        Ok(())
    }
}
