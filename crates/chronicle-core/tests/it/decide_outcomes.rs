//! Done means done: a frame that ends badly has failed, and a phase is never marked as what it is not.

use chronicle_core::event::input::{Answer, Command};
use chronicle_core::state::Status;
use chronicle_core::view;
use expect_test::expect;

use crate::world::{World, person};

fn ends(workflow: &str, script: &str) -> (Status, Option<String>) {
    let world = World::started(workflow, script).play();
    (world.state.status(), world.state.failed.clone())
}

fn crumbs(world: &World) -> Vec<String> {
    let shown = view::run(&world.state, false).unwrap();
    shown.breadcrumbs.into_iter().map(|crumb| crumb.text).collect()
}

#[test]
fn a_run_whose_last_phase_failed_has_failed() {
    let workflow = "{name: One, phases: {check: {}}}";
    let reason = "`check` ended with `fail`: \"did it\"".to_owned();
    assert_eq!(ends(workflow, "check: go done fail"), (Status::Failed, Some(reason)));
    assert_eq!(ends(workflow, "check: go done"), (Status::Done, None));
    let gaps = ends(workflow, "check: go done gaps");
    assert_eq!(gaps.0, Status::Failed);
}

#[test]
fn a_workflow_may_say_that_failing_is_an_end() {
    let workflow = "{name: One, phases: {check: {on: {fail: done}}}}";
    assert_eq!(ends(workflow, "check: go done fail"), (Status::Done, None));
}

const INSIDE: &str = "
name: Outer
phases:
  in: {run: workflow, workflow: i, next: [ship], on: {fail: mend}}
  mend: {next: [ship]}
  ship: {}
=== i
{name: Inner, phases: {look: {}}}
";

#[test]
fn a_workflow_inside_that_failed_takes_the_way_of_the_phase_around_it() {
    let script = "in/look: go done fail\nmend: go ship\nship: go done";
    let world = World::started(INSIDE, script).play();
    assert_eq!(world.state.status(), Status::Done);
    assert_eq!(crumbs(&world), ["in [✗] -> mend [✓] -> ship [✓]"]);
}

#[test]
fn a_workflow_inside_that_failed_fails_the_run_where_nothing_is_said_about_it() {
    let workflow = INSIDE.replace(", on: {fail: mend}", "");
    let world = World::started(&workflow, "in/look: go done fail").play();
    assert_eq!(world.state.status(), Status::Failed);
    expect![[r#"Some("`in` ended with `fail`: \"did it\"")"#]]
        .assert_eq(&format!("{:?}", world.state.failed));
}

#[test]
fn a_worker_cannot_send_an_outcome_of_the_supervisor() {
    let workflow = "{name: One, phases: {check: {on: {crash: done, unverified: done}}}}";
    for outcome in ["crash", "stuck", "timeout", "rejected", "conflict", "unverified", "skipped"] {
        let script = format!("check 1: go done {outcome}; go done");
        let world = World::started(workflow, &script).play();
        let refused = world.answers.iter().any(|answer| {
            matches!(answer, Answer::Refused(why) if why.starts_with(&format!("`{outcome}` is no outcome")))
        });
        assert!(refused, "{outcome}: {:?}", world.answers);
        assert_eq!(world.state.status(), Status::Done, "{outcome}");
    }
}

#[test]
fn what_a_person_went_on_without_is_marked_so() {
    let workflow = "{name: Three, phases: {a: {limits: {nudges: 0, retries: 0}, next: [b]}, b: {next: [c]}, c: {}}}";
    let script = "a: finish\ng1: skip never mind\nb: go c fail\nc: go done";
    let world = World::started(workflow, script).play();
    assert_eq!(crumbs(&world), ["a [-] -> b [✗] -> c [✓]"]);
    let told = world.told();
    assert!(told.contains("`a` left for `b` (skipped)"), "{told}");
}

#[test]
fn a_run_that_was_given_up_is_called_so_while_it_is_put_away() {
    let workflow = "{name: One, phases: {a: {cleanup: [rm x], limits: {nudges: 0, retries: 0}}}}";
    let mut world = World::started(workflow, "a: finish").play();
    assert_eq!(world.state.status(), Status::Waiting);
    world.step(&person(Command::Cancel { reason: "enough".to_owned() }));
    let shown = |supervised| view::run(&world.state, supervised).unwrap();
    assert_eq!(
        (shown(false).status.as_str(), shown(true).status.as_str()),
        ("cancelled", "ending")
    );
    assert_eq!(shown(false).reason.as_deref(), Some("enough"));
    assert_eq!(view::row(&world.state, false).unwrap().needs_you, 0);
}

#[test]
fn edges_whose_names_run_together_are_counted_apart() {
    let workflow = "
name: Names
limits: {loop: {count: edge, max: 1}}
phases:
  a: {next: ['b->c']}
  'b->c': {next: ['a->b', done]}
  'a->b': {next: [c]}
  c: {}
";
    let script = "a: go b->c\nb->c: go a->b\na->b: go c\nc: go done";
    assert_eq!(ends(workflow, script), (Status::Done, None));
}

#[test]
fn a_skipped_inner_workflow_does_not_count_as_done() {
    let workflow = "
name: Outer
phases:
  in: {run: workflow, workflow: i, next: [ship], verify: [never]}
  ship: {}
=== i
{name: Inner, phases: {look: {limits: {nudges: 0, retries: 0}}}}
";
    let script = "in/look: finish\ng1: skip\nship: go done";
    let world = World::started(workflow, script).play();
    assert_eq!(world.state.status(), Status::Done);
    assert_eq!(crumbs(&world), ["in [-] -> ship [✓]"]);
}

#[test]
fn a_phase_that_was_left_for_a_person_is_not_done() {
    let workflow = "{name: Two, phases: {a: {next: [b, human_intervention]}, b: {}}}";
    let world = World::started(workflow, "a: go human_intervention\ng1: go b\nb: go done").play();
    assert_eq!(crumbs(&world), ["a [?] -> b [✓]"]);
}
