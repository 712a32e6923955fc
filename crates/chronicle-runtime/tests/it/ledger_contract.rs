//! What every ledger must do, wherever it is kept. Run for each backend by `ledger_backends.rs`; what only makes sense for
//! bytes in a file is in `ledger_file*.rs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use chronicle_core::event::record::Line;
use chronicle_runtime::for_tests::ledger::{ArtifactId, Head, Ledger, LedgerError, open};

use crate::ledger_lines::{append, line, lines, open_all, read_all, who};

/// One run on one backend.
pub(crate) trait Backend {
    fn new() -> Self;
    /// A handle that does not wait for a lock.
    fn ledger(&self) -> Box<dyn Ledger>;
    /// A handle that waits as long as users do.
    fn patient(&self) -> Box<dyn Ledger>;
    /// All lines as they are kept, to see whether anything changed.
    fn kept(&self) -> Vec<u8>;
    /// Lets every sync fail.
    fn fail_syncs(&self);
    /// Leaves no room for anything.
    fn fill(&self);
    /// Lets everything work again.
    fn mend(&self);
    /// Ends whoever writes. What was not synced may be lost.
    fn crash(&self);
    /// Changes something in a line behind everybody's back.
    fn damage(&self, seq: u64);
    /// Adds a line of any JSON behind everybody's back, rightly chained to the last, which ends at that head.
    fn put(&self, last: &Head, json: &str);
    /// Takes the last line away behind everybody's back.
    fn take_last(&self);
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
            a_tail_that_waits_hears_of_the_next_line
            a_ledger_that_shrinks_stops_its_tail
            two_writers_exclude_each_other
            a_short_holder_is_waited_for
            many_writers_take_turns
            a_forced_lock_fences_the_old_writer
            the_epoch_rises_with_every_claim
            a_crash_keeps_what_was_synced
            a_damaged_line_is_found
            an_unknown_kind_stops_the_reading_there
            an_unknown_word_inside_an_event_counts_as_an_unknown_kind
            unknown_fields_are_tolerated
            a_newer_version_is_refused
            a_whole_line_that_is_none_is_damage
            without_room_nothing_more_is_written
            a_failed_sync_poisons
            a_changed_ledger_is_a_conflict
            lines_that_were_not_read_are_stale
            a_line_that_is_not_due_is_refused
            an_artifact_is_kept_by_its_content
            an_artifact_is_kept_before_its_line
            a_text_is_kept_with_its_line
            a_missing_run_is_named
            a_read_only_run_can_be_read
        );
    };
}
pub(crate) use contract;

pub(crate) use crate::ledger_contract_damage::*;
pub(crate) use crate::ledger_contract_lock::*;
pub(crate) use crate::ledger_contract_tail::*;

/// Writes so many lines, synced, and says where each ends, with the empty head first.
pub(crate) fn write(at: &impl Backend, count: u64) -> Vec<Head> {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let heads = append(writer.as_mut(), count);
    writer.sync().unwrap();
    std::iter::once(Head::EMPTY).chain(heads).collect()
}

pub(crate) fn appended_lines_read_back(at: &impl Backend) {
    let (mut writer, none) = open_all(at.ledger().as_ref()).unwrap();
    assert!(none.is_empty());
    assert_eq!(writer.head(), Head::EMPTY);
    let heads = append(writer.as_mut(), 3);
    writer.sync().unwrap();

    let read: Vec<_> = at.ledger().read(Head::EMPTY).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, lines(3).into_iter().zip(heads.clone()).collect::<Vec<_>>());

    drop(writer);
    let (writer, folded) = open_all(at.ledger().as_ref()).unwrap();
    assert_eq!((folded, writer.head(), writer.torn()), (lines(3), heads[2], None));
}

pub(crate) fn several_appends_share_one_sync(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    at.fail_syncs();
    append(writer.as_mut(), 5);
    at.mend();
    writer.sync().unwrap();
    // With nothing new there is nothing to sync.
    at.fail_syncs();
    writer.sync().unwrap();
    assert_eq!(read_all(at.ledger().as_ref()).0, lines(5));
}

pub(crate) fn a_reader_begins_at_any_head(at: &impl Backend) {
    let heads = write(at, 4);
    for from in heads.clone() {
        let mut read = at.ledger().read(from).unwrap();
        let rest: Vec<_> = read.by_ref().map(|next| next.unwrap().0).collect();
        assert_eq!(rest, lines(4)[usize::try_from(from.seq).unwrap()..]);
        assert_eq!(read.head(), heads[4]);

        let mut folded = 0;
        let writer = open(at.ledger().as_ref(), who("opens"), from, |_| folded += 1).unwrap();
        assert_eq!((folded, writer.head().seq), (4 - from.seq, 4));
    }
}

/// A head that no line ends at: nobody reads or writes from there.
pub(crate) fn assert_no_such_head(at: &impl Backend, head: Head) {
    let read = at.ledger().read(head);
    assert!(matches!(read.err(), Some(LedgerError::Conflict { .. })), "{head:?}");
    let written = at.ledger().claim(who("opens")).unwrap().writer(head);
    assert!(matches!(written.err(), Some(LedgerError::Conflict { .. })), "{head:?}");
}

pub(crate) fn a_head_that_is_not_there_is_a_conflict(at: &impl Backend) {
    let heads = write(at, 2);
    let (before, (one, two)) = (at.kept(), (heads[1], heads[2]));
    assert_no_such_head(at, Head { sum: two.sum, ..one });
    assert_no_such_head(at, Head { at: Head::EMPTY.at, ..one });
    assert_no_such_head(at, Head { sum: one.sum, ..Head::EMPTY });
    assert_eq!(at.kept(), before);
    at.take_last();
    assert_no_such_head(at, two);
}

pub(crate) fn a_crash_keeps_what_was_synced(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 2);
    writer.sync().unwrap();
    append(writer.as_mut(), 2);
    at.crash();
    assert!(matches!(writer.sync(), Err(LedgerError::Fenced { .. })));
    drop(writer);
    // Of what was not synced, lines are there whole or not at all.
    let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
    assert!(read.len() >= 2, "{read:?}");
    assert_eq!(read, lines(read.len() as u64));
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    assert_eq!(read_all(at.ledger().as_ref()).0.len(), read.len() + 1);
}

pub(crate) fn without_room_nothing_more_is_written(at: &impl Backend) {
    write(at, 1);
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    at.fill();
    let error = writer.append(2, &line(2)).and_then(|_| writer.sync()).unwrap_err();
    assert!(matches!(error, LedgerError::Full { .. }), "{error}");
    at.mend();
    assert!(matches!(writer.append(2, &line(2)), Err(LedgerError::Poisoned { .. })));
    assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
    assert!(matches!(writer.put_artifact(b"body"), Err(LedgerError::Poisoned { .. })));
    drop(writer);
    assert_eq!(open_all(at.ledger().as_ref()).unwrap().1, lines(1));
}

pub(crate) fn a_failed_sync_poisons(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    writer.append(2, &line(2)).unwrap();
    at.fail_syncs();
    assert!(matches!(writer.sync(), Err(LedgerError::Io { .. })));
    at.mend();
    assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
    assert!(matches!(writer.append(3, &line(3)), Err(LedgerError::Poisoned { .. })));
    drop(writer);
    // What could not be synced was taken back.
    assert_eq!(open_all(at.ledger().as_ref()).unwrap().1, lines(1));
}

pub(crate) fn a_changed_ledger_is_a_conflict(at: &impl Backend) {
    let heads = write(at, 3);
    let shrink = || at.take_last();
    let grow = || at.put(&heads[2], &serde_json::to_string(&line(3)).unwrap());
    let changes: [&dyn Fn(); 2] = [&shrink, &grow];
    for change in changes {
        let (mut writer, read) = open_all(at.ledger().as_ref()).unwrap();
        let seq = read.len() as u64 + 1;
        change();
        let before = at.kept();
        let written = writer.append(seq, &line(seq)).and_then(|_| writer.sync());
        assert!(matches!(written, Err(LedgerError::Conflict { .. })), "{written:?}");
        assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
        assert_eq!(at.kept(), before);
    }
}

pub(crate) fn lines_that_were_not_read_are_stale(at: &impl Backend) {
    let heads = write(at, 3);
    let before = at.kept();
    for head in &heads[..3] {
        let opened = at.ledger().claim(who("opens")).unwrap().writer(*head);
        let Some(LedgerError::Stale { seq, .. }) = opened.err() else { panic!("{head:?}") };
        assert_eq!(seq, head.seq);
    }
    assert_eq!(at.kept(), before);
    at.ledger().claim(who("opens")).unwrap().writer(heads[3]).unwrap();
}

pub(crate) fn a_line_that_is_not_due_is_refused(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    for (expected, seq) in [(0, 0), (2, 2), (1, 2), (2, 1)] {
        let refused = writer.append(expected, &line(seq));
        assert!(matches!(refused, Err(LedgerError::Conflict { .. })), "{expected} {seq}");
    }
    // Nothing was written, so that nothing is poisoned.
    append(writer.as_mut(), 2);
    writer.sync().unwrap();
    assert_eq!(read_all(at.ledger().as_ref()).0, lines(2));
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

    at.fill();
    assert!(matches!(writer.put_artifact(b"another"), Err(LedgerError::Full { .. })));
    at.mend();
    assert!(matches!(writer.append(1, &line(1)), Err(LedgerError::Poisoned { .. })));
    assert!(at.ledger().artifact(&ArtifactId::of(b"another")).is_err());
}

pub(crate) fn an_artifact_is_kept_before_its_line(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let id = writer.put_artifact(b"body").unwrap();
    append(writer.as_mut(), 1);
    at.crash();
    drop(writer);
    assert_eq!(at.ledger().artifact(&id).unwrap(), b"body");
}

pub(crate) fn a_text_is_kept_with_its_line(at: &impl Backend) {
    let (mut writer, _) = open_all(at.ledger().as_ref()).unwrap();
    let told = Line { texts: vec!["told".to_owned(), "the rest".to_owned()], ..line(1) };
    writer.append(1, &told).unwrap();
    writer.sync().unwrap();
    at.crash();
    drop(writer);
    for text in &told.texts {
        let id = ArtifactId::of(text.as_bytes());
        assert_eq!(at.ledger().artifact(&id).unwrap(), text.as_bytes());
    }
    let none = at.ledger().artifact(&ArtifactId::of(b"never told"));
    assert!(matches!(none, Err(LedgerError::Artifact { .. })));
    assert_eq!(read_all(at.ledger().as_ref()).0, [told]);
}

pub(crate) fn a_missing_run_is_named(at: &impl Backend) {
    at.remove();
    assert!(matches!(at.ledger().claim(who("x")).err(), Some(LedgerError::Missing { .. })));
    assert!(matches!(at.ledger().force(), Err(LedgerError::Missing { .. })));
    let error = at.ledger().read(Head::EMPTY).err().unwrap();
    assert!(error.to_string().starts_with("there is no run "), "{error}");
    assert!(error.hint().contains("`chronicle runs`"));
    assert_eq!(at.ledger().holder(), None);
}

#[expect(clippy::print_stderr, reason = "a test that tests nothing must say so")]
pub(crate) fn a_read_only_run_can_be_read(at: &impl Backend) {
    write(at, 2);
    if !at.make_read_only() {
        eprintln!("SKIPPED: no folder can be made read-only here");
        return;
    }
    assert_eq!(read_all(at.ledger().as_ref()).0, lines(2));
    let error = at.ledger().claim(who("writes")).err().unwrap();
    assert!(matches!(error, LedgerError::Denied { .. }), "{error}");
    assert!(error.to_string().starts_with("not allowed to "), "{error}");
}
