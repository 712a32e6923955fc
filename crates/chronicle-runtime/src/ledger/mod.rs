//! The ledger: the append-only record of one run, and the only truth about it.
//!
//! A line is one decision, whole or not at all, chained to the line before it by a sum. Nothing in here knows what a line
//! means: that is the core's.
//!
//! Opening a ledger to write it has four steps in this order, and `open` does all of them: the lock is claimed, the lines
//! are read and folded, a torn tail is set aside, and from there a `Writer` appends. Reading needs no lock.
//!
//! The traits below say nothing about files: a database can implement them. `folder/` is the ledger that the product has;
//! `chronicle-testkit` has one in a table, and the contract in `tests/it/ledger_contract.rs` is run over both.

mod error;
mod folder;
mod holder;
mod sum;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chronicle_core::event::record::Line;
use serde::{Deserialize, Serialize};

pub use error::LedgerError;
pub use folder::{
    ARTIFACT_BYTES_MAX, Disk, DiskFile, Entry, Folder, HEARTBEAT_EVERY, HEARTBEAT_LIMIT, How,
    Identity, LINE_BYTES_MAX, LOCK_PATIENCE, LineError, Pace, Real, Sharing, atomic_write, decode,
    encode, is_unfinished, known, load, quick_write, save, sweep_beside, write_from,
};
pub use holder::Holder;
pub use sum::{SUM_DIGITS, Sum};

/// The record of one run, wherever it is kept.
pub trait Ledger: Send + Sync {
    /// Takes the lock, so that nobody else writes; a short holder is waited for. Nothing of the ledger changes yet.
    fn claim(&self, who: Holder) -> Result<Box<dyn LedgerClaim>, LedgerError>;

    /// The current writer, for messages; `None` if none lives.
    fn holder(&self) -> Option<Holder>;

    /// Takes the lock away from its holder at a person's request: the holder's next append fails as fenced.
    fn force(&self) -> Result<(), LedgerError>;

    /// The whole lines from there on, each checked against the one before it. The reader owns its connection or file, so that
    /// it can outlive this handle.
    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError>;

    /// A body that a line names: an artifact, or a text of the line itself.
    fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, LedgerError>;
}

/// Lines in order, with the head after each. The iteration ends at the last whole line or after the first error. `wait`
/// restarts it, which is how a ledger is followed while it is being written.
pub trait Lines: Iterator<Item = Result<(Line, Head), LedgerError>> + Send {
    /// The head after the last line that was read.
    fn head(&self) -> Head;

    /// Waits for the next line, at most `most`. True if there is one. Fails if the last line that was read is gone.
    fn wait(&mut self, most: Duration) -> Result<bool, LedgerError>;
}

/// The lock of a ledger that is yet to be read. It is released when dropped.
pub trait LedgerClaim: Send {
    /// Higher than that of all earlier claims.
    fn epoch(&self) -> u64;

    /// As `Ledger::read`, and nobody writes meanwhile.
    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError>;

    /// Puts a text that a line keeps back where workers find it, if it is not there: its file is not synced, and may be lost.
    fn lay_out(&self, _text: &str) -> Result<(), LedgerError> {
        Ok(())
    }

    /// Begins to write after the last line, which must have been read: sets a torn tail aside and brings everything that
    /// was read to where it is kept for good, so that it can be acted upon.
    fn writer(self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError>;
}

/// The one who may append.
///
/// Every call may be repeated after `Unavailable`: it is unknown then whether the call took effect, and the backend finds out
/// by reading, so that nothing is written twice. After any other failed write the writer refuses to write more.
pub trait Writer: Send {
    /// Epoch of the claim that this writer came from.
    fn epoch(&self) -> u64;

    /// The end of the ledger, where the next line goes.
    fn head(&self) -> Head;

    /// Takes the line, which must be the one due. It is kept, and others can read it, only after `sync`. Where workers read artifacts as files, the texts
    /// that it keeps are there when this returns, without waiting for the disk.
    fn append(&mut self, expected_seq: u64, line: &Line) -> Result<Head, LedgerError>;

    /// Returns once every line appended so far is kept, whatever happens to this process or its machine.
    fn sync(&mut self) -> Result<(), LedgerError>;

    /// Says that the holder lives, where the system's locks do not: every `HEARTBEAT_EVERY`.
    fn heartbeat(&mut self) -> Result<(), LedgerError>;

    /// What was found after the last whole line and set aside.
    fn torn(&self) -> Option<&Torn>;

    /// Keeps a body by its content, for good when this returns: before the line that names it.
    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError>;
}

/// Claims the ledger, gives every line from `from` on to `fold`, and begins to write after the last.
pub fn open(
    ledger: &dyn Ledger,
    who: Holder,
    from: Head,
    fold: impl FnMut(Line),
) -> Result<Box<dyn Writer>, LedgerError> {
    ClaimedLines::read(ledger, who, from, fold)?.writer()
}

/// A ledger that is claimed and read, in which nothing was written yet: who finds it damaged leaves it as it is.
pub(crate) struct ClaimedLines {
    claim: Box<dyn LedgerClaim>,
    texts: Vec<String>,
    /// The end of what was read.
    pub(crate) head: Head,
}

impl ClaimedLines {
    /// Claims the ledger and gives every line from `from` on to `fold`.
    pub(crate) fn read(
        ledger: &dyn Ledger,
        who: Holder,
        from: Head,
        mut fold: impl FnMut(Line),
    ) -> Result<Self, LedgerError> {
        // The lock first: a writer that appends while we read would make the fold stale before it is used.
        let claim = ledger.claim(who)?;
        let mut lines = claim.read(from)?;
        let mut texts = Vec::new();
        for next in lines.by_ref() {
            let line = next?.0;
            texts.extend_from_slice(&line.texts);
            fold(line);
        }
        let head = lines.head();
        drop(lines);
        Ok(Self { claim, texts, head })
    }

    /// Begins to write. The writer starts exactly where the fold ended, so state and ledger cannot differ.
    pub(crate) fn writer(self) -> Result<Box<dyn Writer>, LedgerError> {
        self.texts.iter().try_for_each(|text| self.claim.lay_out(text))?;
        self.claim.writer(self.head)
    }
}

/// The text with that id among those that lines keep.
pub fn text_in(lines: Box<dyn Lines>, id: &ArtifactId) -> Option<Vec<u8>> {
    let mut texts = lines.map_while(Result::ok).flat_map(|(line, _)| line.texts);
    texts.find(|text| ArtifactId::of(text.as_bytes()) == *id).map(String::into_bytes)
}

/// Where the chain stands after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Head {
    /// Number of the last line; 0 for an empty ledger.
    pub seq: u64,
    /// Sum of that line, which the next one builds on.
    pub sum: Sum,
    /// Where the line after it is to be found.
    pub at: Cursor,
}

impl Head {
    /// Before the first line.
    pub const EMPTY: Self = Self { seq: 0, sum: Sum::ZERO, at: Cursor(0) };
}

/// A position in a ledger. Only the backend knows what the number means: bytes in a file, rows in a table. It is 0 before the
/// first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(u64);

impl Cursor {
    /// The position that a backend knows by that number.
    pub fn of_backend(number: u64) -> Self {
        Self(number)
    }

    /// The number, for the backend that made it.
    pub fn for_backend(self) -> u64 {
        self.0
    }
}

/// A last line that was not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// How much of it there was.
    pub bytes: u64,
    /// Where it is kept now, in the words of the backend.
    pub kept: String,
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
