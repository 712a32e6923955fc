//! One run in one simulated world, from its start through everything that goes wrong to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chronicle_core::base::ids::{AttemptId, SessionId};
use chronicle_core::base::time::Millis;
use chronicle_core::event::input::{Actor, AttemptReport, By, Command, Input, Report, What};
use chronicle_core::event::notice::About;
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::ledger::{self, ArtifactId, Folder, Head, Holder, Ledger as _};
use chronicle_testkit::{Faults, Simulated, SimulatedProcess};

use super::agent::{Agent, Session};
use super::figures::{Figures, Trouble};
use super::oracle::{Checked, Oracle, ensure};
use super::rng::Rng;
use super::shapes::Shape;
use super::supervisor::Supervisor;

/// Most moves until the end once nothing goes wrong any more: a run that needs more never ends.
const CALM_MOVES_MAX: u32 = 600;
/// Fewest and most moves while everything may go wrong, and how many worlds out of forty have so many. What one short run
/// shows, thousands show a second; a long one costs as much as a hundred of them, and there are some of those too.
const WILD_MOVES: [(u64, u64, u64); 5] =
    [(1, 6, 18), (2, 12, 13), (4, 20, 6), (10, 40, 2), (30, 120, 1)];
/// The same where steps work beside each other: before that they are planned, and folders are made.
const POOL_MOVES: (u64, u64) = (20, 120);
/// How many worlds out of a hundred have a person who gives the run up where it stands once all is calm.
const GIVEN_UP: u64 = 65;
/// How many moves out of a hundred are trouble.
const TROUBLE: [u64; 4] = [3, 10, 20, 40];

/// In one world out of so many each line is decided again: all of them would cost a quarter of the runs.
const REPLAYED: u64 = 4;

/// Where the run is on the simulated disk.
const FOLDER: &str = "/run";
pub(super) const LEDGER: &str = "/run/ledger.jsonl";

pub(super) struct Sim<'a> {
    pub(super) rng: Rng,
    pub(super) shape: &'a Shape,
    pub(super) platter: Simulated,
    pub(super) faults: Faults,
    /// Looks at the run as a stranger does.
    pub(super) stranger: Folder,
    /// What was kept beside the ledger, and on disk.
    pub(super) artifacts: Vec<(ArtifactId, Vec<u8>)>,
    pub(super) oracle: Oracle,
    /// The last is the one that holds the lock, if any does; the others were overtaken and do not know it yet.
    pub(super) supervisors: Vec<Supervisor>,
    pub(super) agents: BTreeMap<AttemptId, Agent>,
    /// Attempts whose keepers have left a file: they began. Its name is on disk before the agent is let go.
    pub(super) keepers: BTreeSet<AttemptId>,
    /// What people were told of.
    pub(super) told: BTreeSet<About>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    /// Once calm, nothing goes wrong, and whoever is asked answers rightly.
    pub(super) calm: bool,
    /// Whether a person gives it up then.
    gives_up: bool,
    pub(super) disk: DiskMood,
    /// Which kinds of trouble there are in this world, by number: some of them only, so that each comes alone too.
    pub(super) wrongs: u64,
    pub(super) figures: Figures,
    now: u64,
    story: Option<Vec<String>>,
}

/// Which trouble with the ledger is to be expected.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DiskMood {
    /// Writes or syncs fail.
    pub(super) failing: bool,
    /// What stands after the synced lines need not be their beginning.
    pub(super) garbled: bool,
}

/// How a run ended, and what happened in it if that was to be told.
pub(super) struct Played {
    pub(super) figures: Result<Figures, String>,
    pub(super) story: Vec<String>,
}

pub(super) fn play(seed: u64, shapes: &[Shape], told: bool) -> Played {
    let mut rng = Rng::new(seed);
    let index = rng.index(shapes.len());
    let wrongs = rng.next();
    let platter = Simulated::with_folder(Path::new(FOLDER));
    let mut sim = Sim {
        rng,
        shape: &shapes[index],
        stranger: Folder::on(Arc::new(platter.process()), FOLDER),
        platter,
        faults: Faults::default(),
        artifacts: Vec::new(),
        oracle: Oracle::new(seed.is_multiple_of(REPLAYED)),
        supervisors: Vec::new(),
        agents: BTreeMap::new(),
        keepers: BTreeSet::new(),
        told: BTreeSet::new(),
        sessions: BTreeMap::new(),
        calm: false,
        gives_up: false,
        disk: DiskMood::default(),
        wrongs,
        figures: Figures::default(),
        now: 1_794_709_850_000,
        story: told.then(Vec::new),
    };
    sim.tell(|| format!("shape {index}:\n{}", shapes[index].text));
    let whole = sim.whole();
    Played { figures: whole.map(|()| sim.figures), story: sim.story.unwrap_or_default() }
}

impl Sim<'_> {
    /// A process that is just starting, and the run's folder as it sees it.
    pub(super) fn process(&mut self) -> (SimulatedProcess, Folder) {
        self.figures.opens += 1;
        let process = self.platter.process();
        if !self.calm && self.rng.chance(8) {
            process.kill_after(u32::try_from(self.rng.below(45)).unwrap_or(0));
        }
        let disk = self.faults.on(Arc::new(process.clone()));
        (process, Folder::on(disk, FOLDER).with_patience(Duration::ZERO))
    }

    pub(super) fn on_new_process(&self) -> Folder {
        Folder::on(Arc::new(self.platter.process()), FOLDER).with_patience(Duration::ZERO)
    }

    pub(super) fn holder(&mut self, command: &str) -> Holder {
        let pid = u32::try_from(self.figures.opens).unwrap_or(0) + 100;
        let (host, command) = ("here".to_owned(), command.to_owned());
        Holder { pid, host, started: 1, command, since: self.at() }
    }

    /// Reads the run as a stranger does, from whatever cache there is or from its beginning, and everything that was kept
    /// beside it.
    pub(super) fn look(&mut self) -> Checked {
        let cached = self.rng.chance(50).then(|| ledger::load::<State>(&self.stranger)).flatten();
        let (from, mut state) = cached.unwrap_or((Head::EMPTY, State::default()));
        let lines = self.stranger.read(from).map_err(|error| error.to_string())?;
        for next in lines {
            let (line, _) = next.map_err(|error| format!("cannot be read: {error}"))?;
            state.apply(&line);
        }
        ensure(state == self.oracle.state, || {
            format!("read with the cache of line {} it is another run", from.seq)
        })?;
        for (id, body) in &self.artifacts {
            let kept = self.stranger.artifact(id).map_err(|error| error.to_string())?;
            ensure(kept == *body, || format!("artifact {id} is another"))?;
        }
        Ok(())
    }

    fn whole(&mut self) -> Checked {
        let (least, most) = self.some_length();
        let trouble = *self.rng.pick(&TROUBLE).unwrap_or(&TROUBLE[0]);
        for _ in 0..least + self.rng.below(most - least) {
            if self.is_over() && self.rng.chance(70) {
                break;
            }
            self.wild_move(trouble)?;
        }
        self.tell(|| "--- calm ---".to_owned());
        self.calm_down();
        let mut moves = 0;
        while !self.is_over() {
            moves += 1;
            ensure(moves < CALM_MOVES_MAX, || {
                let state = &self.oracle.state;
                format!("no end in sight: {:?} {:#?}", state.status(), state.frames)
            })?;
            self.calm_move()?;
        }
        self.finish()
    }

    fn some_length(&mut self) -> (u64, u64) {
        if self.shape.is_pool {
            return POOL_MOVES;
        }
        let mut number = self.rng.below(WILD_MOVES.iter().map(|(.., share)| share).sum());
        for (least, most, share) in WILD_MOVES {
            if number < share {
                return (least, most);
            }
            number -= share;
        }
        (0, 1)
    }

    fn wild_move(&mut self, trouble: u64) -> Checked {
        if self.rng.chance(trouble) {
            return self.something_goes_wrong();
        }
        match self.rng.below(88) {
            0..=41 => self.some_agent_acts(),
            42..=76 => self.some_supervisor_works(),
            77..=83 => self.somebody_asks(),
            _ => {
                self.some_timer_fires();
                Ok(())
            }
        }
    }

    fn calm_move(&mut self) -> Checked {
        let is_idle = self.supervisors.last().is_none_or(|one| one.inbox.is_empty());
        if self.gives_up && is_idle && self.oracle.state.run.is_some() {
            self.gives_up = false;
            return self.ask(Command::Cancel { reason: "given up".to_owned() });
        }
        let Some(supervisor) = self.supervisors.last() else {
            let state = &self.oracle.state;
            let waits = state.status() == Status::Waiting && !state.goes_on();
            return if waits { self.answer_rightly() } else { self.launch() };
        };
        if !supervisor.inbox.is_empty() {
            return self.work(self.supervisors.len() - 1);
        }
        let (epoch, status) = (supervisor.epoch, supervisor.run.state().status());
        if status == Status::Waiting && self.oracle.state.open_gates().next().is_some() {
            return self.answer_rightly();
        }
        let ours = self.agents.iter().find(|(_, agent)| agent.owner == epoch);
        match ours.map(|(id, _)| *id) {
            Some(id) => self.act(id),
            None if supervisor.run.state().waits().next().is_some() => {
                self.some_timer_fires();
                Ok(())
            }
            None => {
                Err(format!("a supervisor drives a run that is {status:?}, and nothing goes on"))
            }
        }
    }

    fn calm_down(&mut self) {
        self.calm = true;
        self.gives_up = self.rng.chance(GIVEN_UP);
        self.disk_recovers();
        // Its heartbeat tells an overtaken one sooner or later.
        self.supervisors.retain(|supervisor| !supervisor.overtaken);
        self.supervisors.iter().for_each(|supervisor| supervisor.process.spare());
    }

    fn is_over(&self) -> bool {
        self.oracle.state.is_over()
    }

    /// In every third world it is read again: by one who opens it, or by a stranger. In each of them its bytes are those
    /// that were written, since their sums are.
    fn finish(&mut self) -> Checked {
        self.supervisors.clear();
        // Lines that somebody wrote and nobody synced are a part of the run for whoever opens it, not for a stranger yet.
        let bytes = self.platter.bytes(Path::new(LEDGER)).map_or(0, |bytes| bytes.len() as u64);
        let is_settled = bytes == self.oracle.head.at.for_backend();
        match self.rng.below(6) {
            0 if is_settled => self.look()?,
            0 | 1 => {
                self.launch()?;
                if self.supervisors.is_empty() {
                    // It had to be repaired first.
                    self.launch()?;
                }
                self.supervisors.clear();
            }
            _ => {}
        }
        let state = &self.oracle.state;
        ensure(state.live.is_empty(), || format!("over, and {:?} live", state.live))?;
        let figures = &mut self.figures;
        figures.runs = 1;
        figures.done = u64::from(state.done);
        figures.cancelled = 1 - figures.done;
        figures.lines = self.oracle.lines;
        figures.events = self.oracle.events;
        figures.attempts = state.attempts.len() as u64;
        figures.gates = state.gates.len() as u64;
        figures.met.join(&self.oracle.met);
        Ok(())
    }

    /// For whoever replays this seed.
    pub(super) fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(words());
        }
    }

    /// The time of the next input. Clocks jump; nothing may depend on it.
    pub(super) fn at(&mut self) -> Millis {
        self.now += 7;
        if !self.calm && self.rng.chance(3) {
            self.figures.meet(Trouble::ClockJumped);
            let jump = self.rng.below(1 << 40);
            self.now =
                if self.rng.chance(50) { self.now + jump } else { self.now.saturating_sub(jump) };
        }
        Millis(self.now)
    }

    pub(super) fn reported(&mut self, report: Report) -> Input {
        let by = By { actor: Actor::Supervisor, request: None };
        Input { at: self.at(), by, what: What::Report(report) }
    }

    pub(super) fn about(&mut self, attempt: AttemptId, what: AttemptReport) -> Input {
        let active_ms = self.rng.below(400_000);
        self.reported(Report::Attempt { attempt, active_ms, what })
    }

    pub(super) fn asked(&mut self, command: Command) -> Input {
        let by = By { actor: Actor::Person("ann".to_owned()), request: None };
        Input { at: self.at(), by, what: What::Command(command) }
    }
}
