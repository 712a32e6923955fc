//! What a rehearsal makes up for pools and races: folders that are there, merges without conflicts, and a choice.

use crate::base::ids::{FolderId, Outcome, Place, TreeId};
use crate::definition::workflow::{Phase, StepItem};
use crate::event::GateOpened;
use crate::event::input::Report;
use crate::event::pool::{FolderMade, MergePlanned, MergeWritten};
use crate::event::signal::Signal;
use crate::event::trees::Changes;
use crate::state::effect::Action;
use crate::state::{MergeStage, State};

/// Stands for files that no run has made.
const TREE: &str = "‹tree›";

/// What a performer would report next; `None` if nothing but workers is waited for. The error says why it cannot be made up.
pub(super) fn performed(state: &State) -> Option<Result<Report, String>> {
    let tree = || TreeId::from(TREE);
    state.due().into_iter().find_map(|effect| {
        Some(Ok(match effect.action {
            Action::ReadSteps => {
                let mut unread = state.pools.iter().filter(|(_, pool)| pool.version == 0);
                let place =
                    unread.next().map_or_else(|| Place::new(""), |(place, _)| place.clone());
                return Some(Err(format!("the steps of `{place}` are read once it begins")));
            }
            Action::MakeFolder(folder) => {
                Report::FolderMade(FolderMade { folder, tree: tree(), plain: None, path: None })
            }
            Action::DropFolder(folder) => Report::FolderDropped { folder, error: None },
            Action::PlanMerge(folder) => Report::MergePlanned(Box::new(MergePlanned {
                folder,
                ours: tree(),
                theirs: tree(),
                result: tree(),
                changes: Changes::default(),
                conflicts: 0,
                conflict_files: Vec::new(),
                unrecorded: Vec::new(),
            })),
            Action::WriteMerge(folder) => {
                let merging = state.step_in(folder).and_then(|(_, step)| step.merging());
                let fills = merging.is_some_and(|it| it.at == MergeStage::Filling);
                let into = if fills { FolderId::Work(folder) } else { FolderId::Project };
                let late = Vec::new();
                Report::MergeWritten(MergeWritten { folder, into, files: 0, late, error: None })
            }
            Action::RunAttempt(_)
            | Action::StopAttempt(_)
            | Action::Tell(..)
            | Action::RunTimer { .. }
            | Action::WaitUntil { .. }
            | Action::RecordTree(_)
            | Action::RestoreTree
            | Action::Notify(_) => return None,
        }))
    })
}

/// The pool or the race whose step, commands or judge a frame of one phase is for.
pub(super) fn around<'s>(state: &'s State, place: &Place) -> Option<&'s Phase> {
    let frame = state.frames.get(&place.frame())?;
    let workflow = state.workflow(&frame.workflow)?;
    let at = frame.at.as_ref().filter(|_| workflow.phases.len() == 1)?;
    state.pools.contains_key(at).then(|| state.phase_at(at)).flatten()
}

/// The answer to whose work is taken: the first one's.
pub(super) fn taken(state: &State, gate: &GateOpened) -> Option<String> {
    let is_race = state.pools.get(&gate.place).is_some_and(|pool| pool.race.is_some());
    gate.options.first().filter(|_| is_race).cloned()
}

/// What the worker that judges says: the first who finished.
pub(super) fn judged(state: &State, place: &Place) -> Option<Outcome> {
    let (_, pool) = state.judged_by(state.frames.get(&place.frame())?)?;
    pool.finishers().next().map(|step| Outcome::from(step.id.as_str()))
}

/// What a worker plans, of whom nothing is known.
pub(super) fn planned() -> Signal {
    let step = StepItem { id: "step".to_owned(), ..StepItem::default() };
    Signal::Plan { version: None, steps: vec![step] }
}
