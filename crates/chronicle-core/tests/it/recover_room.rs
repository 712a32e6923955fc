//! Attempts that wait for room on the machine: every prefix resumes to the same end, whether the supervisor of then is followed by
//! one that finds them lost, or by one that finds that they never began.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::Event;
use chronicle_core::event::input::{AttemptReport, Report, TimerKind};
use chronicle_core::state::effect::Action;
use chronicle_core::state::{Attempt, State, Status};

use crate::recover::end_of;
use crate::world::{World, about, report, room_limit};

const SCENARIOS: [(&str, &str, &str); 3] = [
    (
        "phases, a crash and a quota",
        "{name: R, phases: {plan: {next: [build]}, build: {limits: {timeout: 5m}, next: [done]}}}",
        "full plan: 8\nfull build: 2 scripted\nplan 1: usage 2; crash x\nplan 2: go build\n\
         build: usage 3; quota 600; go done",
    ),
    (
        "help and commands",
        "{name: H, phases: {build: {verify: [t], next: [test]}, test: {run: command, commands: [a], next: [done]}}}",
        "full build: 1\nbuild: usage 1; help a; go test\nbuild@a: usage 2; complete\ntest: run 0 0",
    ),
    (
        "a pool",
        "{name: P, phases: {build: {run: pool, slots: 2, steps: [{id: a}, {id: b}, {id: c}]}}}",
        "full build/a/work: 1\nfull build/c/work: 1 scripted\nbuild/a/work: usage 1; go done\n\
         build/b/work: usage 2; go done\nbuild/c/work: go done",
    ),
];

/// No attempt of which something is heard waits, and none that waits has a timer.
fn is_sound(state: &State) {
    for attempt in state.live_attempts().filter(|it| it.awaits_room()) {
        let id = attempt.intent.attempt;
        assert!(!state.has_begun(attempt), "{id} has begun, and waits");
        let mut due = state.due().into_iter().map(|effect| effect.action);
        let is_timer =
            |it: &Action| matches!(it, Action::RunTimer { attempt, .. } if *attempt == id);
        assert!(due.all(|it| !is_timer(&it)), "{id} waits, and its time passes");
    }
}

/// A supervisor that finds no trace of those that wait. All else that lived is lost.
fn never_began(mut world: World) -> World {
    let live = world.state.live.clone();
    let waits = |id: &AttemptId| world.state.attempt(*id).is_some_and(Attempt::awaits_room);
    let lost: Vec<AttemptId> = live.iter().filter(|id| !waits(id)).copied().collect();
    for id in lost {
        let seen = chronicle_core::event::input::EndSeen { lost: true, ..Default::default() };
        world.step(&about(id, AttemptReport::Ended(seen)));
    }
    for id in live {
        // Still full: what is known already is not written down again.
        let Some(limit) = world.state.attempt(id).and_then(|it| it.room.clone()) else { continue };
        let lines = world.lines.len();
        world.step(&about(id, AttemptReport::RoomAwaited(limit)));
        assert_eq!(world.lines.len(), lines);
    }
    world
}

#[test]
fn every_prefix_of_a_run_that_waits_for_room_resumes_to_the_same_end() {
    for (name, workflow, script) in SCENARIOS {
        let whole = World::started(workflow, script).play();
        let expected = end_of(&whole.state);
        assert_eq!(whole.state.status(), Status::Done, "{name}:\n{}", whole.told());
        let events = || whole.lines.iter().flat_map(|line| &line.events);
        let awaited = events().filter(|it| matches!(it, Event::RoomAwaited(_))).count();
        let taken = events().filter(|it| matches!(it, Event::RoomTaken { .. })).count();
        assert_eq!(awaited, taken, "{name}:\n{}", whole.told());
        assert!(awaited > 0, "{name}:\n{}", whole.told());
        for cut in 1..whole.lines.len() {
            let killed = whole.killed_after(cut);
            is_sound(&killed.state);
            for resumed in [killed.clone().recovered(), never_began(killed)] {
                let resumed = resumed.play();
                let end = end_of(&resumed.state);
                assert_eq!(end, expected, "{name} cut after line {cut}:\n{}", resumed.told());
            }
        }
    }
}

/// Whatever else is heard of an attempt that waits changes nothing of that, and it can still be stopped.
#[test]
fn a_timer_that_fires_late_stops_nobody_who_waits() {
    let workflow = "{name: R, phases: {plan: {limits: {timeout: 5m}}}}";
    let mut world = World::started(workflow, "");
    let id = AttemptId(1);
    world.step(&crate::world::tree(chronicle_core::event::trees::Moment::Before(id), &[]));
    world.step(&about(id, AttemptReport::RoomAwaited(room_limit("8"))));
    for timer in [TimerKind::Timeout, TimerKind::Standstill, TimerKind::Budget] {
        world.step(&report(Report::TimerFired { attempt: id, timer }));
    }
    world.step(&about(id, AttemptReport::Idle));
    let attempt = world.state.attempt(id).unwrap();
    assert_eq!((attempt.stop, attempt.awaits_room()), (None, true), "{}", world.told());
}
