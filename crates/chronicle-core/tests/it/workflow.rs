//! Workflow files: what they become.

#![expect(clippy::expect_used, reason = "a helper of a test may fail it")]

use std::fmt::Write as _;

use chronicle_core::base::ids::{Outcome, PhaseId};
use chronicle_core::base::limits::{Limits, LoopCount, LoopLimit};
use chronicle_core::definition::workflow::{
    Approval, Loaded, Phase, PhaseKind, Source, Workflow, load,
};

fn source(key: &str, text: &str) -> Source {
    Source { file: None, name: format!("{key}.yaml"), key: key.to_owned(), text: text.to_owned() }
}

pub(crate) fn load_with(text: &str, others: &[(&str, &str)]) -> Loaded {
    load(source("w", text), &mut |key| {
        others.iter().find(|(name, _)| *name == key).map(|(name, text)| source(name, text))
    })
}

/// A workflow about which there is nothing to tell.
fn sound(text: &str) -> Workflow {
    let loaded = load_with(text, &[]);
    assert_eq!(rendered(&loaded), "");
    loaded.workflows.into_iter().next().expect("a workflow")
}

pub(crate) fn problems(text: &str) -> String {
    rendered(&load_with(text, &[]))
}

pub(crate) fn rendered(loaded: &Loaded) -> String {
    loaded.problems.iter().fold(String::new(), |mut all, problem| {
        writeln!(all, "{problem}").expect("a string takes it");
        all
    })
}

fn phase<'w>(workflow: &'w Workflow, id: &str) -> &'w Phase {
    workflow.phase(&PhaseId::from(id)).expect("the phase")
}

fn next(workflow: &Workflow, id: &str) -> Vec<String> {
    phase(workflow, id).next.iter().map(ToString::to_string).collect()
}

#[test]
fn a_full_file_says_all_of_it() {
    let text = include_str!("data/workflows/native/full.yaml");
    let loaded = load(source("feature", text), &mut |key| Some(source(key, "phases: {look: }")));
    assert_eq!(rendered(&loaded), "");
    assert!(loaded.is_usable());
    let keys: Vec<&str> = loaded.workflows.iter().map(|workflow| workflow.key.as_str()).collect();
    assert_eq!(keys, ["feature", "review"]);
    let expected: serde_json::Value =
        serde_json::from_str(include_str!("data/workflows/native/full.json")).expect("it is JSON");
    assert_eq!(serde_json::to_value(&loaded.workflows[0]).expect("it is JSON"), expected);
}

#[test]
fn defaults_are_written_out() {
    let workflow = sound("phases: [{id: only}]");
    assert_eq!(workflow.name, "w");
    assert_eq!(workflow.initial, PhaseId::from("only"));
    assert_eq!(workflow.limits, Limits::default());
    assert_eq!(workflow.phases, [Phase::new(PhaseId::from("only"), Limits::default())]);
    let json = serde_json::to_value(&workflow.phases[0]).expect("it is JSON");
    assert_eq!(json["limits"]["idle_ms"], 600_000);
    assert_eq!(json["limits"]["losses"], 20);
}

#[test]
fn a_phase_overrides_the_workflow_and_the_workflow_the_default() {
    let workflow = sound(
        "limits: {loop: 7, idle: 90, nudges: 0}\n\
         phases: [{id: a, limits: {loop: {count: edge}, timeout: 500ms}}, {id: b, timeout_minutes: 1.5}]",
    );
    let (a, b) = (&phase(&workflow, "a").limits, &phase(&workflow, "b").limits);
    assert_eq!(a.loops, LoopLimit { count: LoopCount::Edge, max: 7, progress: None });
    assert_eq!((a.idle_ms, a.timeout_ms, a.nudges, a.retries), (Some(90_000), Some(500), 0, 2));
    assert_eq!(b.loops, LoopLimit { count: LoopCount::Pair, max: 7, progress: None });
    assert_eq!(b.timeout_ms, Some(90_000));
}

#[test]
fn a_list_a_map_and_json_say_the_same() {
    let list = sound(
        "initial: c
phases:
  - id: a
  - {id: b, on: {fail: a}, next: [c, d]}
  - {id: c, next: [a, done]}
  - id: d
",
    );
    let map = sound(
        "initial: c
states:
  a: {next: b}
  b: {on: {fail: a}, next: [c, d]}
  c: {next: [a, done]}
  d:
",
    );
    let json = sound(
        r#"{"initial": "c", "phases": {
	"a": {"next": ["b"]},
	"b": {"on": {"fail": "a"}, "next": ["c", "d"]},
	"c": {"next": ["a", "done"]}, "d": {"next": []}
}}"#,
    );
    assert_eq!(list, map);
    assert_eq!(list, json);
}

#[test]
fn a_list_goes_on_and_a_map_ends() {
    let list = sound("phases: [{id: a}, {id: b}]");
    assert_eq!((next(&list, "a"), next(&list, "b")), (vec!["b".to_owned()], vec![]));
    let map = load_with("phases: {a: {}, b: {}}", &[]);
    assert_eq!(next(&map.workflows[0], "a"), Vec::<String>::new());
    insta::assert_snapshot!(rendered(&map), @"warning[unreachable-phase] w.yaml:1:17: no edge leads to `b`");
}

#[test]
fn the_kind_follows_from_what_there_is_to_do() {
    let loaded = load_with(
        "phases: [{id: a, commands: make}, {id: b, workflow: sub}, {subworkflow: sub}, {run: workflow, workflow: other}]",
        &[("sub", "phases: {x: }"), ("other", "phases: {x: }")],
    );
    assert_eq!(rendered(&loaded), "");
    let kinds: Vec<_> =
        loaded.workflows[0].phases.iter().map(|phase| (phase.id.as_str(), phase.run)).collect();
    let workflow = PhaseKind::Workflow;
    let expected =
        [("a", PhaseKind::Command), ("b", workflow), ("sub", workflow), ("other", workflow)];
    assert_eq!(kinds, expected);
}

#[test]
fn approval_in_all_its_spellings() {
    let said = [
        ("approval: true", Approval::After),
        ("approval: false", Approval::None),
        ("approval: both", Approval::Both),
        ("requires_approval: true", Approval::Before),
        ("requires_approval: true, approval_mode: pre", Approval::Before),
        ("approval_mode: post", Approval::After),
        ("requires_approval: false, approval_mode: pre", Approval::None),
    ];
    for (fields, approval) in said {
        let workflow = sound(&format!("phases: [{{id: a, {fields}}}]"));
        assert_eq!(phase(&workflow, "a").approval, approval, "{fields}");
    }
}

#[test]
fn outcomes_of_its_own_are_known() {
    let workflow =
        sound("phases: [{id: a, outcomes: later, on: {later: done, stuck: human_intervention}}]");
    let on = &phase(&workflow, "a").on;
    assert_eq!(on[&Outcome::from("later")], PhaseId::from("done"));
    assert_eq!(on[&Outcome::from("stuck")], PhaseId::from("human_intervention"));
}
