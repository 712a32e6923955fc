//! Worthless leftovers of killed processes: runs without a first line, and unfinished files.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{HandleError, witnesses};
use crate::clock;
use crate::home;
use crate::index;
use crate::ledger::{self, Head, Holder, Ledger as _};
use crate::project::{Project, RunFolder};
use crate::regular;

/// Making a run or a file takes less than this: what is younger may be in use.
const YOUNG: Duration = Duration::from_mins(1);

/// Runs that were killed before their first line, and that no process is about to start.
pub fn unstarted(project: &Project) -> Vec<RunFolder> {
    // A folder without a line may belong to a run that another process is just starting.
    let is_leftover = |run: &RunFolder| is_old(&run.path) && has_no_line(run);
    project.runs().into_iter().filter(is_leftover).collect()
}

/// Runs without a line that are too young to tell whether a process is about to start them.
pub fn starting(project: &Project) -> Vec<RunFolder> {
    let is_young = |run: &RunFolder| !is_old(&run.path) && has_no_line(run);
    project.runs().into_iter().filter(is_young).collect()
}

fn has_no_line(run: &RunFolder) -> bool {
    let first = run.ledger().read(Head::EMPTY).map(|mut lines| lines.next());
    matches!(first, Ok(None)) && check(run).is_ok()
}

/// Makes sure that no witness knows of a line: a ledger that lost its lines is damaged, and not removed.
fn check(run: &RunFolder) -> Result<(), HandleError> {
    witnesses::check(run, Head::EMPTY)?;
    let nothing = chronicle_core::state::State::default();
    Ok(witnesses::check_started(run, &witnesses::started(run), &nothing)?)
}

/// Removes the folder of a run that never had a line. False if it has one: then nothing is done.
pub fn discard(run: &RunFolder) -> Result<bool, HandleError> {
    if !has_no_line(run) {
        return Ok(false);
    }
    // With the lock nobody begins it meanwhile.
    let claim = run.ledger().claim(Holder::current("chronicle", clock::now()))?;
    let mut lines = claim.read(Head::EMPTY)?;
    // Looked at again under the lock: it may have started since.
    if lines.next().is_some() {
        return Ok(false);
    }
    fs::remove_dir_all(&run.path).map_err(|error| {
        ledger::LedgerError::io("remove", run.path.display().to_string(), error)
    })?;
    index::forget(run);
    Ok(true)
}

/// Removes the folder of a run that this process made and could not begin, unless it has something in its ledger. Takes no lock,
/// which needs open files that there may be none of: nobody else was told of the run.
pub(super) fn discard_new(run: &RunFolder) {
    let ledger = run.ledger();
    let is_empty = fs::metadata(ledger.ledger_path()).map_or(true, |meta| meta.len() == 0);
    if is_empty && ledger.holder().is_none() && fs::remove_dir_all(&run.path).is_ok() {
        index::forget(run);
    }
}

/// Removes unfinished files from a project's own folder and from the user's state. Returns how many.
pub fn sweep_unfinished(project: &Project) -> usize {
    let state = home::state();
    let below = |name: &str| state.as_ref().map(|state| state.join(name));
    let of_user = ["runs", "begun", "trust", "anchors"].map(below).into_iter().flatten();
    let folders = [project.definitions(), project.root().join(".pi/chronicle/sessions")];
    let trees = project.definitions().join("trees.git");
    let of_trees = ["chronicle/modes", "chronicle", "info", ""].map(|name| trees.join(name));
    let settings = home::config();
    // A run that nobody drives has no writer. Whoever opens it sweeps its folders too.
    let at_rest = project.runs().into_iter().filter(|run| run.ledger().holder().is_none());
    let of_runs = at_rest.flat_map(|run| [run.path.join("artifacts"), run.path]);
    let all = folders.into_iter().chain(of_user).chain(of_trees).chain(settings).chain(of_runs);
    all.map(|folder| sweep(&folder)).sum()
}

pub(super) fn sweep(folder: &Path) -> usize {
    if regular::check_folder(folder).is_err() {
        return 0;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // These folders have no lock, so only age tells a leftover from a file that is being written.
    let is_unfinished = |path: &std::path::PathBuf| ledger::is_unfinished(path) && is_old(path);
    entries.filter(is_unfinished).filter(|path| fs::remove_file(path).is_ok()).count()
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|found| found.modified());
    let age = changed.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
    age.is_ok_and(|age| age >= YOUNG)
}
