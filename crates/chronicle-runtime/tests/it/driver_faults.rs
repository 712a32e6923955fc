//! A disk that fails: nothing of a decision that is not on disk is answered, shown or performed, and the run goes on
//! from what is there once the disk works again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_core::event::Event;
use chronicle_core::state::{State, Status};
use chronicle_runtime::for_tests::ledger::{Folder, Head, Ledger, LedgerError};
use chronicle_testkit::Memory;

use crate::driver_stories::{STORIES, TWO};
use crate::world::{Story, end_of};
use crate::world_log::{Log, Recorded};

const SCRIPT: &str = "plan: tool read; go nowhere; go build\nbuild: usage 5; go done";

/// A story on a disk that works: its end, and the bytes of its ledger.
fn whole(workflow: &str, script: &str) -> (String, Vec<u8>) {
    let memory = Memory::new();
    let state = Story::new(workflow, script).play(&memory).unwrap();
    assert_eq!(state.status(), Status::Done);
    (end_of(&state), memory.bytes())
}

/// The fold of its lines; whatever they name is there.
pub(crate) fn folded(ledger: &dyn Ledger) -> State {
    let mut state = State::default();
    for line in ledger.read(Head::EMPTY).unwrap() {
        let line = line.unwrap().0;
        for event in &line.events {
            let Event::AttemptStarted(intent) = event else { continue };
            let Some(handed) = &intent.handover else { continue };
            assert!(ledger.artifact(&handed.text.parse().unwrap()).is_ok(), "{}", intent.attempt);
        }
        state.apply(&line);
    }
    state
}

/// After the failure nobody hears of anything any more, and all that anybody heard of is on disk.
pub(crate) fn assert_nothing_got_out(context: &str, log: &Log, ledger: &dyn Ledger) {
    let entries = log.entries();
    let failed = entries.iter().position(|entry| entry.starts_with("failed")).unwrap();
    let (before, after) = entries.split_at(failed);
    for entry in &after[1..] {
        assert!(entry.starts_with("unanswered"), "{context}: `{entry}` got out:\n{}", log.text());
    }
    assert!(after.len() > 1, "{context}: somebody waited for the answer:\n{}", log.text());
    let on_disk = folded(ledger);
    for entry in before {
        match entry.split_once(' ') {
            Some(("show", seqs)) => {
                let last: u64 = seqs.rsplit(' ').next().unwrap().parse().unwrap();
                assert!(last <= on_disk.seq, "{context}: line {last} was shown and is gone");
            }
            Some(("perform", attempt)) => {
                let attempt = attempt.parse().unwrap();
                assert!(on_disk.attempt(attempt).is_some(), "{context}: {attempt} has no line");
            }
            _ => {}
        }
    }
}

/// In each line: before it, after its first byte, in its middle, and without its last byte.
fn points(bytes: &[u8]) -> Vec<u64> {
    let mut start = 0;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let begin = start;
        start += line.len();
        [begin, begin + 1, begin + line.len() / 2, start - 1]
    });
    lines.flatten().map(|point| point as u64).collect()
}

#[test]
fn a_disk_that_fills_up_anywhere_lets_nothing_out_and_the_run_goes_on_later() {
    let (end, bytes) = whole(TWO, SCRIPT);
    for room in points(&bytes) {
        let context = format!("a disk with {room} bytes");
        let memory = Memory::new();
        let mut story = Story::new(TWO, SCRIPT);
        fill_disk(&story.log, &memory, room);
        let ledger = Recorded { ledger: memory.clone(), log: story.log.clone() };
        let error = story.play(&ledger).unwrap_err();
        assert!(matches!(error, LedgerError::Full { .. }), "{context}: {error}");
        assert_nothing_got_out(&context, &story.log, &memory);
        memory.faults().clear();
        story.log.interfere(|_| {});
        let state = story.play(&memory).unwrap();
        assert_eq!(end_of(&state), end, "{context}");
    }
}

/// Leaves room for that many bytes of lines: the ledger is open by then.
fn fill_disk(log: &Log, memory: &Memory, room: u64) {
    let (mut is_done, faults) = (false, memory.faults().clone());
    log.interfere(move |_| {
        if !is_done {
            is_done = true;
            faults.fill_disk_after(room);
        }
    });
}

/// Lets the sync of that number fail, and all after it.
fn fail_sync(log: &Log, memory: &Memory, number: usize) {
    let (mut count, faults) = (0, memory.faults().clone());
    log.interfere(move |what| {
        count += usize::from(what == "sync");
        if what == "sync" && count == number {
            faults.fail_syncs();
        }
    });
}

#[test]
fn a_sync_that_fails_lets_nothing_out_and_the_run_goes_on_later() {
    let (end, _) = whole(TWO, SCRIPT);
    let mut failures = 0;
    // What a failed sync left may still be there, or not.
    for (number, is_lost) in (1..).flat_map(|number| [(number, false), (number, true)]) {
        let context = format!("sync {number}, lost: {is_lost}");
        let (memory, mut story) = (Memory::new(), Story::new(TWO, SCRIPT));
        let ledger = Recorded { ledger: memory.clone(), log: story.log.clone() };
        fail_sync(&story.log, &memory, number);
        let Err(error) = story.play(&ledger) else { break };
        failures += 1;
        assert!(matches!(error, LedgerError::Io { .. }), "{context}: {error}");
        if is_lost {
            memory.lose_power(0);
        }
        assert_nothing_got_out(&context, &story.log, &memory);
        memory.faults().clear();
        story.log.interfere(|_| {});
        let state = story.play(&memory).unwrap();
        assert_eq!(end_of(&state), end, "{context}");
    }
    let mut story = Story::new(TWO, SCRIPT);
    let ledger = Recorded { ledger: Memory::new(), log: story.log.clone() };
    story.play(&ledger).unwrap();
    let syncs = story.log.entries().iter().filter(|entry| *entry == "sync").count();
    assert_eq!(failures, 2 * syncs, "every sync failed once each way");
}

#[test]
fn a_ledger_that_cannot_be_synced_is_not_opened() {
    let memory = Memory::new();
    memory.faults().fail_syncs();
    let mut story = Story::new(TWO, SCRIPT);
    let error = story.play(&memory).unwrap_err();
    assert!(matches!(error, LedgerError::Io { .. }), "{error}");
    assert_eq!(story.log.text(), "");
    assert!(memory.bytes().is_empty());
    memory.faults().clear();
    assert_eq!(story.play(&memory).unwrap().status(), Status::Done);
}

#[test]
fn a_power_cut_at_any_moment_takes_nothing_that_anybody_knew() {
    for (name, workflow, script) in STORIES {
        let (end, _) = whole(workflow, script);
        for moment in 1.. {
            let (memory, mut story) = (Memory::new(), Story::new(workflow, script));
            let (mut count, cut) = (0, memory.clone());
            let seen = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
            let shown = std::sync::Arc::clone(&seen);
            story.log.interfere(move |what| {
                let (word, rest) = what.split_once(' ').unwrap_or((what, ""));
                count += 1;
                if word == "show" && count <= moment {
                    let last = rest.rsplit(' ').next().unwrap().parse().unwrap();
                    shown.store(last, std::sync::atomic::Ordering::Relaxed);
                }
                if count == moment {
                    cut.lose_power(0);
                }
            });
            let ledger = Recorded { ledger: memory.clone(), log: story.log.clone() };
            let played = story.play(&ledger);
            let context = format!("{name}, moment {moment}");
            if let Err(error) = &played {
                assert!(matches!(error, LedgerError::Fenced { .. }), "{context}: {error}");
            }
            let kept = folded(&memory).seq;
            let last = seen.load(std::sync::atomic::Ordering::Relaxed);
            assert!(kept >= last, "{context}: line {last} was shown, {kept} are kept");
            story.log.interfere(|_| {});
            let resumed = story.play(&memory).unwrap();
            assert_eq!(end_of(&resumed), end, "{context}");
            if played.is_ok() {
                break;
            }
        }
    }
}

#[test]
fn a_writer_that_lost_its_lock_stops_without_another_word() {
    let (end, _) = whole(TWO, SCRIPT);
    let folder = tempfile::tempdir().unwrap();
    for moment in ["show 4", "perform a1", "show 5"] {
        let memory = Memory::new();
        let mut story = Story::new(TWO, SCRIPT);
        let taken = memory.clone();
        force_at(&story.log, moment, Box::new(taken));
        let ledger = Recorded { ledger: memory.clone(), log: story.log.clone() };
        let error = story.play(&ledger).unwrap_err();
        assert!(matches!(error, LedgerError::Fenced { .. }), "{error}");
        assert_nothing_got_out(moment, &story.log, &memory);
        story.log.interfere(|_| {});
        assert_eq!(end_of(&story.play(&memory).unwrap()), end, "{moment}");

        let on_disk = Folder::create(folder.path().join(moment.replace(' ', "-"))).unwrap();
        let mut story = Story::new(TWO, SCRIPT);
        force_at(&story.log, moment, Box::new(on_disk.clone()));
        let error = story.play(&on_disk).unwrap_err();
        assert!(matches!(error, LedgerError::Fenced { .. }), "{error}");
        let last = story.log.entries().into_iter().rfind(|entry| !entry.starts_with("unanswered"));
        assert!(last.is_some_and(|last| last == moment || last.starts_with("answer")));
        story.log.interfere(|_| {});
        assert_eq!(end_of(&story.play(&on_disk).unwrap()), end, "{moment}");
    }
}

fn force_at(log: &Log, moment: &'static str, ledger: Box<dyn Ledger>) {
    let mut is_done = false;
    log.interfere(move |what| {
        if what == moment && !is_done {
            is_done = true;
            ledger.force().unwrap();
        }
    });
}
