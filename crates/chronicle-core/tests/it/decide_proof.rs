//! An agent proves that it has its tools judged, or a person decides.

use chronicle_core::event::Event;
use chronicle_core::state::Status;
use chronicle_core::view;
use expect_test::expect;

use crate::views_told::comes_back;
use crate::world::World;

const ONE: &str = "{name: O, phases: {work: {next: [done]}}}";

#[test]
fn an_unproven_guard_asks_a_person_at_once() {
    let world = World::started(ONE, "work 1: unguarded no hook was called").play();
    expect![[r#"
        run started: `O` on "the task"
          workflow `main` entered
          phase `work` entered
          a1 started at `work` (scripted)
        a1 was given nothing to do, since its guard is not proven: "no hook was called"
          g1 waits at `work` for intervention: `work` cannot continue: the last attempt was given nothing to do, since its guard is not proven: "no hook was called"
    "#]]
    .assert_eq(&world.told());
    assert_eq!(world.state.status(), Status::Waiting);
    assert_eq!(view::run(&world.state, true).unwrap().unproven, None, "nobody worked so");
}

/// That it was given nothing to do is said only where that is so.
#[test]
fn one_that_had_its_handover_was_stopped() {
    let why = "it had its handover already: it went to work without calling its hook";
    let world = World::started(ONE, &format!("work 1: unguarded {why}")).play();
    let told = world.told();
    let said = format!("a1 was stopped, since its guard is not proven: \"{why}\"");
    assert!(told.contains(&said) && !told.contains("given nothing"), "{told}");
    assert_eq!(world.state.status(), Status::Waiting);
}

/// Before a fallback and the workflow's own edge for a crash, also if whoever saw it has died.
#[test]
fn a_call_that_nobody_had_judged_asks_a_person_at_once() {
    let workflow =
        "{name: O, phases: {work: {fallback: [other], next: [done], on: {crash: done}}}}";
    let script = "work 1: ran rm -r a; unjudged it ran `bash` rm -r a";
    let world = World::started(workflow, script).play();
    expect![[r#"
        run started: `O` on "the task"
          workflow `main` entered
          phase `work` entered
          a1 started at `work` (scripted)
        a1 ran `bash` {"command":"rm -r a"} without asking for permission
          a1 is being stopped: a call ran without a verdict; `log --tools` shows it
        a1 was stopped: a call ran without a verdict; `log --tools` shows it
          g1 waits at `work` for intervention: `work` cannot continue: the last attempt was stopped: a call ran without a verdict; `log --tools` shows it
    "#]]
    .assert_eq(&world.told());
    assert_eq!(world.state.status(), Status::Waiting);
    let crashed = World::started(workflow, "work 1: unjudged it ran `bash` rm -r a").play();
    let said = "`work` cannot continue: the last attempt was stopped: a call ran without a verdict: \"it ran `bash` rm -r a\"";
    assert!(crashed.told().contains(said), "{}", crashed.told());
    assert_eq!((crashed.state.status(), crashed.state.attempts.len()), (Status::Waiting, 1));
    for script in ["work 1: ran a; lost", "work 1: ran a; finish"] {
        let world = World::started(workflow, script).play();
        assert_eq!(world.state.status(), Status::Waiting, "{script}: {}", world.told());
        assert_eq!(world.state.attempts.len(), 1, "{script}");
        let told = world.told();
        let said = "g1 waits at `work` for intervention: `work` cannot continue: the last attempt was stopped: a call \
                    ran without a verdict; `log --tools` shows it";
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn whoever_works_without_a_proof_is_shown_for_the_whole_run() {
    let script = "work 1: unproven no hook; unproven no hook; crash x\nwork 2: unproven none; finish\nwork 3: go done";
    let world = World::started(ONE, script).play();
    let told = world.told();
    let said = "a1 works although its guard is not proven (best-effort): no hook\n";
    assert_eq!(told.matches(said).count(), 1, "{told}");
    let view = view::run(&world.state, false).unwrap();
    let unproven = view.unproven.as_ref().unwrap();
    assert_eq!((unproven.attempt.to_string().as_str(), unproven.attempts), ("a2", 2));
    assert_eq!(unproven.text, "a2 and 1 attempt before it (best-effort): none");
    comes_back(&view);
    let is_detail = world
        .lines
        .iter()
        .flat_map(|line| &line.events)
        .any(|event| matches!(event, Event::GuardUnproven { .. }) && event.is_detail());
    assert!(!is_detail, "people see it without asking for details");
}
