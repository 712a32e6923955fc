//! The driver dies at every point of its step and its ledger, the disk forgets what was not synced, and somebody resumes:
//! the same end, nothing twice, nothing acted upon that is not on disk.
//!
//! `cargo xtask crash-matrix` prints the rows that these tests leave in `CHRONICLE_CRASH_REPORT`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use chronicle_core::base::ids::{Place, RunId, TreeId};
use chronicle_core::definition::persona::Persona;
use chronicle_core::definition::workflow::{Source, Workflow, expand_pools, load};
use chronicle_core::event::input::Command;
use chronicle_core::event::record::Line;
use chronicle_core::event::{Event, RunStarted, RunWalls, WallsFound};
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::clock;
use chronicle_runtime::for_tests::driver::{INBOX_MAX, InboxMessage, Rest, Run, asked, drive};
use chronicle_runtime::for_tests::fail::{self, Cut, Fate, Point};
use chronicle_runtime::for_tests::ledger::{Head, Holder, Ledger};
use chronicle_testkit::Memory;

use crate::crash_end::{Whole, told};
use crate::crash_world::{Agents, Memorize, Nobody, Simulated};

const THREE: &str = "{name: T, phases: {plan: {next: [build]}, build: {next: [verify]}, verify: {next: [build, done]}}}";

/// What is tried: a name, workflows (inner ones after `===`), and what the world does.
type Scenario = (&'static str, &'static str, &'static str);

const STRAIGHT: Scenario = (
    "straight",
    THREE,
    "plan: tool read; usage 7; go build\nbuild: file a; usage 5; usage 2; go verify\nverify: usage 1; go done",
);
const REFUSED: Scenario =
    ("refused", THREE, "plan: go nowhere; go build\nbuild: go verify\nverify: usage 2; go done");
const REMINDED: Scenario = (
    "reminded",
    THREE,
    "plan 1: usage 3; finish\nplan 2: go build\nbuild: go verify\nverify: go done",
);
const CRASHES: Scenario = (
    "crashes",
    THREE,
    "plan 1: usage 3; crash x\nplan 2: crash x\nplan 3: crash x\nplan 4: crash x\nplan 5: go build\nbuild: go verify\nverify: go done",
);
const LOOP: Scenario =
    ("loop", THREE, "plan: go build\nbuild: usage 4; go verify\nverify 1: go build\ng1: go done");
const APPROVALS: Scenario = (
    "approvals",
    "{name: A, phases: {plan: {approval: both, next: [build]}, build: {}}}",
    "plan 1: go build\nplan 2: usage 6; go build\nbuild: go done\ng1: approve\ng2: reject no\ng3: approve",
);
const UNDONE: Scenario = (
    "undone",
    "{name: U, phases: {plan: {approval: after, next: [build]}, build: {}}}",
    "plan: go build\nbuild: usage 2; go done\ng1: undo plan",
);
const COMMANDS: Scenario = (
    "commands",
    "{name: C, phases: {test: {run: command, commands: [a, b], next: [done], on: {fail: mend}}, mend: {next: [test]}}}",
    "test 1: run 1 2\nmend: usage 9; go test",
);
const INSIDE: Scenario = (
    "inside",
    "{name: O, phases: {plan: {next: [in]}, in: {run: workflow, workflow: i, next: [ship]}, ship: {}}}\n=== i\n{name: I, phases: {look: {next: [judge]}, judge: {}}}",
    "plan: go in\nin/look: usage 4; go judge\nin/judge: go done\nship: go done",
);
const TIMEOUT: Scenario = (
    "timeout",
    "{name: S, phases: {slow: {next: [done], on: {timeout: mend}, limits: {timeout: 5s}}, mend: {}}}",
    "slow: usage 8; timeout\nmend: go done",
);

const QUESTIONS: Scenario = (
    "questions",
    "{name: Q, phases: {work: {next: [then]}, then: {}}}",
    r#"work: usage 2; call workflow_ask {"question": "which?"}; usage 3; go then
then: call signal_back {"signal": "needs-user-input", "question": "how?", "context": "c"}; usage 4; go done
g1: answer blue
g2: answer so
g3: answer so"#,
);
const PERMISSIONS: Scenario = (
    "permissions",
    "{name: P, phases: {work: {next: [then]}, then: {}}}",
    "work: usage 2; held rm a; usage 3; held rm b; go then\nthen: held rm a; usage 4; go done\n\
     g1: approve\ng2: reject no\ng3: approve\ng4: approve",
);
const HELP: Scenario = (
    "help",
    "{name: H, phases: {build: {next: [ship]}, ship: {}}}",
    r#"build: usage 1; call signal_back {"signal": "needs-role-followup", "targetRole": "a", "reason": "r", "context": "c", "resume": true}; go ship
build@a: call signal_back {"signal": "needs-role-followup", "targetRole": "b", "reason": "r", "context": "c", "resume": true}; usage 2; call signal_back {"signal": "complete", "summary": "a helped"}
build@b: usage 3; call signal_back {"signal": "complete", "summary": "b helped"}
ship: go done"#,
);

const WAITS: Scenario = (
    "waits",
    "{name: W, phases: {plan: {next: [build]}, build: {}}}",
    "plan: overload; usage 3; go build\nbuild: overload; overload; usage 4; go done",
);

#[test]
fn permissions() {
    every_death(&PERMISSIONS);
}

#[test]
fn waits() {
    every_death(&WAITS);
}

const NOTICES: Scenario = (
    "notices",
    "{name: N, phases: {plan: {approval: before, next: [build]}, build: {}}}",
    "plan: usage 2; go build\nbuild: usage 3; go done\ng1: approve\npeople: told",
);

#[test]
fn notices() {
    every_death(&NOTICES);
}

const LOOPS: Scenario = (
    "loops",
    "{name: L, limits: {loop: 1}, phases: {build: {next: [test]}, test: {next: [done], on: {fail: build}}}}",
    "build: usage 2; go test\ntest 1: go build fail\ntest 2: go build fail\ntest 3: go done\ng1: loops 2",
);

#[test]
fn loops() {
    every_death(&LOOPS);
}

const BUDGET: Scenario = (
    "budget",
    "{name: B, budget: {tokens: 10}, phases: {plan: {next: [build]}, build: {}}}",
    "plan: usage 12; usage 3; go build\nbuild: usage 4; go done\ng1: budget +100 tokens",
);

#[test]
fn budget() {
    every_death(&BUDGET);
}

const CIRCLE: Scenario = (
    "circle",
    "{name: C, phases: {dig: {limits: {repeats: 2}, next: [fill]}, fill: {}}}",
    "dig 1: usage 2; tool a; tool a; tool a\ndig 2: usage 3; go fill\nfill: go done\ng1: retry",
);

#[test]
fn circle() {
    every_death(&CIRCLE);
}

const STANDSTILL: Scenario = (
    "standstill",
    "{name: S, phases: {dig: {limits: {standstill: 20m}, next: [fill]}, fill: {}}}",
    "dig 1: usage 2; still\ndig 2: usage 3; go fill\nfill: go done\ng1: retry",
);

#[test]
fn standstill() {
    every_death(&STANDSTILL);
}

const CHORES: Scenario = (
    "chores",
    "{name: W, verify: [all], phases: {build: {verify: [lint, test], cleanup: [stop, rm], next: [ship]}, \
     ship: {cleanup: [put], limits: {nudges: 0, retries: 0}, next: [done], on: {crash: mend}}, mend: {}}}",
    "build 1: usage 2; go ship\nbuild 2: usage 3; go ship\nbuild!verify 1: run 1 2\nbuild!cleanup: run 0 1\n\
     ship: crash x\nmend: go done",
);

/// What a person says at a gate is decided while nobody drives the run, and each supervisor has other walls than the one before it.
const WALLS: Scenario = (
    "walls",
    "{name: W, phases: {plan: {approval: before, next: [test]}, \
     test: {run: command, commands: [a, b], approval: before}}}",
    "plan: usage 2; go test\nwalls: change\ng1: approve\ng2: approve",
);

#[test]
fn walls() {
    let mut whole = Trial::new(&WALLS, Memorize::AtOnce);
    whole.live();
    let (_, lines) = whole.read();
    let events = lines.iter().flat_map(|line| &line.events);
    let rewalled = events.filter(|event| matches!(event, Event::AttemptRewalled(_))).count();
    assert_eq!(rewalled, 2, "{}", told(&lines));
    every_death(&WALLS);
}

/// Every agent waits until others have ended.
const ROOM: Scenario = (
    "room",
    "{name: R, phases: {plan: {limits: {timeout: 5m}, next: [build]}, build: {next: [done]}}}",
    "full: 8\nplan 1: usage 2; crash x\nplan 2: usage 3; go build\nbuild: overload; go done",
);

#[test]
fn room() {
    let mut whole = Trial::new(&ROOM, Memorize::AtOnce);
    whole.live();
    let (_, lines) = whole.read();
    let events = || lines.iter().flat_map(|line| &line.events);
    let awaited = events().filter(|event| matches!(event, Event::RoomAwaited(_))).count();
    let taken = events().filter(|event| matches!(event, Event::RoomTaken { .. })).count();
    assert_eq!((awaited, taken), (4, 4), "{}", told(&lines));
    every_death(&ROOM);
}

#[test]
fn chores() {
    every_death(&CHORES);
}

/// Steps beside each other: folders that are made ready, merges that are verified, a conflict that a worker cannot resolve and a person
/// does.
const POOL: Scenario = (
    "pool",
    "{name: P, verify: [t], phases: {build: {run: pool, slots: 2, merge: {order: in_order, verify: true}, worktree: {setup: [s]}, \
     steps: [{id: a}, {id: clash}, {id: c, depends_on: [a]}], on: {conflict: mend}, next: [ship]}, ship: {}, mend: {}}}",
    "build/a/work: usage 2; go done\nbuild/clash/work: usage 3; go done\nbuild/c/work: go done\n\
     build/clash/mend: usage 4; go done\nship: go done\ng1: answer theirs",
);

/// One death out of so many is tried in it.
const STRIDE: usize = 17;

#[test]
fn pool() {
    every_death(&POOL);
}

#[test]
fn questions() {
    every_death(&QUESTIONS);
}

#[test]
fn help() {
    every_death(&HELP);
}

#[test]
fn straight() {
    every_death(&STRAIGHT);
}

#[test]
fn refused() {
    every_death(&REFUSED);
}

#[test]
fn reminded() {
    every_death(&REMINDED);
}

#[test]
fn crashes() {
    every_death(&CRASHES);
}

#[test]
fn a_loop() {
    every_death(&LOOP);
}

#[test]
fn approvals() {
    every_death(&APPROVALS);
}

#[test]
fn undone() {
    every_death(&UNDONE);
}

#[test]
fn commands() {
    every_death(&COMMANDS);
}

#[test]
fn inside() {
    every_death(&INSIDE);
}

#[test]
fn timeout() {
    every_death(&TIMEOUT);
}

/// How a supervisor dies.
#[derive(Debug, Clone, Copy)]
struct Death {
    point: Point,
    nth: u64,
    cut: Cut,
    /// How many bytes that were not synced are still there afterwards.
    survivors: usize,
}

/// All of them: the process was killed, the machine was not.
const KILLED: usize = usize::MAX;
/// None, or the beginning of the first line: the power was cut.
const POWER_LOST: [usize; 2] = [0, 40];

/// The points that the driver, the ledger and the simulated world have.
const POINTS: [Point; 19] = [
    Point::BeforeAppend,
    Point::TornAppend,
    Point::AfterWrite,
    Point::BeforeSync,
    Point::AfterSync,
    Point::BeforeAnswer,
    Point::BeforeStartAgent,
    Point::AfterStartAgent,
    Point::BeforeStop,
    Point::AfterStop,
    Point::BeforeObserve,
    Point::AfterSetAside,
    Point::BeforeTree,
    Point::AfterTree,
    Point::InWork,
    Point::BeforeMergeStage,
    Point::BeforeMergeEnd,
    Point::BeforeNotice,
    Point::AfterNotice,
];

fn every_death(scenario: &Scenario) {
    for memorize in [Memorize::AtOnce, Memorize::WhenAnswered] {
        let mut whole = Trial::new(scenario, memorize);
        let hits = whole.count_hits();
        let whole = whole.end();
        assert_eq!(whole.status, Status::Done, "{}", scenario.0);
        for point in POINTS {
            let began = Instant::now();
            let mut cases = deaths(point, &hits);
            if scenario.0 == POOL.0 && std::env::var_os("CHRONICLE_CRASH_ALL").is_none() {
                // It is the longest: some of them, other ones at each point.
                cases = cases.into_iter().skip(point as usize % STRIDE).step_by(STRIDE).collect();
            }
            for deaths in &cases {
                let mut trial = Trial::new(scenario, memorize);
                trial.die(deaths);
                trial.live();
                trial.compare(&whole, deaths);
            }
            report(scenario.0, point, memorize, cases.len(), began);
        }
    }
}

/// Every death at that point, and each followed by another one in the supervisor that resumes. Where a point needs an
/// earlier death to be reached, it comes after each of those.
fn deaths(point: Point, hits: &BTreeMap<Point, u64>) -> Vec<Vec<Death>> {
    let each = |point, cut, survivors| {
        let last = hits.get(&point).copied().unwrap_or(0);
        (1..=last).map(move |nth| Death { point, nth, cut, survivors })
    };
    let then = |survivors| Death { point, nth: 1, cut: Cut::Half, survivors };
    let killed = |point| each(point, Cut::Half, KILLED);
    match point {
        Point::BeforeObserve => {
            killed(Point::AfterStartAgent).map(|death| vec![death, then(KILLED)]).collect()
        }
        Point::AfterSetAside => {
            killed(Point::TornAppend).map(|death| vec![death, then(KILLED)]).collect()
        }
        Point::TornAppend => {
            let cuts = [Cut::First(1), Cut::Half, Cut::AllBut(1)].into_iter();
            let once = cuts.flat_map(|cut| each(point, cut, KILLED)).map(|death| vec![death]);
            once.chain(killed(point).map(|death| vec![death, then(KILLED)])).collect()
        }
        _ => {
            let survivors = [KILLED].into_iter().chain(POWER_LOST);
            let once = survivors.flat_map(|survivors| each(point, Cut::Half, survivors));
            let once = once.map(|death| vec![death]);
            once.chain(killed(point).map(|death| vec![death, then(POWER_LOST[0])])).collect()
        }
    }
}

/// Ends a thread's work at the nth hit of a point; at none it only counts.
struct Mortal {
    death: Option<Death>,
    hits: RefCell<BTreeMap<Point, u64>>,
}

/// What is thrown instead of a kill.
struct Died;

impl Fate for Mortal {
    fn is_end(&self, point: Point) -> bool {
        let mut hits = self.hits.borrow_mut();
        let count = hits.entry(point).or_default();
        *count += 1;
        self.death.is_some_and(|death| death.point == point && death.nth == *count)
    }

    fn cut(&self) -> Cut {
        self.death.map_or(Cut::Half, |death| death.cut)
    }

    fn end(&self, _: Point) -> ! {
        resume_unwind(Box::new(Died))
    }
}

/// One run, over as many supervisors as it needs.
struct Trial {
    scenario: Scenario,
    memorize: Memorize,
    ledger: Memory,
    agents: Agents,
    /// The whole lines that were on disk after the last death.
    kept: Vec<u8>,
    /// How many supervisors have driven it.
    drives: usize,
}

impl Trial {
    fn new(scenario: &Scenario, memorize: Memorize) -> Self {
        let agents = Agents::new(scenario.2, memorize);
        let (ledger, kept) = (Memory::new(), Vec::new());
        Self { scenario: *scenario, memorize, ledger, agents, kept, drives: 0 }
    }

    fn count_hits(&mut self) -> BTreeMap<Point, u64> {
        let fate = Rc::new(Mortal { death: None, hits: RefCell::default() });
        let armed = fail::on_this_thread(Rc::<Mortal>::clone(&fate));
        self.live();
        drop(armed);
        fate.hits.take()
    }

    /// Dies so, each time in a new supervisor. One that comes to its end unharmed had no such point left.
    fn die(&mut self, deaths: &[Death]) {
        for death in deaths {
            let fate = Mortal { death: Some(*death), hits: RefCell::default() };
            let armed = fail::on_this_thread(Rc::new(fate));
            let lived = catch_unwind(AssertUnwindSafe(|| self.live()));
            drop(armed);
            match lived {
                Ok(()) => assert!(deaths.len() > 1, "nobody died: {death:?}"),
                Err(cause) if cause.is::<Died>() => self.lose_power(death),
                Err(cause) => resume_unwind(cause),
            }
        }
    }

    fn lose_power(&mut self, death: &Death) {
        self.ledger.lose_power(death.survivors);
        let (state, lines) = self.read();
        for id in &self.agents.started {
            assert!(state.attempt(*id).is_some(), "{id} was started and is not on disk: {death:?}");
        }
        let events = || lines.iter().flat_map(|line| &line.events);
        for (id, request) in &self.agents.told {
            let is_it = |event: &Event| match event {
                Event::SignalAccepted { attempt, request: known, .. }
                | Event::BreakAccepted { attempt, request: known, .. } => {
                    attempt == id && known == request
                }
                Event::MessageDelivered { attempt, .. } => attempt == id,
                _ => false,
            };
            assert!(events().any(is_it), "{id} was answered and it is not on disk: {death:?}");
        }
        self.kept = self.ledger.bytes();
        let whole = self.kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.kept.truncate(whole);
    }

    fn read(&self) -> (State, Vec<Line>) {
        let lines = self.ledger.read(Head::EMPTY).unwrap();
        let lines: Vec<Line> = lines.map(|line| line.unwrap().0).collect();
        let mut state = State::default();
        for line in &lines {
            state.apply(line);
        }
        (state, lines)
    }

    /// Lives until the run is over: drives it, answers at gates, drives it again.
    fn live(&mut self) {
        loop {
            let holder = Holder::current("test", clock::now());
            let mut run = Run::open(&self.ledger, holder.clone(), None).unwrap();
            match run.state().status() {
                Status::Done | Status::Cancelled | Status::Failed => return,
                Status::Waiting if !run.state().goes_on() => {
                    let command = self.at_gate(run.state());
                    run.step(&asked("ann", command)).unwrap();
                    run.sync().unwrap();
                }
                Status::Waiting | Status::Running | Status::Ending | Status::Paused => {
                    self.drive(&mut run, &holder);
                }
            }
        }
    }

    fn drive(&mut self, run: &mut Run, holder: &Holder) {
        let is_new = run.state().run.is_none();
        let walls = self.walls();
        self.drives += 1;
        let command = if is_new { self.start(walls.clone()) } else { Command::Resume };
        let mut first: Vec<InboxMessage> = run
            .introduce(holder, self.agents.scripted("people").is_some(), walls.clone())
            .into_iter()
            .map(|input| InboxMessage::Input(Box::new(input), None))
            .collect();
        let (reply, _answer) = sync_channel(1);
        let command = InboxMessage::Input(Box::new(asked("ann", command)), Some(reply));
        first.insert(if is_new { 0 } else { first.len() }, command);
        let (inbox, messages) = sync_channel(INBOX_MAX);
        let mut world = Simulated::new(&mut self.agents, inbox, run.state(), walls);
        drive(run, first, Rest::AtGates, &messages, &mut world, &mut Nobody).unwrap();
    }

    /// The walls of the next supervisor, where the script has some: every other one is told to put up none.
    fn walls(&self) -> Option<WallsFound> {
        let off = !self.drives.is_multiple_of(2);
        let (namespaces, landlock) = (true, true);
        let found = WallsFound { namespaces, landlock, off, ..WallsFound::default() };
        self.agents.scripted("walls").map(|_| found)
    }

    fn start(&self, walls: Option<WallsFound>) -> Command {
        let walls = walls.map(|found| Box::new(RunWalls { found, ..RunWalls::default() }));
        Command::Start(Box::new(RunStarted {
            run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
            task: "the task".to_owned(),
            who: "ann".to_owned(),
            project: "/project".to_owned(),
            agent: "scripted:script.yaml".to_owned(),
            model: None,
            workflows: workflows(self.scenario.1),
            source: "main.yaml".to_owned(),
            personas: ["a", "b"].map(called).to_vec(),
            unenforced: Vec::new(),
            version: "test".to_owned(),
            on_gate: None,
            isolated: false,
            keep_folders: false,
            apart: false,
            inputs: true,
            rules: None,
            walls,
            carried: None,
        }))
    }

    fn at_gate(&self, state: &State) -> Command {
        let gate = state.open_gates().next().unwrap().opened.gate;
        let text = self.agents.scripted(&gate.to_string()).unwrap_or_else(|| {
            panic!("{}: nobody has a word for {gate}: {:?}", self.scenario.0, state.gates)
        });
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let note = rest.to_owned();
        match verb {
            "undo" if !self.is_undone() => {
                let (from, to) = (TreeId::from("now"), TreeId::from("then"));
                Command::Undo { what: note, from, to, back: None }
            }
            "approve" | "undo" => Command::Approve { gate: Some(gate), note, scope: None },
            "reject" => Command::Reject { gate: Some(gate), note },
            "go" => Command::Go { place: Place::new(rest), note: String::new() },
            "retry" => Command::Retry { place: None, note, agent: None, from: None },
            "budget" => {
                let more = chronicle_core::definition::budget::read(rest).unwrap();
                Command::Budget { place: None, more }
            }
            "loops" => Command::Loops { place: None, more: rest.parse().unwrap() },
            "answer" => Command::Answer { gate: Some(gate), text: note, note: String::new() },
            other => panic!("no such answer: {other}"),
        }
    }

    /// Whether the files were put back, as far as the disk knows.
    fn is_undone(&self) -> bool {
        let (_, lines) = self.read();
        let mut events = lines.iter().flat_map(|line| &line.events);
        events.any(|event| matches!(event, Event::UndoEnded(_)))
    }

    fn end(&self) -> Whole {
        let (state, lines) = self.read();
        Whole::of(&state, &lines)
    }

    fn compare(&self, whole: &Whole, deaths: &[Death]) {
        let name = self.scenario.0;
        let (state, lines) = self.read();
        let told = || format!("{name}, {:?}, {deaths:?}:\n{}", self.memorize, told(&lines));
        assert!(self.ledger.bytes().starts_with(&self.kept), "the past changed: {}", told());
        let times = |about| self.agents.notices.iter().filter(|it| *it == about).count();
        assert!(self.agents.notices.iter().all(|about| times(about) == 1), "{}", told());
        assert!(self.agents.folders.is_empty(), "folders are left: {}", told());
        let end = Whole::of(&state, &lines);
        assert_eq!(end.status, whole.status, "{}", told());
        assert_eq!(end.path, whole.path, "{}", told());
        assert_eq!(end.works, whole.works, "{}", told());
        assert_eq!(state.usage.tokens(), end.counted, "each report counts once: {}", told());
        match self.memorize {
            Memorize::AtOnce => assert!(end.counted <= whole.counted, "{}", told()),
            Memorize::WhenAnswered => assert_eq!(end.counted, whole.counted, "{}", told()),
        }
    }
}

fn workflows(text: &str) -> Vec<Workflow> {
    let mut parts = text.split("\n=== ");
    let main = parts.next().unwrap();
    let inner: BTreeMap<&str, &str> = parts.map(|part| part.split_once('\n').unwrap()).collect();
    let source = |key: &str, text: &str| Source {
        file: None,
        name: format!("{key}.yaml"),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    let mut loaded = load(source("main", main), &mut |key| Some(source(key, inner.get(key)?)));
    assert!(loaded.is_usable(), "{:#?}", loaded.problems);
    expand_pools(&mut loaded.workflows);
    loaded.workflows
}

/// Leaves a row for the certificate.
fn report(scenario: &str, point: Point, memorize: Memorize, cases: usize, began: Instant) {
    let Some(folder) = std::env::var_os("CHRONICLE_CRASH_REPORT") else { return };
    let name = format!("memory.{scenario}.{}.{memorize:?}", point.name());
    let row = format!(
        "memory\t{scenario}\t{}\theld\t{cases}\t{}\n",
        point.name(),
        began.elapsed().as_millis()
    );
    std::fs::write(std::path::Path::new(&folder).join(name), row).unwrap();
}

/// Somebody who can be asked for help.
fn called(name: &str) -> Persona {
    Persona { name: name.to_owned(), ..Persona::default() }
}
