//! `chronicle undo`: restores files.

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::event::Change;
use chronicle_core::event::trees::Restored;
use chronicle_core::view::UndoRow;
use chronicle_core::words;
use chronicle_runtime::handle::{self, RunFolder, Stays, UndoOrder, UndoPlan, Undoing, Undone};
use clap::Args;
use serde::Serialize;

use super::meant::{self, Among, Rest};
use super::{Setting, json, only_for_people};
use crate::exit_code::Exit;
use crate::failure::{Failure, damaged_trees as damaged};
use crate::terminal;

/// Most files that are named before a person says yes, and after.
const NAMED_MAX: usize = 20;

/// Restore the project's files as they were before a phase
///
/// Everything that workers changed since then is undone, in whichever phase. Changes by people and changes of unknown origin
/// stay; name a file with `--file` to restore it anyway. The current files are recorded first: `--back` takes the last undo back,
/// and again the one before it. Ignored files and the run itself stay as they are; `chronicle go` moves the run.
#[derive(Debug, Args)]
#[command(
    override_usage = "chronicle undo [OPTIONS] [RUN] [PHASE]",
    after_help = "Examples:
  chronicle undo build                  in the only run here; asks before it touches anything
  chronicle undo 5f3a9c1e build
  chronicle undo 5f3a9c1e build --file src/main.rs
  chronicle undo 5f3a9c1e --all         everything that the run's workers changed
  chronicle undo 5f3a9c1e --list        what was undone
  chronicle undo 5f3a9c1e --back --yes"
)]
pub(super) struct UndoArgs {
    /// The run, unless there is only one, and the phase as a place: `build`, `review/look`; its last visit counts
    #[arg(value_name = "[RUN] [PHASE]")]
    words: Vec<String>,

    /// Which visit of the phase, from 1 on
    #[arg(long, value_name = "N")]
    visit: Option<usize>,

    /// Undo this attempt and everything after it
    #[arg(long, value_name = "ATTEMPT")]
    attempt: Option<AttemptId>,

    /// Undo the whole run
    #[arg(long, conflicts_with = "attempt")]
    all: bool,

    #[command(flatten)]
    earlier: EarlierArgs,

    /// Only this file or folder, whoever changed it; may be repeated
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,

    /// Also undo what people changed since and did not commit
    #[arg(long)]
    also_mine: bool,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

/// What is done about earlier undos.
#[derive(Debug, Args)]
struct EarlierArgs {
    /// Take the last undo back instead, or the last N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1")]
    #[arg(conflicts_with_all = ["attempt", "all"])]
    back: Option<usize>,

    /// Finish an undo that was interrupted, and nothing else
    #[arg(long, conflicts_with_all = ["attempt", "all", "back"])]
    finish: bool,

    /// List the undos of the run, the last first
    #[arg(long, conflicts_with_all = ["attempt", "all", "back", "finish"])]
    list: bool,
}

/// What was undone, for programs.
#[derive(Debug, Serialize)]
struct UndoneView {
    run: String,
    /// How many files were put back.
    files: u32,
    /// The first of them.
    list: Vec<String>,
    /// Files that stayed, since something that no tree has is in their place.
    kept: Vec<String>,
    /// Files that stayed, since somebody changed them meanwhile.
    edited: Vec<String>,
    /// Files that could not be restored, and why.
    failed: Vec<String>,
    /// Files that differ too, and stay: no worker is known to have changed them.
    left_alone: Vec<String>,
    /// Files that differ too, and stay: their content, then or now, was not recorded.
    unrecorded: Vec<String>,
    /// An interrupted undo that was finished first.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<Restored>,
}

pub(super) fn cmd_undo(setting: &Setting, args: &UndoArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let (folder, words) = meant::split(setting, &args.words, Among::All, Rest::Said)?;
    let phase = phase(args, &words)?;
    if args.earlier.list {
        return list(setting, &folder);
    }
    // Before the plan: a comparison with files that are half restored would plan against a state that nobody had.
    let finished = finish(setting, &folder, args)?;
    let Some(undoing) = undoing(args, phase) else {
        if finished.is_none() {
            terminal::talk("No undo was interrupted: there is nothing to finish.");
        }
        return close(setting, &folder, Undone::default(), finished);
    };
    let order = UndoOrder { undoing, files: args.files.clone(), also_mine: args.also_mine };
    if !args.yes {
        let plan = handle::plan_undo(&folder, &order)?;
        tell_stays(&plan.stays);
        if plan.changes.is_none() {
            terminal::talk("The files are as they were: there is nothing to undo.");
            return close(setting, &folder, Undone::default(), finished);
        }
        tell(&plan);
        if !terminal::agrees("Put them back?") {
            return Err(Failure::usage("nothing was undone")
                .hint("`--yes` confirms beforehand, without a terminal"));
        }
    }
    let undone = handle::undo(&folder, &setting.asker, &order)?;
    if !setting.json {
        say_restored(&undone.restored);
        if args.yes {
            tell_stays(&undone.stays);
        }
        // What takes an undo back cannot itself be taken back: the same undo can be asked for again.
        if undone.restored.files > 0 && args.earlier.back.is_none() {
            let run = folder.id.short();
            terminal::talk(&format!("`chronicle undo {run} --back` takes this back."));
        }
    }
    close(setting, &folder, undone, finished)
}

/// The phase, which is needed unless something else says what to undo.
fn phase(args: &UndoArgs, words: &[String]) -> Result<Option<Place>, Failure> {
    let EarlierArgs { back, finish, list } = &args.earlier;
    let is_said = args.all || args.attempt.is_some() || back.is_some() || *finish || *list;
    match words {
        [] if is_said && args.visit.is_none() => Ok(None),
        [] => Err(Failure::usage("say what to undo: a phase, `--attempt`, `--all` or `--back`")
            .hint("`chronicle status` shows the phases of a run")),
        [phase] if !is_said => Ok(Some(Place::new(phase.as_str()))),
        [phase] => Err(Failure::usage(format!(
            "`{phase}` and a flag both say what to undo: only one of them can be meant"
        ))),
        [_, more, ..] => Err(Failure::usage(format!("`{more}` is one word too many"))),
    }
}

fn undoing(args: &UndoArgs, phase: Option<Place>) -> Option<Undoing> {
    let phase = phase.map(|place| Undoing::Phase { place, visit: args.visit });
    phase
        .or_else(|| args.attempt.map(Undoing::Attempt))
        .or_else(|| args.earlier.back.map(Undoing::Undos))
        .or_else(|| args.all.then_some(Undoing::Run))
}

/// An undo that was interrupted comes first: what follows would be about files that are half of one state and half of another.
fn finish(
    setting: &Setting,
    folder: &RunFolder,
    args: &UndoArgs,
) -> Result<Option<Restored>, Failure> {
    let (view, _) = handle::view(folder)?;
    let Some(what) = view.half_undone else { return Ok(None) };
    let question = format!("The undo of `{what}` was interrupted. Finish it first?");
    if !args.yes && !args.earlier.finish && !terminal::agrees(&question) {
        return Err(Failure::usage(format!(
            "the undo of `{what}` was interrupted, and is not finished"
        ))
        .hint(format!("`chronicle undo {} --finish` finishes it", view.short)));
    }
    let Some((what, restored)) = handle::finish_undo(folder, &setting.asker)? else {
        return Ok(None);
    };
    if !setting.json {
        terminal::say(&format!("The interrupted undo of `{what}` is finished:"));
        say_restored(&restored);
    }
    Ok(Some(restored))
}

/// A run that is over has nothing to go on with but that.
pub(super) fn finish_over(setting: &Setting, folder: &RunFolder) -> Result<Exit, Failure> {
    let finished = handle::finish_undo(folder, &setting.asker)?;
    if let Some((what, restored)) = finished.as_ref().filter(|_| !setting.json) {
        terminal::say(&format!("The interrupted undo of `{what}` is finished:"));
        say_restored(restored);
    }
    let finished = finished.map(|(_, restored)| restored);
    close(setting, folder, Undone::default(), finished)
}

/// An undo that did not put back all that it was to is a failure, however little is missing.
fn close(
    setting: &Setting,
    folder: &RunFolder,
    undone: Undone,
    finished: Option<Restored>,
) -> Result<Exit, Failure> {
    let Undone { restored, stays } = undone;
    let all = [Some(&restored), finished.as_ref()];
    let failed = |it: &&Restored| !it.failed.is_empty() || it.error.is_some();
    let is_bad = all.into_iter().flatten().any(|it| failed(&it));
    let errors: Vec<String> = all.into_iter().flatten().filter_map(|it| it.error.clone()).collect();
    if setting.json {
        let (run, Restored { files, list, kept, edited, failed, .. }) =
            (folder.id.to_string(), restored);
        let Stays { left_alone, unrecorded } = stays;
        let view =
            UndoneView { run, files, list, kept, edited, failed, left_alone, unrecorded, finished };
        json::say_document(&view)?;
    }
    if let Some(error) = errors.into_iter().find(|error| handle::is_damage(error)) {
        return Err(damaged(error));
    }
    if is_bad {
        return Err(Failure::new(Exit::Internal, "not every file could be restored")
            .hint("free what holds them, then type the same again"));
    }
    Ok(Exit::Done)
}

/// What became of every file, by name.
fn say_restored(restored: &Restored) {
    terminal::say(&format!("{} restored.", words::files(restored.files.into())));
    for name in restored.list.iter().take(NAMED_MAX) {
        terminal::say(&format!("  {name}"));
    }
    let named = restored.list.len().min(NAMED_MAX);
    let more = usize::try_from(restored.files).unwrap_or(usize::MAX).saturating_sub(named);
    if more > 0 {
        terminal::say(&format!("  and {more} more"));
    }
    for name in &restored.kept {
        terminal::say(&format!("  left as it is, being ignored, unreadable or not ours: {name}"));
    }
    for name in &restored.edited {
        terminal::say(&format!("  left alone because it was changed meanwhile: {name}"));
    }
    for name in &restored.failed {
        terminal::say(&format!("  not restored: {name}"));
    }
    for change in &restored.forbidden_files {
        let (path, rule) = (words::one_line(&change.path), words::one_line(&change.rule));
        terminal::say(&format!("  there again, and forbidden by the rules: {path} ({rule})"));
    }
    if let Some(error) = &restored.error {
        terminal::say(&format!("  no further: {error}"));
    }
}

fn tell_stays(stays: &Stays) {
    for (names, why) in [
        (&stays.left_alone, "not being known as a worker's"),
        (&stays.unrecorded, "since their content was not recorded"),
    ] {
        if !names.is_empty() {
            terminal::talk(&format!("Left as they are, {why}: {}", names.join(", ")));
        }
    }
}

fn tell(plan: &UndoPlan) {
    for file in plan.changes.list.iter().take(NAMED_MAX) {
        let does = match file.change {
            Change::Created => "comes back",
            Change::Changed => "changes   ",
            Change::Deleted => "goes      ",
        };
        let from = file.from.as_ref().map_or_else(String::new, |from| format!("{from} -> "));
        let since = if plan.at_stake.contains(&file.path) { ", changed since" } else { "" };
        terminal::talk(&format!("  {does}  {from}{}{since}", file.path));
    }
    let count = words::files(plan.changes.files.into());
    let count = words::lines_changed(&count, plan.changes.added, plan.changes.removed);
    terminal::talk(&format!("{count} in all."));
    let named = || plan.changes.list.iter().take(NAMED_MAX);
    let others: Vec<&str> = plan
        .at_stake
        .iter()
        .filter(|path| !named().any(|file| file.path == **path))
        .map(String::as_str)
        .collect();
    if !others.is_empty() {
        terminal::talk(&format!("Changed since, too: {}", others.join(", ")));
    }
}

/// The undos of a run, for programs.
#[derive(Debug, Serialize)]
struct UndosView {
    run: String,
    undos: Vec<UndoRow>,
}

fn list(setting: &Setting, folder: &RunFolder) -> Result<Exit, Failure> {
    let undos = handle::undos(folder)?;
    if setting.json {
        json::say_document(&UndosView { run: folder.id.to_string(), undos })?;
        return Ok(Exit::Done);
    }
    if undos.is_empty() {
        terminal::talk("Nothing was undone.");
    }
    for row in undos.iter().rev() {
        let files =
            row.files.map_or_else(|| "interrupted".to_owned(), |files| words::files(files.into()));
        let state = match (row.is_back, row.taken_back) {
            (true, _) => "taken back: ",
            (false, true) => "undone and taken back: ",
            (false, false) => "undone: ",
        };
        let rest = match &row.error {
            Some(error) => format!("; it failed: {}", words::one_line(error)),
            None if row.partly => "; other files stayed".to_owned(),
            None => String::new(),
        };
        let what = words::one_line(&row.what);
        terminal::say(&format!("{}  {state}{what}, {files}{rest}", row.at));
    }
    Ok(Exit::Done)
}
