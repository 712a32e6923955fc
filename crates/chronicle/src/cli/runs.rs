//! `chronicle runs`: lists the runs of a project.

use chronicle_core::base::cells::{pad, shorten, width};
use chronicle_core::base::ids::Place;
use chronicle_core::view::RunRow;
use chronicle_core::words;
use chronicle_runtime::handle::{self, HandleError};
use clap::Args;
use serde::Serialize;

use super::{Setting, json, older};
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
struct RunsDocument<'a> {
    runs: &'a [ListedRun],
    unreadable: &'a [Unreadable],
}

/// A run, with the project that it belongs to.
#[derive(Serialize)]
struct ListedRun {
    #[serde(flatten)]
    row: RunRow,
    /// Root of the project.
    project: String,
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
            Ok(row) => {
                let project = folder.project.display().to_string();
                rows.push(ListedRun { row, project });
            }
            // One bad run never hides the good ones.
            Err(error) => {
                terminal::talk(&not_shown(folder.id.short(), &error));
                let run = folder.id.to_string();
                unreadable.push(Unreadable { run, error: error.to_string() });
            }
        }
    }
    if !args.all {
        unreadable.extend(gone(setting));
        let project = setting.project.root().display().to_string();
        let (older, broken) = handle::older_runs(&setting.project);
        for run in broken {
            let error = format!("`{}`: {}", run.file, run.why);
            terminal::talk(&format!("Run {} of The Chronicle cannot be read: {error}", run.id));
            unreadable.push(Unreadable { run: run.id, error });
        }
        let listed = |run| ListedRun { row: older::row(run), project: project.clone() };
        rows.extend(older.iter().map(listed));
    }
    rows.sort_by_key(|listed| std::cmp::Reverse(listed.row.updated_at));
    if setting.json {
        json::say_document(&RunsDocument { runs: &rows, unreadable: &unreadable })?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() && unreadable.is_empty() {
        terminal::talk("No runs here yet. Start one with: chronicle run NAME \"TASK\"");
    }
    let table = Table::new(&rows, terminal::columns(), args.all);
    let head = terminal::is_result_watched().then(|| table.head()).filter(|_| !rows.is_empty());
    for line in head.into_iter().chain(rows.iter().map(|row| table.line(row))) {
        if !terminal::say(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Runs that are known here and whose folders somebody removed.
fn gone(setting: &Setting) -> Vec<Unreadable> {
    let gone = handle::gone_runs(&setting.project);
    for run in &gone {
        terminal::talk(&format!("Run {} cannot be read: its folder is gone.", run.id.short()));
    }
    if !gone.is_empty() {
        terminal::talk(
            "Put `.chronicle` back from a copy. Without one, `chronicle gc` forgets them.",
        );
    }
    let error = || "its folder is gone".to_owned();
    gone.iter().map(|run| Unreadable { run: run.id.to_string(), error: error() }).collect()
}

fn not_shown(run: &str, error: &HandleError) -> String {
    match error {
        HandleError::NotStarted { run } => {
            format!("Run {run} never started: `chronicle cancel {run}` removes it.")
        }
        error => format!("Run {run} cannot be read: {error}"),
    }
}

/// Titles of columns whose width depends on their cells.
const PROJECT: &str = "PROJECT";
const WORKFLOW: &str = "WORKFLOW";
const AT: &str = "AT";
const CHANGED: &str = "CHANGED";

/// Columns of a list that fits the terminal: the task has what is left, and where that is too little, names go.
struct Table {
    paint: Paint,
    project: usize,
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

    fn new(rows: &[ListedRun], columns: usize, has_projects: bool) -> Self {
        // As wide as its title and its widest cell need, up to a limit.
        let widest = |title: &str, text: &dyn Fn(&ListedRun) -> String, most: usize| {
            let widths = rows.iter().map(|row| width(&text(row)));
            widths.max().unwrap_or(0).clamp(title.len(), most)
        };
        let age = widest(CHANGED, &|it| age(&it.row), 20);
        let mut left = columns.saturating_sub(Self::FIXED + age + 2);
        let mut room = |width: usize| {
            let width = width + 2;
            // A column that leaves no room for the task is dropped whole: half a name helps nobody.
            let width = if left >= width + Self::TASK_MIN { width } else { 0 };
            left -= width;
            width
        };
        // Without its project a run of the whole machine says little: that column comes first.
        let project = if has_projects { room(widest(PROJECT, &project, 24)) } else { 0 };
        let place = room(widest(AT, &|it| place(&it.row), 16));
        let workflow = room(widest(WORKFLOW, &|it| it.row.workflow.clone(), 12));
        let task = left.max(Self::TASK_MIN / 2);
        Self { paint: Paint::stdout(), project, workflow, place, age, task }
    }

    fn head(&self) -> String {
        let cells = ["RUN", "STATUS", PROJECT, WORKFLOW, AT, CHANGED, "TASK"].map(str::to_owned);
        self.paint.ink(Ink::Dim, &self.row(cells))
    }

    fn line(&self, listed: &ListedRun) -> String {
        let row = &listed.row;
        let needs = match &row.waits_for {
            _ if row.stopped.is_some() => "(its supervisor is stopped) ".to_owned(),
            Some(run) => format!("(waits for run {run}) "),
            None if row.needs_you > 0 => "(needs you) ".to_owned(),
            None if row.unmerged => "(not merged) ".to_owned(),
            None => String::new(),
        };
        let task = format!("{needs}{}", words::one_line(row.title.as_ref().unwrap_or(&row.task)));
        let status = row.status.to_string();
        let (short, workflow) = (row.short.clone(), row.workflow.clone());
        let cells = [short, status, project(listed), workflow, place(row), age(row), task];
        let line = self.row(cells);
        // Colours have no width, so that they come last.
        let (run, rest) = line.split_at(row.short.len());
        let status = self.paint.standing(row.status);
        let rest = rest.replacen(row.status.as_str(), &status, 1);
        format!("{}{rest}", self.paint.ink(Ink::Strong, run))
    }

    fn row(&self, [run, status, project, workflow, place, age, task]: [String; 7]) -> String {
        let cell = |text: &str, cells: usize| match cells {
            0 => String::new(),
            cells => pad(&shorten(text, cells - 2), cells),
        };
        let project = cell(&project, self.project);
        let (workflow, place) = (cell(&workflow, self.workflow), cell(&place, self.place));
        let line = format!(
            "{run:<8}  {status:<11}  {project}{workflow}{place}{age:<0$}  {1}",
            self.age,
            shorten(&task, self.task)
        );
        line.trim_end().to_owned()
    }
}

/// The folder's own name: the whole path is in the JSON.
fn project(listed: &ListedRun) -> String {
    let name = std::path::Path::new(&listed.project).file_name();
    name.map_or_else(|| listed.project.clone(), |name| name.to_string_lossy().into_owned())
}

fn place(row: &RunRow) -> String {
    row.places.iter().map(Place::as_str).collect::<Vec<_>>().join(", ")
}

fn age(row: &RunRow) -> String {
    format!("{} ago", words::age(handle::now().0.saturating_sub(row.updated_at.0)))
}
