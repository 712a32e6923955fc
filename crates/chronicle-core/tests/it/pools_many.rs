//! A pool of many steps on many slots: none is lost, none is merged twice, and the record stays in proportion.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chronicle_core::base::ids::{AttemptId, StepId};
use chronicle_core::event::Event;
use chronicle_core::event::record::Line;
use chronicle_core::state::{State, Status};

use crate::world::{Order, World};

const SLOTS: usize = 16;
/// Bytes of the ledger that one more step may take: some of its lines repeat its task and its instructions.
const LEDGER_PER_STEP: usize = 24 * 1024;
/// Bytes of the state that one more step may take, in the middle of the work and after it.
const STATE_PER_STEP: usize = 6 * 1024;

/// So many steps, each of which depends on an eighth of them at most; some crash, some ask, some find no room at first.
fn pool(steps: usize, merge: &str) -> World {
    let id = |number: usize| format!("s{number}");
    let step = |number: usize| match number % 8 {
        3 => format!("{{id: {}, depends_on: [{}]}}", id(number), id(number - 3)),
        _ => format!("{{id: {}}}", id(number)),
    };
    let all: Vec<String> = (0..steps).map(step).collect();
    let workflow = format!(
        "{{name: Many, phases: {{build: {{run: pool, slots: {SLOTS}, merge: {merge}, steps: [{}]}}}}}}",
        all.join(", ")
    );
    let mut script = String::new();
    for number in 0..steps {
        let place = format!("build/{}/work", id(number));
        let moves = match number % 5 {
            1 => "usage 1; crash x",
            2 => "need which?; go done",
            _ => "usage 2; tool read; go done",
        };
        writeln!(script, "{place}: go done\n{place} 1: {moves}").unwrap();
        writeln!(script, "at {place}: answer blue").unwrap();
        if number % 4 == 0 {
            writeln!(script, "full {place}: 8").unwrap();
        }
    }
    let mut world = World::started(&workflow, &script);
    world.order = Order::Turns;
    world
}

/// What a ledger says of the steps of a pool.
#[derive(Default)]
struct Told {
    merged: BTreeMap<StepId, usize>,
    most_slots: usize,
    most_attempts: usize,
    largest_state: usize,
}

fn told(lines: &[Line]) -> Told {
    let (mut told, mut state) = (Told::default(), State::default());
    let mut works: BTreeSet<AttemptId> = BTreeSet::new();
    for line in lines {
        for event in &line.events {
            match event {
                Event::MergeWritten(it) if it.into.is_project() => {
                    let step = state.works[&it.folder].step.clone();
                    *told.merged.entry(step).or_default() += 1;
                }
                Event::SessionOpened { attempt, .. } => _ = works.insert(*attempt),
                Event::AttemptEnded(ended) => _ = works.remove(&ended.attempt),
                _ => {}
            }
            told.most_attempts = told.most_attempts.max(works.len());
        }
        state.apply(line);
        let slots: Vec<u32> =
            state.pools.values().flat_map(|pool| &pool.steps).filter_map(|it| it.slot).collect();
        let distinct: BTreeSet<u32> = slots.iter().copied().collect();
        assert_eq!(distinct.len(), slots.len(), "a slot is given twice at line {}", line.seq);
        told.most_slots = told.most_slots.max(slots.len());
        if line.seq.is_multiple_of(50) {
            told.largest_state = told.largest_state.max(size(&state));
        }
    }
    told.largest_state = told.largest_state.max(size(&state));
    told
}

fn size(state: &State) -> usize {
    serde_json::to_string(state).unwrap().len()
}

fn ledger_size(lines: &[Line]) -> usize {
    lines.iter().map(|line| serde_json::to_string(line).unwrap().len()).sum()
}

#[test]
fn no_step_of_many_is_lost_or_merged_twice() {
    for merge in ["completion", "in_order"] {
        let world = pool(64, merge).play();
        assert_eq!(world.state.status(), Status::Done, "{merge}");
        let told = told(&world.lines);
        assert_eq!(told.merged.len(), 64, "{merge}: {:?}", told.merged.keys());
        assert!(told.merged.values().all(|times| *times == 1), "{merge}: {:?}", told.merged);
        assert_eq!(told.most_slots, SLOTS, "{merge}");
        assert!(told.most_attempts >= 4, "{merge}: {} attempts at once", told.most_attempts);
        assert!(world.state.works.is_empty(), "{merge}: {:?}", world.state.works);
    }
}

/// What one more step costs is the same among many as among few.
#[test]
fn the_record_grows_with_the_steps_and_no_faster() {
    let (few, many) = (pool(32, "completion").play(), pool(64, "completion").play());
    let (few_ledger, many_ledger) = (ledger_size(&few.lines), ledger_size(&many.lines));
    let (few_state, many_state) = (told(&few.lines).largest_state, told(&many.lines).largest_state);
    let per_step = (many_ledger - few_ledger) / 32;
    assert!(per_step <= LEDGER_PER_STEP, "{per_step} bytes of ledger a step");
    let per_step = many_state.saturating_sub(few_state) / 32;
    assert!(per_step <= STATE_PER_STEP, "{per_step} bytes of state a step");
}

/// Killed anywhere, it goes on to the same steps, each merged once.
#[test]
fn many_steps_survive_a_death_anywhere() {
    let whole = pool(64, "completion").play();
    for cut in (1..whole.lines.len()).step_by(97) {
        let resumed = whole.killed_after(cut).recovered().play();
        assert_eq!(resumed.state.status(), Status::Done, "cut after line {cut}");
        let merged = told(&resumed.lines).merged;
        assert_eq!(merged.len(), 64, "cut after line {cut}");
        assert!(merged.values().all(|times| *times == 1), "cut after line {cut}: {merged:?}");
    }
}
