//! What people see of a run: pure functions of its state, the same for every face.
//!
//! `run` is one run, `list` a row of many, `timeline` what happened since a cursor, `run_json` the file that tools of the
//! older format read; `graph` draws a workflow. Faces never look into the state; what they lack is added here.

pub mod graph;
mod handover;
mod list;
mod notice;
mod run;
mod run_json;
mod timeline;
mod trees;

pub use crate::words::{Breadcrumb, Mark};
pub use handover::{HandoverView, handover};
pub use list::{RunRow, row};
pub use notice::{NoticeView, notice};
pub use run::{AttemptRow, BudgetRow, GateRow, PhaseRow, RunView, Spent, WaitRow, run};
pub use run_json::run_json;
pub use timeline::{TimelineEntry, timeline};
pub use trees::{Span, TreeBook};

/// The version of every view's JSON. It rises when a field changes its meaning or goes.
pub const VIEW_VERSION: u32 = 1;
