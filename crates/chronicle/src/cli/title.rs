//! `chronicle title`: names a run for people.

use chronicle_core::event::input::Command;
use clap::Args;

use super::meant::{Among, Rest};
use super::{Setting, answer, tell};
use crate::exit_code::Exit;
use crate::failure::Failure;

/// Give a run a title, which `runs` and `status` show in place of its task
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle title [OPTIONS] [RUN] <TEXT>",
    after_help = "Examples:
  chronicle title 5f3a9c1e \"second try, with the new parser\"
  chronicle title 5f3a9c1e --none"
)]
pub(super) struct TitleArgs {
    /// The run, unless only one is not over, and its title
    #[arg(value_name = "[RUN] TEXT")]
    words: Vec<String>,
    /// Remove the title; the task is shown again
    #[arg(long)]
    none: bool,
}

pub(super) fn cmd_title(setting: &Setting, args: &TitleArgs) -> Result<Exit, Failure> {
    let (folder, words) = answer::meant(setting, &args.words, Among::Open, Rest::Said)?;
    let text = words.join(" ");
    let short = folder.id.short();
    match (args.none, text.trim().is_empty()) {
        (true, false) => Err(Failure::usage("a title cannot be given and removed at once")
            .hint(format!("chronicle title {short} --none"))),
        (false, true) => Err(Failure::usage("there is no title")
            .hint(format!("chronicle title {short} \"what it is about\""))),
        (true, true) | (false, false) => tell::tell(setting, &folder, &Command::Title { text }),
    }
}
