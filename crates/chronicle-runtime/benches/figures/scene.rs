//! What is measured: a workflow that goes round for ever, and workers that do what real ones do most.
//!
//! A turn of a real agent is, over and over, a tool call, its end, and a usage figure; now and then it leaves its phase.

use std::path::Path;

use chronicle_core::base::ids::{AttemptId, RunId};
use chronicle_core::base::time::Millis;
use chronicle_core::base::usage::{Scope, Usage};
use chronicle_core::definition::workflow::{Source, load};
use chronicle_core::event::input::{
    Actor, AttemptReport, By, Command, EndSeen, Input, Report, What,
};
use chronicle_core::event::signal::Signal;
use chronicle_core::event::{Call, Issues, RunStarted, ToolKind};
use chronicle_core::guard::Judgement;
use serde_json::{Value, json};

/// Rounds of tool call, end and usage in one attempt: an hour or two of a real agent.
pub(crate) const ROUNDS: u64 = 100;

const CIRCLE: &str = "
name: Circle
limits: {loop: {count: edge, max: 4000000}}
phases:
  implement: {instructions: Implement the plan, next: [review]}
  review: {instructions: Review the change, next: [implement]}
";

const THREE: &str = "
name: Feature
phases:
  plan: {instructions: Write the plan, next: [implement]}
  implement: {instructions: Implement the plan, next: [verify]}
  verify: {instructions: Check it, next: [done]}
";

/// The command that starts a run which never ends by itself.
pub(crate) fn start_circle() -> Input {
    start(CIRCLE)
}

/// The command that starts a run of three phases.
pub(crate) fn start_three() -> Input {
    start(THREE)
}

/// The command that starts a run of three phases with a real agent in a real folder.
pub(crate) fn start_command(run: RunId, project: &Path, agent: &str) -> Command {
    let (project, agent) = (project.display().to_string(), agent.to_owned());
    Command::Start(Box::new(RunStarted { run, project, agent, ..started(THREE) }))
}

fn start(text: &str) -> Input {
    let by = By { actor: Actor::Person("ann".to_owned()), request: None };
    Input { at: at(0), by, what: What::Command(Command::Start(Box::new(started(text)))) }
}

fn started(text: &str) -> RunStarted {
    let (name, key, text) = ("main.yaml".to_owned(), "main".to_owned(), text.to_owned());
    let loaded = load(Source { file: None, name: name.clone(), key, text }, &mut |_| None);
    assert!(loaded.is_usable(), "{:#?}", loaded.problems);
    RunStarted {
        run: RunId::from("01997f3a-0000-7000-8000-0000c0ffee01"),
        task: "Add a greeting that knows the time of the day".to_owned(),
        who: "ann".to_owned(),
        project: "/project".to_owned(),
        agent: "scripted:script.yaml".to_owned(),
        model: None,
        workflows: loaded.workflows,
        source: name,
        personas: Vec::new(),
        unenforced: Vec::new(),
        version: "bench".to_owned(),
        on_gate: None,
        isolated: false,
        keep_folders: false,
        apart: false,
        inputs: true,
        rules: None,
        walls: None,
        carried: None,
    }
}

/// The n-th thing that a live attempt does: a tool call, its end, or a usage figure.
pub(crate) fn work(attempt: u32, number: u64) -> Input {
    let round = number / 3;
    let call = format!("toolu_01{round:022x}");
    let what = match number % 3 {
        0 => {
            let call = Call::new(&call, "edit", &edit(round), &[]);
            AttemptReport::ToolCalled {
                call: Box::new(Call { kind: ToolKind::Edit, ..call }),
                judged: Judgement::Clear,
            }
        }
        1 => AttemptReport::ToolEnded { call, ok: true },
        _ => AttemptReport::Usage {
            scope: Scope::Message(format!("msg_01{round:022x}")),
            usage: Usage {
                input: 900 + round % 97,
                output: 120 + round % 31,
                cache_read: 41_000 + round,
                cache_write: 700,
                usd_micros: 19_000,
                ..Usage::default()
            },
        },
    };
    report(attempt, number, what)
}

fn edit(round: u64) -> Value {
    json!({
        "file_path": format!("src/module_{}/part_{round}.rs", round % 40),
        "old_string": "let hour = 12;",
        "new_string": "let hour = clock.hour();",
    })
}

/// A whole attempt: it names its session, works, ends its turn, leaves for `target`, and its process ends.
pub(crate) fn attempt(
    attempt: u32,
    rounds: u64,
    target: &str,
) -> impl Iterator<Item = Input> + use<> {
    let leave = Signal::Leave {
        target: Some(target.into()),
        outcome: None,
        summary: "the hour is read from the clock, and both halves of the day are tested"
            .to_owned(),
        task: None,
        issues: Issues::default(),
    };
    let signal = Command::Signal {
        attempt: AttemptId(attempt),
        request: "toolu_leave".to_owned(),
        signal: leave,
    };
    let session = format!("0b5e1c9a-0000-8000-8000-{attempt:012x}");
    let usage = Usage { input: 91_000, output: 12_000, usd_micros: 1_900_000, ..Usage::default() };
    let by = By { actor: Actor::Worker(AttemptId(attempt)), request: None };
    let ended = EndSeen { finished: true, code: Some(0), ..EndSeen::default() };
    let opening = report(attempt, 0, AttemptReport::Session(session.as_str().into()));
    let closing = [
        report(attempt, 3 * rounds, AttemptReport::Usage { scope: Scope::Turn, usage }),
        Input { at: at(3 * rounds), by, what: What::Command(signal) },
        report(attempt, 3 * rounds, AttemptReport::Ended(ended)),
    ];
    let working = (0..3 * rounds).map(move |number| work(attempt, number));
    std::iter::once(opening).chain(working).chain(closing)
}

/// Everything that is heard in a run of three phases, after its start.
pub(crate) fn three_phases() -> Vec<Input> {
    let targets = ["implement", "verify", "done"];
    (1..).zip(targets).flat_map(|(number, target)| attempt(number, 12, target)).collect()
}

/// Where the n-th attempt of a circle goes.
pub(crate) fn round_target(attempt: u32) -> &'static str {
    if attempt.is_multiple_of(2) { "implement" } else { "review" }
}

fn report(attempt: u32, number: u64, what: AttemptReport) -> Input {
    let by = By { actor: Actor::Supervisor, request: None };
    let (attempt, active_ms) = (AttemptId(attempt), 1_000 + 700 * number);
    let what = What::Report(Report::Attempt { attempt, active_ms, what });
    Input { at: at(number), by, what }
}

fn at(number: u64) -> Millis {
    Millis(1_794_709_850_123 + 700 * number)
}
