//! A run that a person sends elsewhere while somebody works in it.

use chronicle_core::base::ids::{AttemptId, DONE, GateId, Place};
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{End, GateAnswer, Question};
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use expect_test::expect;

use crate::decide::THREE;
use crate::world::{World, about, person, signal};

fn go(place: &str) -> Command {
    Command::Go { place: Place::new(place), note: "enough".to_owned() }
}

fn accepted(text: &str) -> Answer {
    Answer::Accepted(text.to_owned())
}

/// What is to be performed, trees and timers aside.
fn stopping(world: &World) -> Vec<AttemptId> {
    let due = world.state.due().into_iter();
    due.filter_map(|it| match it.action {
        Action::StopAttempt(id) => Some(id),
        _ => None,
    })
    .collect()
}

/// One whose first worker has said which session it works in.
fn working(workflow: &str, script: &str) -> World {
    let mut world = World::started(workflow, script);
    assert!(world.one_move() && world.one_move());
    world
}

#[test]
fn go_stops_the_worker_and_then_moves_the_run() {
    let mut world = working(THREE, "verify: go done");
    assert_eq!(world.step(&person(go("verify"))), accepted("going to `verify` once a1 has ended"));
    assert_eq!(stopping(&world), [AttemptId(1)]);
    assert_eq!(world.state.status(), Status::Running);
    let begun = world.lines.len() - 1;
    let world = world.play();
    expect![[r#"
        ann sends the run to `verify` once no attempt is live there: "enough"
        a1 was stopped
          `plan` left for `verify` (skipped) by a person
          phase `verify` entered
          a2 started at `verify` (scripted)
        a2 leaves for `done`: "did it"
        a2 ended
          `verify` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.told_from(begun));
    let (end, _) = world.state.attempt(AttemptId(1)).unwrap().ended.clone().unwrap();
    assert_eq!(end, End::Stopped);
}

#[test]
fn a_worker_that_waits_for_an_answer_waits_no_longer() {
    let mut world = World::started(THREE, "plan: ask which?; go build\nverify: go done").play();
    assert_eq!(world.state.open_gates().count(), 1);
    assert_eq!(world.step(&person(go("verify"))), accepted("going to `verify` once a1 has ended"));
    assert_eq!(world.state.open_gates().count(), 0, "the person has answered by going");
    let answered = &world.state.gate(GateId(1)).unwrap().answered;
    assert!(matches!(answered, Some((GateAnswer::Go(_), who, _)) if who == "ann"));
    assert_eq!(stopping(&world), [AttemptId(1)]);
    let (question, options, context) = ("and which?".to_owned(), Vec::new(), String::new());
    let again = Signal::Ask(Question { question, options, context, closed: false });
    let Answer::Refused(why) = world.step(&signal(AttemptId(1), "r9", again)) else {
        panic!("nobody is left to answer it")
    };
    assert_eq!(
        why,
        "a person sent the run elsewhere. Nothing was done, and nothing more will be: end your turn now"
    );
    assert_eq!(world.play().state.status(), Status::Done);
}

#[test]
fn a_go_during_a_pause_takes_effect_on_resume() {
    let mut world = working(THREE, "verify: go done");
    world.step(&person(go("verify")));
    world.step(&person(Command::Pause { reason: String::new() }));
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Paused);
    assert_eq!(world.state.frames.values().next().unwrap().phase.as_str(), "verify");
    assert_eq!(world.state.attempts.len(), 1, "nothing is begun");
    world.step(&person(Command::Resume));
    assert_eq!(world.play().state.status(), Status::Done);
}

#[test]
fn the_last_word_counts_and_a_wrong_one_changes_nothing() {
    let mut world = working(THREE, "build: go verify\nverify: go done");
    world.step(&person(go("verify")));
    assert!(matches!(world.step(&person(go("nowhere"))), Answer::Refused(_)));
    world.step(&person(go("build")));
    let world = world.play();
    let path: Vec<_> = world.state.visits.iter().map(|visit| visit.place.as_str()).collect();
    assert_eq!(path, ["plan", "build", "verify"]);
}

#[test]
fn a_workflow_inside_is_left_from_outside() {
    let workflow = "{name: O, phases: {in: {run: workflow, workflow: i, next: [ship]}, ship: {}}}\n\
        === i\n{name: I, phases: {look: {}}}";
    let mut world = working(workflow, "ship: go done");
    assert_eq!(world.step(&person(go("ship"))), accepted("going to `ship` once a1 has ended"));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    let path: Vec<_> = world.state.visits.iter().map(|visit| visit.place.as_str()).collect();
    assert_eq!(path, ["in", "in/look", "ship"]);
}

#[test]
fn nothing_starts_while_an_old_process_may_still_run() {
    let mut world = working(THREE, "");
    world.step(&person(go("verify")));
    let seen = EndSeen { unclear: Some("pid 7 lives".to_owned()), ..EndSeen::default() };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    let mut world = world.play();
    assert_eq!(world.state.status(), Status::Waiting, "{}", world.told());
    assert_eq!(world.step(&person(go(DONE))), accepted("going to `done`"));
    assert_eq!(world.play().state.status(), Status::Done);
}

#[test]
fn every_prefix_of_a_move_resumes_to_the_same_end() {
    let scripts = [
        (THREE, "plan: tool read\nverify: go done"),
        (THREE, "plan: ask which?; go build\nverify: go done"),
        (
            "{name: C, phases: {plan: {cleanup: [tidy]}, verify: {verify: [look], next: [done]}}}",
            "verify: go done",
        ),
    ];
    for (workflow, script) in scripts {
        let mut whole = working(workflow, script);
        while whole.state.status() == Status::Running && whole.lines.len() < 5 {
            assert!(whole.one_move());
        }
        whole.step(&person(go("verify")));
        let asked = whole.lines.len();
        let whole = whole.play();
        let path = |world: &World| -> Vec<Place> {
            world.state.visits.iter().map(|visit| visit.place.clone()).collect()
        };
        assert_eq!(whole.state.status(), Status::Done, "{}", whole.told());
        for cut in asked..whole.lines.len() {
            let resumed = whole.killed_after(cut).recovered().play();
            assert_eq!(
                resumed.state.status(),
                Status::Done,
                "cut after {cut}:\n{}",
                resumed.told()
            );
            assert_eq!(path(&resumed), path(&whole), "cut after {cut}:\n{}", resumed.told());
            let text = serde_json::to_string(&whole.killed_after(cut).state).unwrap();
            assert_eq!(
                serde_json::from_str::<chronicle_core::state::State>(&text).unwrap(),
                whole.killed_after(cut).state
            );
        }
    }
}
