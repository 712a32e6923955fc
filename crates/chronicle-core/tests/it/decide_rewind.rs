//! Decisions about positions: a run goes back to where it stood, or begins where another one did.

use chronicle_core::base::ids::{AttemptId, FramePath, PhaseId, Place, RunId};
use chronicle_core::event::carried::{Carried, CarriedFrame};
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::{Event, RunStarted};
use chronicle_core::state::{Stage, State, Status};
use expect_test::expect;

use crate::world::{World, person, start, workflows};

const NESTED: &str = "{name: O, phases: {plan: {next: [in]}, in: {run: workflow, workflow: i, next: [ship]}, ship: {approval: after}}}\n=== i\n{name: I, phases: {look: {next: [judge]}, judge: {}}}";
const SCRIPT: &str = "plan: snap it leaks; go in\nin/look: usage 4; go judge\nin/judge: snap it is mended; go done\nship: go done";

/// A run that waits at its last gate.
fn waiting() -> World {
    let world = World::started(NESTED, SCRIPT).play();
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
    world
}

/// The state after the last line that has such an event.
fn after(world: &World, is_it: impl Fn(&Event) -> bool) -> (u64, State) {
    let at = world.lines.iter().rposition(|line| line.events.iter().any(&is_it)).unwrap();
    let mut state = State::default();
    world.lines[..=at].iter().for_each(|line| state.apply(line));
    (state.seq, state)
}

fn looking(world: &World) -> (u64, State) {
    after(
        world,
        |event| matches!(event, Event::PhaseEntered { place } if place.as_str() == "in/look"),
    )
}

fn refused(world: &mut World, command: Command) -> String {
    let lines = world.lines.len();
    let Answer::Refused(why) = world.step(&person(command)) else { panic!("not refused") };
    assert_eq!(world.lines.len(), lines);
    why
}

#[test]
fn a_run_goes_back_into_a_workflow_and_nothing_spent_comes_back() {
    let mut world = waiting();
    let (to, then) = looking(&world);
    let before = world.state.clone();
    let lines = world.lines.len();
    world.step(&person(world.rewind(to)));
    assert_eq!(world.state.snapshot, then.snapshot);
    let inner = Place::new("in").frame_below();
    assert_eq!(world.state.frames[&FramePath::root()].stage, Stage::Inside);
    assert!(matches!(world.state.frames[&inner].stage, Stage::Working { .. }));
    assert_eq!(world.state.usage, before.usage);
    assert_eq!(world.state.attempts.len(), before.attempts.len() + 1);
    assert_eq!(world.state.open_gates().count(), 0);
    assert!(world.state.visits.len() > before.visits.len());
    let mut rest = world.clone();
    rest.lines.drain(..lines);
    let told = rest.told();
    expect![[r#"
        g1 answered with `go in` by ann
          taken back to line 7 at `in/look`
          phase `in/look` entered
          a5 started at `in/look` (scripted)
    "#]]
    .assert_eq(&told);
    let again = world.play();
    assert_eq!(again.state.status(), Status::Waiting, "{}", again.told());
}

#[test]
fn rewind_is_refused_while_a_worker_works_or_to_a_missing_position() {
    let mut world = World::started(NESTED, SCRIPT);
    let back = world.rewind(1);
    assert_eq!(refused(&mut world, back), "a1 works at `plan`: pause the run first");
    let mut world = waiting();
    let Command::Rewind { carried, .. } = world.rewind(1) else { panic!("no rewind") };
    let late = Command::Rewind { to: 10_000, carried: carried.clone() };
    assert!(refused(&mut world, late).starts_with("there is no line 10000"));
    let none = Command::Rewind { to: 1, carried: Box::default() };
    assert!(refused(&mut world, none).contains("does not begin with the run's own workflow"));
    for (change, why) in [
        ((|it| it.phase = PhaseId::from("gone")) as fn(&mut CarriedFrame), "has no phase `gone`"),
        (|it| it.workflow = "other".to_owned(), "is one of workflow `other`"),
        (|it| it.inside = true, "there is no workflow inside of `plan`"),
    ] {
        let mut odd = carried.clone();
        change(&mut odd.frames[0]);
        let said = refused(&mut world, Command::Rewind { to: 1, carried: odd });
        assert!(said.contains(why), "{said}");
    }
    let (to, then) = looking(&world);
    let mut inside = then.carried();
    inside.frames.truncate(1);
    inside.edges.clear();
    let said = refused(&mut world, Command::Rewind { to, carried: Box::new(inside) });
    assert_eq!(said, "the position is inside `in`, and does not say where");
}

#[test]
fn another_run_begins_where_one_stood() {
    let (_, then) = looking(&waiting());
    let mut fork = World::new(SCRIPT);
    let run = RunId::from("01997f3a-0000-7000-8000-0000c0ffee02");
    let carried = Some(Box::new(then.carried()));
    let begin = RunStarted { run, carried, ..start(workflows(NESTED)) };
    fork.step(&person(Command::Start(Box::new(begin.clone()))));
    assert_eq!(fork.state.snapshot, then.snapshot);
    assert_eq!(fork.state.attempt(AttemptId(1)).unwrap().intent.place.as_str(), "in/look");
    let played = fork.play();
    assert_eq!(played.state.status(), Status::Waiting, "{}", played.told());
    assert!(played.told().starts_with("run started at `in/look`: `O` on"), "{}", played.told());

    let begin = RunStarted { carried: Some(Box::new(Carried::default())), ..begin };
    let why = refused(&mut World::new(""), Command::Start(Box::new(begin)));
    assert!(why.contains("does not begin with"), "{why}");
}

/// A position has nothing of an attempt, a gate or a session in it.
#[test]
fn a_carried_phase_is_entered_again() {
    let world = waiting();
    let carried = world.state.carried();
    let text = serde_json::to_string(&carried).unwrap();
    assert_eq!(serde_json::from_str::<Carried>(&text).unwrap(), carried);
    let session = &world.state.attempt(AttemptId(1)).unwrap().intent.session;
    assert!(!text.contains(session.as_str()) && !text.contains("\"a1\""), "{text}");
    assert_eq!(carried.phase(), Some(&PhaseId::from("ship")));
}
