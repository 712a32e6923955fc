//! The part of the contract about who may write.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::thread;

use chronicle_runtime::for_tests::ledger::{Head, LedgerError};

use crate::ledger_contract::Backend;
use crate::ledger_lines::{append, line, lines, open_all, read_all, who};

pub(crate) fn two_writers_exclude_each_other(at: &impl Backend) {
    assert_eq!(at.ledger().holder(), None);
    let claim = at.ledger().claim(who("first")).unwrap();
    assert_eq!(at.ledger().holder(), Some(who("first")));
    let writer = claim.writer(Head::EMPTY).unwrap();
    let Err(error) = at.ledger().claim(who("second")) else { panic!("both hold it") };
    assert!(error.to_string().contains("`first` (process"), "{error}");
    let LedgerError::Held { holder, .. } = error else { panic!("{error}") };
    assert_eq!(holder.as_deref(), Some(&who("first")));
    drop(writer);
    assert_eq!(at.ledger().holder(), None);
    at.ledger().claim(who("second")).unwrap();
    // A claim that was never used is released too.
    at.ledger().claim(who("third")).unwrap();
}

pub(crate) fn a_short_holder_is_waited_for(at: &impl Backend) {
    let first = at.ledger().claim(who("first")).unwrap();
    let patient = at.patient();
    let second = thread::spawn(move || patient.claim(who("second")).map(|claim| claim.epoch()));
    drop(first);
    assert_eq!(second.join().unwrap().unwrap(), 2);
}

pub(crate) fn many_writers_take_turns(at: &impl Backend) {
    const WRITERS: u64 = 6;
    const TURNS: u64 = 4;
    let writing: Vec<_> = (0..WRITERS)
        .map(|_| {
            let ledger = at.patient();
            thread::spawn(move || {
                for _ in 0..TURNS {
                    let (mut writer, _) = open_all(ledger.as_ref()).unwrap();
                    append(writer.as_mut(), 2);
                    writer.sync().unwrap();
                }
            })
        })
        .collect();
    for thread in writing {
        thread.join().unwrap();
    }
    let (writer, read) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!((read, writer.epoch()), (lines(WRITERS * TURNS * 2), WRITERS * TURNS + 1));
}

pub(crate) fn a_forced_lock_fences_the_old_writer(at: &impl Backend) {
    at.ledger().force().unwrap();
    let (mut old, _) = open_all(at.ledger().as_ref()).unwrap();
    append(old.as_mut(), 1);
    old.sync().unwrap();
    append(old.as_mut(), 1);
    at.ledger().force().unwrap();
    assert!(matches!(old.heartbeat(), Err(LedgerError::Fenced { .. })));
    let (mut new, read) = open_all(at.ledger().as_ref()).unwrap();
    // The line that was not synced may be there or not.
    let count = read.len() as u64;
    assert!((1..=2).contains(&count) && read == lines(count));
    assert!(new.epoch() > old.epoch());

    // What the old one has not synced is not to be acted upon.
    assert!(matches!(old.sync(), Err(LedgerError::Fenced { .. })));
    assert!(matches!(old.append(3, &line(3)), Err(LedgerError::Poisoned { .. })));
    drop(old);
    assert!(at.ledger().holder().is_some());
    append(new.as_mut(), 1);
    new.sync().unwrap();
    assert_eq!(read_all(at.ledger().as_ref()).0, lines(count + 1));

    let before = at.kept();
    at.ledger().force().unwrap();
    let late = new.append(count + 2, &line(count + 2)).and_then(|_| new.sync());
    assert!(matches!(late, Err(LedgerError::Fenced { .. })));
    assert_eq!(at.kept(), before);
}

pub(crate) fn the_epoch_rises_with_every_claim(at: &impl Backend) {
    for epoch in 1..=3 {
        let claim = at.ledger().claim(who("claims")).unwrap();
        assert_eq!(claim.epoch(), epoch);
        let mut writer = claim.writer(Head::EMPTY).unwrap();
        assert_eq!(writer.epoch(), epoch);
        writer.heartbeat().unwrap();
    }
    at.ledger().force().unwrap();
    assert_eq!(at.ledger().claim(who("claims")).unwrap().epoch(), 4);
}
