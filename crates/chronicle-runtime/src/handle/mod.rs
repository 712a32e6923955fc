//! The door of the runtime: faces find runs, submit commands and watch views through it, and know nothing else.
//!
//! Runs are at the top: `runs.rs` finds them, `driven.rs` drives one in this process, `telling.rs` gives a person's command to
//! whoever drives it (or to its ledger when nobody does), `watching.rs` watches one that another process drives, `reading.rs` and
//! `handovers.rs` read, `files.rs` compares what runs did to the project's files and `undo.rs` puts them back, `witnesses.rs` finds a ledger that is not as it was left. What surrounds a run has a module
//! each: its definitions, trust in them, the agents, this machine, and what the binary itself is started as.

pub mod agents;
pub mod definitions;
mod driven;
mod files;
pub mod guard;
mod handovers;
mod leftovers;
pub mod machine;
mod merge;
pub mod programs;
mod reading;
mod repair;
mod replay;
mod runs;
pub mod signals;
mod telling;
pub mod threads;
pub mod trust;
mod undo;
mod watching;
mod witnesses;

use std::sync::Arc;

use chronicle_core::base::ids::AttemptId;
use chronicle_core::view::{RunView, TimelineEntry};
use thiserror::Error;

pub use crate::activity::{Activity, Bit, RunActivity};
pub use crate::clock::now;
pub use crate::driver::Finish;
pub use crate::inbox::{Asker, Remote, Rest};
pub use crate::ledger::{Holder, LedgerError};
pub use crate::link::{ANSWER_PATIENCE, LinkError, News, RunUpdate};
pub use crate::trees::{TreesError, is_damage, output_in};
pub use driven::{Driven, UPDATES_MAX, check_paths, drive};
pub use files::{
    DiffForm, Difference, Part, difference, make_room, recorded_bytes, recorded_bytes_at_rest, room,
};
pub use handovers::{handover, next_handover};
pub use leftovers::{discard, starting, sweep_unfinished, unstarted};
pub use merge::{
    Merged, OnlyCopy, Unmerged, WorkLeft, drop_work, is_own_gate, merge, remove_work, work_left,
};
pub use reading::{Audit, Follow, audit, elsewhere, follow, holder, is_supervised, row, view};
pub use repair::{Damage, Repaired, damage, repair};
pub use replay::{Replayed, replay};
pub use runs::{
    Claimed, FilesLock, FindError, Project, RunFolder, Waits, all_runs, by_change,
    continuing_run_id, find_run, forget_gone, gone_runs, mark_adopted, new_run, new_run_id,
    no_runs, older_runs, runs, was_begun,
};
pub use telling::{HandledBy, force, record, tell};
pub use undo::{
    Stays, UndoOrder, UndoPlan, Undoing, Undone, claim_files, finish_undo, half_undone, plan_undo,
    undo, undos,
};
pub use watching::{Watching, watch};

/// Why a run could not be driven, changed or read.
#[derive(Debug, Error)]
pub enum HandleError {
    /// The ledger could not be opened, read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The supervisor could not be asked.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The process that drives the run was stopped by a signal, and answered nobody.
    #[error("run {run} does not answer: a signal has stopped {holder}")]
    Stopped {
        /// Short id of the run.
        run: String,
        /// The process that drives it.
        holder: Box<Holder>,
    },
    /// A live process drives the run but cannot be reached.
    #[error("run {run} cannot be reached: it is driven by {holder}, which has no link")]
    Unreachable {
        /// Short id of the run.
        run: String,
        /// The process that drives it.
        holder: Box<Holder>,
    },
    /// The driver could not start, or failed.
    #[error("the driver of run {run} {why}")]
    Driver {
        /// Short id of the run.
        run: String,
        /// The error, for people.
        why: String,
    },
    /// The system gave no thread, so nothing was started and nothing written.
    #[error("run {run} cannot be driven: no thread can be started")]
    NoThread {
        /// Short id of the run.
        run: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The ledger and the agents name this path, and both know text alone.
    #[error("the path `{}` is not valid UTF-8", path.display())]
    NotText {
        /// The project's folder, or our own executable.
        path: std::path::PathBuf,
    },
    /// The files of a run could not be compared, recorded or restored.
    #[error(transparent)]
    Trees(#[from] TreesError),
    /// There is no such tree.
    #[error("{what}")]
    NoTree {
        /// The place, attempt or line without a tree.
        what: String,
        /// Places that have trees.
        known: Vec<String>,
    },
    /// Changes of a person would be lost.
    #[error("these files were changed since: {}", files.join(", "))]
    AtStake {
        /// The first of those files.
        files: Vec<String>,
    },
    /// Another run works on the project's files.
    #[error("run {run} is working on the project's files")]
    Busy {
        /// Short id of the other run.
        run: String,
    },
    /// An undo was killed: the files are neither as before nor as requested.
    #[error(
        "the undo of `{what}` in run {run} was interrupted: some files are restored and others are not"
    )]
    HalfUndone {
        /// Short id of the run that it belongs to.
        run: String,
        /// Whose work was being undone.
        what: String,
    },
    /// The merge of a run was killed: the project has some of its files and others not.
    #[error(
        "the merge of run {run} was interrupted: the project has some of its files, and others not"
    )]
    HalfMerged {
        /// Short id of the run that is merged.
        run: String,
    },
    /// The engine refused the command.
    #[error("{why}")]
    Refused {
        /// The refusal, which says what would be accepted.
        why: String,
    },
    /// No line of the ledger is intact.
    #[error("run {run} cannot be repaired: no line of its ledger is whole ({why})")]
    NothingWhole {
        /// Short id of the run.
        run: String,
        /// What is wrong with the first line.
        why: String,
    },
    /// There is a folder but no run in it.
    #[error("run {run} has no first line: it never started")]
    NotStarted {
        /// Short id of the run.
        run: String,
    },
    /// No worker got a handover, or not the requested one.
    #[error("{}", nothing_told(run, *attempt))]
    NothingTold {
        /// Short id of the run.
        run: String,
        /// The requested attempt; `None` for any.
        attempt: Option<AttemptId>,
    },
    /// There is no next worker.
    #[error("run {run} has no next handover: {why}")]
    NobodyNext {
        /// Short id of the run.
        run: String,
        /// Why no worker would start now.
        why: String,
    },
}

fn nothing_told(run: &str, attempt: Option<AttemptId>) -> String {
    match attempt {
        Some(attempt) => format!("run {run} has no attempt `{attempt}` that has a handover"),
        None => format!("in run {run} no worker has a handover yet"),
    }
}

/// What a watcher receives once it is synced.
#[derive(Debug, Clone)]
pub enum Update {
    /// New events, in order.
    Happened(Vec<TimelineEntry>),
    /// The view after those events.
    Now(Arc<RunView>),
}
