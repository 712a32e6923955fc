//! A disk in this process that forgets: a power cut takes what was not synced, bytes and names alike, each on its own.
//!
//! Every process sees all that was written (as the system's cache lets it); the disk has only what was synced, and of the
//! rest whatever chance leaves of it. A process can be killed between any two things it asks of the disk: whatever it asks
//! after that does not happen, and its locks are gone.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::disk::{Disk, DiskFile, Entry, How, Identity, Sharing};

/// What a disk writes at once.
const SECTOR: usize = 512;

/// The disk. All clones are one.
#[derive(Debug, Clone, Default)]
pub struct Simulated(Arc<Mutex<Platter>>);

/// A process that uses the disk.
#[derive(Debug, Clone)]
pub struct Process {
    disk: Simulated,
    number: usize,
}

#[derive(Debug, Default)]
struct Platter {
    nodes: Vec<Node>,
    /// The names that are there, and the names that would be after a power cut.
    names: Names,
    names_on_disk: Names,
    /// Changes of names that no sync brought to the disk yet.
    pending: Vec<Renaming>,
    lives: Vec<Life>,
    handles: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Life {
    is_over: bool,
    /// After so many more things it is.
    left: Option<u32>,
}

/// A file or a folder.
#[derive(Debug, Default)]
struct Node {
    is_folder: bool,
    bytes: Vec<u8>,
    on_disk: Vec<u8>,
    /// What was done since the last sync.
    pending: Vec<Change>,
    locks: Vec<Held>,
}

#[derive(Debug)]
enum Change {
    Written { at: usize, length: usize },
    Cut(usize),
}

#[derive(Debug)]
struct Held {
    process: usize,
    handle: u64,
    with: Sharing,
}

/// Few names: the fastest way is to look at each.
#[derive(Debug, Clone, Default)]
struct Names(Vec<(Vec<u8>, usize)>);

#[derive(Debug, Clone)]
struct Renaming {
    from: Option<Vec<u8>>,
    to: Option<(Vec<u8>, usize)>,
}

impl Names {
    fn get(&self, name: &[u8]) -> Option<usize> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, node)| *node)
    }

    fn apply(&mut self, change: &Renaming) {
        if let Some(from) = &change.from {
            self.0.retain(|(known, _)| known != from);
        }
        if let Some((to, node)) = &change.to {
            self.0.retain(|(known, _)| known != to);
            self.0.push((to.clone(), *node));
        }
    }
}

impl Renaming {
    /// Whether it changes what is directly in that folder.
    fn is_in(&self, folder: &[u8]) -> bool {
        let name = self.to.as_ref().map(|(to, _)| to).or(self.from.as_ref());
        name.is_some_and(|name| above(name) == folder)
    }
}

fn above(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    &name[..end]
}

fn key(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

impl Node {
    /// Brings one change to the disk: so many bytes of it.
    fn keep(&mut self, change: &Change, most: usize) {
        match *change {
            Change::Cut(length) => self.on_disk.resize(length, 0),
            Change::Written { at, length } => {
                // What was cut since then is gone from the cache too.
                let end = (at + length.min(most)).min(self.bytes.len());
                if at >= end {
                    return;
                }
                if self.on_disk.len() < end {
                    self.on_disk.resize(end, 0);
                }
                self.on_disk[at..end].copy_from_slice(&self.bytes[at..end]);
            }
        }
    }

    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.keep(&change, usize::MAX);
        }
    }

    fn write(&mut self, bytes: &[u8], at: usize) {
        if self.bytes.len() < at + bytes.len() {
            self.bytes.resize(at + bytes.len(), 0);
        }
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.pending.push(Change::Written { at, length: bytes.len() });
    }

    /// What chance leaves of what was not synced: nothing, all, the beginning, or some of its sectors.
    fn lose(&mut self, chance: &mut dyn FnMut(usize) -> usize) -> bool {
        let pending = std::mem::take(&mut self.pending);
        let mut is_garbled = false;
        if !pending.is_empty() {
            match chance(10) {
                0..=1 => {}
                2..=3 => pending.iter().for_each(|change| self.keep(change, usize::MAX)),
                4..=7 => {
                    let whole = chance(pending.len() + 1);
                    pending[..whole].iter().for_each(|change| self.keep(change, usize::MAX));
                    if let Some(Change::Written { length, .. }) = pending.get(whole) {
                        let most = chance(*length);
                        self.keep(&pending[whole], most);
                    }
                }
                _ => {
                    is_garbled = true;
                    for one in &pending {
                        self.keep_some(one, chance);
                    }
                }
            }
        }
        self.bytes.clone_from(&self.on_disk);
        is_garbled
    }

    fn keep_some(&mut self, pending: &Change, chance: &mut dyn FnMut(usize) -> usize) {
        let Change::Written { at, length } = *pending else {
            if chance(2) == 0 {
                self.keep(pending, 0);
            }
            return;
        };
        let mut from = at;
        while from < at + length {
            let end = ((from / SECTOR + 1) * SECTOR).min(at + length);
            if chance(2) == 0 {
                self.keep(&Change::Written { at: from, length: end - from }, usize::MAX);
            }
            from = end;
        }
    }
}

impl Platter {
    fn change_names(&mut self, change: Renaming) {
        self.names.apply(&change);
        self.pending.push(change);
    }

    fn make(&mut self, name: &[u8], is_folder: bool) -> usize {
        self.nodes.push(Node { is_folder, ..Node::default() });
        let node = self.nodes.len() - 1;
        self.change_names(Renaming { from: None, to: Some((name.to_owned(), node)) });
        node
    }

    fn entry(&self, node: usize) -> Entry {
        let Node { is_folder, bytes, .. } = &self.nodes[node];
        Entry {
            identity: Identity { device: 1, inode: node as u64 },
            length: bytes.len() as u64,
            is_folder: *is_folder,
            changed: SystemTime::UNIX_EPOCH,
        }
    }

    fn kill(&mut self, process: usize) {
        self.lives[process].is_over = true;
        for node in &mut self.nodes {
            node.locks.retain(|held| held.process != process);
        }
    }

    /// One more thing that a process asks for.
    fn turn(&mut self, process: usize) -> io::Result<()> {
        let life = &mut self.lives[process];
        if life.left == Some(0) {
            self.kill(process);
        } else {
            life.left = life.left.map(|left| left - 1);
        }
        let is_over = self.lives[process].is_over;
        if is_over { Err(io::Error::other("this process was killed")) } else { Ok(()) }
    }
}

impl Simulated {
    /// An empty disk with that folder.
    pub fn with_folder(path: &Path) -> Self {
        let disk = Self::default();
        disk.platter().make(key(path), true);
        disk.settle();
        disk
    }

    /// A process that may use it.
    pub fn process(&self) -> Process {
        let mut platter = self.platter();
        platter.lives.push(Life::default());
        Process { disk: self.clone(), number: platter.lives.len() - 1 }
    }

    /// Ends all processes and leaves of what was not synced whatever chance says, which is asked for a number below the one
    /// it is given. Says whether that file has a hole now.
    pub fn lose_power(&self, path: &Path, chance: &mut dyn FnMut(usize) -> usize) -> bool {
        let platter = &mut *self.platter();
        for process in 0..platter.lives.len() {
            platter.kill(process);
        }
        for change in std::mem::take(&mut platter.pending) {
            if chance(2) == 0 {
                platter.names_on_disk.apply(&change);
            }
        }
        platter.names.clone_from(&platter.names_on_disk);
        let file = platter.names.get(key(path));
        let mut is_garbled = false;
        for (number, node) in platter.nodes.iter_mut().enumerate() {
            is_garbled |= node.lose(chance) && Some(number) == file;
        }
        is_garbled
    }

    /// Makes the disk have exactly what there is.
    pub fn settle(&self) {
        let platter = &mut *self.platter();
        platter.pending.clear();
        platter.names_on_disk.clone_from(&platter.names);
        for node in &mut platter.nodes {
            node.pending.clear();
            node.on_disk.clone_from(&node.bytes);
        }
    }

    /// All bytes of a file, as processes see it.
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let platter = self.platter();
        platter.names.get(key(path)).map(|node| platter.nodes[node].bytes.clone())
    }

    /// What a power cut cannot take away of a file, from that byte on.
    pub fn synced(&self, path: &Path, from: usize) -> Vec<u8> {
        let platter = self.platter();
        let Some(node) = platter.names_on_disk.get(key(path)) else { return Vec::new() };
        platter.nodes[node].on_disk.get(from..).unwrap_or_default().to_owned()
    }

    /// Puts another file with those bytes under that name, on disk, behind the back of whoever uses it.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let platter = &mut *self.platter();
        let node = platter.make(key(path), false);
        platter.nodes[node].bytes.extend_from_slice(bytes);
        platter.nodes[node].on_disk.extend_from_slice(bytes);
        platter.pending.pop();
        let to = Some((key(path).to_owned(), node));
        platter.names_on_disk.apply(&Renaming { from: None, to });
    }

    /// Takes a folder away with all that is in it.
    pub fn remove_all(&self, folder: &Path) {
        let platter = &mut *self.platter();
        let is_inside =
            |name: &[u8]| Path::new(std::ffi::OsStr::from_bytes(name)).starts_with(folder);
        platter.names.0.retain(|(name, _)| !is_inside(name));
        platter.names_on_disk.clone_from(&platter.names);
        platter.pending.clear();
    }

    /// Puts those bytes into a file, on disk, behind the back of whoever writes it.
    pub fn overwrite(&self, path: &Path, bytes: &[u8]) {
        let platter = &mut *self.platter();
        if let Some(node) = platter.names.get(key(path)) {
            let node = &mut platter.nodes[node];
            node.pending.clear();
            node.bytes.clear();
            node.bytes.extend_from_slice(bytes);
            node.on_disk.clone_from(&node.bytes);
        }
    }

    /// Writes at the end of a file behind the back of whoever holds a lock, as one does who was overtaken between its look
    /// at the lock and its write.
    pub fn append_late(&self, path: &Path, bytes: &[u8]) {
        let platter = &mut *self.platter();
        if let Some(node) = platter.names.get(key(path)) {
            let end = platter.nodes[node].bytes.len();
            platter.nodes[node].write(bytes, end);
        }
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Ends it now.
    pub fn kill(&self) {
        self.disk.platter().kill(self.number);
    }

    /// Ends it after so many more things that it asks of the disk.
    pub fn kill_after(&self, things: u32) {
        self.disk.platter().lives[self.number].left = Some(things);
    }

    /// Lets it live on, if it still does.
    pub fn spare(&self) {
        self.disk.platter().lives[self.number].left = None;
    }

    /// Whether it has ended.
    pub fn is_dead(&self) -> bool {
        self.disk.platter().lives[self.number].is_over
    }

    fn ask(&self) -> io::Result<MutexGuard<'_, Platter>> {
        let mut platter = self.disk.platter();
        platter.turn(self.number)?;
        Ok(platter)
    }
}

impl Disk for Process {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let mut platter = self.ask()?;
        let name = key(path);
        let node = match (platter.names.get(name), how) {
            (Some(_), How::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(node), _) => node,
            (None, How::Read) => return Err(io::ErrorKind::NotFound.into()),
            (None, _) if platter.names.get(above(name)).is_none() => {
                return Err(io::ErrorKind::NotFound.into());
            }
            (None, _) => platter.make(name, false),
        };
        platter.handles += 1;
        let handle = platter.handles;
        drop(platter);
        Ok(Box::new(OpenFile { process: self.clone(), node, handle }))
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        let platter = self.ask()?;
        Ok(platter.names.get(key(path)).map(|node| platter.entry(node)))
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let platter = self.ask()?;
        let inside = platter.names.0.iter().filter(|(name, _)| above(name) == key(folder));
        let name =
            |name: &[u8]| String::from_utf8_lossy(&name[key(folder).len() + 1..]).into_owned();
        Ok(inside.map(|(full, _)| name(full)).collect())
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut platter = self.ask()?;
        if platter.names.get(key(path)).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        platter.make(key(path), true);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut platter = self.ask()?;
        let node = platter.names.get(key(from)).ok_or(io::ErrorKind::NotFound)?;
        let from = Some(key(from).to_owned());
        platter.change_names(Renaming { from, to: Some((key(to).to_owned(), node)) });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut platter = self.ask()?;
        platter.names.get(key(path)).ok_or(io::ErrorKind::NotFound)?;
        platter.change_names(Renaming { from: Some(key(path).to_owned()), to: None });
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let platter = &mut *self.ask()?;
        let names = &mut platter.names_on_disk;
        platter.pending.retain(|change| {
            let is_synced = change.is_in(key(path));
            if is_synced {
                names.apply(change);
            }
            !is_synced
        });
        Ok(())
    }
}

/// An open file of a process. Closing it gives its lock back.
struct OpenFile {
    process: Process,
    node: usize,
    handle: u64,
}

impl OpenFile {
    fn change(&self, change: impl FnOnce(&mut Node)) -> io::Result<()> {
        change(&mut self.process.ask()?.nodes[self.node]);
        Ok(())
    }

    fn let_go(&self) {
        let mut platter = self.process.disk.platter();
        platter.nodes[self.node].locks.retain(|held| held.handle != self.handle);
    }
}

impl DiskFile for OpenFile {
    fn entry(&self) -> io::Result<Entry> {
        Ok(self.process.ask()?.entry(self.node))
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let platter = self.process.ask()?;
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let rest = platter.nodes[self.node].bytes.get(at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.change(|node| node.write(bytes, node.bytes.len()))
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let at = usize::try_from(at).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.change(|node| node.write(bytes, at))
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.change(|node| {
            node.bytes.resize(length, 0);
            node.pending.push(Change::Cut(length));
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.change(Node::sync)
    }

    fn forget(&self) {
        // A file's length is the journal's.
        let is_length = |change: &Change| matches!(change, Change::Cut(_));
        let _ = self.change(|node| node.pending.retain(is_length));
    }

    fn try_lock(&self, with: Sharing) -> io::Result<bool> {
        let mut platter = self.process.ask()?;
        let locks = &mut platter.nodes[self.node].locks;
        let excludes = |held: &Held| {
            held.handle != self.handle && (with == Sharing::Alone || held.with == Sharing::Alone)
        };
        if locks.iter().any(excludes) {
            return Ok(false);
        }
        locks.retain(|held| held.handle != self.handle);
        locks.push(Held { process: self.process.number, handle: self.handle, with });
        Ok(true)
    }

    fn unlock(&self) {
        self.let_go();
    }

    fn touch(&self) -> io::Result<()> {
        self.change(|_| {})
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        let mut platter = self.process.ask()?;
        platter.handles += 1;
        let (process, node, handle) = (self.process.clone(), self.node, platter.handles);
        Ok(Box::new(Self { process, node, handle }))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.let_go();
    }
}
