//! Words about what is done on the way out of a phase.

use super::{agent_name, one_line};
use crate::base::limits::TEXT_MAX;
use crate::base::quote::excerpt;
use crate::definition::workflow::Phase;
use crate::event::{AttemptStarted, Chore, Duty};
use crate::state::CheckFailure;

/// Between a command and its output.
const FAILED: &str = "` failed: ";

pub(super) fn started(intent: &AttemptStarted, chore: &Chore) -> String {
    let what = match chore.duty {
        Duty::Verify => "verifies",
        Duty::Cleanup => "cleans up",
    };
    let commands: Vec<String> =
        chore.commands.iter().map(|it| format!("`{}`", one_line(it))).collect();
    format!("{} {what} `{}`: {}", intent.attempt, intent.shown_place(), commands.join(", "))
}

/// Who or what an attempt is done by.
pub fn performer(intent: &AttemptStarted) -> &str {
    match intent.chore.as_ref().map(|chore| chore.duty) {
        Some(Duty::Verify) => "verify",
        Some(Duty::Cleanup) => "cleanup",
        None => agent_name(&intent.agent),
    }
}

/// What found the work wanting.
pub(crate) fn unverified(failure: &CheckFailure) -> String {
    let (command, output) = match failure {
        CheckFailure::Ended(end) => return super::end(end),
        CheckFailure::Command { command, output } => (one_line(command), output),
    };
    match output.trim() {
        "" => format!("`{command}` failed"),
        output => {
            // The command is kept whole and its output is cut: whoever reads it has to know which check failed.
            let room = TEXT_MAX.saturating_sub(command.len() + FAILED.len());
            format!("`{command}{FAILED}{}", excerpt(output, room))
        }
    }
}

/// Nobody knows whether the work is right.
pub(crate) fn cannot_verify(phase: &Phase, failure: &CheckFailure) -> String {
    let (name, how) = (&phase.name, unverified(failure));
    format!(
        "`{name}` was reported done, and its `verify` {how}. `retry` verifies it again, {} without",
        super::goes_on(phase)
    )
}

/// Nobody could put it right.
pub(crate) fn stays_unverified(phase: &Phase, said: &str) -> String {
    format!("`{}` was reported done but failed verification: {said}", phase.name)
}
