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
            Some("this run has begun already: a run is started by whoever drives it")
        }
        // Both trees are taken while nobody works on the files: only who holds the run's lock can know that.
        Command::Undo { .. } => {
            Some("files are put back while nobody drives the run: pause it first")
        }
        Command::Repair(_) => Some("a ledger is repaired while nobody drives the run"),
        Command::Rewind { .. } => {
            Some("a run is taken back while nobody drives it: pause it first")
        }
        Command::Signal { .. } => Some("only a worker of this run can signal, with its own secret"),
    }
}
