//! Shows runs of The Chronicle that none of ours continues yet. Their files are only read.

use chronicle_core::base::cells::pad;
use chronicle_core::base::ids::{FramePath, PhaseId};
use chronicle_core::base::time::Millis;
use chronicle_core::state::Standing;
use chronicle_core::view::{RunRow, Spent};
use chronicle_core::words;
use chronicle_runtime::handle::definitions::OlderRun;
use serde::Serialize;

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal::{self, Ink, Paint};

/// Longest name of a state that its column leaves room for.
const STATE_MAX: usize = 20;

/// Such a run in a list of runs.
pub(super) fn row(older: &OlderRun) -> RunRow {
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
        stopped: None,
        goes_on: can_continue(older),
        places: vec![FramePath::root().place(&PhaseId::new(older.current_state.clone()))],
        needs_you: 0,
        unmerged: false,
        waits_for: None,
        // That program counts no dollars. Without a price, nothing is shown as free.
        spent: Spent { tokens: older.tokens(), usd_micros: 0, priced: false, estimated: false },
        started_at: Millis(older.created),
        updated_at: older.updated_at(),
    }
}

/// Whether `resume` can continue it.
pub(super) fn can_continue(older: &OlderRun) -> bool {
    !older.is_over() && older.stuck().is_none()
}

/// Such a run as JSON, with the work of each worker.
#[derive(Serialize)]
struct OlderDocument<'a> {
    #[serde(flatten)]
    row: RunRow,
    file: &'a str,
    history: Vec<OlderStep<'a>>,
}

#[derive(Serialize)]
struct OlderStep<'a> {
    state: &'a str,
    summary: &'a str,
}

fn history(older: &OlderRun) -> impl Iterator<Item = OlderStep<'_>> {
    older.history.iter().map(|it| OlderStep { state: &it.state, summary: &it.summary })
}

/// What `status` shows of it.
pub(super) fn status(setting: &Setting, older: &OlderRun) -> Result<Exit, Failure> {
    let row = row(older);
    if setting.json {
        let history = history(older).collect();
        json::say_document(&OlderDocument { row, file: &older.file, history })?;
        return Ok(Exit::Done);
    }
    let paint = Paint::stdout();
    let head = format!(
        "{}  {}  {}: {}",
        paint.ink(Ink::Strong, &row.short),
        paint.standing(row.status),
        words::one_line(&row.workflow),
        words::one_line(&row.task)
    );
    let (at, file) = (words::one_line(&older.current_state), words::one_line(&older.file));
    let mut lines =
        vec![head, String::new(), format!("  a run of The Chronicle, at `{at}`: {file}")];
    lines.push(String::new());
    lines.extend(history(older).map(|it| format!("  {}", worked(&it))));
    if let Some(why) = older.stuck() {
        lines.push(format!("\n  It cannot continue: {}", words::one_line(&why)));
    }
    if row.goes_on {
        lines.push(format!("\n  Next: chronicle resume {}", row.short));
    }
    terminal::say_wrapped(&lines.join("\n"));
    Ok(Exit::Done)
}

/// What `log` shows of it: its file has one record per worker, and no times.
pub(super) fn log(setting: &Setting, older: &OlderRun) -> Result<Exit, Failure> {
    for (number, it) in (1..).zip(history(older)) {
        let line = if setting.json {
            json::document_line(&it)?
        } else {
            format!("{number:>5}  {}", worked(&it))
        };
        if !terminal::say(&line) {
            break;
        }
    }
    Ok(Exit::Done)
}

fn worked(it: &OlderStep<'_>) -> String {
    let (state, summary) = (words::one_line(it.state), words::one_line(it.summary));
    format!("{}  {summary}", pad(&state, STATE_MAX)).trim_end().to_owned()
}
