//! `chronicle diff`: shows what a run changed.

use std::io::{self, Write as _};

use chronicle_core::base::ids::{AttemptId, Place};
use chronicle_core::event::trees::Changes;
use chronicle_runtime::handle::{self, DiffForm, Part};
use clap::Args;
use serde::Serialize;

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::harmless::Harmless;
use crate::terminal::{self, Paint};

/// Most files that are named as left out.
const NAMED_MAX: usize = 20;

/// Show what a run changed in the project's files
///
/// Files are recorded before and after every attempt, including those that git does not track. While an attempt works, the
/// current files are compared. Changes by people and changes of unknown origin are left out and listed; `--all` shows them too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  chronicle diff                        the run that changed last
  chronicle diff 5f3a9c1e --phase build --stat
  chronicle diff 5f3a9c1e --since 40    after line 40 of its ledger")]
pub(super) struct DiffArgs {
    /// Id of the run; the one that changed last if omitted
    run: Option<String>,

    /// Only the last visit of this phase, as a place: `build`, `review/look`
    #[arg(long, value_name = "PLACE", group = "part")]
    phase: Option<String>,

    /// Only the changes of this attempt
    #[arg(long, value_name = "ATTEMPT", group = "part")]
    attempt: Option<AttemptId>,

    /// Only what came after this line of the ledger
    #[arg(long, value_name = "SEQ", group = "part")]
    since: Option<u64>,

    /// Also show changes by people and changes of unknown origin
    #[arg(long, conflicts_with = "attempt")]
    all: bool,

    /// Print one line per file
    #[arg(long)]
    stat: bool,

    /// Print only the file names
    #[arg(long, conflicts_with = "stat")]
    name_only: bool,
}

/// What differs, for programs.
#[derive(Debug, Serialize)]
struct DiffView {
    run: String,
    changes: Changes,
    /// Whether there are more files than are listed.
    more: bool,
    /// Files that differ too and are left out: no worker is known to have changed them.
    left_out: Vec<String>,
}

pub(super) fn cmd_diff(setting: &Setting, args: &DiffArgs) -> Result<Exit, Failure> {
    let folder = setting.run(args.run.as_deref())?;
    let part = match (&args.phase, args.attempt, args.since) {
        (Some(place), _, _) => Part::Phase(Place::new(place.as_str())),
        (None, Some(attempt), _) => Part::Attempt(attempt),
        (None, None, Some(seq)) => Part::Since(seq),
        (None, None, None) => Part::Run,
    };
    let difference = handle::difference(&folder, &part, args.all)?;
    if setting.json {
        let changes = difference.changes()?;
        let more = usize::try_from(changes.files).unwrap_or(usize::MAX) > changes.list.len();
        let (run, left_out) = (folder.id.to_string(), difference.left_out);
        json::say_document(&DiffView { run, changes, more, left_out })?;
        return Ok(Exit::Done);
    }
    let form = match (args.stat, args.name_only) {
        (true, _) => DiffForm::Stat,
        (false, true) => DiffForm::Names,
        (false, false) => DiffForm::Patch,
    };
    // What a file holds may be an escape, and what is piped must stay a patch.
    let to: Box<dyn io::Write> = if terminal::is_result_watched() {
        Box::new(Harmless::new(io::stdout()))
    } else {
        Box::new(io::stdout())
    };
    let mut out = terminal::Passed::new(to);
    difference.show(form, Paint::stdout().has_colours(), &mut out)?;
    // A reader that has gone away needs nothing more.
    let _ = out.flush();
    if out.is_empty() {
        terminal::talk("No file differs.");
    }
    tell_left_out(&difference.left_out);
    Ok(Exit::Done)
}

fn tell_left_out(names: &[String]) {
    if names.is_empty() {
        return;
    }
    let first: Vec<&str> = names.iter().take(NAMED_MAX).map(String::as_str).collect();
    let more = if names.len() > NAMED_MAX { ", …" } else { "" };
    terminal::talk(&format!(
        "Left out, not being known as a worker's: {}{more}. `--all` shows them.",
        first.join(", ")
    ));
}
