//! No text of a command is recorded with a secret in it: each text of each command gets one, and is redacted.

use std::collections::BTreeMap;

use chronicle_core::base::ids::{
    AttemptId, FolderId, FramePath, GateId, Outcome, PhaseId, StepId, TreeId,
};
use chronicle_core::base::redact::Redactor;
use chronicle_core::definition::workflow::Budget;
use chronicle_core::event::carried::{Carried, CarriedEdge, CarriedFrame, CarriedVisit};
use chronicle_core::event::input::Command;
use chronicle_core::event::signal::Signal;
use chronicle_core::event::snapshot::Snapshot;
use chronicle_core::event::{LedgerRepaired, RunStarted};
use serde_json::{Value, json};

/// Names, ids and definitions, by the fields of any command. Everything else is text.
const NAMES: [&str; 26] = [
    "agent",
    "at",
    "file",
    "frame",
    "from",
    "gate",
    "host",
    "is",
    "model",
    "outcome",
    "personas",
    "phase",
    "place",
    "project",
    "request",
    "run",
    "source",
    "step",
    "to",
    "unenforced",
    "version",
    "who",
    "workflow",
    "workflows",
    "on_gate",
    "back",
];

fn secret() -> String {
    format!("it says ghp_{}", "aB3dE6gH9".repeat(4))
}

fn text() -> String {
    "text".to_owned()
}

/// Every field is named and filled: a new one has to be added here.
fn carried() -> Box<Carried> {
    let (root, phase) = (FramePath::root(), PhaseId::new("a"));
    let place = root.place(&phase);
    let custom = json!({"deep": [{"name": text(), "id": text()}], "session": text()});
    let custom: BTreeMap<String, Value> = serde_json::from_value(custom).unwrap();
    Box::new(Carried {
        frames: vec![CarriedFrame {
            frame: root.clone(),
            at: Some(place.clone()),
            step: Some(StepId::new("s")),
            folder: FolderId::Project,
            workflow: text(),
            phase: phase.clone(),
            inside: false,
            task: Some(text()),
            summary: text(),
            said: text(),
            plan: None,
        }],
        snapshot: Snapshot {
            findings: vec![text()],
            pending: vec![text(), text()],
            done: vec![text()],
            files: vec![text()],
            custom,
        },
        edges: vec![CarriedEdge { frame: root, from: phase.clone(), to: phase.clone(), taken: 1 }],
        visits: vec![CarriedVisit {
            place,
            to: phase,
            outcome: Outcome::from("x"),
            summary: text(),
        }],
    })
}

fn start() -> Box<RunStarted> {
    let start = json!({
        "run": "r", "task": text(), "who": "w", "project": "/p", "agent": "a", "model": "m", "workflows": [], "source": "s",
        "version": "1", "carried": carried(),
    });
    Box::new(serde_json::from_value(start).unwrap())
}

/// One command of each kind.
fn commands() -> Vec<Command> {
    let (gate, place) = (Some(GateId(1)), FramePath::root().place(&PhaseId::new("a")));
    let at = Some(place.clone());
    let tree = || TreeId::new("0".repeat(40));
    let repaired = LedgerRepaired { why: text(), bytes: 1, file: Some(text()) };
    vec![
        Command::Start(start()),
        Command::Prepare(start()),
        Command::Pause { reason: text() },
        Command::Resume,
        Command::Cancel { reason: text() },
        Command::Approve { gate, note: text(), scope: None },
        Command::Reject { gate, note: text() },
        Command::Retry { place: at.clone(), note: text(), agent: Some(text()), from: Some(1) },
        Command::Skip { place: at.clone(), note: text() },
        Command::Answer { gate, text: text(), note: text() },
        Command::Title { text: text() },
        Command::Note { place: at.clone(), text: text() },
        Command::Budget { place: at.clone(), more: Budget::default() },
        Command::Loops { place: at, more: 1 },
        Command::GiveUp { place: place.clone(), note: text() },
        Command::Go { place, note: text() },
        Command::Undo { what: text(), from: tree(), to: tree(), back: None },
        Command::Merge { keep: true },
        Command::DropWork,
        Command::Repair(repaired),
        Command::Rewind { to: 1, carried: carried() },
    ]
}

/// Fails to compile for a new command: it goes into the list above. Signals are redacted before they are parsed.
fn is_listed(command: &Command) -> bool {
    match command {
        Command::Start(_)
        | Command::Prepare(_)
        | Command::Pause { .. }
        | Command::Resume
        | Command::Cancel { .. }
        | Command::GiveUp { .. }
        | Command::Approve { .. }
        | Command::Reject { .. }
        | Command::Retry { .. }
        | Command::Skip { .. }
        | Command::Answer { .. }
        | Command::Title { .. }
        | Command::Note { .. }
        | Command::Budget { .. }
        | Command::Loops { .. }
        | Command::Go { .. }
        | Command::Undo { .. }
        | Command::Merge { .. }
        | Command::DropWork
        | Command::Repair(_)
        | Command::Rewind { .. } => true,
        Command::Signal { .. } => false,
    }
}

/// Paths of all texts of a value, without names. Below `custom` nothing is a name.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                texts(item, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(fields) => {
            let is_text = |name: &str| path.contains("/custom") || !NAMES.contains(&name);
            for (name, field) in fields.iter().filter(|(name, _)| is_text(name)) {
                texts(field, &format!("{path}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn every_text_of_every_command_is_redacted() {
    let redactor = Redactor::new([]);
    let mut count = 0;
    for command in commands() {
        assert!(is_listed(&command));
        assert!(!command.clone().redact(&redactor), "it has none: {command:?}");
        let whole = serde_json::to_value(&command).unwrap();
        let mut paths = Vec::new();
        texts(&whole, "", &mut paths);
        count += paths.len();
        // One in each of them: the first that is found does not end the search.
        let mut all = whole.clone();
        for path in &paths {
            *all.pointer_mut(path).unwrap() = secret().into();
        }
        let mut all: Command = serde_json::from_value(all).unwrap();
        assert_eq!(all.redact(&redactor), !paths.is_empty());
        assert!(!serde_json::to_string(&all).unwrap().contains("ghp_"), "{all:?}");
        for path in paths {
            let mut told = whole.clone();
            *told.pointer_mut(&path).unwrap() = secret().into();
            let mut command: Command = serde_json::from_value(told).unwrap();
            assert!(command.redact(&redactor), "`{path}` of {command:?}");
            let written = serde_json::to_string(&command).unwrap();
            assert!(!written.contains("ghp_"), "`{path}` of {written}");
        }
    }
    assert!(count > 50, "texts were found: {count}");
    let signal = Signal::Cancel { summary: text() };
    assert!(!is_listed(&Command::Signal { attempt: AttemptId(1), request: text(), signal }));
}
