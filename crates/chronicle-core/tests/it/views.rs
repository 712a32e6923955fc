//! What people and programs see of a run, for one state of each kind. Every field is shown: a new one appears here.

use chronicle_core::base::ids::{AttemptId, GateId};
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen};
use chronicle_core::state::{Standing, State};
use chronicle_core::view;
use expect_test::{Expect, expect};
use serde_json::Value;

use crate::views_told::comes_back;
use crate::world::{World, about, calls, person};

pub(crate) const TWO: &str =
    "{name: Two, phases: {plan: {name: Planning, next: [build]}, build: {}}}";

/// One line per field, one per item of a list.
pub(crate) fn told(view: &impl serde::Serialize) -> String {
    let Value::Object(fields) = serde_json::to_value(view).unwrap() else { panic!("no object") };
    let lines = fields.iter().map(|(name, value)| match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| format!("  - {item}\n")).collect();
            let items = items.concat();
            format!("{name}:\n{items}")
        }
        other => format!("{name}: {other}\n"),
    });
    lines.collect()
}

fn check(state: &State, supervised: bool, expected: &Expect) {
    let view = view::run(state, supervised).unwrap();
    expected.assert_eq(&told(&view));
    comes_back(&view);
}

fn check_row(state: &State, expected: &Expect) {
    let row = view::row(state, false).unwrap();
    expected.assert_eq(&told(&row));
    comes_back(&row);
}

pub(crate) fn stop(world: &mut World, attempt: u32) {
    let seen = EndSeen { stopped: true, ..EndSeen::default() };
    world.step(&about(AttemptId(attempt), AttemptReport::Ended(seen)));
}

pub(crate) fn pause(reason: &str) -> Command {
    Command::Pause { reason: reason.to_owned() }
}

#[test]
fn nothing_is_seen_before_the_first_line() {
    let state = State::default();
    assert!(view::run(&state, true).is_none());
    assert!(view::row(&state, true).is_none());
    assert!(view::run_json(&state).is_none());
}

#[test]
fn a_run_that_works() {
    let mut world = World::started(TWO, "");
    let call = |id: &str| calls(id, "read", "");
    world.step(&about(AttemptId(1), call("c1")));
    world.step(&about(AttemptId(1), call("c2")));
    check(
        &world.state,
        true,
        &expect![[r#"
            active_ms: 10
            attempts: 1
            breadcrumbs:
              - {"frame":"","text":"Planning [●] -> build [ ]"}
            goes_on: true
            line: "Two > Planning [1/2]"
            needs_you:
            next:
              - "chronicle log c0ffee01 --follow"
            no_trees: null
            phases:
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"current","more_files":false,"name":"Planning","place":"plan","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":1}
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"pending","more_files":false,"name":"build","place":"build","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":0}
            reason: null
            recording: true
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            seq: 3
            short: "c0ffee01"
            snapshot: {}
            spent: {"priced":true,"tokens":0,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "running"
            supervised: true
            task: "the task"
            unenforced:
            updated_at: "2026-11-15T02:30:50.000Z"
            version: 2
            workflow: "Two"
            working:
              - {"active_ms":10,"agent":"scripted","asks":false,"attempt":"a1","place":"plan","started_at":"2026-11-15T02:30:50.000Z","tools":2,"try":1}
        "#]],
    );
}

#[test]
fn a_run_that_should_work_and_nobody_drives_it_is_interrupted() {
    let world = World::started(TWO, "");
    let [alone, driven] = [false, true].map(|it| view::run(&world.state, it).unwrap());
    assert_eq!([alone.status, driven.status], [Standing::Interrupted, Standing::Running]);
    assert_eq!(alone.next, ["chronicle resume c0ffee01"]);
    assert!(alone.goes_on && driven.goes_on, "that is the ledger's word, whoever looks");
    check_row(
        &world.state,
        &expect![[r#"
            goes_on: true
            needs_you: 0
            places:
              - "plan"
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            short: "c0ffee01"
            spent: {"priced":true,"tokens":0,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "interrupted"
            task: "the task"
            updated_at: "2026-11-15T02:30:50.000Z"
            workflow: "Two"
        "#]],
    );
}

#[test]
fn a_run_that_waits_for_a_person() {
    let workflow = "{name: Asks, phases: {plan: {approval: after, next: [build]}, build: {}}}";
    let world = World::started(workflow, "plan: usage 1200; go build").play();
    check(
        &world.state,
        false,
        &expect![[r#"
            active_ms: 10
            attempts: 1
            breadcrumbs:
              - {"frame":"","text":"plan [●] -> build [ ]"}
            goes_on: false
            line: "Asks > plan [1/2]"
            needs_you:
              - {"about":"is `plan` done? \"did it\"","gate":"g1","kind":"approval_after","next":"chronicle approve c0ffee01 g1  (or: chronicle reject c0ffee01 g1 \"why\")","place":"plan","since":"2026-11-15T02:30:50.000Z"}
            next:
              - "chronicle approve c0ffee01 g1  (or: chronicle reject c0ffee01 g1 \"why\")"
            no_trees: null
            phases:
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"current","more_files":false,"name":"plan","place":"plan","removed":0,"spent":{"priced":true,"tokens":1200,"usd_micros":0},"summary":"","visits":1}
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"pending","more_files":false,"name":"build","place":"build","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":0}
            reason: null
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            seq: 7
            short: "c0ffee01"
            snapshot: {}
            spent: {"priced":true,"tokens":1200,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "waiting"
            supervised: false
            task: "the task"
            unenforced:
            updated_at: "2026-11-15T02:30:50.000Z"
            version: 2
            workflow: "Asks"
            working:
        "#]],
    );
    check_row(
        &world.state,
        &expect![[r#"
            goes_on: false
            needs_you: 1
            places:
              - "plan"
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            short: "c0ffee01"
            spent: {"priced":true,"tokens":1200,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "waiting"
            task: "the task"
            updated_at: "2026-11-15T02:30:50.000Z"
            workflow: "Asks"
        "#]],
    );
}

#[test]
fn a_run_that_needs_help_says_what_to_type() {
    let workflow = "{name: Stuck, phases: {plan: {limits: {nudges: 0, retries: 0}}}}";
    let world = World::started(workflow, "plan: crash boom").play();
    let view = view::run(&world.state, false).unwrap();
    expect![[r#"
        about: "`plan` cannot continue: the last attempt reported an error: \"boom\""
        gate: "g1"
        kind: "intervention"
        next: "chronicle retry c0ffee01 plan  (or: chronicle skip c0ffee01, chronicle go c0ffee01 PHASE, chronicle cancel c0ffee01)"
        place: "plan"
        since: "2026-11-15T02:30:50.000Z"
        ways:
          - "retry"
          - "skip"
          - "go"
          - "cancel"
    "#]].assert_eq(&told(&view.needs_you[0]));
    assert_eq!(view.next, [view.needs_you[0].next.as_str()]);
    assert_eq!(view::run_json(&world.state).unwrap()["status"], "human_intervention");
}

#[test]
fn a_phase_that_was_left_for_a_person_is_not_shown_as_one_that_never_ran() {
    let workflow =
        "{name: P, phases: {work: {next: [more, human_intervention]}, more: {next: [done]}}}";
    let world = World::started(workflow, "work: go human_intervention").play();
    let view = view::run(&world.state, false).unwrap();
    let marks: Vec<Value> =
        view.phases.iter().map(|row| serde_json::to_value(row.mark).unwrap()).collect();
    assert_eq!(marks, ["for_person", "pending"]);
    assert_eq!(view.breadcrumbs[0].text, "work [?] -> more [ ]");
}

#[test]
fn a_paused_run_works_until_its_last_attempt_has_ended() {
    let mut world = World::started(TWO, "");
    world.step(&person(pause("lunch")));
    assert_eq!(view::run(&world.state, true).unwrap().status, Standing::Ending);
    stop(&mut world, 1);
    check(
        &world.state,
        true,
        &expect![[r#"
            active_ms: 10
            attempts: 1
            breadcrumbs:
              - {"frame":"","text":"Planning [●] -> build [ ]"}
            goes_on: true
            line: "Two > Planning [1/2]"
            needs_you:
            next:
              - "chronicle resume c0ffee01"
            no_trees: null
            phases:
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"current","more_files":false,"name":"Planning","place":"plan","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":1}
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"pending","more_files":false,"name":"build","place":"build","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":0}
            reason: "lunch"
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            seq: 3
            short: "c0ffee01"
            snapshot: {}
            spent: {"priced":true,"tokens":0,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "paused"
            supervised: true
            task: "the task"
            unenforced:
            updated_at: "2026-11-15T02:30:50.000Z"
            version: 2
            workflow: "Two"
            working:
        "#]],
    );
}

#[test]
fn a_cancelled_run_asks_for_nothing_any_more() {
    let workflow = "{name: Asks, phases: {plan: {approval: before}}}";
    let mut world = World::started(workflow, "");
    assert_eq!(view::run(&world.state, false).unwrap().needs_you.len(), 1);
    world.step(&person(Command::Cancel { reason: "changed my mind".to_owned() }));
    for command in [
        Command::Approve { gate: Some(GateId(1)), note: String::new(), scope: None },
        Command::Reject { gate: None, note: String::new() },
        Command::Retry { place: None, note: String::new(), agent: None, from: None },
    ] {
        let refused = Answer::Refused("the run has been cancelled".to_owned());
        assert_eq!(world.step(&person(command.clone())), refused, "{command:?}");
    }
    check(
        &world.state,
        false,
        &expect![[r#"
            active_ms: 0
            attempts: 0
            breadcrumbs:
              - {"frame":"","text":"plan [×]"}
            goes_on: false
            line: "Asks > plan [1/1]"
            needs_you:
            next:
            no_trees: null
            phases:
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"stopped","more_files":false,"name":"plan","place":"plan","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":1}
            reason: "changed my mind"
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            seq: 2
            short: "c0ffee01"
            snapshot: {}
            spent: {"priced":true,"tokens":0,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "cancelled"
            supervised: false
            task: "the task"
            unenforced:
            updated_at: "2026-11-15T02:30:50.000Z"
            version: 2
            workflow: "Asks"
            working:
        "#]],
    );
    check_row(
        &world.state,
        &expect![[r#"
            goes_on: false
            needs_you: 0
            places:
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            short: "c0ffee01"
            spent: {"priced":true,"tokens":0,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "cancelled"
            task: "the task"
            updated_at: "2026-11-15T02:30:50.000Z"
            workflow: "Asks"
        "#]],
    );
}

const OUTER: &str = "{name: Outer, phases: {plan: {next: [in]}, in: {run: workflow, workflow: i, next: [ship]}, \
    ship: {}}}\n=== i\n{name: Inner, phases: {look: {name: Looking, next: [judge]}, judge: {}}}";

#[test]
fn a_workflow_inside_another_has_its_own_breadcrumbs_and_places() {
    let world =
        World::started(OUTER, "plan: go in\nin/look: go judge\nin/judge: auth sign in").play();
    check(
        &world.state,
        false,
        &expect![[r#"
            active_ms: 30
            attempts: 3
            breadcrumbs:
              - {"frame":"","text":"plan [✓] -> in [●] -> ship [ ]"}
              - {"frame":"in","text":"Looking [✓] -> judge [●]"}
            goes_on: false
            line: "Outer > Inner [2/3] > judge [2/2]"
            needs_you:
              - {"about":"`judge` cannot continue: the last attempt is not signed in: \"sign in\"","gate":"g1","kind":"intervention","next":"chronicle retry c0ffee01 in/judge  (or: chronicle skip c0ffee01, chronicle go c0ffee01 in/PHASE, chronicle cancel c0ffee01)","place":"in/judge","since":"2026-11-15T02:30:50.000Z","ways":["retry","skip","go","cancel"]}
            next:
              - "chronicle retry c0ffee01 in/judge  (or: chronicle skip c0ffee01, chronicle go c0ffee01 in/PHASE, chronicle cancel c0ffee01)"
            no_trees: null
            phases:
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"done","more_files":false,"name":"plan","place":"plan","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"did it","visits":1}
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"current","more_files":false,"name":"in","place":"in","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":1,"workflow":"Inner"}
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"done","more_files":false,"name":"Looking","place":"in/look","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"did it","visits":1}
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"current","more_files":false,"name":"judge","place":"in/judge","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":1}
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"pending","more_files":false,"name":"ship","place":"ship","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"","visits":0}
            reason: null
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            seq: 13
            short: "c0ffee01"
            snapshot: {}
            spent: {"priced":true,"tokens":0,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "waiting"
            supervised: false
            task: "the task"
            unenforced:
            updated_at: "2026-11-15T02:30:50.000Z"
            version: 2
            workflow: "Outer"
            working:
        "#]],
    );
}

#[test]
fn a_run_that_is_done() {
    let script = "plan: go in\nin/look: usage 7; go judge\nin/judge: go done\nship: go done";
    let world = World::started(OUTER, script).play();
    check(
        &world.state,
        false,
        &expect![[r#"
            active_ms: 40
            attempts: 4
            breadcrumbs:
              - {"frame":"","text":"plan [✓] -> in [✓] -> ship [✓]"}
            goes_on: false
            line: "Outer"
            needs_you:
            next:
            no_trees: null
            phases:
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"done","more_files":false,"name":"plan","place":"plan","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"did it","visits":1}
              - {"active_ms":0,"added":0,"attempts":0,"files":[],"mark":"done","more_files":false,"name":"in","place":"in","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"did it","visits":1,"workflow":"Inner"}
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"done","more_files":false,"name":"Looking","place":"in/look","removed":0,"spent":{"priced":true,"tokens":7,"usd_micros":0},"summary":"did it","visits":1}
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"done","more_files":false,"name":"judge","place":"in/judge","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"did it","visits":1}
              - {"active_ms":10,"added":0,"attempts":1,"files":[],"mark":"done","more_files":false,"name":"ship","place":"ship","removed":0,"spent":{"priced":true,"tokens":0,"usd_micros":0},"summary":"did it","visits":1}
            reason: null
            run: "01997f3a-0000-7000-8000-0000c0ffee01"
            seq: 19
            short: "c0ffee01"
            snapshot: {}
            spent: {"priced":true,"tokens":7,"usd_micros":0}
            started_at: "2026-11-15T02:30:50.000Z"
            status: "done"
            supervised: false
            task: "the task"
            unenforced:
            updated_at: "2026-11-15T02:30:50.000Z"
            version: 2
            workflow: "Outer"
            working:
        "#]],
    );
}
