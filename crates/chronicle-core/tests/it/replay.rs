//! What came in is written down or told by the events, and every line is decided again (`World::step` does so with each of
//! every test).

use chronicle_core::base::ids::{AttemptId, Outcome, PhaseId};
use chronicle_core::engine::{self, Unlike};
use chronicle_core::event::input::{AttemptReport, Command, EndSeen, FinalText, What};
use chronicle_core::event::record::Line;
use chronicle_core::event::signal::Signal;
use chronicle_core::event::trees::Moment;
use chronicle_core::event::{Event, Issues, RunStarted};
use chronicle_core::state::State;

use crate::world::{World, about, calls, person, signal, start, tree, workflows};

const WORKFLOW: &str =
    "{name: R, phases: {plan: {next: [build]}, build: {approval: after, next: [done]}}}";

fn played() -> World {
    let script = "plan: tool read; usage 10; file a.rs; go build\nbuild: go done\ng1: approve";
    World::started(WORKFLOW, script).play()
}

/// The first line that is decided otherwise, and why.
fn replayed(lines: &[Line]) -> Result<u64, (u64, Unlike)> {
    let mut state = State::default();
    for line in lines {
        engine::decide_again(&state, line).map_err(|why| (line.seq, *why))?;
        state.apply(line);
    }
    Ok(state.seq)
}

/// A line as it is read again.
fn read(line: &Line) -> Line {
    serde_json::from_str(&serde_json::to_string(line).unwrap()).unwrap()
}

#[test]
fn a_run_is_decided_again_from_its_ledger_alone() {
    let world = played();
    let lines: Vec<Line> = world.lines.iter().map(read).collect();
    assert_eq!(replayed(&lines), Ok(world.state.seq));
    let written: Vec<&Line> = lines.iter().filter(|line| line.input.is_some()).collect();
    assert!(written.len() * 4 < lines.len(), "{written:#?}");
}

#[test]
fn a_line_that_comes_out_otherwise_is_named_with_what_would_follow() {
    let mut lines = played().lines;
    let is_call = |line: &Line| matches!(line.events[..], [Event::ToolCalled(_)]);
    let at = lines.iter().position(is_call).unwrap();
    let denied = chronicle_core::event::Verdict::Denied("not by this version".to_owned());
    let Event::ToolCalled(called) = &mut lines[at].events[0] else { panic!("no call") };
    let right = Event::ToolCalled(called.clone());
    called.verdict = denied;
    let differs = Unlike::Differs { events: vec![right] };
    assert_eq!(replayed(&lines), Err((lines[at].seq, differs)));
}

#[test]
fn a_run_that_was_begun_without_inputs_says_so() {
    let mut lines = played().lines;
    let Event::RunStarted(run) = &lines[0].events[0] else { panic!("no start") };
    let old = RunStarted { inputs: false, ..(**run).clone() };
    lines[0].events[0] = Event::RunStarted(old.into());
    assert_eq!(replayed(&lines), Err((1, Unlike::NoInputs)));
}

#[test]
fn inputs_are_recorded_even_if_the_caller_does_not_ask() {
    let mut world = World::new("");
    let begin = RunStarted { inputs: false, ..start(workflows(WORKFLOW)) };
    world.step(&person(Command::Start(Box::new(begin))));
    assert!(world.state.run.as_ref().is_some_and(|run| run.inputs));
    assert_eq!(world.lines[0].input, None);
}

#[test]
fn what_the_events_do_not_tell_is_written_and_the_summary_once() {
    let mut world = World::started(WORKFLOW, "");
    world.step(&tree(Moment::Before(AttemptId(1)), &[]));
    let (target, outcome) = (None, Some(Outcome::from("complete")));
    let (summary, task) = ("it is dug".to_owned(), None);
    let leave = Signal::Leave { target, outcome, summary, task, issues: Issues::default() };
    world.step(&signal(AttemptId(1), "r1", leave.clone()));
    let line = read(world.lines.last().unwrap());
    let text = serde_json::to_string(&line).unwrap();
    assert_eq!(text.matches("it is dug").count(), 1, "{text}");
    let request = "r1".to_owned();
    let what = Command::Signal { attempt: AttemptId(1), request, signal: leave };
    assert_eq!(line.what(), Some(What::Command(what)));

    let target = Some(PhaseId::from("nowhere"));
    let (outcome, summary) = (None, "lost".to_owned());
    let refused = Signal::Leave { target, outcome, summary, task: None, issues: Issues::default() };
    world.step(&signal(AttemptId(1), "r2", refused));
    let line = world.lines.last().unwrap();
    assert!(matches!(line.events[..], [Event::SignalRefused { .. }]), "{line:?}");
    assert!(serde_json::to_string(&line.input).unwrap().contains("lost"), "{line:?}");
}

/// What is decided on is what is written: no text longer than is kept, and no last words that nobody is told.
#[test]
fn what_came_in_is_bounded_before_it_is_decided_on() {
    let long = "x".repeat(100_000);
    let mut world = World::started(WORKFLOW, "");
    world.step(&tree(Moment::Before(AttemptId(1)), &[]));
    let call = calls(&long, &long, &long);
    world.step(&about(AttemptId(1), call));
    world.step(&signal(AttemptId(1), &long, Signal::Malformed(long.clone())));
    let seen = EndSeen {
        stderr: long.clone(),
        final_text: Some(Box::new(FinalText(long.clone()))),
        ..EndSeen::default()
    };
    world.step(&about(AttemptId(1), AttemptReport::Ended(seen)));
    world.step(&person(Command::Cancel { reason: long }));
    for line in &world.lines {
        let text = serde_json::to_string(line).unwrap();
        assert!(text.len() < 20_000, "line {} has {} bytes", line.seq, text.len());
    }
    assert_eq!(replayed(&world.lines), Ok(world.state.seq));
}
