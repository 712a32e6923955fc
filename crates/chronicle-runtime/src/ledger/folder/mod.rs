//! The ledger in a run's folder: `ledger.jsonl`, `artifacts/`, `lock`, and torn lines that were moved aside. The format for other
//! programs is in `docs/ledger-format.md`. Nothing outside of this folder opens ledger files.
//!
//! `writer.rs` has the order of checks and writes, `chain.rs` reads, `line.rs` is one line as bytes, `files.rs` holds the open
//! files. All of it goes through `disk.rs`, so that the same code runs on the real file system and, in tests, on one that loses
//! what was not synced.

mod cache;
mod chain;
mod disk;
mod durable;
mod files;
mod line;
mod lock;
mod real;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use chronicle_core::base::time::Millis;

pub use self::cache::{known, load, save};
use self::chain::LineChain;
pub use self::disk::{Disk, DiskFile, Entry, How, Identity, Sharing};
use self::durable::create_folder;
pub use self::durable::{Pace, atomic_write, is_unfinished, quick_write, sweep_beside, write_from};
use self::files::{LedgerFile, LockedFiles};
pub use self::line::{LINE_BYTES_MAX, LineError, decode, encode};
pub use self::lock::{HEARTBEAT_EVERY, HEARTBEAT_LIMIT, LOCK_PATIENCE};
pub use self::real::Real;
pub use self::writer::ARTIFACT_BYTES_MAX;
use self::writer::FolderClaim;
use super::{ArtifactId, Head, Holder, Ledger, LedgerClaim, LedgerError, Lines, text_in};

const LEDGER: &str = "ledger.jsonl";
const ARTIFACTS: &str = "artifacts";
const LOCK: &str = "lock";

/// A run's folder as a ledger. Nothing is opened until it is used.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    patience: Duration,
    disk: Arc<dyn Disk>,
}

impl Folder {
    /// A handle for a folder that may not exist; that is checked on use.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::on(Arc::new(Real), path)
    }

    /// The same on another disk.
    pub fn on(disk: Arc<dyn Disk>, path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), patience: LOCK_PATIENCE, disk }
    }

    /// Creates the folder with its parents, and returns once they are on disk.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, LedgerError> {
        let folder = Self::new(path);
        folder.make()?;
        Ok(folder)
    }

    /// Creates the folder with its parents, and returns once they are on disk.
    pub fn make(&self) -> Result<(), LedgerError> {
        // Both folders are on disk before the first line, so that no append has to create one in the middle of a step.
        create_folder(self.disk.as_ref(), &self.path)
            .and_then(|()| create_folder(self.disk.as_ref(), &self.path.join(ARTIFACTS)))
            .map_err(|error| io_error("make the folder", &self.path, error))
    }

    /// Waits that long for a holder instead of `LOCK_PATIENCE`.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Path of the run's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file with the lines.
    pub fn ledger_path(&self) -> PathBuf {
        self.path.join(LEDGER)
    }

    /// When a line was last written to the ledger, as the file system says; `None` if there is none.
    pub fn written_at(&self) -> Option<Millis> {
        let modified = std::fs::metadata(self.ledger_path()).ok()?.modified().ok()?;
        let since = modified.duration_since(UNIX_EPOCH).ok()?;
        Some(Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
    }

    /// The lock file, held by the writer.
    pub fn lock_path(&self) -> PathBuf {
        self.path.join(LOCK)
    }

    /// Number of bytes up to that head.
    pub fn bytes(&self, head: &Head) -> u64 {
        offset(head)
    }

    /// Verifies every line up to a head that was stored elsewhere, without parsing them.
    pub fn check_up_to(&self, head: &Head) -> Result<(), LedgerError> {
        LineChain::new(LedgerFile::of(self), &self.ledger_path(), Head::EMPTY).check_up_to(head)
    }

    /// True if the line that ends at this head is in the ledger. Its sum covers everything before it.
    pub fn has(&self, head: &Head) -> Result<bool, LedgerError> {
        let stands = chain::stands(&mut LedgerFile::of(self), head);
        stands.map_err(|error| io_error("read", &self.ledger_path(), error))
    }

    /// Truncates a damaged ledger after an intact line, at a person's request. A copy of the whole file is saved first; its name
    /// is returned.
    pub fn cut_back(&self, who: &Holder, at: &Head) -> Result<String, LedgerError> {
        self.check_there()?;
        // Under the lock, like every write: a supervisor that still lives must not have its ledger cut under it.
        let lock = lock::take(&self.disk, &self.lock_path(), who, self.patience)?;
        let failed = |doing| move |error| io_error(doing, &self.ledger_path(), error);
        let files =
            LockedFiles::open(Arc::clone(&self.disk), &self.path, lock).map_err(failed("open"))?;
        FolderClaim::new(files).cut_back(at)
    }

    /// Number of bytes and lines after a line; a torn line counts.
    pub fn beyond(&self, head: &Head) -> Result<(u64, u64), LedgerError> {
        let counted = files::beyond(&mut LedgerFile::of(self), offset(head));
        counted.map_err(|error| io_error("read", &self.ledger_path(), error))
    }

    /// Removes caches of the ledger's earlier content.
    pub fn forget(&self) {
        let _ = self.disk.remove(&self.path.join(cache::CACHE));
    }

    fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    fn check_there(&self) -> Result<(), LedgerError> {
        let path = &self.path;
        match self.disk.look(path) {
            Ok(Some(entry)) if entry.is_folder => {
                // A link would let whoever made it read and replace what the lines name, or have us write elsewhere.
                let artifacts = path.join(ARTIFACTS);
                let checked = self.disk.check_folder(&artifacts);
                checked.map_err(|error| io_error("use", &artifacts, error))
            }
            Err(error) => Err(io_error("look at", path, error)),
            _ => Err(LedgerError::Missing { what: format!("run folder at `{}`", path.display()) }),
        }
    }
}

impl Ledger for Folder {
    fn claim(&self, who: Holder) -> Result<Box<dyn LedgerClaim>, LedgerError> {
        self.check_there()?;
        let lock = lock::take(&self.disk, &self.path.join(LOCK), &who, self.patience)?;
        // Opened only under the lock: opening sweeps unfinished files, which a live writer may still need.
        let files = LockedFiles::open(Arc::clone(&self.disk), &self.path, lock)
            .map_err(|error| io_error("open", &self.ledger_path(), error))?;
        Ok(Box::new(FolderClaim::new(files)))
    }

    fn holder(&self) -> Option<Holder> {
        let host = rustix::system::uname();
        lock::holder(self.disk(), &self.path.join(LOCK), &host.nodename().to_string_lossy())
    }

    fn force(&self) -> Result<(), LedgerError> {
        self.check_there()?;
        let path = self.path.join(LOCK);
        lock::force(self.disk(), &path).map_err(|error| io_error("replace", &path, error))
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        self.check_there()?;
        let path = self.ledger_path();
        Ok(Box::new(LineChain::new(LedgerFile::of(self), &path, from).lines()?))
    }

    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError> {
        let path = self.path.join(ARTIFACTS).join(id.to_string());
        let wrong = |why| LedgerError::Artifact { place: place(&self.path), id: *id, why };
        let is_folder = self.disk.check_folder(&self.path.join(ARTIFACTS));
        let found =
            is_folder.and_then(|()| disk::read(self.disk(), &path, ARTIFACT_BYTES_MAX as u64));
        // Checked on every read: artifacts are not part of the chain, only their sums are.
        let error = match found {
            Ok(Some(body)) if ArtifactId::of(&body) == *id => return Ok(body),
            Ok(Some(_)) => wrong("is damaged: its content is not what its name says"),
            Ok(None) => wrong("is not there"),
            Err(error) => io_error("read", &path, error),
        };
        // Where a line keeps the text, the file is only a copy.
        let kept = self.read(Head::EMPTY).ok().and_then(|lines| text_in(lines, id));
        kept.ok_or(error)
    }
}

/// Byte offset of the line after this head: the meaning of a cursor here.
fn offset(head: &Head) -> u64 {
    head.at.for_backend()
}

/// A path as errors show it.
fn place(path: &Path) -> String {
    path.display().to_string()
}

fn io_error(doing: &'static str, path: &Path, source: io::Error) -> LedgerError {
    LedgerError::io(doing, place(path), source)
}
