//! `chronicle merge`: brings the work of a run that worked apart into the project.

use chronicle_core::event::input::Command;
use chronicle_core::state::Standing;
use chronicle_core::words;
use chronicle_runtime::handle::{self, Merged, RunFolder};
use clap::Args;

use super::meant::{self, Among, Rest};
use super::{Setting, gate, json, only_for_people};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// Most files that are named.
const NAMED_MAX: usize = 20;

/// Merge the work of a run that was started with `--worktree` into the project
///
/// The run must be over: done, failed or cancelled. What you changed in the project meanwhile stays and is part of the merge. If both
/// changed the same lines, the project is left as it is, and you are asked. Killed half way, the same command goes on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle merge             the only run that has work to merge
  chronicle merge 5f3a9c1e
  chronicle merge 5f3a9c1e --keep    its folder stays")]
pub(super) struct MergeArgs {
    /// Id of the run; the only one that has work to merge if omitted
    run: Option<String>,

    /// Keep the folder of the run after the merge
    #[arg(long)]
    keep: bool,
}

pub(super) fn cmd_merge(setting: &Setting, args: &MergeArgs) -> Result<Exit, Failure> {
    only_for_people()?;
    let folder = match &args.run {
        Some(run) => setting.run(Some(run))?,
        None => meant::split(setting, &[], Among::Unmerged, Rest::Said)?.0,
    };
    let (view, _) = handle::view(&folder)?;
    let is_over = matches!(view.status, Standing::Done | Standing::Cancelled | Standing::Failed);
    if view.apart.is_some() && !is_over {
        let run = folder.id.short();
        let what = format!("the run is not over: {run} is {}", view.status);
        return Err(Failure::usage(what).hint(format!(
            "let it end, or `chronicle cancel {run}`, and merge what it has by then"
        )));
    }
    give(setting, &folder, Command::Merge { keep: args.keep })
}

/// Goes on with a merge that was interrupted.
pub(super) fn go_on(setting: &Setting, folder: &RunFolder) -> Result<Exit, Failure> {
    give(setting, folder, Command::Merge { keep: false })
}

/// Gives a command about the merge of a run, and says what came of it.
pub(super) fn give(
    setting: &Setting,
    folder: &RunFolder,
    command: Command,
) -> Result<Exit, Failure> {
    let merged = handle::merge(folder, &setting.asker, command)?;
    let (view, _) = handle::view(folder)?;
    if setting.json {
        json::say_view(&view)?;
    } else {
        say(folder, &merged, view.apart.as_ref().map_or("", |apart| apart.state.as_str()));
    }
    let Some(id) = merged.gate else { return Ok(Exit::Done) };
    for row in view.needs_you.iter().filter(|row| row.gate == id && !setting.json) {
        terminal::say_wrapped(&format!("  {}: {}", row.gate, words::about(row.kind, &row.about)));
        for line in gate::lines(row) {
            terminal::say_wrapped(&format!("      {line}"));
        }
        if let Some(path) = view.apart.as_ref().and_then(|apart| apart.path.as_ref()) {
            terminal::say_wrapped(&format!("  its folder: {}", words::one_line(path)));
        }
        terminal::talk(&format!("Next: {}", row.next));
    }
    Ok(Exit::Waiting)
}

fn say(folder: &RunFolder, merged: &Merged, state: &str) {
    let run = folder.id.short();
    let Some(changes) = &merged.changes else {
        // Nothing was merged by this: what the answer says, or how it stands now.
        let text = if merged.gate.is_some() { state } else { merged.said.as_str() };
        terminal::say_wrapped(&format!("Run {run}: {text}."));
        return;
    };
    if changes.is_none() {
        terminal::say_wrapped(&format!("Run {run} is {state}: it changed nothing in the project."));
        return;
    }
    let count = words::files(changes.files.into());
    let count = words::lines_changed(&count, changes.added, changes.removed);
    terminal::say_wrapped(&format!("Run {run} is {state}: {count}."));
    for file in changes.list.iter().take(NAMED_MAX) {
        terminal::say_wrapped(&format!("  {}", words::one_line(&file.path)));
    }
    let more = changes.list.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        terminal::say_wrapped(&format!("  and {more} more"));
    }
}
