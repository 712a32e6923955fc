//! Witnesses of how far a ledger went: its cache, `run.json`, the anchor outside of the project, and the locks of keepers. A
//! ledger that lacks what one of them saw was truncated, replaced, or written by another program.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::state::State;
use serde::Deserialize;

use crate::anchor::{self, Anchor};
use crate::driver::Run;
use crate::ledger::{self, Head, Holder, LedgerError};
use crate::project::RunFolder;
use crate::regular::{self, Links};

/// Longest `run.json` that is read.
const RUN_JSON_MAX: u64 = 64 * 1024 * 1024;
/// How often an anchor that changes meanwhile is read again: another process may be about to drive the run.
const LOOKS_MAX: u32 = 8;

/// Opens a run for writing, only if its ledger is unchanged.
pub(super) fn open(folder: &RunFolder, who: Holder) -> Result<Run, LedgerError> {
    check_folders(folder)?;
    // Without the cache: whoever writes checks every line first.
    let run = Run::open_if(&folder.ledger(), who, None, |head, state| {
        check(folder, head)?;
        check_started(folder, &started(folder), state)?;
        check_name(folder, state)
    })?;
    wake(folder)?;
    Ok(run)
}

/// Refuses links in the place of the folders that a run writes to: a worker could have made them, to have us write elsewhere.
fn check_folders(folder: &RunFolder) -> Result<(), LedgerError> {
    for path in folder.written() {
        let checked = regular::check_folder(&path);
        checked.map_err(|error| LedgerError::io("use", path.display().to_string(), error))?;
    }
    Ok(())
}

/// Records that the ledger may grow, before its next line is written.
pub(super) fn wake(folder: &RunFolder) -> Result<(), LedgerError> {
    let place = || folder.path.display().to_string();
    anchor::wake(folder).map_err(|error| LedgerError::io("write the anchor of", place(), error))
}

/// The line after which the run may continue at a person's request, if intact lines follow that Chronicle did not write; `None`
/// if there are none.
pub(super) fn before_foreign(folder: &RunFolder, read: Head) -> Option<Head> {
    let anchor = anchor::read(folder).filter(|anchor| anchor.rests)?;
    let is_foreign = read.seq > anchor.head.seq && folder.ledger().has(&anchor.head).ok()?;
    is_foreign.then_some(anchor.head)
}

/// Compares a ledger that was read up to there with all witnesses.
pub(super) fn check(folder: &RunFolder, read: Head) -> Result<(), LedgerError> {
    let ledger = folder.ledger();
    let projected = ledger::known(&ledger).map(|head| (head, "`state.cache`"));
    let projected = projected.or_else(|| Some((projected_in(folder)?, "`run.json`")));
    if let Some((known, by)) = projected
        && !ledger.has(&known)?
    {
        return Err(lacks(folder, read, known, by));
    }
    check_anchor(folder, read)
}

/// The folder's name is the run's id. A copy under another name would be another run, and do the rest of the work once more.
pub(super) fn check_name(folder: &RunFolder, state: &State) -> Result<(), LedgerError> {
    match &state.run {
        Some(started) if started.run != folder.id => {
            let original = folder.path.with_file_name(started.run.as_str());
            Err(LedgerError::Copied {
                place: folder.ledger().ledger_path().display().to_string(),
                run: started.run.to_string(),
                has_original: original.is_dir(),
                folders: [&folder.path, &original].map(|path| path.display().to_string()),
            })
        }
        _ => Ok(()),
    }
}

/// Attempts that have a keeper's lock. If the run is driven, call this before reading its ledger.
pub(super) fn started(folder: &RunFolder) -> Vec<AttemptId> {
    let entries = std::fs::read_dir(folder.keepers()).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.strip_suffix(".lock")?.parse().ok()).collect()
}

/// An attempt with a keeper was started, so its line must have been synced before.
pub(super) fn check_started(
    folder: &RunFolder,
    started: &[AttemptId],
    state: &State,
) -> Result<(), LedgerError> {
    let known = state.attempts.len();
    let is_unknown = |attempt: &&AttemptId| usize::try_from(attempt.0).is_ok_and(|it| it > known);
    match started.iter().filter(is_unknown).min() {
        Some(attempt) => {
            let why =
                format!("it ends at line {}, and {attempt} was started after that", state.seq);
            Err(conflict(folder, why))
        }
        None => Ok(()),
    }
}

/// Compares it with the anchor alone. The anchor is read after the ledger: a process that appends in between has announced that
/// before.
pub(super) fn check_anchor(folder: &RunFolder, read: Head) -> Result<(), LedgerError> {
    let mut known = anchor::read(folder);
    for _ in 0..LOOKS_MAX {
        let Some(anchor) = known else { return Ok(()) };
        let Some(wrong) = unlike(folder, &anchor, read)? else { return Ok(()) };
        known = anchor::read(folder);
        if known == Some(anchor) {
            return Err(wrong);
        }
    }
    Ok(())
}

fn unlike(
    folder: &RunFolder,
    anchor: &Anchor,
    read: Head,
) -> Result<Option<LedgerError>, LedgerError> {
    let known = anchor.head;
    if !folder.ledger().has(&known)? {
        return Ok(Some(lacks(folder, read, known, "the anchor outside of the project")));
    }
    let is_foreign = anchor.rests && read.seq > known.seq;
    Ok(is_foreign.then(|| {
        let lines = match (known.seq + 1, read.seq) {
            (only, last) if only == last => format!("line {only} was"),
            (first, last) => format!("lines {first} to {last} were"),
        };
        conflict(folder, format!("{lines} written while the run was not being driven"))
    }))
}

fn lacks(folder: &RunFolder, read: Head, known: Head, by: &str) -> LedgerError {
    let why = if read.seq < known.seq {
        format!("it ends at line {}, and {by} knows {} lines", read.seq, known.seq)
    } else {
        format!("its line {} is not the one that {by} knows", known.seq)
    };
    conflict(folder, why)
}

fn conflict(folder: &RunFolder, why: String) -> LedgerError {
    LedgerError::Conflict { place: folder.ledger().ledger_path().display().to_string(), why }
}

/// How far the ledger went when `run.json` was written.
fn projected_in(folder: &RunFolder) -> Option<Head> {
    #[derive(Deserialize)]
    struct Projected {
        id: String,
        ledger: Head,
    }
    let bytes = regular::read(&folder.run_json(), RUN_JSON_MAX, Links::Refused).ok()?;
    let projected: Projected = serde_json::from_slice(&bytes).ok()?;
    (projected.id == folder.id.as_str()).then_some(projected.ledger)
}
