//! The model server as clients see it, and the real agents against it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents_claude;
mod agents_pi;
mod anthropic;
mod chat;
mod client;
mod recordings;
mod server;
