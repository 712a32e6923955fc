//! Claiming and writing: lines are buffered here and inserted in one transaction.

use chronicle_core::event::record::Line;
use chronicle_runtime::for_tests::ledger::{
    ArtifactId, Cursor, Head, Ledger as _, LedgerClaim, LedgerError, Lines, Torn, Writer,
};

use super::database::{Database, LineRow};
use super::{Table, place};

/// The right to write a run; released on drop.
pub(super) struct TableSession {
    table: Table,
    epoch: u64,
}

impl TableSession {
    pub(super) fn new(table: Table, epoch: u64) -> Self {
        Self { table, epoch }
    }

    fn run(&self) -> &str {
        &self.table.run
    }

    /// One statement, refused if another writer took over.
    fn ask<T>(
        &self,
        statement: impl FnOnce(&mut Database) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.table.change(|database| {
            database.reach(self.run(), self.epoch)?;
            statement(database)
        })
    }
}

impl Drop for TableSession {
    fn drop(&mut self) {
        self.table.change(|database| database.release(self.run(), self.epoch));
    }
}

pub(super) struct TableClaim {
    session: TableSession,
}

impl TableClaim {
    pub(super) fn new(session: TableSession) -> Self {
        Self { session }
    }
}

impl LedgerClaim for TableClaim {
    fn epoch(&self) -> u64 {
        self.session.epoch
    }

    fn read(&self, from: Head) -> Result<Box<dyn Lines>, LedgerError> {
        self.session.table.read(from)
    }

    fn writer(self: Box<Self>, at: Head) -> Result<Box<dyn Writer>, LedgerError> {
        let session = self.session;
        let last = session.ask(|database| {
            database.check_head(session.run(), &at)?;
            Ok(database.last(session.run()))
        })?;
        if last > at.seq {
            return Err(LedgerError::Stale { place: place(session.run()), seq: at.seq });
        }
        Ok(Box::new(TableWriter { session, head: at, waiting: Vec::new(), is_poisoned: false }))
    }
}

struct TableWriter {
    session: TableSession,
    head: Head,
    /// Rows without an acknowledgement.
    waiting: Vec<(u64, LineRow)>,
    is_poisoned: bool,
}

impl TableWriter {
    /// Any failure but `Unavailable` poisons the writer.
    fn ask<T>(
        &mut self,
        statement: impl FnOnce(&mut Database, &str, &[(u64, LineRow)]) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.check_sound()?;
        let session = &self.session;
        let done = session.ask(|database| statement(database, session.run(), &self.waiting));
        self.is_poisoned =
            done.as_ref().is_err_and(|error| !matches!(error, LedgerError::Unavailable { .. }));
        done
    }

    fn check_sound(&self) -> Result<(), LedgerError> {
        let place = || place(self.session.run());
        if self.is_poisoned { Err(LedgerError::Poisoned { place: place() }) } else { Ok(()) }
    }

    fn check_due(&self, expected_seq: u64, line: &Line) -> Result<(), LedgerError> {
        let due = self.head.seq + 1;
        if expected_seq == due && line.seq == due {
            return Ok(());
        }
        let why = format!("row {due} is due, not {} expected as {expected_seq}", line.seq);
        Err(LedgerError::Conflict { place: place(self.session.run()), why })
    }
}

impl Writer for TableWriter {
    fn epoch(&self) -> u64 {
        self.session.epoch
    }

    fn head(&self) -> Head {
        self.head
    }

    fn append(&mut self, expected_seq: u64, line: &Line) -> Result<Head, LedgerError> {
        self.check_sound()?;
        self.check_due(expected_seq, line)?;
        let text = serde_json::to_string(line).map_err(|source| LedgerError::Unwritable {
            place: place(self.session.run()),
            seq: line.seq,
            source,
        })?;
        let sum = self.head.sum.then(text.as_bytes());
        self.waiting.push((line.seq, LineRow { epoch: self.session.epoch, sum, text }));
        self.head = Head { seq: line.seq, sum, at: Cursor::of_backend(line.seq) };
        Ok(self.head)
    }

    fn sync(&mut self) -> Result<(), LedgerError> {
        self.ask(Database::commit)?;
        self.waiting.clear();
        Ok(())
    }

    fn heartbeat(&mut self) -> Result<(), LedgerError> {
        self.session.ask(|_| Ok(()))
    }

    fn torn(&self) -> Option<&Torn> {
        None
    }

    fn put_artifact(&mut self, body: &[u8]) -> Result<ArtifactId, LedgerError> {
        self.ask(|database, run, _| database.keep_body(run, body))
    }
}
