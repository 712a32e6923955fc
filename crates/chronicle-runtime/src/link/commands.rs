//! Which commands cross the link. Both sides use this list, and there is no other.

use chronicle_core::event::input::Command;

/// Why a person cannot give this command to a driven run; `None` if they can. A new command must be listed here before it
/// compiles.
pub(crate) fn barred(command: &Command) -> Option<&'static str> {
    match command {
        Command::Pause { .. }
        | Command::Resume
        | Command::Cancel { .. }
        | Command::Approve { .. }
        | Command::Reject { .. }
        | Command::Retry { .. }
        | Command::Skip { .. }
        | Command::Answer { .. }
        | Command::Note { .. }
        | Command::Budget { .. }
        | Command::Loops { .. }
        | Command::Go { .. } => None,
        Command::Start(_) | Command::Prepare(_) => {
            Some("this run has already started: only its own supervisor starts a run")
        }
        // Both trees are taken while nobody works on the files: only who holds the run's lock can know that.
        Command::Undo { .. } => {
            Some("files can be restored only while the run is not being driven: pause it first")
        }
        Command::Repair(_) => {
            Some("a ledger can be repaired only while the run is not being driven")
        }
        Command::Rewind { .. } => {
            Some("a run can be rewound only while it is not being driven: pause it first")
        }
        Command::Signal { .. } => Some("only a worker of this run can signal, with its own secret"),
    }
}
