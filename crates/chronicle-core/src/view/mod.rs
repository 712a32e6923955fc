//! What people see of a run: pure functions of its state, the same for every face.
//!
//! `run` is one run, `list` a row of many, `timeline` what a line says, `trees` what changed in the project's files, `handover` and
//! `notice` what workers and people are told, `run_json` the file that tools of the older format read; `graph` draws a workflow.
//! Faces never look into the state; what they lack is added here.
//!
//! Views cross processes: each is read back from its JSON as it was. `RunView`, `NoticeView` and `HandoverView` carry their version;
//! rows and entries are versioned by what they come in.

mod attempt;
mod budget;
mod gate;
pub mod graph;
mod handover;
mod list;
mod notice;
mod run;
mod run_json;
mod timeline;
mod trees;
mod wait;

pub use crate::words::{Breadcrumb, Mark};
pub use attempt::AttemptRow;
pub use budget::BudgetRow;
pub use gate::GateRow;
pub use handover::{HandoverView, handover};
pub use list::{RunRow, row};
pub use notice::{NoticeView, notice};
pub use run::{PhaseRow, RunView, Spent, run};
pub use run_json::run_json;
pub use timeline::{TimelineEntry, timeline};
pub use trees::{Span, Spans, TreeBook, UndoRow};
pub use wait::WaitRow;

/// The version of every view's JSON. It rises when a field changes its meaning or goes. A field that comes does not raise it:
/// readers pass over what they do not know.
pub const VIEW_VERSION: u32 = 2;

/// A view that a newer Chronicle made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "these are views of version {found}, and this Chronicle reads up to {VIEW_VERSION}: update it"
)]
pub struct NewerView {
    /// Its version.
    pub found: u32,
}

/// Whether views of that version mean here what they say.
pub fn check_version(found: u32) -> Result<(), NewerView> {
    if found > VIEW_VERSION { Err(NewerView { found }) } else { Ok(()) }
}
