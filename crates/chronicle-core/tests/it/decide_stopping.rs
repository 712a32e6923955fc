//! From the moment an attempt is to stop, it may call nothing and say nothing, however long its processes live.

use chronicle_core::base::ids::{AttemptId, PhaseId, Place};
use chronicle_core::definition::workflow::Budget;
use chronicle_core::event::input::{Answer, AttemptReport, Command, Input, Report, TimerKind};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Break, Event, Issues, Question, SnapshotUpdate, Verdict};
use chronicle_core::state::{Standing, Status};
use chronicle_core::view;
use expect_test::expect;

use crate::world::{World, about, calls, person, report, signal};

const WORKFLOW: &str = "{name: S, budget: {tokens: 1000}, phases: {dig: {limits: {repeats: 2}, next: [fill]}, fill: {}}}";

const A1: AttemptId = AttemptId(1);

/// Everything that ends an attempt from outside, each with its name.
fn stops() -> Vec<(&'static str, Vec<Input>)> {
    let fired = |timer| report(Report::TimerFired { attempt: A1, timer });
    let usage = AttemptReport::Usage {
        scope: chronicle_core::base::usage::Scope::Message("m1".to_owned()),
        usage: chronicle_core::base::usage::Usage { input: 2_000, ..Default::default() },
    };
    // Whoever runs a tool may be silent.
    let ended = about(A1, AttemptReport::ToolEnded { call: "before".to_owned(), ok: true });
    let again = |n: u32| about(A1, calls(&format!("again{n}"), "read", "a"));
    vec![
        ("cancel", vec![person(Command::Cancel { reason: String::new() })]),
        ("pause", vec![person(Command::Pause { reason: String::new() })]),
        ("go", vec![person(Command::Go { place: Place::new("fill"), note: String::new() })]),
        ("timeout", vec![fired(TimerKind::Timeout)]),
        ("standstill", vec![fired(TimerKind::Standstill)]),
        ("time", vec![fired(TimerKind::Budget)]),
        ("tool", vec![fired(TimerKind::Tool)]),
        ("idle", vec![ended, about(A1, AttemptReport::Idle)]),
        ("tokens", vec![about(A1, usage)]),
        ("circle", vec![again(1), again(2), again(3)]),
    ]
}

fn stopped(by: &[Input]) -> World {
    let mut world = World::started(WORKFLOW, "");
    world.step(&about(A1, AttemptReport::Session("s1".into())));
    world.step(&about(A1, calls("before", "bash", "ls")));
    for input in by {
        world.step(input);
    }
    world
}

#[test]
fn every_call_is_denied() {
    let mut told = String::new();
    for (name, by) in stops() {
        let mut world = stopped(&by);
        for (id, tool) in [("c1", "bash"), ("c2", "read"), ("c3", "workflow_step"), ("c3", "bash")]
        {
            let answer = world.step(&about(A1, calls(id, tool, "new")));
            let Answer::Stopped(why) = answer else {
                panic!("after {name}, `{tool}`: {answer:?}");
            };
            if id == "c1" {
                told.extend([name, ": ", &why, "\n"]);
            }
        }
        let allowed = |event: &&Event| matches!(event, Event::ToolCalled(it) if it.verdict == Verdict::Allowed);
        let late = world.lines.iter().rev().take(4).flat_map(|line| &line.events);
        assert_eq!(late.filter(allowed).count(), 0, "after {name}");
        // What was allowed before the stop is not allowed again.
        let answer = world.step(&about(A1, calls("before", "bash", "ls")));
        assert!(matches!(answer, Answer::Stopped(_)), "after {name}: {answer:?}");
    }
    expect![[r#"
        cancel: the run was cancelled. Nothing was done, and nothing more will be: end your turn now
        pause: the run was paused. Nothing was done, and nothing more will be: end your turn now
        go: a person sent the run elsewhere. Nothing was done, and nothing more will be: end your turn now
        timeout: this attempt is being stopped: it took longer than the phase allows. Nothing was done, and nothing more will be: end your turn now
        standstill: this attempt is being stopped: it made no progress. Nothing was done, and nothing more will be: end your turn now
        time: this attempt is being stopped: its budget allows no more work. Nothing was done, and nothing more will be: end your turn now
        tool: this attempt is being stopped: one of its tool calls took longer than the phase allows. Nothing was done, and nothing more will be: end your turn now
        idle: this attempt is being stopped: it printed nothing for too long. Nothing was done, and nothing more will be: end your turn now
        tokens: this attempt is being stopped: its budget allows no more work. Nothing was done, and nothing more will be: end your turn now
        circle: this attempt is being stopped: it repeated the same call without progress. Nothing was done, and nothing more will be: end your turn now
    "#]]
    .assert_eq(&told);
}

fn signals() -> Vec<Signal> {
    let question = Question {
        question: "which?".to_owned(),
        options: Vec::new(),
        context: String::new(),
        closed: false,
    };
    let update = SnapshotUpdate { findings: vec!["late".to_owned()], ..Default::default() };
    let target = Some(PhaseId::from("fill"));
    vec![
        Signal::Status,
        Signal::Malformed("nonsense".to_owned()),
        Signal::Leave {
            target,
            outcome: None,
            summary: "late".to_owned(),
            task: None,
            issues: Issues::default(),
        },
        Signal::Loop { summary: "late".to_owned() },
        Signal::Cancel { summary: "late".to_owned() },
        Signal::Break(Break::Continue { progress: "late".to_owned(), point: "p".to_owned() }),
        Signal::Snapshot(update),
        Signal::Ask(question),
    ]
}

#[test]
fn every_signal_is_refused_and_changes_nothing() {
    for (name, by) in stops() {
        let mut world = stopped(&by);
        for (index, sent) in signals().into_iter().enumerate() {
            let answer = world.step(&signal(A1, &format!("r{index}"), sent.clone()));
            assert!(matches!(answer, Answer::Refused(_)), "after {name}, {sent:?}: {answer:?}");
        }
        let attempt = world.state.attempt(A1).unwrap();
        assert!(!attempt.is_leaving(), "after {name}");
        assert!(!attempt.cancel_asked, "after {name}");
        assert!(world.state.snapshot.is_empty(), "after {name}");
        assert!(world.state.open_gates().next().is_none(), "after {name}");
    }
}

#[test]
fn a_signal_that_was_accepted_before_the_stop_keeps_its_answer() {
    let mut world = stopped(&[]);
    let leave = Signal::Leave {
        target: Some(PhaseId::from("fill")),
        outcome: None,
        summary: "dug".to_owned(),
        task: None,
        issues: Issues::default(),
    };
    let first = world.step(&signal(A1, "r1", leave.clone()));
    assert!(matches!(first, Answer::Accepted(_)), "{first:?}");
    world.step(&person(Command::Pause { reason: String::new() }));
    assert_eq!(world.step(&signal(A1, "r1", leave)), first);
}

#[test]
fn a_raise_opens_the_gate_for_the_next_attempt_only() {
    let (_, by) = stops().into_iter().find(|(name, _)| *name == "tokens").unwrap();
    let mut world = stopped(&by);
    let more = Budget { tokens: Some(5_000), ..Budget::default() };
    world.step(&person(Command::Budget { place: None, more }));
    let answer = world.step(&about(A1, calls("c1", "read", "a")));
    assert!(matches!(answer, Answer::Stopped(_)), "{answer:?}");
}

#[test]
fn a_run_that_is_stopped_is_ending_until_nothing_works_any_more() {
    for name in ["cancel", "pause"] {
        let (_, by) = stops().into_iter().find(|(stop, _)| *stop == name).unwrap();
        let world = stopped(&by);
        assert_eq!(world.state.status(), Status::Ending, "{name}");
        let shown = view::run(&world.state, true).unwrap();
        assert_eq!((shown.status, shown.working[0].stopping), (Standing::Ending, true), "{name}");
        assert!(shown.goes_on);
    }
    let (_, by) = stops().into_iter().find(|(stop, _)| *stop == "timeout").unwrap();
    let world = stopped(&by);
    assert_eq!(view::run(&world.state, true).unwrap().status, Standing::Running);
    assert!(view::run(&world.state, true).unwrap().working[0].stopping);
    assert_eq!(view::run(&world.state, false).unwrap().status, Standing::Interrupted);
}
