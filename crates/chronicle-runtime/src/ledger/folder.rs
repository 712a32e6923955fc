//! The ledger in a run's folder: `ledger.jsonl`, `artifacts/`, `lock`, and torn lines that were set aside.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::chain::{Chain, Lines, Source, Tail};
use super::disk::{Disk, Faults, Faulty, torn_names};
use super::durable::{atomic_write, create_folder, sweep, sync_folder};
use super::error::LedgerError;
use super::holder::Holder;
use super::lock::{self, Identity, LOCK_PATIENCE, Lock};
use super::writer::DiskClaim;
use super::{ArtifactId, Claim, Head, Ledger};

const LEDGER: &str = "ledger.jsonl";
const ARTIFACTS: &str = "artifacts";
const LOCK: &str = "lock";

/// A run's folder.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    patience: Duration,
    faults: Option<Faults>,
}

impl Folder {
    /// A folder that is there already, or is not: that is said when it is used.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), patience: LOCK_PATIENCE, faults: None }
    }

    /// Makes the folder and those above it, and returns once they are on disk.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, LedgerError> {
        let folder = Self::new(path);
        create_folder(&folder.path)
            .and_then(|()| create_folder(&folder.path.join(ARTIFACTS)))
            .map_err(|error| LedgerError::io("make the folder", &folder.path, error))?;
        Ok(folder)
    }

    /// Waits that long for a holder, instead of `LOCK_PATIENCE`.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Writes to a disk that fails as told.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Self { faults: Some(faults), ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file with the lines.
    pub fn ledger_path(&self) -> PathBuf {
        self.path.join(LEDGER)
    }

    fn check_there(&self) -> Result<(), LedgerError> {
        let path = &self.path;
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LedgerError::io("look at", path, error))
            }
            _ => Err(LedgerError::Missing { path: path.clone() }),
        }
    }

    fn chain(&self, from: Head) -> Chain {
        let path = self.ledger_path();
        Chain::new(Box::new(LedgerFile { path: path.clone(), file: None }), &path, from)
    }
}

impl Ledger for Folder {
    fn claim(&self, who: Holder) -> Result<Box<dyn Claim>, LedgerError> {
        self.check_there()?;
        let lock = lock::take(&self.path.join(LOCK), &who, self.patience)?;
        let disk = FolderDisk::open(&self.path, lock)
            .map_err(|error| LedgerError::io("open", &self.ledger_path(), error))?;
        let disk: Box<dyn Disk> = match &self.faults {
            Some(faults) => Box::new(Faulty::new(disk, faults.clone())),
            None => Box::new(disk),
        };
        Ok(Box::new(DiskClaim::new(disk)))
    }

    fn holder(&self) -> Option<Holder> {
        let host = rustix::system::uname();
        lock::holder(&self.path.join(LOCK), &host.nodename().to_string_lossy())
    }

    fn force(&self) -> Result<(), LedgerError> {
        self.check_there()?;
        let path = self.path.join(LOCK);
        lock::force(&path).map_err(|error| LedgerError::io("replace", &path, error))
    }

    fn read_from(&self, from: Head) -> Result<Lines, LedgerError> {
        self.check_there()?;
        self.chain(from).lines()
    }

    fn tail(&self, from: Head) -> Tail {
        self.chain(from).tail()
    }

    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        let path = self.path.join(ARTIFACTS).join(id.to_string());
        let wrong = |why| LedgerError::Artifact { path: self.path.clone(), id: *id, why };
        match fs::read(&path) {
            Ok(body) if ArtifactId::of(&body) == *id => Ok(body),
            Ok(_) => Err(wrong("is damaged: its content is not what its name says")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(wrong("is not there")),
            Err(error) => Err(LedgerError::io("read", &path, error)),
        }
    }
}

/// The bytes of a ledger for reading. A run that was just made has none yet.
pub(super) struct LedgerFile {
    path: PathBuf,
    file: Option<File>,
}

impl LedgerFile {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(LEDGER), file: None }
    }

    fn file(&mut self) -> io::Result<Option<&File>> {
        if self.file.is_none() {
            self.file = match File::open(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                opened => Some(opened?),
            };
        }
        Ok(self.file.as_ref())
    }
}

impl Source for LedgerFile {
    fn read_at(&mut self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.file()?.map_or(Ok(0), |file| file.read_at(buffer, at))
    }

    fn size(&mut self) -> io::Result<u64> {
        self.file()?.map_or(Ok(0), |file| Ok(file.metadata()?.len()))
    }
}

struct FolderDisk {
    folder: PathBuf,
    path: PathBuf,
    /// Opened to append, so that even a writer that lost its lock unseen cannot overwrite a line.
    file: File,
    identity: Identity,
    lock: Lock,
}

impl FolderDisk {
    fn open(folder: &Path, lock: Lock) -> io::Result<Self> {
        let path = folder.join(LEDGER);
        let artifacts = folder.join(ARTIFACTS);
        create_folder(&artifacts)?;
        sweep(folder)?;
        sweep(&artifacts)?;
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        // The file's name must be on disk before anything in it is relied upon, also when it was made by one who died.
        sync_folder(folder)?;
        let identity = Identity::of(&file.metadata()?);
        Ok(Self { folder: folder.to_owned(), path, file, identity, lock })
    }
}

impl Disk for FolderDisk {
    fn path(&self) -> &Path {
        &self.path
    }

    fn epoch(&self) -> u64 {
        self.lock.epoch()
    }

    fn is_held(&self) -> io::Result<bool> {
        self.lock.is_held()
    }

    fn heartbeat(&mut self) -> io::Result<()> {
        self.lock.heartbeat()
    }

    fn source(&self) -> io::Result<Box<dyn Source>> {
        let file = Some(self.file.try_clone()?);
        Ok(Box::new(LedgerFile { path: self.path.clone(), file }))
    }

    fn size(&self) -> io::Result<Option<u64>> {
        match fs::metadata(&self.path) {
            Ok(metadata) if Identity::of(&metadata) == self.identity => Ok(Some(metadata.len())),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(None),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.file.set_len(size)?;
        self.file.sync_all()
    }

    fn set_aside(&mut self, seq: u64, tail: &[u8]) -> io::Result<String> {
        for name in torn_names(seq) {
            let path = self.folder.join(&name);
            match fs::read(&path) {
                // A crash came between setting it aside and cutting it.
                Ok(kept) if kept == tail => return Ok(name),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return atomic_write(&path, tail).map(|()| name);
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many torn lines were set aside already"))
    }

    fn put_artifact(&mut self, id: &ArtifactId, body: &[u8]) -> io::Result<()> {
        let path = self.folder.join(ARTIFACTS).join(id.to_string());
        match fs::read(&path) {
            Ok(kept) if kept == body => Ok(()),
            _ => atomic_write(&path, body),
        }
    }
}
