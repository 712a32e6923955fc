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
//! So nothing changes there any more once this process is dead. The gits of an undo die with it too; that of a recording
//! reads on until it has read the names that were sent to it, and ends then.
//!
//! Named limits: empty folders are not files, and a nested repository's own list of excludes does not count.

mod diff;
mod excludes;
mod found;
mod git;
mod head;
mod ignored;
mod modes;
mod names;
mod record;
mod repository;
mod restore;
mod room;
mod whose;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use diff::Form;
pub(crate) use excludes::Excludes;
pub(crate) use head::{head, moved};
pub(crate) use names::shown;
pub(crate) use room::Room;
pub(crate) use whose::{Whose, touched_at};

use git::Git;

/// The trees of one project, for one folder of work.
#[derive(Debug)]
pub struct Trees {
    git: Git,
    excludes: Excludes,
    /// What is ours and never part of a tree.
    definitions: PathBuf,
    /// Where it is kept what was ignored when the run began; none if the trees are of no run.
    ignored: Option<PathBuf>,
    /// Files with more bytes are not recorded.
    max_bytes: u64,
}

/// Why there are no trees, or not this one.
#[derive(Debug, Error)]
pub enum TreesError {
    /// There is no git.
    #[error("git cannot be started")]
    NoGit(#[source] io::Error),
    /// Git said no.
    #[error("git could not {what}: {why}")]
    Git {
        /// What it was asked to do.
        what: &'static str,
        /// What it said.
        why: String,
    },
    /// A file of ours could not be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The tree is gone.
    #[error("tree {0} is not there any more: `chronicle gc` may have removed it")]
    Gone(String),
}

impl TreesError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// The whole story in one line, for a ledger.
    pub(crate) fn told(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    }
}
