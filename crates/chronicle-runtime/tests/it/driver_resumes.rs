//! Every prefix of every ledger resumes to the same end, through the real driver.

use chronicle_core::event::Event;
use chronicle_core::state::Status;
use chronicle_runtime::for_tests::ledger::{Head, Ledger};
use chronicle_testkit::Memory;

use crate::driver_stories::STORIES;
use crate::world::{Story, end_of};

/// Where each line ends, and 0.
fn ends(bytes: &[u8]) -> Vec<usize> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect()
}

#[test]
fn every_prefix_of_whole_lines_resumes_to_the_same_end() {
    for (name, workflow, script) in STORIES {
        let (memory, mut story) = (Memory::new(), Story::new(workflow, script));
        let whole = story.play(&memory).unwrap();
        assert_eq!(whole.status(), Status::Done, "{name}");
        let bytes = memory.bytes();
        for (cut, end) in (0..).zip(ends(&bytes)) {
            let fresh = Memory::new();
            fresh.replace(&bytes[..end]);
            let resumed = story.cut_after(cut).play(&fresh).unwrap();
            assert_eq!(end_of(&resumed), end_of(&whole), "{name} cut after line {cut}");
            assert_eq!(resumed.usage, whole.usage, "{name} cut after line {cut}");
            assert!(fresh.bytes().starts_with(&bytes[..end]), "what was written stays");
        }
    }
}

#[test]
fn a_prefix_with_a_torn_line_resumes_too_and_says_so() {
    for (name, workflow, script) in STORIES {
        let (memory, mut story) = (Memory::new(), Story::new(workflow, script));
        let whole = story.play(&memory).unwrap();
        let bytes = memory.bytes();
        // Not the first line: a run whose start was torn never started.
        for (cut, pair) in (0..).zip(ends(&bytes).windows(2)).skip(1) {
            let middle = usize::midpoint(pair[0], pair[1]);
            let fresh = Memory::new();
            fresh.replace(&bytes[..middle]);
            let resumed = story.cut_after(cut).play(&fresh).unwrap();
            assert_eq!(end_of(&resumed), end_of(&whole), "{name} torn in line {}", cut + 1);
            let first = fresh.read(Head::EMPTY).unwrap().nth(usize::try_from(cut).unwrap());
            let event = first.unwrap().unwrap().0.events.remove(0);
            assert!(matches!(event, Event::TailSetAside { .. }), "{name}: {event:?}");
        }
    }
}

#[test]
fn a_start_that_was_torn_starts_again() {
    let (name, workflow, script) = STORIES[0];
    let (memory, mut story) = (Memory::new(), Story::new(workflow, script));
    let whole = story.play(&memory).unwrap();
    let torn = Memory::new();
    torn.replace(&memory.bytes()[..100]);
    let resumed = story.cut_after(0).play(&torn).unwrap();
    assert_eq!(end_of(&resumed), end_of(&whole), "{name}");
    let first = torn.read(Head::EMPTY).unwrap().next().unwrap().unwrap().0;
    assert!(matches!(first.events[0], Event::RunStarted(_)), "nothing stands before the start");
}

#[test]
fn a_supervisor_killed_again_and_again_gets_there() {
    for (name, workflow, script) in STORIES {
        let (memory, mut story) = (Memory::new(), Story::new(workflow, script));
        let whole = story.play(&memory).unwrap();
        let (mut bytes, mut lines) = (Vec::new(), 0u64);
        let mut teller = story.cut_after(0);
        loop {
            let ledger = Memory::new();
            ledger.replace(bytes.clone());
            let state = teller.play(&ledger).unwrap();
            // Of each life six lines are kept: its introduction, what it found lost, the files after it, a session that is
            // gone, the files after that, one step.
            let ends = ends(&ledger.bytes());
            lines += 6;
            let Some(end) = usize::try_from(lines).ok().and_then(|lines| ends.get(lines)) else {
                assert_eq!(end_of(&state), end_of(&whole), "{name}");
                break;
            };
            assert!(lines < 500, "{name} stands still");
            bytes = ledger.bytes()[..*end].to_vec();
            teller = teller.cut_after(lines);
        }
    }
}
