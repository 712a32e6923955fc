//! The part of the contract about what is found in a ledger: damaged, or of a newer Chronicle.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_runtime::for_tests::ledger::LedgerError;

use crate::ledger_contract::{Backend, write};
use crate::ledger_lines::{append, lines, open_all, read_all};

pub(crate) fn a_damaged_line_is_found(at: &impl Backend) {
    write(at, 3);
    for seq in [3, 2, 1] {
        at.damage(seq);
        let before = at.kept();
        let (read, error) = read_all(at.ledger().as_ref());
        assert_eq!(read, lines(seq - 1));
        let Some(LedgerError::Damaged { line, .. }) = error else { panic!("{error:?}") };
        assert_eq!(line, seq);
        let opened = open_all(at.ledger().as_ref()).err();
        assert!(matches!(opened, Some(LedgerError::Damaged { .. })), "{opened:?}");
        assert_eq!(at.kept(), before);
    }
}

/// A new run whose second line has these words after a good first one: it is read and opened.
fn second_line<B: Backend>(version: u32, more: &str, events: &str) -> LedgerError {
    let at = B::new();
    let heads = write(&at, 1);
    let json = format!(
        r#"{{"seq":2,"at":"2026-11-15T02:30:50.123Z","v":{version},"by":{{"actor":{{"is":"supervisor"}}}},{more}"events":{events}}}"#
    );
    at.put(&heads[1], &json);
    let before = at.kept();
    let (read, error) = read_all(at.ledger().as_ref());
    assert_eq!(read, lines(1), "the run is readable up to there");
    let opened = open_all(at.ledger().as_ref()).err().unwrap();
    let error = error.unwrap();
    assert_eq!(opened.to_string(), error.to_string());
    assert_eq!(at.kept(), before, "and is not written");
    error
}

pub(crate) fn an_unknown_kind_stops_the_reading_there<B: Backend>(_: &B) {
    for events in [
        r#"[{"kind":"moon_landed","data":{"where":"there"}}]"#,
        r#"[{"kind":"run_resumed"},{"kind":"moon_landed"}]"#,
        r#"[{"data":{"deep":[{"er":1}]},"kind":"moon_landed"}]"#,
    ] {
        let error = second_line::<B>(1, "", events);
        let LedgerError::UnknownKind { line, kind, .. } = error else { panic!("{error}") };
        assert_eq!((line, kind.as_str()), (2, "moon_landed"));
    }
}

pub(crate) fn an_unknown_word_inside_an_event_counts_as_an_unknown_kind<B: Backend>(_: &B) {
    let events = r#"[{"kind":"stop_asked","data":{"attempt":"a1","cause":"boredom"}}]"#;
    let error = second_line::<B>(1, "", events);
    let LedgerError::UnknownKind { kind, .. } = error else { panic!("{error}") };
    assert_eq!(kind, "boredom");
}

pub(crate) fn unknown_fields_are_tolerated(at: &impl Backend) {
    let heads = write(at, 1);
    let json = concat!(
        r#"{"seq":2,"new":{"sum":"x"},"at":"2026-11-15T02:30:50.123Z","v":1,"#,
        r#""by":{"actor":{"is":"supervisor","new":1},"new":[]},"#,
        r#""events":[{"kind":"run_paused","data":{"reason":"r","new":null},"new":true}],"later":1}"#,
    );
    at.put(&heads[1], json);
    let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!(read[1].events.len(), 1);
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    assert_eq!(read_all(at.ledger().as_ref()).0.len(), 3);
}

pub(crate) fn a_newer_version_is_refused<B: Backend>(_: &B) {
    for (version, events) in [(2, "[]"), (9, r#"[{"kind":"moon_landed"}]"#), (2, r#"{"all":1}"#)] {
        let error = second_line::<B>(version, "", events);
        let LedgerError::NewerVersion { line, version: found, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((line, found), (2, version));
    }
}

pub(crate) fn a_whole_line_that_is_none_is_damage<B: Backend>(_: &B) {
    for (more, events) in [
        ("", "[1]"),
        ("", r#"[{"kind":"run_paused"}]"#),
        ("", r#"[{"data":{}}]"#),
        (r#""seq":2,"#, "[]"),
    ] {
        let error = second_line::<B>(1, more, events);
        assert!(matches!(error, LedgerError::Damaged { line: 2, .. }), "{error}");
    }
}
