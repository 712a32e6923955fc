//! The part of the contract about what is found in a ledger: torn, damaged, or of a newer Chronicle.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_runtime::for_tests::ledger::{Head, LedgerError, Torn};

use crate::ledger_contract::Backend;
use crate::ledger_lines::{append, by_hand, lines, open_all, read_all, written};

pub(crate) fn a_torn_tail_is_set_aside_at_every_byte(at: &impl Backend) {
    let (bytes, heads) = written(3);
    let whole = usize::try_from(heads[2].bytes).unwrap();
    for end in whole..bytes.len() {
        at.overwrite(&bytes[..end]);
        let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
        assert_eq!((read, writer.head()), (lines(2), heads[2]));
        assert_eq!(at.bytes(), bytes[..whole], "cut at {end}");
        match writer.torn() {
            None => assert_eq!(end, whole),
            Some(Torn { bytes: count, file }) => {
                assert_eq!(*count, (end - whole) as u64);
                assert_eq!(at.set_aside(file), bytes[whole..end]);
            }
        }
        append(writer.as_mut(), 1);
        assert_eq!(at.bytes(), bytes);
    }
}

pub(crate) fn a_line_torn_twice_keeps_both(at: &impl Backend) {
    let torn = |tail: &[u8]| {
        at.overwrite(tail);
        open_all(at.ledger().as_ref()).unwrap().0.torn().cloned().unwrap().file
    };
    assert_eq!(torn(b"{\"seq\":"), "torn-1.txt");
    // The same again is what a crash between keeping and cutting leaves.
    assert_eq!(torn(b"{\"seq\":"), "torn-1.txt");
    assert_eq!(torn(b"{\"s"), "torn-1-2.txt");
    assert_eq!(at.set_aside("torn-1.txt"), b"{\"seq\":");
    assert_eq!(at.set_aside("torn-1-2.txt"), b"{\"s");
}

/// Reading and opening must both stop there, and nothing may change.
fn assert_damaged(at: &impl Backend, bytes: &[u8], heads: &[Head], whole: usize) {
    at.overwrite(bytes);
    let (read, error) = read_all(at.ledger().as_ref());
    assert_eq!(read, lines(whole as u64));
    let Some(LedgerError::Damaged { line, byte, .. }) = error else { panic!("{error:?}") };
    assert_eq!((line, byte), (whole as u64 + 1, heads[whole].bytes));
    let opened = open_all(at.ledger().as_ref()).err();
    assert!(matches!(opened, Some(LedgerError::Damaged { .. })), "{opened:?}");
    assert_eq!(at.bytes(), bytes);
}

pub(crate) fn a_flipped_bit_is_found_at_every_byte(at: &impl Backend) {
    let (bytes, heads) = written(3);
    // Without its line feed the last line is torn, not damaged.
    for index in 0..bytes.len() - 1 {
        let mut flipped = bytes.clone();
        flipped[index] ^= 1 << (index % 8);
        let whole = heads.iter().filter(|head| head.bytes <= index as u64).count() - 1;
        assert_damaged(at, &flipped, &heads, whole);
    }
}

pub(crate) fn a_rewritten_line_is_found(at: &impl Backend) {
    let (bytes, heads) = written(3);
    let ends: Vec<_> = heads.iter().map(|head| usize::try_from(head.bytes).unwrap()).collect();
    let text = String::from_utf8(bytes[ends[1]..ends[2] - 75].to_vec()).unwrap();
    let rewritten = by_hand(&text.replace("ada", "bob"), &heads[1].sum);
    assert_eq!(rewritten.len(), ends[2] - ends[1]);
    // Its own sum is right, so that it is the next line which does not fit.
    let forged = [&bytes[..ends[1]], &rewritten, &bytes[ends[2]..]].concat();
    at.overwrite(&forged);
    let (read, error) = read_all(at.ledger().as_ref());
    assert_eq!(read.len(), 2);
    let Some(LedgerError::Damaged { line, byte, .. }) = error else { panic!("{error:?}") };
    assert_eq!((line, byte), (3, heads[2].bytes));
}

pub(crate) fn lines_out_of_order_are_found(at: &impl Backend) {
    let (bytes, heads) = written(3);
    let ends: Vec<_> = heads.iter().map(|head| usize::try_from(head.bytes).unwrap()).collect();
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

/// Puts a second line of these words after a good first one, and reads and opens it.
fn second_line(at: &impl Backend, version: u32, more: &str, events: &str) -> LedgerError {
    let (first, heads) = written(1);
    let text = format!(
        r#"{{"seq":2,"at":"2026-11-15T02:30:50.123Z","v":{version},"by":{{"actor":{{"is":"supervisor"}}}},{more}"events":{events}"#
    );
    let bytes = [first, by_hand(&text, &heads[1].sum)].concat();
    at.overwrite(&bytes);
    let (read, error) = read_all(at.ledger().as_ref());
    assert_eq!(read, lines(1), "the run is readable up to there");
    let opened = open_all(at.ledger().as_ref()).err().unwrap();
    let error = error.unwrap();
    assert_eq!(opened.to_string(), error.to_string());
    assert_eq!(at.bytes(), bytes, "and is not written");
    error
}

pub(crate) fn an_unknown_kind_stops_the_reading_there(at: &impl Backend) {
    for events in [
        r#"[{"kind":"moon_landed","data":{"where":"there"}}]"#,
        r#"[{"kind":"run_resumed"},{"kind":"moon_landed"}]"#,
        r#"[{"data":{"deep":[{"er":1}]},"kind":"moon_landed"}]"#,
    ] {
        let error = second_line(at, 1, "", events);
        let LedgerError::UnknownKind { line, kind, .. } = error else { panic!("{error}") };
        assert_eq!((line, kind.as_str()), (2, "moon_landed"));
    }
}

pub(crate) fn an_unknown_word_inside_an_event_counts_as_an_unknown_kind(at: &impl Backend) {
    let events = r#"[{"kind":"stop_asked","data":{"attempt":"a1","cause":"boredom"}}]"#;
    let error = second_line(at, 1, "", events);
    let LedgerError::UnknownKind { kind, .. } = error else { panic!("{error}") };
    assert_eq!(kind, "boredom");
}

pub(crate) fn unknown_fields_are_tolerated(at: &impl Backend) {
    let (first, heads) = written(1);
    let text = concat!(
        r#"{"seq":2,"new":{"sum":"x"},"at":"2026-11-15T02:30:50.123Z","v":1,"#,
        r#""by":{"actor":{"is":"supervisor","new":1},"new":[]},"#,
        r#""events":[{"kind":"run_paused","data":{"reason":"r","new":null},"new":true}],"later":1"#,
    );
    at.overwrite(&[first, by_hand(text, &heads[1].sum)].concat());
    let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!(read[1].events.len(), 1);
    append(writer.as_mut(), 1);
    assert_eq!(read_all(at.ledger().as_ref()).0.len(), 3);
}

pub(crate) fn a_newer_version_is_refused(at: &impl Backend) {
    for (version, events) in [(2, "[]"), (9, r#"[{"kind":"moon_landed"}]"#), (2, r#"{"all":1}"#)] {
        let error = second_line(at, version, "", events);
        let LedgerError::NewerVersion { line, version: found, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((line, found), (2, version));
    }
}

pub(crate) fn a_whole_line_that_is_none_is_damage(at: &impl Backend) {
    for (more, events) in [
        ("", "[1]"),
        ("", r#"[{"kind":"run_paused"}]"#),
        ("", r#"[{"data":{}}]"#),
        (r#""seq":2,"#, "[]"),
    ] {
        let error = second_line(at, 1, more, events);
        assert!(matches!(error, LedgerError::Damaged { line: 2, .. }), "{error}");
    }
}
