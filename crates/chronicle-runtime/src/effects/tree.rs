//! Records and restores the project's files, one job at a time on a thread of its own.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use chronicle_core::base::ids::{Cause, FolderId, SHELL, TreeId};
use chronicle_core::event::input::{Input, Report};
use chronicle_core::event::trees::{
    Changes, ForbiddenChange, HeadMoved, Moment, RepositoryHead, Restored, TreeRecorded, Unclear,
};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{Attempt, State, Stretch};

use crate::fail::{self, Point};
use crate::guard::Guard;
use crate::inbox::{InboxMessage, reported};
use crate::loaded::LoadedFiles;
use crate::process::Leash;
use crate::project::{Project, RunFolder};
use crate::threads;
use crate::trees::{self, Excludes, Trees, TreesError, Whose, own_outputs, touched_at};
use crate::{discover, secrets};

pub(super) struct Recordings {
    folder: RunFolder,
    inbox: SyncSender<InboxMessage>,
    running: BTreeSet<Cause>,
    opened: Arc<Mutex<Opened>>,
    max_bytes: u64,
    leash: Leash,
}

/// The trees of each folder, opened once. Before that, the person's ignore rules, which are read while the run starts.
#[derive(Default)]
struct Opened {
    excludes: Option<Excludes>,
    trees: BTreeMap<FolderId, Trees>,
}

/// One job with all that it needs.
struct TreeJob {
    folder: RunFolder,
    /// Which of the run's folders is recorded.
    of: FolderId,
    cause: Cause,
    what: TreeWork,
    /// Whether its folder should be there.
    is_made: bool,
    /// What finds changes that the rules forbid.
    guard: Option<Arc<Guard>>,
    /// Larger files are not recorded.
    max_bytes: u64,
    /// Ends a git that would not end by itself.
    leash: Leash,
}

enum TreeWork {
    Record(Moment, Before),
    Restore {
        from: TreeId,
        to: TreeId,
        /// What the rules forbid among the files that it may bring back.
        forbidden: Vec<ForbiddenChange>,
    },
}

/// What a new tree is compared with.
#[derive(Default)]
struct Before {
    tree: Option<TreeId>,
    /// Head of the person's repository then.
    head: Option<RepositoryHead>,
    /// When the attempt could change files.
    hands: Vec<Stretch>,
}

impl Recordings {
    pub(super) fn new(folder: RunFolder, inbox: SyncSender<InboxMessage>, max_bytes: u64) -> Self {
        let opened: Arc<Mutex<Opened>> = Arc::default();
        let (later, project) = (Arc::clone(&opened), folder.project.clone());
        let leash = Leash::default();
        let asking = leash.clone();
        let ask = move || {
            let mut opened = later.lock().unwrap_or_else(PoisonError::into_inner);
            if opened.trees.is_empty() {
                let excludes = Excludes::find(&project, &asking);
                // Not what was found without an answer: the first recording asks again, and says why there is none.
                opened.excludes = asking.take().is_none().then_some(excludes);
            }
        };
        // This only saves time: without the thread, the first recording asks git itself.
        let _ = threads::spawn("ignored", ask);
        Self { folder, inbox, running: BTreeSet::new(), opened, max_bytes, leash }
    }

    /// Drops jobs that are no longer due.
    pub(super) fn keep(&mut self, due: &[Effect]) {
        self.running.retain(|cause| due.iter().any(|effect| effect.cause == *cause));
    }

    /// A run that is to rest does not wait for git without end.
    pub(super) fn hurry(&self, is_to_rest: bool) {
        self.leash.hurry(is_to_rest);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Starts a due job, unless it is running.
    pub(super) fn perform(
        &mut self,
        state: &State,
        effect: &Effect,
        guard: Option<Arc<Guard>>,
    ) -> Option<Input> {
        // The cause identifies the job: the same effect stays due until its report is decided.
        if !self.running.insert(effect.cause) {
            return None;
        }
        let guard = guard.filter(|_| is_by_worker(state, effect));
        let job = TreeJob { guard, ..job(&self.folder, state, effect, self.max_bytes)? };
        let job = Arc::new(TreeJob { leash: self.leash.clone(), ..job });
        let (its_job, opened) = (Arc::clone(&job), Arc::clone(&self.opened));
        let inbox = self.inbox.clone();
        let work = move || {
            let report = its_job.report(&opened);
            // A driver that is gone needs no report.
            let _ = inbox.send(InboxMessage::Input(Box::new(report), None));
        };
        // Without a thread the driver does it itself, and everything else waits.
        threads::spawn("tree", work).err().map(|_| job.report(&self.opened))
    }
}

/// Finishes what is past at once: records files after an attempt, or restores them. A tree before an attempt is for the process
/// that drives it.
pub(super) fn finish(folder: &RunFolder, state: &State, effect: &Effect) -> Option<Input> {
    if matches!(effect.action, Action::RecordTree(Moment::Before(_))) {
        return None;
    }
    let run = state.run.as_ref().filter(|_| is_by_worker(state, effect));
    let of = folder_of(state, effect);
    // Its supervisor may have been killed while a worker ran there.
    LoadedFiles::new(folder.clone()).settle(of);
    let guard = run.and_then(|run| Guard::of_run(run, folder, of, &[]).ok()).map(Arc::new);
    let job = TreeJob { guard, ..job(folder, state, effect, max_bytes(folder))? };
    Some(reported(job.perform(&mut Opened::default())))
}

/// The folder whose files an effect records or restores.
pub(super) fn folder_of(state: &State, effect: &Effect) -> FolderId {
    match effect.action {
        Action::RecordTree(moment) => state.folder_of(moment),
        Action::RestoreTree => state.trees.undo().map(|(of, _)| of).unwrap_or_default(),
        Action::RunAttempt(_)
        | Action::StopAttempt(_)
        | Action::Tell(..)
        | Action::Notify(_)
        | Action::RunTimer { .. }
        | Action::WaitUntil { .. }
        | Action::ReadSteps
        | Action::MakeFolder(_)
        | Action::DropFolder(_)
        | Action::PlanMerge(_)
        | Action::WriteMerge(_) => FolderId::Project,
    }
}

/// True if a worker's changes are to be recorded. The commands of a workflow are its author's, and the rules do not judge them.
fn is_by_worker(state: &State, effect: &Effect) -> bool {
    let Action::RecordTree(Moment::After(id)) = effect.action else { return false };
    state.attempt(id).is_some_and(|attempt| attempt.intent.agent != SHELL)
}

pub(super) fn max_bytes(folder: &RunFolder) -> u64 {
    discover::settings(&Project::at(&folder.project)).settings.trees_max_file_bytes()
}

/// The trees of a run, if its project has any.
pub(crate) fn trees_of(folder: &RunFolder) -> Result<Option<Trees>, TreesError> {
    let trees = Trees::existing(&folder.project)?;
    let trees = trees.map(|trees| trees.of_run(&folder.path).up_to(max_bytes(folder)));
    let FolderId::Work(number) = folder.on_disk(FolderId::Project) else { return Ok(trees) };
    // The folder of a run that worked apart may be gone. What was recorded of it can be compared all the same: git only needs some
    // folder to start in, and it must not be the project.
    let place = folder.work(number).filter(|place| place.is_dir());
    let place = place.unwrap_or_else(|| folder.path.clone());
    Ok(trees.map(|trees| trees.in_work(folder, number, place)))
}

/// Records the files now, compared with the run's last tree, because a person asked.
pub(crate) fn record_now(folder: &RunFolder, state: &State) -> Result<TreeRecorded, TreesError> {
    let cause = Cause { seq: state.seq + 1, index: 0 };
    let (of, moment) = (FolderId::Project, Moment::Undo);
    let what = TreeWork::Record(moment, Before::default());
    let max_bytes = max_bytes(folder);
    let leash = Leash::default();
    let folder = folder.clone();
    let is_made = state.is_made(of);
    let job = TreeJob { folder, of, cause, what, is_made, guard: None, max_bytes, leash };
    job.record(&mut Opened::default(), moment, &before(state, of, moment))
}

fn job(folder: &RunFolder, state: &State, effect: &Effect, max_bytes: u64) -> Option<TreeJob> {
    let (of, what) = if let Action::RecordTree(moment) = effect.action {
        let of = state.folder_of(moment);
        (of, TreeWork::Record(moment, before(state, of, moment)))
    } else if effect.action == Action::RestoreTree {
        let (of, undo) = state.trees.undo()?;
        let forbidden = state.trees.folder(of).comes_back().cloned().collect();
        (of, TreeWork::Restore { from: undo.from.clone(), to: undo.to.clone(), forbidden })
    } else {
        return None;
    };
    let (folder, leash) = (folder.clone(), Leash::default());
    // The person's own folder is never made, and nobody makes it again.
    let is_made = state.is_made(of) && (!of.is_project() || state.apart.is_some());
    let cause = effect.cause;
    Some(TreeJob { folder, of, cause, what, is_made, guard: None, max_bytes, leash })
}

fn before(state: &State, of: FolderId, moment: Moment) -> Before {
    let attempt = match moment {
        Moment::After(id) => state.attempt(id),
        Moment::Before(_) | Moment::Undo => None,
    };
    Before {
        tree: state.trees.base(of, moment).cloned(),
        head: state.trees.folder(of).head.clone(),
        hands: attempt.map(Attempt::hands).unwrap_or_default(),
    }
}

impl TreeJob {
    /// Performs it. The driver waits for the report, so there is one even if it panics.
    fn report(&self, opened: &Mutex<Opened>) -> Input {
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let done = catch_unwind(AssertUnwindSafe(|| self.perform(&mut opened)));
        reported(done.unwrap_or_else(|_| {
            // What a panic left behind is not used again.
            *opened = Opened::default();
            self.failed("it broke")
        }))
    }

    fn perform(&self, opened: &mut Opened) -> Report {
        let done = match &self.what {
            TreeWork::Record(moment, before) => {
                fail::at(Point::BeforeTree);
                let recorded = self.record(opened, *moment, before);
                fail::at(Point::AfterTree);
                // It is made again from what was recorded last: before anybody works there, or for a worker whose changes are gone.
                if let (Err(_), Some(folder)) = (&recorded, self.lost()) {
                    return Report::FolderLost { folder };
                }
                recorded.map(|recorded| Report::TreeRecorded(Box::new(recorded)))
            }
            TreeWork::Restore { from, to, forbidden } => self
                .restore(opened, from, to)
                .map(|restored| brought_back(restored, forbidden))
                .map(|restored| Report::TreeRestored(Box::new(restored))),
        };
        done.unwrap_or_else(|error| self.failed(&error.told()))
    }

    /// The number of the work folder, if it was made and is gone.
    fn lost(&self) -> Option<u32> {
        let number = self.folder.on_disk(self.of).number().filter(|_| self.is_made)?;
        self.folder.path_of(self.of).is_err().then_some(number)
    }

    fn record(
        &self,
        opened: &mut Opened,
        moment: Moment,
        before: &Before,
    ) -> Result<TreeRecorded, TreesError> {
        let trees = self.open(opened)?;
        let keep = format!("{}/{}", self.folder.id, self.cause);
        let recorded = trees.record(Some(&keep))?;
        let (tree, changes, unclear) = match (&before.tree, moment) {
            // Changes of an attempt are compared or not recorded at all: an error here must not look like "no changes".
            (Some(base), Moment::After(id)) => {
                // Changes after the keeper's last sign of life were not made by its attempt.
                let last_sign = touched_at(&self.folder.keeper(id));
                let outputs = own_outputs();
                let whose = Whose { hands: before.hands.clone(), last_sign, outputs };
                tell_apart(trees, base, recorded.tree, &whose, &keep)?
            }
            (Some(base), Moment::Before(_) | Moment::Undo) => {
                let changes = trees.changes(Some(base), &recorded.tree).unwrap_or_default();
                (recorded.tree, changes, None)
            }
            // The first tree of a run has nothing to be compared with.
            (None, _) => (recorded.tree, Changes::default(), None),
        };
        let (forbidden, forbidden_files) = match (&before.tree, moment, &self.guard) {
            (Some(base), Moment::After(_), Some(guard)) => {
                let found =
                    unclear.as_ref().map(|unclear| trees.changed_files(&tree, &unclear.tree));
                let own =
                    if *base == tree { Vec::new() } else { trees.changed_files(base, &tree)? };
                guard.forbidden(&own, &found.transpose()?.unwrap_or_default())
            }
            _ => (0, Vec::new()),
        };
        let place = self.folder.path_of(self.of).map_err(TreesError::NoFolder)?;
        let head = trees::head(&place, &self.leash);
        let moved = trees::moved(&place, &self.leash, before.head.as_ref(), head.as_ref());
        // A head that could not be read is not one that is gone.
        trees.ended_early()?;
        Ok(TreeRecorded {
            folder: self.of,
            unclear,
            unreadable: recorded.unreadable,
            unreadable_files: recorded.unreadable_files,
            too_large: recorded.too_large,
            too_large_files: recorded.too_large_files,
            forbidden,
            forbidden_files,
            moved: moved
                .filter(|_| matches!(moment, Moment::After(_)))
                .map(|it| Box::new(self.redacted(it))),
            head,
            ..TreeRecorded::new(moment, tree, changes)
        })
    }

    /// Commit subjects are a worker's text, so they are redacted.
    fn redacted(&self, mut moved: HeadMoved) -> HeadMoved {
        let redactor = secrets::redactor(&self.folder.project);
        for commit in &mut moved.commits {
            *commit = redactor.redact(commit).into_owned();
        }
        moved
    }

    fn restore(
        &self,
        opened: &mut Opened,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<Restored, TreesError> {
        let keep = format!("{}/{}-undone", self.folder.id, self.cause);
        self.open(opened)?.restore(from, to, &keep)
    }

    fn open<'a>(&self, opened: &'a mut Opened) -> Result<&'a Trees, TreesError> {
        match opened.trees.entry(self.of) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(none) => {
                let find = || Excludes::find(&self.folder.project, &self.leash);
                let excludes = opened.excludes.take().unwrap_or_else(find);
                let trees = Trees::open_for_with(&self.folder, self.of, excludes)?;
                Ok(none.insert(trees.up_to(self.max_bytes)))
            }
        }
    }

    fn failed(&self, why: &str) -> Report {
        match self.what {
            TreeWork::Record(moment, _) => Report::TreeMissed { moment, why: why.to_owned() },
            TreeWork::Restore { .. } => Report::TreeRestored(Box::new(Restored::none(why))),
        }
    }
}

/// With what the rules forbid among the files that it brought back. Of many files the list names only the first: then any of them may be
/// among the others.
fn brought_back(restored: Restored, forbidden: &[ForbiddenChange]) -> Restored {
    let is_whole = usize::try_from(restored.files).is_ok_and(|all| all <= restored.list.len());
    let is_there = |change: &&ForbiddenChange| !is_whole || restored.list.contains(&change.path);
    let forbidden_files = forbidden.iter().filter(is_there).cloned().collect();
    Restored { forbidden_files, ..restored }
}

/// The tree with an attempt's own work, its changes, and other changes.
fn tell_apart(
    trees: &Trees,
    before: &TreeId,
    now: TreeId,
    whose: &Whose,
    keep: &str,
) -> Result<(TreeId, Changes, Option<Box<Unclear>>), TreesError> {
    let Some(own) = trees.own(before, &now, whose, &format!("{keep}-own"))? else {
        let changes = trees.changes(Some(before), &now)?;
        return Ok((now, changes, None));
    };
    let changes = trees.changes(Some(before), &own)?;
    let unclear = Unclear { changes: trees.changes(Some(&own), &now)?, tree: now };
    Ok((own, changes, Some(Box::new(unclear))))
}
