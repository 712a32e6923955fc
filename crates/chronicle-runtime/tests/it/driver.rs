//! The order of the driver's step: decide → append → sync → answer, show, perform; and how a drive ends.

use std::sync::mpsc::{Receiver, sync_channel};

use chronicle_core::base::ids::{AttemptId, GateId};
use chronicle_core::event::Event;
use chronicle_core::event::input::{Answer, AttemptReport, Command, Input, Report};
use chronicle_core::state::effect::Effect;
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::driver::{
    Finish, INBOX_MAX, InboxMessage, Rest, Run, World, drive,
};
use chronicle_runtime::for_tests::ledger::{Folder, Head, Ledger, LedgerError};
use chronicle_testkit::Memory;
use expect_test::expect;

use crate::driver_stories::{STORIES, TWO};
use crate::world::{Story, introduction, person, reported, start, who};
use crate::world_log::{Log, Recorded, Recorder};
use crate::world_moves::calls;

#[test]
fn a_decision_is_on_disk_before_anybody_hears_of_it() {
    let mut story = Story::new(TWO, "plan: tool read; go build\nbuild: go done");
    let ledger = Recorded { ledger: Memory::new(), log: story.log.clone() };
    story.play(&ledger).unwrap();
    expect![[r#"
        append 1
        append 2
        sync
        show 1 2
        answer first: Accepted("started")
        answer first: Noted
        append 3
        sync
        show 3
        answer tree: Noted
        perform a1
        append 4
        sync
        show 4
        answer a1: Verdict(Allowed)
        append 5
        sync
        show 5
        answer a1: Accepted("accepted: leaving for `build`. End your turn now.")
        append 6
        sync
        show 6
        answer a1: Noted
        append 7
        sync
        show 7
        answer tree: Noted
        perform a2
        append 8
        sync
        show 8
        answer a2: Accepted("accepted: the work is done. End your turn now.")
        append 9
        sync
        show 9
        answer a2: Noted
        append 10
        sync
        show 10
        answer tree: Noted
        quiet 10
    "#]]
    .assert_eq(&story.log.text());
}

#[test]
fn no_story_has_an_answer_a_show_or_an_effect_before_its_sync() {
    for (name, workflow, script) in STORIES {
        let mut story = Story::new(workflow, script);
        let ledger = Recorded { ledger: Memory::new(), log: story.log.clone() };
        story.play(&ledger).unwrap();
        let mut unsynced = None;
        let (mut appends, mut shown) = (0, 0);
        for entry in story.log.entries() {
            match entry.split(' ').next().unwrap() {
                "append" => {
                    unsynced = Some(entry);
                    appends += 1;
                }
                "sync" => unsynced = None,
                word => {
                    assert_eq!(unsynced, None, "{name}: `{entry}` came before its sync");
                    shown += if word == "show" { entry.split(' ').count() - 1 } else { 0 };
                }
            }
        }
        assert_eq!(shown, appends, "{name}: each line is shown once");
    }
}

/// A world in which nothing ever happens.
struct Still;

impl World for Still {
    fn reconcile(&mut self, _: &State, _: &[Effect]) -> Vec<Input> {
        Vec::new()
    }

    fn is_idle(&self) -> bool {
        true
    }
}

/// A world that is done for: it must not be asked for anything.
struct Closed;

impl World for Closed {
    fn reconcile(&mut self, state: &State, _: &[Effect]) -> Vec<Input> {
        panic!("asked what to perform after line {}", state.seq);
    }

    fn is_idle(&self) -> bool {
        panic!("asked whether it is idle");
    }
}

fn asked(input: Input) -> (InboxMessage, Receiver<Answer>) {
    let (reply, answer) = sync_channel(1);
    (InboxMessage::Input(Box::new(input), Some(reply)), answer)
}

fn told(input: Input) -> InboxMessage {
    InboxMessage::Input(Box::new(input), None)
}

fn started(workflow: &str) -> InboxMessage {
    told(person(Command::Start(Box::new(start(workflow)))))
}

fn tool(number: usize) -> Input {
    let what = calls(&format!("c{number}"), "read", "");
    reported(Report::Attempt { attempt: AttemptId(1), active_ms: 1, what })
}

#[test]
fn inputs_that_wait_share_one_sync_and_are_answered_after_it() {
    let (memory, log) = (Memory::new(), Log::default());
    let ledger = Recorded { ledger: memory, log: log.clone() };
    let mut run = Run::open(&ledger, who(), None).unwrap();
    let (inbox, messages) = sync_channel(INBOX_MAX);
    for number in 0..5 {
        inbox.send(log.asked(&format!("c{number}"), tool(number))).unwrap();
    }
    inbox.send(InboxMessage::Quit).unwrap();
    let mut watch = Recorder(log.clone());
    let finish =
        drive(&mut run, vec![started(TWO)], Rest::AtGates, &messages, &mut Still, &mut watch)
            .unwrap();
    log.settle();
    assert_eq!(finish, Finish::Quit);
    expect![[r#"
        append 1
        sync
        show 1
        append 2
        append 3
        append 4
        append 5
        append 6
        sync
        show 2 3 4 5 6
        answer c0: Verdict(Allowed)
        answer c1: Verdict(Allowed)
        answer c2: Verdict(Allowed)
        answer c3: Verdict(Allowed)
        answer c4: Verdict(Allowed)
        quiet 6
    "#]]
    .assert_eq(&log.text());
}

#[test]
fn a_batch_has_its_limit_and_the_rest_comes_next() {
    let (memory, log) = (Memory::new(), Log::default());
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (inbox, messages) = sync_channel(INBOX_MAX);
    for number in 0..600 {
        inbox.send(told(tool(number))).unwrap();
    }
    inbox.send(InboxMessage::Quit).unwrap();
    let mut watch = Recorder(log.clone());
    drive(&mut run, vec![started(TWO)], Rest::AtGates, &messages, &mut Still, &mut watch).unwrap();
    let shows = log.entries().into_iter().filter(|entry| entry.starts_with("show"));
    let sizes: Vec<usize> = shows.map(|entry| entry.split(' ').count() - 1).collect();
    assert_eq!(sizes, [1, 256, 256, 88]);
    assert_eq!(run.state().seq, 601);
    assert_eq!(run.state().attempt(AttemptId(1)).unwrap().tools, 600);
}

#[test]
fn a_refused_command_is_answered_and_leaves_no_line() {
    let (memory, log) = (Memory::new(), Log::default());
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (_, messages) = sync_channel(1);
    let mut watch = Recorder(log.clone());
    let first = vec![started(TWO), InboxMessage::Quit];
    drive(&mut run, first, Rest::AtGates, &messages, &mut Closed, &mut watch).unwrap();
    let (bytes, head) = (memory.bytes(), run.head());

    let commands = [
        Command::Start(Box::new(start(TWO))),
        Command::Approve { gate: Some(GateId(1)), note: String::new(), scope: None },
        Command::Reject { gate: None, note: "no".to_owned() },
        Command::Retry { place: None, note: String::new(), agent: None, from: None },
    ];
    let (mut batch, answers): (Vec<_>, Vec<_>) =
        commands.map(|command| asked(person(command))).into_iter().unzip();
    batch.push(InboxMessage::Quit);
    drive(&mut run, batch, Rest::AtGates, &messages, &mut Closed, &mut watch).unwrap();

    let answers: Vec<Answer> = answers.iter().map(|answer| answer.try_recv().unwrap()).collect();
    expect![[r#"
        [
            Refused(
                "this run has started already",
            ),
            Refused(
                "there is no gate g1, and nothing is being asked",
            ),
            Refused(
                "nothing is being asked",
            ),
            Refused(
                "no place waits for a person",
            ),
        ]
    "#]]
    .assert_debug_eq(&answers);
    assert_eq!((memory.bytes(), run.head()), (bytes, head));
    let shows = log.entries().iter().filter(|entry| entry.starts_with("show")).count();
    assert_eq!(shows, 1, "only the start was shown:\n{}", log.text());
}

#[test]
fn quit_stops_at_once_and_what_came_with_it_is_kept_and_answered() {
    let (memory, log) = (Memory::new(), Log::default());
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (_inbox, messages) = sync_channel(1);
    let (before, answer_before) = asked(tool(1));
    let (after, answer_after) = asked(tool(2));
    let first = vec![started(TWO), before, InboxMessage::Quit, after];
    let mut watch = Recorder(log.clone());
    let finish = drive(&mut run, first, Rest::AtGates, &messages, &mut Closed, &mut watch).unwrap();
    assert_eq!(finish, Finish::Quit);
    for answer in [answer_before, answer_after] {
        assert!(matches!(answer.try_recv(), Ok(Answer::Verdict(_))));
    }
    assert_eq!(log.text(), "show 1 2 3\nquiet 3\n", "the watcher hears of every stop");
}

#[test]
fn a_driver_that_nobody_can_reach_quits() {
    let memory = Memory::new();
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (inbox, messages) = sync_channel(1);
    drop(inbox);
    let mut watch = Recorder(Log::default());
    let finish =
        drive(&mut run, vec![started(TWO)], Rest::AtGates, &messages, &mut Still, &mut watch)
            .unwrap();
    assert_eq!(finish, Finish::Quit);
    assert_eq!(run.state().status(), Status::Running, "it is interrupted, not over");
}

#[test]
fn what_the_world_reports_at_once_needs_no_queue() {
    struct AtOnce;
    impl World for AtOnce {
        fn reconcile(&mut self, state: &State, _: &[Effect]) -> Vec<Input> {
            let over = state.live.is_empty();
            let cancel = Command::Cancel { reason: String::new() };
            let stopped =
                chronicle_core::event::input::EndSeen { stopped: true, ..Default::default() };
            let what = AttemptReport::Ended(stopped);
            let end = Report::Attempt { attempt: AttemptId(1), active_ms: 0, what };
            if over { Vec::new() } else { vec![person(cancel), reported(end)] }
        }

        fn is_idle(&self) -> bool {
            true
        }
    }
    let (memory, log) = (Memory::new(), Log::default());
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (_inbox, messages) = sync_channel(1);
    let mut watch = Recorder(log.clone());
    let finish =
        drive(&mut run, vec![started(TWO)], Rest::AtGates, &messages, &mut AtOnce, &mut watch)
            .unwrap();
    assert_eq!(finish, Finish::Rests(Status::Cancelled));
    assert_eq!(log.text(), "show 1\nshow 2 3\nquiet 3\n");
}

#[test]
fn one_that_rests_at_once_leaves_what_goes_on_to_others() {
    let (memory, log) = (Memory::new(), Log::default());
    let mut run = Run::open(&memory, who(), None).unwrap();
    let (_inbox, messages) = sync_channel(1);
    let mut watch = Recorder(log.clone());
    let (start, answer) = asked(person(Command::Start(Box::new(start(TWO)))));
    let finish =
        drive(&mut run, vec![start], Rest::AtOnce, &messages, &mut Still, &mut watch).unwrap();
    assert_eq!(finish, Finish::Rests(Status::Running));
    assert_eq!(answer.try_recv().unwrap(), Answer::Accepted("started".to_owned()));
    assert_eq!(log.text(), "show 1\nquiet 1\n");
}

#[test]
fn an_idle_driver_sees_that_it_was_fenced() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::new();
    let on_disk = Folder::create(folder.path().join("run")).unwrap();
    let ledgers: [&dyn Ledger; 2] = [&memory, &on_disk];
    for ledger in ledgers {
        let log = Log::default();
        let mut run = Run::open(ledger, who(), None).unwrap();
        let (_inbox, messages) = sync_channel(1);
        let mut watch = Recorder(log.clone());
        drive(
            &mut run,
            vec![started(TWO), InboxMessage::Quit],
            Rest::AtGates,
            &messages,
            &mut Closed,
            &mut watch,
        )
        .unwrap();
        ledger.force().unwrap();
        let error = drive(&mut run, Vec::new(), Rest::AtGates, &messages, &mut Still, &mut watch)
            .unwrap_err();
        assert!(matches!(error, LedgerError::Fenced { .. }), "{error}");
        let lines = ledger.read(Head::EMPTY).unwrap().count();
        assert_eq!(lines, 1);
    }
}

#[test]
fn a_torn_tail_is_told_before_anything_else() {
    let memory = Memory::new();
    let mut story = Story::new(TWO, "plan: go build\nbuild: go done");
    story.play(&memory).unwrap();
    let mut bytes = memory.bytes();
    let tail = bytes[..40].to_vec();
    bytes.extend_from_slice(&tail);
    let torn = Memory::new();
    torn.replace(bytes);
    let run = Run::open(&torn, who(), None).unwrap();
    let said = introduction(&run, false, false);
    let whole = memory.read(Head::EMPTY).unwrap().count();
    let file = format!("torn-{}.txt", whole + 1);
    assert_eq!(said[0], reported(Report::TailSetAside { bytes: 40, file: file.clone() }));
    assert_eq!(said.len(), 2, "{said:?}");
    drop(run);

    torn.replace([memory.bytes(), tail.clone()].concat());
    story.play(&torn).unwrap();
    let lines: Vec<_> = torn.read(Head::EMPTY).unwrap().map(|line| line.unwrap().0).collect();
    assert_eq!(lines[whole].events, [Event::TailSetAside { bytes: 40, file: file.clone() }]);
    assert!(matches!(lines[whole + 1].events[..], [Event::SupervisorStarted(_)]));
    assert_eq!(torn.set_aside(&file), Some(tail));
}
