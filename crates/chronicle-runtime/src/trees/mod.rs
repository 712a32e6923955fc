//! Trees: the project's files, recorded as git trees in a repository of our own, `.chronicle/trees.git`.
//!
//! Start reading at [`Trees::record`]. The person's repository is only ever read, and only for what it ignores; its index,
//! references, hooks, filters and settings take no part. Files are kept byte for byte.
//!
//! Nothing here can be left locked: each recording works on a copy of the index under a name of its own, and puts it in its
//! place once it is whole. What a killed git leaves behind is swept away by the next recording, under a lock of the system
//! that dies with its holder.
//!
//! No git ever writes into the project: what is put back is written beside first, and moved into its place by this process.
//! So nothing changes there any more once this process is dead, and its gits die with it.
//!
//! Named limits: empty folders are not files, and a nested repository's own list of excludes does not count.

mod blobs;
mod config;
mod diff;
mod excludes;
mod found;
mod git;
mod head;
mod ignored;
mod merge;
mod modes;
mod names;
mod pipes;
mod record;
mod repository;
mod restore;
mod room;
mod rules;
mod staged;
mod unrecorded;
mod whole;
mod whose;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::TreeId;
use thiserror::Error;

use crate::process::Cut;
use crate::project::NoSuchFolder;
use crate::regular;

pub use diff::DiffForm;
pub(crate) use excludes::Excludes;
pub(crate) use git::{NewRepository, ask_theirs, files_of_theirs};
pub(crate) use head::{head, moved};
pub use merge::Planned;
pub(crate) use names::shown;
pub(crate) use room::Room;
pub use whose::output_in;
pub(crate) use whose::{Whose, own_outputs, touched_at};

pub use write::FilesWritten;

use git::Git;

/// Longest file of our own beside an index, in bytes.
const OWN_MAX: u64 = 512 * 1024 * 1024;

/// The trees of one project, for one folder of work.
#[derive(Debug)]
pub struct Trees {
    git: Git,
    excludes: Excludes,
    /// Root of the project, whose ignore rules count in each of its work folders too.
    project: PathBuf,
    /// Name of the index: each folder has its own.
    index: String,
    /// The tree that a work folder was made from; `None` for the project's own folder.
    base: Option<TreeId>,
    /// File that lists what was ignored when the run began; `None` if the trees belong to no run.
    ignored: Option<PathBuf>,
    /// Larger files are not recorded.
    max_bytes: u64,
}

/// Why trees are not available, or not this one.
#[derive(Debug, Error)]
pub enum TreesError {
    /// Git is not installed.
    #[error("git cannot be started")]
    NoGit(#[source] io::Error),
    /// Git ran and reported an error.
    #[error("git could not {what}: {why}")]
    Git {
        /// What it was asked to do, as a verb.
        what: &'static str,
        /// The last line of its stderr.
        why: String,
    },
    /// A named pipe is in the place of a file that git reads.
    #[error("{}", pipe_words(_0.as_deref()))]
    Pipe(Option<PathBuf>),
    /// The run was told to rest while git was at work.
    #[error("git was ended, since the run was to rest and git took too long")]
    GivenUp,
    /// Our repository lacks something that was recorded.
    #[error("{DAMAGED} in `{}`: git could not {what}: {why}", path.display())]
    Damaged {
        /// Path of the repository that git was asked about.
        path: PathBuf,
        /// What git was asked to do, as a verb.
        what: &'static str,
        /// The last line of its stderr.
        why: String,
    },
    /// A file of ours could not be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// The file that failed.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The tree no longer exists.
    #[error("tree {0} is not there any more: `chronicle gc` may have removed it")]
    Gone(String),
    /// The folder whose files are meant does not exist.
    #[error(transparent)]
    NoFolder(NoSuchFolder),
}

/// How the error of a damaged repository begins, wherever it is told.
const DAMAGED: &str = "recorded files are damaged or incomplete";

/// True if the error of an undo says that what was recorded is damaged.
pub fn is_damage(error: &str) -> bool {
    error.starts_with(DAMAGED)
}

fn pipe_words(path: Option<&Path>) -> String {
    let path = path.map(|path| format!(", `{}`: remove it", path.display()));
    format!("git would wait without end for a named pipe{}", path.unwrap_or_default())
}

impl Trees {
    /// The error for a git that was ended before its time, if one was since this was asked last.
    pub(crate) fn ended_early(&self) -> Result<(), TreesError> {
        self.git.ended_early()
    }
}

impl TreesError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match pipes::strange_above(&path) {
            Some((dir, strange)) => Self::strange(dir, &strange),
            None => Self::Io { path, source },
        }
    }

    /// The error for something in our repository that is neither a file nor a folder, or one in place of the other.
    fn strange(dir: PathBuf, strange: &Path) -> Self {
        let kind =
            std::fs::symlink_metadata(strange).map_or("something else", |it| regular::kind(&it));
        let why =
            format!("`{}` is {kind}, and nobody but Chronicle writes there", strange.display());
        Self::Damaged { path: dir, what: "use its own files", why }
    }

    /// The error for a folder of somebody else's in the place of our repository.
    fn in_the_way(dir: &Path) -> Self {
        let why = format!(
            "`{}` is a folder with something else in it, and nobody but Chronicle writes there: move it away",
            dir.display()
        );
        Self::Damaged { path: dir.to_owned(), what: "use its own files", why }
    }

    /// The error for a git that was ended before its time.
    pub(crate) fn cut(cut: Cut) -> Self {
        match cut {
            Cut::Pipe => Self::Pipe(None),
            Cut::GivenUp => Self::GivenUp,
        }
    }

    /// The whole error chain in one line, for the ledger.
    pub fn told(&self) -> String {
        chain(self)
    }
}

/// An error with all its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
