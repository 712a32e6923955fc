//! What every ledger must do, wherever it keeps its bytes. Run for each backend by `ledger_backends.rs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::sync::mpsc;
use std::thread;

use chronicle_runtime::for_tests::ledger::{ArtifactId, Faults, Head, Ledger, LedgerError, open};

use crate::ledger_lines::{append, by_hand, line, lines, open_all, read_all, who, written};

/// One run on one backend.
pub(crate) trait Backend {
    fn new() -> Self;
    /// A handle that does not wait for a lock.
    fn ledger(&self) -> Box<dyn Ledger>;
    /// A handle that waits as long as users do.
    fn patient(&self) -> Box<dyn Ledger>;
    fn faults(&self) -> &Faults;
    fn bytes(&self) -> Vec<u8>;
    /// Changes the bytes behind everybody's back.
    fn overwrite(&self, bytes: &[u8]);
    /// Puts another file with the same bytes in the ledger's place.
    fn replace(&self);
    /// What was kept of a torn line.
    fn set_aside(&self, file: &str) -> Vec<u8>;
    fn remove(&self);
    /// False where this cannot be had.
    fn make_read_only(&self) -> bool;
}

macro_rules! contract {
    ($backend:ty: $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                crate::ledger_contract::$name(&<$backend as crate::ledger_contract::Backend>::new());
            }
        )*
    };
    ($backend:ty) => {
        crate::ledger_contract::contract!($backend:
            appended_lines_read_back
            several_appends_share_one_sync
            a_reader_begins_at_any_head
            a_head_that_is_not_there_is_a_conflict
            a_tail_follows_line_by_line
            a_tail_keeps_up_with_a_writer
            a_partial_line_is_not_yet_a_line
            a_ledger_that_shrinks_stops_its_tail
            two_writers_exclude_each_other
            a_short_holder_is_waited_for
            many_writers_take_turns
            a_forced_lock_fences_the_old_writer
            the_epoch_rises_with_every_claim
            a_torn_tail_is_set_aside_at_every_byte
            a_line_torn_twice_keeps_both
            a_flipped_bit_is_found_at_every_byte
            a_rewritten_line_is_found
            lines_out_of_order_are_found
            an_unknown_kind_stops_the_reading_there
            an_unknown_word_inside_an_event_counts_as_an_unknown_kind
            unknown_fields_are_tolerated
            a_newer_version_is_refused
            a_whole_line_that_is_none_is_damage
            a_full_disk_poisons_and_leaves_a_torn_tail
            a_failed_sync_poisons
            a_changed_ledger_is_a_conflict
            a_replaced_ledger_is_a_conflict
            lines_that_were_not_read_are_stale
            a_line_that_is_not_due_is_refused
            an_artifact_is_kept_by_its_content
            a_missing_run_is_named
            a_read_only_run_can_be_read
        );
    };
}
pub(crate) use contract;

pub(crate) use crate::ledger_contract_damage::*;
pub(crate) use crate::ledger_contract_lock::*;

pub(crate) fn appended_lines_read_back(at: &impl Backend) {
    let (mut writer, none) = open_all(at.ledger().as_ref()).unwrap();
    assert!(none.is_empty());
    assert_eq!(writer.head(), Head::EMPTY);
    let heads = append(writer.as_mut(), 3);
    writer.sync().unwrap();

    let (bytes, expected) = written(3);
    assert_eq!(at.bytes(), bytes);
    assert_eq!(heads, expected[1..]);
    let read: Vec<_> = at.ledger().read_from(Head::EMPTY).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, lines(3).into_iter().zip(heads).collect::<Vec<_>>());

    drop(writer);
    let (writer, folded) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!((folded, writer.head(), writer.torn()), (lines(3), expected[3], None));
}

pub(crate) fn several_appends_share_one_sync(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    at.faults().fail_syncs();
    append(writer.as_mut(), 5);
    at.faults().clear();
    writer.sync().unwrap();
    // With nothing new there is nothing to sync.
    at.faults().fail_syncs();
    writer.sync().unwrap();
    assert_eq!(read_all(at.ledger().as_ref()).0, lines(5));
}

pub(crate) fn a_reader_begins_at_any_head(at: &impl Backend) {
    let (bytes, heads) = written(4);
    at.overwrite(&bytes);
    for from in heads {
        let mut read = at.ledger().read_from(from).unwrap();
        let rest: Vec<_> = read.by_ref().map(|next| next.unwrap().0).collect();
        assert_eq!(rest, lines(4)[usize::try_from(from.seq).unwrap()..]);
        assert_eq!((read.head().bytes, read.bytes_after()), (bytes.len() as u64, 0));

        let mut folded = 0;
        let writer = open(at.ledger().as_ref(), who("opens"), from, |_| folded += 1).unwrap();
        assert_eq!((folded, writer.head().seq), (4 - from.seq, 4));
    }
}

pub(crate) fn a_head_that_is_not_there_is_a_conflict(at: &impl Backend) {
    let (bytes, heads) = written(2);
    at.overwrite(&bytes);
    let (one, two) = (heads[1], heads[2]);
    let wrong = [
        Head { sum: two.sum, ..one },
        Head { bytes: one.bytes + 1, ..one },
        Head { bytes: 3, ..one },
        Head { bytes: 0, ..one },
        Head { bytes: two.bytes + 1_000, ..two },
        Head { bytes: u64::MAX, ..two },
    ];
    for head in wrong {
        let read = at.ledger().read_from(head);
        assert!(matches!(read.err(), Some(LedgerError::Conflict { .. })), "{head:?}");
        let polled = at.ledger().tail(head).poll();
        assert!(matches!(polled, Err(LedgerError::Conflict { .. })), "{head:?}");
        let written = at.ledger().claim(who("opens")).unwrap().writer(head);
        assert!(matches!(written.err(), Some(LedgerError::Conflict { .. })), "{head:?}");
    }
    assert_eq!(at.bytes(), bytes);
}

pub(crate) fn a_tail_follows_line_by_line(at: &impl Backend) {
    let (ask, asked) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel::<Head>();
    let ledger = at.ledger();
    let writing = thread::spawn(move || {
        let (mut writer, _) = open_all(ledger.as_ref()).unwrap();
        for () in asked {
            tell.send(append(writer.as_mut(), 1)[0]).unwrap();
        }
    });
    let mut tail = at.ledger().tail(Head::EMPTY);
    for seq in 1..=20 {
        assert_eq!(tail.poll().unwrap(), None);
        ask.send(()).unwrap();
        let head = told.recv().unwrap();
        assert_eq!(tail.poll().unwrap(), Some((line(seq), head)));
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
        append(writer.as_mut(), COUNT);
    });
    let mut tail = at.ledger().tail(Head::EMPTY);
    let mut seq = 0;
    while seq < COUNT {
        match tail.poll().unwrap() {
            Some((next, _)) => {
                seq += 1;
                assert_eq!(next, line(seq));
            }
            None => thread::yield_now(),
        }
    }
    assert_eq!(tail.poll().unwrap(), None);
    writing.join().unwrap();
}

pub(crate) fn a_partial_line_is_not_yet_a_line(at: &impl Backend) {
    let (bytes, heads) = written(2);
    let first = usize::try_from(heads[1].bytes).unwrap();
    let mut tail = at.ledger().tail(heads[1]);
    for end in first..bytes.len() {
        at.overwrite(&bytes[..end]);
        assert_eq!(tail.poll().unwrap(), None, "{end}");
        let mut read = at.ledger().read_from(heads[1]).unwrap();
        assert!(read.next().is_none());
        assert_eq!(read.bytes_after(), (end - first) as u64);
    }
    // The torn line is cut, and another one is written in its place.
    let other = by_hand(
        r#"{"seq":2,"at":"2026-11-15T02:30:50.123Z","v":1,"by":{"actor":{"is":"supervisor"}},"events":[]"#,
        &heads[1].sum,
    );
    at.overwrite(&[&bytes[..first], &other].concat());
    let (next, _) = tail.poll().unwrap().unwrap();
    assert_eq!((next.seq, next.events), (2, vec![]));
}

pub(crate) fn a_ledger_that_shrinks_stops_its_tail(at: &impl Backend) {
    let (bytes, heads) = written(2);
    at.overwrite(&bytes);
    let mut tail = at.ledger().tail(heads[1]);
    assert!(tail.poll().unwrap().is_some());
    at.overwrite(&bytes[..bytes.len() - 1]);
    assert!(matches!(tail.poll(), Err(LedgerError::Conflict { .. })));
}

pub(crate) fn a_full_disk_poisons_and_leaves_a_torn_tail(at: &impl Backend) {
    let (bytes, heads) = written(2);
    for room in [0, 1, 10, heads[2].bytes - heads[1].bytes - 1] {
        at.overwrite(b"");
        let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
        append(writer.as_mut(), 1);
        writer.sync().unwrap();
        at.faults().fill_disk_after(room);
        let error = writer.append(2, &line(2)).unwrap_err();
        assert!(matches!(error, LedgerError::Full { .. }), "{error}");
        at.faults().clear();
        assert!(matches!(writer.append(2, &line(2)), Err(LedgerError::Poisoned { .. })));
        assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
        assert!(matches!(writer.put_artifact(b"body"), Err(LedgerError::Poisoned { .. })));
        drop(writer);

        let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
        assert_eq!(read, lines(1));
        assert_eq!(writer.torn().map_or(0, |torn| torn.bytes), room);
        append(writer.as_mut(), 1);
        assert_eq!(at.bytes(), bytes);
    }
}

pub(crate) fn a_failed_sync_poisons(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    writer.append(2, &line(2)).unwrap();
    at.faults().fail_syncs();
    assert!(matches!(writer.sync(), Err(LedgerError::Io { .. })));
    at.faults().clear();
    assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
    assert!(matches!(writer.append(3, &line(3)), Err(LedgerError::Poisoned { .. })));
    drop(writer);
    // The system may take the second line for written though it is not, so it was taken back.
    let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!(read, lines(1));
    writer.append(2, &line(2)).unwrap();
    drop(writer);
    // Who opens it brings what they read to the disk before anything follows from it.
    at.faults().fail_syncs();
    assert!(matches!(open_all(at.ledger().as_ref()).err(), Some(LedgerError::Io { .. })));
    at.faults().clear();
    assert_eq!(open_all(at.ledger().as_ref()).unwrap().1, lines(2));
}

pub(crate) fn a_changed_ledger_is_a_conflict(at: &impl Backend) {
    let (bytes, _) = written(3);
    let shorter = &bytes[..bytes.len() - 1];
    let longer = [bytes.as_slice(), b"x"].concat();
    for changed in [shorter, &longer] {
        at.overwrite(&bytes);
        let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
        at.overwrite(changed);
        assert!(matches!(writer.append(4, &line(4)), Err(LedgerError::Conflict { .. })));
        assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
        assert_eq!(at.bytes(), changed);
    }
}

pub(crate) fn a_replaced_ledger_is_a_conflict(at: &impl Backend) {
    at.overwrite(&written(1).0);
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    at.replace();
    let before = at.bytes();
    assert!(matches!(writer.sync(), Err(LedgerError::Conflict { .. })));
    assert!(matches!(writer.append(3, &line(3)), Err(LedgerError::Poisoned { .. })));
    assert_eq!(at.bytes(), before);
}

pub(crate) fn lines_that_were_not_read_are_stale(at: &impl Backend) {
    let (bytes, heads) = written(3);
    let torn = [bytes.as_slice(), b"{\"seq\":4"].concat();
    at.overwrite(&torn);
    for head in &heads[..3] {
        let opened = at.ledger().claim(who("opens")).unwrap().writer(*head);
        let Some(LedgerError::Stale { seq, .. }) = opened.err() else { panic!("{head:?}") };
        assert_eq!(seq, head.seq);
    }
    assert_eq!(at.bytes(), torn);
    let writer = at.ledger().claim(who("opens")).unwrap().writer(heads[3]).unwrap();
    assert_eq!(writer.torn().unwrap().bytes, 8);
}

pub(crate) fn a_line_that_is_not_due_is_refused(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    for (expected, seq) in [(0, 0), (2, 2), (1, 2), (2, 1)] {
        let refused = writer.append(expected, &line(seq));
        assert!(matches!(refused, Err(LedgerError::Conflict { .. })), "{expected} {seq}");
    }
    // Nothing was written, so that nothing is poisoned.
    append(writer.as_mut(), 2);
    assert_eq!(at.bytes(), written(2).0);
}

pub(crate) fn an_artifact_is_kept_by_its_content(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let id = writer.put_artifact(b"a large body").unwrap();
    assert_eq!(id, ArtifactId::of(b"a large body"));
    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!(writer.put_artifact(b"a large body").unwrap(), id);
    assert_eq!(at.ledger().artifact(&id).unwrap(), b"a large body");
    let none = at.ledger().artifact(&ArtifactId::of(b"another"));
    assert!(matches!(none, Err(LedgerError::Artifact { .. })));

    at.faults().fill_disk_after(3);
    assert!(matches!(writer.put_artifact(b"another"), Err(LedgerError::Full { .. })));
    at.faults().clear();
    assert!(matches!(writer.append(1, &line(1)), Err(LedgerError::Poisoned { .. })));
    assert!(at.ledger().artifact(&ArtifactId::of(b"another")).is_err());
}

pub(crate) fn a_missing_run_is_named(at: &impl Backend) {
    at.remove();
    assert!(matches!(at.ledger().claim(who("x")).err(), Some(LedgerError::Missing { .. })));
    assert!(matches!(at.ledger().force(), Err(LedgerError::Missing { .. })));
    let error = at.ledger().read_from(Head::EMPTY).err().unwrap();
    assert!(error.to_string().starts_with("there is no run folder at `"), "{error}");
    assert!(error.hint().contains("`chronicle runs`"));
    assert_eq!(at.ledger().holder(), None);
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub(crate) fn a_read_only_run_can_be_read(at: &impl Backend) {
    at.overwrite(&written(2).0);
    if !at.make_read_only() {
        eprintln!("SKIPPED: no folder can be made read-only here");
        return;
    }
    assert_eq!(read_all(at.ledger().as_ref()).0, lines(2));
    let error = at.ledger().claim(who("writes")).err().unwrap();
    assert!(matches!(error, LedgerError::Denied { .. }), "{error}");
    assert!(error.to_string().starts_with("not allowed to "), "{error}");
}
