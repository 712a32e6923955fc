//! What can go wrong with a ledger, in words for people.

use std::io;
use std::path::{Component, Path};

use chronicle_core::base::ids::RunId;
use chronicle_core::event::record::VERSION;
use thiserror::Error;

use super::ArtifactId;
use super::holder::Holder;

/// Why the ledger could not do its work.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// There is no such run.
    #[error("there is no {what}")]
    Missing {
        /// What there should be, and where: "run folder at `…`".
        what: String,
    },
    /// Another writer lives.
    #[error("the run at `{place}` is held by {}", holder_words(holder.as_deref()))]
    Held {
        /// Which run.
        place: String,
        /// Who; none when they have not said so yet.
        holder: Option<Box<Holder>>,
    },
    /// Another writer took the lock from this one.
    #[error("the lock of `{place}` was taken by another writer")]
    Fenced {
        /// Which run.
        place: String,
    },
    /// Somebody else changed the ledger.
    #[error("the ledger `{place}` is other than it was left: {why}")]
    Conflict {
        /// Which ledger.
        place: String,
        /// What differs.
        why: String,
    },
    /// A writer is to begin before the end of the ledger.
    #[error("the ledger `{place}` goes on after line {seq}, the last that was read")]
    Stale {
        /// Which ledger.
        place: String,
        /// The last line that was read.
        seq: u64,
    },
    /// A line is not what was written.
    #[error("the ledger `{place}` is damaged in line {line}, at {spot}: {why}")]
    Damaged {
        /// Which ledger.
        place: String,
        /// The line, from 1.
        line: u64,
        /// Where that line is, in the words of the backend: "byte 0".
        spot: String,
        /// What is wrong with it.
        why: String,
    },
    /// A whole line uses a word of a newer Chronicle: the run can be read up to it, and not be written.
    #[error("line {line} of the ledger `{place}` says `{kind}`, which this version does not know")]
    UnknownKind {
        /// Which ledger.
        place: String,
        /// The line, from 1.
        line: u64,
        /// The kind of event, or a word inside one.
        kind: String,
    },
    /// A whole line is of a version that this Chronicle would misjudge.
    #[error(
        "line {line} of the ledger `{place}` is of version {version}, this Chronicle reads up to {VERSION}"
    )]
    NewerVersion {
        /// Which ledger.
        place: String,
        /// The line, from 1.
        line: u64,
        /// Its version.
        version: u32,
    },
    /// A write of this writer failed before, so that it cannot know what is kept.
    #[error("nothing more is written to `{place}`, since an earlier write failed")]
    Poisoned {
        /// Which run.
        place: String,
    },
    /// Something is too large to be written.
    #[error("{what} for `{place}` has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Which run.
        place: String,
        /// What.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The most it may have.
        limit: usize,
    },
    /// What is to be written cannot be put into JSON.
    #[error("line {seq} for `{place}` cannot be written")]
    Unwritable {
        /// Which run.
        place: String,
        /// The line.
        seq: u64,
        /// Why.
        source: serde_json::Error,
    },
    /// An artifact is not what its name says, or is not there.
    #[error("the artifact `{id}` of `{place}` {why}")]
    Artifact {
        /// Which run.
        place: String,
        /// Which artifact.
        id: ArtifactId,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The backend could not be reached or did not answer. The call may have taken effect; it can be repeated.
    #[error("the ledger `{place}` cannot be reached: {what}")]
    Unavailable {
        /// Which ledger.
        place: String,
        /// What went wrong.
        what: String,
    },
    /// There is no room.
    #[error("no room on the disk to {doing} `{place}`")]
    Full {
        /// What was being done.
        doing: &'static str,
        /// To what.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// It may not be written.
    #[error("not allowed to {doing} `{place}`")]
    Denied {
        /// What was being done.
        doing: &'static str,
        /// To what.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// Something that is no file stands in the place of one.
    #[error("cannot {doing} `{place}`")]
    Replaced {
        /// What was being done.
        doing: &'static str,
        /// To what.
        place: String,
        /// What is there.
        source: io::Error,
    },
    /// A limit of this process on the size of files was reached.
    #[error("the limit on file sizes (`ulimit -f`) does not let Chronicle {doing} `{place}`")]
    Limited {
        /// What was being done.
        doing: &'static str,
        /// To what.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else that the system refused.
    #[error("cannot {doing} `{place}`")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        place: String,
        /// What the system said.
        source: io::Error,
    },
}

impl LedgerError {
    /// One thing to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "`chronicle runs` lists the runs there are".to_owned(),
            Self::Held { holder: Some(holder), place } if holder.is_here() => {
                format!("`chronicle pause{}` lets it rest", run_of(place))
            }
            Self::Held { holder: Some(holder), .. } => format!(
                "stop it on `{}`; only if that host is gone for good, `chronicle resume --force` takes the run",
                holder.host
            ),
            Self::Held { holder: None, .. } => "try again in a moment".to_owned(),
            Self::Fenced { .. } | Self::Stale { .. } => {
                "see who drives the run now with `chronicle status`".to_owned()
            }
            Self::Conflict { place, .. } | Self::Damaged { place, .. } => format!(
                "`chronicle repair{}` shows what is left, and goes on from there if you say so",
                run_of(place)
            ),
            Self::Artifact { .. } => "restore it from a copy".to_owned(),
            Self::UnknownKind { .. } | Self::NewerVersion { .. } => {
                "use a newer `chronicle`: a newer one wrote this run".to_owned()
            }
            Self::Poisoned { .. } => "`chronicle resume` opens the run afresh".to_owned(),
            Self::TooLarge { .. } | Self::Unwritable { .. } => {
                "report this with the output of `chronicle audit`".to_owned()
            }
            Self::Full { .. } => "make room, then `chronicle resume`".to_owned(),
            Self::Denied { place, .. } => format!("make `{place}` writable for you"),
            Self::Replaced { .. } => {
                "put the file back from a copy, or take away what is in its place".to_owned()
            }
            Self::Limited { .. } => "`ulimit -f unlimited`, then `chronicle resume`".to_owned(),
            Self::Unavailable { .. } => {
                "`chronicle resume` goes on once it can be reached again".to_owned()
            }
            Self::Io { .. } => "`chronicle doctor` looks at the disk".to_owned(),
        }
    }

    /// Sorts what the system said by what a person can do about it.
    pub fn io(doing: &'static str, place: impl Into<String>, source: io::Error) -> Self {
        let place = place.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::Full { doing, place, source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { doing, place, source }
            }
            // Of a file that must be regular (`regular.rs`).
            io::ErrorKind::InvalidInput => Self::Replaced { doing, place, source },
            io::ErrorKind::FileTooLarge if source.raw_os_error().is_some() => {
                Self::Limited { doing, place, source }
            }
            _ => Self::Io { doing, place, source },
        }
    }
}

/// The run that a path leads to, as people name it, with a space before it; nothing when there is none in it.
fn run_of(place: &str) -> String {
    let mut parts = Path::new(place).components().map(Component::as_os_str);
    let id = parts.find(|part| *part == "runs").and_then(|_| parts.next());
    let id = id.map(|id| RunId::new(id.to_string_lossy()));
    id.map_or_else(String::new, |id| format!(" {}", id.short()))
}

fn holder_words(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), Holder::to_string)
}
