//! What was asked: the model of a workflow, and how files become one.
//!
//! ```text
//! text ─► from_*.rs ─► Draft (what the file said) ─► check/ (the one judge) ─► Workflow + problems
//! ```
//!
//! A reader (`from_*.rs`; one file per format) only reshapes, so that every format is held to the same rules and told about
//! them in the same words; it judges no more than what its format alone demands. `check/` may not read text: it knows nodes
//! and their spans. `format/` is the table of every field, by which the checker reads and from which the schema and the
//! reference are made. `unit.rs` reads one definition with the files of its phases, `load.rs` follows sub-workflows and puts
//! everything together. All of it is bounded and total: no text makes it panic.
//!
//! Start reading at `unit.rs`, then `load.rs`, `draft.rs` and `check/mod.rs`.

mod chain_lines;
pub(crate) mod check;
pub(crate) mod draft;
mod ends;
mod expand;
mod fallback;
mod fill;
mod format;
mod from_chain;
mod from_native;
mod from_phased;
mod from_template;
mod load;
mod model;
mod nested;
mod offline;
mod people;
mod pool;
pub(crate) mod problem;
pub(crate) mod restrict;
mod steps;
pub(crate) mod suggest;
mod targets;
mod tools;
mod unit;
pub(crate) mod yaml;

pub use check::{NOT_SUPPORTED_YET, Unsupported, unbounded, unsupported};
pub use expand::{MERGE_VERIFY, RACE_JUDGE, SETUP, WORK, derived_key, expand_pools, racers_with};
pub use fallback::agent_and_model;
pub use fill::VERIFY;
pub use format::{reference, schema};
pub use load::{FieldAt, Known, Loaded, Source, assemble, load};
pub use model::*;
pub use offline::{Offline, offline};
pub use people::KnownPersonas;
pub use pool::*;
pub use problem::{Problem, Severity};
pub use steps::{judge_steps, parse_steps, steps_from_json};
pub use suggest::closest;
pub use targets::{allowed_targets, is_left_by_verdict, is_skippable, only_target};
pub use tools::{READ_ONLY, Tools, is_denied, is_named};
pub use unit::{Files, Format, Trouble, Unit, read, read_chains, read_chains_upon, read_upon};
pub use yaml::FILE_MAX;

// Settings are told about in the same words.
pub(crate) use check::{decimal, duration_ms};
pub(crate) use draft::Span;
pub(crate) use problem::{Finding, Problems, quoted};
