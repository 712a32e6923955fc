//! Supervisors with other walls than those before them: every prefix resumes to the same end, and nobody starts behind walls of
//! somebody else.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::{AttemptReport, Command, Report};
use chronicle_core::event::record::Line;
use chronicle_core::event::{Event, RunStarted, RunWalls, WallsFound};
use chronicle_core::state::{State, Status};

use crate::recover::end_of;
use crate::world::{World, about, person, report, start, workflows};

/// Whatever a person says at a gate is decided while nobody drives the run. Most attempts are: of workers, fresh and resumed, of
/// commands, and of those that verify and put away.
const PHASES: &str = "{name: W, walls: {hide: [private]}, phases: {\
    plan: {approval: before, next: [test]}, \
    test: {run: command, commands: [a, b], approval: before, next: [build]}, \
    build: {approval: both, verify: [v, w], cleanup: [x], walls: {files: read}, next: [ship]}, \
    ship: {approval: before, walls: {require: true}}}}";
const SCRIPT: &str = "plan: usage 3; go test\ntest: run 0 0; run 1 0\nbuild 1: usage 4; go ship\n\
    build 2: usage 5; go ship\nship: usage 2; go done\ng1: approve\ng2: approve\ng3: approve\n\
    g4: reject no\ng5: approve\ng6: approve\ng7: approve";

/// Machines with both layers, with one, with none, and one whose walls a person gave up.
fn machines() -> Vec<WallsFound> {
    let none = WallsFound::default();
    let both = WallsFound { namespaces: true, landlock: true, processes: true, ..none.clone() };
    let (one, off) =
        (WallsFound { landlock: true, ..none.clone() }, WallsFound { off: true, ..both.clone() });
    vec![both, off, one, none]
}

/// What a supervisor finds of an attempt that never said a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Nothing: it never started.
    Nothing,
    /// Its keeper: it may have begun, and is lost.
    Keeper,
}

fn introduced(world: &mut World, walls: &WallsFound) {
    let epoch = world.state.supervisor.as_ref().map_or(1, |it| it.epoch + 1);
    let (pid, host, version) = (7, "here".to_owned(), "test".to_owned());
    let walls = Some(walls.clone());
    world.step(&report(Report::SupervisorStarted {
        pid,
        host,
        epoch,
        version,
        notifies: false,
        walls,
    }));
}

/// A supervisor takes over. What never began gets its walls, and all else that lived is lost.
fn taken_over(mut world: World, walls: &WallsFound, found: Found) -> World {
    introduced(&mut world, walls);
    let state = &world.state;
    let waits: Vec<AttemptId> = state
        .live_attempts()
        .filter(|it| found == Found::Nothing && !state.has_begun(it))
        .map(|it| it.intent.attempt)
        .collect();
    if waits.is_empty() {
        return world.recovered();
    }
    for id in waits {
        rewalled(&mut world, id);
    }
    world
}

/// Whoever starts it reports that it has other walls, if it has. It is the same attempt, with all that was counted.
fn rewalled(world: &mut World, id: AttemptId) {
    let before = world.state.clone();
    let attempt = before.attempt(id).unwrap();
    world.step(&about(id, AttemptReport::OtherWalls));
    let (now, rewalled) = (&world.state, before.has_other_walls(attempt));
    assert_eq!(now.seq, before.seq + u64::from(rewalled));
    let mut same = now.attempt(id).unwrap().clone();
    assert!(!now.has_other_walls(&same));
    same.intent.walls.clone_from(&attempt.intent.walls);
    same.intent.handover.clone_from(&attempt.intent.handover);
    assert_eq!(same, *attempt);
    assert_eq!((&now.frames, &now.live, now.usage), (&before.frames, &before.live, before.usage));
    assert_eq!((&now.places, &now.budgets), (&before.places, &before.budgets));
}

/// Plays to the end. At each gate the supervisor leaves, a person answers, and one of another machine comes.
fn played(mut world: World, mut machine: usize) -> World {
    let machines = machines();
    while world.state.status() != Status::Done {
        let waited = world.state.status() == Status::Waiting;
        assert!(world.one_move(), "{}", world.told());
        assert!(world.lines.len() < 500, "{}", world.told());
        if waited {
            machine += 1;
            world = taken_over(world, &machines[machine % machines.len()], Found::Nothing);
        }
    }
    world
}

/// The whole story, begun on that machine.
fn whole(machine: usize) -> World {
    let mut world = World::new(SCRIPT);
    let found = machines().swap_remove(machine);
    let walls = Some(Box::new(RunWalls { found: found.clone(), ..RunWalls::default() }));
    let start = RunStarted { walls, ..start(workflows(PHASES)) };
    world.step(&person(Command::Start(Box::new(start))));
    introduced(&mut world, &found);
    played(world, machine)
}

/// How many attempts got other walls. Each that began has those of the supervisor that drove the run then.
fn changes(lines: &[Line], told: &str) -> usize {
    let (mut state, mut changes) = (State::default(), 0);
    for line in lines {
        for event in &line.events {
            let begun = match event {
                Event::AttemptRewalled(_) => {
                    changes += 1;
                    continue;
                }
                Event::SessionOpened { attempt, .. } | Event::CommandEnded { attempt, .. } => {
                    attempt
                }
                _ => continue,
            };
            let attempt = state.attempt(*begun).unwrap();
            assert!(!state.has_other_walls(attempt), "{begun} at line {}:\n{told}", line.seq);
        }
        state.apply(line);
    }
    changes
}

#[test]
fn every_prefix_with_other_walls_resumes_to_the_same_end() {
    for first in [0, 1] {
        let whole = whole(first);
        let expected = end_of(&whole.state);
        assert!(changes(&whole.lines, &whole.told()) > 2, "{}", whole.told());
        for cut in 1..whole.lines.len() {
            for (machine, walls) in machines().iter().enumerate() {
                for found in [Found::Nothing, Found::Keeper] {
                    let resumed = taken_over(whole.killed_after(cut), walls, found);
                    let resumed = played(resumed, machine);
                    let told = resumed.told();
                    let case = format!("from {first}, line {cut}, {machine}, {found:?}:\n{told}");
                    assert_eq!(end_of(&resumed.state), expected, "{case}");
                    assert_eq!(resumed.state.usage, whole.state.usage, "{case}");
                    changes(&resumed.lines, &case);
                }
            }
        }
    }
}

/// One supervisor after the other dies before it has started anybody, each with other walls.
#[test]
fn an_attempt_gets_other_walls_as_often_as_supervisors_die_before_they_start_it() {
    let mut world = whole(0).killed_after(2);
    while world.state.live.is_empty() {
        assert!(world.one_move());
    }
    let id = world.state.live.first().copied().unwrap();
    for round in 1..=12 {
        world = taken_over(world, &machines()[round % 4], Found::Nothing);
        assert_eq!(world.state.live.first(), Some(&id));
    }
    assert_eq!(world.state.attempts.len(), 1);
    let world = played(world, 0);
    assert_eq!(end_of(&world.state), end_of(&whole(0).state), "{}", world.told());
}

/// Commands say neither a session nor a time. One that ended shows that they began.
#[test]
fn commands_that_have_begun_get_no_other_walls() {
    let mut world = whole(0);
    let first = |line: &Line| {
        line.events.iter().any(|it| matches!(it, Event::CommandEnded { index: 0, .. }))
    };
    let begun: Vec<usize> = (0..world.lines.len()).filter(|it| first(&world.lines[*it])).collect();
    assert!(begun.len() > 2);
    for line in begun {
        let mut killed = world.killed_after(line + 1);
        let Some(id) = killed.state.live.first().copied() else { continue };
        introduced(&mut killed, &machines()[2]);
        let before = killed.state.clone();
        killed.step(&about(id, AttemptReport::OtherWalls));
        assert_eq!(killed.state, before);
    }
    world.step(&about(AttemptId(1), AttemptReport::OtherWalls));
    assert_eq!(world.state.status(), Status::Done);
}
