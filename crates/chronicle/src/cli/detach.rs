//! Staying at gates, and supervisors that outlive the terminal.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use chronicle_core::definition::settings::Settings;
use chronicle_core::state::Standing;
use chronicle_runtime::handle::{self, Rest, RunFolder, programs};
use clap::Args;

use super::{Setting, json};
use crate::exit_code::Exit;
use crate::failure::Failure;
use crate::terminal;

/// How long a detached supervisor may take to begin.
const BEGIN_PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// Where a detached supervisor talks, in the run's folder.
const LOG: &str = "supervisor.log";

/// How long a supervisor stays.
#[derive(Debug, Args)]
pub(super) struct StayArgs {
    /// Keep running while a person is needed, instead of exiting with code 4
    #[arg(long)]
    wait: bool,

    /// Continue without this terminal; `status`, `log --follow` and `pause` still reach the run
    #[arg(long, conflicts_with = "wait")]
    pub(super) detach: bool,
}

impl StayArgs {
    /// A flag has the first word, then the settings.
    pub(super) fn rest(&self, settings: &Settings) -> Rest {
        if self.wait || settings.waits_at_gates() { Rest::WhenOver } else { Rest::AtGates }
    }

    /// Whether it stays while a person is needed.
    pub(super) fn stays(&self, settings: &Settings) -> bool {
        self.detach || self.rest(settings) == Rest::WhenOver
    }
}

/// Starts a supervisor for the run that leaves this terminal, and returns once it has the run.
pub(super) fn detach(setting: &Setting, folder: &RunFolder) -> Result<Exit, Failure> {
    let log = folder.path.join(LOG);
    let words: Vec<OsString> = vec![
        setting.asker.chronicle.clone().into(),
        "-C".into(),
        folder.project.clone().into(),
        "resume".into(),
        folder.id.as_str().into(),
        // Nobody is there who could be asked, so it must stay until an answer comes from elsewhere.
        "--wait".into(),
        "--detached".into(),
        // Whoever starts it has been asked.
        "--trust".into(),
    ];
    let no_walls = setting.asker.no_walls.then(|| OsString::from("--no-walls"));
    let words: Vec<OsString> = words.into_iter().chain(no_walls).collect();
    let mut child = programs::detached(&words, &folder.project, &log)
        .map_err(|error| Failure::internal("no supervisor can be started", &error))?;
    let deadline = Instant::now() + BEGIN_PATIENCE;
    // Waited for, so that a supervisor that fails at once is told here and not found in a file by chance.
    while !has_begun(folder) {
        // A short run may be over before it is looked at: `has_begun` is asked first, and an exit counts as a failure only
        // after that.
        let ended = child.try_wait().ok().flatten();
        if ended.is_some() || Instant::now() >= deadline {
            return failed(&log);
        }
        std::thread::sleep(LOOK);
    }
    let (view, _) = handle::view(folder)?;
    if setting.json {
        json::say_view(&view)?;
        return Ok(Exit::Done);
    }
    let run = folder.id.short();
    terminal::say(&match &view.waits_for {
        Some(other) => format!(
            "Run {run} waits for run {other}, which works on the project's files; then it continues on its own."
        ),
        None => format!("Run {run} continues on its own."),
    });
    terminal::talk(&format!("Next: chronicle log {run} --follow  (or: status, pause, cancel)"));
    Ok(Exit::Done)
}

/// It holds the run, and has gone on from where it was found; a short run may be over by now.
fn has_begun(folder: &RunFolder) -> bool {
    handle::row(folder).is_ok_and(|row| match row.status {
        Standing::Done | Standing::Cancelled | Standing::Failed if !row.goes_on => true,
        // It may wait for the project's files.
        Standing::Paused => row.waits_for.is_some(),
        Standing::Running
        | Standing::Ending
        | Standing::Ready
        | Standing::Interrupted
        | Standing::Waiting
        | Standing::Done
        | Standing::Cancelled
        | Standing::Failed => handle::is_supervised(folder) || row.waits_for.is_some(),
    })
}

fn failed(log: &std::path::Path) -> Result<Exit, Failure> {
    let said = programs::said_in(log);
    let last: Vec<&str> = said.trim().lines().rev().take(3).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(Failure::new(
        Exit::Internal,
        format!(
            "the supervisor did not begin: {}",
            chronicle_core::words::one_line(&last.join(" "))
        ),
    )
    .hint(format!("look into `{}`", log.display())))
}
