//! Attempts that the session which hosts the run performs, and not the supervisor.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::sync::mpsc::sync_channel;

use chronicle_core::base::ids::{AttemptId, RunId};
use chronicle_core::engine;
use chronicle_core::event::input::{Answer, AttemptReport, Command, EndSeen, Input, Report};
use chronicle_core::event::{End, Event, Performer};
use chronicle_core::state::effect::{Action, Effect};
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::driver::{Finish, Rest, Run, World, drive};
use chronicle_runtime::for_tests::effects::Both;
use chronicle_runtime::for_tests::ledger::{self, Folder, Head, Ledger};
use chronicle_runtime::handle::{self, Asker, Project, RunFolder};
use chronicle_testkit::Memory;

use crate::driver_stories::TWO;
use crate::world::{person, reported, same_tree, start, who};
use crate::world_log::{Log, Recorder};

/// Begins a run whose first attempt is a host's.
fn begin(ledger: &dyn Ledger) {
    let state = State::default();
    let input = person(Command::Start(Box::new(start(TWO))));
    let step = engine::step(&state, &input);
    let mut line = step.line.unwrap();
    for event in &mut line.events {
        if let Event::AttemptStarted(intent) = event {
            intent.performer = Performer::Host;
        }
    }
    let mut writer = ledger::open(ledger, who(), Head::EMPTY, |_| {}).unwrap();
    for body in &step.bodies {
        writer.put_artifact(body.as_bytes()).unwrap();
    }
    writer.append(1, &line).unwrap();
    writer.sync().unwrap();
}

/// Writes down what it is to perform, and performs it at once.
#[derive(Default)]
struct Side(Vec<String>);

impl World for Side {
    fn reconcile(&mut self, _: &State, due: &[Effect]) -> Vec<Input> {
        let perform = |effect: &Effect| match effect.action {
            Action::RunAttempt(_) => Some(person(Command::Pause { reason: String::new() })),
            Action::StopAttempt(attempt) => {
                let seen = EndSeen { stopped: true, ..EndSeen::default() };
                let what = AttemptReport::Ended(seen);
                Some(reported(Report::Attempt { attempt, active_ms: 1, what }))
            }
            Action::RecordTree(moment) => {
                Some(reported(Report::TreeRecorded(Box::new(same_tree(moment)))))
            }
            _ => None,
        };
        self.0.extend(due.iter().map(|effect| format!("{:?}", effect.action)));
        due.iter().filter_map(perform).collect()
    }

    fn is_idle(&self) -> bool {
        true
    }
}

#[test]
fn each_performer_hears_only_what_it_is_to_perform() {
    let memory = Memory::new();
    begin(&memory);
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (_inbox, messages) = sync_channel(1);
    let (mut supervisor, mut host) = (Side::default(), Side::default());
    let mut both = Both::new(&mut supervisor, &mut host);
    let mut watch = Recorder(Log::default());
    let finish = drive(&mut run, vec![], Rest::AtGates, &messages, &mut both, &mut watch).unwrap();
    assert_eq!(finish, Finish::Rests(Status::Paused));
    assert_eq!(
        supervisor.0,
        ["RecordTree(Before(AttemptId(1)))", "RecordTree(After(AttemptId(1)))"]
    );
    let (timers, acts): (Vec<String>, Vec<String>) =
        host.0.into_iter().partition(|it| it.starts_with("RunTimer"));
    assert_eq!(acts, ["RunAttempt(AttemptId(1))", "StopAttempt(AttemptId(1))"]);
    assert!(!timers.is_empty(), "what is timed of an attempt is its performer's too");
}

pub(crate) fn asker() -> Asker {
    let (who, command) = ("ann".to_owned(), "test".to_owned());
    Asker { who, command, chronicle: "/nowhere/chronicle".into(), signals: None, no_walls: false }
}

fn hosted(root: &std::path::Path) -> RunFolder {
    let run = start(TWO).run;
    let folder = handle::new_run(&Project::at(root), RunId::from(run.as_str())).unwrap();
    begin(&Folder::new(folder.path.clone()));
    folder
}

fn state_of(folder: &RunFolder) -> State {
    let mut state = State::default();
    for line in Folder::new(folder.path.clone()).read(Head::EMPTY).unwrap() {
        state.apply(&line.unwrap().0);
    }
    state
}

fn end_of(state: &State, id: u32) -> End {
    state.attempt(AttemptId(id)).unwrap().ended.clone().unwrap().0
}

#[test]
fn a_command_reports_a_hosted_attempt_as_lost() {
    let root = tempfile::tempdir().unwrap();
    let folder = hosted(root.path());
    let note = Command::Note { place: None, text: "later".to_owned() };
    let answer = handle::record(&folder, &asker(), note).unwrap();
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    assert_eq!(state_of(&folder).live.len(), 1, "it is to go on: that is for whoever drives it");
    let pause = Command::Pause { reason: String::new() };
    assert_eq!(
        handle::record(&folder, &asker(), pause).unwrap(),
        Answer::Accepted("paused".into())
    );
    let state = state_of(&folder);
    assert_eq!((end_of(&state, 1), state.status()), (End::Lost, Status::Paused));
}

#[test]
fn a_supervisor_without_a_host_starts_no_process_for_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = hosted(root.path());
    let (updates, _heard) = sync_channel(handle::UPDATES_MAX);
    let resume = Command::Resume;
    let (driven, _) = handle::drive(&folder, &asker(), resume, Rest::AtGates, updates).unwrap();
    assert_eq!(driven.join().unwrap(), Finish::Rests(Status::Waiting));
    let state = state_of(&folder);
    assert!(state.attempts.iter().all(|it| it.intent.performer == Performer::Host));
    assert!(
        (1..=state.attempts.len())
            .all(|id| end_of(&state, u32::try_from(id).unwrap()) == End::Lost)
    );
    assert!(!folder.keepers().exists() || folder.keepers().read_dir().unwrap().next().is_none());
}
