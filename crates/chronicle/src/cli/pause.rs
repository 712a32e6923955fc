//! `chronicle pause`.

use chronicle_core::event::input::Command;
use clap::Args;

use super::{Setting, answer};
use crate::exit_code::Exit;
use crate::failure::Failure;

/// Stop a run for a while; its workers end, their sessions stay
#[derive(Debug, Args)]
#[command(
    after_help = "Example:  chronicle pause 5f3a9c1e \"lunch\"   then: chronicle resume 5f3a9c1e"
)]
pub(super) struct PauseArgs {
    /// The run
    run: String,
    /// Why
    #[arg(default_value = "")]
    reason: String,
}

pub(super) fn cmd_pause(setting: &Setting, args: PauseArgs) -> Result<Exit, Failure> {
    answer::tell(setting, &args.run, &Command::Pause { reason: args.reason })
}
