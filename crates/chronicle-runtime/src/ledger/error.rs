//! Errors of the ledger, in words for people.

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
        /// What is missing, and where: "run folder at `…`".
        what: String,
    },
    /// Another live writer holds the lock.
    #[error("the run at `{place}` is held by {}", holder_words(holder.as_deref()))]
    Held {
        /// Path of the run's folder, or its name in another backend.
        place: String,
        /// The holder; `None` if it has not written its name yet.
        holder: Option<Box<Holder>>,
    },
    /// Another writer took the lock away from this one.
    #[error("the lock of `{place}` was taken by another writer")]
    Fenced {
        /// Path of the run's folder, or its name in another backend.
        place: String,
    },
    /// The ledger and its lock were removed while this writer held them.
    #[error("the run's folder is gone: `{place}` was removed while the run was being driven")]
    Gone {
        /// Path of the ledger.
        place: String,
    },
    /// The ledger alone was removed while this writer held its lock.
    #[error("the ledger `{place}` was removed while the run was being driven")]
    Removed {
        /// Path of the ledger.
        place: String,
    },
    /// The ledger was changed outside of Chronicle.
    #[error("the ledger `{place}` is other than it was left: {why}")]
    Conflict {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// What differs from what was written.
        why: String,
    },
    /// The folder is a copy of another run's.
    #[error("the ledger `{place}` is that of run {run}: its folder was copied under another name")]
    Copied {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// Id of the run that the ledger is of.
        run: String,
        /// Path of the run's folder, and of the one where that run belongs.
        folders: [String; 2],
        /// True if the original is where it belongs.
        has_original: bool,
    },
    /// A writer would start before the end of the ledger.
    #[error("the ledger `{place}` continues after line {seq}, the last one read")]
    Stale {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// The last line that was read.
        seq: u64,
    },
    /// A line differs from what was written.
    #[error("the ledger `{place}` is damaged in line {line}, at {spot}: {why}")]
    Damaged {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// The line, from 1.
        line: u64,
        /// Position of that line, in the backend's terms: "byte 0".
        spot: String,
        /// What is wrong with it.
        why: String,
    },
    /// A complete line has an event or value of a newer Chronicle. The run can be read up to it, but not written.
    #[error("line {line} of the ledger `{place}` says `{kind}`, which this version does not know")]
    UnknownKind {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// The line, from 1.
        line: u64,
        /// The unknown event kind, or the unknown value inside of one.
        kind: String,
    },
    /// A complete line has a version that this Chronicle would misjudge.
    #[error(
        "line {line} of the ledger `{place}` is of version {version}, this Chronicle reads up to {VERSION}"
    )]
    NewerVersion {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// The line, from 1.
        line: u64,
        /// `v` of that line.
        version: u32,
    },
    /// An earlier write of this writer failed, so it cannot know what is on disk.
    #[error("nothing more is written to `{place}`, since an earlier write failed")]
    Poisoned {
        /// Path of the run's folder, or its name in another backend.
        place: String,
    },
    /// Something is too large to be written.
    #[error("{what} for `{place}` has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Path of the run's folder, or its name in another backend.
        place: String,
        /// A line or an artifact.
        what: &'static str,
        /// Size of the rejected data.
        bytes: usize,
        /// Largest allowed size, in bytes.
        limit: usize,
    },
    /// A line cannot be serialized as JSON.
    #[error("line {seq} for `{place}` cannot be written")]
    Unwritable {
        /// Path of the run's folder, or its name in another backend.
        place: String,
        /// Number of the line that was not written.
        seq: u64,
        /// The error of the serializer.
        source: serde_json::Error,
    },
    /// An artifact is missing, or its content does not match its sum.
    #[error("the artifact `{id}` of `{place}` {why}")]
    Artifact {
        /// Path of the run's folder, or its name in another backend.
        place: String,
        /// Sum that the ledger refers to.
        id: ArtifactId,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The backend did not answer. The call may have taken effect and can be repeated.
    #[error("the ledger `{place}` cannot be reached: {what}")]
    Unavailable {
        /// Path of the ledger, or its name in another backend.
        place: String,
        /// The backend's own error, for people.
        what: String,
    },
    /// The disk is full.
    #[error("no room on the disk to {doing} `{place}`")]
    Full {
        /// What failed, as a verb: "write".
        doing: &'static str,
        /// Path of the file or folder.
        place: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file may not be read or written.
    #[error("not allowed to {doing} `{place}`")]
    Denied {
        /// What failed, as a verb: "write".
        doing: &'static str,
        /// Path of the file or folder.
        place: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Something other than a regular file is in the place of one.
    #[error("cannot {doing} `{place}`")]
    Replaced {
        /// What failed, as a verb: "open".
        doing: &'static str,
        /// Path of the file or folder.
        place: String,
        /// The error that says what is there.
        source: io::Error,
    },
    /// The process hit a limit on file sizes.
    #[error("the limit on file sizes (`ulimit -f`) does not let Chronicle {doing} `{place}`")]
    Limited {
        /// What failed, as a verb: "write".
        doing: &'static str,
        /// Path of the file or folder.
        place: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Any other error of the operating system.
    #[error("cannot {doing} `{place}`")]
    Io {
        /// What failed, as a verb: "open".
        doing: &'static str,
        /// Path of the file or folder.
        place: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl LedgerError {
    /// One thing to do next, for people.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "`chronicle runs` lists the runs there are".to_owned(),
            // On this machine the holder can be asked to pause. A holder elsewhere cannot be reached from here, and taking its
            // lock is a decision that only a person who knows that machine can make.
            Self::Held { holder: Some(holder), .. } if holder.is_stopped() => {
                format!(
                    "it was stopped by a signal; `kill -CONT {}` lets it continue, or `fg` in its own terminal",
                    holder.pid
                )
            }
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
            Self::Gone { .. } => {
                "restore the folder from a copy, then `chronicle resume`; without one the run is lost"
                    .to_owned()
            }
            Self::Removed { .. } => {
                "put the file back from a copy, then `chronicle resume`; without one the run is lost"
                    .to_owned()
            }
            Self::Conflict { place, .. } | Self::Damaged { place, .. } => format!(
                "`chronicle repair{}` shows what is left, and continues from there if you agree",
                run_of(place)
            ),
            Self::Copied { folders: [copy, _], has_original: true, .. } => {
                format!("`rm -r '{copy}'` removes the copy")
            }
            Self::Copied { folders: [copy, original], .. } => {
                format!("`mv '{copy}' '{original}'` gives it its name back")
            }
            Self::Artifact { .. } => "restore it from a copy".to_owned(),
            Self::UnknownKind { .. } | Self::NewerVersion { .. } => {
                "use a newer `chronicle`: a newer one wrote this run".to_owned()
            }
            Self::Poisoned { .. } => "`chronicle resume` opens the run again".to_owned(),
            Self::TooLarge { .. } | Self::Unwritable { .. } => {
                "report this with the output of `chronicle audit`".to_owned()
            }
            Self::Full { .. } => "make room, then `chronicle resume`".to_owned(),
            Self::Denied { place, .. } => format!("make `{place}` writable for you"),
            Self::Replaced { .. } => {
                "put it back from a copy, or take away what is in its place".to_owned()
            }
            Self::Limited { .. } => "`ulimit -f unlimited`, then `chronicle resume`".to_owned(),
            Self::Unavailable { .. } => {
                "`chronicle resume` continues once it can be reached again".to_owned()
            }
            Self::Io { source, .. } if is_out_of_files(source) => {
                "raise the limit that `ulimit -n` shows, then type the same again".to_owned()
            }
            Self::Io { .. } => "`chronicle doctor` looks at the disk".to_owned(),
        }
    }

    /// Classifies an error of the operating system by what a person can do about it.
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
            // Only the error of the system means `ulimit -f`. Our own checks of sizes use the same kind without an error
            // number.
            io::ErrorKind::FileTooLarge if source.raw_os_error().is_some() => {
                Self::Limited { doing, place, source }
            }
            _ => Self::Io { doing, place, source },
        }
    }
}

/// True if this process, or the machine, may open no more files.
fn is_out_of_files(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(number, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// The run that a path belongs to, as people name it, with a leading space; empty if there is none.
fn run_of(place: &str) -> String {
    let mut parts = Path::new(place).components().map(Component::as_os_str);
    let id = parts.find(|part| *part == "runs").and_then(|_| parts.next());
    let id = id.map(|id| RunId::new(id.to_string_lossy()));
    id.map_or_else(String::new, |id| format!(" {}", id.short()))
}

fn holder_words(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), Holder::to_string)
}
