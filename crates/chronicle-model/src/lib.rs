//! A model that says what a script tells it, so that real agents can be tested without a real model.
//!
//! [`Server`] listens on loopback and speaks what the agents speak: one file in `wire/` per protocol, all of them
//! translating to and from the same [`Turn`] and [`Asked`]. What is played stands in a [`Script`]; what was asked is kept
//! as [`Request`]s, so that a test can say which history, tools and system prompt the model was sent.
//!
//! `real/` starts the published agents in private homes, for tests and for `cargo xtask record`.
//!
//! Nothing here ships: the `chronicle` binary does not depend on this crate.

mod fill;
mod http;
mod script;
mod server;
mod stage;
mod wire;

pub mod real;

pub use script::{
    Conversation, Failure, FailureKind, Script, ScriptError, ScriptedCall, ScriptedUsage, Stall,
    StallAt, Stop, Turn, When,
};
pub use server::Server;
pub use stage::{Outcome, Request};
pub use wire::{Asked, Called, ChatMessage, Role, ToolResult};
