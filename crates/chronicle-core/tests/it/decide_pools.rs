//! Pools: several workers at once, each in a folder of its own.

use std::fmt::Write as _;

use chronicle_core::base::ids::Place;
use chronicle_core::event::Event;
use chronicle_core::event::input::Command;
use chronicle_core::state::{State, Status};
use expect_test::{Expect, expect};

use crate::decide::check;
use crate::world::{Order, World, person};

/// Three steps, of which the last needs the first.
pub(crate) const POOL: &str = "
name: Pool
phases:
  build: {run: pool, slots: 2, steps: [{id: a}, {id: b}, {id: c, depends_on: [a]}], next: [ship]}
  ship: {}
";

/// Every step does its work, and so does the phase behind them.
pub(crate) const ALL: &str =
    "build/a/work: go done\nbuild/b/work: go done\nbuild/c/work: go done\nship: go done";

/// Plays moves until something holds.
#[track_caller]
pub(crate) fn until(world: &mut World, holds: impl Fn(&State) -> bool) {
    while !holds(&world.state) {
        assert!(world.one_move(), "{}", world.told());
    }
}

/// A world in which all work at once.
pub(crate) fn turns(workflow: &str, script: &str) -> World {
    let mut world = World::started(workflow, script);
    world.order = Order::Turns;
    world
}

pub(crate) fn retry(place: &str) -> Command {
    let (note, agent, from) = ("once more".to_owned(), None, None);
    Command::Retry { place: Some(Place::new(place)), note, agent, from }
}

pub(crate) fn skip(place: &str) -> Command {
    Command::Skip { place: Some(Place::new(place)), note: "not needed".to_owned() }
}

pub(crate) fn give_up(place: &str) -> Command {
    Command::GiveUp { place: Place::new(place), note: "never mind".to_owned() }
}

/// How far every step is.
fn stand(world: &World) -> String {
    let rows = chronicle_core::view::run(&world.state, true).unwrap().pools;
    let mut text = String::new();
    for step in rows.iter().flat_map(|pool| &pool.steps) {
        let slot = step.slot.map_or_else(String::new, |slot| format!(" in slot {slot}"));
        writeln!(text, "{}: {}{slot}", step.place, step.state).unwrap();
    }
    text
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "an expectation reads best in its place")]
pub(crate) fn stands(world: &World, expected: Expect) {
    expected.assert_eq(&stand(world));
}

#[test]
fn every_free_slot_is_filled_and_what_depends_on_a_step_waits_for_its_merge() {
    let world = check(
        POOL,
        ALL,
        expect![[r#"
        run started: `Pool` on "the task"
          workflow `main` entered
          phase `build` entered
          pool `build` entered
          `build` has 3 steps: `a`, `b`, `c`
          `build/a` works in slot 1, in work folder 1
          `build/b` works in slot 2, in work folder 2
        work folder 1 made
          workflow `main.build` entered
          phase `build/a/work` entered
          a1 started at `build/a/work` (scripted)
        a1 leaves for `done`: "did it"
        a1 ended
          `build/a/work` done, workflow complete
          the workflow in `build/a` ended
          the work of `build/a` is being merged
        work folder 2 made
          workflow `main.build` entered
          phase `build/b/work` entered
          a2 started at `build/b/work` (scripted)
        a2 leaves for `done`: "did it"
        a2 ended
          `build/b/work` done, workflow complete
          the workflow in `build/b` ended
        merging 0 files of folder 1
        the work in folder 1 is merged
          the work of `build/b` is being merged
          `build/c` works in slot 1, in work folder 3
        work folder 3 made
          workflow `main.build` entered
          phase `build/c/work` entered
          a3 started at `build/c/work` (scripted)
        a3 leaves for `done`: "did it"
        a3 ended
          `build/c/work` done, workflow complete
          the workflow in `build/c` ended
        merging 0 files of folder 2
        the work in folder 2 is merged
          the work of `build/c` is being merged
        merging 0 files of folder 3
        the work in folder 3 is merged
          pool `build` ended
          `build` left for `ship`
          phase `ship` entered
          a4 started at `ship` (scripted)
        a4 leaves for `done`: "did it"
        a4 ended
          `ship` done, workflow complete
          the workflow ended
          run done
        work folder 1 removed
        work folder 2 removed
        work folder 3 removed
    "#]],
    );
    assert_eq!(world.state.status(), Status::Done);
    assert!(world.state.works.is_empty(), "{:?}", world.state.works);
}

#[test]
fn slots_are_taken_in_the_order_of_the_plan() {
    let workflow = "
name: Pool
phases: {build: {run: pool, slots: 2, steps: [{id: step-2}, {id: step-10}, {id: step-1}]}}
";
    let mut world = turns(workflow, "");
    until(&mut world, |state| state.live.len() == 2);
    stands(
        &world,
        expect![[r#"
        build/step-2: works in slot 1
        build/step-10: works in slot 2
        build/step-1: waits for a slot
    "#]],
    );
}

#[test]
fn a_worker_plans_the_steps() {
    let workflow = "
name: Planned
phases:
  plan: {produces: steps, next: [build]}
  build: {run: pool, slots: 3}
";
    check(
        workflow,
        "plan: go build; plan a b<x; plan a b<a; plan c b<c; go build\n\
         build/b/work: go done\nbuild/c/work: go done",
        expect![[r#"
            run started: `Planned` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 was refused: `plan` is for planning: hand in the steps with `workflow_plan` before you leave, or leave with `outcome: fail`
            a1 was refused: step `b`: no step is called `x`
            a1 planned 2 steps: `a`, `b`
            a1 planned 2 steps: `c`, `b`
            a1 leaves for `build`: "did it"
            a1 ended
              `plan` left for `build`
              phase `build` entered
              pool `build` entered
              `build` has 2 steps, as planned: `c`, `b`
              `build/c` works in slot 1, in work folder 1
            work folder 1 made
              workflow `main.build` entered
              phase `build/c/work` entered
              a2 started at `build/c/work` (scripted)
            a2 leaves for `done`: "did it"
            a2 ended
              `build/c/work` done, workflow complete
              the workflow in `build/c` ended
              the work of `build/c` is being merged
            merging 0 files of folder 1
            the work in folder 1 is merged
              `build/b` works in slot 1, in work folder 2
            work folder 2 made
              workflow `main.build` entered
              phase `build/b/work` entered
              a3 started at `build/b/work` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `build/b/work` done, workflow complete
              the workflow in `build/b` ended
              the work of `build/b` is being merged
            merging 0 files of folder 2
            the work in folder 2 is merged
              pool `build` ended
              `build` done, workflow complete
              the workflow ended
              run done
            work folder 1 removed
            work folder 2 removed
        "#]],
    );
}

#[test]
fn steps_come_from_a_file_that_is_read_again_at_a_retry() {
    let workflow = "{name: F, phases: {build: {run: pool, slots: 2, steps_from: steps.json}}}";
    check(
        workflow,
        "build~steps: unread no such file; a a; a b<a\ng1: retry\ng2: retry\n\
         build/a/work: go done\nbuild/b/work: go done",
        expect![[r#"
            run started: `F` on "the task"
              workflow `main` entered
              phase `build` entered
              pool `build` entered
            the steps of `build` were not read: no such file
              g1 waits at `build` for intervention: the steps cannot be read from `steps.json`: no such file; mend the file and `retry`
            g1 answered with `retry` by ann
              pool `build` entered
            the steps of `build` were not read: step `a`: another step is called `a`
              g2 waits at `build` for intervention: the steps cannot be read from `steps.json`: step `a`: another step is called `a`; mend the file and `retry`
            g2 answered with `retry` by ann
              pool `build` entered
            `build` has 2 steps, from `steps.json`: `a`, `b`
              `build/a` works in slot 1, in work folder 1
            work folder 1 made
              workflow `main.build` entered
              phase `build/a/work` entered
              a1 started at `build/a/work` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              `build/a/work` done, workflow complete
              the workflow in `build/a` ended
              the work of `build/a` is being merged
            merging 0 files of folder 1
            the work in folder 1 is merged
              `build/b` works in slot 1, in work folder 2
            work folder 2 made
              workflow `main.build` entered
              phase `build/b/work` entered
              a2 started at `build/b/work` (scripted)
            a2 leaves for `done`: "did it"
            a2 ended
              `build/b/work` done, workflow complete
              the workflow in `build/b` ended
              the work of `build/b` is being merged
            merging 0 files of folder 2
            the work in folder 2 is merged
              pool `build` ended
              `build` done, workflow complete
              the workflow ended
              run done
            work folder 1 removed
            work folder 2 removed
        "#]],
    );
}

#[test]
fn merges_follow_the_end_of_the_work_or_the_plan() {
    let script = "build/a/work: tool x; tool y; go done\nbuild/b/work: go done";
    for (merge, expected) in [("completion", ["b", "a"]), ("in_order", ["a", "b"])] {
        let workflow = format!(
            "{{name: M, phases: {{build: {{run: pool, slots: 2, merge: {merge}, steps: [{{id: a}}, {{id: b}}]}}}}}}"
        );
        let world = turns(&workflow, script).play();
        assert_eq!(world.state.status(), Status::Done, "{}", world.told());
        let began =
            world.lines.iter().flat_map(|line| &line.events).filter_map(|event| match event {
                Event::MergeBegan(began) => Some(began.step.as_str().to_owned()),
                _ => None,
            });
        assert_eq!(began.collect::<Vec<_>>(), expected, "{merge}: {}", world.told());
    }
}

#[test]
fn who_waits_for_a_person_lets_others_work_and_takes_a_slot_back() {
    for (ask, what) in
        [("ask which?", "an answer"), ("need which?", "an answer"), ("held rm x", "permission")]
    {
        let script = format!(
            "build/a/work: {ask}; go done\nbuild/b/work: go done\nbuild/c/work: go done\nship: go done"
        );
        let workflow = POOL.replace("slots: 2", "slots: 1, isolation: worktree");
        let mut world = World::started(&workflow, &script);
        until(&mut world, |state| state.status() == Status::Waiting);
        assert_eq!(
            stand(&world),
            format!("build/a: waits for {what}\nbuild/b: done\nbuild/c: waits for other steps\n"),
            "{ask}: {}",
            world.told()
        );
        world.script.insert(
            "g1".to_owned(),
            vec![match ask {
                "held rm x" => "approve".to_owned(),
                _ => "answer blue".to_owned(),
            }],
        );
        let world = world.play();
        assert_eq!(world.state.status(), Status::Done, "{ask}: {}", world.told());
    }
}

#[test]
fn a_conflict_is_a_persons_to_decide() {
    for answer in ["resolved", "ours", "theirs", "drop"] {
        let script =
            format!("{ALL}\nbuild/b~plan: conflict x.rs; clean\nat build/b: answer {answer}");
        let world = World::started(POOL, &script).play();
        let status = world.state.status();
        if answer == "drop" {
            assert_eq!(status, Status::Waiting, "{}", world.told());
            let about = world.state.open_gates().next().unwrap().opened.about.clone();
            expect!["not all steps of `build` are done, 1 of 3 are open: `b` was given up"]
                .assert_eq(&about);
        } else {
            assert_eq!(status, Status::Done, "{answer}: {}", world.told());
        }
    }
}

#[test]
fn a_worker_resolves_a_conflict_and_if_it_fails_a_person_does() {
    let workflow = "
name: C
phases:
  - {id: build, run: pool, slots: 2, steps: [{id: a}, {id: b}], on: {conflict: mend}, next: [ship]}
  - {id: mend, next: [done], on: {fail: done}}
  - {id: ship}
";
    let script = "build/a/work: go done\nbuild/b/work: go done\nbuild/b~plan: conflict x.rs; clean\n\
                  ship: go done";
    check(
        workflow,
        &format!("{script}\nbuild/b/mend: go done"),
        expect![[r#"
        run started: `C` on "the task"
          workflow `main` entered
          phase `build` entered
          pool `build` entered
          `build` has 2 steps: `a`, `b`
          `build/a` works in slot 1, in work folder 1
          `build/b` works in slot 2, in work folder 2
        work folder 1 made
          workflow `main.build` entered
          phase `build/a/work` entered
          a1 started at `build/a/work` (scripted)
        a1 leaves for `done`: "did it"
        a1 ended
          `build/a/work` done, workflow complete
          the workflow in `build/a` ended
          the work of `build/a` is being merged
        work folder 2 made
          workflow `main.build` entered
          phase `build/b/work` entered
          a2 started at `build/b/work` (scripted)
        a2 leaves for `done`: "did it"
        a2 ended
          `build/b/work` done, workflow complete
          the workflow in `build/b` ended
        merging 0 files of folder 1
        the work in folder 1 is merged
          the work of `build/b` is being merged
        folder 2 and the project are in conflict: `x.rs` (both)
        folder 2 has the project's side in it now
          `build/b` works in slot 1, in work folder 2
          workflow `main.mend` entered
          phase `build/b/mend` entered
          a3 started at `build/b/mend` (scripted)
        a3 leaves for `done`: "did it"
        a3 ended
          `build/b/mend` done, workflow complete
          the workflow in `build/b` ended
          the work of `build/b` is being merged
        merging 0 files of folder 2
        the work in folder 2 is merged
          pool `build` ended
          `build` left for `ship`
          phase `ship` entered
          a4 started at `ship` (scripted)
        a4 leaves for `done`: "did it"
        a4 ended
          `ship` done, workflow complete
          the workflow ended
          run done
        work folder 1 removed
        work folder 2 removed
    "#]],
    );
    let world = World::started(workflow, &format!("{script}\nbuild/b/mend: complete fail")).play();
    stands(
        &world,
        expect![[r#"
            build/a: done
            build/b: done
        "#]],
    );
}

/// A worker that says so and leaves the conflict as it is does not go on for ever.
#[test]
fn a_conflict_that_comes_again_and_again_is_a_persons_in_the_end() {
    let workflow = "
name: C
phases:
  - {id: build, run: pool, slots: 2, merge: in_order, on: {conflict: mend}, limits: {loop: 2}, steps: [{id: a}, {id: b}], next: [done]}
  - {id: mend, next: [done]}
";
    let script = "build/a/work: go done\nbuild/b/work: go done\nbuild/b/mend: go done\nbuild/b~plan: conflict x.rs";
    let world = World::started(workflow, script).play();
    let entered = |event: &Event| matches!(event, Event::PhaseEntered { place } if place.as_str() == "build/b/mend");
    let times = world.lines.iter().flat_map(|line| &line.events).filter(|it| entered(it)).count();
    assert_eq!(times, 2, "{}", world.told());
    let gate = world.state.open_gates().next().unwrap().opened.clone();
    assert_eq!(gate.options, ["resolved", "ours", "theirs", "drop"]);
}

#[test]
fn what_fails_together_with_the_others_is_sent_back_and_not_for_ever() {
    let workflow = "
name: V
verify: [make test]
phases:
  build: {run: pool, slots: 2, merge: {verify: true}, steps: [{id: a}], limits: {loop: 2}}
";
    check(
        workflow,
        "build/a/work: go done\nbuild/a/verify 1: run 0 1\nbuild/a/verify 2: run 0 0",
        expect![[r#"
            run started: `V` on "the task"
              workflow `main` entered
              phase `build` entered
              pool `build` entered
              `build` has 1 step: `a`
              `build/a` works in slot 1, in work folder 1
            work folder 1 made
              workflow `main.build` entered
              phase `build/a/work` entered
              a1 started at `build/a/work` (scripted)
            a1 leaves for `done`: "did it"
            a1 ended
              `build/a/work` done, workflow complete
              the workflow in `build/a` ended
              the work of `build/a` is being merged
            merging 0 files of folder 1
            folder 1 has the project's side in it now
              workflow `main.build.verify` entered
              phase `build/a/verify` entered
              a2 started at `build/a/verify` (shell)
            a2's command 1 failed with exit code 1
            a2 failed at command 1
              `build/a/verify` left, workflow ended (fail)
              the workflow in `build/a` ended (fail): "`make test` failed"
              `build/a` works in slot 1, in work folder 1
            work folder 1 made
              workflow `main.build` entered
              phase `build/a/work` entered
              a3 started at `build/a/work` (scripted)
            a3 leaves for `done`: "did it"
            a3 ended
              `build/a/work` done, workflow complete
              the workflow in `build/a` ended
              the work of `build/a` is being merged
            merging 0 files of folder 1
            folder 1 has the project's side in it now
              workflow `main.build.verify` entered
              phase `build/a/verify` entered
              a4 started at `build/a/verify` (shell)
            a4's command 1 succeeded
            a4 ran every command
              `build/a/verify` done, workflow complete
              the workflow in `build/a` ended
            the work in folder 1 is merged
              pool `build` ended
              a5 verifies `build`: `make test`
            a5's command 1 succeeded
            a5 ran every command
              `build` done, workflow complete
              the workflow ended
              run done
            work folder 1 removed
        "#]],
    );
    let world = World::started(workflow, "build/a/work: go done\nbuild/a/verify: run 0 1").play();
    let about = world.state.open_gates().next().unwrap().opened.about.clone();
    expect!["not all steps of `build` are done, 1 of 1 are open: `a` failed: its work was sent back 2 times and still fails together with the others': `make test` failed"].assert_eq(&about);
}

#[test]
fn edits_meanwhile_are_merged_too_and_asked_about_in_the_end() {
    let one = "{name: L, phases: {build: {run: pool, slots: 2, steps: [{id: a}]}}}";
    let world =
        World::started(one, "build/a/work: go done\nbuild/a~write: late x; late x; whole").play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    for trouble in ["late x", "late ignored/x", "error no space"] {
        let script = format!("build/a/work: go done\nbuild/a~write: {trouble}");
        let mut world = World::started(one, &script).play();
        let gate = world.state.open_gates().next().unwrap().opened.clone();
        assert_eq!(gate.options, ["again", "drop"], "{}", world.told());
        world.script.insert("build/a~write".to_owned(), vec!["whole".to_owned()]);
        world.script.insert(gate.gate.to_string(), vec!["answer again".to_owned()]);
        let world = world.play();
        assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    }
}

#[test]
fn gaps_are_named_or_lead_where_the_workflow_says() {
    let script = "build/a~folder: fail no room\nbuild/b/work: go done\nmend: go done";
    let world = World::started(POOL, script).play();
    let about = world.state.open_gates().next().unwrap().opened.about.clone();
    expect!["not all steps of `build` are done, 2 of 3 are open: `a` failed: its work folder could not be made: no room; `c` could not begin without `a`"].assert_eq(&about);
    let workflow = POOL.replace("next: [ship]}", "next: [ship], on: {gaps: mend}}");
    let workflow = format!("{workflow}  mend: {{next: [done]}}\n");
    let world = World::started(&workflow, script).play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    // A person has it tried again, and it can be made now.
    let mut world = World::started(POOL, &format!("{ALL}\nbuild/a~folder: fail no room; made"));
    until(&mut world, |state| state.status() == Status::Waiting);
    world.step(&person(retry("build/a")));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}

#[test]
fn one_gate_for_an_account_and_all_go_on_after_the_raise() {
    let workflow = "{name: B, budget: {tokens: 10}, phases: {build: {run: pool, slots: 2, steps: [{id: a}, {id: b}, {id: c}]}}}";
    let script =
        "build/a/work: usage 11; go done\nbuild/b/work: usage 1; go done\nbuild/c/work: go done";
    let mut world = World::started(workflow, script);
    until(&mut world, |state| state.status() == Status::Waiting);
    assert_eq!(world.state.open_gates().count(), 1, "{}", world.told());
    stands(
        &world,
        expect![[r#"
            build/a: waits for a budget in slot 1
            build/b: works in slot 2
            build/c: waits for a slot
        "#]],
    );
    world.script.insert("g1".to_owned(), vec!["budget 100 tokens".to_owned()]);
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    assert_eq!(world.state.gates.iter().count(), 1, "{}", world.told());
}

#[test]
fn a_plan_is_changed_while_its_steps_are_worked_on() {
    let workflow = "
name: Replanned
phases:
  plan: {persona: seeker, produces: steps, next: [build]}
  build: {run: pool, slots: 1, isolation: worktree, persona: mender}
";
    check(
        workflow,
        "plan: plan a b c<b; go build\n\
         build/a/work: plan @1 a; help seeker; go done\n\
         build/a/work@seeker: plan a; plan @3 a; plan @1 a<b b; plan @1 d<a e<x; plan @1 d<a e<d; complete\n\
         build/d/work: go done\nbuild/e/work: go done",
        expect![[r#"
            run started: `Replanned` on "the task"
              workflow `main` entered
              phase `plan` entered
              a1 started at `plan` (scripted)
            a1 planned 3 steps: `a`, `b`, `c`
            a1 leaves for `build`: "did it"
            a1 ended
              `plan` left for `build`
              phase `build` entered
              pool `build` entered
              `build` has 3 steps, as planned: `a`, `b`, `c`
              `build/a` works in slot 1, in work folder 1
            work folder 1 made
              workflow `main.build` entered
              phase `build/a/work` entered
              a2 started at `build/a/work` (scripted)
            a2 was refused: only the persona that planned the steps may change the plan: ask it with `signal_back` and `needs-role-followup`
            a2 ends its turn: asks `seeker` for help: "it is broken"
            a2 ended
              `seeker` helps at `build/a/work`: "it is broken"
              a3 started at `build/a/work` as `seeker` (scripted): helps `mender`
            a3 was refused: the plan is at version 1: look at it with `workflow_status`, and say `version: 1` to change it
            a3 was refused: the plan is at version 1, not 3: look at it with `workflow_status`, and plan again with `version: 1`
            a3 was refused: step `a` has begun and cannot be changed: leave it out, or give it exactly as it was
            a3 was refused: step `e`: no step is called `x`
            a3 changed the plan of `build` (version 2): `d`, `e`
            a3 ends its turn: has helped: "did it"
            a3 ended
              `seeker` has helped at `build/a/work`: "did it"
              a4 resumed at `build/a/work` (scripted): `seeker` has helped
            a4 leaves for `done`: "did it"
            a4 ended
              `build/a/work` done, workflow complete
              the workflow in `build/a` ended
              the work of `build/a` is being merged
            merging 0 files of folder 1
            the work in folder 1 is merged
              `build/d` works in slot 1, in work folder 2
            work folder 2 made
              workflow `main.build` entered
              phase `build/d/work` entered
              a5 started at `build/d/work` (scripted)
            a5 leaves for `done`: "did it"
            a5 ended
              `build/d/work` done, workflow complete
              the workflow in `build/d` ended
              the work of `build/d` is being merged
            merging 0 files of folder 2
            the work in folder 2 is merged
              `build/e` works in slot 1, in work folder 3
            work folder 3 made
              workflow `main.build` entered
              phase `build/e/work` entered
              a6 started at `build/e/work` (scripted)
            a6 leaves for `done`: "did it"
            a6 ended
              `build/e/work` done, workflow complete
              the workflow in `build/e` ended
              the work of `build/e` is being merged
            merging 0 files of folder 3
            the work in folder 3 is merged
              pool `build` ended
              `build` done, workflow complete
              the workflow ended
              run done
            work folder 1 removed
            work folder 2 removed
            work folder 3 removed
        "#]],
    );
}

#[test]
fn folders_are_made_ready_before_anybody_works_in_them() {
    let workflow = "
name: S
phases:
  build: {run: pool, slots: 2, steps: [{id: a}], worktree: {setup: [npm ci]}}
";
    let world = World::started(workflow, "build/a/work: go done").play();
    let places: Vec<&str> = world.state.visits.iter().map(|visit| visit.place.as_str()).collect();
    assert_eq!(places, ["build", "build/a/setup", "build/a/work"], "{}", world.told());
    let mut world = World::started(workflow, "build/a/setup 1: run 0 1\nbuild/a/work: go done");
    until(&mut world, |state| state.status() == Status::Waiting);
    stands(
        &world,
        expect![[r#"
        build/a: failed
    "#]],
    );
    world.step(&person(retry("build/a")));
    let world = world.play();
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}
