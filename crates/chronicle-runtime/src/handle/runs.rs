//! Finding runs and making new ones: of one project, and of every project on this machine.

use std::io;
use std::path::PathBuf;

use chronicle_core::base::ids::RunId;
use thiserror::Error;

use crate::discover::{self, OlderRun};
use crate::index;
use crate::ledger::atomic_write;

pub use crate::index::{all as all_runs, was_begun};
pub use crate::project::{Claimed, FilesLock, Project, RunFolder, new_run_id};

/// Names the run of another program that a run goes on with.
const ADOPTED: &str = "adopted";

/// Characters that are enough to mean a run of this project.
const RUN_MIN: usize = 4;

/// Characters that are enough to mean a run of another project.
const SHORT_MIN: usize = 8;

/// A run that cannot be told.
#[derive(Debug, Error)]
pub enum FindError {
    /// No run has that id.
    #[error("no run `{text}` in `{}`", project.display())]
    None {
        /// What was asked for.
        text: String,
        /// Where.
        project: PathBuf,
    },
    /// Several runs do.
    #[error("`{text}` could be several runs: {}", runs.join(", "))]
    Many {
        /// What was asked for.
        text: String,
        /// Their ids.
        runs: Vec<String>,
    },
    /// So few characters may fit a run that nobody meant.
    #[error("`{text}` is too short for a run: {RUN_MIN} characters at least")]
    Short {
        /// What was asked for.
        text: String,
    },
    /// There are no runs at all.
    #[error("there are no runs in `{}`", project.display())]
    Empty {
        /// Where.
        project: PathBuf,
    },
}

/// Makes the folder of a new run, and remembers that this user began it.
pub fn new_run(project: &Project, id: RunId) -> io::Result<RunFolder> {
    let folder = project.make_run(id)?;
    index::add(&folder);
    index::mark_begun(&folder);
    Ok(folder)
}

/// The project's runs, the newest first. Each becomes known to the whole machine.
pub fn runs(project: &Project) -> Vec<RunFolder> {
    let runs = project.runs();
    runs.iter().for_each(index::add);
    runs
}

/// Says of a run that it goes on where a run of another program stood, so that the other one is not listed any more.
pub fn mark_adopted(folder: &RunFolder, older: &str) -> io::Result<()> {
    atomic_write(&folder.path.join(ADOPTED), older.as_bytes())
}

/// The runs of The Chronicle in a project that none of ours goes on with, the last changed first.
pub fn older_runs(project: &Project) -> Vec<OlderRun> {
    let adopted = project.runs().into_iter().filter_map(|run| {
        let id = std::fs::read(run.path.join(ADOPTED)).ok()?;
        String::from_utf8(id).ok()
    });
    let adopted: Vec<String> = adopted.collect();
    let mut runs = discover::older_runs(project);
    runs.retain(|run| !adopted.contains(&run.id));
    runs
}

/// The newest run of a project.
pub fn newest_run(project: &Project) -> Result<RunFolder, FindError> {
    let empty = || FindError::Empty { project: project.root().to_owned() };
    project.runs().into_iter().next().ok_or_else(empty)
}

/// The run that this text names: the beginning of what is shown of its id, or the beginning or end of the whole id. Of this project
/// first, then of any on this machine.
pub fn find_run(project: &Project, text: &str) -> Result<RunFolder, FindError> {
    if text.len() < RUN_MIN {
        return Err(FindError::Short { text: text.to_owned() });
    }
    let mut found = fitting(project.runs(), text);
    if found.is_empty() && text.len() >= SHORT_MIN {
        found = fitting(index::all(), text);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(FindError::None { text: text.to_owned(), project: project.root().to_owned() }),
        _ => Err(FindError::Many {
            text: text.to_owned(),
            runs: found.iter().map(|run| run.id.to_string()).collect(),
        }),
    }
}

fn fitting(runs: Vec<RunFolder>, text: &str) -> Vec<RunFolder> {
    let fits = |run: &RunFolder| {
        let id = run.id.as_str();
        run.id.short().starts_with(text) || id.starts_with(text) || id.ends_with(text)
    };
    runs.into_iter().filter(fits).collect()
}
