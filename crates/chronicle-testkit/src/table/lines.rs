//! Reading rows, each checked against the one before it.

use std::time::Duration;

use chronicle_core::event::record::{Line, VERSION};
use chronicle_runtime::for_tests::ledger::{Cursor, Head, LedgerError, Lines};

use super::database::{Database, LineRow};
use super::{Table, place};

pub(super) struct TableLines {
    table: Table,
    head: Head,
    is_over: bool,
}

impl TableLines {
    pub(super) fn new(table: Table, head: Head) -> Self {
        Self { table, head, is_over: false }
    }

    fn take(&mut self) -> Result<Option<(Line, Head)>, LedgerError> {
        let (run, seq) = (&*self.table.run, self.head.seq + 1);
        let Some(row) = next_row(&self.table.database(), run, seq)? else { return Ok(None) };
        let sum = self.head.sum.then(row.text.as_bytes());
        if sum != row.sum {
            return Err(damaged(run, seq, "its sum is wrong".to_owned()));
        }
        let line = parse(run, seq, &row.text)?;
        self.head = Head { seq, sum, at: Cursor::of_backend(seq) };
        Ok(Some((line, self.head)))
    }
}

impl Iterator for TableLines {
    type Item = Result<(Line, Head), LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.take().transpose();
        // After an error nothing more is read: what follows a damaged row cannot be checked.
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Lines for TableLines {
    fn head(&self) -> Head {
        self.head
    }

    fn wait(&mut self, most: Duration) -> Result<bool, LedgerError> {
        let (run, head) = (&*self.table.run, self.head);
        let found = self.table.ask_until(most, |database| {
            database.check_head(run, &head)?;
            Ok((database.last(run) > head.seq).then_some(()))
        })?;
        self.is_over = found.is_none();
        Ok(found.is_some())
    }
}

fn next_row(database: &Database, run: &str, seq: u64) -> Result<Option<LineRow>, LedgerError> {
    match database.row(run, seq) {
        Some(row) => Ok(Some(row.clone())),
        None if database.last(run) > seq => Err(damaged(run, seq, "it is not there".to_owned())),
        None => Ok(None),
    }
}

fn parse(run: &str, seq: u64, text: &str) -> Result<Line, LedgerError> {
    let line: Line = serde_json::from_str(text).map_err(|error| explain(run, seq, text, &error))?;
    if line.v > VERSION {
        return Err(LedgerError::NewerVersion { place: place(run), line: seq, version: line.v });
    }
    if line.seq != seq {
        return Err(damaged(run, seq, format!("it says that it is line {}", line.seq)));
    }
    Ok(line)
}

/// The row is as it was written, yet says something else than we know.
fn explain(run: &str, seq: u64, text: &str, error: &serde_json::Error) -> LedgerError {
    let (place, line) = (place(run), seq);
    let said: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let version = said["v"].as_u64().and_then(|v| u32::try_from(v).ok()).unwrap_or(0);
    if version > VERSION {
        return LedgerError::NewerVersion { place, line, version };
    }
    let words = error.to_string();
    match words.strip_prefix("unknown variant `").and_then(|rest| rest.split_once('`')) {
        Some((kind, _)) => LedgerError::UnknownKind { place, line, kind: kind.to_owned() },
        None => damaged(run, seq, words),
    }
}

fn damaged(run: &str, seq: u64, why: String) -> LedgerError {
    LedgerError::Damaged { place: place(run), line: seq, spot: format!("row {seq}"), why }
}
