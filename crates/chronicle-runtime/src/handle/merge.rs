//! The merge of a run that worked apart: its folder's files come into the project, while this process holds the project's files.
//!
//! It is the merge of a step's folder, for the whole run, and recorded in the run's own ledger: one that was killed is finished by
//! the next `merge` or `resume`, and until then no other run starts on the project's files.

use std::path::PathBuf;

use chronicle_core::base::ids::{FolderId, GateId};
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, Command, Report};
use chronicle_core::event::trees::Changes;
use chronicle_core::state::{FolderStage, OWN_FOLDER, State};

use super::telling::record_in;
use super::undo::{lock, open};
use super::{HandleError, reading};
use crate::effects::Recorder;
use crate::inbox::{self, Asker, asked, reported};
use crate::project::{Project, RunFolder};
use crate::secrets;
use crate::work::{self, Leftover, WorkError};

/// What came of a command about the work of a run that worked apart.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Merged {
    /// What the engine answered.
    pub said: String,
    /// What the merge changed in the project; `None` if nothing was merged by this.
    pub changes: Option<Changes>,
    /// The gate that waits for a person now.
    pub gate: Option<GateId>,
}

/// Gives a command about the work of a run, and goes on with the merge as far as it goes by itself.
pub fn merge(folder: &RunFolder, asker: &Asker, command: Command) -> Result<Merged, HandleError> {
    let _files = lock(folder)?;
    record(folder, asker, command, true)
}

/// Drops the work of a run. The project's files are not touched.
pub fn drop_work(folder: &RunFolder, asker: &Asker) -> Result<Merged, HandleError> {
    record(folder, asker, Command::DropWork, false)
}

/// True if a gate, or the only one that is open, is about the merge of the run's own folder.
pub fn is_own_gate(folder: &RunFolder, gate: Option<GateId>) -> Result<bool, HandleError> {
    let (state, _) = reading::read(folder)?;
    let own = state.apart.as_ref().and_then(|apart| apart.gate);
    Ok(own.is_some() && gate.is_none_or(|gate| Some(gate) == own))
}

fn record(
    folder: &RunFolder,
    asker: &Asker,
    command: Command,
    has_files: bool,
) -> Result<Merged, HandleError> {
    let mut run = open(folder, asker)?;
    let redactor = secrets::redactor(&folder.project);
    let (command, had_secrets) = secrets::spoken(&redactor, command);
    let (message, answer) = inbox::asking(asked(&asker.who, command));
    let lost = lost_own(folder, run.state()).filter(|_| has_files);
    let first = run.torn().into_iter().chain(lost).map(inbox::told).chain([message]).collect();
    let world = Recorder::new(folder, run.state());
    let world = if has_files { world.with_files() } else { world };
    let lines = record_in(folder, &mut run, world, first)?;
    let answer = answer.recv().map_err(|_| HandleError::Driver {
        run: folder.id.short().to_owned(),
        why: "gave no answer".to_owned(),
    })?;
    let said = match secrets::answered(answer, had_secrets) {
        Answer::Refused(why) => return Err(HandleError::Refused { why }),
        Answer::Accepted(said) => said,
        Answer::Noted | Answer::Verdict(_) | Answer::Stopped(_) | Answer::Waits => String::new(),
    };
    let events = lines.iter().flat_map(|line| &line.events);
    let planned = events.rev().find_map(|event| match event {
        Event::MergePlanned(planned) if planned.folder == OWN_FOLDER => Some(planned),
        _ => None,
    });
    let apart = run.state().apart.as_ref();
    let gate = apart.and_then(|apart| apart.gate);
    let is_merged = apart.is_some_and(|apart| apart.fate.is_some() && apart.merging.is_none());
    let changes = planned.filter(|_| is_merged).map(|it| it.changes.clone());
    Ok(Merged { said, changes, gate })
}

/// That the folder of a run that works apart is gone from the disk, if it should be there.
fn lost_own(folder: &RunFolder, state: &State) -> Option<chronicle_core::event::input::Input> {
    lost(folder, state).into_iter().find(|number| *number == OWN_FOLDER).map(gone)
}

/// The report that a folder is gone.
pub(super) fn gone(folder: u32) -> chronicle_core::event::input::Input {
    reported(Report::FolderLost { folder })
}

/// Work folders that should be there and are not. They are made again from what was recorded last.
pub(super) fn lost(folder: &RunFolder, state: &State) -> Vec<u32> {
    let own = state.apart.as_ref().filter(|apart| apart.is_made() && apart.fate.is_none());
    let own = own.map(|_| OWN_FOLDER);
    let made = state.works.iter().filter(|(_, work)| work.at == FolderStage::Made);
    let all = own.into_iter().chain(made.map(|(number, _)| *number));
    all.filter(|number| folder.path_of(FolderId::Work(*number)).is_err()).collect()
}

/// Work folders that are still on the disk although their runs are over.
#[derive(Debug, Default)]
pub struct WorkLeft {
    /// Those that nobody needs any more.
    pub folders: Vec<Leftover>,
    /// Runs with work that is neither merged nor dropped.
    pub unmerged: Vec<Unmerged>,
    /// Folders with files that are nowhere else.
    pub only: Vec<OnlyCopy>,
}

/// Work of a run that is over, neither merged nor dropped.
#[derive(Debug)]
pub struct Unmerged {
    /// The short id of the run.
    pub run: String,
    /// The run's own folder.
    pub path: PathBuf,
    /// The gate at which its merge waits.
    pub gate: Option<GateId>,
}

/// A work folder that stayed because something is only there.
#[derive(Debug)]
pub struct OnlyCopy {
    /// What is left of it.
    pub left: Leftover,
    /// The files, as far as they have names; none if that is all that was done there.
    pub files: Vec<String>,
    /// True if the run's record is gone: nothing says whether its work is anywhere else.
    pub is_unknown: bool,
}

/// What runs of a project that are over left in their work folders.
pub fn work_left(project: &Project) -> WorkLeft {
    let mut left = WorkLeft::default();
    for found in work::leftovers(is_over) {
        let Some(run) = work::owner(&found).filter(|run| run.project == project.root()) else {
            continue;
        };
        // What was half made, or half removed, has another name.
        let is_whole =
            run.work(found.number).is_some_and(|path| path.parent() == Some(&found.path));
        if !is_whole {
            left.folders.push(found);
            continue;
        }
        // Its record may come back, and only that says whether the work is anywhere else.
        let Some((state, _)) = reading::read(&run).ok() else {
            left.only.push(OnlyCopy { files: Vec::new(), left: found, is_unknown: true });
            continue;
        };
        let unmerged = state.apart.as_ref().filter(|apart| apart.is_unmerged());
        if let Some(apart) = unmerged.filter(|_| found.number == OWN_FOLDER) {
            let path = run.work(OWN_FOLDER).unwrap_or(found.path);
            let run = run.id.short().to_owned();
            left.unmerged.push(Unmerged { run, path, gate: apart.gate });
        } else if let Some(files) = state.only_in(found.number) {
            let files = files.to_vec();
            left.only.push(OnlyCopy { files, left: found, is_unknown: false });
        } else {
            left.folders.push(found);
        }
    }
    left
}

/// Removes what nobody needs any more. Returns the paths.
pub fn remove_work<'a>(
    left: impl IntoIterator<Item = &'a Leftover>,
) -> Result<Vec<String>, WorkError> {
    let mut removed = Vec::new();
    for folder in left {
        work::remove(folder)?;
        removed.push(folder.path.display().to_string());
    }
    Ok(removed)
}

/// What cannot be read is not over: it may be readable for a newer version, or after a repair.
fn is_over(run: &RunFolder) -> bool {
    let read = reading::read(run).ok().filter(|(_, newer)| newer.is_none());
    let is_over = |state: &State| state.is_over() && !state.can_resume();
    read.is_some_and(|(state, _)| is_over(&state)) && !reading::is_supervised(run)
}
