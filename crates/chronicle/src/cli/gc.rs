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
#[command(after_help = "Examples:
  chronicle gc --days 30
  chronicle gc --drop 5f3a9c1e    gives up what that run left in folders of its own")]
pub(super) struct GcArgs {
    /// Keep the trees of runs that ended within this many days
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    days: u64,

    /// Give up what only the work folders of this run have: work that was not merged, and files that could not be recorded
    #[arg(long, value_name = "RUN")]
    drop: Option<String>,

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
    /// Work folders that were removed.
    folders: Vec<String>,
    /// Runs with work that is not merged. Their folders stay.
    unmerged: Vec<String>,
    /// Work folders with files that are nowhere else. They stay too.
    kept: Vec<String>,
}

pub(super) fn cmd_gc(setting: &Setting, args: &GcArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    if let Some(run) = &args.drop {
        return drop_work(setting, run, args.yes);
    }
    let left = handle::work_left(&setting.project);
    tell_unmerged(&left);
    tell_only_copies(&left);
    let unmerged: Vec<String> = left.unmerged.iter().map(|it| it.run.clone()).collect();
    let kept = left.only.iter().map(|it| it.left.path.display().to_string()).collect();
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
    if room.is_none() && unstarted.is_empty() && gone.is_empty() && left.folders.is_empty() {
        terminal::talk("There is nothing to free.");
        if setting.json {
            json::say_document(&Cleared { unmerged, kept, ..Cleared::default() })?;
        }
        return Ok(Exit::Done);
    }
    tell_rubbish(&unstarted, &gone, &left);
    if let Some(room) = &room {
        let (all, frees) = (words::bytes(room.bytes), words::bytes(room.frees_bytes));
        let colon = if room.runs.is_empty() { "." } else { ":" };
        terminal::talk(&format!(
            "Trees take {all}; about {frees} of it is no longer needed{colon}"
        ));
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
    let folders = handle::remove_work(&left.folders)
        .map_err(|error| Failure::internal("a work folder cannot be removed", &error))?;
    let forgotten: Vec<String> = gone.iter().map(|run| run.id.short().to_owned()).collect();
    let is_full = room.is_some();
    // Which runs are old is asked again there, under the lock: one may have been resumed since the question.
    let freed_bytes = if is_full { handle::make_room(&setting.project, args.days)? } else { 0 };
    let runs = room.map(|room| room.runs).unwrap_or_default();
    if setting.json {
        let cleared = Cleared { freed_bytes, runs, removed, forgotten, folders, unmerged, kept };
        json::say_document(&cleared)?;
        return Ok(Exit::Done);
    }
    say_gone(&removed, &forgotten, &folders);
    if is_full {
        terminal::say(&format!("{} freed.", words::bytes(freed_bytes)));
    }
    Ok(Exit::Done)
}

/// What can go beside trees.
fn tell_rubbish(unstarted: &[RunFolder], gone: &[RunFolder], left: &handle::WorkLeft) {
    for folder in unstarted {
        terminal::talk(&format!("Run {} never started: its folder can go.", folder.id.short()));
    }
    for folder in gone {
        let run = folder.id.short();
        terminal::talk(&format!(
            "The folder of run {run} is gone: the run can be forgotten, and is not listed any more then."
        ));
    }
    for folder in &left.folders {
        let (path, bytes) = (folder.path.display(), words::bytes(folder.bytes));
        let run = folder.run.short();
        terminal::talk(&format!(
            "A work folder of run {run}, which is over, can go: `{path}`, {bytes}."
        ));
    }
}

/// Tells what is gone now, for people.
fn say_gone(removed: &[String], forgotten: &[String], folders: &[String]) {
    if !removed.is_empty() {
        terminal::say(&format!("Removed, since they never started: {}.", removed.join(", ")));
    }
    if !forgotten.is_empty() {
        terminal::say(&format!(
            "Forgotten, since their folders are gone: {}.",
            forgotten.join(", ")
        ));
    }
    if !folders.is_empty() {
        terminal::say(&format!("Removed: {}.", folders.join(", ")));
    }
}

/// Work that would be lost is never part of a question about rubbish.
fn tell_unmerged(left: &handle::WorkLeft) {
    for handle::Unmerged { run, path, gate } in &left.unmerged {
        let bring = match gate {
            // The merge has begun, and asks.
            Some(gate) => format!("{gate} asks about its merge: `chronicle answer {run} {gate}`"),
            None => format!("`chronicle merge {run}` brings it into the project"),
        };
        terminal::talk(&format!(
            "Run {run} has work that is NOT merged, in `{}`: it stays. {bring}, `chronicle gc --drop {run}` gives it up.",
            path.display()
        ));
    }
}

/// Nor are files that no tree has.
fn tell_only_copies(left: &handle::WorkLeft) {
    for only in &left.only {
        let (run, path) = (only.left.run.short(), only.left.path.display());
        terminal::talk(&format!(
            "A work folder of run {run} stays, since {} only there: `{path}`. Take what you need; `chronicle gc --drop {run}` \
             removes it.",
            what_is_only_there(only)
        ));
    }
}

/// The subject of a sentence that says that it is only there.
fn what_is_only_there(only: &handle::OnlyCopy) -> String {
    match only.files.as_slice() {
        [] if only.is_unknown => {
            "the record of the run is gone, so that its work may be".to_owned()
        }
        [] => "what was done in it could not be recorded and is".to_owned(),
        [file] => format!("`{}` could not be recorded and is", words::one_line(file)),
        [file, more @ ..] => format!(
            "{} more and `{}` could not be recorded and are",
            words::files(more.len() as u64),
            words::one_line(file)
        ),
    }
}

/// Gives up what only the folders of one run have, and says what that is.
fn drop_work(setting: &Setting, run: &str, yes: bool) -> Result<Exit, Failure> {
    if setting.run(Some(run)).is_err()
        && let Some(gone) = without_record(setting, run)
    {
        return drop_gone(setting, &gone, yes);
    }
    let folder = setting.run(Some(run))?;
    let (view, _) = handle::view(&folder)?;
    let run = folder.id.short();
    let apart = view.apart.as_ref();
    let left = handle::work_left(&setting.project).only;
    // That of a run apart goes with its work; here are those of steps.
    let only: Vec<_> = left.iter().filter(|only| only.left.run == folder.id).collect();
    if let Some(apart) = apart.filter(|apart| apart.unmerged) {
        let place = apart.path.as_ref().map_or_else(
            || "the trees of the run, for its folder is gone".to_owned(),
            |path| format!("`{}`", words::one_line(path)),
        );
        terminal::talk(&format!(
            "The work of run {run} is NOT in the project, but in {place}. `chronicle diff {run}` shows it."
        ));
    }
    for only in &only {
        let path = only.left.path.display();
        terminal::talk(&format!("In `{path}` {} only there.", what_is_only_there(only)));
    }
    let is_lost = apart.is_some_and(|apart| apart.unmerged) || !only.is_empty();
    if is_lost && !yes && !terminal::agrees("Give it up?") {
        return Err(Failure::usage("nothing was dropped")
            .hint("`--yes` confirms beforehand, without a terminal"));
    }
    let said = if apart.is_some() || only.is_empty() {
        handle::drop_work(&folder, &setting.asker)?.said
    } else {
        "dropped".to_owned()
    };
    // What the run's own folder was, is removed by the run itself.
    let steps = only.iter().map(|only| &only.left).filter(|left| left.path.is_dir());
    handle::remove_work(steps)
        .map_err(|error| Failure::internal("a work folder cannot be removed", &error))?;
    if setting.json {
        json::say_view(&handle::view(&folder)?.0)?;
    } else {
        terminal::say(&format!("Run {run}: {said}."));
    }
    Ok(Exit::Done)
}

/// Work folders of the one run with that id whose record is gone.
fn without_record(setting: &Setting, run: &str) -> Option<Vec<handle::OnlyCopy>> {
    let left = handle::work_left(&setting.project).only.into_iter();
    let is_meant = |only: &handle::OnlyCopy| {
        let (id, text) = (&only.left.run, run.to_lowercase());
        only.is_unknown && (id.short() == text || id.as_str() == text)
    };
    let found: Vec<_> = left.filter(is_meant).collect();
    (!found.is_empty()).then_some(found)
}

/// Gives up what a run left whose record is gone.
fn drop_gone(setting: &Setting, gone: &[handle::OnlyCopy], yes: bool) -> Result<Exit, Failure> {
    for only in gone {
        let path = only.left.path.display();
        terminal::talk(&format!("In `{path}`: {} only there.", what_is_only_there(only)));
    }
    if !yes && !terminal::agrees("Give it up?") {
        return Err(Failure::usage("nothing was dropped")
            .hint("`--yes` confirms beforehand, without a terminal"));
    }
    let folders = handle::remove_work(gone.iter().map(|only| &only.left))
        .map_err(|error| Failure::internal("a work folder cannot be removed", &error))?;
    if setting.json {
        json::say_document(&Cleared { folders, ..Cleared::default() })?;
    } else {
        say_gone(&[], &[], &folders);
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
