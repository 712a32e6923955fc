//! The project's files are recorded before every attempt and after it, in the order of the way out.

use chronicle_core::base::ids::{AttemptId, FolderId, Place, TreeId};
use chronicle_core::event::Issues;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Report};
use chronicle_core::event::trees::{Moment, Restored};
use chronicle_core::state::Status;
use chronicle_core::state::effect::Action;
use chronicle_core::{view, words};
use expect_test::{Expect, expect};

use crate::world::{World, about, person, report, signal, tree};

const TWO: &str = "{name: Two, phases: {plan: {next: [build]}, build: {approval: after}}}";
const A1: AttemptId = AttemptId(1);

/// What is due, but for timers.
fn actions(world: &World) -> Vec<Action> {
    let due = world.state.due().into_iter().map(|effect| effect.action);
    due.filter(|action| !matches!(action, Action::RunTimer { .. })).collect()
}

fn leave(to: &str) -> chronicle_core::event::signal::Signal {
    let target = Some(to.into());
    let summary = "did it".to_owned();
    chronicle_core::event::signal::Signal::Leave {
        target,
        outcome: None,
        summary,
        task: None,
        issues: Issues::default(),
    }
}

fn finish(world: &mut World, id: AttemptId) {
    let seen = EndSeen { finished: true, ..EndSeen::default() };
    world.step(&about(id, AttemptReport::Ended(seen)));
}

fn check(world: &World, expected: &Expect) {
    let told: Vec<String> = world
        .lines
        .iter()
        .flat_map(|line| &line.events)
        .map(|event| words::sentence(event) + "\n")
        .collect();
    expected.assert_eq(&told.concat());
}

#[test]
fn the_order_is_tree_attempt_tree_and_then_the_edge() {
    let mut world = World::started(TWO, "");
    assert_eq!(actions(&world), [Action::RecordTree(Moment::Before(A1))]);
    world.step(&tree(Moment::Before(A1), &[]));
    assert_eq!(actions(&world), [Action::RunAttempt(A1)]);
    world.step(&signal(A1, "r1", leave("build")));
    finish(&mut world, A1);
    assert_eq!(actions(&world), [Action::RecordTree(Moment::After(A1))]);
    assert_eq!(world.state.status(), Status::Running);
    // Nothing happened between the tree and the next attempt: it is that attempt's too.
    world.step(&tree(Moment::After(A1), &["a", "b"]));
    assert_eq!(actions(&world), [Action::RunAttempt(AttemptId(2))]);
    assert_eq!(
        world.state.trees.base(FolderId::Project, Moment::After(AttemptId(2))),
        Some(&TreeId::new(format!("{:040x}", 2)))
    );
    check(
        &world,
        &expect![[r#"
        run started: `Two` on "the task"
        workflow `main` entered
        phase `plan` entered
        a1 started at `plan` (scripted)
        files recorded before a1
        a1 leaves for `build`: "did it"
        a1 ended
        a1 changed 2 files, +2: `a`, `b`
        `plan` left for `build`
        phase `build` entered
        a2 started at `build` (scripted)
    "#]],
    );
    let view = view::run(&world.state, true).unwrap();
    assert_eq!((view.phases[0].files.join(" "), view.phases[0].added), ("a b".to_owned(), 2));
    let (of, at) = (world.state.changes_of(A1), world.state.changes_at(&Place::new("plan")));
    assert_eq!(of.map(|changes| (changes.files, changes.list.len())), Some((2, 2)));
    assert_eq!(of, at);
    assert_eq!(world.state.changes_of(AttemptId(2)), None, "it works");
    assert_eq!(world.state.changes_at(&Place::new("build")), None);
}

#[test]
fn the_tree_comes_before_the_gate_and_anew_after_it() {
    let mut world = World::started(TWO, "plan: go build\nbuild: go done").play();
    assert_eq!(world.state.status(), Status::Waiting);
    world.step(&person(Command::Reject { gate: None, note: "no".to_owned() }));
    let a3 = AttemptId(3);
    assert_eq!(actions(&world), [Action::RecordTree(Moment::Before(a3))]);
    world.step(&tree(Moment::Before(a3), &["mine"]));
    assert!(world.told().contains("meanwhile changed: 1 file, +1: `mine`"), "{}", world.told());
    assert_eq!(actions(&world), [Action::RunAttempt(a3)]);
}

#[test]
fn a_run_without_trees_goes_on_and_says_so() {
    let mut world = World::started(TWO, "");
    let missed = |moment| report(Report::TreeMissed { moment, why: "no git".to_owned() });
    world.step(&missed(Moment::Before(A1)));
    assert_eq!(actions(&world), [Action::RunAttempt(A1)]);
    world.step(&signal(A1, "r1", leave("build")));
    finish(&mut world, A1);
    world.step(&missed(Moment::After(A1)));
    assert_eq!(view::run(&world.state, true).unwrap().no_trees.as_deref(), Some("no git"));
    assert!(world.told().contains("the files were not recorded: no git"));
    assert_eq!(actions(&world), [Action::RecordTree(Moment::Before(AttemptId(2)))]);
    world.step(&tree(Moment::Before(AttemptId(2)), &[]));
    assert_eq!(view::run(&world.state, true).unwrap().no_trees, None);
}

#[test]
fn a_tree_follows_a_stopped_attempt_but_not_one_that_never_started() {
    let mut world = World::started(TWO, "");
    world.step(&person(Command::Pause { reason: String::new() }));
    assert_eq!(actions(&world), [Action::StopAttempt(A1)]);
    let stopped = || EndSeen { stopped: true, ..EndSeen::default() };
    world.step(&about(A1, AttemptReport::Ended(stopped())));
    assert_eq!(world.state.status(), Status::Paused);
    world.step(&person(Command::Resume));
    let a2 = AttemptId(2);
    world.step(&tree(Moment::Before(a2), &[]));
    world.step(&person(Command::Cancel { reason: String::new() }));
    world.step(&about(a2, AttemptReport::Ended(stopped())));
    assert_eq!(actions(&world), [Action::RecordTree(Moment::After(a2))]);
    assert_eq!(world.state.status(), Status::Ending);
    world.step(&tree(Moment::After(a2), &["half"]));
    assert_eq!(world.state.status(), Status::Cancelled);
}

#[test]
fn a_tree_that_is_not_awaited_is_ignored() {
    let mut world = World::started(TWO, "");
    let before = world.lines.len();
    for moment in [Moment::After(A1), Moment::Before(AttemptId(7)), Moment::After(AttemptId(0))] {
        world.step(&tree(moment, &["a"]));
    }
    assert_eq!(world.lines.len(), before);
}

/// Ends without a signal, again and again, until a person is asked. Returns how many attempts that took.
fn attempts_until_a_person(changed: impl Fn(usize) -> bool) -> usize {
    let mut world = World::started("{name: One, phases: {plan: {}}}", "");
    while world.state.status() == Status::Running {
        let count = world.state.attempts.len();
        match actions(&world)[0] {
            Action::RecordTree(moment @ Moment::After(_)) if changed(count) => {
                world.step(&tree(moment, &["a"]));
            }
            Action::RecordTree(moment) => {
                world.step(&tree(moment, &[]));
            }
            Action::RunAttempt(id) => finish(&mut world, id),
            other => panic!("{other:?}"),
        }
        assert!(count < 200, "it goes on for ever");
    }
    world.state.attempts.len()
}

#[test]
fn changed_files_count_as_progress_a_limited_number_of_times() {
    // Three reminders and two fresh starts, once, then counted anew after the fourth, then again and again.
    assert_eq!(attempts_until_a_person(|_| false), 6);
    assert_eq!(attempts_until_a_person(|count| count == 4), 9);
    assert_eq!(attempts_until_a_person(|_| true), 15);
}

#[test]
fn files_are_put_back_only_while_nobody_works() {
    let mut world = World::started(TWO, "");
    let undo = || {
        let (from, to) = (TreeId::from("now"), TreeId::from("then"));
        person(Command::Undo { what: "plan".to_owned(), from, to, back: None })
    };
    let refused = Answer::Refused("a1 works at `plan`: pause the run first".to_owned());
    assert_eq!(world.step(&undo()), refused);
    let mut world = World::started(TWO, "plan: go build\nbuild: go done").play();
    world.step(&tree(Moment::Undo, &["mine"]));
    assert_eq!(world.step(&undo()), Answer::Accepted("undoing `plan`".to_owned()));
    assert_eq!(actions(&world), [Action::RestoreTree]);
    assert!(matches!(world.step(&undo()), Answer::Refused(_)));
    // Whatever a person answers meanwhile, nobody begins before the files are back.
    world.step(&person(Command::Reject { gate: None, note: "not so".to_owned() }));
    assert_eq!(actions(&world), [Action::RestoreTree]);
    let kept = vec!["build/x".to_owned()];
    let restored = Restored { files: 3, kept, ..Restored::default() };
    world.step(&report(Report::TreeRestored(Box::new(restored))));
    let told = world.told();
    assert!(told.contains("`plan` is being undone"), "{told}");
    assert!(told.contains("3 files restored; left alone: build/x"), "{told}");
    assert_eq!(actions(&world), [Action::RecordTree(Moment::Before(AttemptId(3)))]);
}
