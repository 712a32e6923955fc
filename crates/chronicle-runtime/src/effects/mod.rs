//! The worlds that perform effects. The driver says what is due; a world compares it with what runs here.
//!
//! `Processes`, in this file, performs with real processes, one file per kind of effect. `recorder.rs` finishes what is past and
//! starts nothing, for a run that nobody drives. `both.rs` splits effects by performer: the supervisor, or a host.

mod agent;
mod both;
mod notify;
mod observe;
mod pool;
mod recorder;
mod report;
mod room;
mod shell;
mod timer;
mod transcript;
mod tree;
mod voice;
mod walled;
mod watchdog;
mod worked;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use chronicle_core::base::ids::{AttemptId, FolderId};
use chronicle_core::base::redact::Redactor;
use chronicle_core::definition::prices::Prices;
use chronicle_core::definition::settings::Settings;
use chronicle_core::engine::work::{self, Work};
use chronicle_core::event::input::{AttemptReport, EndSeen, Input, Report};
use chronicle_core::event::{GateAnswer, Message as ToTell, Performer};
use chronicle_core::handover::{told, wall_words};
use chronicle_core::state::State;
use chronicle_core::state::effect::{Action, Effect};

pub(crate) use agent::{NOT_FOR_AGENTS, give};
pub use both::Both;
pub(crate) use notify::notifies;
pub(crate) use recorder::Recorder;
pub(crate) use tree::{record_now, trees_of};

use crate::activity::Activities;
use crate::cookie::Cookies;
use crate::discover;
use crate::driver::World;
use crate::fail::{self, Point};
use crate::guard::Guard;
use crate::inbox::{Asker, InboxMessage, reported};
use crate::link::Secrets;
use crate::loaded::LoadedFiles;
use crate::process::Control;
use crate::project::{Project, RunFolder};
use notify::Notices;
use pool::Pools;
use report::Reporter;
use room::{Rooms, Standing};
use timer::Timers;
use tree::Recordings;

/// How long an attempt has worked according to its file, which knows more than the ledger if its supervisor was killed.
pub(crate) fn worked_ms(folder: &RunFolder, attempt: AttemptId) -> u64 {
    worked::known_ms(&folder.worked(attempt))
}

/// How long an agent that is told to stop may take before it is ended by force.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// What every performer needs to know.
pub(crate) struct Context {
    pub(crate) folder: RunFolder,
    /// What marks the processes of each attempt.
    pub(crate) cookies: Cookies,
    /// Our own executable, for keepers and scripted agents.
    pub(crate) chronicle: PathBuf,
    pub(crate) redactor: Redactor,
    /// Where the agents' programs are. Settings that cannot be read say nothing.
    pub(crate) settings: Settings,
    /// What models cost, for agents that do not say it.
    pub(crate) prices: Prices,
    pub(crate) activities: Activities,
    pub(crate) inbox: SyncSender<InboxMessage>,
    /// What each attempt signals with.
    pub(crate) secrets: Secrets,
    /// Where agents that prefer HTTP signal.
    pub(crate) signals: Option<String>,
    /// What agents load of the project and run, compared over each attempt.
    pub(crate) loaded: Arc<LoadedFiles>,
}

/// The real world: processes and clocks.
pub(crate) struct Processes {
    context: Arc<Context>,
    /// What judges the calls of agents in each folder; made with the first one, since a new run has no rules before its first line.
    guards: BTreeMap<FolderId, Arc<Guard>>,
    running: BTreeMap<AttemptId, Running>,
    /// Attempts that lived before we did: nothing here runs them, so they are observed first.
    unknown: BTreeSet<AttemptId>,
    timers: Timers,
    recordings: Recordings,
    pools: Pools,
    notices: Notices,
    /// Which agents have room on this machine, and which wait for it.
    rooms: Rooms,
}

/// How an attempt that runs here is stopped.
enum Running {
    Agent(agent::AgentStop),
    Shell(shell::ShellStop),
    Observed,
}

impl Processes {
    /// The world of a run that was just opened: whatever lives in its state is unknown.
    pub(crate) fn new(
        folder: RunFolder,
        asker: &Asker,
        activities: Activities,
        inbox: SyncSender<InboxMessage>,
        attempts: Secrets,
        redactor: Redactor,
        state: &State,
    ) -> io::Result<Self> {
        // First, so that nothing has begun if there is no thread.
        let timers = Timers::new(inbox.clone())?;
        let project = folder.project.clone();
        // Read once per drive: a file that a worker changes meanwhile must not change how this run is supervised.
        let settings = discover::settings(&Project::at(&project)).settings;
        let max_bytes = settings.trees_max_file_bytes();
        let recordings = Recordings::new(folder.clone(), inbox.clone(), max_bytes);
        let pools = Pools::new(folder.clone(), inbox.clone());
        let rooms = Rooms::new(inbox.clone());
        let context = Arc::new(Context {
            cookies: folder.cookies(),
            loaded: Arc::new(LoadedFiles::new(folder.clone())),
            folder,
            chronicle: asker.chronicle.clone(),
            signals: asker.signals.clone(),
            secrets: attempts,
            redactor,
            prices: Prices::of(&settings),
            settings,
            activities,
            inbox,
        });
        let (running, unknown) = (BTreeMap::new(), state.live.clone());
        let notices = Notices::new(Arc::clone(&context), state);
        let guards = BTreeMap::new();
        Ok(Self { context, guards, running, unknown, timers, recordings, pools, notices, rooms })
    }

    /// Whether people are told when they are needed.
    pub(crate) fn notifies(&self) -> bool {
        notifies(&self.context.settings)
    }

    fn run(&mut self, state: &State, id: AttemptId) -> Option<Input> {
        if self.running.contains_key(&id) {
            return None;
        }
        // Something of it may still work: started again at once, two workers would change the same files.
        if self.is_left(id) {
            return self.observe(id);
        }
        // A command decided on it while nobody drove the run. The walls are this supervisor's, and its handover names them.
        if let Some(attempt) = state.attempt(id).filter(|it| state.has_other_walls(it)) {
            // What has begun keeps its walls, and so it is lost here: started again, it would be behind those of somebody else.
            if state.has_begun(attempt) {
                return self.observe(id);
            }
            let what = AttemptReport::OtherWalls;
            return Some(reported(Report::Attempt { attempt: id, active_ms: 0, what }));
        }
        // From the state as it is now. The handover is the one that was kept when the attempt was decided (`agent/order.rs`).
        let work = work::work(state, id)?;
        match self.room(state, &work) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(report) => return Some(*report),
        }
        let begun = if work.is_shell() {
            shell::start(Arc::clone(&self.context), work).map(Running::Shell)
        } else {
            self.begin(state, &work)
        };
        match begun {
            Ok(running) => {
                self.running.insert(id, running);
                None
            }
            // It never ran, so it used no time.
            Err(seen) => Some(ended(id, 0, *seen)),
        }
    }

    /// Whether there is room on this machine for an agent to begin, or what is to be reported of that. Commands need none.
    fn room(&self, state: &State, work: &Work) -> Result<bool, Box<Input>> {
        if work.is_shell() {
            return Ok(true);
        }
        let id = work.intent.attempt;
        let known = state.attempt(id).and_then(|attempt| attempt.room.as_ref());
        let bounds = || crate::room::bounds(&self.context.settings, &work.intent.agent);
        let told =
            |what| Err(Box::new(reported(Report::Attempt { attempt: id, active_ms: 0, what })));
        match (self.rooms.ask(id, bounds), known) {
            (Ok(Standing::Has | Standing::Given), None) => Ok(true),
            // It waited for an earlier supervisor. That it begins is on record before it does.
            (Ok(Standing::Has), Some(_)) => told(AttemptReport::RoomTaken),
            (Ok(Standing::Waits(limit)), known) if known != Some(&limit) => {
                told(AttemptReport::RoomAwaited(limit))
            }
            (Ok(Standing::Waits(_) | Standing::Known | Standing::Given), _) => Ok(false),
            (Err(error), _) => Err(Box::new(ended(id, 0, *room::no_room(&error)))),
        }
    }

    fn begin(&mut self, state: &State, work: &Work) -> Result<Running, Box<EndSeen>> {
        // Without one of its rules nothing may begin.
        let guard = self.guard(state, work.folder, &work.sees).map_err(|why| {
            agent::cannot_start(format!("the rules of this run cannot be used: {why}"))
        })?;
        agent::start(Arc::clone(&self.context), guard, work).map(Running::Agent)
    }

    /// The guard of this run in one of its folders, by the rules that were frozen when it began.
    fn guard(
        &mut self,
        state: &State,
        of: FolderId,
        sees: &[FolderId],
    ) -> Result<Arc<Guard>, String> {
        let run = state.run.as_ref().ok_or("it has not begun")?;
        // Of one worker alone: whoever comes after it in the same folder must not look there.
        if !sees.is_empty() {
            return Ok(Arc::new(Guard::of_run(run, &self.context.folder, of, sees)?));
        }
        if let Some(guard) = self.guards.get(&of) {
            return Ok(Arc::clone(guard));
        }
        let guard = Arc::new(Guard::of_run(run, &self.context.folder, of, &[])?);
        self.guards.insert(of, Arc::clone(&guard));
        Ok(guard)
    }

    fn stop(&mut self, id: AttemptId) -> Option<Input> {
        fail::at(Point::BeforeStop);
        if !self.running.contains_key(&id) && self.is_left(id) {
            return self.observe(id);
        }
        match self.running.get(&id) {
            Some(Running::Agent(stop)) => stop.stop(),
            Some(Running::Shell(stop)) => stop.stop(STOP_GRACE),
            // Observation ends it anyway, and reports it as lost.
            Some(Running::Observed) => {}
            // Started and stopped within one batch, or it waits for room: no process was ever started for it.
            None => {
                self.rooms.forget(id);
                let seen = EndSeen { stopped: true, ..EndSeen::default() };
                return Some(ended(id, 0, seen));
            }
        }
        fail::at(Point::AfterStop);
        None
    }

    /// Tells a working agent something; what it cannot be told now is due still, or comes with the next handover.
    fn tell(&self, state: &State, id: AttemptId, message: ToTell) -> Option<Input> {
        // Not started yet, or only observed: the message stays due, or goes into the next handover.
        let Some(Running::Agent(agent)) = self.running.get(&id) else { return None };
        let attempt = state.attempt(id)?;
        let is_told = match message {
            ToTell::Verdict(gate) => {
                let held = attempt.held.iter().find(|held| held.gate == gate)?;
                let Some(verdict) = &held.verdict else {
                    // Decided only now that its agent is known to be here: a yes for one call must not be used up by one that
                    // died with its supervisor.
                    let (active_ms, what) = (attempt.active_ms, state.made_again(held)?);
                    return Some(reported(Report::Attempt { attempt: id, active_ms, what }));
                };
                agent.verdict(&held.call, verdict)
            }
            ToTell::Note(note) => {
                let frame = state.frames.get(&attempt.intent.place.frame())?;
                let note = frame.notes.iter().find(|known| known.id == note)?;
                agent.note(&told(note, attempt))
            }
            ToTell::Wall => agent.note(&wall_words(attempt)),
            ToTell::Answer(gate) => {
                let (request, _) = attempt.asking.iter().find(|(_, asked)| *asked == gate)?;
                match &state.gate(gate)?.answered {
                    Some((GateAnswer::Said(text), ..)) => agent.answer(request, text),
                    Some(_) | None => false,
                }
            }
        };
        let what = AttemptReport::Told(message);
        is_told.then(|| reported(Report::Attempt { attempt: id, active_ms: 0, what }))
    }

    /// Whether an earlier supervisor left something of an attempt.
    fn is_left(&mut self, id: AttemptId) -> bool {
        let (folder, cookies) = (&self.context.folder, &self.context.cookies);
        // Removed first: an attempt is unknown only once. From then on this supervisor knows everything about it.
        self.unknown.remove(&id) && !observe::is_absent(folder, cookies, id)
    }

    fn observe(&mut self, id: AttemptId) -> Option<Input> {
        let cookie = self.context.cookies.cookie(id);
        // Inserted before the thread starts, so that the effect, which stays due, is not performed a second time.
        self.running.insert(id, Running::Observed);
        // What the earlier supervisor wrote down. Without it, a crash would refund the time of a timeout or budget.
        let worked_ms = worked::known_ms(&self.context.folder.worked(id));
        let reporter = Reporter::of_lost(self.context.inbox.clone(), id, worked_ms);
        observe::start(&self.context.folder.keeper(id), &cookie, reporter)
            .map(|seen| ended(id, worked_ms, seen))
    }
}

impl Drop for Processes {
    /// Nothing that we started outlives us: whoever opens the run next finds it quiet.
    fn drop(&mut self) {
        // What is only observed has no control. If its observation is cut short here, the next supervisor begins it again.
        let held: Vec<Control> = self.running.values().filter_map(Running::control).collect();
        for control in &held {
            // First stop all, then wait for all: the grace periods run at the same time.
            // No grace: this is reached when the drive ends with agents still running, by a failure or a quit.
            control.stop(Duration::ZERO);
        }
        for control in held {
            control.wait();
        }
    }
}

impl Running {
    fn control(&self) -> Option<Control> {
        match self {
            Self::Agent(stop) => Some(stop.control()),
            Self::Shell(stop) => stop.control(),
            Self::Observed => None,
        }
    }
}

impl World for Processes {
    fn reconcile(&mut self, state: &State, due: &[Effect]) -> Vec<Input> {
        // Handles of attempts that have ended are dropped before new ones are started.
        self.running.retain(|id, _| state.live.contains(id));
        // Whoever waits for a person lets others begin meanwhile.
        let rests = |id| state.attempt(id).is_some_and(|attempt| state.is_asking(attempt));
        self.rooms.keep(|id| state.live.contains(&id), rests);
        for (id, running) in &self.running {
            if let (Running::Agent(agent), Some(attempt)) = (running, state.attempt(*id)) {
                // Time that an agent spends waiting for a person counts neither as work nor as silence.
                agent.rests(state.is_asking(attempt));
            }
        }
        self.context.activities.retain(|id| state.live.contains(&id));
        // Revoked as soon as the attempt is over, so that a late signal of a stray process is refused.
        self.context.secrets.retain(|id| state.live.contains(&id));
        // Timers, recordings and notices drop first what is no longer due, then start what is.
        self.timers.keep(due);
        self.recordings.keep(due);
        self.pools.keep(due);
        self.recordings.hurry(state.paused.is_some() || state.is_given_up());
        self.pools.hurry(state.paused.is_some() || state.is_given_up());
        self.notices.keep(due);
        due.iter()
            .filter_map(|effect| match effect.action {
                _ if effect.by == Performer::Host => without_host(effect),
                Action::RunAttempt(id) => self.run(state, id),
                Action::StopAttempt(id) => self.stop(id),
                Action::Tell(id, message) => self.tell(state, id, message),
                Action::Notify(about) => self.notices.perform(state, about),
                // Already handled by `timers.keep` above.
                Action::RunTimer { .. } | Action::WaitUntil { .. } => None,
                Action::RecordTree(_) | Action::RestoreTree => {
                    let of = tree::folder_of(state, effect);
                    // An earlier supervisor may have been killed while a worker ran there.
                    self.context.loaded.settle(of);
                    let guard = self.guard(state, of, &[]).ok();
                    self.recordings.perform(state, effect, guard)
                }
                Action::ReadSteps
                | Action::MakeFolder(_)
                | Action::DropFolder(_)
                | Action::PlanMerge(_)
                | Action::WriteMerge(_) => self.pools.perform(state, effect),
            })
            .collect()
    }

    fn is_idle(&self) -> bool {
        self.running.is_empty()
            && self.recordings.is_idle()
            && self.pools.is_idle()
            && self.notices.is_idle()
    }
}

/// No host is attached: what one was to perform died with it, and no process is started in its place.
fn without_host(effect: &Effect) -> Option<Input> {
    match effect.action {
        Action::RunAttempt(id) | Action::StopAttempt(id) => {
            Some(ended(id, 0, EndSeen { lost: true, ..EndSeen::default() }))
        }
        Action::Tell(..)
        | Action::RunTimer { .. }
        | Action::WaitUntil { .. }
        | Action::RecordTree(_)
        | Action::RestoreTree
        | Action::ReadSteps
        | Action::MakeFolder(_)
        | Action::DropFolder(_)
        | Action::PlanMerge(_)
        | Action::WriteMerge(_)
        | Action::Notify(_) => None,
    }
}

fn ended(attempt: AttemptId, active_ms: u64, seen: EndSeen) -> Input {
    let what = AttemptReport::Ended(seen);
    reported(Report::Attempt { attempt, active_ms, what })
}
