//! What can go wrong with a ledger, in words for people.

use std::io;
use std::path::{Path, PathBuf};

use chronicle_core::event::record::VERSION;
use thiserror::Error;

use super::holder::Holder;
use super::line::LineError;
use super::{ArtifactId, Head};

/// Why the ledger could not do its work.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// There is no such run.
    #[error("there is no run folder at `{}`", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// Another writer lives.
    #[error("the run at `{}` is held by {}", path.display(), holder_words(holder.as_deref()))]
    Held {
        /// Which run.
        path: PathBuf,
        /// Who; none when they have not said so yet.
        holder: Option<Box<Holder>>,
    },
    /// Another writer took the lock from this one.
    #[error("the lock of `{}` was taken by another writer", path.display())]
    Fenced {
        /// Which run.
        path: PathBuf,
    },
    /// Somebody else changed the ledger.
    #[error("the ledger `{}` is other than it was left: {why}", path.display())]
    Conflict {
        /// Which ledger.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// A writer is to begin before the end of the ledger.
    #[error("the ledger `{}` goes on after line {seq}, the last that was read", path.display())]
    Stale {
        /// Which ledger.
        path: PathBuf,
        /// The last line that was read.
        seq: u64,
    },
    /// A line is not what was written.
    #[error("the ledger `{}` is damaged in line {line}, at byte {byte}: {why}", path.display())]
    Damaged {
        /// Which ledger.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Where that line begins, from 0.
        byte: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A whole line uses a word of a newer Chronicle: the run can be read up to it, and not be written.
    #[error(
        "line {line} of the ledger `{}` says `{kind}`, which this version does not know",
        path.display()
    )]
    UnknownKind {
        /// Which ledger.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The kind of event, or a word inside one.
        kind: String,
    },
    /// A whole line is of a version that this Chronicle would misjudge.
    #[error(
        "line {line} of the ledger `{}` is of version {version}, this Chronicle reads up to {VERSION}",
        path.display()
    )]
    NewerVersion {
        /// Which ledger.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Its version.
        version: u32,
    },
    /// A write of this writer failed before, so that it cannot know what is on disk.
    #[error("nothing more is written to `{}`, since an earlier write failed", path.display())]
    Poisoned {
        /// Which run.
        path: PathBuf,
    },
    /// Something is too large to be written.
    #[error("{what} for `{}` has {bytes} bytes, more than {limit}", path.display())]
    TooLarge {
        /// Which run.
        path: PathBuf,
        /// What.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The most it may have.
        limit: usize,
    },
    /// What is to be written cannot be put into JSON.
    #[error("line {seq} for `{}` cannot be written", path.display())]
    Unwritable {
        /// Which run.
        path: PathBuf,
        /// The line.
        seq: u64,
        /// Why.
        source: serde_json::Error,
    },
    /// An artifact is not what its name says, or is not there.
    #[error("the artifact `{id}` of `{}` {why}", path.display())]
    Artifact {
        /// Which run.
        path: PathBuf,
        /// Which artifact.
        id: ArtifactId,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no room.
    #[error("no room on the disk to {doing} `{}`", path.display())]
    Full {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It may not be written.
    #[error("not allowed to {doing} `{}`", path.display())]
    Denied {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else that the system refused.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl LedgerError {
    /// One thing to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "`chronicle runs` lists the runs there are".to_owned(),
            Self::Held { holder: Some(holder), .. } if holder.is_here() => {
                format!("wait for process {} on `{}`, or stop it", holder.pid, holder.host)
            }
            Self::Held { holder: Some(holder), .. } => format!(
                "stop it on `{}`; only if that host is gone for good, `chronicle resume --force` takes the run",
                holder.host
            ),
            Self::Held { holder: None, .. } => "try again in a moment".to_owned(),
            Self::Fenced { .. } | Self::Stale { .. } => {
                "see who drives the run now with `chronicle status`".to_owned()
            }
            Self::Conflict { .. } | Self::Damaged { .. } | Self::Artifact { .. } => {
                "look at what is left with `chronicle audit`, and restore the rest from a copy"
                    .to_owned()
            }
            Self::UnknownKind { .. } | Self::NewerVersion { .. } => {
                "use a newer `chronicle`: a newer one wrote this run".to_owned()
            }
            Self::Poisoned { .. } => "`chronicle resume` opens the run afresh".to_owned(),
            Self::TooLarge { .. } | Self::Unwritable { .. } => {
                "report this with the output of `chronicle audit`".to_owned()
            }
            Self::Full { .. } => "make room, then `chronicle resume`".to_owned(),
            Self::Denied { path, .. } => format!("make `{}` writable for you", path.display()),
            Self::Io { .. } => "`chronicle doctor` looks at the disk".to_owned(),
        }
    }

    /// Sorts what the system said by what a person can do about it.
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { doing, path, source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { doing, path, source }
            }
            _ => Self::Io { doing, path, source },
        }
    }

    /// What is wrong with the line after `head`.
    pub(super) fn line(path: &Path, head: &Head, error: LineError) -> Self {
        let (path, line) = (path.to_owned(), head.seq + 1);
        match error {
            LineError::UnknownKind { kind } => Self::UnknownKind { path, line, kind },
            LineError::NewerVersion { version } => Self::NewerVersion { path, line, version },
            LineError::Unclosed
            | LineError::Sum
            | LineError::Sequence { .. }
            | LineError::Shape(_) => {
                Self::Damaged { path, line, byte: head.bytes, why: error.to_string() }
            }
        }
    }
}

fn holder_words(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), Holder::to_string)
}
