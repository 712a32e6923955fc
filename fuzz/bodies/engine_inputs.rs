//! Any inputs in any order: no panic, and what was decided always adds up.
//!
//! Bytes become a workflow and a sequence of inputs (`engine_dice.rs`). The same body is a property test of chronicle-core
//! and a target of the fuzzer.

#[path = "engine_dice.rs"]
mod engine_dice;

use std::collections::BTreeMap;

use chronicle_core::base::ids::Place;
use chronicle_core::base::time::Millis;
use chronicle_core::engine;
use chronicle_core::event::input::{Actor, Answer, By, Command, Input, What};
use chronicle_core::event::record::Line;
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{End, Event, Verdict, Why};
use chronicle_core::state::effect::Action;
use chronicle_core::state::{Attempt, Stage, State, Status};
use chronicle_core::{view, words};

use engine_dice::Dice;

/// Most inputs of one case.
const INPUTS_MAX: usize = 200;

/// Lives through what the bytes say, and checks after every line. Returns what happened, so that it can be told whether
/// enough does.
pub(crate) fn check(bytes: &[u8]) -> Vec<Line> {
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
    life.lines
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
        let step = engine::step(&self.state, input);
        assert_eq!(step, engine::step(&self.state, input), "decided twice, otherwise");
        check_answer(input, &step);
        let Some(line) = step.line else { return };
        assert_eq!(engine::decide_again(&self.state, &line), Ok(()), "{line:#?}");
        let before = self.state.clone();
        for event in &line.events {
            self.check_event(event);
        }
        self.state.apply(&line);
        assert!(self.state.anomalies.is_empty(), "{:?}", self.state.anomalies);
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
fn check_answer(input: &Input, step: &engine::Step) {
    let refused = matches!(step.answer, Answer::Refused(_));
    let events = step.line.as_ref().map_or(&[][..], |line| &line.events);
    match (&input.by.actor, &input.what) {
        (Actor::Worker(_), What::Command(Command::Signal { .. })) => {
            let told = |event: &Event| matches!(event, Event::SignalRefused { .. });
            assert!(!refused || events.iter().all(told), "{step:?}");
        }
        (Actor::Worker(_), What::Command(_)) => assert!(refused, "a worker commanded"),
        (_, What::Command(_)) => assert!(!refused || events.is_empty(), "{step:?}"),
        (_, What::Report(_)) => assert!(!refused, "a report was refused"),
    }
}

/// What must hold after every line.
fn check_state(state: &State) {
    let due = state.due();
    for id in &state.live {
        assert!(state.attempt(*id).is_some_and(|attempt| attempt.ended.is_none()));
        let runs = due.iter().filter(|effect| {
            matches!(
                effect.action,
                Action::RunAttempt(it)
                    | Action::StopAttempt(it)
                    | Action::RecordTree(Moment::Before(it)) if it == *id
            )
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
    // People are told beside the run, whatever becomes of it.
    let due: Vec<_> =
        due.into_iter().filter(|it| !matches!(it.action, Action::Notify(_))).collect();
    let waits = state.open_gates().next().is_some() || state.goes_on();
    match state.status() {
        Status::Running | Status::Ending => {
            assert!(!due.is_empty(), "running, and nothing is due: {state:#?}");
        }
        Status::Waiting => assert!(waits, "waiting for nothing"),
        Status::Paused => assert!(due.is_empty()),
        // Files can be put back after a run is over, folders go, and what worked apart is merged.
        Status::Done | Status::Cancelled | Status::Failed => {
            let is_of_files = |action: &Action| {
                let own = [Action::MakeFolder(0), Action::PlanMerge(0), Action::WriteMerge(0)];
                *action == Action::RestoreTree
                    || matches!(action, Action::DropFolder(_))
                    || own.contains(action)
            };
            assert!(due.iter().all(|effect| is_of_files(&effect.action)), "{due:?}");
        }
    }
    assert!(view::run(state, true).is_some() && view::run_json(state).is_some());
    assert!(view::row(state, false).is_some());
}

/// What happened has happened.
fn check_past(before: &State, now: &State) {
    assert!(now.usage.tokens() >= before.usage.tokens(), "usage fell");
    // Only an estimate may turn out too high, once the agent has told its own price.
    let known = before.usage.usd_micros.saturating_sub(before.usage.estimated_micros);
    assert!(
        now.usage.usd_micros >= known,
        "a price that was not estimated fell: {:?} {:?}",
        before.usage,
        now.usage
    );
    for (old, new) in before.gates.iter().zip(now.gates.iter()) {
        let same = old.answered == new.answered && old.note == new.note;
        assert!(old.answered.is_none() || same, "a gate was answered twice");
    }
    let stopping = before.live_attempts().filter(|it| before.stopping(it).is_some());
    for old in stopping {
        let Some(new) = now.attempt(old.intent.attempt) else { panic!("it was live, and is gone") };
        let allowed =
            |it: &Attempt| it.calls.iter().filter(|call| call.verdict == Verdict::Allowed).count();
        assert!(allowed(new) <= allowed(old), "a call was allowed while its attempt is stopped");
        let same = (&old.leave, &old.parting) == (&new.leave, &new.parting);
        assert!(same && old.asking.len() >= new.asking.len(), "a signal was accepted meanwhile");
    }
    for (old, new) in before.attempts.iter().zip(now.attempts.iter()) {
        assert!(old.ended.is_none() || is_same(old, new), "an attempt that ended changed");
        assert!(new.active_ms >= old.active_ms && new.usage.tokens() >= old.usage.tokens());
        let rewalled = old.intent.walls != new.intent.walls;
        let may_be = !before.has_begun(old) && !now.has_other_walls(new);
        assert!(!rewalled || may_be, "what works got other walls, or those of nobody");
    }
    assert!(now.gates.len() >= before.gates.len() && now.attempts.len() >= before.attempts.len());
    assert!(!before.is_over() || now.status() == before.status(), "it was over");
    let fresh = now.attempts.iter().skip(before.attempts.len());
    let unclear = fresh.filter(|attempt| {
        let earlier = now.attempts.iter().rev().skip_while(|it| it.intent != attempt.intent).nth(1);
        let beside = earlier.filter(|it| it.intent.place == attempt.intent.place);
        beside.is_some_and(|it| is_unclear(it))
            && !matches!(attempt.intent.why, Why::Asked { .. } | Why::First | Why::Helped { .. })
    });
    assert_eq!(unclear.count(), 0, "started beside one that may still run, without a word");
}

/// What an attempt did to files is known after it has ended, and then for good.
fn is_same(old: &Attempt, new: &Attempt) -> bool {
    let changes = old.changes.as_ref().or(new.changes.as_ref()).cloned();
    Attempt { changes, ..old.clone() } == *new
}

fn is_unclear(attempt: &Attempt) -> bool {
    matches!(attempt.ended, Some((End::Unclear { .. }, _)))
}
