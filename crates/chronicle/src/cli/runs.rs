//! `chronicle runs`: lists the runs of a project.

use chronicle_core::base::ids::{FramePath, PhaseId, Place};
use chronicle_core::base::time::Millis;
use chronicle_core::state::Standing;
use chronicle_core::view::{RunRow, Spent};
use chronicle_core::words;
use chronicle_runtime::handle::definitions::OlderRun;
use chronicle_runtime::handle::{self, HandleError};
use clap::Args;
use serde::Serialize;

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// List the runs of this project, last changed first
#[derive(Debug, Args)]
#[command(after_help = "Example:  chronicle runs --json | jq -r '.runs[].short'")]
pub(super) struct RunsArgs {
    /// List the runs of every project on this machine
    #[arg(long)]
    all: bool,
}

/// The JSON output of this command.
#[derive(Serialize)]
struct Listed<'a> {
    runs: &'a [RunRow],
    unreadable: &'a [Unreadable],
}

/// A run that has no row.
#[derive(Serialize)]
struct Unreadable {
    run: String,
    error: String,
}

pub(super) fn cmd_runs(setting: &Setting, args: &RunsArgs) -> Result<Exit, Failure> {
    let here = handle::runs(&setting.project);
    let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
    for folder in if args.all { handle::all_runs() } else { here } {
        match handle::row(&folder) {
            Ok(row) => rows.push(row),
            // One bad run never hides the good ones.
            Err(error) => {
                terminal::talk(&not_shown(folder.id.short(), &error));
                let run = folder.id.to_string();
                unreadable.push(Unreadable { run, error: error.to_string() });
            }
        }
    }
    if !args.all {
        rows.extend(handle::older_runs(&setting.project).iter().map(older_row));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at));
    if setting.json {
        json::say_document(&Listed { runs: &rows, unreadable: &unreadable })?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        terminal::talk("No runs here yet. Start one with: chronicle run NAME \"TASK\"");
    }
    let table = Table::new(&rows, terminal::columns());
    let head = terminal::is_result_watched().then(|| table.head()).filter(|_| !rows.is_empty());
    for line in head.into_iter().chain(rows.iter().map(|row| table.line(row))) {
        if !terminal::say(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}

fn not_shown(run: &str, error: &HandleError) -> String {
    match error {
        HandleError::NotStarted { run } => {
            format!("Run {run} never started: `chronicle cancel {run}` removes it.")
        }
        error => format!("Run {run} cannot be read: {error}"),
    }
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
        title: None,
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

/// Columns of a list that fits the terminal: the task has what is left, and where that is too little, names go.
struct Table {
    paint: Paint,
    workflow: usize,
    place: usize,
    age: usize,
    task: usize,
}

impl Table {
    /// A run's id, its status, and the gaps behind them.
    const FIXED: usize = 8 + 2 + 11 + 2;
    /// A task that is shorter than this says nothing.
    const TASK_MIN: usize = 24;

    fn new(rows: &[RunRow], columns: usize) -> Self {
        let widest = |text: fn(&RunRow) -> String, most: usize| {
            let widths = rows.iter().map(|row| text(row).chars().count());
            widths.max().unwrap_or(0).clamp(4, most)
        };
        let age = widest(age, 20);
        let left = columns.saturating_sub(Self::FIXED + age + 2);
        let place = widest(place, 16) + 2;
        let place = if left >= place + Self::TASK_MIN { place } else { 0 };
        let workflow = widest(|row| row.workflow.clone(), 12) + 2;
        let workflow = if left >= place + workflow + Self::TASK_MIN { workflow } else { 0 };
        let task = left.saturating_sub(place + workflow).max(Self::TASK_MIN / 2);
        Self { paint: Paint::stdout(), workflow, place, age, task }
    }

    fn head(&self) -> String {
        let cells = ["RUN", "STATUS", "WORKFLOW", "AT", "CHANGED", "TASK"].map(str::to_owned);
        self.paint.ink(Ink::Dim, &self.row(cells))
    }

    fn line(&self, row: &RunRow) -> String {
        let needs = match &row.waits_for {
            Some(run) => format!("(waits for run {run}) "),
            None if row.needs_you > 0 => "(needs you) ".to_owned(),
            None => String::new(),
        };
        let task = format!("{needs}{}", words::one_line(row.title.as_ref().unwrap_or(&row.task)));
        let status = row.status.to_string();
        let cells = [row.short.clone(), status, row.workflow.clone(), place(row), age(row), task];
        let line = self.row(cells);
        // Colours have no width, so that they come last.
        let (run, rest) = line.split_at(row.short.len());
        let status = self.paint.standing(row.status);
        let rest = rest.replacen(row.status.as_str(), &status, 1);
        format!("{}{rest}", self.paint.ink(Ink::Strong, run))
    }

    fn row(&self, [run, status, workflow, place, age, task]: [String; 6]) -> String {
        let cell = |text: &str, width: usize| match width {
            0 => String::new(),
            width => format!("{:<width$}", shorten(text, width - 2)),
        };
        let (workflow, place) = (cell(&workflow, self.workflow), cell(&place, self.place));
        let line = format!(
            "{run:<8}  {status:<11}  {workflow}{place}{age:<0$}  {1}",
            self.age,
            shorten(&task, self.task)
        );
        line.trim_end().to_owned()
    }
}

fn place(row: &RunRow) -> String {
    row.places.iter().map(Place::as_str).collect::<Vec<_>>().join(", ")
}

fn age(row: &RunRow) -> String {
    format!("{} ago", words::age(handle::now().0.saturating_sub(row.updated_at.0)))
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
