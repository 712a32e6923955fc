//! Attempts that wait until fewer agents work on the machine.

use chronicle_core::base::ids::AttemptId;
use chronicle_core::base::time::Millis;
use chronicle_core::event::input::{AttemptReport, Command, EndSeen};
use chronicle_core::event::trees::Moment;
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use chronicle_core::view;
use expect_test::expect;

use crate::views_told::comes_back;
use crate::world::{NOW, World, about, person, room_limit, tree};

const ONE: &str =
    "{name: R, budget: {time: 1h}, phases: {work: {limits: {timeout: 5m}, next: [done]}}}";
const A1: AttemptId = AttemptId(1);

fn waits(limit: &str) -> World {
    let mut world = World::started(ONE, "work: go done");
    world.step(&tree(Moment::Before(A1), &[]));
    world.step(&about(A1, AttemptReport::RoomAwaited(room_limit(limit))));
    world
}

fn due(world: &World) -> Vec<Action> {
    world.state.due().into_iter().map(|effect| effect.action).collect()
}

#[test]
fn who_waits_says_for_what_and_loses_no_time() {
    let mut world = waits("8");
    assert_eq!(due(&world), [Action::RunAttempt(A1)]);
    let mut view = view::run(&world.state, true).unwrap();
    view.pass_until(Millis(NOW.0 + 3_600_000));
    comes_back(&view);
    assert_eq!((view.working[0].active_ms, view.recording), (0, false));
    let room = view.working[0].room.as_deref();
    let said = "waits for room: at most 8 agents work at once on this machine (`machine.agents`)";
    assert_eq!(room, Some(said));
    // Its files may have changed while it waited, so they are recorded again before it begins.
    world.step(&about(A1, AttemptReport::RoomTaken));
    assert_eq!(due(&world), [Action::RecordTree(Moment::Before(A1))]);
    world.step(&tree(Moment::Before(A1), &["by_a_person.rs"]));
    assert!(due(&world).iter().any(|it| matches!(it, Action::RunTimer { .. })));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done);
    assert!(world.state.attempt(A1).unwrap().changes.as_ref().is_some_and(|it| it.is_none()));
    expect![[r#"
        run started: `R` on "the task"
          workflow `main` entered
          phase `work` entered
          a1 started at `work` (scripted)
        a1 waits for room: at most 8 agents work at once on this machine (`machine.agents`)
        a1 has room, and begins
        meanwhile changed: 1 file, +1: `by_a_person.rs`
        a1 leaves for `done`: "did it"
        a1 ended
          `work` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn each_limit_in_a_row_is_recorded_once() {
    let mut world = waits("8");
    let known = world.lines.len();
    world.step(&about(A1, AttemptReport::RoomAwaited(room_limit("8"))));
    assert_eq!(world.lines.len(), known);
    world.step(&about(A1, AttemptReport::RoomAwaited(room_limit("1 claude"))));
    let told = world.told();
    let said = "a1 waits for room: at most 1 attempt works with `claude` at once on this machine (`agents.claude.at_once`)";
    assert!(told.contains(said), "{told}");
    // One that has begun waits for nothing, and one that did not wait is not told to begin.
    for what in [
        AttemptReport::RoomTaken,
        AttemptReport::RoomTaken,
        AttemptReport::Session("s".into()),
        AttemptReport::RoomAwaited(room_limit("8")),
    ] {
        world.step(&about(A1, what));
    }
    assert_eq!(world.lines.len(), known + 3, "{}", world.told());
}

/// It never began: nothing is recorded after it, so that nobody's changes are taken for its work.
#[test]
fn one_that_is_stopped_while_it_waits_never_began() {
    for command in
        [Command::Pause { reason: String::new() }, Command::Cancel { reason: String::new() }]
    {
        let mut world = waits("8");
        world.step(&person(command.clone()));
        assert_eq!(due(&world), [Action::StopAttempt(A1)]);
        let seen = EndSeen { stopped: true, ..EndSeen::default() };
        world.step(&about(A1, AttemptReport::Ended(seen)));
        assert_eq!(due(&world), []);
        if matches!(command, Command::Cancel { .. }) {
            assert_eq!(world.state.status(), Status::Cancelled);
            continue;
        }
        assert_eq!(world.state.status(), Status::Paused);
        world.step(&person(Command::Resume));
        let world = world.play();
        assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    }
}
