//! What a ledger in a file must do with its bytes, on any disk. Run for each disk by `ledger_backends.rs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_runtime::for_tests::ledger::{Cursor, Head, LedgerError};
use chronicle_testkit::Faults;

use crate::ledger_contract::{Backend, assert_no_such_head, poll};
use crate::ledger_lines::{append, by_hand, line, lines, open_all, who, written};

/// One run in a file.
pub(crate) trait FileBackend: Backend {
    fn faults(&self) -> &Faults;
    fn bytes(&self) -> Vec<u8>;
    /// Changes the bytes behind everybody's back.
    fn overwrite(&self, bytes: &[u8]);
    /// Puts another file with the same bytes in the ledger's place.
    fn replace(&self);
    /// What was kept of a torn line.
    fn set_aside(&self, file: &str) -> Vec<u8>;

    /// Where each line ends, and 0.
    fn ends(&self) -> Vec<usize> {
        let bytes = self.bytes();
        let feeds = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        std::iter::once(0).chain(feeds.map(|(at, _)| at + 1)).collect()
    }
}

macro_rules! in_a_file {
    ($backend:ty: $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                crate::ledger_file::$name(&<$backend as crate::ledger_contract::Backend>::new());
            }
        )*
    };
    ($backend:ty) => {
        crate::ledger_file::in_a_file!($backend:
            the_bytes_are_those_of_the_format
            a_head_between_two_lines_is_a_conflict
            a_partial_line_is_not_yet_a_line
            a_torn_tail_is_set_aside_at_every_byte
            a_line_torn_twice_keeps_both
            a_flipped_bit_is_found_at_every_byte
            a_rewritten_line_is_found
            lines_out_of_order_are_found
            a_full_disk_leaves_whole_lines
            an_opening_brings_what_it_read_to_the_disk
            changed_bytes_are_a_conflict
            a_replaced_ledger_is_a_conflict
            lines_before_a_torn_one_that_were_not_read_are_stale
        );
    };
}
pub(crate) use in_a_file;

pub(crate) use crate::ledger_file_damage::*;

pub(crate) fn the_bytes_are_those_of_the_format(at: &impl FileBackend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let heads = append(writer.as_mut(), 3);
    let (bytes, expected) = written(3);
    writer.sync().unwrap();
    assert_eq!(at.bytes(), bytes);
    assert_eq!(heads, expected[1..]);
}

pub(crate) fn a_head_between_two_lines_is_a_conflict(at: &impl FileBackend) {
    let (bytes, heads) = written(2);
    at.overwrite(&bytes);
    let (one, two) = (heads[1], heads[2]);
    for (head, place) in [
        (one, one.at.for_backend() + 1),
        (one, 3),
        (one, 0),
        (two, two.at.for_backend() + 1_000),
        (two, u64::MAX),
    ] {
        assert_no_such_head(at, Head { at: Cursor::of_backend(place), ..head });
    }
    assert_eq!(at.bytes(), bytes);
}

pub(crate) fn a_partial_line_is_not_yet_a_line(at: &impl FileBackend) {
    let (bytes, heads) = written(2);
    let first = usize::try_from(heads[1].at.for_backend()).unwrap();
    at.overwrite(&bytes[..first]);
    let mut tail = at.ledger().read(heads[1]).unwrap();
    for end in first..bytes.len() {
        at.overwrite(&bytes[..end]);
        assert_eq!(poll(tail.as_mut()).unwrap(), None, "{end}");
        assert!(at.ledger().read(heads[1]).unwrap().next().is_none());
    }
    // The torn line is cut, and another one is written in its place.
    let other = by_hand(
        r#"{"seq":2,"at":"2026-11-15T02:30:50.123Z","v":1,"by":{"actor":{"is":"supervisor"}},"events":[]"#,
        &heads[1].sum,
    );
    at.overwrite(&[&bytes[..first], &other].concat());
    let (next, _) = poll(tail.as_mut()).unwrap().unwrap();
    assert_eq!((next.seq, next.events), (2, vec![]));
}

pub(crate) fn a_full_disk_leaves_whole_lines(at: &impl FileBackend) {
    let (bytes, heads) = written(2);
    for room in [0, 1, 10, heads[2].at.for_backend() - heads[1].at.for_backend() - 1] {
        at.overwrite(b"");
        let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
        append(writer.as_mut(), 1);
        writer.sync().unwrap();
        at.faults().fill_disk_after(room);
        let error = writer.append(2, &line(2)).and_then(|_| writer.sync()).unwrap_err();
        assert!(matches!(error, LedgerError::Full { .. }), "{error}");
        assert_eq!(writer.head(), heads[1]);
        at.faults().clear();
        drop(writer);

        let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
        assert_eq!(read, lines(1));
        assert_eq!(writer.torn(), None, "what was written of the line was cut off");
        append(writer.as_mut(), 1);
        writer.sync().unwrap();
        assert_eq!(at.bytes(), bytes);
    }
}

/// The last writer may have died between its append and its sync.
pub(crate) fn an_opening_brings_what_it_read_to_the_disk(at: &impl FileBackend) {
    // As a writer leaves it that was killed between its write and its sync.
    at.overwrite(&written(2).0);
    at.faults().fail_syncs();
    assert!(matches!(open_all(at.ledger().as_ref()).err(), Some(LedgerError::Io { .. })));
    at.faults().clear();
    assert_eq!(open_all(at.ledger().as_ref()).unwrap().1, lines(2));
}

pub(crate) fn changed_bytes_are_a_conflict(at: &impl FileBackend) {
    let (bytes, _) = written(3);
    let shorter = &bytes[..bytes.len() - 1];
    let longer = [bytes.as_slice(), b"x"].concat();
    for changed in [shorter, &longer] {
        at.overwrite(&bytes);
        let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
        at.overwrite(changed);
        writer.append(4, &line(4)).unwrap();
        assert!(matches!(writer.sync(), Err(LedgerError::Conflict { .. })));
        assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
        assert_eq!(at.bytes(), changed);
    }
}

pub(crate) fn a_replaced_ledger_is_a_conflict(at: &impl FileBackend) {
    at.overwrite(&written(1).0);
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    at.replace();
    let before = at.bytes();
    assert!(matches!(writer.sync(), Err(LedgerError::Conflict { .. })));
    assert!(matches!(writer.append(3, &line(3)), Err(LedgerError::Poisoned { .. })));
    assert_eq!(at.bytes(), before);
}

pub(crate) fn lines_before_a_torn_one_that_were_not_read_are_stale(at: &impl FileBackend) {
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
