//! Starts a face's threads: one that cannot be started is an error, never a panic.

pub use crate::threads::{spawn, spawn_in};
