//! `chronicle gc`.

use chronicle_core::words;
use chronicle_runtime::handle::{self, RunFolder};
use clap::Args;
use serde::Serialize;

use super::{Setting, json, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Free the room that trees of old runs take, and clear away what killed processes left
///
/// Ledgers stay. Only what `diff` and `undo` of runs that are over would need goes; a run that can
/// go on loses nothing. Runs that were killed before their first line are removed.
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

#[derive(Debug, Default, Serialize)]
struct Cleared {
    freed_bytes: u64,
    runs: Vec<String>,
    /// Runs that never started, and are gone.
    removed: Vec<String>,
}

pub(super) fn cmd_gc(setting: &Setting, args: &GcArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let room = handle::room(&setting.project, args.days)?;
    let room = room.filter(|room| room.frees_bytes > 0 || !room.runs.is_empty());
    let unstarted = handle::unstarted(&setting.project);
    // Nobody can have a use for these, so that nobody is asked.
    handle::sweep_unfinished(&setting.project);
    if room.is_none() && unstarted.is_empty() {
        terminal::talk("There is nothing to free.");
        if setting.json {
            json::say_document(&Cleared::default())?;
        }
        return Ok(Exit::Done);
    }
    for folder in &unstarted {
        terminal::talk(&format!("Run {} never started: its folder goes.", folder.id.short()));
    }
    if let Some(room) = &room {
        let (all, frees) = (words::bytes(room.bytes), words::bytes(room.frees_bytes));
        terminal::talk(&format!("Trees take {all}; about {frees} of it nobody needs any more:"));
        for run in &room.runs {
            terminal::talk(&format!("  the trees of run {run}"));
        }
    }
    if !args.yes && !terminal::agrees("Free it?") {
        return Err(Failure::usage("nothing was freed")
            .hint("`--yes` says so beforehand, where nobody can be asked"));
    }
    let removed = remove(&unstarted)?;
    let is_full = room.is_some();
    let freed_bytes = if is_full { handle::make_room(&setting.project, args.days)? } else { 0 };
    let runs = room.map(|room| room.runs).unwrap_or_default();
    if setting.json {
        json::say_document(&Cleared { freed_bytes, runs, removed })?;
        return Ok(Exit::Done);
    }
    if !removed.is_empty() {
        terminal::say(&format!("Removed, since they never started: {}.", removed.join(", ")));
    }
    if is_full {
        terminal::say(&format!("{} freed.", words::bytes(freed_bytes)));
    }
    Ok(Exit::Done)
}

fn remove(unstarted: &[RunFolder]) -> Result<Vec<String>, Failure> {
    let mut removed = Vec::new();
    for folder in unstarted {
        if handle::discard(folder)? {
            removed.push(folder.id.short().to_owned());
        }
    }
    Ok(removed)
}
