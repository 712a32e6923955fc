//! What pools need done beside attempts: steps are read, work folders made and removed, merges planned and written. Each job has a thread
//! of its own; those that touch the project's files exclude each other.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use chronicle_core::base::ids::{Cause, FolderId, Place, TreeId};
use chronicle_core::base::time::Millis;
use chronicle_core::definition::workflow::steps_from_json;
use chronicle_core::event::input::{Input, Report};
use chronicle_core::event::pool::{ConflictFile, FolderMade, MergePlanned, MergeWritten, Side};
use chronicle_core::event::trees::{Changes, TREE_UNREADABLE_MAX};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{MergeStage, OWN_FOLDER, State};

use super::tree::max_bytes;
use crate::inbox::{InboxMessage, reported};
use crate::process::Leash;
use crate::project::RunFolder;
use crate::regular::{self, Links};
use crate::threads;
use crate::trees::{Excludes, FilesWritten, Planned, Trees, TreesError, shown};
use crate::work;

/// Longest file of steps.
const STEPS_MAX: u64 = 1024 * 1024;

pub(super) struct Pools {
    folder: RunFolder,
    inbox: SyncSender<InboxMessage>,
    running: BTreeSet<(Cause, Action)>,
    /// Held by whoever reads or writes the project's files as a whole.
    project: Arc<Mutex<()>>,
    leash: Leash,
}

/// One job with all that it needs.
struct PoolJob {
    folder: RunFolder,
    cause: Cause,
    what: PoolWork,
    leash: Leash,
}

enum PoolWork {
    Read { place: Place, file: String },
    Make { number: u32, from: Option<TreeId>, carry: Vec<String> },
    Drop { number: u32 },
    Plan { number: u32, base: TreeId, theirs: Option<TreeId>, favour: Option<Side> },
    Write { number: u32, into: FolderId, from: TreeId, to: TreeId },
}

impl Pools {
    pub(super) fn new(folder: RunFolder, inbox: SyncSender<InboxMessage>) -> Self {
        let (running, project) = (BTreeSet::new(), Arc::default());
        Self { folder, inbox, running, project, leash: Leash::default() }
    }

    /// Drops jobs that are no longer due.
    pub(super) fn keep(&mut self, due: &[Effect]) {
        let is_due =
            |job: &(Cause, Action)| due.iter().any(|effect| (effect.cause, effect.action) == *job);
        self.running.retain(is_due);
    }

    /// A run that is to rest does not wait for git without end.
    pub(super) fn hurry(&self, is_to_rest: bool) {
        self.leash.hurry(is_to_rest);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Starts a due job, unless it is running.
    pub(super) fn perform(&mut self, state: &State, effect: &Effect) -> Option<Input> {
        if !self.running.insert((effect.cause, effect.action)) {
            return None;
        }
        let job = job(&self.folder, state, effect, &self.leash)?;
        let job = Arc::new(job);
        let (its_job, project) = (Arc::clone(&job), Arc::clone(&self.project));
        let inbox = self.inbox.clone();
        let work = move || {
            let report = its_job.report(&project);
            // A driver that is gone needs no report.
            let _ = inbox.send(InboxMessage::Input(Box::new(report), None));
        };
        // Without a thread the driver does it itself, and everything else waits.
        threads::spawn("pool", work).err().map(|_| job.report(&self.project))
    }
}

/// Finishes at once what was begun: a merge whose files are being written, and folders that nobody needs any more. Whoever holds the
/// project's files also merges the folder of a run that worked apart, from the start.
pub(super) fn finish(
    folder: &RunFolder,
    state: &State,
    effect: &Effect,
    has_files: bool,
) -> Option<Input> {
    let job = job(folder, state, effect, &Leash::default())?;
    let is_own = |number: u32| number == OWN_FOLDER && has_files;
    let is_begun = match &job.what {
        PoolWork::Write { number, into, .. } => into.is_project() || is_own(*number),
        PoolWork::Drop { .. } => true,
        PoolWork::Make { number, .. } | PoolWork::Plan { number, .. } => is_own(*number),
        PoolWork::Read { .. } => false,
    };
    is_begun.then(|| reported(job.perform()))
}

fn job(folder: &RunFolder, state: &State, effect: &Effect, leash: &Leash) -> Option<PoolJob> {
    let what = match effect.action {
        Action::ReadSteps => {
            let is_it = |cause: Cause| cause == effect.cause;
            let (place, _) = state.pools.iter().find(|(_, pool)| is_it(pool.cause))?;
            let file = state.phase_at(place)?.steps_from.clone()?;
            PoolWork::Read { place: place.clone(), file }
        }
        Action::MakeFolder(OWN_FOLDER) => {
            let apart = state.apart.as_ref()?;
            // As for steps: one that is gone is made again from its last files.
            let last = state.trees.project().last.as_ref().map(|(tree, _)| tree.clone());
            let from = last.or_else(|| apart.base.clone());
            PoolWork::Make { number: OWN_FOLDER, from, carry: Vec::new() }
        }
        Action::MakeFolder(number) => {
            let (place, step) = state.step_in(number)?;
            let carry = state.phase_at(place)?.worktree.carry.clone();
            // One that is gone is made again from its last files: its worker's session hangs on the folder.
            let last = state.trees.folder(FolderId::Work(number)).last.as_ref();
            let from = last.map(|(tree, _)| tree.clone()).or_else(|| step.base.clone());
            PoolWork::Make { number, from, carry }
        }
        Action::DropFolder(number) => PoolWork::Drop { number },
        Action::PlanMerge(number) => {
            let merging = state.merging_of(number)?;
            let (base, theirs) = (merging.base.clone(), merging.theirs.clone());
            PoolWork::Plan { number, base, theirs, favour: merging.favour }
        }
        Action::WriteMerge(number) => {
            let merging = state.merging_of(number)?;
            let to = merging.result.clone()?;
            let is_result = merging.at == MergeStage::Writing;
            let into = if is_result { FolderId::Project } else { FolderId::Work(number) };
            let from = if is_result { merging.ours.clone() } else { merging.theirs.clone() };
            PoolWork::Write { number, into, from: from?, to }
        }
        Action::RunAttempt(_)
        | Action::StopAttempt(_)
        | Action::Tell(..)
        | Action::RunTimer { .. }
        | Action::WaitUntil { .. }
        | Action::RecordTree(_)
        | Action::RestoreTree
        | Action::Notify(_) => return None,
    };
    let (folder, leash) = (folder.clone(), leash.clone());
    Some(PoolJob { folder, cause: effect.cause, what, leash })
}

impl PoolJob {
    /// Performs it. The driver waits for the report, so there is one even if it panics.
    fn report(&self, project: &Mutex<()>) -> Input {
        // Removing a folder concerns nobody else.
        let alone = !matches!(self.what, PoolWork::Drop { .. } | PoolWork::Read { .. });
        let _held = alone.then(|| project.lock().unwrap_or_else(PoisonError::into_inner));
        let done = catch_unwind(AssertUnwindSafe(|| self.perform()));
        reported(done.unwrap_or_else(|_| self.failed("it broke".to_owned())))
    }

    fn perform(&self) -> Report {
        match &self.what {
            PoolWork::Read { place, file } => self.read(place, file),
            PoolWork::Make { number, from, carry } => {
                match work::make(&self.folder, *number, from.as_ref(), carry, &self.leash) {
                    Ok(made) => {
                        let (tree, plain) = (made.tree, made.plain);
                        let path = self.folder.path_of(FolderId::Work(*number)).ok();
                        let path = path.map(|path| path.to_string_lossy().into_owned());
                        Report::FolderMade(FolderMade { folder: *number, tree, plain, path })
                    }
                    Err(error) => self.failed(error.told()),
                }
            }
            PoolWork::Drop { number } => {
                let error = work::drop_folder(&self.folder, *number).err();
                Report::FolderDropped { folder: *number, error: error.map(|error| error.told()) }
            }
            PoolWork::Plan { number, base, theirs, favour } => {
                let planned = self.plan(*number, base, theirs.as_ref(), *favour);
                planned.map_or_else(
                    |error| self.failed(error.told()),
                    |planned| Report::MergePlanned(Box::new(planned)),
                )
            }
            PoolWork::Write { number, into, from, to } => {
                let written = self.write(*number, *into, from, to);
                written.map_or_else(
                    |error| self.failed(error.told()),
                    |written| Self::written(*number, *into, written),
                )
            }
        }
    }

    /// The steps in a file of the project. Never through a link: what lies outside is not the run's.
    fn read(&self, place: &Place, file: &str) -> Report {
        let folder = self.folder.path_of(FolderId::Project).map_err(|error| error.to_string());
        let steps = folder.and_then(|folder| steps_in(&folder, file)).and_then(|bytes| {
            // Some editors and shells begin a file with a mark of its encoding.
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            let value: serde_json::Value =
                serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}"))?;
            steps_from_json(&value).map_err(|problems| problems.join("; "))
        });
        let place = place.clone();
        match steps {
            Ok(steps) => Report::StepsRead { place, steps },
            Err(why) => Report::StepsUnread { place, why },
        }
    }

    fn trees(&self, of: FolderId) -> Result<Trees, TreesError> {
        let excludes = Excludes::find(&self.folder.project, &self.leash);
        let trees = Trees::open_for_with(&self.folder, of, excludes)?;
        Ok(trees.up_to(max_bytes(&self.folder)))
    }

    /// The trees of the folder that a merge of this work folder changes: what the run works on, or the person's own for the folder of a
    /// whole run.
    fn goal(&self, number: u32) -> Result<Trees, TreesError> {
        if number != OWN_FOLDER {
            return self.trees(FolderId::Project);
        }
        let excludes = Excludes::find(&self.folder.project, &self.leash);
        Ok(Trees::open_origin(&self.folder, excludes)?.up_to(max_bytes(&self.folder)))
    }

    fn plan(
        &self,
        number: u32,
        base: &TreeId,
        theirs: Option<&TreeId>,
        favour: Option<Side>,
    ) -> Result<MergePlanned, TreesError> {
        let keep = format!("{}/{}", self.folder.id, self.cause);
        let (theirs, unrecorded) = match theirs {
            Some(tree) => (tree.clone(), Vec::new()),
            None => self.theirs(number, &format!("{keep}-theirs"))?,
        };
        let project = self.goal(number)?;
        let ours = project.record(Some(&format!("{keep}-ours")))?.tree;
        let marked =
            if favour.is_none() { project.still_marked(base, &theirs)? } else { Vec::new() };
        if !marked.is_empty() {
            let result = theirs.clone();
            return Ok(planned(
                number,
                ours,
                theirs,
                result,
                Changes::default(),
                marked,
                unrecorded,
            ));
        }
        let merged = project.plan_merge(base, &ours, &theirs, favour, &format!("{keep}-merged"))?;
        let (result, changes, mut files) = match merged {
            Planned::Clean { result, changes } => (result, changes, Vec::new()),
            Planned::Conflict { files, marked } => (marked, Changes::default(), files),
        };
        // A person has to know what is not merged before the folder that has it is forgotten.
        let is_new = |path: &&String| !files.iter().any(|file| file.path == **path);
        let more: Vec<ConflictFile> =
            unrecorded.iter().filter(is_new).map(|path| in_no_tree(path)).collect();
        files.extend(more);
        Ok(planned(number, ours, theirs, result, changes, files, unrecorded))
    }

    /// The files of a work folder as they are now, and those of them that are in no tree and are the work of somebody there.
    fn theirs(&self, number: u32, keep: &str) -> Result<(TreeId, Vec<String>), TreesError> {
        let of = self.trees(FolderId::Work(number))?;
        let tree = of.record(Some(keep))?.tree;
        let made = self.folder.made_at(number).unwrap_or(Millis(0));
        let mut unrecorded = of.written_since(&tree, made)?;
        unrecorded.extend(of.unignored(made)?);
        let named = unrecorded.iter().take(TREE_UNREADABLE_MAX).map(|name| shown(name));
        Ok((tree, named.collect()))
    }

    fn write(
        &self,
        number: u32,
        into: FolderId,
        from: &TreeId,
        to: &TreeId,
    ) -> Result<FilesWritten, TreesError> {
        // The folder of a whole run is merged into the person's own; that of a step into what the run works on.
        let is_own = number == OWN_FOLDER && into.is_project();
        let on_disk = if is_own { FolderId::Project } else { self.folder.on_disk(into) };
        let (place, staging) = match on_disk {
            FolderId::Project => {
                let place = self.folder.project.clone();
                let merges = place.join(".chronicle/merge");
                let staging = merges.join(format!("{}-{}", self.folder.id.short(), self.cause));
                (place, staging)
            }
            // Beside the folder, so that it is on the same disk and nobody's work.
            FolderId::Work(_) => {
                let place = self.folder.path_of(on_disk).map_err(TreesError::NoFolder)?;
                let staging = staging_beside(&place, self.cause);
                (place, staging)
            }
        };
        let trees = if is_own { self.goal(number)? } else { self.trees(into)? };
        // People and other workers use the project: it must not have half of a merge.
        if into.is_project() {
            trees.write_whole(&place, &staging, from, to)
        } else {
            trees.write(&place, &staging, from, to)
        }
    }

    fn written(folder: u32, into: FolderId, written: FilesWritten) -> Report {
        let FilesWritten { files, late, error, .. } = written;
        Report::MergeWritten(MergeWritten { folder, into, files, late, error })
    }

    fn failed(&self, why: String) -> Report {
        match &self.what {
            PoolWork::Read { place, .. } => Report::StepsUnread { place: place.clone(), why },
            PoolWork::Make { number, .. } => Report::FolderFailed { folder: *number, why },
            PoolWork::Drop { number } => {
                Report::FolderDropped { folder: *number, error: Some(why) }
            }
            PoolWork::Plan { number, .. } => Report::MergeMissed { folder: *number, why },
            PoolWork::Write { number, into, .. } => {
                let (late, error) = (Vec::new(), Some(why));
                let (folder, into) = (*number, *into);
                Report::MergeWritten(MergeWritten { folder, into, files: 0, late, error })
            }
        }
    }
}

/// A file that somebody wrote in a work folder, and whose content is in no tree.
fn in_no_tree(path: &str) -> ConflictFile {
    let what = "written in the work folder, and not recorded: too large, unreadable or ignored when the run began";
    ConflictFile { path: path.to_owned(), what: what.to_owned(), is_unrecorded: true }
}

fn planned(
    folder: u32,
    ours: TreeId,
    theirs: TreeId,
    result: TreeId,
    changes: Changes,
    files: Vec<ConflictFile>,
    unrecorded: Vec<String>,
) -> MergePlanned {
    MergePlanned {
        folder,
        ours,
        theirs,
        result,
        changes,
        conflicts: u32::try_from(files.len()).unwrap_or(u32::MAX),
        conflict_files: files,
        unrecorded,
    }
}

fn staging_beside(place: &Path, cause: Cause) -> PathBuf {
    let beside = place.parent().unwrap_or(place);
    beside.join(format!("merge-{cause}"))
}

/// The bytes of a file below a folder.
fn steps_in(folder: &Path, file: &str) -> Result<Vec<u8>, String> {
    let is_below = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below {
        return Err("it must be a file of the project".to_owned());
    }
    let path = folder.join(file);
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    let inside = folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    if !inside {
        return Err("it leads out of the project".to_owned());
    }
    let length = std::fs::metadata(&real).map_or(0, |about| about.len());
    if length > STEPS_MAX {
        return Err(format!("it has {length} bytes, and at most {STEPS_MAX} are read"));
    }
    regular::read(&real, STEPS_MAX, Links::Refused).map_err(|error| error.to_string())
}
