//! Walls: which ones an attempt gets, what its worker is told, and what becomes of one that runs into them.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::walls::{WallFiles, Walls};
use chronicle_core::event::input::{AttemptReport, Command, EndSeen, Report};
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{
    AttemptRewalled, AttemptWalls, Event, Message, RunStarted, RunWalls, WallsFound,
};
use chronicle_core::handover::{handover, wall_words};
use chronicle_core::state::effect::Action;
use chronicle_core::{view, words};

use crate::world::{World, about, person, report, start, tree, workflows};

const PHASES: &str = "walls: {hide: [private]}
phases:
  plan: {walls: {files: read, paths: [target]}, verify: [make], next: [build]}
  build: {next: [done]}
";

fn all() -> WallsFound {
    let (namespaces, own_proc, landlock, processes) = (true, true, true, true);
    WallsFound { namespaces, own_proc, landlock, processes, ..WallsFound::default() }
}

/// A run on a machine that can do this, whose user says that.
fn walled(found: WallsFound, said: Walls, script: &str) -> World {
    let mut world = World::new(script);
    let walls = Some(Box::new(RunWalls { said, found }));
    let start = RunStarted { walls, ..start(workflows(PHASES)) };
    world.step(&person(Command::Start(Box::new(start))));
    world
}

fn walls_of(world: &World, id: u32) -> Option<AttemptWalls> {
    let attempt = world.state.attempt(AttemptId(id)).unwrap();
    attempt.intent.walls.as_deref().cloned()
}

#[test]
fn an_attempt_has_the_walls_of_settings_workflow_and_phase_together() {
    let said = Walls { processes: Some(99), open: vec!["ssh".into()], ..Walls::default() };
    let world = walled(all(), said, "plan: go build\nbuild: go done").play();
    let plan = walls_of(&world, 1).unwrap();
    assert_eq!((plan.files(), plan.processes()), (WallFiles::Read, 99));
    assert_eq!(
        (&plan.asked.hide[..], &plan.asked.open[..]),
        (&["private".into()][..], &["ssh".into()][..])
    );
    assert_eq!(plan.asked.paths, ["target"]);
    assert!(plan.namespaces && plan.landlock);
    // What a phase may not change is about its worker, and not about what verifies it.
    let verify = walls_of(&world, 2).unwrap();
    assert_eq!(
        (verify.files(), &verify.asked.paths[..]),
        (WallFiles::Write, &["target".into()][..])
    );
    assert_eq!(walls_of(&world, 3).unwrap().files(), WallFiles::Write);
}

#[test]
fn an_attempt_that_was_decided_for_other_walls_gets_those_of_its_supervisor() {
    let mut world = walled(WallsFound { off: true, ..all() }, Walls::default(), "");
    assert_eq!(walls_of(&world, 1), None);
    let (host, version) = ("here".to_owned(), "1".to_owned());
    let walls = Some(all());
    world.step(&report(Report::SupervisorStarted {
        pid: 2,
        host,
        epoch: 0,
        version,
        notifies: false,
        walls,
    }));
    let attempt = world.state.attempt(AttemptId(1)).unwrap();
    assert!(world.state.has_other_walls(attempt));
    let before = attempt.intent.handover.clone();
    world.step(&about(AttemptId(1), AttemptReport::OtherWalls));
    // It is the same attempt, which nobody stopped: only its walls are others, and what its worker is told of them.
    assert_eq!(world.state.attempts.len(), 1);
    let now = world.state.attempt(AttemptId(1)).unwrap();
    assert!(now.ended.is_none() && !world.state.has_other_walls(now));
    assert!(walls_of(&world, 1).is_some_and(|walls| walls.namespaces));
    assert!(now.intent.handover != before && handover(&world.state, now).contains("## Walls"));
    // Once it has begun, whoever reports that is too late.
    let state = world.state.clone();
    world.step(&about(AttemptId(1), AttemptReport::OtherWalls));
    assert_eq!(world.state, state);
    // What is required is asked for although a person wants none: then nobody can start.
    let required = Walls { require: true, ..Walls::default() };
    let world = walled(WallsFound { off: true, ..WallsFound::default() }, required, "");
    assert!(walls_of(&world, 1).is_some_and(|walls| walls.asked.require && !walls.namespaces));
}

/// Another supervisor finds the run, and what worked before is lost.
fn taken_over(world: &mut World, lost: u32, found: WallsFound) {
    let (host, version, walls) = ("here".to_owned(), "1".to_owned(), Some(found));
    let (epoch, notifies) = (0, false);
    let pid = 10 + lost;
    world.step(&report(Report::SupervisorStarted { pid, host, epoch, version, notifies, walls }));
    let seen = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&about(AttemptId(lost), AttemptReport::Ended(seen)));
    world.step(&tree(Moment::After(AttemptId(lost)), &[]));
}

/// An attempt names its session, and its worker answers.
fn works(world: &mut World, id: u32) {
    let session = world.state.attempt(AttemptId(id)).unwrap().intent.session.clone();
    world.step(&about(AttemptId(id), AttemptReport::Session(session)));
    let usage = Usage { input: 1, ..Usage::default() };
    world.step(&about(AttemptId(id), AttemptReport::Usage { scope: Scope::Turn, usage }));
}

#[test]
fn a_session_is_told_of_other_walls_until_a_worker_has_surely_read_it() {
    let mut world = walled(all(), Walls::default(), "");
    let session = world.state.attempt(AttemptId(1)).unwrap().intent.session.clone();
    works(&mut world, 1);
    let none = || WallsFound { off: true, ..WallsFound::default() };
    let told = |world: &World, id: u32| {
        let attempt = world.state.attempt(AttemptId(id)).unwrap();
        assert_eq!(attempt.intent.session, session, "a{id}");
        handover(&world.state, attempt)
    };
    taken_over(&mut world, 1, none());
    assert!(told(&world, 2).contains("There are none around you any more"));
    // It died before anybody knew that it read this.
    taken_over(&mut world, 2, none());
    assert!(told(&world, 3).contains("There are none around you any more"));
    works(&mut world, 3);
    taken_over(&mut world, 3, none());
    assert!(!told(&world, 4).contains("## Walls"));
    works(&mut world, 4);
    taken_over(&mut world, 4, all());
    assert!(told(&world, 5).contains("They are others than before."));
}

#[test]
fn other_walls_are_told_on_one_line_and_as_they_are() {
    let told = |found: WallsFound, require: bool| {
        let asked = Walls { require, ..Walls::default() };
        let (namespaces, landlock) = (found.namespaces, found.landlock);
        let walls = AttemptWalls { asked, namespaces, landlock, ..AttemptWalls::default() };
        let (attempt, walls) = (AttemptId(123), Some(Box::new(walls)));
        let sentence = words::sentence(&Event::AttemptRewalled(AttemptRewalled {
            attempt,
            walls,
            handover: None,
        }));
        // Beside the number and the time of its line.
        assert!(sentence.chars().count() + 17 <= 80, "{sentence}");
        sentence
    };
    let one = WallsFound { landlock: true, ..WallsFound::default() };
    assert_eq!(told(all(), true), "a123 gets this supervisor's walls: namespaces and Landlock");
    assert_eq!(told(one, true), "a123 gets this supervisor's walls: Landlock alone");
    // A machine may have none, and nobody may have asked for any.
    assert_eq!(told(WallsFound::default(), false), "a123 gets this supervisor's walls: none");
    let required = told(WallsFound::default(), true);
    assert_eq!(required, "a123 gets this supervisor's walls: none, but they are required");
}

#[test]
fn a_worker_is_told_its_walls_where_they_stand() {
    let told = |found: WallsFound| {
        let world = walled(found, Walls::default(), "");
        handover(&world.state, world.state.attempt(AttemptId(1)).unwrap())
    };
    let text = told(all());
    assert!(
        text.contains(
            "## Walls\n\nYou can read the project, but you cannot change it, except for `target`."
        ),
        "{text}"
    );
    assert!(text.contains("logins of the user are hidden"), "{text}");
    let landlock = told(WallsFound { landlock: true, ..WallsFound::default() });
    assert!(landlock.contains("## Walls") && !landlock.contains("are hidden"), "{landlock}");
    assert!(!told(WallsFound::default()).contains("## Walls"));
    assert!(!told(WallsFound { off: true, ..all() }).contains("## Walls"));
}

#[test]
fn a_later_supervisor_brings_the_walls_of_its_own_machine() {
    let mut world = walled(all(), Walls::default(), "plan: go build\nbuild: go done");
    let (host, version) = ("elsewhere".to_owned(), "test".to_owned());
    let walls = Some(WallsFound { landlock: true, ..WallsFound::default() });
    world.step(&report(Report::SupervisorStarted {
        pid: 8,
        host,
        epoch: 2,
        version,
        notifies: false,
        walls,
    }));
    let world = world.play();
    assert!(walls_of(&world, 1).unwrap().namespaces);
    let last = walls_of(&world, 3).unwrap();
    assert!(!last.namespaces && last.landlock);
    let row = view::run(&world.state, true).unwrap().walls.unwrap();
    assert!(!row.namespaces && row.text.starts_with("Landlock alone"), "{}", row.text);
}

#[test]
fn a_worker_that_runs_into_a_wall_is_told_once_and_counted_each_time() {
    let mut world = walled(all(), Walls::default(), "");
    let id = AttemptId(1);
    world.step(&tree(Moment::Before(id), &[]));
    let hit = || AttemptReport::WallHit {
        call: Some("c1".into()),
        said: "touch: x: Read-only file system".into(),
    };
    let tells = |world: &World| {
        world.state.due().iter().any(|it| it.action == Action::Tell(id, Message::Wall))
    };
    assert!(!tells(&world));
    world.step(&about(id, hit()));
    world.step(&about(id, hit()));
    assert!(tells(&world));
    let words = wall_words(world.state.attempt(id).unwrap());
    assert!(words.contains("you cannot change it, except for `target`"), "{words}");
    world.step(&about(id, AttemptReport::Told(Message::Wall)));
    world.step(&about(id, hit()));
    assert!(!tells(&world), "{}", world.told());
    assert_eq!(world.state.attempt(id).unwrap().wall_hits, 3);
    assert_eq!(view::run(&world.state, true).unwrap().walls.unwrap().hits, 3);
    assert!(
        world.told().contains("a wall stopped a1: touch: x: Read-only file system"),
        "{}",
        world.told()
    );
    // However often it tries, the ledger stays small.
    for _ in 0..100 {
        world.step(&about(id, hit()));
    }
    assert_eq!(world.state.attempt(id).unwrap().wall_hits, 50);
}

#[test]
fn who_has_no_wall_cannot_run_into_one() {
    let mut world = walled(WallsFound { off: true, ..all() }, Walls::default(), "");
    let said = "Read-only file system".to_owned();
    world.step(&about(AttemptId(1), AttemptReport::WallHit { call: None, said }));
    let is_hit = |event: &Event| matches!(event, Event::WallHit { .. });
    assert!(!world.lines.iter().any(|line| line.events.iter().any(is_hit)));
    let row = view::run(&world.state, true).unwrap().walls.unwrap();
    assert_eq!((row.off, row.text.as_str()), (true, "none, as asked (`--no-walls`)"));
}

#[test]
fn an_agent_with_a_sandbox_of_its_own_has_no_landlock_around_it() {
    let said = Walls { own_sandbox: Some(true), ..Walls::default() };
    let walls = walls_of(&walled(all(), said.clone(), ""), 1).unwrap();
    assert!(walls.namespaces && !walls.landlock);
    // Without namespaces Landlock is all there is.
    let alone = WallsFound { landlock: true, ..WallsFound::default() };
    assert!(walls_of(&walled(alone, said, ""), 1).unwrap().landlock);
}
