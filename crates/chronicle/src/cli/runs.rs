//! `chronicle runs`.

use chronicle_core::base::ids::{FramePath, PhaseId};
use chronicle_core::base::time::Millis;
use chronicle_core::state::Standing;
use chronicle_core::view::{RunRow, Spent};
use chronicle_core::words;
use chronicle_runtime::handle::definitions::OlderRun;
use chronicle_runtime::handle::{self, HandleError};
use clap::Args;

use super::{Setting, say_json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// List the runs of this project, the newest first
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle runs --json | jq -r '.[].short'")]
pub(super) struct RunsArgs {
    /// The runs of every project on this machine
    #[arg(long)]
    all: bool,
}

pub(super) fn cmd_runs(setting: &Setting, args: &RunsArgs) -> Result<Exit, Failure> {
    let here = handle::runs(&setting.project);
    let mut rows = Vec::new();
    for folder in if args.all { handle::all_runs() } else { here } {
        match handle::row(&folder) {
            Ok(row) => rows.push(row),
            Err(HandleError::NotStarted { run }) => {
                terminal::talk(&format!(
                    "Run {run} never started: `chronicle cancel {run}` removes it."
                ));
            }
            // One bad run never hides the good ones.
            Err(error) => {
                terminal::talk(&format!("Run {} cannot be read: {error}", folder.id.short()));
            }
        }
    }
    if !args.all {
        rows.extend(handle::older_runs(&setting.project).iter().map(older_row));
    }
    if setting.json {
        say_json(&rows)?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        terminal::talk("No runs here yet. Start one with: chronicle run NAME \"TASK\"");
    }
    for row in &rows {
        if !terminal::say(&line(row)) {
            break;
        }
    }
    Ok(Exit::Done)
}

/// A run of The Chronicle, which `resume` goes on with.
fn older_row(older: &OlderRun) -> RunRow {
    let status = match older.status.as_str() {
        "done" => Standing::Done,
        "human_intervention" => Standing::Waiting,
        // Whoever drove it is not known here: nobody of ours does.
        "running" => Standing::Interrupted,
        _ => Standing::Paused,
    };
    RunRow {
        run: older.id.clone(),
        short: older.short().to_owned(),
        workflow: older.workflow_name.clone(),
        task: older.initial_task.clone(),
        status,
        goes_on: !older.is_over(),
        places: vec![FramePath::root().place(&PhaseId::new(older.current_state.clone()))],
        needs_you: 0,
        waits_for: None,
        spent: Spent { tokens: older.tokens(), usd_micros: 0, priced: false, estimated: false },
        started_at: Millis(older.created),
        updated_at: older.updated_at(),
    }
}

fn line(row: &RunRow) -> String {
    let paint = Paint::stdout();
    let places: Vec<&str> =
        row.places.iter().map(chronicle_core::base::ids::Place::as_str).collect();
    let age = handle::now().0.saturating_sub(row.updated_at.0);
    let needs = match &row.waits_for {
        Some(run) => format!("  waits for run {run}"),
        None if row.needs_you > 0 => format!("  needs you: {}", row.needs_you),
        None => String::new(),
    };
    format!(
        "{}  {}{}  {:<12} {:<16} {:>10} ago  {}{needs}",
        paint.ink(Ink::Strong, &row.short),
        paint.standing(row.status),
        " ".repeat(11usize.saturating_sub(row.status.as_str().len())),
        shorten(&row.workflow, 12),
        shorten(&places.join(", "), 16),
        words::duration(age),
        shorten(&words::one_line(&row.task), 40),
    )
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
