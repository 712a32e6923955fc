//! What is found in the bytes of a ledger in a file: torn, damaged, rewritten. Run for each disk by `ledger_backends.rs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_runtime::for_tests::ledger::{Head, LedgerError, Torn};

use crate::ledger_file::FileBackend;
use crate::ledger_lines::{append, by_hand, lines, open_all, read_all, written};

pub(crate) fn a_torn_tail_is_set_aside_at_every_byte(at: &impl FileBackend) {
    let (bytes, heads) = written(3);
    let whole = usize::try_from(heads[2].at.for_backend()).unwrap();
    for end in whole..bytes.len() {
        at.overwrite(&bytes[..end]);
        let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
        assert_eq!((read, writer.head()), (lines(2), heads[2]));
        assert_eq!(at.bytes(), bytes[..whole], "cut at {end}");
        match writer.torn() {
            None => assert_eq!(end, whole),
            Some(Torn { bytes: count, kept }) => {
                assert_eq!(*count, (end - whole) as u64);
                assert_eq!(at.set_aside(kept), bytes[whole..end]);
            }
        }
        append(writer.as_mut(), 1);
        writer.sync().unwrap();
        assert_eq!(at.bytes(), bytes);
    }
}

pub(crate) fn a_line_torn_twice_keeps_both(at: &impl FileBackend) {
    let torn = |tail: &[u8]| {
        at.overwrite(tail);
        open_all(at.ledger().as_ref()).unwrap().0.torn().cloned().unwrap().kept
    };
    assert_eq!(torn(b"{\"seq\":"), "torn-1.txt");
    // The same again is what a crash between keeping and cutting leaves.
    assert_eq!(torn(b"{\"seq\":"), "torn-1.txt");
    assert_eq!(torn(b"{\"s"), "torn-1-2.txt");
    assert_eq!(at.set_aside("torn-1.txt"), b"{\"seq\":");
    assert_eq!(at.set_aside("torn-1-2.txt"), b"{\"s");
}

/// Reading and opening must both stop there, and nothing may change.
fn assert_damaged(at: &impl FileBackend, bytes: &[u8], heads: &[Head], whole: usize) {
    at.overwrite(bytes);
    let (read, error) = read_all(at.ledger().as_ref());
    assert_eq!(read, lines(whole as u64));
    let Some(LedgerError::Damaged { line, spot, .. }) = error else { panic!("{error:?}") };
    assert_eq!((line, spot), (whole as u64 + 1, format!("byte {}", heads[whole].at.for_backend())));
    let opened = open_all(at.ledger().as_ref()).err();
    assert!(matches!(opened, Some(LedgerError::Damaged { .. })), "{opened:?}");
    assert_eq!(at.bytes(), bytes);
}

pub(crate) fn a_flipped_bit_is_found_at_every_byte(at: &impl FileBackend) {
    let (bytes, heads) = written(3);
    // Without its line feed the last line is torn, not damaged.
    for index in 0..bytes.len() - 1 {
        let mut flipped = bytes.clone();
        flipped[index] ^= 1 << (index % 8);
        let whole = heads.iter().filter(|head| head.at.for_backend() <= index as u64).count() - 1;
        assert_damaged(at, &flipped, &heads, whole);
    }
}

pub(crate) fn a_rewritten_line_is_found(at: &impl FileBackend) {
    let (bytes, heads) = written(3);
    let ends: Vec<_> =
        heads.iter().map(|head| usize::try_from(head.at.for_backend()).unwrap()).collect();
    let text = String::from_utf8(bytes[ends[1]..ends[2] - 75].to_vec()).unwrap();
    let rewritten = by_hand(&text.replace("ada", "bob"), &heads[1].sum);
    assert_eq!(rewritten.len(), ends[2] - ends[1]);
    // Its own sum is right, so that it is the next line which does not fit.
    let forged = [&bytes[..ends[1]], &rewritten, &bytes[ends[2]..]].concat();
    at.overwrite(&forged);
    let (read, error) = read_all(at.ledger().as_ref());
    assert_eq!(read.len(), 2);
    let Some(LedgerError::Damaged { line, spot, .. }) = error else { panic!("{error:?}") };
    assert_eq!((line, spot), (3, format!("byte {}", heads[2].at.for_backend())));
}

pub(crate) fn lines_out_of_order_are_found(at: &impl FileBackend) {
    let (bytes, heads) = written(3);
    let ends: Vec<_> =
        heads.iter().map(|head| usize::try_from(head.at.for_backend()).unwrap()).collect();
    let part = |number: usize| &bytes[ends[number - 1]..ends[number]];
    assert_damaged(at, &[part(1), part(3)].concat(), &heads, 1);
    assert_damaged(at, &[part(1), part(3), part(2)].concat(), &heads, 1);
    assert_damaged(at, &[part(1), part(2), part(2)].concat(), &heads, 2);
    assert_damaged(at, &[part(2), part(3)].concat(), &heads, 0);
    assert_damaged(at, &[part(1), b"\n", part(2)].concat(), &heads, 1);
    // The chain is right, the number is not.
    let skipped = by_hand(
        r#"{"seq":3,"at":"2026-11-15T02:30:50.123Z","v":1,"by":{"actor":{"is":"supervisor"}},"events":[]"#,
        &heads[1].sum,
    );
    assert_damaged(at, &[part(1), &skipped].concat(), &heads, 1);
}
