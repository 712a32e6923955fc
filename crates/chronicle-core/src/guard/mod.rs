//! Guards: judges a tool call before it runs, by what no worker may do, by the lists of its phase and by the rules in force.
//!
//! ```text
//! call ─► look ─► Looked (what it would run and touch) ─► the runtime finds out where its paths lead ─► CallFacts
//!                 Compiled (rules, once per attempt) + Tools (lists) + call + CallFacts ─► judge ─► Judgement
//! ```
//!
//! Nothing here reads a file, so a verdict depends on its inputs alone. It fails closed: what cannot be known is asked about, a
//! path that was not looked up too, and a pattern that takes too long as well. Everything is bounded.
//!
//! Start reading at `judge.rs`, then `facts.rs` (what it judges by), `path_rules.rs`, `paths.rs` and `texts.rs` (how rules are matched) and
//! `protected.rs` (what no rule may allow).

pub mod acts;
mod aliases;
mod assembled;
mod called;
mod code;
mod code_words;
mod commanded;
mod compiled;
mod escapes;
mod facts;
mod fed;
mod folders;
mod foreign;
mod given;
mod globs;
mod joined;
mod judge;
mod judgement;
mod landings;
mod launched;
mod links;
mod literals;
mod look;
mod made;
mod patch_forms;
mod path_rules;
mod paths;
mod pathspecs;
mod perhaps;
mod processes;
mod protected;
mod quotes;
mod repositories;
mod sieve;
mod statements;
mod taken;
mod texts;
mod variants;

pub use compiled::Compiled;
pub use facts::{AskedCall, CallFacts, Looked, PathSeen, Whereabouts};
pub use folders::{FolderSeen, WholeFolder};
pub use globs::class_end;
pub use judge::judge;
pub use judgement::{Judgement, RuleKind, RuleRef};
pub use look::look;
pub use path_rules::broken_by;
pub use protected::{GUARDS, PROTECTED};
pub use sieve::{KnownToGit, Sieve};
