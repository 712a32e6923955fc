//! `chronicle gc`.

use chronicle_core::words;
use chronicle_runtime::handle;
use clap::Args;
use serde::Serialize;

use super::{Setting, only_for_people, say_json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Free the room that trees of old runs take
///
/// Ledgers stay. Only what `diff` and `undo` of runs that are over would need goes; a run that can
/// go on loses nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle gc --days 30")]
pub(super) struct GcArgs {
    /// Keep the trees of runs that ended in the last so many days
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    days: u64,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Serialize)]
struct Freed {
    freed_bytes: u64,
    runs: Vec<String>,
}

pub(super) fn cmd_gc(setting: &Setting, args: &GcArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let room = handle::room(&setting.project, args.days)?;
    let Some(room) = room.filter(|room| room.frees_bytes > 0 || !room.runs.is_empty()) else {
        terminal::talk("There is nothing to free.");
        if setting.json {
            say_json(&Freed { freed_bytes: 0, runs: Vec::new() })?;
        }
        return Ok(Exit::Done);
    };
    let (all, frees) = (words::bytes(room.bytes), words::bytes(room.frees_bytes));
    terminal::talk(&format!("Trees take {all}; about {frees} of it nobody needs any more:"));
    for run in &room.runs {
        terminal::talk(&format!("  the trees of run {run}"));
    }
    if !args.yes && !terminal::agrees("Free it?") {
        return Err(Failure::usage("nothing was freed")
            .hint("`--yes` says so beforehand, where nobody can be asked"));
    }
    let freed_bytes = handle::make_room(&setting.project, args.days)?;
    if setting.json {
        say_json(&Freed { freed_bytes, runs: room.runs })?;
    } else {
        terminal::say(&format!("{} freed.", words::bytes(freed_bytes)));
    }
    Ok(Exit::Done)
}
