//! Supervisors: the real `Run` taken through the driver's order, and killed at every point of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use chronicle_core::base::ids::{AttemptId, Cause, FolderId, SHELL};
use chronicle_core::engine::work::work;
use chronicle_core::event::WallsFound;
use chronicle_core::event::input::{
    Answer, AttemptReport, Command, EndSeen, Input, Report, TimerKind,
};
use chronicle_core::event::notice::{About, Missed, NoticeGiven, Way};
use chronicle_core::event::pool::MergeWritten;
use chronicle_core::event::record::Line;
use chronicle_core::event::room::RoomLimit;
use chronicle_core::event::trees::{FileChange, Moment, Restored};
use chronicle_core::event::{Change, Message as ToTell};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{State, Status};
use chronicle_core::words;
use chronicle_runtime::for_tests::driver::Run;
use chronicle_runtime::for_tests::ledger::{self, Folder, LedgerError};
use chronicle_testkit::SimulatedProcess;

use crate::world::same_tree;
use crate::world_moves::made_again;
use crate::world_pools::pool_report;

use super::agent::Request;
use super::figures::Trouble;
use super::oracle::{Checked, ensure};
use super::run::{LEDGER, Sim};

/// Most inputs that share a sync here.
const BATCH: usize = 6;

pub(super) struct Supervisor {
    pub(super) run: Run,
    pub(super) process: SimulatedProcess,
    folder: Folder,
    pub(super) epoch: u64,
    pub(super) inbox: VecDeque<Message>,
    /// How many of them are taken together at the least: what a supervisor begins with.
    first: usize,
    /// Attempts that are run or observed here.
    running: BTreeSet<AttemptId>,
    /// Attempts that lived before.
    unknown: BTreeSet<AttemptId>,
    /// What people were to be told before.
    untold: BTreeSet<About>,
    /// What they are told here.
    telling: BTreeSet<About>,
    /// Timers that run, and whether each has fired.
    pub(super) timers: BTreeMap<(Cause, AttemptId, TimerKind), bool>,
    /// Trees that are being recorded.
    trees: BTreeSet<Cause>,
    /// What is being done for pools.
    pools: BTreeSet<(Cause, Action)>,
    /// What was last reported of the room of attempts that did not find any at once.
    rooms: BTreeMap<AttemptId, AttemptReport>,
    /// Which walls its machine puts up, if it looked.
    pub(super) walls: Option<WallsFound>,
    /// Whether it stays while a person is needed.
    stays: bool,
    /// Whether another was given the lock.
    pub(super) overtaken: bool,
}

impl Supervisor {
    /// Keeps the state beside the ledger: now and then, and whenever a run comes to rest.
    fn keep(&self) {
        // Whether it can be kept matters to nobody.
        let _ = ledger::save(&self.folder, &self.run.head(), self.run.state());
    }
}

/// An input, and who waits for the answer.
pub(super) struct Message {
    pub(super) input: Input,
    pub(super) reply: Reply,
}

pub(super) enum Reply {
    Nobody,
    Worker(AttemptId, Request),
    /// One that does what it may not do.
    Pretender(AttemptId),
    Person,
}

impl Message {
    pub(super) fn new(input: Input) -> Self {
        Self { input, reply: Reply::Nobody }
    }
}

/// Where a supervisor is killed while it takes a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kill {
    Never,
    AfterAppend,
    BeforeAnswers,
    AmongAnswers,
    BeforePerforming,
    /// Between two things that it asks of the disk.
    InDisk,
}

/// Supervisors of different machines: with walls, with one layer, without, and one that did not look.
fn walls_found(pid: u32) -> Option<WallsFound> {
    let (namespaces, landlock) = (pid % 4 == 1, pid % 4 < 3);
    let off = pid.is_multiple_of(7);
    (!pid.is_multiple_of(5)).then(|| WallsFound {
        namespaces,
        landlock,
        off,
        ..WallsFound::default()
    })
}

/// Whether an attempt was decided for other walls than the supervisor puts up.
fn has_other_walls(supervisor: &Supervisor, id: AttemptId) -> bool {
    let state = supervisor.run.state();
    state.attempt(id).is_some_and(|attempt| state.has_other_walls(attempt))
}

impl Sim<'_> {
    /// Starts a supervisor, as `run` and `resume` do.
    pub(super) fn launch(&mut self) -> Checked {
        let who = self.holder("simulated");
        let pid = who.pid;
        let (process, folder) = self.process();
        let run = match Run::open(&folder, who.clone(), None) {
            Ok(run) => run,
            Err(error) => return self.cannot_open(&process, &error),
        };
        process.spare();
        self.tell(|| format!("supervisor {pid} opens the ledger at line {}", run.head().seq));
        self.disk.garbled = false;
        self.oracle.catch_up(&self.platter)?;
        self.oracle.agree(run.state(), run.head())?;
        if self.rng.chance(2) {
            self.look()?;
        }
        // Some know how to tell people. Not by chance of the dice: those that are kept fall as they fell.
        let introduction = run.introduce(&who, pid.is_multiple_of(2), walls_found(pid));
        let epoch = self.epoch_of(&introduction)?;
        let command = if run.state().run.is_none() {
            Command::Start(Box::new(self.shape.start.clone()))
        } else {
            Command::Resume
        };
        let is_new = run.state().run.is_none();
        let command = Message { input: self.asked(command), reply: Reply::Person };
        let mut inbox: VecDeque<Message> = VecDeque::new();
        for mut input in introduction {
            input.at = self.at();
            inbox.push_back(Message::new(input));
        }
        inbox.insert(if is_new { 0 } else { inbox.len() }, command);
        let stays = self.rng.chance(80);
        self.supervisors.push(Supervisor {
            unknown: run.state().live.clone(),
            untold: run.state().notices.owed.iter().map(|owed| owed.about).collect(),
            telling: BTreeSet::new(),
            run,
            process,
            folder,
            epoch,
            first: inbox.len(),
            inbox,
            running: BTreeSet::new(),
            timers: BTreeMap::new(),
            trees: BTreeSet::new(),
            pools: BTreeSet::new(),
            rooms: BTreeMap::new(),
            walls: walls_found(pid),
            stays,
            overtaken: false,
        });
        Ok(())
    }

    fn epoch_of(&self, introduction: &[Input]) -> Result<u64, String> {
        use chronicle_core::event::input::What;
        let epoch = introduction.iter().find_map(|input| match &input.what {
            What::Report(Report::SupervisorStarted { epoch, .. }) => Some(*epoch),
            _ => None,
        });
        let epoch = epoch.ok_or("a supervisor does not say who it is")?;
        let last = self.oracle.state.supervisor.as_ref().map_or(0, |before| before.epoch);
        ensure(epoch > last, || format!("epoch {epoch} after {last}"))?;
        Ok(epoch)
    }

    pub(super) fn cannot_open(
        &mut self,
        process: &SimulatedProcess,
        error: &LedgerError,
    ) -> Checked {
        if process.is_dead() {
            self.figures.kills += 1;
            self.figures.meet(Trouble::KilledInDisk);
            self.tell(|| "whoever opens the ledger is killed".to_owned());
            return Ok(());
        }
        self.tell(|| format!("the ledger does not open: {error}"));
        self.meet_error(error);
        match error {
            LedgerError::Held { .. } if !self.supervisors.is_empty() => Ok(()),
            LedgerError::Full { .. } | LedgerError::Io { .. } | LedgerError::Denied { .. }
                if self.disk.failing =>
            {
                Ok(())
            }
            LedgerError::Damaged { line, spot, .. } if self.disk.garbled => {
                ensure(*line > self.oracle.head.seq, || format!("a synced line is lost: {error}"))?;
                self.repair(spot)
            }
            _ => Err(format!("the ledger does not open: {error}")),
        }
    }

    fn meet_error(&mut self, error: &LedgerError) {
        let trouble = match error {
            LedgerError::Held { .. } => Trouble::Raced,
            LedgerError::Fenced { .. } => Trouble::Fenced,
            LedgerError::Full { .. } => Trouble::Full,
            LedgerError::Denied { .. } => Trouble::ReadOnly,
            LedgerError::Io { .. } => Trouble::SyncFailed,
            _ => return,
        };
        self.figures.meet(trouble);
    }

    /// What a person does with a ledger whose last lines, never acted upon, are not whole.
    fn repair(&mut self, spot: &str) -> Checked {
        let byte = spot.strip_prefix("byte ").and_then(|byte| byte.parse::<usize>().ok());
        let Some(byte) = byte else { return Err(format!("no byte to cut at: {spot}")) };
        let mut bytes = self.platter.bytes(Path::new(LEDGER)).unwrap_or_default();
        bytes.truncate(byte);
        self.platter.overwrite(Path::new(LEDGER), &bytes);
        self.disk.garbled = false;
        self.figures.meet(Trouble::Cut);
        self.tell(|| format!("a person cuts the ledger at byte {byte}"));
        Ok(())
    }

    pub(super) fn some_supervisor_works(&mut self) -> Checked {
        if self.supervisors.is_empty() {
            if self.disk.failing && self.rng.chance(60) {
                self.disk_recovers();
            }
            // A run that waits for a person is seldom resumed without an answer.
            let waits = self.oracle.state.status() == Status::Waiting && self.rng.chance(80);
            return if waits { self.somebody_asks() } else { self.launch() };
        }
        let index = self.rng.index(self.supervisors.len());
        self.work(index)
    }

    /// Takes what waits through the step and one sync, then answers and performs: the driver's order.
    pub(super) fn work(&mut self, index: usize) -> Checked {
        let mut supervisor = self.supervisors.remove(index);
        let kill = self.kill_point();
        if kill == Kill::InDisk {
            self.figures.meet(Trouble::KilledInDisk);
            supervisor.process.kill_after(u32::try_from(self.rng.below(40)).unwrap_or(0));
        }
        let goes_on = self.take(&mut supervisor, kill)? && !supervisor.process.is_dead();
        supervisor.process.spare();
        if !goes_on && kill != Kill::Never {
            supervisor.process.kill();
        }
        if goes_on {
            self.supervisors.insert(index, supervisor);
            return Ok(());
        }
        self.tell(|| format!("supervisor of epoch {} is gone", supervisor.epoch));
        if kill != Kill::Never && self.rng.chance(40) {
            // It was not alone: what it wrote is not on disk yet.
            self.cut_power();
        }
        Ok(())
    }

    fn kill_point(&mut self) -> Kill {
        // One trouble seldom comes alone.
        let chance = if self.disk.failing { 30 } else { 6 };
        if self.calm || !self.rng.chance(chance) {
            return Kill::Never;
        }
        self.figures.kills += 1;
        match self.rng.below(6) {
            0 => Kill::AfterAppend,
            1 => Kill::BeforeAnswers,
            2 => Kill::AmongAnswers,
            3 | 4 => Kill::InDisk,
            _ => Kill::BeforePerforming,
        }
    }

    /// False when the supervisor is no more.
    fn take(&mut self, supervisor: &mut Supervisor, kill: Kill) -> Result<bool, String> {
        let count = (self.rng.index(BATCH) + 1).max(std::mem::take(&mut supervisor.first));
        let (mut answers, mut lines) = (Vec::new(), 0);
        for _ in 0..count.min(supervisor.inbox.len()) {
            let Some(Message { input, reply }) = supervisor.inbox.pop_front() else { break };
            self.figures.inputs += 1;
            let (answer, line) = match supervisor.run.step(&input) {
                Ok(stepped) => stepped,
                Err(error) => return self.broke(supervisor, &error),
            };
            self.tell_line(supervisor, &input, &answer, line.as_ref());
            lines += usize::from(line.is_some());
            // What an overtaken one decides never reaches the ledger, so there is nothing to expect of it.
            if let Some(line) = line.filter(|_| !supervisor.overtaken) {
                self.oracle.wrote(supervisor.run.head(), line);
            }
            answers.push((reply, input, answer));
            if kill == Kill::AfterAppend && self.rng.chance(50) {
                return Ok(false);
            }
        }
        if lines > 0 {
            if let Err(error) = supervisor.run.sync() {
                return self.broke(supervisor, &error);
            }
            ensure(!supervisor.overtaken, || "an overtaken one wrote".to_owned())?;
            self.oracle.catch_up(&self.platter)?;
        }
        if !supervisor.overtaken {
            self.oracle.agree(supervisor.run.state(), supervisor.run.head())?;
            if self.rng.chance(1) {
                supervisor.keep();
            }
        }
        if kill == Kill::BeforeAnswers || supervisor.process.is_dead() {
            return Ok(false);
        }
        for (reply, input, answer) in answers {
            self.deliver(&reply, &input, &answer, supervisor.overtaken)?;
            if kill == Kill::AmongAnswers && self.rng.chance(50) {
                return Ok(false);
            }
        }
        let goes_on = kill != Kill::BeforePerforming && self.reconcile(supervisor)?;
        let rests = !goes_on && kill != Kill::BeforePerforming && !supervisor.overtaken;
        // One that is killed just then keeps nothing.
        if rests && self.rng.chance(15) {
            supervisor.keep();
        }
        Ok(goes_on)
    }

    fn tell_line(&mut self, by: &Supervisor, input: &Input, answer: &Answer, line: Option<&Line>) {
        self.tell(|| {
            let mut told = format!("[{}] {:?} -> {answer:?}", by.epoch, input.what);
            if told.starts_with(&format!("[{}] Command(Start", by.epoch)) {
                told = format!("[{}] start", by.epoch);
            }
            for event in line.iter().flat_map(|line| &line.events) {
                told.push_str("\n      ");
                told.push_str(&words::sentence(event));
            }
            told
        });
    }

    /// The ledger said no: that ends a supervisor. Only what was to be expected may happen.
    fn broke(&mut self, supervisor: &Supervisor, error: &LedgerError) -> Result<bool, String> {
        self.tell(|| format!("supervisor of epoch {} stops: {error}", supervisor.epoch));
        self.meet_error(error);
        let expected = match error {
            _ if supervisor.process.is_dead() => true,
            LedgerError::Fenced { .. } => supervisor.overtaken,
            LedgerError::Conflict { .. } => self.disk.garbled,
            LedgerError::Full { .. } | LedgerError::Io { .. } | LedgerError::Denied { .. } => {
                self.disk.failing
            }
            _ => false,
        };
        ensure(expected, || format!("a supervisor stops: {error}"))?;
        Ok(false)
    }

    /// Compares what is due with what runs, as the real world does. False when nothing works any more.
    fn reconcile(&mut self, supervisor: &mut Supervisor) -> Result<bool, String> {
        let state = supervisor.run.state();
        supervisor.running.retain(|id| state.live.contains(id));
        let due = state.due();
        let fired = |key| (key, supervisor.timers.get(&key).copied().unwrap_or(false));
        supervisor.timers = due.iter().filter_map(timer_of).map(fired).collect();
        let is_due = |it: &(Cause, Action)| due.iter().any(|at| (at.cause, at.action) == *it);
        supervisor.pools.retain(is_due);
        let mut at_once = false;
        for effect in due {
            match effect.action {
                Action::RunAttempt(id) | Action::StopAttempt(id)
                    if supervisor.unknown.remove(&id) && self.keepers.contains(&id) =>
                {
                    self.observe(supervisor, id);
                }
                Action::RunAttempt(id)
                    if !supervisor.running.contains(&id) && self.is_put_off(supervisor, id) =>
                {
                    at_once = true;
                }
                Action::RunAttempt(id) if supervisor.running.insert(id) => {
                    let order = work(supervisor.run.state(), id);
                    let order = order.ok_or_else(|| format!("{id} is due without an order"))?;
                    self.start(supervisor, order)?;
                }
                Action::StopAttempt(id) if supervisor.running.contains(&id) => self.stop(id),
                Action::StopAttempt(id) => {
                    let seen = EndSeen { stopped: true, ..EndSeen::default() };
                    let input = self.about(id, AttemptReport::Ended(seen));
                    supervisor.inbox.push_front(Message::new(input));
                    at_once = true;
                }
                Action::Tell(id, message) if supervisor.running.contains(&id) => {
                    self.say_to(supervisor, id, message);
                    at_once = true;
                }
                Action::RecordTree(moment) if supervisor.trees.insert(effect.cause) => {
                    let input = self.tree(supervisor.run.state(), moment);
                    supervisor.inbox.push_back(Message::new(input));
                }
                Action::RestoreTree if supervisor.trees.insert(effect.cause) => {
                    let error = self.rng.chance(10).then(|| "git could not write".to_owned());
                    let restored = Restored { files: 1, error, ..Restored::default() };
                    let input = self.reported(Report::TreeRestored(Box::new(restored)));
                    supervisor.inbox.push_back(Message::new(input));
                    at_once = true;
                }
                Action::ReadSteps
                | Action::MakeFolder(_)
                | Action::DropFolder(_)
                | Action::PlanMerge(_)
                | Action::WriteMerge(_) => {
                    at_once |= self.tend_pool(supervisor, &effect);
                }
                Action::RunAttempt(_)
                | Action::Tell(..)
                | Action::RunTimer { .. }
                | Action::WaitUntil { .. }
                | Action::RecordTree(_)
                | Action::RestoreTree => {}
                Action::Notify(about) => at_once |= self.notify(supervisor, about)?,
            }
        }
        let state = supervisor.run.state();
        let waits = supervisor.stays && state.status() == Status::Waiting;
        Ok(at_once || waits || state.goes_on())
    }

    /// Performs what a pool needs, once. Whether there is a report of it.
    fn tend_pool(&mut self, supervisor: &mut Supervisor, effect: &Effect) -> bool {
        if !supervisor.pools.insert((effect.cause, effect.action)) {
            return false;
        }
        let report = pool_report(supervisor.run.state(), effect.action);
        let report = report.map(|report| self.spoil(report));
        let input = report.map(|report| self.reported(report));
        let is_told = input.is_some();
        supervisor.inbox.extend(input.map(Message::new));
        is_told
    }

    /// Now and then folders and merges meet a disk without room, or a person who edits.
    fn spoil(&mut self, report: Report) -> Report {
        if self.calm || !self.rng.chance(15) {
            return report;
        }
        let why = || "the disk is full".to_owned();
        match report {
            Report::FolderMade(made) => Report::FolderFailed { folder: made.folder, why: why() },
            Report::FolderDropped { folder, .. } => {
                Report::FolderDropped { folder, error: Some(why()) }
            }
            Report::MergePlanned(planned) => {
                Report::MergeMissed { folder: planned.folder, why: why() }
            }
            Report::MergeWritten(written) if self.rng.chance(70) => {
                Report::MergeWritten(MergeWritten { late: vec!["a.txt".to_owned()], ..written })
            }
            Report::MergeWritten(written) => {
                Report::MergeWritten(MergeWritten { error: Some(why()), ..written })
            }
            other => other,
        }
    }

    /// Whether something is to be reported of an attempt before it starts.
    fn is_put_off(&mut self, supervisor: &mut Supervisor, id: AttemptId) -> bool {
        if has_other_walls(supervisor, id) {
            self.rewall(supervisor, id);
            return true;
        }
        self.lacks_room(supervisor, id)
    }

    /// Reports that an attempt is to get the walls of its supervisor before it starts.
    fn rewall(&mut self, supervisor: &mut Supervisor, attempt: AttemptId) {
        let (active_ms, what) = (0, AttemptReport::OtherWalls);
        let input = self.reported(Report::Attempt { attempt, active_ms, what });
        supervisor.inbox.push_front(Message::new(input));
    }

    /// Whether an attempt waits for room before it starts: some do, and what the ledger does not know yet is reported once.
    fn lacks_room(&mut self, supervisor: &mut Supervisor, id: AttemptId) -> bool {
        let state = supervisor.run.state();
        let Some(attempt) = state.attempt(id) else { return false };
        let (waits, reported) = (attempt.awaits_room(), supervisor.rooms.get(&id));
        let what = match reported {
            // On its way to the ledger.
            Some(AttemptReport::RoomTaken) => return waits,
            Some(_) if !waits => return true,
            None if !waits => {
                let may_wait = attempt.intent.agent != SHELL && !state.has_begun(attempt);
                // Not by chance: worlds in which nobody waits stay what they are.
                let crowd = (self.wrongs >> 16).wrapping_add(u64::from(id.0)) % 16;
                if !may_wait || crowd > 1 {
                    return false;
                }
                let agent = (crowd == 1).then(|| "scripted".to_owned());
                AttemptReport::RoomAwaited(RoomLimit { agent, most: 8 })
            }
            Some(_) | None => AttemptReport::RoomTaken,
        };
        supervisor.rooms.insert(id, what.clone());
        let (attempt, active_ms) = (id, 0);
        let input = self.reported(Report::Attempt { attempt, active_ms, what });
        supervisor.inbox.push_back(Message::new(input));
        true
    }

    /// Tells an agent something. A call that waited is decided first.
    fn say_to(&mut self, supervisor: &mut Supervisor, id: AttemptId, message: ToTell) {
        let again = made_again(supervisor.run.state(), id, message);
        if let Some(agent) = self.agents.get_mut(&id).filter(|_| again.is_none()) {
            agent.asks &= matches!(message, ToTell::Verdict(_));
        }
        let input = self.about(id, again.unwrap_or(AttemptReport::Told(message)));
        supervisor.inbox.push_front(Message::new(input));
    }

    /// Tells people, who are never told of the same twice. Whether there is a report of it.
    fn notify(&mut self, supervisor: &mut Supervisor, about: About) -> Result<bool, String> {
        if !supervisor.telling.insert(about) {
            return Ok(false);
        }
        let given = if supervisor.untold.contains(&about) {
            NoticeGiven::missed(about, Missed::Unknown)
        } else {
            ensure(self.told.insert(about), || format!("people are told of {about} twice"))?;
            NoticeGiven { about, given: vec![Way::Command], failed: Vec::new(), missed: None }
        };
        let input = self.reported(Report::NoticeGiven(given));
        supervisor.inbox.push_back(Message::new(input));
        Ok(true)
    }

    /// Mostly nothing has changed; sometimes git fails, or somebody removed the folder.
    fn tree(&mut self, state: &State, moment: Moment) -> Input {
        if let (Moment::After(_), FolderId::Work(folder)) = (moment, state.folder_of(moment))
            && state.is_made(FolderId::Work(folder))
            && self.rng.chance(5)
        {
            return self.reported(Report::FolderLost { folder });
        }
        if self.rng.chance(5) {
            let why = "git could not write".to_owned();
            return self.reported(Report::TreeMissed { moment, why });
        }
        let mut recorded = same_tree(moment);
        if self.rng.chance(10) {
            let (path, change) = ("a".to_owned(), Change::Changed);
            let (added, removed) = (Some(1), Some(0));
            recorded.changes.add(FileChange { path, change, from: None, added, removed });
        }
        self.reported(Report::TreeRecorded(Box::new(recorded)))
    }

    /// Ends what is left of an attempt that lived before, and reports it lost.
    fn observe(&mut self, supervisor: &mut Supervisor, id: AttemptId) {
        supervisor.running.insert(id);
        if let Some(swept) = self.agents.remove(&id) {
            self.tell(|| format!("{id} is swept"));
            let seen = EndSeen { signal: Some(9), ..EndSeen::default() };
            let input = self.about(id, AttemptReport::Ended(seen));
            self.report_to(swept.owner, Message::new(input));
        }
        let seen = EndSeen { lost: true, ..EndSeen::default() };
        let input = self.about(id, AttemptReport::Ended(seen));
        supervisor.inbox.push_back(Message::new(input));
    }

    /// Puts something into the inbox of a supervisor, if it lives.
    pub(super) fn report_to(&mut self, epoch: u64, message: Message) {
        if let Some(supervisor) = self.supervisors.iter_mut().find(|one| one.epoch == epoch) {
            supervisor.inbox.push_back(message);
        }
    }

    pub(super) fn some_timer_fires(&mut self) {
        let index = self.rng.index(self.supervisors.len().max(1));
        let Some(supervisor) = self.supervisors.get(index) else { return };
        let waiting: Vec<_> =
            supervisor.timers.iter().filter(|(_, fired)| !**fired).map(|(key, _)| *key).collect();
        let (key, timer, attempt) = match self.rng.pick(&waiting) {
            Some(key) => (Some(*key), key.2, key.1),
            // Fired just when it was taken back.
            None => (
                None,
                TimerKind::Grace,
                AttemptId(1 + u32::try_from(self.rng.below(4)).unwrap_or(0)),
            ),
        };
        let input = self.reported(Report::TimerFired { attempt, timer });
        let supervisor = &mut self.supervisors[index];
        supervisor.timers.extend(key.map(|key| (key, true)));
        supervisor.inbox.push_back(Message::new(input));
    }
}

/// The timer that an effect is, with what it is known by.
fn timer_of(effect: &Effect) -> Option<(Cause, AttemptId, TimerKind)> {
    match effect.action {
        Action::RunTimer { attempt, timer, .. } => Some((effect.cause, attempt, timer)),
        Action::WaitUntil { attempt, .. } => Some((effect.cause, attempt, TimerKind::Wait)),
        Action::RunAttempt(_)
        | Action::StopAttempt(_)
        | Action::Tell(..)
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
