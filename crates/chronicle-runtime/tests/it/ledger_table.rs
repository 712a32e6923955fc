//! What only a ledger behind a connection can show: answers that are lost, rows that are missing, runs side by side.

use std::time::Duration;

use chronicle_runtime::for_tests::ledger::{Ledger as _, LedgerError};
use chronicle_testkit::Table;

use crate::ledger_lines::{append, line, lines, open_all, read_all, who};

fn table() -> Table {
    Table::with_run("r1").with_patience(Duration::ZERO)
}

fn assert_unavailable<T: std::fmt::Debug>(asked: &Result<T, LedgerError>) {
    assert!(matches!(asked, Err(LedgerError::Unavailable { .. })), "{asked:?}");
}

#[test]
fn a_sync_without_a_connection_may_be_repeated() {
    let table = table();
    let (mut writer, _) = open_all(&table).unwrap();
    append(writer.as_mut(), 2);
    table.lose_connection(2);
    for _ in 0..2 {
        assert_unavailable(&writer.sync());
        assert_eq!(table.rows(), 0);
    }
    // More may be decided meanwhile, and is kept with the rest.
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    assert_eq!(read_all(&table).0, lines(3));
}

#[test]
fn a_lost_answer_is_found_by_reading() {
    let table = table();
    let (mut writer, _) = open_all(&table).unwrap();
    append(writer.as_mut(), 2);
    table.lose_answers(1);
    assert_unavailable(&writer.sync());
    assert_eq!(table.rows(), 2, "it was done all the same");
    append(writer.as_mut(), 1);
    writer.sync().unwrap();
    writer.sync().unwrap();
    assert_eq!(read_all(&table).0, lines(3), "and was not done twice");
}

#[test]
fn an_artifact_and_a_heartbeat_may_be_repeated_too() {
    let table = table();
    let (mut writer, _) = open_all(&table).unwrap();
    table.lose_connection(2);
    assert_unavailable(&writer.put_artifact(b"body"));
    assert_unavailable(&writer.heartbeat());
    table.lose_answers(1);
    assert_unavailable(&writer.put_artifact(b"body"));
    let id = writer.put_artifact(b"body").unwrap();
    assert_eq!(table.artifact(&id).unwrap(), b"body");
    writer.heartbeat().unwrap();
}

#[test]
fn a_writer_that_was_overtaken_before_its_answer_is_fenced() {
    let table = table();
    let (mut old, _) = open_all(&table).unwrap();
    append(old.as_mut(), 1);
    table.lose_answers(1);
    assert_unavailable(&old.sync());
    table.force().unwrap();
    let (mut new, read) = open_all(&table).unwrap();
    assert_eq!(read, lines(1), "its line was kept, and somebody else acts on it");
    assert!(matches!(old.sync(), Err(LedgerError::Fenced { .. })));
    append(new.as_mut(), 1);
    new.sync().unwrap();
    assert_eq!(read_all(&table).0, lines(2));
}

#[test]
fn a_row_of_somebody_else_is_not_taken_for_a_lost_answer() {
    let table = table();
    let (mut writer, _) = open_all(&table).unwrap();
    append(writer.as_mut(), 1);
    table.lose_connection(1);
    assert_unavailable(&writer.sync());
    table.push(&serde_json::to_string(&line(1)).unwrap());
    assert!(matches!(writer.sync(), Err(LedgerError::Conflict { .. })));
    assert!(matches!(writer.sync(), Err(LedgerError::Poisoned { .. })));
}

#[test]
fn a_row_that_is_missing_is_damage_and_not_the_end() {
    let table = table();
    let (mut writer, _) = open_all(&table).unwrap();
    append(writer.as_mut(), 3);
    writer.sync().unwrap();
    drop(writer);
    table.delete(2);
    let (read, error) = read_all(&table);
    assert_eq!(read, lines(1));
    assert_eq!(
        error.unwrap().to_string(),
        "the ledger `table/r1` is damaged in line 2, at row 2: it is not there"
    );
}

#[test]
fn a_damaged_body_is_found_and_can_be_put_again() {
    let table = table();
    let (mut writer, _) = open_all(&table).unwrap();
    let id = writer.put_artifact(b"body").unwrap();
    table.overwrite_body(&id, b"b0dy");
    let error = table.artifact(&id).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    writer.put_artifact(b"body").unwrap();
    assert_eq!(table.artifact(&id).unwrap(), b"body");
}

#[test]
fn runs_in_one_table_do_not_see_each_other() {
    let one = table();
    let two = one.and_run("r2");
    let (mut first, _) = open_all(&one).unwrap();
    let (mut second, _) = open_all(&two).unwrap();
    append(first.as_mut(), 2);
    append(second.as_mut(), 1);
    let id = first.put_artifact(b"body").unwrap();
    first.sync().unwrap();
    second.sync().unwrap();
    assert_eq!((read_all(&one).0, read_all(&two).0), (lines(2), lines(1)));
    assert!(two.artifact(&id).is_err());
    drop(first);
    assert!(one.claim(who("next")).is_ok());
    assert!(two.claim(who("next")).is_err());
}
