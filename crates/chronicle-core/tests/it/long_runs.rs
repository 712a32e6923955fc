//! A state stays small however long its run, and nothing that people see or that is decided suffers from it.

use std::collections::BTreeMap;

use chronicle_core::base::ids::{AttemptId, GateId, Place};
use chronicle_core::base::limits::KEPT_MAX;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, AttemptReport, Command};
use chronicle_core::handover::handover;
use chronicle_core::state::State;
use chronicle_core::view;

use crate::world::{World, about, person};

const CIRCLE: &str = "{name: Circle, limits: {loop: 100000}, phases: {plan: {next: [build]}, build: {next: [plan, done]}}}";

/// So many rounds through two phases.
fn circle(rounds: usize) -> World {
    let script =
        format!("plan: tool read; usage 10; go build\nbuild: go plan\nbuild {rounds}: go done");
    World::started(CIRCLE, &script).play()
}

fn size(state: &State) -> usize {
    serde_json::to_string(state).unwrap().len()
}

#[test]
fn its_size_does_not_depend_on_how_many_attempts_there_were() {
    let (some, many) = (size(&circle(100).state), size(&circle(400).state));
    // Sessions are let go in batches, so that the size moves within a band; four times the attempts would show.
    assert!(many < some + some / 2, "{some} bytes after 200 attempts, {many} after 800");
}

#[test]
fn what_is_forgotten_is_still_counted() {
    let world = circle(150);
    let state = &world.state;
    assert_eq!((state.attempts.len(), state.attempts.iter().count()), (300, KEPT_MAX));
    assert_eq!((state.visits.len(), state.visits.iter().count()), (300, KEPT_MAX));
    assert!(state.sessions.len() <= 2 * KEPT_MAX, "{} sessions", state.sessions.len());
    let mut started: BTreeMap<Place, usize> = BTreeMap::new();
    for event in world.lines.iter().flat_map(|line| &line.events) {
        if let Event::AttemptStarted(intent) = event {
            let count = started.entry(intent.place.clone()).or_default();
            *count += 1;
            assert_eq!(usize::try_from(intent.try_number), Ok(*count), "{}", intent.attempt);
        }
    }
    let view = view::run(state, false).unwrap();
    assert_eq!((view.attempts, view.active_ms, view.spent.tokens), (300, 3_000, 1_500));
    for (row, tokens) in view.phases.iter().zip([1_500, 0]) {
        assert_eq!((row.attempts, row.visits), (started[&row.place], 150), "{}", row.place);
        assert_eq!((row.active_ms, row.spent.tokens), (1_500, tokens), "{}", row.place);
        assert_eq!((row.mark, row.summary.as_str()), (view::Mark::Done, "did it"));
    }
    let json = view::run_json(state).unwrap();
    assert_eq!(json["history"].as_array().unwrap().len(), KEPT_MAX);
    let see = format!("chronicle log {}", view.short);
    assert_eq!(json["historyEarlier"], serde_json::json!({"attempts": 268, "see": see}));
}

#[test]
fn a_visit_that_goes_on_outlives_all_that_happens_inside_of_it() {
    let workflow = "{name: Outer, phases: {in: {run: workflow, workflow: i, next: [ship]}, ship: {}}}\n=== i\n\
        {name: Inner, limits: {loop: 100000}, phases: {look: {next: [judge]}, judge: {next: [look, done]}}}";
    let script = "in/look: go judge\nin/judge: go look\nin/judge 80: go done\nship: finish";
    let mut world = World::started(workflow, script);
    while !is_at(&world.state, "ship") {
        assert!(world.one_move(), "{}", world.told());
    }
    let state = &world.state;
    assert!(state.visits.forgotten() > 0);
    let outer = &view::run(state, false).unwrap().phases[0];
    assert_eq!((outer.place.as_str(), outer.mark), ("in", view::Mark::Done));
    assert_eq!((outer.visits, outer.summary.as_str()), (1, "did it"));
    let text = handover(state, state.live_attempts().next().unwrap());
    assert!(text.contains("Phases completed so far: 161."), "{text}");
}

#[test]
fn phases_that_failed_or_were_skipped_are_not_told_as_completed() {
    let workflow = "{name: W, phases: {a: {next: [b]}, b: {on: {fail: c}}, c: {limits: {retries: 0}, next: [d]}, d: {}}}";
    let mut world = World::started(workflow, "a: go b\nb: go c fail\nc: crash\nd: finish");
    while world.state.open_gates().next().is_none() {
        assert!(world.one_move(), "{}", world.told());
    }
    let skip = Command::Skip { place: None, note: String::new() };
    assert!(matches!(world.step(&person(skip)), Answer::Accepted(_)), "{}", world.told());
    assert!(is_at(&world.state, "d"), "{}", world.told());
    let text = handover(&world.state, world.state.live_attempts().next().unwrap());
    assert!(text.contains("Phases completed so far: 1."), "{text}");
}

fn is_at(state: &State, place: &str) -> bool {
    state.live_attempts().any(|attempt| attempt.intent.place.as_str() == place)
}

#[test]
fn gates_with_a_note_are_kept_longer_than_others() {
    let workflow = "{name: Asked, limits: {loop: 100000}, phases: {plan: {approval: before, next: [plan, done]}}}";
    let mut world = World::started(workflow, "plan: go plan\nplan 100: finish");
    for gate in 1..=100 {
        let note = if gate == 1 { "never touch the cellar" } else { "" };
        while world.state.open_gates().next().is_none() {
            assert!(world.one_move(), "{}", world.told());
        }
        let approve =
            Command::Approve { gate: Some(GateId(gate)), note: note.to_owned(), scope: None };
        assert!(matches!(world.step(&person(approve)), Answer::Accepted(_)));
    }
    assert_eq!(world.state.gates.iter().count(), KEPT_MAX);
    let text = handover(&world.state, world.state.live_attempts().next().unwrap());
    assert!(text.contains("never touch the cellar"), "{text}");
    let late = |gate| {
        person(Command::Approve { gate: Some(GateId(gate)), note: String::new(), scope: None })
    };
    let refused = |words: &str| Answer::Refused(words.to_owned());
    let long_ago = refused("g2 was answered long ago: `chronicle log` says how");
    assert_eq!(world.step(&late(2)), long_ago);
    assert_eq!(
        world.step(&late(101)),
        refused("there is no gate g101, and nothing is being asked")
    );
    assert_eq!(world.state.attempt(AttemptId(1)), None);
}

#[test]
fn a_session_that_is_resumed_a_hundred_times_is_counted_once() {
    let workflow = "{name: Lost, phases: {plan: {limits: {losses: 1000}}}}";
    let mut world = World::started(workflow, "plan: go done");
    for tokens in 1..=100 {
        let id = *world.state.live.first().unwrap();
        let usage = Usage { input: tokens, ..Usage::default() };
        world.step(&about(id, AttemptReport::Usage { scope: Scope::Session, usage }));
        world = world.recovered();
    }
    assert_eq!((world.state.usage.tokens(), world.state.sessions.len()), (100, 1));
    let tally = world.state.tally(&Place::new("plan")).unwrap();
    assert_eq!((tally.attempts, tally.tries, tally.usage.tokens()), (101, 1, 100));
}
