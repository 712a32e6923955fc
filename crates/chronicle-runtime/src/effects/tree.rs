//! The project's files, recorded or put back: on a thread of its own, one at a time, never on the driver's.

use std::collections::BTreeSet;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use chronicle_core::base::ids::{Cause, FolderId, TreeId};
use chronicle_core::event::input::{Input, Report};
use chronicle_core::event::trees::{Moment, TreeRecorded};
use chronicle_core::state::State;
use chronicle_core::state::effect::{Action, Effect};

use crate::fail::{self, Point};
use crate::inbox::{Message, reported};
use crate::project::RunFolder;
use crate::trees::{Excludes, Trees, TreesError};

/// What is being recorded or put back here.
pub(super) struct Recordings {
    folder: RunFolder,
    inbox: SyncSender<Message>,
    running: BTreeSet<Cause>,
    opened: Arc<Mutex<Opened>>,
}

/// The trees of the project, opened once; before that what the person's git ignores, which is asked while the run begins.
#[derive(Default)]
struct Opened {
    excludes: Option<Excludes>,
    trees: Option<Trees>,
}

/// One thing to do, with all that is needed to do it.
struct Job {
    folder: RunFolder,
    /// Which of the run's folders is recorded.
    of: FolderId,
    cause: Cause,
    what: What,
}

enum What {
    Record(Moment, Option<TreeId>),
    Restore(TreeId),
}

impl Recordings {
    pub(super) fn new(folder: RunFolder, inbox: SyncSender<Message>) -> Self {
        let opened: Arc<Mutex<Opened>> = Arc::default();
        let (later, project) = (Arc::clone(&opened), folder.project.clone());
        let ask = move || {
            let mut opened = later.lock().unwrap_or_else(PoisonError::into_inner);
            if opened.trees.is_none() {
                opened.excludes = Some(Excludes::find(&project));
            }
        };
        // Whoever comes first asks: without this thread the first recording does.
        let _ = std::thread::Builder::new().name("ignored".to_owned()).spawn(ask);
        Self { folder, inbox, running: BTreeSet::new(), opened }
    }

    /// Forgets what is not due any more.
    pub(super) fn keep(&mut self, due: &[Effect]) {
        self.running.retain(|cause| due.iter().any(|effect| effect.cause == *cause));
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Begins what is due, unless it runs.
    pub(super) fn perform(&mut self, state: &State, effect: &Effect) -> Option<Input> {
        if !self.running.insert(effect.cause) {
            return None;
        }
        let job = job(&self.folder, state, effect)?;
        let failed = job.failed("no thread to do it");
        let (opened, inbox) = (Arc::clone(&self.opened), self.inbox.clone());
        let work = move || {
            let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
            let report = job.perform(&mut opened);
            // A driver that is gone needs no report.
            let _ = inbox.send(Message::Input(Box::new(reported(report)), None));
        };
        let thread = std::thread::Builder::new().name("tree".to_owned()).spawn(work);
        thread.is_err().then(|| reported(failed))
    }
}

/// Does at once what is past: records the files after an attempt, or puts them back. Those before one are for whoever drives it.
pub(super) fn finish(folder: &RunFolder, state: &State, effect: &Effect) -> Option<Input> {
    if matches!(effect.action, Action::RecordTree(Moment::Before(_))) {
        return None;
    }
    let job = job(folder, state, effect)?;
    Some(reported(job.perform(&mut Opened::default())))
}

/// Records the files as they are, against the last tree of a run, because a person asked.
pub(crate) fn record_now(folder: &RunFolder, state: &State) -> Result<TreeRecorded, TreesError> {
    let cause = Cause { seq: state.seq + 1, index: 0 };
    let base = state.trees.base(FolderId::Project, Moment::Undo).cloned();
    let job = Job {
        folder: folder.clone(),
        of: FolderId::Project,
        cause,
        what: What::Record(Moment::Undo, None),
    };
    job.record(&mut Opened::default(), Moment::Undo, base.as_ref())
}

fn job(folder: &RunFolder, state: &State, effect: &Effect) -> Option<Job> {
    let (of, what) = if let Action::RecordTree(moment) = effect.action {
        let of = state.folder_of(moment);
        (of, What::Record(moment, state.trees.base(of, moment).cloned()))
    } else if effect.action == Action::RestoreTree {
        let (of, undo) = state.trees.undo()?;
        (of, What::Restore(undo.to.clone()))
    } else {
        return None;
    };
    Some(Job { folder: folder.clone(), of, cause: effect.cause, what })
}

impl Job {
    fn perform(&self, opened: &mut Opened) -> Report {
        let done = match &self.what {
            What::Record(moment, base) => {
                fail::at(Point::BeforeTree);
                let recorded = self.record(opened, *moment, base.as_ref());
                fail::at(Point::AfterTree);
                recorded.map(|recorded| Report::TreeRecorded(Box::new(recorded)))
            }
            What::Restore(to) => self.restore(opened, to),
        };
        done.unwrap_or_else(|error| self.failed(&error.told()))
    }

    fn record(
        &self,
        opened: &mut Opened,
        moment: Moment,
        base: Option<&TreeId>,
    ) -> Result<TreeRecorded, TreesError> {
        let trees = self.open(opened)?;
        let recorded = trees.record(Some(&format!("{}/{}", self.folder.id, self.cause)))?;
        let changes = match (base, moment) {
            // What somebody did is compared, or not said at all.
            (Some(base), Moment::After(_)) => trees.changes(Some(base), &recorded.tree)?,
            (Some(base), Moment::Before(_) | Moment::Undo) => {
                trees.changes(Some(base), &recorded.tree).unwrap_or_default()
            }
            // The first tree of a run has nothing to be compared with.
            (None, _) => chronicle_core::event::trees::Changes::default(),
        };
        Ok(TreeRecorded {
            moment,
            folder: self.of,
            tree: recorded.tree,
            changes,
            unreadable: recorded.unreadable,
            unreadable_files: recorded.unreadable_files,
        })
    }

    fn restore(&self, opened: &mut Opened, to: &TreeId) -> Result<Report, TreesError> {
        let keep = format!("{}/{}-undone", self.folder.id, self.cause);
        let restored = self.open(opened)?.restore(to, &keep)?;
        Ok(Report::TreeRestored { files: restored.files, kept: restored.kept, error: None })
    }

    fn open<'a>(&self, opened: &'a mut Opened) -> Result<&'a Trees, TreesError> {
        let project = &self.folder.project;
        match &mut opened.trees {
            Some(trees) => Ok(trees),
            none => {
                let excludes = opened.excludes.take().unwrap_or_else(|| Excludes::find(project));
                Ok(none.insert(Trees::open_with(project, excludes)?))
            }
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
