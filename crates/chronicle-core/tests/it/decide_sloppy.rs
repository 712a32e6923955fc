//! Signals that contradict themselves or each other: nothing of them is dropped under an "accepted".

use chronicle_core::base::ids::AttemptId;
use chronicle_core::event::input::Answer;
use chronicle_core::event::signal::{Signal, parse};
use expect_test::expect;
use serde_json::{Value, json};

use crate::world::{World, signal};

const WORKFLOW: &str = "{name: T, phases: {dig: {next: [fill, rest]}, fill: {}, rest: {}}}";

fn call(world: &mut World, request: &str, tool: &str, arguments: &Value) -> String {
    match world.step(&signal(AttemptId(1), request, parse(tool, arguments))) {
        Answer::Accepted(text) => format!("accepted: {text}"),
        Answer::Refused(text) => format!("refused: {text}"),
        other => panic!("{other:?}"),
    }
}

fn one(tool: &str, arguments: &Value) -> String {
    call(&mut World::started(WORKFLOW, ""), "r1", tool, arguments)
}

#[test]
fn two_names_of_one_argument_must_agree_and_null_is_absent() {
    let transition = |arguments: &Value| one("workflow_transition", arguments);
    let went = transition(&json!({"target_state": null, "to_state": "fill", "summary": "dug"}));
    assert!(went.starts_with("accepted"), "{went}");
    let same = transition(&json!({"target_state": "fill", "to_state": "fill", "summary": "dug"}));
    assert!(same.starts_with("accepted"), "{same}");
    expect!["refused: `target_state` and `to_state` of `workflow_transition` mean the same and differ: give one of them"]
        .assert_eq(&transition(&json!({"target_state": "fill", "to_state": "rest", "summary": "dug"})));
}

#[test]
fn a_second_signal_that_says_something_else_is_refused_and_the_same_is_not() {
    let mut world = World::started(WORKFLOW, "");
    let first = json!({"target_state": "fill", "summary": "dug"});
    assert!(call(&mut world, "r1", "workflow_transition", &first).starts_with("accepted"));
    let again = call(&mut world, "r2", "workflow_transition", &first);
    assert!(again.starts_with("accepted"), "{again}");
    let more = json!({"target_state": "fill", "summary": "dug, and the wall has fallen"});
    expect!["refused: `dig` is being left for `fill` already: the first signal counts, and nothing of this one was kept"]
        .assert_eq(&call(&mut world, "r3", "workflow_transition", &more));
    let task = json!({"target_state": "fill", "summary": "dug", "task": "slowly"});
    assert!(call(&mut world, "r4", "workflow_transition", &task).starts_with("refused"));
}

#[test]
fn a_step_that_is_not_the_workers_own_is_refused() {
    let complete = |step: Value| {
        one(
            "signal_back",
            &json!({"signal": "partially-complete", "progress": "half", "continuationPoint": "p", "stepId": step}),
        )
    };
    for own in ["a1", "dig"] {
        let answer = complete(json!(own));
        assert!(answer.starts_with("accepted"), "{own}: {answer}");
    }
    expect!["refused: `stepId` is `a99`, and you are a1 at `dig`: name one of these, or leave `stepId` out"]
        .assert_eq(&complete(json!("a99")));
    assert!(complete(json!("01997f3a-0000-7000-8000-0000c0ffee99")).starts_with("refused"));
    expect!["refused: `stepId` of `signal_back` must be a text"].assert_eq(&complete(json!(5)));
    let nested = Signal::OfStep {
        step: "a1".to_owned(),
        signal: Box::new(Signal::OfStep {
            step: "a2".to_owned(),
            signal: Box::new(Signal::Status),
        }),
    };
    let mut world = World::started(WORKFLOW, "");
    let answer = world.step(&signal(AttemptId(1), "r1", nested));
    assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
}

#[test]
fn a_step_of_somebody_else_is_refused_by_every_tool() {
    let calls = [
        ("workflow_transition", json!({"target_state": "fill", "summary": "s"})),
        ("signal_back", json!({"signal": "complete", "summary": "s"})),
        ("workflow_step", json!({"action": "status"})),
        ("workflow_update_snapshot", json!({"data": "a finding"})),
        ("workflow_ask", json!({"question": "q"})),
        ("workflow_status", json!({})),
    ];
    for (tool, mut arguments) in calls {
        arguments["stepId"] = json!("a99");
        let answer = one(tool, &arguments);
        assert!(answer.starts_with("refused: `stepId` is `a99`"), "{tool}: {answer}");
    }
}

#[test]
fn a_phase_is_not_left_as_done_by_one_who_says_that_it_is_not() {
    let left = |status: &str| {
        let arguments = json!({"target_state": "fill", "summary": "s", "operationStatus": status});
        one("workflow_transition", &arguments)
    };
    assert!(left("done").starts_with("accepted"));
    expect!["refused: `operationStatus` is `blocked`, and `workflow_transition` leaves a phase that is done: use `signal_back`"].assert_eq(&left("blocked"));
}

#[test]
fn a_phase_that_asks_for_a_verdict_is_not_left_by_help() {
    let workflow = "{name: V, phases: {judge: {on: {pass: fill, fail: judge}}, fill: {}}}";
    let help = |resume: bool| {
        let mut world = World::started(workflow, "");
        let arguments = json!({"signal": "needs-role-followup", "targetRole": "mender", "reason": "r", "context": "c", "resume": resume});
        call(&mut world, "r1", "signal_back", &arguments)
    };
    expect!["refused: `judge` is left by a verdict, and that is yours to give: say `resume: true`, and send your verdict when the help is done"]
        .assert_eq(&help(false));
    assert!(help(true).starts_with("accepted"));
}
