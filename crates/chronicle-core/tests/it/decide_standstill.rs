//! Decisions about work of which nothing comes.

use chronicle_core::base::ids::{AttemptId, Cause};
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::event::input::{AttemptReport, Command, EndSeen, Report, TimerKind};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{SnapshotUpdate, Why};
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use expect_test::expect;

use crate::world::{World, calls, person, report, signal, tree};

const MINUTE_MS: u64 = 60_000;

/// A phase that may stand still for twenty minutes.
const STILL: &str = "{name: S, phases: {dig: {limits: {standstill: 20m}, next: [fill]}, fill: {}}}";

fn still_timer(world: &World) -> Option<(Cause, u64)> {
    world.state.due().into_iter().find_map(|effect| match effect.action {
        Action::RunTimer { timer: TimerKind::Standstill, active_ms, .. } => {
            Some((effect.cause, active_ms))
        }
        _ => None,
    })
}

#[test]
fn a_worker_without_progress_is_stopped_and_a_person_sees_what_it_did() {
    let script = "dig: same read a; same read a; same read b; still; go fill";
    let world = World::started(STILL, script).play();
    expect![[r#"
        run started: `S` on "the task"
          workflow `main` entered
          phase `dig` entered
          a1 started at `dig` (scripted)
        a1 called `read` a
        a1 called `read` a
        a1 called `read` b
        a1 is being stopped: it made no progress
        a1 was stopped: it made no progress
          g1 waits at `dig` for intervention: `dig` makes no progress: it worked for 20 min 00 s without a changed file, a signal or a note; its most frequent call was `read` a, 2 times
    "#]]
    .assert_eq(&world.told());
    // It worked for just so long, whatever it said of it.
    assert_eq!(world.state.attempt(AttemptId(1)).unwrap().active_ms, 20 * MINUTE_MS);
}

#[test]
fn a_workflow_may_have_its_own_answer_to_a_standstill() {
    let workflow = "{name: S, phases: {dig: {limits: {standstill: 20m}, on: {stuck: fill}, next: [fill]}, fill: {}}}";
    let world = World::started(workflow, "dig: still\nfill: go done").play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert!(world.told().contains("`dig` left for `fill` (stuck)"), "{}", world.told());
}

#[test]
fn a_file_a_signal_and_a_word_to_it_begin_the_time_anew() {
    let mut world = World::started(STILL, "dig: session s; tool a");
    while world.state.live_attempts().all(|attempt| attempt.tools == 0) {
        assert!(world.one_move());
    }
    let id = AttemptId(1);
    let at = |active_ms, what| report(Report::Attempt { attempt: id, active_ms, what });
    world.step(&at(5 * MINUTE_MS, calls("c", "read", "")));
    let (first, left) = still_timer(&world).unwrap();
    assert_eq!(left, 15 * MINUTE_MS, "a call alone is nothing that came of it");
    let (path, change) = ("a.rs".to_owned(), chronicle_core::event::Change::Changed);
    world.step(&at(6 * MINUTE_MS, AttemptReport::FileChanged { path, change }));
    let (file, left) = still_timer(&world).unwrap();
    assert!(file > first && left == 20 * MINUTE_MS, "{file:?} {left}");
    let snap = Signal::Snapshot(SnapshotUpdate {
        findings: vec!["it leaks".to_owned()],
        ..SnapshotUpdate::default()
    });
    world.step(&signal(id, "r1", snap));
    let (snapshot, _) = still_timer(&world).unwrap();
    assert!(snapshot > file);
    world.step(&person(Command::Note { place: None, text: "look at b.rs".to_owned() }));
    assert!(world.one_move(), "it is told");
    assert!(still_timer(&world).unwrap().0 > snapshot);
    // What was used up does not come back with a restart.
    let usage = AttemptReport::Usage { scope: Scope::Turn, usage: Usage::default() };
    world.step(&at(12 * MINUTE_MS, usage));
    let lost = EndSeen { lost: true, ..EndSeen::default() };
    world.step(&at(13 * MINUTE_MS, AttemptReport::Ended(lost)));
    let world = world.recovered();
    assert_eq!(still_timer(&world).map(|(_, left)| left), Some(12 * MINUTE_MS));
}

#[test]
fn changed_files_show_that_a_worker_made_progress() {
    let mut world = World::started(STILL, "dig: still; go fill\nfill: go done");
    while !world.told().contains("it made no progress\na1 was stopped") {
        assert!(world.one_move(), "{}", world.told());
    }
    world.step(&tree(Moment::After(AttemptId(1)), &["a.rs"]));
    let told = world.told();
    assert!(told.ends_with("a2 resumed at `dig` (scripted): it had changed files\n"), "{told}");
    let played = world.play();
    assert_eq!(played.state.status(), Status::Done, "{}", played.told());
}

#[test]
fn a_lost_worker_that_made_progress_counts_as_lost() {
    for (losses, status) in [(1, Status::Running), (0, Status::Waiting)] {
        let limits = format!("{{standstill: 20m, losses: {losses}}}");
        let workflow = format!("{{name: S, phases: {{dig: {{limits: {limits}}}}}}}");
        let mut world = World::started(&workflow, "dig: still; go done");
        while !world.told().contains("a1 is being stopped") {
            assert!(world.one_move(), "{}", world.told());
        }
        let (attempt, active_ms) = (AttemptId(1), 20 * MINUTE_MS);
        let (path, change) = ("a.rs".to_owned(), chronicle_core::event::Change::Changed);
        let lost = EndSeen { lost: true, ..EndSeen::default() };
        for what in [AttemptReport::FileChanged { path, change }, AttemptReport::Ended(lost)] {
            world.step(&report(Report::Attempt { attempt, active_ms, what }));
        }
        // And was undone, as far as the files tell.
        world.step(&tree(Moment::After(attempt), &[]));
        assert_eq!(world.state.status(), status, "{}", world.told());
        let next = world.state.attempt(AttemptId(2)).map(|next| next.intent.why.clone());
        assert_eq!(next, (losses > 0).then_some(Why::Lost), "{}", world.told());
    }
}

#[test]
fn commands_and_waiting_workers_have_no_standstill_limit() {
    let shell = "{name: S, phases: {test: {run: command, commands: [a]}}}";
    let mut world = World::started(shell, "");
    assert!(world.one_move());
    assert_eq!((world.state.live.len(), still_timer(&world)), (1, None));
    let mut world = World::started(STILL, "dig: ask which?; go fill\ng1: answer blue");
    let mut asked = false;
    while world.one_move() {
        let attempts: Vec<_> = world.state.live_attempts().collect();
        let rests = attempts.iter().any(|it| it.is_leaving() || world.state.is_asking(it));
        asked |= attempts.iter().any(|it| world.state.is_asking(it));
        assert!(!rests || still_timer(&world).is_none(), "{}", world.told());
    }
    assert!(asked);
}
