//! A run that this process drives: on a thread of its own, with its link, its projections and its watcher.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chronicle_core::base::ids::AttemptId;
use chronicle_core::definition::workflow::Workflow;
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, Command, Input};
use chronicle_core::event::record::Line;
use chronicle_core::state::State;
use chronicle_core::view::{self, TimelineEntry};

use super::{HandleError, Update, leftovers, merge, telling, witnesses};
use crate::activity::{Activities, Activity};
use crate::anchor;
use crate::driver::{self, Finish, Run, Watch};
use crate::effects::Processes;
use crate::inbox::{self, Asker, INBOX_MAX, InboxMessage, Remote, Rest, asked};
use crate::ledger::{Head, LedgerError};
use crate::link::{Inside, Publisher, Secrets, Server};
use crate::project::RunFolder;
use crate::projections::Projections;
use crate::secrets;
use crate::threads;
use crate::trees::Trees;
use crate::walls;

/// Most updates that wait for the face; a slower face misses some and finds them in the ledger.
pub const UPDATES_MAX: usize = 4_096;
/// Shortest interval between views for small events.
const VIEW_EVERY: Duration = Duration::from_millis(100);

/// A run that this process drives.
pub struct Driven {
    run: String,
    remote: Remote,
    thread: JoinHandle<Result<Finish, LedgerError>>,
    activities: Activities,
    unreachable: Option<String>,
}

impl Driven {
    /// Why no other command can reach this run; `None` if they can.
    pub fn unreachable(&self) -> Option<&str> {
        self.unreachable.as_deref()
    }

    /// A handle for other threads.
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Current activity of an attempt.
    pub fn activity(&self, attempt: AttemptId) -> Option<Activity> {
        self.activities.of(attempt)
    }

    /// Waits until the drive ends.
    pub fn join(self) -> Result<Finish, HandleError> {
        let broke = |_| HandleError::Driver { run: self.run.clone(), why: "broke".to_owned() };
        Ok(self.thread.join().map_err(broke)??)
    }
}

/// Refuses to work in a folder, or with an executable, whose path is not text. A path that is only similar may lead to other files.
pub fn check_paths(project: &Path, asker: &Asker) -> Result<(), HandleError> {
    match [project, &asker.chronicle].into_iter().find(|path| path.to_str().is_none()) {
        Some(path) => Err(HandleError::NotText { path: path.to_owned() }),
        None => Ok(()),
    }
}

/// Opens a run and drives it on a thread of its own, starting with that command. Returns with its answer, so that a refusal is
/// known at once; a refused run comes to rest by itself.
pub fn drive(
    folder: &RunFolder,
    asker: &Asker,
    command: Command,
    rest: Rest,
    updates: SyncSender<Update>,
) -> Result<(Driven, Answer), HandleError> {
    let is_new = matches!(command, Command::Start(_));
    let driven = begin(folder, asker, command, rest, updates);
    if is_new && matches!(driven, Err(HandleError::Ledger(_))) {
        // Without a first line there is no run, and its folder would only be in the way. One that has a line stays.
        leftovers::discard_new(folder);
    }
    driven
}

fn begin(
    folder: &RunFolder,
    asker: &Asker,
    command: Command,
    rest: Rest,
    updates: SyncSender<Update>,
) -> Result<(Driven, Answer), HandleError> {
    check_paths(&folder.project, asker)?;
    let redactor = secrets::redactor(&folder.project);
    let holder = telling::holder(asker, &redactor);
    // Opened on the caller's thread: that the run is held or damaged is told as an error, before anything has been started.
    let run = witnesses::open(folder, holder.clone())?;
    let redactor = Arc::new(secrets::of_run(redactor, workflows(&run, &command)));
    let (inbox, messages) = sync_channel(INBOX_MAX);
    let activities = Activities::default();
    let attempts = Secrets::default();
    let name = folder.id.short().to_owned();
    let no_thread = |source| HandleError::NoThread { run: name.clone(), source };
    let world = Processes::new(
        folder.clone(),
        asker,
        activities.clone(),
        inbox.clone(),
        attempts.clone(),
        (*redactor).clone(),
        run.state(),
    )
    .map_err(no_thread)?;
    let remote = Remote::new(asker, inbox, Arc::clone(&redactor));
    // A run without a link works all the same; it only cannot be reached while it does, and the person is told why.
    let inside = Inside {
        redactor: Arc::clone(&redactor),
        secrets: attempts,
        activities: activities.clone(),
    };
    // Before the driver begins: an agent that is started at once must find somebody who takes its signals.
    let (link, unreachable) = match Server::start(folder, remote.clone(), inside, run.head()) {
        Ok(link) => (Some(link), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let watch = Watcher {
        projections: Projections::new(folder.clone()),
        updates,
        publisher: link.as_ref().map(Server::publisher),
        viewed: None,
        is_behind: false,
    };
    let (command, had_secrets) = secrets::spoken(&redactor, command);
    let (input, answer) = inbox::asking(asked(&asker.who, command));
    let wanted_none = run
        .state()
        .run
        .as_ref()
        .is_some_and(|run| run.walls.as_ref().is_some_and(|walls| walls.found.off));
    let found = walls::found(&asker.chronicle, asker.no_walls || wanted_none);
    let introduction = run.introduce(&holder, world.notifies(), Some(found));
    let first = in_order(&run, introduction.into_iter().chain(gone(folder, &run)), input);
    let folder_of_job = folder.clone();
    let job = DriverJob { run, first, rest, messages, world, watch, link, folder: folder_of_job };
    let thread = threads::spawn("driver", move || job.run()).map_err(no_thread)?;
    let driven = Driven { run: name.clone(), remote, thread, activities, unreachable };
    // No answer means that the driver died before it decided. Its error says why, so it is joined.
    if let Ok(answer) = answer.recv() {
        return Ok((driven, secrets::answered(answer, had_secrets)));
    }
    driven.join()?;
    Err(HandleError::Driver { run: name, why: "gave no answer".to_owned() })
}

/// The run's workflows: those that it has frozen, or that it is about to freeze.
fn workflows<'a>(run: &'a Run, command: &'a Command) -> &'a [Workflow] {
    let started = run.state().run.as_ref().map(|started| started.workflows.as_slice());
    match (started, command) {
        (Some(workflows), _) => workflows,
        (None, Command::Start(start) | Command::Prepare(start)) => &start.workflows,
        (None, _) => &[],
    }
}

/// Somebody may have removed a work folder while nobody drove the run: it is made again before anything works there.
fn gone(folder: &RunFolder, run: &Run) -> Vec<Input> {
    let lost = if run.state().is_over() { Vec::new() } else { merge::lost(folder, run.state()) };
    lost.into_iter().map(merge::gone).collect()
}

/// The first line of a ledger freezes the run, so nothing may precede it.
fn in_order(
    run: &Run,
    introduction: impl Iterator<Item = Input>,
    command: InboxMessage,
) -> Vec<InboxMessage> {
    let mut first: Vec<InboxMessage> = introduction.map(inbox::told).collect();
    let is_new = run.state().run.is_none();
    // A run begins with `run_started`. Later, a supervisor introduces itself before it obeys.
    first.insert(if is_new { 0 } else { first.len() }, command);
    first
}

/// Everything that the driver's thread owns.
struct DriverJob {
    run: Run,
    first: Vec<InboxMessage>,
    rest: Rest,
    messages: Receiver<InboxMessage>,
    world: Processes,
    watch: Watcher,
    link: Option<Server>,
    folder: RunFolder,
}

impl DriverJob {
    fn run(mut self) -> Result<Finish, LedgerError> {
        let (world, watch) = (&mut self.world, &mut self.watch);
        let finish =
            driver::drive(&mut self.run, self.first, self.rest, &self.messages, world, watch);
        // In this order: nobody may ask any more, nothing may work any more, and then the lock is free.
        drop(self.link);
        drop(self.messages);
        drop(self.world);
        // After an error the lock may be another's, and what was written may not be on disk.
        if finish.is_ok() {
            // All that was written is synced, and the lock is still ours.
            anchor::rest(&self.folder, self.run.head());
        }
        // Nobody has to wait with the run for a figure.
        drop(self.run);
        Trees::measure(&self.folder.project);
        finish
    }
}

/// Informs the face and the link's watchers, and keeps projections up to date.
struct Watcher {
    projections: Projections,
    updates: SyncSender<Update>,
    publisher: Option<Publisher>,
    viewed: Option<Instant>,
    /// True if something was not shown yet because it came too soon after the last view.
    is_behind: bool,
}

impl Watcher {
    fn show(&mut self, state: &State) {
        (self.viewed, self.is_behind) = (Some(Instant::now()), false);
        let Some(view) = view::run(state, true) else { return };
        let view = Arc::new(view);
        if let Some(publisher) = &self.publisher {
            publisher.stands(Arc::clone(&view));
        }
        // A face that is behind misses this one, and loses nothing: each view is complete.
        let _ = self.updates.try_send(Update::Now(view));
    }
}

impl Watch for Watcher {
    fn shown(&mut self, state: &State, head: Head, lines: &[Line]) {
        let entries: Vec<_> = lines.iter().flat_map(view::timeline).collect();
        let matters = entries.iter().any(|entry| !entry.detail);
        let is_answer =
            |entry: &TimelineEntry| matches!(entry.event, Some(Event::GateAnswered { .. }));
        if let Some(publisher) = &self.publisher {
            publisher.synced(head);
            if entries.iter().any(is_answer) {
                publisher.answered();
            }
        }
        // Never waits for the face: one that is slow misses updates, and the ledger has them all.
        let _ = self.updates.try_send(Update::Happened(entries));
        // Details come many times a second. The view is worked out for what people see, and otherwise now and then.
        if matters || self.viewed.is_none_or(|at| at.elapsed() >= VIEW_EVERY) {
            self.show(state);
        } else {
            self.is_behind = true;
        }
        self.projections.catch_up(state, head);
    }

    fn quiet(&mut self, state: &State, head: Head) {
        self.projections.write(state, head);
        // The end of a burst came too soon after the last view. Without this it would be shown only with the next event.
        if self.is_behind {
            self.show(state);
        }
    }
}
