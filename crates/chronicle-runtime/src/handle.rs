//! How faces reach runs: submit a command, watch a view. Faces know nothing else of the runtime.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chronicle_core::input::{Answer, Command, Input};
use chronicle_core::record::Line;
use chronicle_core::state::State;
use chronicle_core::view::{self, RunRow, RunView, TimelineEntry};
use thiserror::Error;

use crate::clock;
use crate::driver::{self, Finish, INBOX_MAX, Message, Run, Watch, asked};
use crate::effects::{Activities, Processes};
use crate::ledger::{self, Head, Holder, Ledger, LedgerError, Tail};
use crate::project::RunFolder;
use crate::projections::Projections;

/// Why a run could not be driven, changed or read.
#[derive(Debug, Error)]
pub enum HandleError {
    /// The ledger said no.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The driver could not begin, or broke.
    #[error("the driver of run {run} {why}")]
    Driver {
        /// Which run.
        run: String,
        /// What happened.
        why: String,
    },
    /// There is a folder, and no run in it.
    #[error("run {run} has no first line: it never started")]
    NotStarted {
        /// Which run.
        run: String,
    },
}

/// What a watcher is told, once it is on disk.
#[derive(Debug, Clone)]
pub enum Update {
    /// What happened.
    Happened(Vec<TimelineEntry>),
    /// How the run stands now.
    Now(Box<RunView>),
}

/// Who asks, and with which executable keepers are started.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The person's name.
    pub who: String,
    /// What this process was started as, for the lock.
    pub command: String,
    /// Our own executable; it has the keeper.
    pub chronicle: PathBuf,
}

/// A run that this process drives.
pub struct Driven {
    run: String,
    who: String,
    inbox: SyncSender<Message>,
    thread: JoinHandle<Result<Finish, LedgerError>>,
    /// What its attempts do just now.
    pub activities: Activities,
}

/// Reaches a driven run from another thread.
#[derive(Debug, Clone)]
pub struct Remote {
    who: String,
    inbox: SyncSender<Message>,
}

impl Remote {
    /// Asks for something; the answer comes once it is on disk. None when the run rests already.
    pub fn submit(&self, command: Command) -> Option<Answer> {
        submit(&self.inbox, asked(&self.who, command)).and_then(|answer| answer.recv().ok())
    }

    /// Stops at once, whatever is going on; what was on its way is found lost at the next resume.
    pub fn quit(&self) {
        let _ = self.inbox.send(Message::Quit);
    }
}

impl Driven {
    /// Reaches this run from another thread.
    pub fn remote(&self) -> Remote {
        Remote { who: self.who.clone(), inbox: self.inbox.clone() }
    }

    /// Whether it has come to rest.
    pub fn is_at_rest(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until nothing works any more.
    pub fn join(self) -> Result<Finish, HandleError> {
        let broke = |_| HandleError::Driver { run: self.run.clone(), why: "broke".to_owned() };
        Ok(self.thread.join().map_err(broke)??)
    }
}

fn submit(inbox: &SyncSender<Message>, input: Input) -> Option<Receiver<Answer>> {
    let (reply, answer) = sync_channel(1);
    inbox.send(Message::Input(Box::new(input), Some(reply))).ok()?;
    Some(answer)
}

/// Opens a run and drives it on a thread of its own, beginning with that command. Returns with its answer, so that a
/// refusal is known at once; a refused run comes to rest by itself.
pub fn drive(
    folder: &RunFolder,
    asker: &Asker,
    command: Command,
    updates: Sender<Update>,
) -> Result<(Driven, Answer), HandleError> {
    let holder = Holder::current(&asker.command, clock::now());
    let mut run = Run::open(&folder.ledger(), holder.clone(), cached(folder))?;
    let (inbox, messages) = sync_channel(INBOX_MAX);
    let activities = Activities::default();
    let mut world = Processes::new(
        folder.clone(),
        asker.chronicle.clone(),
        activities.clone(),
        inbox.clone(),
        run.state(),
    );
    let mut watch = Watcher::new(folder.clone(), updates);
    let introduction = run.introduce(&holder);
    let input = asked(&asker.who, command);
    // The first line of a ledger freezes the run, so nothing may stand before it.
    let is_new = run.state().run.is_none();
    let (reply, answer) = sync_channel(1);
    let first = in_order(is_new, Message::Input(Box::new(input), Some(reply)), introduction);
    let run_driver = move || driver::drive(&mut run, first, &messages, &mut world, &mut watch);
    let thread = std::thread::Builder::new()
        .name("driver".to_owned())
        .spawn(run_driver)
        .map_err(|error| cannot(folder, &error))?;
    let (run, who) = (folder.id.short().to_owned(), asker.who.clone());
    let driven = Driven { run, who, inbox, thread, activities };
    if let Ok(answer) = answer.recv() {
        return Ok((driven, answer));
    }
    driven.join()?;
    Err(HandleError::Driver { run: folder.id.short().to_owned(), why: "gave no answer".to_owned() })
}

fn in_order(is_new: bool, command: Message, introduction: Vec<Input>) -> Vec<Message> {
    let mut first: Vec<Message> =
        introduction.into_iter().map(|input| Message::Input(Box::new(input), None)).collect();
    first.insert(if is_new { 0 } else { first.len() }, command);
    first
}

fn cannot(folder: &RunFolder, error: &io::Error) -> HandleError {
    let why = format!("cannot begin: {error}");
    HandleError::Driver { run: folder.id.short().to_owned(), why }
}

/// Writes a person's command into a run that nobody drives: decided and recorded, nothing performed.
pub fn record(folder: &RunFolder, asker: &Asker, command: Command) -> Result<Answer, HandleError> {
    let holder = Holder::current(&asker.command, clock::now());
    let mut run = Run::open(&folder.ledger(), holder, cached(folder))?;
    let (answer, line) = run.step(&asked(&asker.who, command))?;
    if line.is_some() {
        run.sync()?;
        Projections::new(folder.clone()).write(run.state(), run.head());
    }
    Ok(answer)
}

/// How a run stands now; with it, why not all of it could be read: a newer Chronicle wrote the rest.
pub fn view(folder: &RunFolder) -> Result<(RunView, Option<LedgerError>), HandleError> {
    let (state, newer) = read(folder)?;
    let view = view::run(&state, is_supervised(folder)).ok_or_else(|| not_started(folder))?;
    Ok((view, newer))
}

/// The run's row in a list.
pub fn row(folder: &RunFolder) -> Result<RunRow, HandleError> {
    let (state, _) = read(folder)?;
    view::row(&state, is_supervised(folder)).ok_or_else(|| not_started(folder))
}

/// Whether a supervisor lives.
pub fn is_supervised(folder: &RunFolder) -> bool {
    folder.ledger().holder().is_some()
}

fn not_started(folder: &RunFolder) -> HandleError {
    HandleError::NotStarted { run: folder.id.short().to_owned() }
}

fn read(folder: &RunFolder) -> Result<(State, Option<LedgerError>), HandleError> {
    let (from, mut state) = cached(folder).unwrap_or((Head::EMPTY, State::default()));
    for next in folder.ledger().read_from(from)? {
        match next {
            Ok((line, _)) => state.apply(&line),
            Err(newer @ (LedgerError::UnknownKind { .. } | LedgerError::NewerVersion { .. })) => {
                return Ok((state, Some(newer)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((state, None))
}

fn cached(folder: &RunFolder) -> Option<(Head, State)> {
    ledger::load(&folder.path)
}

/// What happened in a run, from its first line on, and then as it happens.
pub fn follow(folder: &RunFolder) -> Follow {
    Follow { tail: folder.ledger().tail(Head::EMPTY), folder: folder.clone() }
}

/// Reads a run's timeline and goes on as it grows.
pub struct Follow {
    tail: Tail,
    folder: RunFolder,
}

impl Follow {
    /// What has happened since the last call. Empty when nothing did.
    pub fn poll(&mut self) -> Result<Vec<TimelineEntry>, HandleError> {
        let mut entries = Vec::new();
        while let Some((line, _)) = self.tail.poll()? {
            entries.extend(view::timeline(&line));
        }
        Ok(entries)
    }

    /// Whether a supervisor lives, so that more may come.
    pub fn is_supervised(&self) -> bool {
        is_supervised(&self.folder)
    }
}

/// What `audit` found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Audit {
    /// Whole lines, each chained to the one before it.
    pub lines: u64,
    /// Events in them.
    pub events: u64,
    /// Bytes of the ledger that are whole.
    pub bytes: u64,
    /// The sum of the last line: whoever keeps it elsewhere can tell later that nothing before it changed.
    pub head: String,
    /// Whether deciding again from the fold gives a legal state: every event was applied.
    pub status: chronicle_core::state::Status,
    /// Processes of this run that live though nobody drives it.
    pub orphans: Vec<u32>,
    /// Attempts without an end, though nobody drives the run: the next resume finds them lost.
    pub open_attempts: Vec<String>,
    /// Whether a supervisor lives.
    pub supervised: bool,
}

/// Reads the whole ledger without its cache and checks all that can be checked.
pub fn audit(folder: &RunFolder) -> Result<Audit, HandleError> {
    let ledger = folder.ledger();
    let (mut state, mut head, mut events) = (State::default(), Head::EMPTY, 0u64);
    for next in ledger.read_from(Head::EMPTY)? {
        let (line, after) = next?;
        events += line.events.len() as u64;
        state.apply(&line);
        head = after;
    }
    let supervised = is_supervised(folder);
    let orphans = if supervised { Vec::new() } else { orphans(&state) };
    let open = state.live.iter().filter(|_| !supervised).map(ToString::to_string);
    Ok(Audit {
        lines: head.seq,
        events,
        bytes: head.bytes,
        head: head.sum.to_string(),
        status: state.status(),
        orphans,
        open_attempts: open.collect(),
        supervised,
    })
}

fn orphans(state: &State) -> Vec<u32> {
    let ids = state.attempts.iter().map(|attempt| attempt.intent.attempt);
    let cookies = ids.filter_map(|id| chronicle_core::work::cookie(state, id));
    let found = cookies.flat_map(|cookie| crate::process::sweep::by_cookie(&cookie));
    found.map(|process| process.pid).collect()
}

/// How often a view is made while nothing but details happen: its cost grows with the run, and an agent's tool calls come
/// faster than anybody looks.
const VIEW_EVERY: Duration = Duration::from_millis(100);

/// Tells a watcher, and keeps the projections up to date.
struct Watcher {
    projections: Projections,
    updates: Sender<Update>,
    /// When the last view was made, and of which line.
    viewed: Option<(Instant, u64)>,
}

impl Watcher {
    fn new(folder: RunFolder, updates: Sender<Update>) -> Self {
        Self { projections: Projections::new(folder), updates, viewed: None }
    }

    fn view(&mut self, state: &State) {
        if self.viewed.is_some_and(|(_, seq)| seq == state.seq) {
            return;
        }
        self.viewed = Some((Instant::now(), state.seq));
        if let Some(view) = view::run(state, true) {
            let _ = self.updates.send(Update::Now(Box::new(view)));
        }
    }
}

impl Watch for Watcher {
    fn shown(&mut self, state: &State, head: Head, lines: &[Line]) {
        let entries: Vec<TimelineEntry> = lines.iter().flat_map(view::timeline).collect();
        let is_due = self.viewed.is_none_or(|(at, _)| at.elapsed() >= VIEW_EVERY)
            || entries.iter().any(|entry| !entry.detail);
        let _ = self.updates.send(Update::Happened(entries));
        if is_due {
            self.view(state);
        }
        self.projections.catch_up(state, head);
    }

    fn quiet(&mut self, state: &State, head: Head) {
        self.view(state);
        self.projections.write(state, head);
    }
}
