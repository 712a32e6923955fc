//! The bytes themselves: whatever they are, nothing panics, and nothing is believed that was not written.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_core::event::Event;
use chronicle_runtime::for_tests::ledger::{LINE_BYTES_MAX, LedgerError, Sum, decode, encode};
use chronicle_testkit::Memory;
use proptest::prelude::*;

use crate::ledger_lines::{append, by_hand, line_of, lines, open_all, read_all, written};

fn in_memory(bytes: impl Into<Vec<u8>>) -> Memory {
    let memory = Memory::new();
    memory.replace(bytes);
    memory
}

/// Opens whatever it is. Who may write then stands at the end of lines that were really written.
fn open_anything(bytes: &[u8]) {
    let memory = in_memory(bytes);
    let (read, problem) = read_all(&memory);
    let opened = open_all(&memory);
    assert_eq!(problem.is_none(), opened.is_ok());
    let Ok((writer, folded)) = opened else {
        assert_eq!(memory.bytes(), bytes);
        return;
    };
    assert_eq!(folded, read);
    assert_eq!(memory.bytes(), bytes[..usize::try_from(writer.head().at.for_backend()).unwrap()]);
    let torn = writer.torn().map_or(0, |torn| torn.bytes);
    assert_eq!(writer.head().at.for_backend() + torn, bytes.len() as u64);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        open_anything(&bytes);
        let _ = decode(&bytes, &Sum::ZERO, 1);
    }

    #[test]
    fn arbitrary_text_with_a_right_sum_never_panics(text in "\\PC{0,80}", seq in 0..3_u64) {
        let bytes = by_hand(&text, &Sum::ZERO);
        let _ = decode(&bytes, &Sum::ZERO, seq);
        open_anything(&bytes);
        open_anything(&by_hand(&format!("{{\"seq\":{seq},\"events\":{text}"), &Sum::ZERO));
    }

    #[test]
    fn good_lines_before_anything_are_kept(
        count in 0..4_u64,
        rest in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let (bytes, _) = written(count);
        let memory = in_memory([bytes, rest.clone()].concat());
        prop_assert_eq!(read_all(&memory).0, lines(count));
        prop_assert_eq!(open_all(&memory).is_ok(), !rest.contains(&b'\n'));
    }

    #[test]
    fn a_changed_piece_is_never_believed(
        at in any::<prop::sample::Index>(),
        removed in 0..40_usize,
        added in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (bytes, _) = written(3);
        let start = at.index(bytes.len());
        let end = (start + removed).min(bytes.len());
        let changed = [&bytes[..start], &added, &bytes[end..]].concat();
        let (read, _) = read_all(&in_memory(changed.clone()));
        prop_assert_eq!(&read, &lines(read.len() as u64));
        open_anything(&changed);
    }

    #[test]
    fn any_words_read_back(reason in any::<String>(), call in "\\PC*") {
        let event = Event::RunPaused { reason };
        let line = line_of(1, vec![event, Event::RunCancelled { reason: call }]);
        let (bytes, sum) = encode(&line, &Sum::ZERO).unwrap();
        prop_assert_eq!(bytes.iter().position(|byte| *byte == b'\n'), Some(bytes.len() - 1));
        prop_assert_eq!(decode(&bytes, &Sum::ZERO, 1).unwrap(), (line, sum));
    }
}

#[test]
fn lines_longer_than_what_is_read_at_once_read_back() {
    let memory = Memory::new();
    let (mut writer, _) = open_all(&memory).unwrap();
    let long = |seq: u64| {
        let size = [10, 300_000, 262_000, 3_000_000][usize::try_from(seq).unwrap() % 4];
        line_of(seq, vec![Event::RunPaused { reason: "x".repeat(size) }])
    };
    for seq in 1..=12 {
        writer.append(seq, &long(seq)).unwrap();
    }
    writer.sync().unwrap();
    drop(writer);
    let (writer, read) = open_all(&memory).unwrap();
    assert_eq!(read, (1..=12).map(long).collect::<Vec<_>>());
    assert_eq!(writer.head().at.for_backend(), memory.bytes().len() as u64);
}

#[test]
fn a_line_beyond_the_limit_is_neither_written_nor_read() {
    let memory = Memory::new();
    let (mut writer, _) = open_all(&memory).unwrap();
    let reason = "x".repeat(LINE_BYTES_MAX);
    let refused = writer.append(1, &line_of(1, vec![Event::RunPaused { reason }]));
    assert!(matches!(refused, Err(LedgerError::TooLarge { .. })));
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    drop(writer);

    let mut bytes = memory.bytes();
    bytes.resize(bytes.len() + LINE_BYTES_MAX + 1, b'x');
    memory.replace(bytes);
    let (read, problem) = read_all(&memory);
    assert_eq!(read, lines(1));
    assert!(matches!(problem, Some(LedgerError::Damaged { line: 2, .. })));
}

#[test]
fn a_power_cut_keeps_what_was_synced() {
    let (bytes, heads) = written(3);
    for survivors in 0..=bytes.len() {
        let memory = Memory::new();
        let (mut writer, _) = open_all(&memory).unwrap();
        append(writer.as_mut(), 1);
        writer.sync().unwrap();
        memory
            .write_unsynced(&bytes[usize::try_from(heads[1].at.for_backend()).unwrap()..])
            .unwrap();
        memory.lose_power(survivors);
        assert!(matches!(writer.sync(), Err(LedgerError::Fenced { .. })));

        let (writer, read) = open_all(&memory).unwrap();
        let end = (heads[1].at.for_backend() + survivors as u64).min(heads[3].at.for_backend());
        let whole = heads.iter().rfind(|head| head.at.for_backend() <= end).unwrap();
        assert_eq!((read, writer.head()), (lines(whole.seq), *whole));
    }
}

#[test]
fn every_error_names_the_place_and_what_to_do() {
    let (bytes, _) = written(2);
    let mut flipped = bytes.clone();
    flipped[5] ^= 1;
    let error = read_all(&in_memory(flipped)).1.unwrap();
    assert_eq!(
        error.to_string(),
        "the ledger `memory/ledger.jsonl` is damaged in line 1, at byte 0: its sum is wrong"
    );
    assert_eq!(
        error.hint(),
        "`chronicle repair` shows what is left, and continues from there if you agree"
    );
}

/// The format's document holds a whole ledger as its example; it must be one.
#[test]
fn the_example_of_the_format_is_a_ledger() {
    let text = include_str!("../../../../docs/ledger-format.md");
    let bytes: String =
        text.lines().filter(|line| line.starts_with("{\"seq\":")).flat_map(|l| [l, "\n"]).collect();
    let (read, problem) = read_all(&in_memory(bytes.clone()));
    assert!(problem.is_none(), "{problem:?}");
    assert!(read.len() >= 2);
    let mut sum = Sum::ZERO;
    for line in &read {
        (_, sum) = encode(line, &sum).unwrap();
    }
    assert!(bytes.trim_end().ends_with(&format!("\"{sum}\"}}")), "it is as we write it");
}
