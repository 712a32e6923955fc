//! The part of the contract about following a ledger while somebody writes it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use chronicle_core::event::record::Line;
use chronicle_runtime::for_tests::ledger::{Head, LedgerError, Lines};

use crate::ledger_contract::{Backend, write};
use crate::ledger_lines::{append, line, open_all};

/// Longer than any test takes.
const LONG: Duration = Duration::from_mins(5);

/// The next line if there is one now.
pub(crate) fn poll(tail: &mut dyn Lines) -> Result<Option<(Line, Head)>, LedgerError> {
    if tail.wait(Duration::ZERO)? { tail.next().transpose() } else { Ok(None) }
}

pub(crate) fn a_tail_follows_line_by_line(at: &impl Backend) {
    let (ask, asked) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel::<Head>();
    let ledger = at.ledger();
    let writing = thread::spawn(move || {
        let (mut writer, _) = open_all(ledger.as_ref()).unwrap();
        for () in asked {
            let head = append(writer.as_mut(), 1)[0];
            writer.sync().unwrap();
            tell.send(head).unwrap();
        }
    });
    let mut tail = at.ledger().read(Head::EMPTY).unwrap();
    for seq in 1..=20 {
        assert_eq!(poll(tail.as_mut()).unwrap(), None);
        assert!(tail.next().is_none());
        ask.send(()).unwrap();
        let head = told.recv().unwrap();
        assert!(tail.next().is_none(), "an iteration that ended stays so until it is begun again");
        assert_eq!(poll(tail.as_mut()).unwrap(), Some((line(seq), head)));
        assert_eq!(tail.head(), head);
    }
    drop(ask);
    writing.join().unwrap();
}

pub(crate) fn a_tail_keeps_up_with_a_writer(at: &impl Backend) {
    const COUNT: u64 = 2_000;
    let ledger = at.ledger();
    let writing = thread::spawn(move || {
        let (mut writer, _) = open_all(ledger.as_ref()).unwrap();
        for _ in 0..COUNT / 100 {
            append(writer.as_mut(), 100);
            writer.sync().unwrap();
        }
    });
    let mut tail = at.ledger().read(Head::EMPTY).unwrap();
    let mut seq = 0;
    while seq < COUNT {
        assert!(tail.wait(LONG).unwrap());
        for next in tail.by_ref() {
            seq += 1;
            assert_eq!(next.unwrap().0, line(seq));
        }
    }
    assert_eq!(poll(tail.as_mut()).unwrap(), None);
    writing.join().unwrap();
}

pub(crate) fn a_tail_that_waits_hears_of_the_next_line(at: &impl Backend) {
    let heads = write(at, 1);
    let mut tail = at.ledger().read(heads[1]).unwrap();
    assert!(tail.next().is_none());
    assert!(!tail.wait(Duration::from_millis(1)).unwrap());
    let waiting = thread::spawn(move || (tail.wait(LONG).unwrap(), tail.next().unwrap().unwrap()));
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let head = append(writer.as_mut(), 1)[0];
    writer.sync().unwrap();
    assert_eq!(waiting.join().unwrap(), (true, (line(2), head)));
}

pub(crate) fn a_ledger_that_shrinks_stops_its_tail(at: &impl Backend) {
    let heads = write(at, 2);
    let mut tail = at.ledger().read(heads[1]).unwrap();
    assert!(poll(tail.as_mut()).unwrap().is_some());
    at.take_last();
    assert!(matches!(poll(tail.as_mut()), Err(LedgerError::Conflict { .. })));
}
