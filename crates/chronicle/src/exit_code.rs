//! Every exit code of `chronicle`, with its meaning. Stable: scripts depend on them.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// The run failed or was cancelled.
    RunFailed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// A definition is invalid.
    Definition = 3,
    /// The run waits for a person.
    Waiting = 4,
    /// Another supervisor has the run.
    Held = 5,
    /// What is recorded of a run is damaged, gone, or of a newer version: its ledger, its folder or its files.
    Damaged = 6,
    /// Chronicle could not do its own work.
    Internal = 70,
    /// The run was paused or stopped from the keyboard.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
