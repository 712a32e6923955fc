//! `chronicle completions`: prints a completion script.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::exit_code::Exit;
use crate::terminal;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:  chronicle completions bash > ~/.local/share/bash-completion/completions/chronicle"
)]
pub(super) struct CompletionsArgs {
    /// The shell to print for
    shell: Shell,
}

pub(super) fn cmd_completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "chronicle", &mut script);
    terminal::say(String::from_utf8_lossy(&script).trim_end());
    Exit::Done
}
