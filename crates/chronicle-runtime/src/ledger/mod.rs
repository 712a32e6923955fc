//! The ledger: the append-only record of one run, and the only truth about it.
//!
//! A line is one decision, whole or not at all, chained to the line before it by a sum. The format, for programs that are
//! not Chronicle, is in `docs/ledger-format.md`. Nothing outside of this folder opens ledger files, and nothing in here
//! knows what a line means: that is the core's.
//!
//! Opening a ledger to write it has four steps in this order, and `open` does all of them: the lock is claimed, the lines
//! are read and folded, a torn tail is set aside, and from there a `Writer` appends. Reading needs no lock.
//!
//! Start with the traits below. `folder.rs` is the one ledger there is, `writer.rs` has its order of checks and writes,
//! `chain.rs` reads, `line.rs` is one line as bytes. All of it goes through `disk.rs`, so that the same code runs on the
//! real file system and on a simulated one that loses what was not synced (`simulated.rs`; `memory.rs` is a folder on it).

mod cache;
mod chain;
mod disk;
mod durable;
mod error;
mod faults;
mod folder;
mod holder;
mod line;
mod lock;
mod memory;
mod real;
mod simulated;
mod sum;
mod writer;

use std::fmt;
use std::str::FromStr;

use chronicle_core::event::record::Line;
use serde::{Deserialize, Serialize};

pub use cache::{load, save};
pub use chain::{Lines, Tail};
pub use disk::{Disk, DiskFile, Entry, How, Identity, Sharing};
pub use durable::{atomic_write, sweep_beside};
pub use error::LedgerError;
pub use faults::Faults;
pub use folder::Folder;
pub use holder::Holder;
pub use line::{LINE_BYTES_MAX, LineError, decode, encode};
pub use lock::{HEARTBEAT_EVERY, HEARTBEAT_LIMIT, LOCK_PATIENCE};
pub use memory::Memory;
pub use simulated::{Process, Simulated};
pub use sum::{SUM_DIGITS, Sum};
pub use writer::ARTIFACT_BYTES_MAX;

/// The record of one run, wherever it is kept.
pub trait Ledger: Send + Sync {
    /// Takes the lock, so that nobody else writes; a short holder is waited for. Nothing of the ledger changes yet.
    fn claim(&self, who: Holder) -> Result<Box<dyn Claim>, LedgerError>;

    /// Who writes it now, for words; none when nobody lives.
    fn holder(&self) -> Option<Holder>;

    /// Takes the lock away from whoever holds it, at a person's word: their next append is refused as fenced.
    fn force(&self) -> Result<(), LedgerError>;

    /// The whole lines from there on, each checked against the one before it.
    fn read_from(&self, from: Head) -> Result<Lines, LedgerError>;

    /// Follows the lines from there on while somebody writes them.
    fn tail(&self, from: Head) -> Tail;

    /// A body that a line names.
    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError>;
}

/// The lock of a ledger that is yet to be read. It is released when dropped.
pub trait Claim: Send {
    /// Higher than that of all claims before.
    fn epoch(&self) -> u64;

    /// As `Ledger::read_from`, and nobody writes meanwhile.
    fn read_from(&self, from: Head) -> Result<Lines, LedgerError>;

    /// Begins to write after the last line, which must have been read: sets a torn tail aside and brings everything that
    /// was read to the disk, so that it can be acted upon.
    fn writer(self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError>;
}

/// The one who may append.
pub trait Writer: Send {
    /// The claim's epoch.
    fn epoch(&self) -> u64;

    /// Where the next line goes.
    fn head(&self) -> Head;

    /// Writes the line, which must be the one due; it is on disk only after `sync`.
    fn append(&mut self, expected_seq: u64, line: &Line) -> Result<Head, LedgerError>;

    /// Brings every line appended so far to the disk. After any failed write nothing more is written.
    fn sync(&mut self) -> Result<(), LedgerError>;

    /// Says that the holder lives, where the system's locks do not: every `HEARTBEAT_EVERY`.
    fn heartbeat(&mut self) -> Result<(), LedgerError>;

    /// What was found after the last whole line and set aside.
    fn torn(&self) -> Option<&Torn>;

    /// Keeps a body by its content, on disk when this returns: before the line that names it.
    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError>;
}

/// Claims the ledger, gives every line from `from` on to `fold`, and begins to write after the last.
pub fn open(
    ledger: &dyn Ledger,
    who: Holder,
    from: Head,
    mut fold: impl FnMut(Line),
) -> Result<Box<dyn Writer>, LedgerError> {
    let claim = ledger.claim(who)?;
    let mut lines = claim.read_from(from)?;
    for next in lines.by_ref() {
        fold(next?.0);
    }
    let head = lines.head();
    claim.writer(head)
}

/// Where the chain stands after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Head {
    /// The line's number.
    pub seq: u64,
    /// Its sum.
    pub sum: Sum,
    /// How many bytes the ledger has up to its end.
    pub bytes: u64,
}

impl Head {
    /// Before the first line.
    pub const EMPTY: Self = Self { seq: 0, sum: Sum::ZERO, bytes: 0 };
}

/// A last line that was not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// How much of it there was.
    pub bytes: u64,
    /// The file beside the ledger that keeps it.
    pub file: String,
}

/// A body kept beside the ledger: the BLAKE3 sum of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtifactId(Sum);

impl ArtifactId {
    /// The id of that body.
    pub fn of(body: &[u8]) -> Self {
        Self(Sum::of(body))
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for ArtifactId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}
