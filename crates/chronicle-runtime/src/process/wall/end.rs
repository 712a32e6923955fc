//! How it ends: the wall that does not stand, and the program behind one that does.

use std::io;

use thiserror::Error;

use super::WallRefusal;

/// Why there is no wall.
#[derive(Debug, Error)]
pub enum WallError {
    /// It cannot be put up as it was asked for.
    #[error("{0}")]
    Refused(WallRefusal),
    /// Our own program could not be started, or did not answer.
    #[error("the wall did not answer")]
    Silent(#[source] io::Error),
}

/// How a program behind a wall ended. Nothing of it is left, where namespaces hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WallEnd {
    /// It ran and ended.
    Ended {
        /// Its exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
        /// Processes that it left, and that had to be ended.
        strays: u32,
    },
    /// It could not be started.
    CannotStart {
        /// Why, naming the program.
        text: String,
    },
    /// The wall itself was killed, with everything behind it.
    Killed,
}
