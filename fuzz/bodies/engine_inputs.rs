//! Any inputs in any order: no panic, and what was decided always adds up.
//!
//! Bytes become a workflow and a sequence of inputs; ids are mostly those that exist, texts mostly nasty. The same body is
//! a property test of chronicle-core and a target of the fuzzer.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chronicle_core::effect::Action;
use chronicle_core::engine;
use chronicle_core::event::{Change, CrashClass, End, Event, RunStarted, Why};
use chronicle_core::ids::{AttemptId, GateId, Outcome, PhaseId, Place, RunId, SessionId};
use chronicle_core::input::{
    Actor, Answer, AttemptReport, By, Command, EndSeen, Input, Report, TimerKind, What,
};
use chronicle_core::record::Line;
use chronicle_core::signal::Signal;
use chronicle_core::state::{Stage, State, Status};
use chronicle_core::time::Millis;
use chronicle_core::usage::{Scope, Usage};
use chronicle_core::workflow::{Source, Workflow, load};
use chronicle_core::{view, words};

/// The last moment that a ledger can write: the end of the year 9999.
const AT_MAX: u64 = 253_402_300_799_999;
/// Most inputs of one case.
const INPUTS_MAX: usize = 200;

const MAINS: [&str; 3] = [
    "
name: Everything
phases:
  plan: {approval: both, next: [build, in]}
  build: {next: [plan, test], on: {crash: test}, limits: {timeout: 5m}}
  test: {run: command, commands: [a, b], next: [in], on: {fail: build}}
  in: {run: workflow, workflow: inner, approval: after, next: [done]}
",
    "
name: Once
phases:
  plan: {next: [ship, ask], on: {stuck: ask}, limits: {retries: 0, nudges: 1, losses: 1}}
  ship: {run: command, once: true, approval: before, commands: [a], next: [plan], on: {rejected: ask}}
  ask: {next: [human_intervention, plan, in]}
  in: {run: workflow, workflow: inner, next: [done]}
",
    "
name: Round
phases:
  plan: {next: [build], limits: {loop: {count: edge, max: 2}}}
  build: {next: [plan, done], tools: {deny: [bash]}, on: {timeout: plan}, limits: {timeout: 1s}}
",
];

const INNER: &str = "
name: Inner
phases:
  look: {next: [judge, human_intervention], approval: before}
  judge: {outcomes: [fine], next: [look], on: {fine: done}}
";

static WORKFLOWS: LazyLock<Vec<Vec<Workflow>>> = LazyLock::new(|| {
    let source = |key: &str, text: &str| Source {
        name: format!("{key}.yaml"),
        key: key.to_owned(),
        text: text.to_owned(),
    };
    let read = |text: &&str| {
        let loaded = load(source("main", text), &mut |key| Some(source(key, INNER)));
        assert!(loaded.is_usable(), "{:#?}", loaded.problems);
        loaded.workflows
    };
    MAINS.iter().map(read).collect()
});

const PLACES: [&str; 14] = [
    "plan",
    "build",
    "test",
    "ship",
    "ask",
    "in",
    "in/look",
    "in/judge",
    "done",
    "human_intervention",
    "in/done",
    "x",
    "",
    "in//look",
];

const TEXTS: [&str; 9] = [
    "",
    "read",
    "s",
    "a\nb\r\u{1b}[2J\u{7}",
    "\u{202e}\u{2066}\u{9b}31m",
    "\u{0}\u{7f}é🦀",
    "workflow_transition",
    "\"quoted\" \\ `ticks`",
    "bash",
];

const NUMBERS: [u64; 6] = [0, 1, 7, 1 << 32, u64::MAX - 1, u64::MAX];

/// Takes inputs out of bytes; after the last byte everything is zero.
struct Dice<'a> {
    bytes: &'a [u8],
}

impl Dice<'_> {
    fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let (first, rest) =
            self.bytes.split_first().map_or((0, self.bytes), |(b, rest)| (*b, rest));
        self.bytes = rest;
        first
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn number(&mut self) -> u64 {
        self.pick(&NUMBERS)
    }

    fn text(&mut self) -> String {
        let text = self.pick(&TEXTS);
        // Now and then longer than anything that is kept.
        if self.byte() == 255 { text.repeat(5_000) } else { text.to_owned() }
    }

    fn place(&mut self) -> Place {
        Place::new(self.pick(&PLACES))
    }

    /// Mostly one that lives.
    fn attempt(&mut self, state: &State) -> AttemptId {
        let byte = self.byte();
        let live: Vec<AttemptId> = state.live.iter().copied().collect();
        match live.len() {
            _ if byte > 230 => AttemptId(u32::from(byte) - 230),
            0 => AttemptId(u32::from(byte % 4)),
            count => live[usize::from(byte) % count],
        }
    }

    fn gate(&mut self, state: &State) -> Option<GateId> {
        let byte = self.byte();
        let open = state.open_gates().next().map(|gate| gate.opened.gate);
        match byte % 4 {
            0 => None,
            1 => Some(GateId(u32::from(byte / 4))),
            _ => open,
        }
    }

    fn usage(&mut self) -> AttemptReport {
        let scope = match self.byte() % 4 {
            0 => Scope::Turn,
            1 => Scope::Session,
            2 => Scope::Message("m".to_owned()),
            _ => Scope::Message(self.text()),
        };
        let usage = Usage {
            input: self.number(),
            output: self.number(),
            cache_read: self.number(),
            cache_write: self.number(),
            usd_micros: self.number(),
            unpriced: self.flag(),
        };
        AttemptReport::Usage { scope, usage }
    }

    fn end(&mut self) -> AttemptReport {
        let classes = [
            CrashClass::NoSignal,
            CrashClass::SessionGone,
            CrashClass::Auth,
            CrashClass::Quota,
            CrashClass::CannotStart,
            CrashClass::Protocol,
        ];
        let flags = self.byte();
        AttemptReport::Ended(EndSeen {
            finished: flags & 1 != 0,
            lost: flags & 2 != 0,
            stopped: flags & 4 != 0,
            unclear: (flags & 24 == 24).then(|| self.text()),
            error: (flags & 32 != 0).then(|| (self.pick(&classes), self.text())),
            code: (flags & 64 != 0).then_some(i32::MIN),
            signal: (flags & 128 != 0).then_some(9),
            strays: 2,
            transcript_bytes: self.number(),
            stderr: self.text(),
        })
    }

    fn attempt_report(&mut self) -> AttemptReport {
        match self.byte() % 9 {
            0 => AttemptReport::Session(SessionId::new(self.text())),
            1 => AttemptReport::ToolCalled {
                call: self.text(),
                tool: self.text(),
                input: self.text(),
            },
            2 => AttemptReport::ToolEnded { call: self.text(), ok: self.flag() },
            3 => AttemptReport::FileChanged { path: self.text(), change: Change::Deleted },
            4 => self.usage(),
            5 => AttemptReport::CommandEnded {
                index: self.pick(&[0, 1, 2, u32::MAX]),
                code: self.pick(&[Some(0), Some(1), None]),
                output: self.text(),
            },
            6 => AttemptReport::Idle,
            _ => self.end(),
        }
    }

    fn signal(&mut self) -> Signal {
        let outcomes = [None, Some("complete"), Some("fail"), Some("fine"), Some("odd\n")];
        match self.byte() % 8 {
            0 => Signal::Status,
            1 => Signal::Malformed(self.text()),
            _ => Signal::Leave {
                target: self.flag().then(|| PhaseId::from(self.pick(&PLACES))),
                outcome: self.pick(&outcomes).map(Outcome::from),
                summary: self.text(),
            },
        }
    }

    fn command(&mut self, state: &State) -> Command {
        let note = self.text();
        match self.byte() % 9 {
            0 => Command::Pause { reason: note },
            1 | 2 => Command::Resume,
            3 | 4 => Command::Approve { gate: self.gate(state), note },
            5 => Command::Reject { gate: self.gate(state), note },
            6 => Command::Retry { place: self.flag().then(|| self.place()), note },
            7 => Command::Go { place: self.place(), note },
            _ if self.byte() > 250 => Command::Cancel { reason: note },
            _ => self.first(),
        }
    }

    /// What makes a run.
    fn first(&mut self) -> Command {
        let which = usize::from(self.byte()) % MAINS.len();
        let start = Box::new(RunStarted {
            run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
            task: self.text(),
            who: self.text(),
            project: "/project".to_owned(),
            agent: "scripted:script.yaml".to_owned(),
            model: None,
            workflows: WORKFLOWS[which].clone(),
            source: self.text(),
            unenforced: Vec::new(),
            version: self.text(),
        });
        if self.flag() { Command::Prepare(start) } else { Command::Start(start) }
    }

    fn input(&mut self, state: &State) -> Input {
        let (mut actor, mut request) = (Actor::Supervisor, None);
        let what = match self.byte() % 16 {
            0 => What::Report(Report::SupervisorStarted {
                pid: u32::MAX,
                host: self.text(),
                epoch: self.number(),
                version: self.text(),
            }),
            1 => What::Report(Report::TailSetAside { bytes: self.number(), file: self.text() }),
            2 => What::Report(Report::TimerFired {
                attempt: self.attempt(state),
                timer: self.pick(&[TimerKind::Grace, TimerKind::Timeout]),
            }),
            3..8 => What::Report(Report::Attempt {
                attempt: self.attempt(state),
                active_ms: self.number(),
                what: self.attempt_report(),
            }),
            8..12 => {
                let attempt = self.attempt(state);
                let name = self.text();
                actor = Actor::Worker(attempt);
                request = Some(name.clone());
                let attempt = if self.byte() > 240 { AttemptId(1) } else { attempt };
                let signal = self.signal();
                What::Command(Command::Signal { attempt, request: name, signal })
            }
            kind => {
                let command = self.command(state);
                let worker = kind == 15 && self.byte() > 200;
                actor =
                    if worker { Actor::Worker(AttemptId(1)) } else { Actor::Person(self.text()) };
                What::Command(command)
            }
        };
        Input { at: Millis(self.number().min(AT_MAX)), by: By { actor, request }, what }
    }
}

/// Lives through what the bytes say, and checks after every line.
pub(crate) fn check(bytes: &[u8]) {
    let mut dice = Dice { bytes };
    let mut life = Life::default();
    let by = By { actor: Actor::Person("ann".to_owned()), request: None };
    let first = What::Command(dice.first());
    life.step(&Input { at: Millis(1), by, what: first });
    for _ in 0..INPUTS_MAX {
        if dice.is_over() {
            break;
        }
        let input = dice.input(&life.state);
        life.step(&input);
    }
    life.check_whole();
}

#[derive(Default)]
struct Life {
    state: State,
    lines: Vec<Line>,
    /// Attempts at a place since it was entered.
    visit: BTreeMap<Place, u32>,
}

impl Life {
    fn step(&mut self, input: &Input) {
        let decision = engine::decide(&self.state, input);
        assert_eq!(decision, engine::decide(&self.state, input), "decided twice, otherwise");
        check_answer(input, &decision);
        let Some(line) = engine::line(&self.state, input, &decision) else { return };
        let before = self.state.clone();
        for event in &line.events {
            self.check_event(event);
        }
        self.state.apply(&line);
        check_state(&self.state);
        check_past(&before, &self.state);
        self.lines.push(line);
    }

    fn check_event(&mut self, event: &Event) {
        let sentence = words::sentence(event);
        assert!(!sentence.is_empty());
        assert!(!sentence.chars().any(char::is_control), "{sentence:?}");
        match event {
            Event::PhaseEntered { place } => {
                self.visit.remove(place);
            }
            Event::AttemptStarted(intent) => {
                let before = self.visit.entry(intent.place.clone()).or_default();
                let asked = matches!(intent.why, Why::First | Why::Asked { .. });
                let once = intent.place.as_str() == "ship";
                assert!(!once || asked || *before == 0, "once, and started again: {intent:?}");
                *before += 1;
            }
            _ => {}
        }
    }

    /// The ledger alone tells the whole state.
    fn check_whole(&self) {
        let mut folded = State::default();
        for line in &self.lines {
            let text = serde_json::to_string(line).unwrap_or_default();
            let read: Line = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(read, *line);
            folded.apply(&read);
        }
        assert_eq!(folded, self.state);
        let cached = serde_json::to_string(&self.state).unwrap_or_default();
        let read: State = serde_json::from_str(&cached).unwrap_or_else(|e| panic!("{e}: {cached}"));
        assert_eq!(read, self.state);
    }
}

/// A refused person or worker changes nothing that they may not.
fn check_answer(input: &Input, decision: &engine::Decision) {
    let refused = matches!(decision.answer, Answer::Refused(_));
    match (&input.by.actor, &input.what) {
        (Actor::Worker(_), What::Command(Command::Signal { .. })) => {
            let told = |event: &Event| matches!(event, Event::SignalRefused { .. });
            assert!(!refused || decision.events.iter().all(told), "{decision:?}");
        }
        (Actor::Worker(_), What::Command(_)) => assert!(refused, "a worker commanded"),
        (_, What::Command(_)) => assert!(!refused || decision.events.is_empty(), "{decision:?}"),
        (_, What::Report(_)) => assert!(!refused, "a report was refused"),
    }
}

/// What must hold after every line.
fn check_state(state: &State) {
    let due = state.due();
    for id in &state.live {
        assert!(state.attempt(*id).is_some_and(|attempt| attempt.ended.is_none()));
        let runs = due.iter().filter(|effect| {
            matches!(effect.action, Action::RunAttempt(it) | Action::StopAttempt(it) if it == *id)
        });
        assert_eq!(runs.count(), 1, "{id} lives: it must be run or stopped");
    }
    let mut frames: Vec<_> =
        state.live_attempts().map(|attempt| attempt.intent.place.frame()).collect();
    frames.dedup();
    assert_eq!(frames.len(), state.live.len(), "two attempts work in one frame");
    for attempt in state.live_attempts() {
        let frame = state.frames.get(&attempt.intent.place.frame());
        let works = Stage::Working { attempt: attempt.intent.attempt };
        assert_eq!(frame.map(|frame| &frame.stage), Some(&works));
    }
    let has_gate = state.open_gates().next().is_some();
    match state.status() {
        Status::Running => assert!(!due.is_empty(), "running, and nothing is due: {state:#?}"),
        Status::Waiting => assert!(has_gate, "waiting for nobody"),
        Status::Paused | Status::Done | Status::Cancelled => assert!(due.is_empty()),
    }
    assert!(view::run(state, true).is_some() && view::run_json(state).is_some());
    assert!(view::row(state, false).is_some());
}

/// What happened has happened.
fn check_past(before: &State, now: &State) {
    assert!(now.usage.tokens() >= before.usage.tokens(), "usage fell");
    assert!(now.usage.usd_micros >= before.usage.usd_micros, "the price fell");
    for (old, new) in before.gates.iter().zip(&now.gates) {
        assert!(old.answered.is_none() || old == new, "a gate was answered twice");
    }
    for (old, new) in before.attempts.iter().zip(&now.attempts) {
        assert!(old.ended.is_none() || old == new, "an attempt that ended changed");
        assert!(new.active_ms >= old.active_ms && new.usage.tokens() >= old.usage.tokens());
    }
    assert!(now.gates.len() >= before.gates.len() && now.attempts.len() >= before.attempts.len());
    assert!(!before.is_over() || now.status() == before.status(), "it was over");
    let fresh = now.attempts.iter().skip(before.attempts.len());
    let unclear = fresh.filter(|attempt| {
        let earlier = now.attempts.iter().rev().skip_while(|it| it.intent != attempt.intent).nth(1);
        let beside = earlier.filter(|it| it.intent.place == attempt.intent.place);
        let is_unclear = |it: &&std::sync::Arc<_>| is_unclear(it);
        beside.filter(is_unclear).is_some()
            && !matches!(attempt.intent.why, Why::Asked { .. } | Why::First)
    });
    assert_eq!(unclear.count(), 0, "started beside one that may still run, without a word");
}

fn is_unclear(attempt: &chronicle_core::state::Attempt) -> bool {
    matches!(attempt.ended, Some((End::Unclear { .. }, _)))
}
