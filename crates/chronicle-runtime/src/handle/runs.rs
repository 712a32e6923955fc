//! Finds runs and creates new ones, in one project and on the whole machine.

use std::io;
use std::path::{Path, PathBuf};

use chronicle_core::base::ids::RunId;
use chronicle_core::base::time::Millis;
use thiserror::Error;

use crate::anchor;
use crate::discover::{self, BrokenRun, OlderRun};
use crate::index;
use crate::ledger::{Head, Ledger, atomic_write};
use crate::secrets;

pub use crate::index::{all as all_runs, was_begun};
pub use crate::project::{
    Claimed, FilesLock, Project, RunFolder, Waits, continuing_run_id, new_run_id,
};

/// File that names the run of another program that a run continues.
const ADOPTED: &str = "adopted";

/// Fewest characters that identify a run of this project.
const RUN_MIN: usize = 4;

/// Fewest characters that identify a run of another project.
const SHORT_MIN: usize = 8;

/// Most runs without a folder that are named at once.
const GONE_MAX: usize = 5;

/// Why a text does not identify a run.
#[derive(Debug, Error)]
pub enum FindError {
    /// No run has that id.
    #[error("no run `{text}` in `{}`", project.display())]
    None {
        /// The text as it was typed.
        text: String,
        /// Root of the project that was searched.
        project: PathBuf,
    },
    /// The text matches more than one run.
    #[error("`{text}` could be several runs: {}", runs.join(", "))]
    Many {
        /// The text as it was typed.
        text: String,
        /// Short ids of the matching runs.
        runs: Vec<String>,
    },
    /// The text is too short and could match an unintended run.
    #[error("`{text}` is too short for a run: {RUN_MIN} characters at least")]
    Short {
        /// The text as it was typed.
        text: String,
    },
    /// Runs that this machine knows, and whose folders are gone.
    #[error("{}", gone_words(runs, project))]
    Gone {
        /// Short ids of those runs.
        runs: Vec<String>,
        /// Root of the project that they belonged to.
        project: PathBuf,
    },
    /// The project has no runs.
    #[error("there are no runs in `{}`", project.display())]
    Empty {
        /// Root of the project that was searched.
        project: PathBuf,
    },
}

fn gone_words(runs: &[String], project: &Path) -> String {
    let folder = project.join(".chronicle/runs");
    match runs {
        [run] => format!("the folder of run {run} is gone from `{}`", folder.display()),
        runs => {
            format!("the folders of runs {} are gone from `{}`", runs.join(", "), folder.display())
        }
    }
}

/// Runs of this project that the machine's index knows and whose folders somebody removed; newest first.
pub fn gone_runs(project: &Project) -> Vec<RunFolder> {
    index::gone(project)
}

/// Forgets runs whose folders are gone.
pub fn forget_gone(runs: &[RunFolder]) {
    for run in runs.iter().filter(|run| !run.path.is_dir()) {
        index::forget(run);
        anchor::forget(run);
    }
}

/// Why there is no run at all.
pub fn no_runs(project: &Project) -> FindError {
    gone_among(project, |_| true)
        .unwrap_or_else(|| FindError::Empty { project: project.root().to_owned() })
}

fn gone_among(project: &Project, fits: impl Fn(&RunFolder) -> bool) -> Option<FindError> {
    let gone = index::gone(project).into_iter().filter(fits);
    let runs: Vec<String> = gone.take(GONE_MAX).map(|run| run.id.short().to_owned()).collect();
    let project = project.root().to_owned();
    (!runs.is_empty()).then_some(FindError::Gone { runs, project })
}

/// Creates the folder of a new run, and remembers that this user started it.
pub fn new_run(project: &Project, id: RunId) -> io::Result<RunFolder> {
    let folder = project.make_run(id)?;
    super::leftovers::sweep(&project.definitions());
    index::add(&folder);
    index::mark_begun(&folder);
    Ok(folder)
}

/// The project's runs, newest first. Each is added to the machine's index.
pub fn runs(project: &Project) -> Vec<RunFolder> {
    let runs = project.runs();
    runs.iter().for_each(index::add);
    runs
}

/// Marks that a run continues one of another program, so that the other one is no longer listed.
pub fn mark_adopted(folder: &RunFolder, older: &str) -> io::Result<()> {
    atomic_write(&folder.path.join(ADOPTED), older.as_bytes())
}

/// Runs of The Chronicle in a project that none of ours continues, last changed first, and files that cannot be read as one.
pub fn older_runs(project: &Project) -> (Vec<OlderRun>, Vec<BrokenRun>) {
    let (mut older, mut broken) = discover::older_runs(project);
    // Most projects have none, and `status` must not read something of each of a hundred runs to learn it.
    if older.is_empty() && broken.is_empty() {
        return (older, broken);
    }
    let ours = project.runs();
    let adopted: Vec<String> = ours.iter().filter_map(adopted).collect();
    older.retain(|run| !adopted.contains(&run.id));
    // Once it is continued nothing of the file is needed; and the mirror of a run of ours is written anew.
    let is_ours = |id: &str| ours.iter().any(|our| our.id.as_str() == id);
    broken.retain(|run| !adopted.contains(&run.id) && !is_ours(&run.id));
    // Here, so that no list, view or new run has to think of it: that program keeps texts as they were said.
    let redactor = secrets::redactor(project.root());
    for run in &mut older {
        run.redact(&redactor);
    }
    for run in &mut broken {
        redactor.redact_in_place(&mut run.why);
    }
    (older, broken)
}

/// The run of The Chronicle that one of ours continues.
fn adopted(run: &RunFolder) -> Option<String> {
    let id = std::fs::read(run.path.join(ADOPTED)).ok()?;
    // One that was killed before its first line continues nothing yet.
    run.ledger().read(Head::EMPTY).ok()?.next()?.ok()?;
    String::from_utf8(id).ok()
}

/// The runs of a project and when each was last written to, last changed first. No ledger is read for it, so that it costs next to
/// nothing with hundreds of runs.
pub fn by_change(project: &Project) -> Vec<(Millis, RunFolder)> {
    let runs = project.runs().into_iter();
    let mut runs: Vec<(Millis, RunFolder)> =
        runs.map(|run| (run.ledger().written_at().unwrap_or_default(), run)).collect();
    // Stable: of two that were written in the same moment the one that began later comes first.
    runs.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    runs
}

/// The run that this text identifies: a prefix of its short id, or a prefix or suffix of its full id, or a prefix of the id of the
/// run of another program that it continues. Runs of this project first, then of any on this machine.
pub fn find_run(project: &Project, text: &str) -> Result<RunFolder, FindError> {
    if text.len() < RUN_MIN {
        return Err(FindError::Short { text: text.to_owned() });
    }
    let mut found = fitting(project.runs(), text);
    if found.is_empty() {
        // A run of another program goes on here under another id: its own still leads to it.
        let older = text.to_lowercase();
        let continues =
            |run: &RunFolder| adopted(run).is_some_and(|id| id.to_lowercase().starts_with(&older));
        found = project.runs().into_iter().filter(continues).collect();
    }
    if found.is_empty() && text.len() >= SHORT_MIN {
        found = fitting(index::all(), text);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(gone_among(project, |run| fits(run, &text.to_lowercase())).unwrap_or_else(|| {
            FindError::None { text: text.to_owned(), project: project.root().to_owned() }
        })),
        _ => Err(FindError::Many {
            text: text.to_owned(),
            runs: found.iter().map(|run| run.id.to_string()).collect(),
        }),
    }
}

fn fitting(runs: Vec<RunFolder>, text: &str) -> Vec<RunFolder> {
    let text = text.to_lowercase();
    runs.into_iter().filter(|run| fits(run, &text)).collect()
}

fn fits(run: &RunFolder, text: &str) -> bool {
    let id = run.id.as_str();
    run.id.short().starts_with(text) || id.starts_with(text) || id.ends_with(text)
}
