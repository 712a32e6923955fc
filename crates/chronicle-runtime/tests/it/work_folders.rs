//! A run that works in a folder other than the project's own. None is made yet, so nothing may happen there, nor in the project.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::sync::mpsc::sync_channel;

use chronicle_core::base::ids::{FolderId, FramePath, PhaseId};
use chronicle_core::event::carried::{Carried, CarriedFrame};
use chronicle_core::event::input::{Answer, Command};
use chronicle_core::event::{CrashClass, End, Event};
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::driver::{Finish, Rest};
use chronicle_runtime::for_tests::ledger::{Folder, Head, Ledger};
use chronicle_runtime::handle::{self, Project};

use crate::hosted::asker;
use crate::world::start;

fn at(phase: &str) -> Carried {
    let root = CarriedFrame {
        frame: FramePath::root(),
        at: None,
        step: None,
        folder: FolderId::Work(3),
        workflow: "main".to_owned(),
        phase: PhaseId::from(phase),
        inside: false,
        task: None,
        summary: String::new(),
        said: String::new(),
        plan: None,
    };
    Carried { frames: vec![root], ..Carried::default() }
}

/// Drives a run that begins at that phase in a work folder; returns its state and events.
fn driven(phase: &str) -> (State, Vec<Event>) {
    const WORKFLOW: &str =
        "{name: W, phases: {ask: {next: [run]}, run: {run: command, commands: [touch here]}}}";
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("script.yaml"), "attempts: []\n").unwrap();
    let mut begins = start(WORKFLOW);
    begins.carried = Some(Box::new(at(phase)));
    let folder = handle::new_run(&Project::at(root.path()), begins.run.clone()).unwrap();
    let (updates, _heard) = sync_channel(handle::UPDATES_MAX);
    let command = Command::Start(Box::new(begins));
    let (driven, answer) =
        handle::drive(&folder, &asker(), command, Rest::AtGates, updates).unwrap();
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    assert_eq!(driven.join().unwrap(), Finish::Rests(Status::Waiting));
    assert!(!root.path().join("here").exists(), "it ran in the person's folder");
    let (mut state, mut events) = (State::default(), Vec::new());
    for line in Folder::new(folder.path).read(Head::EMPTY).unwrap() {
        let (line, _) = line.unwrap();
        state.apply(&line);
        events.extend(line.events);
    }
    (state, events)
}

#[test]
fn an_attempt_in_a_folder_that_is_not_there_cannot_start() {
    const WHY: &str =
        "work folder w3 of this run does not exist: it is made again if its step begins again";
    const NO_RULES: &str = "the rules of this run cannot be used: ";
    for phase in ["ask", "run"] {
        let (state, events) = driven(phase);
        assert!(!state.attempts.is_empty());
        for attempt in state.attempts.iter() {
            assert_eq!(attempt.intent.folder, FolderId::Work(3));
            let Some((End::Crashed(crash), _)) = &attempt.ended else { panic!("{attempt:?}") };
            let why = crash.text.strip_prefix(NO_RULES).unwrap_or(&crash.text);
            assert_eq!((crash.class, why), (CrashClass::CannotStart, WHY));
        }
        let missed = events.iter().filter_map(|event| match event {
            Event::TreeMissed { folder, why, .. } => Some((*folder, why.as_str())),
            _ => None,
        });
        let missed: Vec<_> = missed.collect();
        assert!(!missed.is_empty());
        assert!(missed.iter().all(|it| *it == (FolderId::Work(3), WHY)), "{missed:?}");
    }
}
