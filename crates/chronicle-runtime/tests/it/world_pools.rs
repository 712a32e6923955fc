//! What becomes of a pool's work in worlds without files: folders are made and removed, merges are clean, and nothing is late. A step called
//! `nofolder` gets none, and one called `clash` is in conflict.

use chronicle_core::base::ids::{FolderId, TreeId};
use chronicle_core::definition::workflow::StepItem;
use chronicle_core::event::input::Report;
use chronicle_core::event::pool::{ConflictFile, FolderMade, MergePlanned, MergeWritten};
use chronicle_core::event::trees::Changes;
use chronicle_core::state::effect::Action;
use chronicle_core::state::{MergeStage, OWN_FOLDER, State};

/// True if the step that works in a folder has that name: some of them have bad luck.
fn is_called(state: &State, folder: u32, name: &str) -> bool {
    state.step_in(folder).is_some_and(|(_, step)| step.id.as_str() == name)
}

/// `a b<a,c`: two steps, the second after `a` and `c`.
pub(crate) fn steps(text: &str) -> Vec<StepItem> {
    let step = |word: &str| {
        let (id, needs) = word.split_once('<').unwrap_or((word, ""));
        let needs = needs.split(',').filter(|it| !it.is_empty()).map(str::to_owned);
        StepItem { id: id.to_owned(), depends_on: needs.collect(), ..StepItem::default() }
    };
    text.split_whitespace().map(step).collect()
}

/// The report of an effect of a pool; `None` for others.
pub(crate) fn pool_report(state: &State, action: Action) -> Option<Report> {
    let tree = |name: &str| TreeId::new(name);
    match action {
        Action::ReadSteps => {
            let (place, _) = state.pools.iter().find(|(_, pool)| pool.version == 0)?;
            let why = "there is no file in this world".to_owned();
            Some(Report::StepsUnread { place: place.clone(), why })
        }
        Action::MakeFolder(folder) if is_called(state, folder, "nofolder") => {
            Some(Report::FolderFailed { folder, why: "the disk is full".to_owned() })
        }
        Action::MakeFolder(folder) => {
            let made = FolderMade { folder, tree: tree("made"), plain: None, path: None };
            Some(Report::FolderMade(made))
        }
        Action::DropFolder(folder) => Some(Report::FolderDropped { folder, error: None }),
        Action::PlanMerge(folder) => {
            let result = tree(&format!("merged {folder}"));
            let favour = state.merging_of(folder)?.favour;
            // The work of a whole run is in conflict the first time.
            let is_bad = folder == OWN_FOLDER || is_called(state, folder, "clash");
            let clashes = favour.is_none() && is_bad;
            let what = "changed on both sides".to_owned();
            let file = ConflictFile { path: "a.txt".to_owned(), what, is_unrecorded: false };
            Some(Report::MergePlanned(Box::new(MergePlanned {
                folder,
                ours: tree("ours"),
                theirs: tree("theirs"),
                result,
                changes: Changes::default(),
                conflicts: u32::from(clashes),
                conflict_files: if clashes { vec![file] } else { Vec::new() },
                unrecorded: Vec::new(),
            })))
        }
        Action::WriteMerge(folder) => {
            let is_result = state.merging_of(folder)?.at == MergeStage::Writing;
            let into = if is_result { FolderId::Project } else { FolderId::Work(folder) };
            let (late, error) = (Vec::new(), None);
            Some(Report::MergeWritten(MergeWritten { folder, into, files: 1, late, error }))
        }
        Action::RunAttempt(_)
        | Action::StopAttempt(_)
        | Action::Tell(..)
        | Action::RunTimer { .. }
        | Action::WaitUntil { .. }
        | Action::RecordTree(_)
        | Action::RestoreTree
        | Action::Notify(_) => None,
    }
}
