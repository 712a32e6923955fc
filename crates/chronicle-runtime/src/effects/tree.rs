//! The project's files, recorded or put back: on a thread of its own, one at a time, never on the driver's.

use std::collections::BTreeSet;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use chronicle_core::effect::{Action, Effect};
use chronicle_core::ids::{Cause, TreeId};
use chronicle_core::input::{Input, Report};
use chronicle_core::state::State;
use chronicle_core::tree::{Moment, TreeRecorded};

use crate::driver::{Message, reported};
use crate::fail::{self, Point};
use crate::project::RunFolder;
use crate::trees::{Trees, TreesError};

/// What is being recorded or put back here.
pub(super) struct Recordings {
    folder: RunFolder,
    inbox: SyncSender<Message>,
    running: BTreeSet<Cause>,
    /// Opened once: what a person's git ignores is asked for only then.
    trees: Arc<Mutex<Option<Trees>>>,
}

/// One thing to do, with all that is needed to do it.
struct Job {
    folder: RunFolder,
    cause: Cause,
    what: What,
}

enum What {
    Record(Moment, Option<TreeId>),
    Restore(TreeId),
}

impl Recordings {
    pub(super) fn new(folder: RunFolder, inbox: SyncSender<Message>) -> Self {
        Self { folder, inbox, running: BTreeSet::new(), trees: Arc::default() }
    }

    /// Forgets what is not due any more.
    pub(super) fn keep(&mut self, due: &[Effect]) {
        self.running.retain(|cause| due.iter().any(|effect| effect.cause == *cause));
    }

    /// Begins what is due, unless it runs.
    pub(super) fn perform(&mut self, state: &State, effect: &Effect) -> Option<Input> {
        if !self.running.insert(effect.cause) {
            return None;
        }
        let job = job(&self.folder, state, effect)?;
        let failed = job.failed("no thread to do it");
        let (trees, inbox) = (Arc::clone(&self.trees), self.inbox.clone());
        let work = move || {
            let mut trees = trees.lock().unwrap_or_else(PoisonError::into_inner);
            let report = job.perform(&mut trees);
            // A driver that is gone needs no report.
            let _ = inbox.send(Message::Input(Box::new(reported(report)), None));
        };
        let thread = std::thread::Builder::new().name("tree".to_owned()).spawn(work);
        thread.is_err().then(|| reported(failed))
    }
}

/// Does at once what is due, for a run that nobody drives.
pub(crate) fn perform_now(folder: &RunFolder, state: &State) -> Vec<Input> {
    let due = state.due();
    let jobs = due.iter().filter(|effect| {
        matches!(effect.action, Action::RecordTree(Moment::After(_)) | Action::RestoreTree)
    });
    jobs.filter_map(|effect| job(folder, state, effect))
        .map(|job| reported(job.perform(&mut None)))
        .collect()
}

/// Records the files as they are, against the last tree of a run, because a person asked.
pub(crate) fn record_now(folder: &RunFolder, state: &State) -> Result<TreeRecorded, TreesError> {
    let cause = Cause { seq: state.seq + 1, index: 0 };
    let base = state.trees.base(Moment::Undo).cloned();
    let job = Job { folder: folder.clone(), cause, what: What::Record(Moment::Undo, None) };
    job.record(&mut None, Moment::Undo, base.as_ref())
}

fn job(folder: &RunFolder, state: &State, effect: &Effect) -> Option<Job> {
    let what = match effect.action {
        Action::RecordTree(moment) => What::Record(moment, state.trees.base(moment).cloned()),
        Action::RestoreTree => What::Restore(state.trees.undo.as_ref()?.to.clone()),
        Action::RunAttempt(_)
        | Action::StopAttempt(_)
        | Action::Tell(..)
        | Action::RunTimer { .. }
        | Action::Notify(_)
        | Action::WaitUntil { .. } => return None,
    };
    Some(Job { folder: folder.clone(), cause: effect.cause, what })
}

impl Job {
    fn perform(&self, trees: &mut Option<Trees>) -> Report {
        let done = match &self.what {
            What::Record(moment, base) => {
                fail::at(Point::BeforeTree);
                let recorded = self.record(trees, *moment, base.as_ref());
                fail::at(Point::AfterTree);
                recorded.map(|recorded| Report::TreeRecorded(Box::new(recorded)))
            }
            What::Restore(to) => self.restore(trees, to),
        };
        done.unwrap_or_else(|error| self.failed(&error.told()))
    }

    fn record(
        &self,
        trees: &mut Option<Trees>,
        moment: Moment,
        base: Option<&TreeId>,
    ) -> Result<TreeRecorded, TreesError> {
        let trees = self.open(trees)?;
        let recorded = trees.record(Some(&format!("{}/{}", self.folder.id, self.cause)))?;
        let changes = match (base, moment) {
            // What somebody did is compared, or not said at all.
            (Some(base), Moment::After(_)) => trees.changes(Some(base), &recorded.tree)?,
            (Some(base), Moment::Before(_) | Moment::Undo) => {
                trees.changes(Some(base), &recorded.tree).unwrap_or_default()
            }
            // The first tree of a run has nothing to be compared with.
            (None, _) => chronicle_core::tree::Changes::default(),
        };
        Ok(TreeRecorded {
            moment,
            tree: recorded.tree,
            changes,
            unreadable: recorded.unreadable,
            unreadable_files: recorded.unreadable_files,
        })
    }

    fn restore(&self, trees: &mut Option<Trees>, to: &TreeId) -> Result<Report, TreesError> {
        let keep = format!("{}/{}-undone", self.folder.id, self.cause);
        let restored = self.open(trees)?.restore(to, &keep)?;
        Ok(Report::TreeRestored { files: restored.files, kept: restored.kept, error: None })
    }

    fn open<'a>(&self, trees: &'a mut Option<Trees>) -> Result<&'a Trees, TreesError> {
        match trees {
            Some(trees) => Ok(trees),
            none => Ok(none.insert(Trees::open(&self.folder.project)?)),
        }
    }

    fn failed(&self, why: &str) -> Report {
        match self.what {
            What::Record(moment, _) => Report::TreeMissed { moment, why: why.to_owned() },
            What::Restore(_) => {
                Report::TreeRestored { files: 0, kept: Vec::new(), error: Some(why.to_owned()) }
            }
        }
    }
}
