//! Events that cannot have happened: each is recorded, and changes nothing else.

use chronicle_core::base::ids::{AttemptId, FolderId, GateId, Place};
use chronicle_core::event::Event;
use chronicle_core::event::Message;
use chronicle_core::event::input::{Actor, By, Command};
use chronicle_core::event::record::{Line, VERSION};
use chronicle_core::event::trees::Restored;
use chronicle_core::event::wait::WaitEnded;
use chronicle_core::state::{Impossible, State};
use chronicle_core::words;

use crate::world::{World, person};

const TWO: &str = "{name: Two, phases: {plan: {next: [build]}, build: {approval: after}}}";

/// A run that has been through two attempts, an edge and a gate.
fn played() -> World {
    let mut world = World::started(TWO, "plan: go build\nbuild: go done").play();
    world.step(&person(Command::Approve { gate: None, note: "fine".to_owned(), scope: None }));
    world
}

/// The first event of the run that fits.
fn again(world: &World, fits: fn(&Event) -> bool) -> Event {
    let mut events = world.lines.iter().flat_map(|line| &line.events);
    events.find(|event| fits(event)).unwrap().clone()
}

/// What is recorded of an event after the run, and the sentence about it.
fn impossible(world: &World, event: Event) -> (Impossible, String) {
    let by = By { actor: Actor::Supervisor, request: None };
    let (seq, at) = (world.state.seq + 1, world.state.updated_at);
    let events = vec![event];
    let line = Line { seq, at, v: VERSION, by, input: None, events, texts: Vec::new() };
    let mut state = world.state.clone();
    state.apply(&line);
    let [anomaly] = &state.anomalies[..] else { panic!("{:?}", state.anomalies) };
    assert_eq!(anomaly.seq, seq);
    assert_eq!(without_the_line(&state), without_the_line(&world.state), "it changed something");
    (anomaly.what.clone(), words::impossible(anomaly))
}

/// The state as data, without what every line changes.
fn without_the_line(state: &State) -> serde_json::Value {
    let mut all = serde_json::to_value(state).unwrap();
    let fields = all.as_object_mut().unwrap();
    for name in ["seq", "anomalies", "is_ready"] {
        fields.remove(name);
    }
    all
}

#[test]
fn nothing_is_answered_ended_or_left_twice() {
    let world = played();
    for (fits, what, said) in [
        (
            (|event: &Event| matches!(event, Event::GateAnswered { .. })) as fn(&Event) -> bool,
            Impossible::AnsweredGate(GateId(1)),
            "names gate g1, which was answered before",
        ),
        (
            |event| matches!(event, Event::AttemptEnded(_)),
            Impossible::EndedAttempt(AttemptId(1)),
            "names attempt a1, which ended before",
        ),
        (
            |event| matches!(event, Event::EdgeTaken(_)),
            Impossible::Left(Place::new("plan")),
            "names `plan` as left, where the run was not",
        ),
    ] {
        let (found, told) = impossible(&world, again(&world, fits));
        assert_eq!(found, what);
        assert!(told.ends_with(said), "{told}");
    }
}

#[test]
fn nothing_ends_that_did_not_begin() {
    let world = played();
    let (place, attempt) = (Place::new("build"), AttemptId(2));
    let note = String::new();
    let wait = WaitEnded { place: place.clone(), attempt, who: None, agent: None, note };
    let undo = Event::UndoEnded(Restored::none("it broke"));
    let answer = Message::Answer(GateId(9));
    let told = Event::MessageDelivered { attempt, message: answer, repeated: false };
    for (event, what, said) in [
        (Event::WaitEnded(wait), Impossible::Wait(place), "a wait at `build` that did not begin"),
        (undo, Impossible::Undo(FolderId::Project), "an undo that did not begin"),
        (told, Impossible::Gate(GateId(9)), "gate g9, which was not opened"),
    ] {
        let (found, told) = impossible(&world, event);
        assert_eq!(found, what);
        assert!(told.ends_with(said), "{told}");
    }
}
