//! `chronicle gc`: frees disk space.

use chronicle_core::words;
use chronicle_runtime::handle::{self, RunFolder};
use clap::Args;
use serde::Serialize;

use super::{Setting, json, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Free the space of old runs' trees, and remove leftovers of killed processes
///
/// Ledgers are kept. Only data for `diff` and `undo` of finished runs is removed; a run that can continue loses nothing. Runs
/// that were killed before their first line are removed.
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle gc --days 30")]
pub(super) struct GcArgs {
    /// Keep the trees of runs that ended within this many days
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    days: u64,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

#[derive(Debug, Default, Serialize)]
struct Cleared {
    freed_bytes: u64,
    runs: Vec<String>,
    /// Runs that never started, and are gone.
    removed: Vec<String>,
    /// Runs whose folders were gone, and that are not listed any more.
    forgotten: Vec<String>,
}

pub(super) fn cmd_gc(setting: &Setting, args: &GcArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let room = handle::room(&setting.project, args.days)?;
    let room = room.filter(|room| room.frees_bytes > 0 || !room.runs.is_empty());
    let unstarted = handle::unstarted(&setting.project);
    let gone = handle::gone_runs(&setting.project);
    // Nobody can have a use for these, so that nobody is asked.
    handle::sweep_unfinished(&setting.project);
    for folder in handle::starting(&setting.project) {
        terminal::talk(&format!(
            "Run {} has no first line yet and is less than a minute old: it may be about to start, and stays. \
             `chronicle gc` a minute later removes it if not.",
            folder.id.short()
        ));
    }
    if room.is_none() && unstarted.is_empty() && gone.is_empty() {
        terminal::talk("There is nothing to free.");
        if setting.json {
            json::say_document(&Cleared::default())?;
        }
        return Ok(Exit::Done);
    }
    for folder in &unstarted {
        terminal::talk(&format!("Run {} never started: its folder can go.", folder.id.short()));
    }
    for folder in &gone {
        let run = folder.id.short();
        terminal::talk(&format!(
            "The folder of run {run} is gone: the run can be forgotten, and is not listed any more then."
        ));
    }
    if let Some(room) = &room {
        let (all, frees) = (words::bytes(room.bytes), words::bytes(room.frees_bytes));
        terminal::talk(&format!("Trees take {all}; about {frees} of it is no longer needed:"));
        for run in &room.runs {
            terminal::talk(&format!("  the trees of run {run}"));
        }
    }
    if !args.yes && !terminal::agrees("Free it?") {
        return Err(Failure::usage("nothing was freed or forgotten")
            .hint("`--yes` confirms beforehand, without a terminal"));
    }
    let removed = remove(&unstarted)?;
    handle::forget_gone(&gone);
    let forgotten: Vec<String> = gone.iter().map(|run| run.id.short().to_owned()).collect();
    let is_full = room.is_some();
    // Which runs are old is asked again there, under the lock: one may have been resumed since the question.
    let freed_bytes = if is_full { handle::make_room(&setting.project, args.days)? } else { 0 };
    let runs = room.map(|room| room.runs).unwrap_or_default();
    if setting.json {
        json::say_document(&Cleared { freed_bytes, runs, removed, forgotten })?;
        return Ok(Exit::Done);
    }
    if !removed.is_empty() {
        terminal::say(&format!("Removed, since they never started: {}.", removed.join(", ")));
    }
    if !forgotten.is_empty() {
        terminal::say(&format!(
            "Forgotten, since their folders are gone: {}.",
            forgotten.join(", ")
        ));
    }
    if is_full {
        terminal::say(&format!("{} freed.", words::bytes(freed_bytes)));
    }
    Ok(Exit::Done)
}

fn remove(unstarted: &[RunFolder]) -> Result<Vec<String>, Failure> {
    let mut removed = Vec::new();
    for folder in unstarted {
        // Looked at again: a run that was just being made when the list was put together has its first line by now.
        if handle::discard(folder)? {
            removed.push(folder.id.short().to_owned());
        }
    }
    Ok(removed)
}
