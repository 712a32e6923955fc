//! What was asked: the model of a workflow, and how files become one.
//!
//! ```text
//! text ─► from_*.rs ─► Draft (what the file said) ─► check/ (the one judge) ─► Workflow + problems
//! ```
//!
//! A reader (`from_native.rs`; one file per format) only reshapes: it may not judge, so that every format is held to the
//! same rules and told about them in the same words. `check/` may not read text: it knows nodes and their spans. `load`
//! follows sub-workflows and puts everything together. `format/` is the table of every field, from which the checker reads
//! and the schema and the reference are made. All of it is bounded and total: no text makes it panic.
//!
//! Start reading at `load.rs`, then `draft.rs` and `check/mod.rs`.

mod check;
mod draft;
mod format;
mod from_native;
mod load;
mod model;
mod problem;
mod suggest;
mod yaml;

pub use check::{Unsupported, unbounded, unsupported};
pub use format::{reference, schema};
pub use load::{Loaded, Source, load};
pub use model::*;
pub use problem::{Problem, Severity};
pub use suggest::closest;
pub use yaml::FILE_MAX;
