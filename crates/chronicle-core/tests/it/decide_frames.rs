//! Workflows inside workflows: frames push and pop, and both lines say where the run is.

use std::fmt::Write as _;

use chronicle_core::state::Status;
use chronicle_core::view;
use expect_test::expect;

use crate::world::World;

/// The first entry of `one` is a workflow again, and so is the only one of `two`.
const NESTED: &str = "
name: Release
phases:
  - {id: plan, name: Plan, emoji: '🧭'}
  - {id: one, workflow: review}
  - {id: two, workflow: ship}
=== review
name: Review
loopable: true
phases: [{id: deep, workflow: analysis}, {id: judge, name: Judge}]
=== analysis
name: Analysis
loopable: true
phases: [{id: look, name: Look}, {id: tell, name: Tell}]
=== ship
name: Ship
phases: [{id: last, workflow: pack}]
=== pack
name: Pack
phases: [{id: box, name: Box}]
";

/// Where the run is whenever somebody begins to work: the line, then every frame's own.
fn walked(script: &str) -> (String, World) {
    let mut world = World::started(NESTED, script);
    let (mut text, mut seen) = (String::new(), 0);
    loop {
        if world.state.attempts.len() > seen {
            seen = world.state.attempts.len();
            let shown = view::run(&world.state, true).unwrap();
            writeln!(text, "{}", shown.line).unwrap();
            for crumb in &shown.breadcrumbs {
                writeln!(text, "  {}: {}", crumb.frame, crumb.text).unwrap();
            }
        }
        if !world.one_move() {
            return (text, world);
        }
    }
}

#[test]
fn references_are_entered_down_to_the_first_phase_and_left_up_to_the_next() {
    let (text, world) = walked(
        "plan: complete\none/deep/look: complete\none/deep/tell: complete\none/judge: complete\n\
         two/last/box: complete",
    );
    expect![[r#"
        Release > 🧭 Plan [1/3]
          : Plan [●] -> one [ ] -> two [ ]
        Release > Review [2/3] > Analysis [1/2] > Look [1/2]
          : Plan [✓] -> one [●] -> two [ ]
          one: deep [●] -> Judge [ ]
          one/deep: Look [●] -> Tell [ ]
        Release > Review [2/3] > Analysis [1/2] > Tell [2/2]
          : Plan [✓] -> one [●] -> two [ ]
          one: deep [●] -> Judge [ ]
          one/deep: Look [✓] -> Tell [●]
        Release > Review [2/3] > Judge [2/2]
          : Plan [✓] -> one [●] -> two [ ]
          one: deep [✓] -> Judge [●]
        Release > Ship [3/3] > Pack [1/1] > Box [1/1]
          : Plan [✓] -> one [✓] -> two [●]
          two: last [●]
          two/last: Box [●]
    "#]]
    .assert_eq(&text);
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
    let places: Vec<&str> = world.state.visits.iter().map(|visit| visit.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "plan",
            "one",
            "one/deep",
            "one/deep/look",
            "one/deep/tell",
            "one/judge",
            "two",
            "two/last",
            "two/last/box"
        ]
    );
}

#[test]
fn a_workflow_whose_first_entry_is_one_is_entered_at_the_start() {
    let workflow =
        "{name: O, phases: [{id: in, workflow: i}]}\n=== i\n{name: I, phases: [{id: a}]}";
    let world = World::started(workflow, "in/a: complete").play();
    expect![[r#"
        run started: `O` on "the task"
          workflow `main` entered
          phase `in` entered
          workflow `i` entered
          phase `in/a` entered
          a1 started at `in/a` (scripted)
        a1 leaves for `done`: "did it"
        a1 ended
          `in/a` done, workflow complete
          the workflow in `in` ended
          `in` done, workflow complete
          the workflow ended
          run done
    "#]]
    .assert_eq(&world.told());
}

#[test]
fn a_loop_begins_the_innermost_anew_and_enters_what_its_first_entry_holds() {
    let (_, world) = walked(
        "plan: complete\none/deep/look: complete\none/deep/tell 1: loop\none/deep/tell: complete\n\
         one/judge 1: loop\none/judge: complete\ntwo/last/box: complete",
    );
    let places: Vec<&str> = world.state.visits.iter().map(|visit| visit.place.as_str()).collect();
    expect![[r#"
        plan
        one
        one/deep
        one/deep/look
        one/deep/tell
        one/deep/look
        one/deep/tell
        one/judge
        one/deep
        one/deep/look
        one/deep/tell
        one/judge
        two
        two/last
        two/last/box
    "#]]
    .assert_eq(&format!("{}\n", places.join("\n")));
    assert_eq!(world.state.status(), Status::Done, "{}", world.told());
}
