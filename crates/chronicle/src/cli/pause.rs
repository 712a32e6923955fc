//! `chronicle pause`: stops the workers of a run.

use chronicle_core::event::input::Command;
use clap::Args;

use super::meant::{Among, Rest};
use super::{Setting, answer, tell};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Pause a run; its workers are stopped, their sessions are kept
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle pause [OPTIONS] [RUN] [REASON]",
    after_help = "Example:  chronicle pause 5f3a9c1e \"lunch\"   then: chronicle resume 5f3a9c1e"
)]
pub(super) struct PauseArgs {
    /// The run, unless there is only one, and why
    #[arg(value_name = "[RUN] [REASON]")]
    words: Vec<String>,
}

pub(super) fn cmd_pause(setting: &Setting, args: &PauseArgs) -> Result<Exit, Failure> {
    let (folder, words) = answer::meant(setting, &args.words, Among::Open, Rest::Optional)?;
    // Before the pause is recorded: a process that waits for the project's files must not resume the run right after it.
    let cannot = |error| Failure::internal("nobody can be told to stop waiting", &error);
    if folder.stop_waiting().map_err(cannot)? {
        terminal::talk(&format!(
            "Run {} does not wait for the project's files any more.",
            folder.id.short()
        ));
    }
    tell::tell(setting, &folder, &Command::Pause { reason: words.join(" ") })
}
