//! Views: what people see of a run, as pure functions of its state, the same for every face.
//!
//! `run` is one run, `list` a row of many, `timeline` the text of a line, `trees` changes of the project's files, `handover` and
//! `notice` what workers and people are told, `run_json` the file for tools of the older format; `graph` draws a workflow. Faces
//! never look into the state; what they lack is added here.
//!
//! Views cross process boundaries: each can be read back from its JSON. `RunView`, `NoticeView` and `HandoverView` carry their
//! version; rows and entries share the version of what contains them.

mod apart;
mod attempt;
mod budget;
mod fallback;
mod gate;
pub mod graph;
mod guard;
mod handover;
mod list;
mod notice;
mod permission;
mod phase;
mod pool;
mod proof;
mod run;
mod run_json;
mod timeline;
mod trees;
mod wait;
mod walls;

pub use crate::words::{Breadcrumb, Mark};
pub use apart::ApartRow;
pub use attempt::AttemptRow;
pub use budget::BudgetRow;
pub use fallback::FallbackRow;
pub use gate::{GateRow, UnclearGate};
pub use guard::{ForbiddenRow, GuardFileRow, GuardsRow};
pub use handover::{HandoverView, handover};
pub use list::{RunRow, row};
pub use notice::{NoticeView, notice};
pub use permission::{CallRow, GrantRow};
pub use phase::PhaseRow;
pub use pool::{FolderRow, PoolRow, RaceRow, StepRow};
pub use proof::UnprovenRow;
pub use run::{RunView, Spent, run};
pub use run_json::run_json;
pub use timeline::{TimelineEntry, timeline};
pub use trees::{Span, Spans, TreeBook, UndoRow};
pub use wait::WaitRow;
pub use walls::WallsRow;

/// Version of every view's JSON. It is raised when a field changes its meaning or is removed. New fields do not raise it: readers
/// ignore unknown ones.
pub const VIEW_VERSION: u32 = 2;

/// A view that was made by a newer Chronicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "these are views of version {found}, and this Chronicle reads up to {VIEW_VERSION}: update it"
)]
pub struct NewerView {
    /// The version that was found.
    pub found: u32,
}

/// Checks that views of that version can be read here.
pub fn check_version(found: u32) -> Result<(), NewerView> {
    if found > VIEW_VERSION { Err(NewerView { found }) } else { Ok(()) }
}
